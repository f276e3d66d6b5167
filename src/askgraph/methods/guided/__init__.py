"""Guided: graph search proposes, a language model disposes, results vote.

Ours. What graph search finds in milliseconds goes into one prompt, together with what the graph
knows near the question; the model chooses a candidate, edits one, writes a query or asks back. What
it says is validated, repaired and run without it; only if something is doubtful is it asked
again, with the evidence, and then with functions to look things up. Several opinions are voted on
by what they give.
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
from askgraph.llm.budget import Account, Budget
from askgraph.methods import Method, disable_fallback
from askgraph.methods.guided.candidates import Candidates, candidates_of, with_results
from askgraph.methods.guided.panel import Ending, Panel, Voice, outcome_of, searched_outcome
from askgraph.methods.guided.prompt import CHOICE, REPLY, guided_messages
from askgraph.methods.guided.verdict import Judge
from askgraph.methods.settings import (
    FallbackSettings,
    check_choices,
    check_fractions,
    check_minimum,
)
from askgraph.methods.shared import Conversation, in_words, with_cost
from askgraph.methods.shared.nearby_schema import ShapeParts
from askgraph.methods.shared.retrieval import Shown
from askgraph.methods.shared.several_graphs import AskedGraphs, Trials
from askgraph.methods.tools import Toolbox, ToolLimits, Visibility
from askgraph.search.decide import Thresholds
from askgraph.trace import (
    Answer,
    Clarification,
    Draft,
    Findings,
    Question,
    Refusal,
    Step,
    heard,
    replays,
)

__all__ = ["Guided"]

_ASKS = ("always", "unsure", "never")
_TOOLS = ("execute", "search_constrained", "describe", "answer", "cancel")


@dataclass(frozen=True)
class Detail:
    """What a prompt shows of a graph; with more than one rendering of the schema, as many prompts.

    Without `values` candidates have no rows, and properties no example values.
    """

    schema: tuple[str, ...] = ("shapes",)
    candidates: int = 6
    shots: int = 3
    classes: int = 5
    room: int = 830  # tokens besides the instruction
    values: bool = True


DETAILS = {
    "full": Detail(),
    "brief": Detail(),
    "written": Detail(schema=()),
    "list": Detail(schema=("list",)),
    "both": Detail(schema=("shapes", "list")),
    "no-rows": Detail(values=False),
    "no-candidates": Detail(candidates=0),
}
"""What the setting `detail` chooses; the last two are ablations."""


@dataclass(frozen=True)
class Guided(FallbackSettings):
    """A model that chooses among what graph search proposes; its fields are its settings.

    `further` and `others` are the objects that the settings `models` and `consult` name.

    Attributes:
        model: the language model.
        ask: when the model is asked: always, unsure (if graph search is not sure) or never.
        sure_from: with unsure, the confidence from which graph search is sure, 0 to 1.
        detail: what the prompt shows: full, brief (900 tokens, for small models), written (for a
            model that was trained to write), list (the schema as a list), both (a prompt with
            shapes and one with a list); to measure, no-rows or no-candidates.
        examples: a file or folder of examples, instead of the first graph's own.
        embedder: an embedding model that finds examples and classes besides words.
        looks: how often a doubtful answer is asked for again, with the evidence.
        turns: turns with functions, where there is no answer after that.
        n: replies of each model to each prompt, which are voted on.
        models: further models that have a vote, with + between.
        consult: other methods that have a vote, with + between.
        sees: what a model is sent: everything, masked, schema or nothing.
        asks_back: it may end with a question back.
        answer_from: the confidence from which it answers without asking back, 0 to 1.
        ask_from: the confidence below which it refuses, 0 to 1.
    """

    converses: ClassVar[bool] = True
    searches: ClassVar[bool] = True

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
    answer_from: float = 0.5
    ask_from: float = 0.2
    further: Mapping[str, LanguageModel] = field(default_factory=dict)
    others: Mapping[str, Method] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choices(self, ask=_ASKS, detail=tuple(DETAILS), sees=get_args(Visibility))
        check_minimum(self, 0, "looks", "turns")
        check_minimum(self, 1, "n")
        self._check_sight()
        if self.ask_from > self.answer_from:
            raise SetupError(
                f"'ask_from' is at most 'answer_from' ({self.answer_from:g}), not {self.ask_from:g}"
            )
        check_fractions(self, "sure_from", "answer_from", "ask_from")

    @property
    def shows(self) -> Detail:
        """What the prompt shows."""
        return DETAILS[self.detail]

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over one graph, or by a query that may join several."""
        if not graphs:
            raise ValueError("no graph was given")
        limits = ToolLimits(timeout=self.query_seconds)
        if self.examples and not replays():
            from askgraph.methods.shared.examples import with_examples  # most methods name none

            graphs = with_examples(graphs, self.examples)
        asked = AskedGraphs.of(question, graphs, limits)
        account = self.open_account()
        run = _Run(self, question, asked, account)
        model = self.charge(self.model, account)
        words = partial(in_words, asked.context_of, model, account, self.options)
        return with_cost(run, lambda: asked.requests, words=words if self.interpret else None)

    def _check_sight(self) -> None:
        """Refuse to show others what this one's model may not see."""
        if self.sees == "everything":
            return
        if self.interpret:
            raise SetupError(
                f"to say an answer in words the model is shown its rows: leave out interpret=true, "
                f"or say sees=everything instead of {self.sees}"
            )
        if self.detail == "written":
            raise SetupError(
                "a model that writes is shown the names of things as they are: leave out "
                f"detail=written, or say sees=everything instead of {self.sees}"
            )
        if self.embedder:
            raise SetupError(
                f"a server of embeddings is sent the question as it is: leave out embedder="
                f"{self.embedder!r}, or say sees=everything"
            )
        asking = [name for name, one in self.others.items() if getattr(one, "model", None)]
        if asking:
            raise SetupError(
                f"the method {asking[0]!r} shows its model everything: it cannot be consulted with "
                f"sees={self.sees}"
            )


@dataclass(eq=False)
class _Run:
    method: Guided
    question: Question
    graphs: AskedGraphs
    account: Account
    outcome: Answer | Clarification | Refusal = field(
        default_factory=lambda: Refusal("Nothing was found.")
    )

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Search; ask the model unless that is sure; end with the best there is."""
        method = self.method
        deciding = Thresholds(method.answer_from, method.ask_from)
        candidates = await candidates_of(
            self.question,
            self.graphs,
            most=method.shows.candidates,
            sees=method.sees,
            limits=SearchLimits(answer_from=method.answer_from, ask_from=method.ask_from),
        )
        if candidates.veil is None:
            self.graphs = candidates.graphs
        found, sure = await heard(
            "candidates", tuple[tuple[Findings | Draft, ...], bool], partial(self.found, candidates)
        )
        for shown in found:
            yield shown
        if method.ask == "never" or sure or method.sees == "nothing":
            self.outcome = await searched_outcome(candidates, asks_back=method.asks_back)
            return
        panel = await self.panel(candidates)
        candidates = panel.judge.candidates
        problem = ""
        try:
            async with aclosing(panel.steps()) as steps:
                async for step in steps:
                    yield step
        except BudgetSpent as spent:
            problem = str(spent)
        except ServiceError as failed:
            silent = panel.verdict is None and panel.answer is None
            if silent and not (method.fallback and isinstance(failed, TRANSIENT_ERRORS)):
                raise
            problem = f"{WITHOUT_MODEL_PREFIX}{failed}" if silent else str(failed)
        ending = Ending(deciding, method.asks_back, problem)
        self.outcome = await outcome_of(panel, candidates, ending)

    async def found(self, candidates: Candidates) -> tuple[tuple[Findings | Draft, ...], bool]:
        """What graph search found, and whether that is sure enough to ask no model."""
        best = candidates.best
        drafts = best.searched.drafts(best.proposal)
        sure = self.method.ask == "unsure" and best.confidence >= self.method.sure_from
        sure = (sure or candidates.name_nothing) and not candidates.follows
        return (best.searched.findings(best.proposal), *drafts), sure

    async def panel(self, candidates: Candidates) -> Panel:
        """Everybody who is asked, with what they are told.

        The candidates are run while the rest of the prompt is made; under a veil before it, so that
        its placeholders are always the same.
        """
        method = self.method
        finding = asyncio.create_task(with_results(candidates))
        try:
            if candidates.veil is not None:
                await finding
            voices = [voice async for voice in self.voices(candidates, finding)]
            candidates = await finding
        finally:
            finding.cancel()
            await asyncio.gather(finding, return_exceptions=True)

        async def weighed() -> tuple[float, ...]:
            return tuple(candidates.chances)

        chances = await heard("chances", tuple[float, ...], weighed)
        judge = Judge(candidates, Trials(self.graphs), chances)
        if len(voices) == 1 and method.n == 1 and not method.others:
            turns = 0 if candidates.veil else method.turns
            return Panel(judge, voices, method.looks, self.toolbox, turns)
        from askgraph.methods.guided.voting import VotingPanel  # most questions ask one model once

        others = {name: self.charged(one) for name, one in self.others.items()}
        graphs = [replace(one.given, endpoint=one.counted) for one in self.graphs.every]
        return VotingPanel(
            judge,
            voices,
            question=self.question,
            others=others,
            graphs=graphs,
            account=self.account,
        )

    @property
    def others(self) -> Mapping[str, Method]:
        """The methods that have a say beside the model; one that writes, if it shall only write."""
        method = self.method
        if method.detail != "written":
            return method.others
        listed = {"entities": "proposed", "predicates": "proposed", "filter": "off"}
        writes = {"writer": "model", "form": "names", "n": 1, "timeout": method.timeout}
        writer = plugins.load("method", "multi-stage")(model=method.model, **writes, **listed)
        return {"writer": writer, **method.others}

    def toolbox(self) -> Toolbox:
        """The functions for looking things up, over the graphs as the prompt writes them."""
        from askgraph.methods.tools.toolbox import (
            GraphToolbox,  # few questions leave the model in doubt
        )

        contexts = [one.context for one in self.graphs.every]
        graphs, limits = [one.graph for one in contexts], contexts[0].limits
        left = self.account.seconds_left
        return GraphToolbox(_TOOLS, graphs, self.question, limits, guarded=False, seconds=left)

    async def voices(
        self, candidates: Candidates, finding: Awaitable[Candidates]
    ) -> AsyncGenerator[Voice, None]:
        """Each model with each rendering of the schema."""
        method = self.method
        brief = method.detail == "brief"
        options: Options = {**method.options, "schema": CHOICE if brief else REPLY}
        renderings = method.shows.schema
        if candidates.veil and renderings:
            renderings = ("list",)
        for rendering in renderings:
            write = partial(
                guided_messages,
                self.question,
                self.graphs,
                candidates,
                finding,
                self.outcome_text(rendering),
                results=method.shows.values,
                brief=brief,
            )
            messages = await heard("prompt", tuple[Message, ...], write, rendering)
            for name, model in [("model", method.model), *method.further.items()]:
                own = Account(Budget())  # voices speak at once: each knows what it cost itself
                asked = method.charge(model, self.account, own)
                talk = Conversation(asked, own, list(messages), options=options)
                told = f"{name}, {rendering}" if len(renderings) > 1 else name
                who = model.identity
                source = f"{who.provider} {who.model} {who.address}"
                yield Voice(told, talk, method.n, source)

    def outcome_text(self, rendering: str) -> Shown:
        """What the settings say that the prompt shows."""
        shows = self.method.shows
        return Shown(
            shows.shots,
            shows.classes,
            shows.room,
            embedder=self.method.embedder,
            parts=ShapeParts(values=shows.values),
            listed=rendering == "list",
        )

    def charged(self, other: Method) -> Method:
        """Another method, what its model costs being charged to this run."""
        model = getattr(other, "model", None)
        if not isinstance(model, LanguageModel):
            return other
        plugin: Callable[..., Method] = type(other)
        settings = {name: getattr(other, name) for name in signature(plugin).parameters}
        asked = self.method.charge(model, self.account)
        return disable_fallback(plugin(**{**settings, "model": asked}))
