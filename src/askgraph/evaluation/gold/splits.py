"""Questions in training and test parts, so that no test question was nearly seen in training."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from askgraph.errors import SetupError
from askgraph.evaluation.gold.near_duplicates import duplicate_groups
from askgraph.evaluation.questions import GoldQuestion


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
