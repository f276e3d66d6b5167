"""Examples as demonstrations: with the names of what their queries use, nearest to a question.

A store of (question, entities, relations, query), searched by the similarity of their texts, is
that of Dynamic Few-Shot Learning (D'Abramo, arXiv 2407.01409, section 4.2). Masking what a
question names, so that examples of one kind are alike whatever they are about, is ours.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.index.embeddings import embedder_of
from askgraph.index.names import NameIndex
from askgraph.metadata.examples import QueryExample
from askgraph.metadata.similar import similarities
from askgraph.tools import Context
from askgraph.tools.named import STANDARD, named_iris
from askgraph.tools.shown import labels_in

__all__ = ["MATCHES", "Shot", "Term", "nearest", "shots_of"]

MATCHES = ("question", "terms", "masked")
"""What is compared: questions alone, with the names of entities and relations, or masked."""

_SAME = 0.97  # similarity from which an example is the question itself
_MASK = "<thing>"


@dataclass(frozen=True)
class Term:
    """An IRI that a query uses, with its label; a relation or an entity."""

    iri: str
    label: str
    relation: bool = False


@dataclass(frozen=True)
class Shot:
    """An example with the terms of its query."""

    example: QueryExample
    terms: tuple[Term, ...]

    def text(self, match: str) -> str:
        """Return what is compared with a question."""
        return matched_text(self.example.question, self.terms, match)


_Key: TypeAlias = tuple[tuple[QueryExample, ...], str]
_KEPT: WeakKeyDictionary[NameIndex, tuple[_Key, tuple[Shot, ...]]] = WeakKeyDictionary()


async def shots_of(context: Context, examples: Sequence[QueryExample]) -> tuple[Shot, ...]:
    """Return examples with the terms of their queries, named by the graph where it knows them.

    Those that a graph was asked for last are kept as long as its names.
    """
    key = tuple(examples), context.language
    known = _KEPT.get(context.graph.names)
    if known is None or known[0] != key:
        known = key, await _shots(context, examples)
        _KEPT[context.graph.names] = known
    return known[1]


async def _shots(context: Context, examples: Sequence[QueryExample]) -> tuple[Shot, ...]:
    used = [named_iris(example.query) for example in examples]
    iris = dict.fromkeys(iri for one in used for iri in one)
    labels = await labels_in(context, iris)
    shorten = context.graph.prefixes.shorten
    return tuple(
        Shot(
            example,
            tuple(
                Term(iri, labels.get(iri, shorten(iri)), sort == "properties")
                for iri, sort in one.items()
                if not iri.startswith(STANDARD)
            ),
        )
        for example, one in zip(examples, used, strict=True)
    )


def matched_text(question: str, terms: Sequence[Term], match: str) -> str:
    """Return the text of a question by which it is compared; see `MATCHES`."""
    if match == "terms":
        return " ".join([question, *(term.label for term in terms)])
    if match == "masked":
        for term in sorted(terms, key=lambda term: -len(term.label)):
            if not term.relation and term.label:
                question = re.sub(re.escape(term.label), _MASK, question, flags=re.IGNORECASE)
    return question


def nearest(
    question: str,
    terms: Sequence[Term],
    shots: Sequence[Shot],
    *,
    limit: int,
    match: str = "terms",
    embedder: str | None = None,
) -> list[Shot]:
    """Return the shots most like a question, the nearest first; the question itself is none.

    Similarity is by characters and words, or with an `embedder` (see `embedder_of`) the cosine.
    Of several with one query only the nearest is taken. Raises `SetupError` for an embedder that
    does not exist, `ServiceError` where its server fails.
    """
    others = [shot for shot in shots if not _is(question, shot)]
    if not others:
        return []
    text = matched_text(question, terms, match)
    texts = [shot.text(match) for shot in others]
    scores = _cosines(text, texts, embedder) if embedder else similarities(text, texts)
    found: dict[str, Shot] = {}
    for at in sorted(range(len(others)), key=lambda at: -scores[at]):
        found.setdefault(" ".join(others[at].example.query.split()), others[at])
        if len(found) == limit:
            break
    return list(found.values())


def _is(question: str, shot: Shot) -> bool:
    wordings = [wording.text for wording in shot.example.wordings]
    return max(similarities(question, wordings)) >= _SAME


def _cosines(text: str, texts: Sequence[str], embedder: str) -> list[float]:
    vectors = embedder_of(embedder).embed([text, *texts])
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    unit = vectors / lengths
    cosines: list[float] = (unit[1:] @ unit[0]).tolist()
    return cosines
