"""Examples: questions with their queries, and search for similar ones.

The outcome of a query is a count and a digest, equal for equal results at any time and place: rows
are compared without order, numbers to nine digits, and all blank nodes are equal, because engines
differ in these details.
"""

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Literal as Choice

from pyoxigraph import BlankNode, Literal, Triple
from rapidfuzz import fuzz, process

from askgraph.errors import SetupError
from askgraph.index.embeddings import get_embedder, normalize_rows
from askgraph.index.names import split_tokens, stem_word
from askgraph.sparql.judge import get_query_form
from askgraph.sparql.results import GraphResult, SelectResult, Term
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES

Origin = Choice["written", "confirmed", "generated"]
"""Written by a person, confirmed by a user who saw the answer, or generated from a profile."""

_MIN_SAME_QUESTION_SCORE = 0.97  # minimum similarity of an example that equals the question


@dataclass(frozen=True)
class Wording:
    """One way to ask a question; the language is a BCP 47 tag, None if unknown."""

    text: str
    language: str | None = None


@dataclass(frozen=True)
class Confirmation:
    """The result of a query when its answer was confirmed or generated."""

    when: str  # time, in ISO 8601
    graph: str  # name of the graph in its workspace
    snapshot: str  # identifies the graph's content at that time
    rows: int  # number of solutions or triples (1 for ASK)
    digest: str | None = None  # of the result; None if it was cut off
    by: str | None = None  # who confirmed it, or the model that worded a generated example


@dataclass(frozen=True)
class QueryExample:
    """A question and a query that answers it."""

    question: str
    query: str
    language: str | None = None  # BCP 47 tag of the question, None if unknown
    others: tuple[Wording, ...] = ()  # further wordings of the question
    iri: str | None = None
    keywords: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()  # addresses of the endpoints that the query is for
    federates_with: tuple[str, ...] = ()  # endpoints that the query calls by SERVICE
    origin: Origin = "written"  # how the example came about
    confirmation: Confirmation | None = None  # the confirmed result; None for written examples

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """All wordings, starting with `question`."""
        return (Wording(self.question, self.language), *self.others)

    @cached_property
    def normalized_wordings(self) -> tuple[str, ...]:
        """All wordings, normalized for comparison."""
        return tuple(normalize_question(wording.text) for wording in self.wordings)

    @property
    def form(self) -> str:
        """SELECT, ASK, CONSTRUCT or DESCRIBE; empty for an invalid query."""
        return get_query_form(self.query)


@dataclass(frozen=True)
class SkippedItem:
    """An item that is not an example, with its position and the reason."""

    place: str
    reason: str


@dataclass(frozen=True)
class ExampleCollection:
    """The content of a source: its examples in order, and the items that could not be read."""

    examples: tuple[QueryExample, ...]
    skipped: tuple[SkippedItem, ...] = ()


SAMPLES_FILE = "samples.jsonl"
"""The questions and queries of an example index of GRASP."""


def read_examples(path: Path) -> tuple[QueryExample, ...]:
    """Read the queries of a `questions.jsonl` file, or of an example index of GRASP (a folder).

    Raises:
        SetupError: the file cannot be read, or a line is not an example.
    """
    from askgraph.graph.archives import read_text

    try:
        lines = read_text(path / SAMPLES_FILE if path.is_dir() else path).split("\n")
    except SetupError as error:
        raise SetupError(f"cannot read the examples {path}: {error}") from error
    examples = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            examples.append(_parse_example(json.loads(line)))
        except ValueError as error:
            raise SetupError(f"{path}, line {number}: not an example: {error}") from error
    return tuple(example for example in examples if example.query)


def _parse_example(record: object) -> QueryExample:
    if not isinstance(record, dict):
        raise ValueError("it is not a JSON object")
    values = [record.get(key) for key in ("question", "sparql", "lang")]
    question, query, language = values
    if not all(isinstance(value, str | None) for value in values) or not question:
        raise ValueError("it needs a text 'question', and can have texts 'sparql' and 'lang'")
    tags, texts = record.get("tags") or (), record.get("paraphrases") or ()
    keywords = tuple(map(str, tags)) if isinstance(tags, list) else ()
    texts = texts if isinstance(texts, list) else ()
    paraphrases = tuple(Wording(text, language) for text in texts if isinstance(text, str))
    return QueryExample(question, query or "", language, paraphrases, keywords=keywords)


Result = SelectResult | GraphResult | bool
_MAX_EXACT_NUMBER = 2.0**53  # larger whole numbers are compared by their digits


@dataclass(frozen=True)
class ResultDigest:
    """The number of solutions or triples (1 for ASK), and their digest unless truncated."""

    rows: int
    digest: str | None


def digest_result(result: Result) -> ResultDigest:
    """Return the count and the digest of a result."""
    match result:
        case bool():
            return ResultDigest(1, _hash_rows([str(result).lower()]))
        case SelectResult():
            rows = [" ".join(map(_normalize_term, row)) for row in result.rows]
        case GraphResult():
            rows = list(map(_normalize_triple, result.triples))
    return ResultDigest(len(rows), None if result.truncated else _hash_rows(rows))


def describe_change(before: Confirmation, now: ResultDigest) -> str | None:
    """Describe how a result differs from the confirmed one; None if it is the same.

    `more rows`, `fewer rows` and `no rows` come with both counts, `other values` without. If either
    result was cut off, only the counts are compared.
    """
    if now.rows == before.rows:
        is_same = before.digest is None or now.digest is None or before.digest == now.digest
        return None if is_same else "other values"
    change = "no" if not now.rows else "more" if now.rows > before.rows else "fewer"
    return f"{change} rows: {before.rows} then, {now.rows} now"


def _normalize_term(term: Term | None) -> str:
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
            if abs(value) >= _MAX_EXACT_NUMBER:
                return term.value
            return f"{value:.0f}" if value.is_integer() else f"{value:.9g}"
        case Triple():
            return f"<<{_normalize_triple(term)}>>"
        case _:
            return str(term)


def _normalize_triple(triple: Triple) -> str:
    return " ".join(map(_normalize_term, (triple.subject, triple.predicate, triple.object)))


def _hash_rows(rows: list[str]) -> str:
    text = "\n".join(f"{count} {row}" for row, count in sorted(Counter(rows).items()))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def rank_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3, embedder: str = ""
) -> list[tuple[QueryExample, float]]:
    """Return the examples most similar to a question, with scores by `compute_similarities`.

    With an `embedder` (see `askgraph.index.embeddings`) scores are cosines of vectors. The best of
    several wordings counts. Ties keep the given order.

    Raises:
        SetupError: The embedder does not exist.
        ServiceError: The embedder's server fails.
    """
    example_indices = [index for index, example in enumerate(examples) for _ in example.wordings]
    texts = [wording.text for example in examples for wording in example.wordings]
    scores = [0.0] * len(examples)
    text_scores = (
        compute_cosines(question, texts, embedder)
        if embedder
        else compute_similarities(question, texts)
    )
    for owner, score in zip(example_indices, text_scores, strict=True):
        scores[owner] = max(scores[owner], score)
    best = sorted(range(len(examples)), key=lambda index: -scores[index])[:limit]
    return [(examples[index], scores[index]) for index in best]


def compute_similarities(question: str, texts: Sequence[str]) -> list[float]:
    """Return the similarity of a question to each text, between 0 and 1.

    The mean of two character-based scores: of the words in order, and of the common words in any
    order. A text with the same words has 1.
    """
    if not texts:
        return []
    question_words, text_words = _stem_words(question), [_stem_words(text) for text in texts]
    order_scores, set_scores = (
        process.cdist([question_words], text_words, scorer=scorer)[0].tolist()
        for scorer in (fuzz.ratio, fuzz.token_set_ratio)
    )
    return [
        1.0 if text == question_words else (order_score + set_score) / 200
        for text, order_score, set_score in zip(text_words, order_scores, set_scores, strict=True)
    ]


def compute_cosines(text: str, texts: Sequence[str], embedder: str) -> list[float]:
    """Return the cosine between the vectors of a text and of each other text, from -1 to 1."""
    unit = normalize_rows(get_embedder(embedder).embed([text, *texts]))
    scores: list[float] = (unit[1:] @ unit[0]).tolist()
    return scores


def exclude_question(question: str, examples: Sequence[QueryExample]) -> list[QueryExample]:
    """Return the examples that do not ask a question itself."""
    return [example for example in examples if not is_same_question(question, example)]


def is_same_question(question: str, example: QueryExample) -> bool:
    """Return whether an example asks a question itself, up to case and a word."""
    numbers = _find_numeric_words(question)
    wordings = [
        wording.text for wording in example.wordings if _find_numeric_words(wording.text) == numbers
    ]
    return max(compute_similarities(question, wordings), default=0.0) >= _MIN_SAME_QUESTION_SCORE


def _find_numeric_words(text: str) -> set[str]:
    """Return the words with digits: a question about 1990 is not one about 1991."""
    return {word for word in split_tokens(text) if any(map(str.isdigit, word))}


def sample_examples(
    question: str, examples: Sequence[QueryExample], *, limit: int = 3
) -> list[QueryExample]:
    """Return a random sample of the examples, the same for the same question."""
    return Random(question).sample(list(examples), min(limit, len(examples)))


def _stem_words(text: str) -> str:
    return " ".join(stem_word(token) for token in split_tokens(text)) or text


_QUOTES = str.maketrans("‘’‚“”„«»`´", "'''\"\"\"\"\"''")


def find_confirmed(
    question: str, language: str | None, examples: Sequence[QueryExample]
) -> QueryExample | None:
    """Return the latest confirmed example of the same question, or None.

    Questions are equal if they have the same words in the same order and language; letter case,
    white space, the kind of quotation marks and final punctuation are ignored. An unknown language
    equals any.
    """
    normalized = normalize_question(question)
    matches = [
        example
        for example in examples
        if normalized in example.normalized_wordings
        and example.origin == "confirmed"
        and any(
            text == normalized and is_same_language(language, wording.language)
            for text, wording in zip(example.normalized_wordings, example.wordings, strict=True)
        )
    ]
    return max(
        matches,
        key=lambda match: match.confirmation.when if match.confirmation else "",
        default=None,
    )


def normalize_question(text: str) -> str:
    """Normalize a question for comparison, equal for all spellings."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(folded.split()).rstrip(" ?!.。？！؟;…").lstrip("¿¡ ")


def is_same_language(first: str | None, second: str | None) -> bool:
    """Return whether two tags are of one language in any region; an unknown one equals any."""
    return len({tag.lower().partition("-")[0] for tag in (first, second) if tag}) < 2
