"""Guided: graph search proposes candidates, a language model decides, and results vote.

This method is ours. The candidates of graph search go into one prompt, together with the graph's
schema near the question. The model chooses a candidate, edits one, writes a query or asks back. Its
reply is validated, repaired and run without further calls; only if something is doubtful is the
model asked again, with the evidence, and then with functions to look things up. Several opinions
are put to a vote by their results.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import ClassVar, get_args

from askgraph import plugins
from askgraph.answers.search_run import SearchLimits
from askgraph.errors import (
    TRANSIENT_ERRORS,
    WITHOUT_MODEL_PREFIX,
    BudgetSpent,
    ServiceError,
    SetupError,
)
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel, Message, Options
from askgraph.llm.budget import BudgetAccount, ModelBudget
from askgraph.methods import Method, disable_fallback
from askgraph.methods.guided.candidates import CandidateSet, run_candidates, search_candidates
from askgraph.methods.guided.panel import (
    BriefPanel,
    EndConditions,
    Panel,
    Voice,
    add_context_columns,
    decide_outcome,
    get_search_outcome,
)
from askgraph.methods.guided.prompt import CHOICE_SCHEMA, REPLY_SCHEMA, build_guided_messages
from askgraph.methods.guided.verdict import ReplyJudge
from askgraph.methods.settings import (
    FallbackSettings,
    check_choices,
    check_fractions,
    check_minimum,
    load_texts,
)
from askgraph.methods.shared import Conversation, run_with_usage, verbalize_answer
from askgraph.methods.shared.follow_up import answer_completed
from askgraph.methods.shared.nearby_schema import ShapeParts
from askgraph.methods.shared.retrieval import PromptContent
from askgraph.methods.shared.several_graphs import QueryTrials, QuestionGraphs
from askgraph.methods.tools import Toolbox, ToolLimits, Visibility
from askgraph.search.decide import Thresholds
from askgraph.search.tokenize.word_lists import detect_greeting
from askgraph.trace import (
    Answer,
    Answerer,
    Clarification,
    Draft,
    Findings,
    ModelTurn,
    Outcome,
    Prompt,
    Question,
    Refusal,
    Step,
    is_replaying,
    record_or_replay,
)

__all__ = ["Guided"]

_SIGHT_FAULTS: Mapping[str, str] = load_texts("guided")["sight_faults"]
_DEFAULT_THRESHOLDS = Thresholds(0.5, 0.2)
_ASK_CHOICES = ("always", "unsure", "never")
_TOOL_NAMES = ("execute", "search_constrained", "describe", "answer", "cancel")


@dataclass(frozen=True)
class PromptDetail:
    """What a prompt shows of a graph, at most."""

    schema: tuple[str, ...] = ("list",)  # renderings; each of them gets a prompt of its own
    candidates: int = 2
    shots: int = 3  # examples
    classes: int = 5
    room: int = 572  # tokens besides the instruction
    values: bool = True  # candidates have rows, and properties have example values


PROMPT_DETAILS = {
    "full": PromptDetail(),
    "brief": PromptDetail(schema=("list", "rotated"), candidates=5),
    "written": PromptDetail(schema=()),
    "shapes": PromptDetail(schema=("shapes",)),
    "both": PromptDetail(schema=("list", "shapes")),
    "no-rows": PromptDetail(values=False),
    "no-candidates": PromptDetail(candidates=0),
}
"""The choices of the setting `detail`; the last two are ablations."""


@dataclass(frozen=True)
class Guided(FallbackSettings):
    """A model that chooses among the candidates of graph search; the fields are its settings.

    `further` and `others` are the objects that the settings `models` and `consult` name.

    Attributes:
        model: the language model.
        ask: when the model is asked: always, unsure (if graph search is not sure) or never.
        sure_from: with unsure, the confidence from which graph search is sure, 0 to 1.
        detail: what the prompt shows: full, brief (500 tokens, for small models), written (for a
            model trained to write), shapes (the schema as shapes), both (a prompt with a list and
            one with shapes); for ablations, no-rows or no-candidates.
        examples: a file or folder of examples, instead of the first graph's own.
        embedder: an embedding model that finds examples and classes besides words.
        looks: how often a doubtful answer is asked for again, with the evidence.
        turns: turns with functions if there is still no answer.
        n: replies of each model to each prompt, which vote.
        models: more models that vote, joined by +.
        consult: other methods that vote, joined by +.
        sees: what a model is sent: everything, masked, schema or nothing.
        asks_back: the outcome may be a clarifying question.
        answer_from: the confidence from which it answers without asking back, 0 to 1.
        ask_from: the confidence below which it refuses, 0 to 1.
    """

    converses: ClassVar[bool] = True
    searches: ClassVar[bool] = True
    fallback_errors: ClassVar[tuple[type[ServiceError], ...]] = TRANSIENT_ERRORS

    model: LanguageModel
    ask: str = "always"
    sure_from: float = 0.95
    detail: str = "full"
    examples: str = ""
    embedder: str = ""
    looks: int = 1
    turns: int = 3
    n: int = 1
    models: str = ""
    consult: str = ""
    sees: Visibility = "everything"
    asks_back: bool = True
    answer_from: float = _DEFAULT_THRESHOLDS.answer
    ask_from: float = _DEFAULT_THRESHOLDS.ask
    further: Mapping[str, LanguageModel] = field(default_factory=dict)
    others: Mapping[str, Method] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choices(
            self, ask=_ASK_CHOICES, detail=tuple(PROMPT_DETAILS), sees=get_args(Visibility)
        )
        check_minimum(self, 0, "looks", "turns")
        check_minimum(self, 1, "n")
        consulted = (name for name, item in self.others.items() if getattr(item, "model", None))
        values = {  # that would send what the model must not see
            "interpret": self.interpret,
            "written": self.detail == "written",
            "embedder": self.embedder,
            "consulted": next(consulted, ""),
        }
        for name, value in values.items() if self.sees != "everything" else ():
            if value:
                raise SetupError(_SIGHT_FAULTS[name].format(value=value, sees=self.sees))
        if self.ask_from > self.answer_from:
            raise SetupError(
                f"'ask_from' must be at most 'answer_from' ({self.answer_from:g}), not "
                f"{self.ask_from:g}"
            )
        check_fractions(self, "sure_from", "answer_from", "ask_from")

    @property
    def prompt_detail(self) -> PromptDetail:
        """The content of the prompt."""
        return PROMPT_DETAILS[self.detail]

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over one graph, or with a query that may join several."""
        limits = ToolLimits(timeout=self.query_seconds)
        if self.examples and not is_replaying():
            from askgraph.methods.shared.examples import replace_examples  # most methods have none

            graphs = replace_examples(graphs, self.examples)
        question_graphs = QuestionGraphs.from_graphs(question, graphs, limits)
        account = self.open_account()
        run = _GuidedRun(self, question, question_graphs, account)
        model = self.charge(self.model, account)
        verbalize = partial(
            verbalize_answer, question_graphs.get_context, model, account, self.options
        )
        return run_with_usage(
            run, lambda: question_graphs.requests, verbalize=verbalize if self.interpret else None
        )


@dataclass(eq=False)
class _GuidedRun:
    method: Guided
    question: Question
    graphs: QuestionGraphs
    account: BudgetAccount
    outcome: Answer | Clarification | Refusal = field(
        default_factory=lambda: Refusal("Nothing was found.")
    )

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Run graph search; ask the model unless graph search is sure; end with the best answer."""
        method = self.method
        thresholds = Thresholds(method.answer_from, method.ask_from)
        candidates = await search_candidates(
            self.question,
            self.graphs,
            max_candidates=method.prompt_detail.candidates,
            sees=method.sees,
            limits=None
            if thresholds == _DEFAULT_THRESHOLDS  # graph search has its own
            else SearchLimits(answer_from=method.answer_from, ask_from=method.ask_from),
        )
        if candidates.masker is None:
            self.graphs = candidates.graphs
        search_steps, is_sure = await record_or_replay(
            "candidates",
            tuple[tuple[Findings | Draft, ...], bool],
            partial(self.get_search_steps, candidates),
        )
        for search_step in search_steps:
            yield search_step
        if method.ask == "never" or is_sure or method.sees == "nothing":
            self.outcome = await get_search_outcome(candidates, asks_back=method.asks_back)
            return
        panel = await self.create_panel(candidates)
        candidates = panel.judge.candidates
        problem = ""
        try:
            async with aclosing(panel.run_steps()) as steps:
                async for step in steps:
                    yield step
        except BudgetSpent as budget_error:
            problem = str(budget_error)
        except ServiceError as service_error:
            has_no_reply = panel.verdict is None and panel.answer is None
            if has_no_reply and not (
                method.fallback and isinstance(service_error, method.fallback_errors)
            ):
                raise
            problem = (
                f"{WITHOUT_MODEL_PREFIX}{service_error}" if has_no_reply else str(service_error)
            )
        ending = EndConditions(thresholds, method.asks_back, problem)
        self.outcome = outcome = await decide_outcome(panel, candidates, ending)
        if isinstance(outcome, Answer) and panel.answer is not None:
            context = candidates.by_graph[outcome.graph].linked.context

            async def extend() -> Answer:
                return await add_context_columns(context, outcome)

            self.outcome = await record_or_replay("context columns", Answer, extend)

    async def get_search_steps(
        self, candidates: CandidateSet
    ) -> tuple[tuple[Findings | Draft, ...], bool]:
        """Return the findings of graph search, and whether they suffice without the model."""
        best = candidates.best
        drafts = best.search_run.list_drafts(best.proposal)
        is_sure = self.method.ask == "unsure" and best.confidence >= self.method.sure_from
        is_sure = (is_sure or candidates.has_no_linkable_words) and not candidates.is_follow_up
        return (best.search_run.build_findings(best.proposal), *drafts), is_sure

    async def create_panel(self, candidates: CandidateSet) -> Panel:
        """Create the panel with the prompts of its voices.

        The candidates run while the rest of the prompt is built. With a masker they run before it,
        so that placeholders are always the same.
        """
        method = self.method
        results_task = asyncio.create_task(run_candidates(candidates))
        try:
            if candidates.masker is not None:
                await results_task
            voices = [voice async for voice in self.create_voices(candidates, results_task)]
            candidates = await results_task
        finally:
            results_task.cancel()
            await asyncio.gather(results_task, return_exceptions=True)

        async def get_chances() -> tuple[float, ...]:
            return tuple(candidates.chances)

        chances = await record_or_replay("chances", tuple[float, ...], get_chances)
        judge = ReplyJudge(candidates, QueryTrials(self.graphs), chances)
        if method.detail == "brief":
            return BriefPanel(judge, voices)
        if len(voices) == 1 and method.n == 1 and not method.others:
            turns = 0 if candidates.masker else method.turns
            return Panel(judge, voices, method.looks, self.create_toolbox, turns)
        from askgraph.methods.guided.voting import VotingPanel  # most questions ask one model once

        consulted = {
            name: self.charge_method(member) for name, member in self.consulted_methods.items()
        }
        return VotingPanel(
            judge,
            voices,
            question=self.question,
            others=consulted,
            graphs=[replace(member.base, endpoint=member.counted) for member in self.graphs.graphs],
            account=self.account,
        )

    @property
    def consulted_methods(self) -> Mapping[str, Method]:
        """The methods that vote beside the model; with `detail` written, also a writer."""
        method = self.method
        if method.detail != "written":
            return method.others
        link_settings = {"entities": "proposed", "predicates": "proposed", "filter": "off"}
        writer_settings = {"writer": "model", "form": "names", "n": 1, "timeout": method.timeout}
        writer = plugins.load("method", "multi-stage")(
            model=method.model, **writer_settings, **link_settings
        )
        return {"writer": writer, **method.others}

    def create_toolbox(self) -> Toolbox:
        """Create the lookup functions, over the graphs with the prefixes of the prompt."""
        from askgraph.methods.tools.toolbox import (
            GraphToolbox,  # few questions leave the model in doubt
        )

        contexts = [source.context for source in self.graphs.graphs]
        graphs, limits = [source.graph for source in contexts], contexts[0].limits
        seconds_left = self.account.remaining_seconds
        return GraphToolbox(
            _TOOL_NAMES, graphs, self.question, limits, guarded=False, seconds=seconds_left
        )

    async def create_voices(
        self, candidates: CandidateSet, results: Awaitable[CandidateSet]
    ) -> AsyncGenerator[Voice, None]:
        """Yield a voice for each model and each rendering of the schema."""
        method = self.method
        is_brief = method.detail == "brief"
        options: Options = {**method.options, "schema": CHOICE_SCHEMA if is_brief else REPLY_SCHEMA}
        renderings = method.prompt_detail.schema
        if candidates.masker and renderings and not is_brief:
            renderings = ("list",)
        for rendering in renderings:
            detail = self.method.prompt_detail
            build = partial(
                build_guided_messages,
                self.question,
                self.graphs,
                candidates,
                results,
                PromptContent(
                    detail.shots,
                    detail.classes,
                    detail.room,
                    embedder=self.method.embedder,
                    parts=ShapeParts(values=detail.values),
                    listed=rendering == "list",
                ),
                with_results=method.prompt_detail.values,
                is_brief=is_brief,
                first=2 if rendering == "rotated" else 1,
            )
            messages = await record_or_replay("prompt", tuple[Message, ...], build, rendering)
            for name, model in [("model", method.model), *method.further.items()]:
                voice_account = BudgetAccount(
                    ModelBudget()
                )  # voices run concurrently, so each tracks its own cost
                charged_model = method.charge(model, self.account, voice_account)
                conversation = Conversation(
                    charged_model, voice_account, list(messages), options=options
                )
                voice_name = f"{name}, {rendering}" if len(renderings) > 1 else name
                identity = model.identity
                source = f"{identity.provider} {identity.model} {identity.address}"
                yield Voice(voice_name, conversation, method.n, source)

    def charge_method(self, method: Method) -> Method:
        """Return a method whose model is charged to this run."""
        model = getattr(method, "model", None)
        if not isinstance(model, LanguageModel):
            return method
        plugin: Callable[..., Method] = type(method)
        settings = {name: getattr(method, name) for name in signature(plugin).parameters}
        charged_model = self.method.charge(model, self.account)
        return disable_fallback(plugin(**{**settings, "model": charged_model}))


@dataclass(frozen=True)
class Auto(Guided):
    """The default: graph search where it is sure, at no cost; else `guided`, if there is a model.

    Without a language model it is `graph-search` with its settings. With one, `[methods.guided]`
    holds here too. A model that fails leaves graph search's answer.
    """

    learns: ClassVar[bool] = True
    fallback_errors: ClassVar[tuple[type[ServiceError], ...]] = (ServiceError,)

    ask: str = "unsure"

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncGenerator[Step, None]:
        """Answer a question, and name who answered; graph search completes follow-up questions."""
        ask = partial(super().answer, graphs=graphs)
        if detect_greeting(question.text):

            async def greet() -> Outcome:
                search = plugins.load("method", "graph-search")()
                greeting: Outcome = [step async for step in search.answer(question, graphs)][-1]
                return greeting

            yield await record_or_replay("greeting", Outcome, greet)
            return
        answerer = Answerer("graph-search")
        async with aclosing(answer_completed(question, graphs, ask)) as steps:
            async for step in steps:
                if isinstance(step, Prompt) and step.purpose != "interpretation":
                    answerer = Answerer("graph-search", self.model.identity.model, failed=True)
                elif isinstance(step, ModelTurn) and answerer.model:
                    answerer = Answerer("guided", step.model or self.model.identity.model)
                if isinstance(step, Outcome):
                    search = step.answered_by and replace(step.answered_by, model=answerer.model)
                    step = replace(step, answered_by=search or answerer)
                yield step
