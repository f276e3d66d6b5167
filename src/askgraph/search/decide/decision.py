"""The decision on the best candidate: its evidence and confidence; answer, or what to ask back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from askgraph.index.tokens import tokens
from askgraph.search.decide.confidence import calibrated, weighed
from askgraph.search.linking.text import Reading
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.query import keys_of, predicate_of, variable_of
from askgraph.search.rank.clusters import Cluster
from askgraph.search.rank.faults import Subject, faults_of
from askgraph.search.run import Proposal
from askgraph.sparql.tree import Call
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
    ask: float = 0.25


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


_CLOSE = 0.2
"""A rival whose score is so near is one."""
_ALONE = 0.5
"""The margin of a result that has no rival: being alone proves little."""
_NOUNS_HAVE_CAPITALS = frozenset(["de"])


def evidence_for(proposal: Proposal, found: Sequence[Cluster]) -> dict[str, float]:
    """Return the evidence on the best of some clusters; the names are those of `own_weights`.

    What each says is in docs/how-it-works.md. All comes from the words, the candidates and their
    answer sets; nothing is run.
    """
    best = found[0].best
    subject = Subject(proposal, best)
    return {
        "score": best.score,
        "margin": min(1.0, found[0].score - found[1].score) if len(found) > 1 else _ALONE,
        "rivals": math.log1p(sum(one.score > found[0].score - _CLOSE for one in found[1:])),
        "faults": float(len(faults_of(subject))),
        **_words_left(proposal, best),
        **_doubts(subject),
        **_kind(subject),
    }


def _words_left(proposal: Proposal, best: Candidate) -> dict[str, float]:
    """What the query takes of the question's words, and what it leaves."""
    reading, weights = proposal.reading, proposal.linked.weights
    content = [at for at, weight in enumerate(weights) if weight]
    unused = [at for at in content if not best.used >> at & 1]
    linked = {at for link in proposal.linked.links for at in link.positions}
    nouns = reading.language in _NOUNS_HAVE_CAPITALS
    names = [
        at
        for at in unused
        if at > 0 and reading.tokens[at].capital and not (nouns and at in linked)
    ]
    return {
        "covered": 1.0 - sum(weights[at] for at in unused) / (sum(weights) or 1.0),
        "unused_names": float(len(names)),
    }


def _doubts(subject: Subject) -> dict[str, float]:
    """How loosely the query hangs together with the words that it takes."""
    best, proposal = subject.candidate, subject.proposal
    links = [part.link for part in best.state.node.walk() if part.link is not None]
    return {
        "guess": float(_is_guess(best, proposal.reading)),
        "weakest": 1.0 - min((link.score * link.quality for link in links), default=1.0),
        "required": float(best.notes.count("required")),
        "unsaid_order": _unsaid_order(subject),
    }


def _is_guess(best: Candidate, reading: Reading) -> bool:
    """Whether the words name one thing, and the answer is a link of it that no word names."""
    edges = best.state.node.edges
    if len(edges) != 1 or best.shown_words or best.notes:
        return False
    edge, child = edges[0]
    if child.link is None or child.edges or edge.link is not None:
        return False
    words = [reading.tokens[at] for at in child.link.positions]
    several = any(word.stem != word.folded for word in words)  # "chip fabs": what is one
    return best.state.node.cls_link is None and (edge.inverse or not several)


def _unsaid_order(subject: Subject) -> float:
    """How loosely words name what the rows are first ordered by."""
    keys = [key for key, _ in keys_of(subject.tree)[:1]]
    into = [predicate_of(one) for one in subject.patterns if one.object in keys]
    return 1.0 - max(subject.said.get(iri, 0.0) for iri in into) if into else 0.0


def _kind(subject: Subject) -> dict[str, float]:
    """What of a query is more often wrong than right, whatever was asked."""
    variables = [variable_of(one) for one in subject.shown]
    owners = {one.subject for one in subject.patterns if one.object in variables}
    denies = bool(subject.denied) and bool(subject.frame.of("not"))
    return {
        "denies": float(denies),
        "groups": float(_groups_unasked(subject)),
        "scattered": float(max(0, len(owners) - 1)),
    }


def _groups_unasked(subject: Subject) -> bool:
    """Whether rows are grouped, neither "for each" nor to count for a limit or an order."""
    query = subject.tree
    counted = query.having or any(isinstance(key, Call) for key, _ in keys_of(query))
    return bool(query.group_by) and not counted and not subject.expected.grouped


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
