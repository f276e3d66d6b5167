"""How likely a final answer is right, from all the signs that a run has of it."""

import math
from dataclasses import dataclass
from typing import Literal

__all__ = ["Said", "Signs", "believed"]

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
class Signs:
    """What is known of an answer when a run ends.

    `searched` is the chance that graph search gives to a candidate with the same result, 0 where no
    candidate has it; `against` the chance that it gives to the best one with another result. Of the
    `votes` of other opinions, `agreeing` gave the same result. `said` is the model's own word, None
    where it said nothing. `findings` are those of the validator that still stand; a result may be
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


def believed(signs: Signs) -> float:
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
