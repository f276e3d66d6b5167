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

from askgraph.index.embeddings import kept_embedder
from askgraph.index.names import NameIndex
from askgraph.index.tokens import tokens
from askgraph.metadata.examples import QueryExample
from askgraph.metadata.examples.similar import similarities
from askgraph.rdf.labels import words_of_local_name
from askgraph.search.linking.masks import form_likeness, question_form
from askgraph.tools import Context
from askgraph.tools.named import STANDARD, named_iris
from askgraph.tools.shown import labels_in

__all__ = ["MATCHES", "Shot", "Term", "nearest", "other_than", "shots_of"]

MATCHES = ("form", "question", "terms", "masked")
"""What is compared: questions with how they ask (`askgraph.search.linking.masks`), questions alone,
with the names of entities and relations, or masked."""

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

    def texts(self, match: str) -> list[str]:
        """Return what is compared with a question: each wording of the example's."""
        return [matched_text(one.text, self.terms, match) for one in self.example.wordings]


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
    return tuple(
        Shot(
            example,
            tuple(
                Term(iri, labels.get(iri) or words_of_local_name(iri), sort == "properties")
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
                question = re.sub(
                    rf"(?<!\w){re.escape(term.label)}(?!\w)", _MASK, question, flags=re.IGNORECASE
                )
    return question


def nearest(
    question: str,
    terms: Sequence[Term],
    shots: Sequence[Shot],
    *,
    limit: int,
    match: str = "form",
    embedder: str | None = None,
) -> list[Shot]:
    """Return the shots most like a question, the nearest first; the question itself is none.

    Similarity is by characters and words, or with an `embedder` (see `embedder_of`) the cosine; of
    several wordings that of the nearest counts, of several shots with one query only the nearest is
    taken. Equal ones stay in the order given. Raises `SetupError` for an embedder that
    does not exist, `ServiceError` where its server fails.
    """
    others = other_than(question, shots) if limit > 0 else []
    if not others:
        return []
    text = matched_text(question, terms, match)
    scores = _scores(text, [shot.texts(match) for shot in others], embedder)
    if match == "form":
        scores = [sum(two) / 2 for two in zip(scores, _forms(question, others), strict=True)]
    found: dict[str, Shot] = {}
    for at in sorted(range(len(others)), key=lambda at: -scores[at]):
        found.setdefault(" ".join(others[at].example.query.split()), others[at])
        if len(found) == limit:
            break
    return list(found.values())


def other_than(question: str, shots: Sequence[Shot]) -> list[Shot]:
    """Return the shots that are not the question itself, in other letters or with a word less."""
    return [shot for shot in shots if not _is(question, shot)]


def _is(question: str, shot: Shot) -> bool:
    numbers = _numbers(question)
    wordings = [one.text for one in shot.example.wordings if _numbers(one.text) == numbers]
    return max(similarities(question, wordings), default=0.0) >= _SAME


def _numbers(text: str) -> set[str]:
    """The words with digits: a question about 1990 is not the one about 1991, however alike."""
    return {word for word in tokens(text) if any(map(str.isdigit, word))}


def _scores(text: str, wordings: Sequence[Sequence[str]], embedder: str | None) -> list[float]:
    """How like a text the nearest of some wordings is, of each shot."""
    texts = [one for several in wordings for one in several]
    each = iter(_cosines(text, texts, embedder) if embedder else similarities(text, texts))
    return [max(next(each) for _ in several) for several in wordings]


def _forms(question: str, shots: Sequence[Shot]) -> list[float]:
    """How alike the ways are in which a question and the nearest wording of each shot ask."""
    own = question_form(question)
    return [
        max(
            form_likeness(own, question_form(wording.text, wording.language))
            for wording in shot.example.wordings
        )
        for shot in shots
    ]


def _cosines(text: str, texts: Sequence[str], embedder: str) -> list[float]:
    vectors = kept_embedder(embedder).embed([text, *texts])
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    unit = vectors / lengths
    cosines: list[float] = (unit[1:] @ unit[0]).tolist()
    return cosines
