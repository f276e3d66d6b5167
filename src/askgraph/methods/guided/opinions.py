"""Answers to one question from several sources: which agree, and which is believed.

Each opinion's weight is the chance that it is right when nobody else was asked. Sources err apart
from each other, so that two that agree are worth much more than one. The opinions of one source, as
the samples of a model, err together: all of them are worth less than two that are apart.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askgraph.sparql.comparison import alike, is_blank, of_columns
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer

__all__ = ["Agreement", "Opinion", "Vote", "agreements", "voted"]

_NEVER, _SURE = 0.001, 0.97  # no source is worse or better
_WRONG = 8  # wrong answers that a source errs between, all told
_TOGETHER = 0.5  # how much the opinions of one source correlate
_EMPTY = 0.25  # of the chance that an answer is right, what is left where it has no rows


@dataclass(frozen=True)
class Opinion:
    """One answer to the question; opinions of one `source` share what the source is worth.

    `weight` is the chance, from 0 to 1, that this answer is right as far as the source alone tells.
    Alternatives that a method ranks, each with a chance of its own, are sources of their own.
    """

    source: str
    answer: Answer
    weight: float = 1.0

    @property
    def given(self) -> SelectResult | bool:
        """What answers the question: the answer columns, or yes or no."""
        if self.answer.boolean is not None:
            return self.answer.boolean
        return of_columns(self.answer.result, self.answer.answer_columns)


@dataclass(frozen=True)
class Agreement:
    """Opinions that give the same, the best one first.

    `weight` says how much speaks for it: the logarithm of its odds against any one answer that
    nobody gave. An opinion that is hardly ever right takes nothing away from others.
    """

    opinions: tuple[Opinion, ...]
    weight: float

    @property
    def answer(self) -> Answer:
        """The answer of the best opinion."""
        return self.opinions[0].answer

    @property
    def sources(self) -> tuple[str, ...]:
        """Who gives it, each once, in the order of names."""
        return tuple(sorted({opinion.source for opinion in self.opinions}))

    @property
    def is_empty(self) -> bool:
        """Whether it holds no value."""
        return is_blank(self.opinions[0].given)


@dataclass(frozen=True)
class Vote:
    """What is believed: an agreement, the chance that it is right, and the next best one.

    `chances` has that of each agreement, the heaviest first; what is missing to 1 is the chance
    that none is right.
    """

    chosen: Agreement
    confidence: float
    runner_up: Agreement | None
    chances: tuple[float, ...]

    @property
    def answer(self) -> Answer:
        """The answer of the chosen agreement's best opinion, as it was given."""
        return self.chosen.answer


def agreements(opinions: Sequence[Opinion]) -> list[Agreement]:
    """Group opinions by what their answers give, the heaviest group first.

    See `askgraph.sparql.comparison` for what is the same; only the answer columns count, and
    neither does the order of the rows if it was asked for: one that sorts and one that does not
    have found the same things. All answers without a value are one group, which weighs little: a
    query that goes wrong gives nothing far more often than nothing is right. Where a result is
    truncated, the rows that are there are compared, so that two which were cut at other rows count
    as different. The order of the opinions has no influence: of equals the first by name of the
    source, then by graph, query and answer columns, is the best.
    """
    ranked = sorted(opinions, key=_rank)
    groups = defaultdict[int, list[Opinion]](list)
    for number, opinion in zip(alike([one.given for one in ranked]), ranked, strict=True):
        groups[number].append(opinion)
    times = Counter(opinion.source for opinion in opinions)
    found = [Agreement(tuple(group), _weight(group, times)) for group in groups.values()]
    return sorted(found, key=lambda one: (-one.weight, -len(one.opinions), _rank(one.opinions[0])))


def voted(opinions: Sequence[Opinion]) -> Vote | None:
    """Return what is believed of several opinions; None where there are none.

    Naive Bayes over sources: before anybody speaks all answers are alike, a source gives the right
    one with the chance that its weight says, and else one of 8 wrong ones. Several opinions of one
    source count as correlated ones do (the design effect of cluster samples, Kish 1965). A lone
    opinion is believed as its weight says.
    """
    found = agreements(opinions)
    if not found:
        return None
    beliefs = [math.exp(min(one.weight, 500.0)) for one in found]
    total = math.fsum(beliefs) + max(0, _WRONG + 1 - len(found))
    chances = tuple(belief / total for belief in beliefs)
    return Vote(found[0], chances[0], found[1] if found[1:] else None, chances)


def _weight(group: Sequence[Opinion], times: Mapping[str, int]) -> float:
    """What speaks for the opinions of a group, where their sources spoke so many times in all."""
    left = _EMPTY if is_blank(group[0].given) else 1.0
    odds = [
        _odds(opinion.weight * left) / (1 + _TOGETHER * (times[opinion.source] - 1))
        for opinion in group
    ]
    return math.fsum(max(0.0, one) for one in odds) or max(odds)


def _odds(weight: float) -> float:
    """The logarithm of how much likelier an answer is from its source where it is right."""
    chance = min(max(weight, _NEVER), _SURE)
    return math.log(chance * _WRONG / (1.0 - chance))


def _rank(opinion: Opinion) -> tuple[float, float, str, str, str, tuple[str, ...]]:
    answer = opinion.answer
    said = answer.graph, answer.query, answer.answer_columns
    return -opinion.weight, -answer.confidence, opinion.source, *said
