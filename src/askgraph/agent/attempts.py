"""The best answer so far, for the case that a run has to end without one that was meant as such."""

from dataclasses import dataclass, field, replace

from askgraph.agent.feedback import disagrees
from askgraph.agent.opening import own_call
from askgraph.tools import Toolbox
from askgraph.tools.named import STANDARD, named_iris
from askgraph.trace import Answer, Refusal, ToolUse

__all__ = ["Attempts", "Ending", "Fallback", "agreed", "ending"]

_EXECUTED = 0.4  # the most that is believed of a query that was run, but never answered with
_ANSWERED = 0.35  # the least with which an attempt passes for an answer
_PROPOSED = 0.9  # of what graph search believes of its candidate, which the model passed over


@dataclass(frozen=True)
class Fallback:
    """An answer for want of a better one; `use` is the call that was made for it, if any."""

    answer: Answer
    use: ToolUse | None = None


@dataclass(frozen=True)
class Ending:
    """How a run ends; `use` is the call that was made for it, if any."""

    outcome: Answer | Refusal
    use: ToolUse | None = None


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
        elif use.tool == "execute" and seen.query and seen.rows:
            self.executed = use

    async def best(self) -> Fallback | None:
        """Return the last answer, else the last query with a result, else graph search's best."""
        if self.answered is not None:
            return Fallback(self.answered)
        if self.executed is not None:
            graph = str(self.executed.arguments.get("graph", ""))
            query = self.executed.observation.query or ""
            return await self._run(graph, query, _EXECUTED)
        if self.proposed is not None:
            believed = self.proposed.confidence * _PROPOSED
            return await self._run(self.proposed.graph, self.proposed.query, believed)
        return None

    async def _run(self, graph: str, query: str, confidence: float) -> Fallback | None:
        call = own_call("cancel", self.toolbox, graph, reason="cut short", query=query)
        use = await self.toolbox.call(call)
        answer = use.observation.answer
        return Fallback(replace(answer, confidence=confidence), use) if answer else None


async def ending(attempts: Attempts, why: str) -> Ending:
    """Return what ends a run for want of an answer: the best attempt, or a refusal.

    `why` is what kept it from one. An attempt that nobody is half sure of is no answer.
    """
    best = await attempts.best()
    if best is None:
        return Ending(Refusal(f"No answer was found: {why}."))
    if best.answer.confidence >= _ANSWERED:
        return Ending(best.answer, best.use)
    return Ending(Refusal(f"No sure answer was found: {why}.", best.answer), best.use)


def _plain(query: str) -> str:
    """A text without PREFIX lines, and with one space for any."""
    kept = [line for line in query.splitlines() if not line.upper().startswith("PREFIX ")]
    return " ".join(" ".join(kept).split())


def agreed(answer: Answer, proposed: Answer | None) -> Answer:
    """Return an answer, surer where graph search came to the same by itself."""
    if proposed is None or disagrees(answer, proposed):
        return answer
    return replace(answer, confidence=max(answer.confidence, proposed.confidence))
