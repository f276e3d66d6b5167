#!/usr/bin/env bash
# Adds the sample graph to a workspace of its own and asks it five questions; `make demo` runs it.

set -euo pipefail

ASKGRAPH_WORKSPACE="$(mktemp -d)"
export ASKGRAPH_WORKSPACE
trap 'rm -rf "$ASKGRAPH_WORKSPACE"' EXIT

questions=(
  "Which moons are larger than Mercury?"
  "How many moons are listed for each planet?"
  "What are the three largest planets?"
  "Who discovered Titan?"
  "Welche Monde hat Neptun?"
)

askgraph add space "$(python -c 'import askgraph.sample; print(askgraph.sample.graph_path())')"
for question in "${questions[@]}"; do
  printf '\n%s\n\n' "▶ $question"
  askgraph ask "$question" -g space || [ $? -eq 1 ] # 1: no answer, or a question back
done
