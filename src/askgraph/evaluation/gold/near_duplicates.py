"""Detection of near-duplicate questions, and splits that keep duplicates together.

Equal texts and equal queries (`canonicalize_query`) are found by hashing. Similar texts are found
among neighbours in several sorted orders (Hernández and Stolfo, "The merge/purge problem for large
databases", 1995), and then compared as strings. The time is not quadratic in the number of
questions; a similar pair may be missed, rarely above a similarity of 0.9.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from askgraph.errors import SetupError
from askgraph.evaluation.gold import GoldFinding
from askgraph.evaluation.questions import GoldQuestion
from askgraph.sparql.rewrite.canonical import canonicalize_query

MIN_SIMILARITY_RATIO = 0.9  # share of the characters that two texts have in common, words sorted

MAX_NEIGHBOUR_COUNT = 20  # comparisons per text in one order

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


def _pair_similar_texts(keys: Sequence[tuple[Hashable, str]]) -> set[tuple[int, int]]:
    """Return index pairs of different, possibly similar texts of one graph, each pair once."""
    first_indices = {key: index for index, key in reversed([*enumerate(keys)]) if key[1]}
    distinct = [(index, *key) for key, index in first_indices.items()]
    pairs = set[tuple[int, int]]()
    for arrange in _ARRANGEMENTS:
        ranked = sorted((str(graph), arrange(text), index) for index, graph, text in distinct)
        for distance in range(1, MAX_NEIGHBOUR_COUNT + 1):
            for (graph, _, first), (other, _, second) in zip(
                ranked, ranked[distance:], strict=False
            ):
                if graph == other:
                    pairs.add((min(first, second), max(first, second)))
    return pairs


def _sort_words(text: str) -> str:
    return " ".join(sorted(text.split()))


# Similar texts begin alike in most of these: their difference comes late in one or another.
_ARRANGEMENTS: tuple[Callable[[str], str], ...] = (
    str,
    lambda text: text[::-1],
    _sort_words,
    lambda text: _sort_words(text)[::-1],
    lambda text: " ".join(sorted(text.split(), key=len, reverse=True)),
    lambda text: "".join(sorted(text)),
)


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
