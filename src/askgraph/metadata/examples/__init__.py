"""Examples: questions with their queries, for methods that learn from them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from askgraph.errors import SetupError
from askgraph.sparql.rewrite.repair import form_of

Origin = Literal["written", "confirmed", "generated"]
"""Written by a person, confirmed by a user who saw the answer, or generated from a profile."""


@dataclass(frozen=True)
class Wording:
    """One way to ask a question; the language is a BCP 47 tag, None if it is not known."""

    text: str
    language: str | None = None


@dataclass(frozen=True)
class Confirmation:
    """The result of a query when its answer was confirmed, or when it was generated.

    `when` is a time in ISO 8601, `graph` the graph's name in its workspace, `snapshot` what told
    its content from any other. `rows` counts solutions or triples (1 for ASK); `digest` is that of
    `askgraph.metadata.examples.outcome`, None if the result was cut off. `by` names who
    confirmed it or, of a generated example, the language model that worded it; None if nobody
    said.
    """

    when: str
    graph: str
    snapshot: str
    rows: int
    digest: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class QueryExample:
    """A question and a query that answers it.

    `others` are further wordings of the question. `iri` names the example. `targets` are the
    addresses of the endpoints that the query is for, `federates_with` those that it calls by
    SERVICE. A written example has no `confirmation`.
    """

    question: str
    query: str
    language: str | None = None
    others: tuple[Wording, ...] = ()
    iri: str | None = None
    keywords: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    federates_with: tuple[str, ...] = ()
    origin: Origin = "written"
    confirmation: Confirmation | None = None

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """All wordings, that of `question` first."""
        return (Wording(self.question, self.language), *self.others)

    @property
    def form(self) -> str:
        """SELECT, ASK, CONSTRUCT or DESCRIBE; empty if the query is none of them."""
        return form_of(self.query)


@dataclass(frozen=True)
class Unread:
    """An item that is no example, with its place and the reason."""

    place: str
    reason: str


@dataclass(frozen=True)
class Collection:
    """The content of a source: its examples in order, and the items that could not be read."""

    examples: tuple[QueryExample, ...]
    unread: tuple[Unread, ...] = ()


def read_examples(path: Path) -> tuple[QueryExample, ...]:
    """Read a `questions.jsonl` file; questions without a query are left out.

    Raises `SetupError`, with the line, for what is no question.
    """
    from askgraph.metadata.bundles import text_of

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
    """Return the example of a line; without a query if it has none."""
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    values = [record.get(key) for key in ("question", "sparql", "lang")]
    question, query, language = values
    if not all(isinstance(value, str | None) for value in values) or not question:
        raise ValueError("a text 'question' is needed, and maybe texts 'sparql' and 'lang'")
    tags = record.get("tags") or ()
    keywords = tuple(map(str, tags)) if isinstance(tags, list) else ()
    return QueryExample(question, query or "", language, keywords=keywords)
