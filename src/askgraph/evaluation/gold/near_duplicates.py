"""Questions that repeat each other, in nearly the same words or with the same query.

Equal texts and equal queries (`canonical_query`) are found by hashing. Similar texts are found by
MinHash over the three-character pieces of their words (Broder, "On the resemblance and containment
of documents", 1997) with banding (Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets",
section 3.4), and then compared as strings. The time grows with the number of questions, not with
its square; in exchange a similar pair may be missed, which is rare above a similarity of 0.9.
"""

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from askgraph.errors import SetupError
from askgraph.evaluation.gold import Finding
from askgraph.evaluation.questions import GoldQuestion
from askgraph.sparql.rewrite.canonical import canonical_query

SIMILAR = 0.9  # share of the characters that two texts have in common, words sorted

BANDS, ROWS = 32, 3  # texts that share half of their pieces meet with a probability of 0.99
NEIGHBOURS = 30  # in a crowded bucket each text is compared with so many, in alphabetical order
ROUGHLY = 0.4  # estimated share of common pieces below which two texts are not compared

Kind = Literal["same question", "same query", "similar question", "similar words"]


@dataclass(frozen=True)
class Pair:
    """Two questions, by their places, the earlier one first.

    `similarity` is that of the texts, 0 to 1. `kind` is `same query` if the words differ,
    `similar question` if a query is not known, and `similar words` if the queries differ, so
    that most likely other things are asked for.
    """

    first: int
    second: int
    kind: Kind
    similarity: float

    @property
    def repeats(self) -> bool:
        """Whether who knows the right answer of one most likely knows that of the other."""
        return self.kind != "similar words"


def near_duplicates(
    questions: Sequence[GoldQuestion],
    *,
    similar: float = SIMILAR,
    prefixes: Mapping[str, str] | None = None,
) -> tuple[Pair, ...]:
    """Return pairs of questions that repeat each other, in order of the later one.

    Of a set of equal questions, each is paired with the first only. If all questions name their
    graph, those of different graphs are no duplicates.
    """
    graphs = [q.graph for q in questions] if all(q.graph for q in questions) else None
    within: list[Hashable] = list(graphs) if graphs else [None] * len(questions)
    texts = [_plain(question.text) for question in questions]
    queries = [q.sparql and canonical_query(q.sparql, prefixes=prefixes) for q in questions]
    found: dict[tuple[int, int], Pair] = {}
    for first, second in _equal(list(zip(within, texts, strict=True))):
        if texts[first]:
            found[first, second] = Pair(first, second, "same question", 1.0)
    for first, second in _equal(list(zip(within, queries, strict=True))):
        if queries[first]:
            likeness = _similarity(texts[first], texts[second])
            found.setdefault((first, second), Pair(first, second, "same query", likeness))
    for first, second in _alike(list(zip(within, texts, strict=True))):
        likeness = _similarity(texts[first], texts[second])
        if likeness >= similar and _numbers(texts[first]) == _numbers(texts[second]):
            known = queries[first] and queries[second]
            kind: Kind = "similar words" if known else "similar question"
            found.setdefault((first, second), Pair(first, second, kind, likeness))
    return tuple(sorted(found.values(), key=lambda pair: (pair.second, pair.first)))


def duplicate_groups(questions: Sequence[GoldQuestion]) -> tuple[int, ...]:
    """Return a number for each question; those that repeat each other, over any chain, share it.

    Similar words do not count if the queries differ.
    """
    leader = list(range(len(questions)))

    def root(at: int) -> int:
        while leader[at] != at:
            leader[at] = leader[leader[at]]
            at = leader[at]
        return at

    for pair in near_duplicates(questions):
        if pair.repeats:
            one, other = sorted((root(pair.first), root(pair.second)))
            leader[other] = one
    return tuple(root(at) for at in range(len(questions)))


def _plain(text: str) -> str:
    """Return the words of a text, without case, punctuation and compatibility forms."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[\w+#]+", folded))


def _equal(keys: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield each place with the first place that has the same key."""
    first: dict[Hashable, int] = {}
    for at, key in enumerate(keys):
        earlier = first.setdefault(key, at)
        if earlier != at:
            yield earlier, at


def _similarity(one: str, other: str) -> float:
    return fuzz.token_sort_ratio(one, other) / 100


def _numbers(text: str) -> set[str]:
    """Return words with digits: questions about 1990 and 1991 are two, however alike they look."""
    return {word for word in text.split() if any(map(str.isdigit, word))}


def _alike(keys: Sequence[tuple[Hashable, str]]) -> list[tuple[int, int]]:
    """Return pairs of places of one graph whose texts may be similar but are not equal, once each.

    A key is a graph and a text.
    """
    places: dict[tuple[Hashable, str], int] = {}
    for at, key in enumerate(keys):
        if key[1]:
            places.setdefault(key, at)
    distinct = sorted(places.items(), key=lambda place: (place[0][1], place[1]))
    if len(distinct) < 2:
        return []
    texts = [text for (_, text), _ in distinct]
    pieces = [np.fromiter(_pieces(text), dtype=np.uint64) for text in texts]
    starts = np.cumsum([0, *(len(piece) for piece in pieces[:-1])])
    joined = np.concatenate(pieces)
    random = np.random.default_rng(1997)
    factors = random.integers(1, 2**63, size=(2, BANDS * ROWS), dtype=np.uint64)
    smallest = [
        np.minimum.reduceat((joined * (factor | np.uint64(1)) + shift) >> np.uint64(32), starts)
        for factor, shift in factors.T
    ]
    signatures = np.stack(smallest)
    pairs = np.unique(np.concatenate([_met(band) for band in _bands(signatures)]), axis=0)
    ours, theirs = signatures[:, pairs[:, 0]], signatures[:, pairs[:, 1]]
    likely = pairs[(ours == theirs).mean(axis=0) >= ROUGHLY]
    found = []
    for one, other in likely.tolist():
        ((graph, text), place), ((other_graph, other_text), other_place) = (
            distinct[one],
            distinct[other],
        )
        if graph == other_graph and text != other_text:
            found.append((min(place, other_place), max(place, other_place)))
    return found


def _pieces(text: str) -> set[int]:
    """Return the hashes of a text's pieces of three characters, its words sorted."""
    padded = " " + " ".join(sorted(text.split())) + " "
    return {zlib.crc32(padded[at : at + 3].encode()) for at in range(max(1, len(padded) - 2))}


def _bands(signatures: NDArray[np.uint64]) -> Iterator[NDArray[np.uint64]]:
    """Yield, for each band, one number a text."""
    for at in range(0, BANDS * ROWS, ROWS):
        mixed = np.zeros(signatures.shape[1], dtype=np.uint64)
        for row in signatures[at : at + ROWS]:
            mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + row
        yield mixed


def _met(band: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return pairs of texts with the same number, each with at most its next neighbours."""
    order = np.argsort(band, kind="stable")
    ranked = band[order]
    found = [np.empty((0, 2), dtype=np.intp)]
    for distance in range(1, min(NEIGHBOURS, len(order) - 1) + 1):
        meets = np.flatnonzero(ranked[distance:] == ranked[:-distance])
        if not len(meets):
            break
        found.append(np.stack([order[meets], order[meets + distance]], axis=1))
    return np.concatenate(found)


Prefixes = Mapping[str, str] | None


def repeats(questions: Sequence[GoldQuestion], *, prefixes: Prefixes = None) -> tuple[Finding, ...]:
    """Return one finding for each question that repeats an earlier one of the same benchmark.

    Texts alone are compared if a question has several languages: then the same query is no
    finding.
    """
    found: dict[int, Finding] = {}
    for pair in near_duplicates(questions, prefixes=prefixes):
        earlier, later = questions[pair.first], questions[pair.second]
        translated = pair.kind == "same query" and earlier.language != later.language
        if not translated:
            kind = pair.kind if pair.repeats else "similar question"
            finding = Finding.of(later, kind, f"{earlier.id!r}: {earlier.text}")
            found.setdefault(pair.second, finding)
    return tuple(found[at] for at in sorted(found))


def leaks(
    questions: Sequence[GoldQuestion],
    training: Sequence[GoldQuestion],
    *,
    prefixes: Prefixes = None,
) -> tuple[Finding, ...]:
    """Return one finding for each question that a training question repeats, in question order.

    Similar words are no leak if the queries differ: such pairs are what there is to learn from.
    """
    both = [*training, *questions]
    best: dict[int, Pair] = {}
    for pair in near_duplicates(both, prefixes=prefixes):
        if pair.repeats and pair.first < len(training) <= pair.second:
            known = best.get(pair.second)
            if known is None or (pair.kind == "same question", pair.similarity) > (
                known.kind == "same question",
                known.similarity,
            ):
                best[pair.second] = pair
    return tuple(_leak(best[at], both) for at in sorted(best))


def _leak(pair: Pair, both: Sequence[GoldQuestion]) -> Finding:
    trained, asked = both[pair.first], both[pair.second]
    if pair.kind == "same question":
        return Finding.of(asked, "leak", f"training question {trained.id!r}: {trained.text}")
    return Finding.of(asked, "near leak", f"{pair.kind}, {trained.id!r}: {trained.text}")


@dataclass(frozen=True)
class Split:
    """A training part and the test part that goes with it, by the places of the questions."""

    name: str
    train: tuple[int, ...]
    test: tuple[int, ...]


def folds(
    questions: Sequence[GoldQuestion],
    k: int,
    *,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[Split, ...]:
    """Divide questions into k parts of nearly equal size, each the test part once.

    `groups` has a label for each question; what shares one stays in one part. None groups those
    that repeat each other (`near_duplicates`). The same questions in any order and the same seed
    give the same parts. Raises `SetupError` if there are fewer groups than parts.
    """
    labels = list(groups if groups is not None else duplicate_groups(questions))
    members: dict[Hashable, list[int]] = {}
    for at, label in enumerate(labels):
        members.setdefault(label, []).append(at)
    if k < 2 or len(members) < k:
        raise SetupError(
            f"{len(questions)} questions in {len(members)} groups of near-duplicates cannot be "
            f"divided into {k} folds; at least 2 folds, and a group for each, are needed"
        )
    parts: list[list[int]] = [[] for _ in range(k)]
    for group in sorted(members.values(), key=lambda group: _rank(questions, group, seed)):
        min(parts, key=len).extend(group)
    return tuple(
        _split(f"fold-{number}", len(questions), part) for number, part in enumerate(parts, start=1)
    )


def leave_one_out(labels: Sequence[str]) -> tuple[Split, ...]:
    """Return a split for each label, in order: the questions with it are the test part.

    `labels` has one for each question, as the name of its graph or data set. Raises `SetupError`
    if there is one label only.
    """
    names = tuple(dict.fromkeys(labels))
    if len(names) < 2:
        raise SetupError(
            f"leaving one out needs at least two; all questions are of {', '.join(names) or 'none'}"
        )
    return tuple(
        _split(name, len(labels), [at for at, label in enumerate(labels) if label == name])
        for name in names
    )


def _rank(questions: Sequence[GoldQuestion], group: Sequence[int], seed: int) -> tuple[int, bytes]:
    """Large groups first, so that small ones can even out; equal ones as the seed has it."""
    first = min(f"{questions[at].id}\t{questions[at].text}" for at in group)
    return -len(group), hashlib.sha256(f"{seed}\t{first}".encode("utf-8", "replace")).digest()


def _split(name: str, count: int, test: Sequence[int]) -> Split:
    inside = set(test)
    train = tuple(at for at in range(count) if at not in inside)
    return Split(name, train, tuple(sorted(inside)))
