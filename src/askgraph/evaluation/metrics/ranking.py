"""Scores of a ranked list: recall within the first k, mean reciprocal rank.

Punishes wanted items that stand far down or not at all. Does not punish items too many.

Recall@k as in Alekseev et al. (NLDB 2025), appendix, table 7, over candidates for linking.
"""

from collections.abc import Iterable, Sequence, Set
from statistics import fmean

__all__ = ["mean_reciprocal_rank", "recall_at", "reciprocal_rank"]


def recall_at(ranked: Sequence[object], gold: Set[object], k: int) -> float:
    """Return the share of gold that is among the first k; a repeated item takes a place each time.

    Raises `ValueError` for an empty gold, of which no share can be found, and for k below 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return len(_wanted(gold) & set(ranked[:k])) / len(gold)


def reciprocal_rank(ranked: Sequence[object], gold: Set[object]) -> float:
    """Return 1 divided by the place of the first item that is in gold, from 1; 0 without one.

    Raises `ValueError` for an empty gold.
    """
    wanted = _wanted(gold)
    return next((1 / at for at, item in enumerate(ranked, start=1) if item in wanted), 0.0)


def mean_reciprocal_rank(pairs: Iterable[tuple[Sequence[object], Set[object]]]) -> float:
    """Return the mean over pairs of a ranked list and its gold.

    Raises `ValueError` without a pair, and for an empty gold.
    """
    ranks = [reciprocal_rank(ranked, gold) for ranked, gold in pairs]
    if not ranks:
        raise ValueError("the mean of no ranked lists is not defined")
    return fmean(ranks)


def _wanted(gold: Set[object]) -> Set[object]:
    if not gold:
        raise ValueError("gold is empty: nothing can be found, leave the question out")
    return gold
