"""SPARQL-LLM: one prompt with retrieved examples and shapes; a validator has faults repaired.

Smeros et al., arXiv 2512.14277, section 3.2: decomposition, retrieval of examples and of classes
with their shapes, generation, validation with at most three revisions, interpretation. Our
additions: the prompt shows linked names with their IRIs, safe repairs need no model, faults come
with the nearest valid names and empty results with a reason, the query is verbalized without a
second prompt, and a query over several graphs is joined here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from askgraph.errors import BudgetSpent, ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Choice, LanguageModel, System, User
from askgraph.llm.budget import BudgetAccount
from askgraph.llm.structured import StructuredReply, describe_for_user, parse_structured
from askgraph.methods import PaperPreset, apply_presets, parse_paper_preset
from askgraph.methods.settings import ModelMethodSettings, check_minimum, load_texts
from askgraph.methods.shared import (
    Conversation,
    build_columns_rule,
    run_with_usage,
    verbalize_answer,
)
from askgraph.methods.shared.examples import replace_examples
from askgraph.methods.shared.nearby_schema import ShapeParts
from askgraph.methods.shared.retrieval import PromptContent, build_message
from askgraph.methods.shared.several_graphs import QueryTrials, QuestionGraphs, remove_advice
from askgraph.methods.tools import ToolLimits
from askgraph.trace import (
    Answer,
    Draft,
    Question,
    Refusal,
    Step,
    Thought,
    is_replaying,
    record_or_replay,
)

__all__ = ["SparqlLlm"]

_NAMING_CLAUSE = ", and say in the first line which columns were asked for"
_ANSWER_TEMPLATE = "# answer: ?sales\n{query} WHERE {{ ... }}"
_TEXTS = load_texts("sparql-llm")
INSTRUCTION: str = _TEXTS["instruction"].replace(
    "{columns_rule}", build_columns_rule(naming=_NAMING_CLAUSE, column_example=_ANSWER_TEMPLATE)
)

PAPER_INSTRUCTION: str = _TEXTS["paper_instruction"]
SEVERAL_GRAPHS_RULE: str = _TEXTS["several_graphs_rule"]

_LIST_FIELDS = ("steps", "classes", "entities")
DECOMPOSITION_SCHEMA: Mapping[str, object] = _TEXTS["decomposition_schema"]
"""JSON Schema of the model's decomposition."""
_SHAPE_PARTS = ("properties", "ranges", "values", "order")  # of a shape
_MAX_LIST_ITEMS = 5  # of each list
_MAX_ITEM_CHARACTERS = 200


@apply_presets
@dataclass(frozen=True)
class SparqlLlm(ModelMethodSettings):
    """One prompt, revised if necessary; the fields are its settings.

    With `preset` paper, unset settings take the published values.

    Attributes:
        model: the language model.
        preset: best (ours), or paper (as published).
        shots: similar examples that are shown.
        classes: shapes of classes that are shown; 0: no schema.
        names: linked names are shown with their IRIs.
        room: tokens for all that is shown.
        diverse: near-duplicate examples are shown once; else the nearest to each part of the
            question, however alike.
        examples: a file or folder of examples, instead of the first graph's own.
        embedder: an embedding model that finds examples and classes besides words.
        fraction: the part of the schema that is shown, the most frequent first, 0 to 1.
        without: parts left out of shapes, joined by +: properties, ranges, values, order (by
            frequency).
        decompose: a first call splits the question; else linking alone.
        validate: the query is validated and repaired before it runs.
        revisions: rounds of feedback on faults at most.
    """

    converses: ClassVar[bool] = True
    searches: ClassVar[bool] = True
    published: ClassVar[PaperPreset] = parse_paper_preset(_TEXTS["paper"])
    """Settings of the paper; the limit of three revisions is its own (3.2.3)."""

    model: LanguageModel
    preset: str = "best"
    shots: int = 5
    classes: int = 6
    names: bool = True
    room: int = 3_000
    diverse: bool = True
    examples: str = ""
    embedder: str = ""
    fraction: float = 1.0
    without: str = ""
    decompose: bool = False
    validate: bool = True
    revisions: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_minimum(self, 0, "shots", "classes", "room", "revisions")
        if strange := set(filter(None, self.without.split("+"))) - set(_SHAPE_PARTS):
            raise SetupError(
                f"'without' must be one or more of {', '.join(_SHAPE_PARTS)}, joined by +, "
                f"not {min(strange)!r}"
            )
        if not 0 < self.fraction <= 1:
            raise SetupError(f"'fraction' must be more than 0 and at most 1, not {self.fraction!r}")

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over one graph, or with a query that may join several."""
        limits = ToolLimits(timeout=self.query_seconds, plain=self.preset == "paper")
        graphs_with_examples = graphs if is_replaying() else replace_examples(graphs, self.examples)
        asked_graphs = QuestionGraphs.from_graphs(
            question, graphs_with_examples, limits, fraction=self.fraction
        )
        account = self.open_account()
        model = self.charge(self.model, account)
        trials = QueryTrials(asked_graphs, self.validate, limits.plain)
        run = _SparqlLlmRun(self, question, asked_graphs, account, model, trials)
        verbalize = partial(
            verbalize_answer, asked_graphs.get_context, model, account, self.options,
            raw=self.preset == "paper",
        )  # fmt: skip
        return run_with_usage(
            run, lambda: asked_graphs.requests, verbalize=verbalize if self.interpret else None
        )


@dataclass(eq=False)
class _SparqlLlmRun:
    method: SparqlLlm
    question: Question
    graphs: QuestionGraphs
    account: BudgetAccount
    model: LanguageModel
    trials: QueryTrials
    problem: str = ""
    fault: str = ""  # with the last reply of the model

    @property
    def outcome(self) -> Answer | Refusal:
        """The answer, or a refusal with the reason."""
        best = self.trials.best
        if best is None:
            reason = (
                self.problem
                or describe_for_user(remove_advice(self.fault))
                or "the model wrote none"
            )
            return Refusal(
                f"No query was found: {reason}{'' if reason.endswith(('.', '?')) else '.'}"
            )
        best = replace(best, cut_short=self.problem or None)
        if best.is_empty:
            return Refusal("No query that was found has a result.", best)
        return best

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Search for a query; keep the reason if the search ends early.

        Raises:
            ServiceError: a server failed before any query ran.
        """
        failed: ServiceError | None = None
        try:
            async with aclosing(self.search()) as steps:
                async for step in steps:
                    yield step
        except BudgetSpent as problem:
            self.problem = str(problem)
        except ServiceError as problem:
            failed = problem
        await self.run_trial(self.trials.run_rejected)
        if failed is not None:
            if self.trials.best is None:
                raise failed
            self.problem = str(failed)

    async def search(self) -> AsyncGenerator[Step, None]:
        """Decompose, retrieve and write, then revise while there are faults."""
        method, paper = self.method, self.method.preset == "paper"
        decomposition = Decomposition()
        if method.decompose:
            prefix = "paper_" if paper else ""
            schema = _TEXTS[f"{prefix}decomposition_schema"]
            instruction = _TEXTS[f"{prefix}decomposition_instruction"]
            conversation = self.start_conversation(
                [System(instruction), User(self.question.text)], schema=schema
            )
            yield conversation.to_prompt("decomposition")
            turn = (await conversation.take_turn()).step
            yield turn
            decomposition = parse_decomposition(turn.choice, schema)
            if decomposition.problem:
                yield Thought(describe_for_user(decomposition.problem, advise=False))
        several_graphs_rule = SEVERAL_GRAPHS_RULE if self.graphs.has_several else ""
        instruction = PAPER_INSTRUCTION if paper else INSTRUCTION
        without = method.without.split("+")
        shown_parts = ShapeParts(*(name not in without for name in _SHAPE_PARTS))
        retrieve = partial(
            build_message,
            self.question,
            self.graphs,
            PromptContent(
                method.shots,
                method.classes,
                method.room,
                method.names,
                method.embedder,
                replace(shown_parts, published=paper),
                diverse=method.diverse,
            ),
            parts=decomposition.steps if paper else decomposition.parts,
            classes=decomposition.classes,
            is_about_dataset=decomposition.about_resource,
        )
        message = await record_or_replay(
            "retrieved", str, retrieve, decomposition.parts, decomposition.about_resource
        )
        conversation = self.start_conversation(
            [System(instruction.replace("{several}", several_graphs_rule)), User(message)]
        )
        yield conversation.to_prompt("question")
        for revisions_left in reversed(range(self.method.revisions + 1)):
            turn = (await conversation.take_turn()).step
            yield turn
            text = turn.choice.text
            attempt = partial(self.trials.try_reply, text, is_last=not revisions_left)
            self.fault = fault = await self.run_trial(attempt, text, not revisions_left)
            if best := self.trials.best:
                yield Draft(best.query, best.confidence, best.words)
            if not fault:
                return
            message = f"{fault}\nWrite the query again, whole." if revisions_left else ""
            yield Thought(describe_for_user(remove_advice(fault), advise=False), sent=message)
            if message:
                conversation.send_text(message)

    async def run_trial(self, trial: Callable[[], Awaitable[str | None]], *key: object) -> str:
        """Run a trial, return its fault, and keep the best answer so far."""

        async def run_and_get_best() -> tuple[str, Answer | None]:
            return await trial() or "", self.trials.best

        fault, self.trials.best = await record_or_replay(
            "tried", tuple[str, Answer | None], run_and_get_best, *key
        )
        return fault

    def start_conversation(
        self, messages: list[System | User], **overrides: Mapping[str, object]
    ) -> Conversation:
        """Start a conversation with the model, charged to this run."""
        options = self.method.options
        if "schema" in overrides:
            options["schema"] = overrides["schema"]
        return Conversation(self.model, self.account, [*messages], options=options)


@dataclass(frozen=True)
class Decomposition:
    """Parts of a question in words; `parts` has all of them."""

    steps: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    about_resource: bool = False
    problem: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.steps, *self.classes, *self.entities)))


def parse_decomposition(
    choice: Choice, schema: Mapping[str, object] = DECOMPOSITION_SCHEMA
) -> Decomposition:
    """Parse the decomposition in a model's reply; an unreadable reply sets only `problem`."""
    match parse_structured(choice, schema):
        case StructuredReply(value):
            steps, classes, entities = (
                tuple(
                    str(item)[:_MAX_ITEM_CHARACTERS] for item in part[:_MAX_LIST_ITEMS] if str(item)
                )
                if isinstance(part, list)
                else ()
                for part in map(value.get, _LIST_FIELDS)
            )
            return Decomposition(steps, classes, entities, value.get("intent") == "resource")
        case unfit:
            return Decomposition(problem=unfit.feedback)
