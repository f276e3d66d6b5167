"""Examples from `questions.jsonl`: one question with its query a line."""

import json
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.metadata.bundles import text_of
from askgraph.metadata.examples import QueryExample

__all__ = ["read_examples"]


def read_examples(path: Path) -> tuple[QueryExample, ...]:
    """Read a `questions.jsonl` file; questions without a query are left out.

    Raises `SetupError`, with the line, for what is no question.
    """
    try:
        lines = text_of(path).split("\n")
    except SetupError as error:
        raise SetupError(f"cannot read the examples {path}: {error}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(_example(json.loads(line)))
        except ValueError as error:
            raise SetupError(f"{path}, line {number}: no example: {error}") from error
    return tuple(example for example in found if example.query)


def _example(record: object) -> QueryExample:
    """The example of a line; without a query if it has none."""
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    values = [record.get(key) for key in ("question", "sparql", "lang")]
    question, query, language = values
    if not all(isinstance(value, str | None) for value in values) or not question:
        raise ValueError("a text 'question' is needed, and maybe texts 'sparql' and 'lang'")
    tags = record.get("tags") or ()
    keywords = tuple(map(str, tags)) if isinstance(tags, list) else ()
    return QueryExample(question, query or "", language, keywords=keywords)
