"""GRASP: a language model explores the graph with functions until it can answer.

Walter and Bast, arXiv 2507.08107: the functions and their sets (3.2, 3.3), examples (3.5),
feedback (3.6). Our additions: the first message shows an overview of the graph and the candidates
of graph search, answer columns are separate from context, queries are repaired and guarded before
they run, feedback comes only on risk, and a run that must stop returns its best attempt.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from askgraph.graph import KnowledgeGraph, get_service_iri
from askgraph.graph.boundaries import INDIVIDUAL_BOUNDARIES, SCHEMA_BOUNDARIES
from askgraph.llm import LanguageModel, System, User
from askgraph.llm.structured import StructuredReply, parse_structured
from askgraph.methods import PaperPreset, apply_presets, parse_paper_preset
from askgraph.methods.settings import check_choices, check_minimum, load_texts
from askgraph.methods.shared import CheckedTurn, Conversation, build_columns_rule, find_repetition
from askgraph.methods.shared.exploration import (
    Exploration,
    ExplorerSettings,
    build_first_message,
    build_refusal,
    call_tools,
    explore,
    parse_answer_call,
    raise_confidence,
    replay_exploration,
)
from askgraph.methods.shared.several_graphs import has_different_values
from askgraph.methods.tools import ToolLimits
from askgraph.methods.tools.rendering import list_body_lines
from askgraph.methods.tools.toolbox import GraphToolbox, parse_tool_set
from askgraph.trace import Answer, ModelTurn, Prompt, Question, Step, ToolUse, Trace

__all__ = ["Grasp"]

_TEXTS = load_texts("grasp")
_STEPS_WITH_CANDIDATES: str = _TEXTS["steps_with_candidates"]
_STEPS_WITHOUT_CANDIDATES: str = _TEXTS["steps_without_candidates"]
_RULES: str = _TEXTS["rules"].replace(
    "{columns_rule}", build_columns_rule(column_example='{query} with `columns` ["sales"]')
)
INSTRUCTION: str = _TEXTS["instruction"].replace("{rules}", _RULES)
_PAPER_RULES: str = _TEXTS["paper_rules"]
PAPER_INSTRUCTION: str = _TEXTS["paper_instruction"].replace("{paper_rules}", _PAPER_RULES)

_NOTE_INSTRUCTION: str = _TEXTS["note_instruction"]
_HEADINGS: dict[str, str] = _TEXTS["headings"]
_NO_CALL = "You called nothing. Give the final query with `answer`, or `cancel`."
_MAX_IDLE_TURNS = 2  # turns on end without a call
_FEEDBACK_MODES = ("always", "never", "risk")
_EXAMPLE_TOOLS = {"similar": "find_similar_examples", "random": "find_examples"}
_REVIEW_INSTRUCTION: str = _TEXTS["review_instruction"]
_PAPER_REVIEW_INSTRUCTION: str = _TEXTS["paper_review_instruction"]
_REVIEW_SCHEMA: Mapping[str, object] = _TEXTS["review_schema"]
_MIN_SURE_CONFIDENCE = 0.85
_REVIEWED_ARGUMENTS = ("query", "text", "reason")


@apply_presets
@dataclass(frozen=True)
class Grasp(ExplorerSettings):
    """An agent whose model calls tools; the fields are its settings.

    With `preset` paper, unset settings take the published values.

    Attributes:
        model: the language model.
        preset: best (ours), or paper (as published).
        tools: a set of functions (B, S, S_E, S_A, S_C, best), or names separated by commas.
        feedback: when to review the outcome: always, never, or on risk (an empty result, an IRI
            that no tool showed, a cancellation, other rows than a confident graph search).
        feedbacks: reviews at most.
        shots: examples of the graph that are shown first.
        shots_by: whether these are similar or random.
        embedder: the embedding model for similarity; none: letters and words.
        guarded: a final query may contain only IRIs that a tool showed.
        steps: turns at most.
        columns: columns of a query result that are shown.
        triples: triples of a description that are shown.
        interpret: `answer` also takes the answer in words.
        individuals: the boundary of an entity's description: outgoing, neighbourhood, or auto (the
            model chooses).
        schema: the boundary of a class or property: these, or specific.
    """

    searches: ClassVar[bool] = True
    converses: ClassVar[bool] = True
    published: ClassVar[PaperPreset] = parse_paper_preset(_TEXTS["paper"])
    """Settings of the paper; rows, columns, triples and feedbacks are its own (3.2, 3.6)."""

    model: LanguageModel
    preset: str = "best"
    tools: str = "best"
    feedback: str = "risk"
    feedbacks: int = 2
    shots: int = 0
    shots_by: str = "similar"
    embedder: str = ""
    guarded: bool = True
    steps: int = 15
    columns: int = 10
    triples: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_tool_set(self.tools)
        check_choices(self, feedback=_FEEDBACK_MODES, shots_by=tuple(_EXAMPLE_TOOLS))
        check_choices(
            self, individuals=("auto", *INDIVIDUAL_BOUNDARIES), schema=("auto", *SCHEMA_BOUNDARIES)
        )
        check_minimum(self, 1, "steps", "columns", "triples")
        check_minimum(self, 0, "shots", "feedbacks")

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over one graph or several; the model chooses among them."""
        limits = ToolLimits(
            self.rows, self.columns, self.hits, self.triples, timeout=self.query_seconds,
            individuals=self.individuals, schema=self.schema, plain=self.plain,
        )  # fmt: skip
        names = parse_tool_set(self.tools)
        if self.shots and self.preset == "paper":
            names = tuple(dict.fromkeys((*names, _EXAMPLE_TOOLS[self.shots_by])))
        if self.notes == "keep":
            names = tuple(dict.fromkeys((*names, "note")))
        toolbox = GraphToolbox(
            names, graphs, question, limits, self.guarded, self.seconds, takes_text=self.interpret
        )
        return explore(_GraspRun, self, question, toolbox, self.model)

    def replay(self, trace: Trace) -> AsyncIterator[Step]:
        """Repeat a run from its trace alone; raise `SetupError` if it would take other steps."""
        return replay_exploration(_GraspRun, self, trace)


@dataclass(eq=False)
class _GraspRun(Exploration):
    method: Grasp
    outcome_text: str = ""  # the outcome as reported to the model
    # The arguments of the last call.
    final_arguments: Mapping[str, object] = field(default_factory=dict)
    graph: str = ""  # the one of several that the model named last

    async def look_up_opening(self) -> tuple[ToolUse, ...]:
        """Look up the question in the graphs, and fetch examples."""
        method = self.method
        tools = ["overview", "propose_queries"] if method.propose else []
        if method.shots:
            tools.append(_EXAMPLE_TOOLS[method.shots_by])
        arguments: dict[str, object] = {"number": method.shots}
        similar_arguments = (
            {**arguments, "embedder": method.embedder} if method.embedder else arguments
        )
        arguments_by_tool = {"find_examples": arguments, "find_similar_examples": similar_arguments}
        return await call_tools(self.toolbox, self.question, tools, arguments_by_tool)

    def build_instruction(self) -> str:
        """Build the system message."""
        note_instruction = _NOTE_INSTRUCTION if self.method.notes == "keep" else ""
        if self.method.preset != "paper":
            steps = _STEPS_WITH_CANDIDATES if self.method.propose else _STEPS_WITHOUT_CANDIDATES
            return INSTRUCTION.format(steps=steps) + note_instruction
        services = {
            graph.name: f", SERVICE <{get_service_iri(graph)}>" for graph in self.toolbox.graphs
        }
        lines = [f"- {name}{services.get(name, '')}" for name in self.toolbox.graph_names]
        return PAPER_INSTRUCTION.format(graphs="\n".join(lines)) + note_instruction

    def start_conversation(self, uses: Sequence[ToolUse]) -> Conversation:
        graphs, notes = self.toolbox.graphs, self.method.notes
        first_message = build_first_message(self.question, uses, _HEADINGS, graphs, notes=notes)
        return Conversation(
            self.model,
            self.account,
            [System(self.build_instruction()), User(first_message)],
            self.toolbox.schemas,
            self.method.transcript,
            self.method.options,
        )

    async def run_turns(self, talk: Conversation) -> AsyncGenerator[Step, None]:
        """Run turn by turn, with reviews, until an outcome stands."""
        review_count = 0
        for _ in range(self.method.steps):
            turn = await talk.take_turn()
            yield turn.step
            for use in await self.run_actions(turn, talk):
                yield use
            if self.idle > _MAX_IDLE_TURNS:
                return
            if self.outcome is None:
                continue
            doubt = self.find_doubt()
            if doubt is None or review_count == self.method.feedbacks:
                return
            review_count += 1
            review = await request_review(talk, *self.build_review(doubt))
            yield review.prompt
            yield review.turn
            if review.status == "done":
                return
            self.outcome = None
            talk.send_text(f"A colleague who looked at it says {review.status}: {review.text}")

    def build_review(self, doubt: str) -> tuple[str, str]:
        """Build the messages of a review: the instruction, and the outcome with the doubt.

        As published, the outcome is only the arguments of the last call.
        """
        outcome = self.outcome
        if self.method.preset != "paper":
            query = outcome.query if isinstance(outcome, Answer) else "(none)"
            doubts = [f"Doubt: {doubt}"] if doubt else []
            parts = [f"Query:\n{query}", f"Result:\n{self.outcome_text}", *doubts]
            instruction = _REVIEW_INSTRUCTION.format(rules=f"The query:\n{_RULES}")
        else:
            parts = [f"Called: {'answer' if isinstance(outcome, Answer) else 'cancel'}"]
            parts += [
                f"{name}:\n{value}"
                for name, value in self.final_arguments.items()
                if name in _REVIEWED_ARGUMENTS
            ]
            instruction = _PAPER_REVIEW_INSTRUCTION.format(rules=_PAPER_RULES)
        return instruction, "\n\n".join([build_first_message(self.question, (), {}), *parts])

    async def run_actions(self, turn: CheckedTurn, talk: Conversation) -> Sequence[ToolUse]:
        """Run the calls of a turn and return them, or report the problem to the model."""
        calls = turn.choice.calls or parse_answer_call(turn.choice.text, self.toolbox, self.graph)
        answers = any(call.name == "answer" for call in calls)
        problem = turn.problem or find_repetition(talk, answers=answers)
        if problem is not None or not calls:
            self.idle += 1
            talk.send_text(problem or _NO_CALL)
            return ()
        self.idle = 0
        uses = await self.toolbox.call_all(calls)
        for use in uses:
            self.graph = str(use.arguments.get("graph", self.graph))
            self.attempts.record(use)
            self.settle(use)
        if turn.choice.calls:
            talk.send_observations(uses)
        elif self.outcome is None:
            talk.send_text(uses[0].observation.text)
        return uses

    def settle(self, use: ToolUse) -> None:
        """Set the outcome from a call that ends the run."""
        observation = use.observation
        if observation.ends:
            self.outcome_text, self.final_arguments = observation.text, use.arguments
        if observation.ends == "answer" and observation.answer is not None:
            self.outcome = raise_confidence(observation.answer, self.attempts.proposal)
        elif observation.ends == "cancel" and self.outcome is None:
            self.outcome = build_refusal(
                observation.text, observation.answer or self.attempts.proposal
            )

    def find_doubt(self) -> str | None:
        """Return why the outcome needs a review; None if it needs none."""
        if self.method.feedback == "never":
            return None
        answer = self.outcome if isinstance(self.outcome, Answer) else None
        # Otherwise it was asked before.
        unseen_iris = () if self.method.guarded else self.attempts.unseen_iris
        proposed = None if self.attempts.is_proposed else self.attempts.proposal
        risk = assess_risk(answer, proposed, unseen_iris=unseen_iris)
        return risk if risk or self.method.feedback == "always" else None


@dataclass(frozen=True)
class Review:
    """The result of a review; `text` is for the reviewed model unless the status is "done"."""

    status: str
    text: str
    prompt: Prompt
    turn: ModelTurn


def assess_risk(
    answer: Answer | None, proposed: Answer | None, *, unseen_iris: Sequence[str] = ()
) -> str:
    """Return a reason to doubt an answer, or an empty text.

    Args:
        answer: the answer; None if the model cancelled.
        unseen_iris: IRIs in the query that no tool has shown.
    """
    if answer is None:
        return "It was given up, without an answer."
    if answer.is_empty:
        return "The result is empty."
    if unseen_iris:
        return f"Nothing had shown that the graph has {', '.join(unseen_iris[:5])}."
    if (
        proposed is not None
        and proposed.confidence >= _MIN_SURE_CONFIDENCE
        and has_different_values(answer, proposed)
    ):
        row_count = len(proposed.result.rows)
        result_text = f"{row_count} rows" if proposed.boolean is None else str(proposed.boolean)
        head = "A program that matches words is fairly sure of another:"
        return "\n".join([head, *list_body_lines(proposed.query), f"→ {result_text}"])
    return ""


async def request_review(conversation: Conversation, instruction: str, message: str) -> Review:
    """Ask for a review in a new conversation with the same model and budget.

    An unreadable reply counts as "done".

    Raises:
        BudgetSpent: the budget of the conversation is used up.
        ServiceError: the model fails.
    """
    review_conversation = Conversation(
        conversation.model,
        conversation.account,
        [System(instruction), User(message)],
        options={**conversation.options, "schema": _REVIEW_SCHEMA},
    )
    prompt = review_conversation.to_prompt("feedback")
    turn = (await review_conversation.take_turn()).step
    match parse_structured(turn.choice, _REVIEW_SCHEMA):
        case StructuredReply(value):
            return Review(str(value["status"]), str(value["feedback"]), prompt, turn)
        case _:
            return Review("done", "", prompt, turn)
