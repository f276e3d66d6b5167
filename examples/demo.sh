#!/usr/bin/env bash
# Adds the sample graph to a workspace of its own and asks it five questions; `make demo` runs it.

set -euo pipefail

ASKGRAPH_WORKSPACE="$(mktemp -d)"
export ASKGRAPH_WORKSPACE
trap 'rm -rf "$ASKGRAPH_WORKSPACE"' EXIT

questions=(
  "Which moons orbit Jupiter?"
  "Who commanded Apollo 11?"
  "How many missions did each agency launch?"
  "What is the largest planet?"
  "Welche Raketen starteten in Kourou?"
)

askgraph add space "$(python -c 'import askgraph.sample; print(askgraph.sample.graph_path())')"
for question in "${questions[@]}"; do
  printf '\n%s\n\n' "▶ $question"
  askgraph ask "$question" -g space
done
