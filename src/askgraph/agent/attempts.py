"""The best answer so far, for the case that a run has to end without one that was meant as such."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from askgraph.agent.feedback import disagrees
from askgraph.agent.opening import own_call
from askgraph.errors import QuerySyntaxError
from askgraph.sparql.read import read
from askgraph.tools import Toolbox
from askgraph.tools.named import STANDARD, named_iris
from askgraph.trace import Answer, Refusal, ToolUse

__all__ = ["Attempts", "Ending", "Fallback", "agreed", "ending", "given_up"]

_EXECUTED = 0.4  # the most that is believed of a query that was run, but never answered with
_ANSWERED = 0.35  # the least with which an attempt passes for an answer
_GIVEN_UP = 0.3  # the most that is believed of an attempt that the model did not answer with
_PROPOSED = 0.9  # of what graph search believes of its candidate, which the model passed over


@dataclass(frozen=True)
class Fallback:
    """An answer for want of a better one, None where there is none; the calls made to get it."""

    answer: Answer | None = None
    uses: tuple[ToolUse, ...] = ()


@dataclass(frozen=True)
class Ending:
    """How a run ends, and the calls that were made for it."""

    outcome: Answer | Refusal
    uses: tuple[ToolUse, ...] = ()


@dataclass(eq=False)
class Attempts:
    """What was found on the way: answers, the last query with a result, graph search's best.

    Graph search reads a question by itself. Of one that is not `alone`, but follows another one,
    its best is no attempt, and no opinion on others.
    """

    toolbox: Toolbox
    alone: bool = True
    answered: Answer | None = None
    executed: ToolUse | None = None
    proposed: Answer | None = None
    unseen: tuple[str, ...] = ()  # IRIs of the last answer that nothing had shown
    chosen: bool = False  # whether the last answer is one of graph search's candidates
    _candidates: str = ""
    _seen: set[str] = field(default_factory=set)

    def note(self, use: ToolUse) -> None:
        """Take in what a call gave."""
        seen = use.observation
        if seen.answer is not None:
            named = (iri for iri in named_iris(seen.answer.query) if not iri.startswith(STANDARD))
            self.unseen = tuple(iri for iri in named if iri not in self._seen)
        self._seen.update(seen.seen)
        if use.tool == "propose_queries" and not use.call and seen.answer is not None:
            better = self.proposed is None or seen.answer.confidence > self.proposed.confidence
            self.proposed = seen.answer if better and self.alone else self.proposed
            self._candidates += _plain(seen.text)
        elif seen.ends == "answer":
            self.answered = seen.answer
            self.chosen = _plain(str(use.arguments.get("query", ""))) in self._candidates
        elif use.tool == "execute" and seen.rows and _may_answer(seen.query or ""):
            self.executed = use

    async def best(self) -> Fallback:
        """Return the last answer, else the last query with a result, else graph search's best.

        What does not run any more gives way to the next.
        """
        if self.answered is not None:
            return Fallback(self.answered)
        uses: list[ToolUse] = []
        for graph, query, confidence in self._queries():
            call = own_call("cancel", self.toolbox, graph, reason="cut short", query=query)
            uses.append(await self.toolbox.call(call))
            answer = uses[-1].observation.answer
            if answer is not None:
                return Fallback(replace(answer, confidence=confidence), tuple(uses))
        return Fallback(None, tuple(uses))

    def _queries(self) -> Iterator[tuple[str, str, float]]:
        """The graphs and queries of attempts that are no answers yet, and what is believed."""
        if self.executed is not None:
            graph = str(self.executed.arguments.get("graph", ""))
            yield graph, self.executed.observation.query or "", _EXECUTED
        if self.proposed is not None:
            believed = self.proposed.confidence * _PROPOSED
            yield self.proposed.graph, self.proposed.query, believed


async def ending(attempts: Attempts, why: str) -> Ending:
    """Return what ends a run for want of an answer: the best attempt, or a refusal.

    `why` is what kept it from one, and stands in either. An attempt that nobody is half sure of is
    no answer.
    """
    best = await attempts.best()
    if best.answer is None:
        return Ending(Refusal(f"No answer was found: {why}."), best.uses)
    if best.answer.confidence >= _ANSWERED:
        return Ending(replace(best.answer, cut_short=why), best.uses)
    return Ending(Refusal(f"No sure answer was found: {why}.", best.answer), best.uses)


def given_up(reason: str, best: Answer | None) -> Refusal:
    """Return the refusal of a model that gave up, with the best attempt, little believed."""
    if best is None:
        return Refusal(reason)
    return Refusal(reason, replace(best, confidence=min(best.confidence, _GIVEN_UP)))


def _may_answer(query: str) -> bool:
    """Whether a query gives rows, or yes or no, and not triples."""
    try:
        return read(query).form in ("SELECT", "ASK")
    except QuerySyntaxError:
        return bool(query)  # of an endpoint with a dialect of its own


def _plain(query: str) -> str:
    """A text without PREFIX lines, and with one space for any."""
    kept = [line for line in query.splitlines() if not line.upper().startswith("PREFIX ")]
    return " ".join(" ".join(kept).split())


def agreed(answer: Answer, proposed: Answer | None) -> Answer:
    """Return an answer, surer where graph search came to the same by itself."""
    if proposed is None or disagrees(answer, proposed):
        return answer
    return replace(answer, confidence=max(answer.confidence, proposed.confidence))
