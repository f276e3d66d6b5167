"""Exploration of graphs by a language model: what it is shown first, its turns, and how a run ends.

`Attempts` keeps the best answer so far, for a run that has to end without one that was meant as
such.
"""

import asyncio
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from askgraph.errors import (
    TRANSIENT_ERRORS,
    WITHOUT_MODEL_PREFIX,
    BudgetSpent,
    QuerySyntaxError,
    ServiceError,
)
from askgraph.graph import KnowledgeGraph
from askgraph.graph.boundaries import Boundary
from askgraph.llm import LanguageModel, ToolCall
from askgraph.llm.budget import Account
from askgraph.methods.settings import FallbackSettings, check_choices, check_minimum
from askgraph.methods.shared import Conversation, said_before, spent_on
from askgraph.methods.shared.glossary_notes import noted, taught
from askgraph.methods.shared.several_graphs import disagrees
from askgraph.methods.tools import Toolbox
from askgraph.methods.tools.replay import ReplayedModel, ReplayedToolbox
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES, extract_iris
from askgraph.sparql.parser import read
from askgraph.trace import Answer, Question, Refusal, Step, ToolUse, Trace

NOTES = ("off", "read", "keep")
"""Whether an agent is shown the notes of earlier runs, and whether it keeps notes, too."""

_EXECUTED = 0.4  # the most that is believed of a query that was run, but never answered with
_ANSWERED = 0.35  # the least with which an attempt passes for an answer
_GIVEN_UP = 0.3  # the most that is believed of an attempt that the model did not answer with
_PROPOSED = 0.9  # of what graph search believes of its candidate, which the model passed over
_FENCED = re.compile(r"```(?:sparql)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ExplorerSettings(FallbackSettings):
    """Settings of an agent that explores a graph turn by turn.

    Attributes:
        propose: the overview and graph search's candidates are looked up first.
        plain: queries run as written, and nothing is said of one but what the endpoint says.
        notes: of earlier runs on the graph: off, read (shown first) or keep (and more are noted).
        transcript: tokens of messages above which old results are shortened.
        hits: hits that a search shows.
        rows: rows that a query shows.
        individuals: the boundary of a thing's description (outgoing, neighbourhood).
        schema: the same of a class or property (these, or specific).
    """

    propose: bool = True
    plain: bool = False
    notes: str = "off"
    transcript: int = 12_000
    hits: int = 8
    rows: int = 10
    individuals: Boundary = "auto"
    schema: Boundary = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choices(self, notes=NOTES)
        check_minimum(self, 1, "transcript", "hits", "rows")


@dataclass(frozen=True)
class Fallback:
    """An answer for want of a better one, None if there is none; the calls made to get it."""

    answer: Answer | None = None
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
            named = (
                iri
                for iri in extract_iris(seen.answer.query)
                if not iri.startswith(STANDARD_NAMESPACES)
            )
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
    """Return an answer, surer if graph search came to the same by itself."""
    if proposed is None or disagrees(answer, proposed):
        return answer
    return replace(answer, confidence=max(answer.confidence, proposed.confidence))


def own_call(tool: str, toolbox: Toolbox, graph: str, **arguments: object) -> ToolCall:
    """Return a call that the method makes itself; `graph` goes in if there are several."""
    named = {"graph": graph} if len(toolbox.graph_names) > 1 else {}
    return ToolCall("", tool, json.dumps({**named, **arguments}, ensure_ascii=False))


async def looked_up(
    toolbox: Toolbox,
    question: Question,
    tools: Sequence[str],
    further: Mapping[str, Mapping[str, object]] | None = None,
) -> tuple[ToolUse, ...]:
    """Call some tools with the question on each graph, all at once; graph by graph in order.

    `further` are arguments besides, by tool.
    """
    also = further or {}
    calls = [
        own_call(tool, toolbox, graph, question=question.text, **also.get(tool, {}))
        for graph in toolbox.graph_names
        for tool in tools
    ]
    return tuple(await asyncio.gather(*map(toolbox.call, calls)))


def asked(
    question: Question,
    uses: Sequence[ToolUse],
    headings: dict[str, str],
    graphs: Sequence[KnowledgeGraph] = (),
    *,
    notes: str = NOTES[0],
) -> str:
    """Return the first message: what was looked up, noted, taught and said before, the question.

    Lookups that failed or found nothing are left out; without the setting `notes`, so are notes.
    """
    parts = [
        f"{headings.get(use.tool, use.tool)}\n{use.observation.text}"
        for use in uses
        if not use.observation.failed and use.observation.rows != 0
    ]
    parts += noted(graphs) if notes != NOTES[0] else ()
    parts += [*taught(question, graphs), said_before(question), f"Question: {question.text}"]
    return "\n\n".join(part for part in parts if part)


def written_answer(text: str, toolbox: Toolbox, graph: str) -> tuple[ToolCall, ...]:
    """Return the call of `answer` that a model meant which wrote a query instead of calling it.

    None if there are several graphs, and `graph` is empty: then nobody knows which it meant.
    """
    names = toolbox.graph_names
    fenced = _FENCED.findall(text)
    if len(names) > 1 and not graph:
        return ()
    if not fenced or not re.search(r"\b(SELECT|ASK)\b", fenced[-1], re.IGNORECASE):
        return ()
    chosen = graph or names[0]
    return (own_call("answer", toolbox, chosen, query=fenced[-1].strip(), columns=["*"]),)


@dataclass(eq=False)
class Exploration(ABC):
    """A question that a model explores, turn by turn: `idle` are those on end that led to nothing.

    `method` has the settings. Its turns end when there is an `outcome`, or nothing more can be
    hoped for.
    """

    method: ExplorerSettings
    question: Question
    toolbox: Toolbox
    account: Account
    model: LanguageModel
    attempts: Attempts = field(init=False)
    outcome: Answer | Refusal | None = None
    idle: int = 0

    def __post_init__(self) -> None:
        self.attempts = Attempts(self.toolbox, alone=not self.question.before)

    @abstractmethod
    async def opening(self) -> Sequence[ToolUse]:
        """Look up what the model is shown first."""

    @abstractmethod
    def conversation(self, uses: Sequence[ToolUse]) -> Conversation:
        """Return the conversation as it begins, with what was looked up."""

    @abstractmethod
    def turns(self, talk: Conversation) -> AsyncGenerator[Step, None]:
        """Take turns, and set the outcome."""

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Give all steps; the last is the outcome, with what everything has cost.

        If the budget ends, the model's server fails or no turn brought an outcome, it is the best
        attempt so far, or a refusal that says why. Raises `SetupError` as model and tools do. If
        the server is down before the model said anything, the best of what graph search proposed
        stands and says so; without the setting `fallback` that raises `ServiceError`, so that it
        cannot pass for what a model made of the question.
        """
        started = time.perf_counter()
        uses = await self.opening()
        for use in uses:
            self.attempts.note(use)
            yield use
        talk = self.conversation(uses)
        if isinstance(self.toolbox, ReplayedToolbox):
            talk.messages = self.toolbox.first_messages
        yield talk.prompt("question")
        why = "the model came to no answer"
        try:
            async with aclosing(self.turns(talk)) as turns:
                async for step in turns:
                    yield step
        except BudgetSpent as problem:
            why = str(problem)
        except ServiceError as problem:
            falls_back = self.method.fallback and isinstance(problem, TRANSIENT_ERRORS)
            if not talk.choices and not falls_back:
                raise
            why = str(problem) if talk.choices else f"{WITHOUT_MODEL_PREFIX}{problem}"
        outcome = self.outcome
        if outcome is None:
            fallback = await self.attempts.best()
            best = fallback.answer
            if best is None:
                outcome = Refusal(f"No answer was found: {why}.")
            elif best.confidence >= _ANSWERED:
                outcome = replace(best, cut_short=why)
            else:
                outcome = Refusal(f"No sure answer was found: {why}.", best)
            for use in fallback.uses:
                yield use
        seconds = time.perf_counter() - started
        usage = spent_on(self.account, seconds=seconds, requests=self.toolbox.requests)
        yield replace(outcome, usage=usage)


def explored(
    run: Callable[..., Exploration],
    method: ExplorerSettings,
    question: Question,
    toolbox: Toolbox,
    model: LanguageModel,
) -> AsyncGenerator[Step, None]:
    """Return the steps of a run with a method's settings, charged to an account of its own."""
    account = method.open_account()
    return run(method, question, toolbox, account, method.charge(model, account)).steps()


def replayed(
    run: Callable[..., Exploration], method: ExplorerSettings, trace: Trace
) -> AsyncGenerator[Step, None]:
    """Do a run again from its trace, with no model and no graph.

    Raises `SetupError` if it would go another way now.
    """
    return explored(run, method, trace.question, ReplayedToolbox(trace), ReplayedModel(trace))
