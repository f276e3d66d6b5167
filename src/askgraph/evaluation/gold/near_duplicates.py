"""Detection of near-duplicate questions, and splits that keep duplicates together.

Equal texts and equal queries (`canonicalize_query`) are found by hashing. Similar texts are found
by MinHash over the character trigrams of their words (Broder, "On the resemblance and
containment of documents", 1997) with banding (Leskovec and others, "Mining of Massive Datasets",
section 3.4), and then compared as strings. The time is linear in the number of questions, not
quadratic; a similar pair may be missed, rarely above a similarity of 0.9.
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
from askgraph.evaluation.gold import GoldFinding
from askgraph.evaluation.questions import GoldQuestion
from askgraph.sparql.rewrite.canonical import canonicalize_query

MIN_SIMILARITY_RATIO = 0.9  # share of the characters that two texts have in common, words sorted

# Texts that share half of their pieces meet with a probability of 0.99.
BAND_COUNT, ROWS_PER_BAND_COUNT = 32, 3
MAX_NEIGHBOUR_COUNT = 30  # comparisons per text in a large bucket, in alphabetical order
MIN_SIGNATURE_SHARE = 0.4  # texts with a smaller estimated overlap are not compared

Kind = Literal["same question", "same query", "similar question", "similar words"]


@dataclass(frozen=True)
class DuplicatePair:
    """Two questions, by index, the earlier one first.

    Attributes:
        kind: `same query` if only the words differ, `similar question` if a query is unknown, and
            `similar words` if the queries differ, so that the meanings most likely differ too.
    """

    first: int
    second: int
    kind: Kind
    similarity: float  # of the texts, 0 to 1

    @property
    def is_duplicate(self) -> bool:
        """Whether the answer to one question most likely answers the other."""
        return self.kind != "similar words"


def find_near_duplicates(
    questions: Sequence[GoldQuestion],
    *,
    min_similarity: float = MIN_SIMILARITY_RATIO,
    prefixes: Mapping[str, str] | None = None,
) -> tuple[DuplicatePair, ...]:
    """Return pairs of near-duplicate questions, in order of the later one.

    Of equal questions, each is paired with the first only. If all questions name their graph,
    questions about different graphs are not duplicates.

    Args:
        min_similarity: Minimum similarity of texts, 0 to 1.
        prefixes: Prefixes that queries may use without declaring them.
    """
    graphs = (
        [question.graph for question in questions]
        if all(question.graph for question in questions)
        else None
    )
    group_keys: list[Hashable] = list(graphs) if graphs else [None] * len(questions)
    texts = [_normalize_text(question.text) for question in questions]
    queries = [
        question.sparql and canonicalize_query(question.sparql, prefixes=prefixes)
        for question in questions
    ]
    pairs: dict[tuple[int, int], DuplicatePair] = {}
    for first, second in _pair_equal_keys(list(zip(group_keys, texts, strict=True))):
        if texts[first]:
            pairs[first, second] = DuplicatePair(first, second, "same question", 1.0)
    for first, second in _pair_equal_keys(list(zip(group_keys, queries, strict=True))):
        if queries[first]:
            similarity = fuzz.token_sort_ratio(texts[first], texts[second]) / 100
            pairs.setdefault(
                (first, second), DuplicatePair(first, second, "same query", similarity)
            )
    for first, second in _pair_similar_texts(list(zip(group_keys, texts, strict=True))):
        similarity = fuzz.token_sort_ratio(texts[first], texts[second]) / 100
        if similarity >= min_similarity and _find_number_words(texts[first]) == _find_number_words(
            texts[second]
        ):
            has_both_queries = queries[first] and queries[second]
            kind: Kind = "similar words" if has_both_queries else "similar question"
            pairs.setdefault((first, second), DuplicatePair(first, second, kind, similarity))
    return tuple(sorted(pairs.values(), key=lambda pair: (pair.second, pair.first)))


def group_duplicates(questions: Sequence[GoldQuestion]) -> tuple[int, ...]:
    """Return a group number for each question; chains of duplicates share one.

    Questions with similar words but different queries are not grouped.
    """
    parents = list(range(len(questions)))

    def find_root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    for pair in find_near_duplicates(questions):
        if pair.is_duplicate:
            lower_root, higher_root = sorted((find_root(pair.first), find_root(pair.second)))
            parents[higher_root] = lower_root
    return tuple(find_root(index) for index in range(len(questions)))


def _normalize_text(text: str) -> str:
    """Return the words of a text, without case, punctuation and compatibility forms."""
    return " ".join(re.findall(r"[\w+#]+", unicodedata.normalize("NFKC", text).casefold()))


def _pair_equal_keys(keys: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield each index with the first index of the same key."""
    first_indices: dict[Hashable, int] = {}
    for index, key in enumerate(keys):
        first_index = first_indices.setdefault(key, index)
        if first_index != index:
            yield first_index, index


def _find_number_words(text: str) -> set[str]:
    """Return words with digits: questions about 1990 and 1991 differ despite their similarity."""
    return {word for word in text.split() if any(map(str.isdigit, word))}


def _pair_similar_texts(keys: Sequence[tuple[Hashable, str]]) -> list[tuple[int, int]]:
    """Return index pairs of different, possibly similar texts of one graph, each pair once."""
    # A key is a graph and a text.
    indices: dict[tuple[Hashable, str], int] = {}
    for index, key in enumerate(keys):
        if key[1]:
            indices.setdefault(key, index)
    distinct = sorted(indices.items(), key=lambda entry: (entry[0][1], entry[1]))
    if len(distinct) < 2:
        return []
    texts = [text for (_, text), _ in distinct]
    trigram_hashes = [np.fromiter(_hash_trigrams(text), dtype=np.uint64) for text in texts]
    offsets = np.cumsum([0, *(len(hashes) for hashes in trigram_hashes[:-1])])
    joined = np.concatenate(trigram_hashes)
    random = np.random.default_rng(1997)
    factors = random.integers(1, 2**63, size=(2, BAND_COUNT * ROWS_PER_BAND_COUNT), dtype=np.uint64)
    min_hashes = [
        np.minimum.reduceat((joined * (factor | np.uint64(1)) + shift) >> np.uint64(32), offsets)
        for factor, shift in factors.T
    ]
    signatures = np.stack(min_hashes)
    pairs = np.unique(
        np.concatenate([_pair_band_matches(band) for band in _hash_bands(signatures)]), axis=0
    )
    first_signatures, second_signatures = signatures[:, pairs[:, 0]], signatures[:, pairs[:, 1]]
    likely_pairs = pairs[
        (first_signatures == second_signatures).mean(axis=0) >= MIN_SIGNATURE_SHARE
    ]
    result = []
    for first, second in likely_pairs.tolist():
        ((graph, text), entry), ((other_graph, other_text), other_place) = (
            distinct[first],
            distinct[second],
        )
        if graph == other_graph and text != other_text:
            result.append((min(entry, other_place), max(entry, other_place)))
    return result


def _hash_trigrams(text: str) -> set[int]:
    padded = " " + " ".join(sorted(text.split())) + " "
    return {
        zlib.crc32(padded[index : index + 3].encode()) for index in range(max(1, len(padded) - 2))
    }


def _hash_bands(signatures: NDArray[np.uint64]) -> Iterator[NDArray[np.uint64]]:
    for start in range(0, BAND_COUNT * ROWS_PER_BAND_COUNT, ROWS_PER_BAND_COUNT):
        band_hash = np.zeros(signatures.shape[1], dtype=np.uint64)
        for row in signatures[start : start + ROWS_PER_BAND_COUNT]:
            band_hash = band_hash * np.uint64(0x9E3779B97F4A7C15) + row
        yield band_hash


def _pair_band_matches(band: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return pairs of texts with the same band hash, each with at most its next neighbours."""
    order = np.argsort(band, kind="stable")
    ranked = band[order]
    pairs = [np.empty((0, 2), dtype=np.intp)]
    for distance in range(1, min(MAX_NEIGHBOUR_COUNT, len(order) - 1) + 1):
        matches = np.flatnonzero(ranked[distance:] == ranked[:-distance])
        if not len(matches):
            break
        pairs.append(np.stack([order[matches], order[matches + distance]], axis=1))
    return np.concatenate(pairs)


Prefixes = Mapping[str, str] | None


def find_repeats(
    questions: Sequence[GoldQuestion], *, prefixes: Prefixes = None
) -> tuple[GoldFinding, ...]:
    """Return one finding for each question that repeats an earlier one of the benchmark.

    Equal queries of questions in different languages are translations and no finding.
    """
    findings_by_index: dict[int, GoldFinding] = {}
    for pair in find_near_duplicates(questions, prefixes=prefixes):
        earlier, later = questions[pair.first], questions[pair.second]
        if not (pair.kind == "same query" and earlier.language != later.language):
            kind = pair.kind if pair.is_duplicate else "similar question"
            finding = GoldFinding(later.id, kind, f"{earlier.id!r}: {earlier.text}")
            findings_by_index.setdefault(pair.second, finding)
    return tuple(findings_by_index[index] for index in sorted(findings_by_index))


def find_leaks(
    questions: Sequence[GoldQuestion],
    training: Sequence[GoldQuestion],
    *,
    prefixes: Prefixes = None,
) -> tuple[GoldFinding, ...]:
    """Return one finding for each question that a training question duplicates, in question order.

    Questions with similar words but different queries are no leak: models are meant to learn from
    them.
    """
    all_questions = [*training, *questions]
    best: dict[int, DuplicatePair] = {}
    for pair in find_near_duplicates(all_questions, prefixes=prefixes):
        if pair.is_duplicate and pair.first < len(training) <= pair.second:
            best_pair = best.get(pair.second)
            if best_pair is None or (pair.kind == "same question", pair.similarity) > (
                best_pair.kind == "same question",
                best_pair.similarity,
            ):
                best[pair.second] = pair
    return tuple(_build_leak_finding(best[index], all_questions) for index in sorted(best))


def _build_leak_finding(pair: DuplicatePair, all_questions: Sequence[GoldQuestion]) -> GoldFinding:
    training_question, question = all_questions[pair.first], all_questions[pair.second]
    if pair.kind == "same question":
        return GoldFinding(
            question.id,
            "leak",
            f"training question {training_question.id!r}: {training_question.text}",
        )
    return GoldFinding(
        question.id, "near leak", f"{pair.kind}, {training_question.id!r}: {training_question.text}"
    )


@dataclass(frozen=True)
class DataSplit:
    """A training part and its test part, as indices of questions."""

    name: str
    train: tuple[int, ...]
    test: tuple[int, ...]


def split_folds(
    questions: Sequence[GoldQuestion],
    fold_count: int,
    *,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
) -> tuple[DataSplit, ...]:
    """Divide questions into parts of nearly equal size; each is the test part once.

    The same questions in any order and the same seed give the same parts.

    Args:
        fold_count: Number of parts, at least 2.
        seed: Seed of the order of groups.
        groups: A label for each question; questions with one label stay in one part. None groups
            near-duplicates.

    Raises:
        SetupError: There are fewer groups than parts.
    """
    labels = list(groups if groups is not None else group_duplicates(questions))
    members: dict[Hashable, list[int]] = {}
    for index, label in enumerate(labels):
        members.setdefault(label, []).append(index)
    if fold_count < 2 or len(members) < fold_count:
        raise SetupError(
            f"{len(questions)} questions in {len(members)} groups of near-duplicates "
            f"cannot be divided into {fold_count} folds: use at least 2 folds, and at most "
            "as many as there are groups"
        )
    parts: list[list[int]] = [[] for _ in range(fold_count)]
    for group in sorted(
        members.values(), key=lambda group: _compute_sort_key(questions, group, seed)
    ):
        min(parts, key=len).extend(group)
    return tuple(
        _build_split(f"fold-{number}", len(questions), part)
        for number, part in enumerate(parts, start=1)
    )


def split_leave_one_out(labels: Sequence[str]) -> tuple[DataSplit, ...]:
    """Return a split for each label, in order, whose test part is the questions with that label.

    Raises:
        SetupError: All labels are equal.
    """
    names = tuple(dict.fromkeys(labels))
    if len(names) < 2:
        raise SetupError(
            "leaving one out needs at least two groups of questions; available: "
            f"{', '.join(names) or 'none'}"
        )
    return tuple(
        _build_split(
            name, len(labels), [index for index, label in enumerate(labels) if label == name]
        )
        for name in names
    )


def _compute_sort_key(
    questions: Sequence[GoldQuestion], group: Sequence[int], seed: int
) -> tuple[int, bytes]:
    """Return a sort key: large groups first, so that small ones even out; ties by a seeded hash."""
    first = min(f"{questions[index].id}\t{questions[index].text}" for index in group)
    return -len(group), hashlib.sha256(f"{seed}\t{first}".encode("utf-8", "replace")).digest()


def _build_split(name: str, count: int, test: Sequence[int]) -> DataSplit:
    test_indices = set(test)
    train = tuple(index for index in range(count) if index not in test_indices)
    return DataSplit(name, train, tuple(sorted(test_indices)))
