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
            record = json.loads(line)
            text, query, language = record["question"], record.get("sparql"), record.get("lang")
            keywords = tuple(map(str, record.get("tags") or ()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SetupError(f"{path}, line {number}: no example: {error!r}") from error
        if query:
            found.append(QueryExample(text, query, language, keywords=keywords))
    return tuple(found)
