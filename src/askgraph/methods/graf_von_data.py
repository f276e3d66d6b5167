"""Graf von Data: think, act and observe in plain text until a query is confirmed.

Henselmann, Dorsch and Harth, "Impact of Knowledge Graph Representations on Question Answering with
Language Models" (2025): the actions and the cycle (5.1), and the boundaries of entity descriptions
(4.1), which decide what such an agent can answer. It needs no tool calls, so any model will do.
Our additions: the first message may show an overview of the graph and the candidates of graph
search, queries are repaired before they run, and a run that must stop returns its best attempt.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from askgraph.graph import KnowledgeGraph
from askgraph.graph.boundaries import INDIVIDUAL_BOUNDARIES, SCHEMA_BOUNDARIES, Boundary
from askgraph.llm import LanguageModel, Options, System, User
from askgraph.methods import PaperPreset, apply_presets, parse_paper_preset
from askgraph.methods.settings import check_choices, check_minimum, load_texts
from askgraph.methods.shared import CheckedTurn, Conversation, build_columns_rule, find_repetition
from askgraph.methods.shared.exploration import (
    Exploration,
    ExplorerSettings,
    build_call,
    build_first_message,
    build_refusal,
    call_tools,
    explore,
    raise_confidence,
    replay_exploration,
)
from askgraph.methods.tools import ToolLimits
from askgraph.methods.tools.toolbox import GraphToolbox
from askgraph.trace import Question, Step, ToolUse, Trace

__all__ = ["GrafVonData"]


_TEXTS = load_texts("graf-von-data")
INSTRUCTION: str = _TEXTS["instruction"].replace("{columns_rule}", build_columns_rule())
PAPER_INSTRUCTION: str = _TEXTS["paper_instruction"]
_NOTE_INSTRUCTION: str = _TEXTS["note_instruction"]
_HEADINGS = {
    "overview": "What the graph knows of it:",
    "propose_queries": "Candidates from a program that matches words without understanding them:",
}
_LOOKUP_ACTIONS = ("search", "deref", "query")
_FINAL_ACTIONS = ("success", "fail", "chat")
_MAX_ARGUMENT_CHARACTERS = 160
_NO_ACTION = "There is no action in your reply. Write `Act:` and an action, such as query('…')."
_NO_QUERY = "No query has run yet, so there is nothing to confirm: run the query first."
_QUERY_FAILED = "The query failed, so there is nothing to confirm."
_MAX_IDLE_TURNS = 2
_QUOTES = ('"""', "'''", "```", '"', "'", "`")
_CLOSING_QUOTES = {"“": "”", "‘": "’", "„": "“", "«": "»"}
_OBSERVATION_START = re.compile(
    r"^\W*(?:observe|observation|system)\W*:", re.IGNORECASE | re.MULTILINE
)
_ACT_START = re.compile(r"^\W*act\W*:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Action:
    """A named action with its single argument, without quotes around it."""

    name: str
    argument: str


@apply_presets
@dataclass(frozen=True)
class GrafVonData(ExplorerSettings):
    """An agent whose model writes actions as text; the fields are its settings.

    With `preset` paper, unset settings take the published values. Of several graphs it uses the one
    that fits the question best.

    Attributes:
        model: the language model, which needs no function calls.
        preset: best (ours), or paper (as published).
        individuals: the boundary of an entity that `deref` shows: outgoing or neighbourhood.
        schema: the boundary of a class or property: outgoing, neighbourhood or specific.
        raw: `deref` returns all triples within the boundary, as Turtle.
        cycles: turns at most.
        interpret: the model's success remark is kept with the answer.
    """

    searches: ClassVar[bool] = True
    converses: ClassVar[bool] = True
    published: ClassVar[PaperPreset] = parse_paper_preset(_TEXTS["paper"])
    """Settings of the paper; the limit of ten cycles is its own (appendix A)."""

    model: LanguageModel
    preset: str = "best"
    individuals: Boundary = field(default="neighbourhood", kw_only=True)
    schema: Boundary = field(default="specific", kw_only=True)
    raw: bool = False
    cycles: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choices(self, individuals=INDIVIDUAL_BOUNDARIES, schema=SCHEMA_BOUNDARIES)
        check_minimum(self, 1, "cycles")

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over one graph, or over the best of several."""
        limits = ToolLimits(
            rows=self.rows, hits=self.hits, timeout=self.query_seconds, plain=self.plain,
            bare=self.preset == "paper",
        )  # fmt: skip
        toolbox = GraphToolbox((), graphs, question, limits, False, self.seconds)
        return explore(_GrafVonDataRun, self, question, toolbox, self.model)

    def replay(self, trace: Trace) -> AsyncIterator[Step]:
        """Repeat a run from its trace, without a model or a graph.

        Raises:
            SetupError: the run would now take other steps.
        """
        return replay_exploration(_GrafVonDataRun, self, trace)


@dataclass(eq=False)
class _GrafVonDataRun(Exploration):
    method: GrafVonData
    graph: str = ""
    last_query: str = ""  # the last one that ran
    query_failed: bool = False  # whether the last one of this turn did not

    async def look_up_opening(self) -> tuple[ToolUse, ...]:
        """Look up the question in the graphs and choose the graph that fits best."""
        names = self.toolbox.graph_names
        self.graph = names[0]
        if not self.method.propose and len(names) == 1:
            return ()
        uses = await call_tools(self.toolbox, self.question, ["overview", "propose_queries"])

        def get_confidence(name: str) -> float:
            answers = [use.observation.answer for use in uses if self.is_on_graph(use, name)]
            return max((answer.confidence for answer in answers if answer), default=0.0)

        self.graph = max(names, key=get_confidence)
        return uses

    @staticmethod
    def is_on_graph(use: ToolUse, graph: str) -> bool:
        """Return whether a call used a graph; with one graph, calls name none."""
        return use.arguments.get("graph", graph) == graph

    def start_conversation(self, uses: Sequence[ToolUse]) -> Conversation:
        """Start the conversation: instruction, question, and the overview of the chosen graph."""
        first_uses = [
            use for use in uses if self.method.propose and self.is_on_graph(use, self.graph)
        ]
        paper = self.method.preset == "paper"
        options: Options = {**self.method.options, "stop": ["Observe:"]}
        if paper:
            options["top_p"] = 1.0
        instruction = PAPER_INSTRUCTION if paper else INSTRUCTION
        instruction += _NOTE_INSTRUCTION if self.method.notes == "keep" else ""
        graphs, notes = self.toolbox.graphs, self.method.notes
        return Conversation(
            self.model,
            self.account,
            [
                System(instruction.format(cycles=self.method.cycles)),
                User(
                    build_first_message(self.question, first_uses, _HEADINGS, graphs, notes=notes)
                ),
            ],
            max_tokens=self.method.transcript,
            options=options,
        )

    async def run_turns(self, talk: Conversation) -> AsyncGenerator[Step, None]:
        """Run turn by turn until an action ends the run or the model stays idle."""
        for _ in range(self.method.cycles):
            turn = await talk.take_turn()
            yield turn.step
            for use in await self.run_actions(turn, talk):
                yield use
            if self.outcome is not None or self.idle > _MAX_IDLE_TURNS:
                return

    async def run_actions(self, turn: CheckedTurn, talk: Conversation) -> Sequence[ToolUse]:
        """Run the actions of a turn and report their results, or the problem, to the model."""
        names = (
            *_LOOKUP_ACTIONS,
            *_FINAL_ACTIONS,
            *(("note",) if self.method.notes == "keep" else ()),
        )
        actions = parse_actions(turn.choice.text, names)
        confirms = any(action.name == "success" for action in actions)
        problem = find_repetition(talk, answers=confirms) or (None if actions else turn.problem)
        if problem is not None or not actions:
            self.idle += 1
            talk.send_text(problem or _NO_ACTION)
            return ()
        self.idle, self.query_failed = 0, False
        lookups = [action for action in actions if action.name not in _FINAL_ACTIONS]
        final_actions = [action for action in actions if action.name in _FINAL_ACTIONS]
        results = await asyncio.gather(*map(self.run_lookup, lookups))
        texts = [
            self.record_uses(action, uses) for action, uses in zip(lookups, results, strict=True)
        ]
        final_uses = await self.final_arguments(final_actions[0]) if final_actions else ()
        reason = _QUERY_FAILED if self.query_failed else _NO_QUERY
        texts += [use.observation.text for use in final_uses] or [reason] * bool(final_actions)
        if self.outcome is None:
            talk.send_results("\n\n".join(texts))
        return [*(use for uses in results for use in uses), *final_uses]

    def record_uses(self, action: Action, uses: Sequence[ToolUse]) -> str:
        """Record the results of an action and return the text that the model sees of them."""
        for use in uses:
            self.attempts.record(use)
            if action.name == "query":
                self.last_query = use.observation.query or self.last_query
                self.query_failed = use.observation.failed
        informative_uses = [use for use in uses if use.observation.seen] or uses
        texts = [use.observation.text for use in informative_uses]
        return "\n".join(
            [f"{action.name}({action.argument[:_MAX_ARGUMENT_CHARACTERS]!r}):", *texts]
        )

    async def run_lookup(self, action: Action) -> Sequence[ToolUse]:
        """Run an action that looks something up."""
        match action.name:
            case "search":
                kinds = ("entity",) if self.method.preset == "paper" else ("entity", "property")
                searches = [self.call(f"search_{kind}", query=action.argument) for kind in kinds]
                return await asyncio.gather(*searches)
            case "deref":
                method = self.method
                arguments = {"boundary": method.individuals, "terms": method.schema}
                raw = {"raw": True} if method.raw else {}
                return (await self.call("describe", iri=action.argument, **raw, **arguments),)
            case "note":
                return (await self.call("note", sentence=action.argument),)
            case _:
                return (await self.call("execute", query=action.argument),)

    async def final_arguments(self, action: Action) -> Sequence[ToolUse]:
        """Run an action that ends the run and return its tool calls."""
        if action.name == "success":
            if self.query_failed or not self.last_query:
                return ()
            use = await self.call("answer", query=self.last_query, columns=["*"])
            if use.observation.answer is not None:
                answer = raise_confidence(use.observation.answer, self.attempts.proposal)
                remark = " ".join(action.argument.split()) if self.method.interpret else ""
                self.outcome = replace(answer, interpretation=remark)
            return (use,)
        best = await self.attempts.find_best()
        self.outcome = build_refusal(action.argument, best.answer)
        return best.uses

    async def call(self, tool: str, **arguments: object) -> ToolUse:
        """Call a tool on the graph of the run."""
        return await self.toolbox.call(build_call(tool, self.toolbox, self.graph, **arguments))


def parse_actions(text: str, names: tuple[str, ...]) -> tuple[Action, ...]:
    """Return the actions with the given names in a reply, in order and without duplicates.

    The search starts after the last `Act:`, if there is one. An argument may stand in any quotes or
    in none, and may itself contain the same quotes, brackets and `|`.
    """
    acts = list(_ACT_START.finditer(text))
    acts_text = text[acts[-1].end() :] if acts else text
    observation = _OBSERVATION_START.search(acts_text)
    actions_text = acts_text[: observation.start()] if observation else acts_text
    return tuple(dict.fromkeys(_find_actions(actions_text, names)))


def _find_actions(text: str, names: tuple[str, ...]) -> Iterator[Action]:
    opening = re.compile(rf"(?<!\w)({'|'.join(names)})\s*\(\s*", re.IGNORECASE)
    position = 0
    while match := opening.search(text, position):
        argument, position = _parse_argument(text, match.end(), opening)
        yield Action(match[1].lower(), argument)


def _parse_argument(text: str, start: int, opening: re.Pattern[str]) -> tuple[str, int]:
    """Return the argument that starts at `start`, and the position after the action."""
    quote = next((q for q in (*_QUOTES, *_CLOSING_QUOTES) if text.startswith(q, start)), "")
    text_start = start + len(quote)
    if quote:
        closing = re.escape(_CLOSING_QUOTES.get(quote, quote))
        end_pattern = re.compile(
            rf"{closing}\s*\)(?=[\s`|;.]*(?:\Z|{opening.pattern}))", re.IGNORECASE
        )
        match = end_pattern.search(text, text_start) or re.compile(rf"{closing}\s*\)").search(
            text, text_start
        )
        if match:
            return text[text_start : match.start()].strip(), match.end()
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return text[start:position].strip(), position + 1
    return text[start:].strip(), len(text)
