"""Examples: questions with their queries, and which of them are like a question.

The outcome of a query is a count and a digest, the same for one result at any time and place: rows
are compared without their order, numbers to nine digits, blank nodes by being blank, since two
engines differ in all of these without meaning anything else.
"""

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal as Choice

from pyoxigraph import BlankNode, Literal, Triple
from rapidfuzz import fuzz, process

from askgraph.errors import SetupError
from askgraph.index.embeddings import kept_embedder, unit_length
from askgraph.index.names import stem, tokens
from askgraph.sparql.judge import form_of
from askgraph.sparql.results import GraphResult, SelectResult, Term
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES

Origin = Choice["written", "confirmed", "generated"]
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
    `askgraph.graph.examples`, None if the result was cut off. `by` names who
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
    from askgraph.graph.archives import text_of

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


Result = SelectResult | GraphResult | bool
_EXACT = 2.0**53  # whole numbers above it are compared by their digits


@dataclass(frozen=True)
class Outcome:
    """The number of solutions or triples (1 for ASK), and their digest if none was cut off."""

    rows: int
    digest: str | None


def outcome_of(result: Result) -> Outcome:
    """Return the count and the digest of a result."""
    match result:
        case bool():
            return Outcome(1, _digest([str(result).lower()]))
        case SelectResult():
            rows = [" ".join(map(_plain, row)) for row in result.rows]
        case GraphResult():
            rows = list(map(_plain_triple, result.triples))
    return Outcome(len(rows), None if result.truncated else _digest(rows))


def what_changed(before: Confirmation, now: Outcome) -> str | None:
    """Return how a result differs from the one that was confirmed, None if it is the same.

    `more rows`, `fewer rows` and `no rows` come with both counts, `other values` without. If
    either was cut off, only the counts are compared.
    """
    if now.rows == before.rows:
        same = before.digest is None or now.digest is None or before.digest == now.digest
        return None if same else "other values"
    change = "no" if not now.rows else "more" if now.rows > before.rows else "fewer"
    return f"{change} rows: {before.rows} then, {now.rows} now"


def _plain(term: Term | None) -> str:
    match term:
        case None:
            return "-"
        case BlankNode():
            return "_:"
        case Literal() if term.datatype.value in NUMERIC_DATATYPES:
            try:
                value = float(term.value)
            except ValueError:
                return term.value
            if abs(value) >= _EXACT:
                return term.value
            return f"{value:.0f}" if value.is_integer() else f"{value:.9g}"
        case Triple():
            return f"<<{_plain_triple(term)}>>"
        case _:
            return str(term)


def _plain_triple(triple: Triple) -> str:
    return " ".join(map(_plain, (triple.subject, triple.predicate, triple.object)))


def _digest(rows: list[str]) -> str:
    counted = sorted(Counter(rows).items())
    text = "\n".join(f"{count} {row}" for row, count in counted)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def similar_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3, embedder: str = ""
) -> list[tuple[QueryExample, float]]:
    """Return the examples most similar to a question, with their `similarities`.

    With an `embedder` (see `askgraph.index.embeddings`) that is the cosine of their vectors. Of
    several wordings that of the nearest counts. Equal ones stay in the order given. Raises
    `SetupError` for an embedder that there is not, `ServiceError` if its server fails.
    """
    owners = [at for at, example in enumerate(examples) for _ in example.wordings]
    texts = [wording.text for example in examples for wording in example.wordings]
    scores = [0.0] * len(examples)
    alike = cosines(question, texts, embedder) if embedder else similarities(question, texts)
    for owner, score in zip(owners, alike, strict=True):
        scores[owner] = max(scores[owner], score)
    best = sorted(range(len(examples)), key=lambda at: -scores[at])[:limit]
    return [(examples[at], scores[at]) for at in best]


def similarities(question: str, texts: Sequence[str]) -> list[float]:
    """Return how similar a question is to each text, between 0 and 1.

    Similarity is by characters: half of it of the words in their order, half of the words that both
    have, whatever their order. A text with the same words has 1.
    """
    if not texts:
        return []
    wanted, plain = _letters(question), [_letters(text) for text in texts]
    ordered, shared = (
        process.cdist([wanted], plain, scorer=scorer)[0].tolist()
        for scorer in (fuzz.ratio, fuzz.token_set_ratio)
    )
    return [
        1.0 if text == wanted else (one + other) / 200
        for text, one, other in zip(plain, ordered, shared, strict=True)
    ]


def cosines(text: str, texts: Sequence[str], embedder: str) -> list[float]:
    """Return the cosine of a text's vector and that of each of some texts, between -1 and 1."""
    unit = unit_length(kept_embedder(embedder).embed([text, *texts]))
    found: list[float] = (unit[1:] @ unit[0]).tolist()
    return found


def random_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3
) -> list[QueryExample]:
    """Return some of the examples by chance; the same ones for the same question."""
    return Random(question).sample(list(examples), min(limit, len(examples)))


def _letters(text: str) -> str:
    return " ".join(stem(token) for token in tokens(text)) or text


_QUOTES = str.maketrans("‘’‚“”„«»`´", "'''\"\"\"\"\"''")


def confirmed_repeat(
    question: str, language: str | None, examples: Sequence[QueryExample]
) -> QueryExample | None:
    """Return the confirmed example of the same question, the one confirmed last of several.

    Questions are the same if their words are, in one order and one language; letter case, white
    space, the kind of quotation marks and the punctuation at the end do not count. A question that
    is only similar is another one. A language that is not known may be any.
    """
    wanted = plain_question(question)
    found = [
        example
        for example in examples
        if example.origin == "confirmed"
        and any(
            plain_question(wording.text) == wanted and same_language(language, wording.language)
            for wording in example.wordings
        )
    ]
    return max(
        found, key=lambda one: one.confirmation.when if one.confirmation else "", default=None
    )


def plain_question(text: str) -> str:
    """Return a question as it is compared with others, the same for all its spellings."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(folded.split()).rstrip(" ?!.。？！؟;…").lstrip("¿¡ ")


def same_language(one: str | None, other: str | None) -> bool:
    """Return whether two tags are of one language, whatever its region; unknown may be any."""
    bases = [tag.lower().partition("-")[0] for tag in (one, other) if tag]
    return len(set(bases)) < 2
