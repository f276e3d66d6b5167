#!/usr/bin/env bash
# Adds the sample graph to a workspace of its own and asks it five questions; `make demo` runs it.

set -euo pipefail

ASKGRAPH_WORKSPACE="$(mktemp -d)"
export ASKGRAPH_WORKSPACE
trap 'rm -rf "$ASKGRAPH_WORKSPACE"' EXIT

questions=(
  "Who was the commander of Apollo 11?"           # through a node without a name
  "Which is the second largest moon?"             # a superlative
  "How many missions did each agency operate?"    # a count for each
  "Which planets have no moons?"                  # what is not there
  "Welche Trägerraketen sind höher als 90 Meter?" # in German, with a number
)

askgraph add space "$(python -c 'import askgraph.sample; print(askgraph.sample.graph_path())')"
for question in "${questions[@]}"; do
  printf '\n%s\n\n' "▶ $question"
  askgraph ask "$question" -g space || [ $? -eq 1 ] # 1: no answer, or a question back
done
