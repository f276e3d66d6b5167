"""Opinions on one question: which agree, which is believed, and how likely a final answer is right.

Each opinion's weight is the chance that it is right when nobody else was asked. Sources err apart
from each other, so that two that agree are worth much more than one. The opinions of one source, as
the samples of a model, err together: all of them are worth less than two that are apart.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from askgraph.sparql.comparison import alike, is_blank, of_columns
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer

_NEVER, _SURE = 0.001, 0.97  # no source is worse or better
_WRONG = 8  # wrong answers that a source errs between, all told
_TOGETHER = 0.5  # how much the opinions of one source correlate
_EMPTY = 0.25  # of the chance that an answer is right, what is left where it has no rows


Said = float | Literal["low", "medium", "high"]
"""How sure a language model says it is: between 0 and 1, or in a word."""
_WORDS = {"low": 0.3, "medium": 0.6, "high": 0.9}
_BIAS = 0.8
_WEIGHTS = {
    "searched": 1.6,
    "against": -0.8,
    "votes": 1.8,
    "said": 1.0,
    "finding": -1.0,
    "empty": -2.6,
    "truncated": -0.4,
    "misfit": -1.2,
    "revised": -0.5,
}
_FINDINGS = 2  # the third finding tells no more than two do


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
    query that goes wrong gives nothing far more often than nothing is right. If a result is
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
    """Return what is believed of several opinions; None if there are none.

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
    """What speaks for the opinions of a group, if their sources spoke so many times in all."""
    left = _EMPTY if is_blank(group[0].given) else 1.0
    odds = [
        _odds(opinion.weight * left) / (1 + _TOGETHER * (times[opinion.source] - 1))
        for opinion in group
    ]
    return math.fsum(max(0.0, one) for one in odds) or max(odds)


def _odds(weight: float) -> float:
    """The logarithm of how much likelier an answer is from its source if it is right."""
    chance = min(max(weight, _NEVER), _SURE)
    return math.log(chance * _WRONG / (1.0 - chance))


def _rank(opinion: Opinion) -> tuple[float, float, str, str, str, tuple[str, ...]]:
    answer = opinion.answer
    said = answer.graph, answer.query, answer.answer_columns
    return -opinion.weight, -answer.confidence, opinion.source, *said


@dataclass(frozen=True)
class Signs:
    """What is known of an answer when a run ends.

    `searched` is the chance that graph search gives to a candidate with the same result, 0 if no
    candidate has it; `against` the chance that it gives to the best one with another result. Of the
    `votes` of other opinions, `agreeing` gave the same result. `said` is the model's own word, None
    if it said nothing. `findings` are those of the validator that still stand; a result may be
    `empty` or `truncated`; a `misfit` has not the shape that the question asks for; `revised` says
    that the first reply had to be mended by another call.
    """

    searched: float = 0.0
    against: float = 0.0
    agreeing: int = 0
    votes: int = 0
    said: Said | None = None
    findings: int = 0
    empty: bool = False
    truncated: bool = False
    misfit: bool = False
    revised: bool = False


def answer_confidence(signs: Signs) -> float:
    """Estimate the chance (0–1, both excluded) that an answer with these signs is right.

    A logistic model. The bias and the weights of `searched`, `against` and `votes` were fitted to
    1,380 published answers of a Llama-3.3-70B agent over supply-kgrep (Henselmann et al., 2025; its
    other four runs as votes) and to 370 recorded answers of a stronger model by four methods, each
    of the two weighing half: the weaker one needs agreement more, and is right less often without
    it. The other weights are plausible and were not fitted; of 1,166 published answers with an
    empty result one was right. A better sign never lowers the chance.
    """
    facts = {
        "searched": _share(signs.searched),
        "against": _share(signs.against),
        "votes": (2 * min(signs.agreeing, signs.votes) - signs.votes) / (signs.votes + 2),
        "said": 0.0 if signs.said is None else _number(signs.said) - 0.5,
        "finding": min(signs.findings, _FINDINGS),
        "empty": signs.empty,
        "truncated": signs.truncated,
        "misfit": signs.misfit,
        "revised": signs.revised,
    }
    linear = _BIAS + sum(_WEIGHTS[name] * value for name, value in facts.items())
    return 1 / (1 + math.exp(-linear))


def _number(said: Said) -> float:
    return _WORDS[said] if isinstance(said, str) else _share(said)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
