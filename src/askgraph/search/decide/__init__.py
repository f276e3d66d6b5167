"""The decision on the best candidate: its confidence; answer, refuse, or what to ask back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from askgraph.index import tokens
from askgraph.search.decide.confidence import calibrated, weighed
from askgraph.search.decide.evidence import evidence_for
from askgraph.search.rank import Cluster
from askgraph.search.rank.score import Proposal
from askgraph.trace import Answer, Option

EMPTY = 0.6
"""What is left of a confidence if the result is empty.

What is grown has a result, so that a condition took all away: mostly a wrong one. No more is taken,
since benchmarks leave out the questions to which nothing is the right answer.
"""

Decision = Literal["answer", "ask", "refuse"]


@dataclass(frozen=True)
class Thresholds:
    """Confidence below which askgraph asks back, and below which it refuses."""

    answer: float = 0.5
    ask: float = 0.2


def confidence_of(proposal: Proposal, found: Sequence[Cluster]) -> float:
    """Estimate the chance (0–1) that the best cluster is right: its evidence weighed, calibrated.

    0 if there is no cluster; else neither 0 nor 1.
    """
    return calibrated(weighed(evidence_for(proposal, found))) if found else 0.0


def decided(confidence: float, thresholds: Thresholds | None = None) -> Decision:
    """Decide by confidence."""
    limits = thresholds or Thresholds()
    if confidence >= limits.answer:
        return "answer"
    return "ask" if confidence >= limits.ask else "refuse"


_MOST = 4
"""So many readings are asked about."""
_SHORT = 6
"""So many words of a reading are said first."""


def worth_asking(answers: Sequence[Answer]) -> tuple[Option, ...]:
    """Return the readings between which a person should choose, best first; at most four.

    An answer whose answer columns hold what those of a better one do, in whichever order of rows
    and columns, decides nothing; nor does an empty one, nor one with the same words. Each
    option starts with what tells it apart, if that is short. Empty if fewer than two are
    left. `count` is the number of rows, 1 for yes or no.
    """
    kept: dict[object, Answer] = {}
    said: set[tuple[str, ...]] = set()
    for answer in answers:
        outcome, words = _outcome(answer), tokens(answer.words)
        if outcome and outcome not in kept and words not in said and len(kept) < _MOST:
            kept[outcome] = answer
            said.add(words)
    if len(kept) < 2:
        return ()
    told = _told_apart([answer.words for answer in kept.values()])
    return tuple(
        Option(words, _count(answer), answer.query)
        for words, answer in zip(told, kept.values(), strict=True)
    )


def _outcome(answer: Answer) -> object:
    """What an answer says, its context columns left aside; None if that is nothing."""
    if answer.boolean is not None:
        return str(answer.boolean)
    variables = answer.result.variables
    at = [variables.index(name) for name in answer.answer_columns if name in variables]
    rows = frozenset(
        tuple(sorted(str(row[column]) for column in at or range(len(variables))))
        for row in answer.result.rows
    )
    return rows or None


def _count(answer: Answer) -> int:
    return 1 if answer.boolean is not None else len(answer.result.rows)


def _told_apart(texts: Sequence[str]) -> list[str]:
    """The texts with their own words first, if all share their start or their end."""
    split = [text.split() for text in texts]
    start = _shared(split)
    end = _shared([words[start:][::-1] for words in split])
    own = [words[start : len(words) - end] for words in split]
    if not start + end or any(not 0 < len(words) <= _SHORT for words in own):
        return list(texts)
    return [f"{' '.join(words)}: {text}" for words, text in zip(own, texts, strict=True)]


def _shared(texts: Sequence[Sequence[str]]) -> int:
    """How many words all texts start with."""
    count = 0
    for words in zip(*texts, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count
