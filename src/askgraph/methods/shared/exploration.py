"""Exploration of graphs by a language model: the first message, the turns, and the end of a run.

`Attempts` keeps the best answer so far, for a run that has to end without a final answer.
"""

import asyncio
import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from askgraph import errors
from askgraph.graph import KnowledgeGraph
from askgraph.graph.boundaries import Boundary
from askgraph.llm import LanguageModel, ToolCall
from askgraph.llm.budget import BudgetAccount
from askgraph.methods.settings import FallbackSettings, check_choices, check_minimum
from askgraph.methods.shared import Conversation, format_earlier_questions, get_usage
from askgraph.methods.shared.glossary_notes import format_glossary, format_notes
from askgraph.methods.shared.several_graphs import has_different_values
from askgraph.methods.tools import Toolbox
from askgraph.methods.tools.replay import ReplayedModel, ReplayedToolbox
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES, extract_iris
from askgraph.sparql.parser import parse_tree
from askgraph.trace import Answer, Question, Refusal, Step, ToolUse, Trace

NOTE_MODES = ("off", "read", "keep")
"""Whether an agent sees the notes of earlier runs, and whether it also takes notes."""

# The most that is believed of a query that was run, but never answered with.
_MAX_EXECUTED_CONFIDENCE = 0.4
_MIN_ANSWER_CONFIDENCE = 0.35  # minimum confidence of an attempt to be the answer
# The most that is believed of an attempt that the model did not answer with.
_MAX_REJECTED_CONFIDENCE = 0.3
# Confidence factor of a candidate of graph search that the model ignored.
_PROPOSAL_CONFIDENCE_FACTOR = 0.9
_CODE_BLOCK = re.compile(r"```(?:sparql)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ExplorerSettings(FallbackSettings):
    """Settings of an agent that explores a graph turn by turn.

    Attributes:
        propose: the overview and graph search's candidates are looked up first.
        plain: queries run as written; errors are the endpoint's; hits, functions: as published.
        notes: notes of earlier runs on the graph: off, read (shown first) or keep (new ones too).
        transcript: tokens of messages above which old results are shortened.
        hits: hits that a search shows.
        rows: rows that a query shows.
        individuals: the boundary of an entity's description (outgoing, neighbourhood).
        schema: the boundary of a class or property (these, or specific).
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
        check_choices(self, notes=NOTE_MODES)
        check_minimum(self, 1, "transcript", "hits", "rows")


@dataclass(frozen=True)
class FallbackAnswer:
    """The best answer of a run without a final one, or None; and the calls made to get it."""

    answer: Answer | None = None
    uses: tuple[ToolUse, ...] = ()


@dataclass(eq=False)
class Attempts:
    """Results of a run so far: answers, the last query with rows, graph search's best.

    Graph search reads a question without its history. If the question follows another one (not
    standalone), its best is neither an attempt nor support for another answer.

    Attributes:
        last_answer: the last answer of the model.
        last_execution: the last call of a query with rows.
        proposal: the best candidate of graph search.
        unseen_iris: IRIs of the last answer that no tool had shown.
        is_proposed: whether the last answer is a candidate of graph search.
    """

    toolbox: Toolbox
    is_standalone: bool = True
    last_answer: Answer | None = None
    last_execution: ToolUse | None = None
    proposal: Answer | None = None
    unseen_iris: tuple[str, ...] = ()  # IRIs of the last answer that no tool had shown
    is_proposed: bool = False  # whether the last answer is one of graph search's candidates
    _candidates: str = ""
    _shown_iris: set[str] = field(default_factory=set)

    def record(self, use: ToolUse) -> None:
        """Record the result of a call."""
        observation = use.observation
        if observation.answer is not None:
            query_iris = (
                iri
                for iri in extract_iris(observation.answer.query)
                if not iri.startswith(STANDARD_NAMESPACES)
            )
            self.unseen_iris = tuple(iri for iri in query_iris if iri not in self._shown_iris)
        self._shown_iris.update(observation.seen)
        if use.tool == "propose_queries" and not use.call and observation.answer is not None:
            is_better = (
                self.proposal is None or observation.answer.confidence > self.proposal.confidence
            )
            self.proposal = (
                observation.answer if is_better and self.is_standalone else self.proposal
            )
            self._candidates += _normalize(observation.text)
        elif observation.ends == "answer":
            self.last_answer = observation.answer
            self.is_proposed = _normalize(str(use.arguments.get("query", ""))) in self._candidates
        elif use.tool == "execute" and observation.rows and _can_answer(observation.query or ""):
            self.last_execution = use

    async def find_best(self) -> FallbackAnswer:
        """Return the last answer, else the last query with rows, else graph search's best.

        A query that does not run any more is skipped.
        """
        if self.last_answer is not None:
            return FallbackAnswer(self.last_answer)
        uses: list[ToolUse] = []
        for graph, query, confidence in self._list_queries():
            call = build_call("cancel", self.toolbox, graph, reason="cut short", query=query)
            uses.append(await self.toolbox.call(call))
            answer = uses[-1].observation.answer
            if answer is not None:
                return FallbackAnswer(replace(answer, confidence=confidence), tuple(uses))
        return FallbackAnswer(None, tuple(uses))

    def _list_queries(self) -> Iterator[tuple[str, str, float]]:
        """Yield the graph, the query and the confidence of each attempt that is no answer yet."""
        if self.last_execution is not None:
            graph = str(self.last_execution.arguments.get("graph", ""))
            yield graph, self.last_execution.observation.query or "", _MAX_EXECUTED_CONFIDENCE
        if self.proposal is not None:
            confidence = self.proposal.confidence * _PROPOSAL_CONFIDENCE_FACTOR
            yield self.proposal.graph, self.proposal.query, confidence


def build_refusal(reason: str, answer: Answer | None) -> Refusal:
    """Return the refusal of a model that gave up, with the best attempt at a low confidence."""
    if answer is None:
        return Refusal(reason)
    return Refusal(
        reason, replace(answer, confidence=min(answer.confidence, _MAX_REJECTED_CONFIDENCE))
    )


def _can_answer(query: str) -> bool:
    """Return whether a query returns rows or a boolean, not triples."""
    try:
        return parse_tree(query).form in ("SELECT", "ASK")
    except errors.QuerySyntaxError:
        return bool(query)  # queries of an endpoint with its own dialect


def _normalize(query: str) -> str:
    """Return a text without PREFIX lines and with single spaces."""
    lines = [line for line in query.splitlines() if not line.upper().startswith("PREFIX ")]
    return " ".join(" ".join(lines).split())


def raise_confidence(answer: Answer, proposed: Answer | None) -> Answer:
    """Return an answer, with more confidence if graph search found the same."""
    if proposed is None or has_different_values(answer, proposed):
        return answer
    return replace(answer, confidence=max(answer.confidence, proposed.confidence))


def build_call(tool: str, toolbox: Toolbox, graph: str, **arguments: object) -> ToolCall:
    """Return a call that the method makes itself; it names `graph` if there are several."""
    graph_argument = {"graph": graph} if len(toolbox.graph_names) > 1 else {}
    return ToolCall("", tool, json.dumps({**graph_argument, **arguments}, ensure_ascii=False))


async def call_tools(
    toolbox: Toolbox,
    question: Question,
    tools: Sequence[str],
    extra_arguments: Mapping[str, Mapping[str, object]] | None = None,
) -> tuple[ToolUse, ...]:
    """Call some tools with the question on each graph at once; the results are in order of graphs.

    Args:
        extra_arguments: by tool, more arguments.
    """
    arguments_by_tool = extra_arguments or {}
    calls = [
        build_call(tool, toolbox, graph, question=question.text, **arguments_by_tool.get(tool, {}))
        for graph in toolbox.graph_names
        for tool in tools
    ]
    return tuple(await asyncio.gather(*map(toolbox.call, calls)))


def build_first_message(
    question: Question,
    uses: Sequence[ToolUse],
    headings: dict[str, str],
    graphs: Sequence[KnowledgeGraph] = (),
    *,
    notes: str = NOTE_MODES[0],
) -> str:
    """Return the first message: lookups, notes, glossary, earlier questions, and the question.

    Lookups that failed or found nothing are left out, and so are notes if `notes` is off.
    """
    parts = [
        f"{headings.get(use.tool, use.tool)}\n{use.observation.text}"
        for use in uses
        if not use.observation.failed and use.observation.rows != 0
    ]
    parts += format_notes(graphs) if notes != NOTE_MODES[0] else ()
    parts += [
        *format_glossary(question, graphs),
        format_earlier_questions(question),
        f"Question: {question.text}",
    ]
    return "\n\n".join(part for part in parts if part)


def parse_answer_call(text: str, toolbox: Toolbox, graph: str) -> tuple[ToolCall, ...]:
    """Return the call of `answer` for a model that wrote a query instead of calling it.

    The result is empty if there are several graphs and `graph` is empty, since the model's graph is
    unknown.
    """
    names = toolbox.graph_names
    code_blocks = _CODE_BLOCK.findall(text)
    if len(names) > 1 and not graph:
        return ()
    if not code_blocks or not re.search(r"\b(SELECT|ASK)\b", code_blocks[-1], re.IGNORECASE):
        return ()
    graph_name = graph or names[0]
    return (
        build_call("answer", toolbox, graph_name, query=code_blocks[-1].strip(), columns=["*"]),
    )


@dataclass(eq=False)
class Exploration(ABC):
    """A question that a model explores turn by turn.

    The turns end when there is an `outcome`, or when no more progress is expected.
    """

    method: ExplorerSettings  # the settings
    question: Question
    toolbox: Toolbox
    account: BudgetAccount
    model: LanguageModel
    attempts: Attempts = field(init=False)
    outcome: Answer | Refusal | None = None
    idle: int = 0  # consecutive turns without a result

    def __post_init__(self) -> None:
        self.attempts = Attempts(self.toolbox, is_standalone=not self.question.before)

    @abstractmethod
    async def look_up_opening(self) -> Sequence[ToolUse]:
        """Run the lookups for the first prompt."""

    @abstractmethod
    def start_conversation(self, uses: Sequence[ToolUse]) -> Conversation:
        """Return the initial conversation with the results of the lookups."""

    @abstractmethod
    def run_turns(self, conversation: Conversation) -> AsyncGenerator[Step, None]:
        """Run the turns, and set the outcome."""

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Yield all steps; the last one is the outcome, with the usage of the run.

        If the budget ends, the server of the model fails or no turn yields an outcome, the outcome
        is the best attempt so far, or a refusal with the reason. If the server fails before the
        first reply, the outcome is the best candidate of graph search, marked as such.

        Raises:
            SetupError: the model or a tool is not set up.
            ServiceError: the server fails before the first reply, and the setting `fallback` is
                off. The answer of graph search must not count as the model's.
        """
        start_time = time.perf_counter()
        uses = await self.look_up_opening()
        for use in uses:
            self.attempts.record(use)
            yield use
        conversation = self.start_conversation(uses)
        if isinstance(self.toolbox, ReplayedToolbox):
            conversation.messages = self.toolbox.first_messages
        yield conversation.to_prompt("question")
        reason = "the model came to no answer"
        try:
            async with aclosing(self.run_turns(conversation)) as turns:
                async for step in turns:
                    yield step
        except errors.BudgetSpent as problem:
            reason = str(problem)
        except errors.ServiceError as problem:
            can_fall_back = self.method.fallback and isinstance(problem, errors.TRANSIENT_ERRORS)
            if not conversation.choices and not can_fall_back:
                raise
            reason = (
                str(problem) if conversation.choices else f"{errors.WITHOUT_MODEL_PREFIX}{problem}"
            )
        outcome = self.outcome
        if outcome is None:
            fallback = await self.attempts.find_best()
            best = fallback.answer
            if best is None:
                outcome = Refusal(f"No answer was found: {reason}.")
            elif best.confidence >= _MIN_ANSWER_CONFIDENCE:
                outcome = replace(best, cut_short=reason)
            else:
                outcome = Refusal(f"No confident answer was found: {reason}.", best)
            for use in fallback.uses:
                yield use
        seconds = time.perf_counter() - start_time
        usage = get_usage(self.account, seconds=seconds, requests=self.toolbox.requests)
        yield replace(outcome, usage=usage)


def explore(
    run: Callable[..., Exploration],
    method: ExplorerSettings,
    question: Question,
    toolbox: Toolbox,
    model: LanguageModel,
) -> AsyncGenerator[Step, None]:
    """Return the steps of a run with the settings of a method and a new account."""
    account = method.open_account()
    return run(method, question, toolbox, account, method.charge(model, account)).run_steps()


def replay_exploration(
    run: Callable[..., Exploration], method: ExplorerSettings, trace: Trace
) -> AsyncGenerator[Step, None]:
    """Repeat a run from its trace, without a model or a graph.

    Raises:
        SetupError: the run would now take other steps.
    """
    return explore(run, method, trace.question, ReplayedToolbox(trace), ReplayedModel(trace))
