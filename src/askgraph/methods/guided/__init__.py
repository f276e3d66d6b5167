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
from askgraph.errors import MAY_PASS, WITHOUT_MODEL, BudgetSpent, ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel, Message, Options
from askgraph.llm.budget import Account, Budget, Prices, charged
from askgraph.methods import (
    Method,
    above_zero,
    at_least,
    one_of,
    shares,
    within,
    without_fallback,
)
from askgraph.methods.guided.candidates import Candidates, candidates_of, with_results
from askgraph.methods.guided.panel import Ending, Panel, Voice, outcome_of, searched_outcome
from askgraph.methods.guided.prompt import CHOICE, REPLY, guided_messages
from askgraph.methods.guided.verdict import Judge
from askgraph.methods.shared import Conversation, in_words, with_cost
from askgraph.methods.shared.nearby_schema import ShapeParts
from askgraph.methods.shared.retrieval import Shown
from askgraph.methods.shared.several_graphs import AskedGraphs
from askgraph.methods.shared.trials import Trials
from askgraph.methods.tools import Limits, Sees, Toolbox
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
_DETAILS = ("full", "brief", "written")
_CHOICES = 6  # candidates of a brief prompt
_SCHEMAS = ("shapes", "list", "both")
_TOOLS = ("execute", "search_constrained", "describe", "answer", "cancel")


@dataclass(frozen=True)
class Guided:
    """A model that chooses among what graph search proposes; its fields are its settings.

    `ask` says when the model is asked: always, unsure (if graph search's confidence is below
    `sure_from`) or never. The prompt shows up to so many `candidates`, without `values` no rows of
    theirs and no example values; `shots` similar examples, those of the graphs or those that
    `examples` names (a file or folder), found by meaning too with an `embedder`; so many `classes`;
    linked `names`; all in `room` tokens besides the instruction. `meanings` is graph search's. The
    `schema` is written as shapes or as a list; "both" asks with each. With `detail`
    "brief" a prompt has at most 900 tokens (six candidates, and names) and small models only
    choose; "written" is for one that was trained to write queries: it writes one of what graph
    search proposes, and the two are voted on. Without `validate` a query runs as it was written. A
    doubtful answer is asked for again, at most `looks` times; if there is still none, the model may
    call functions for `turns` turns. `n` replies are wanted of it; `models` names further models
    and `consult` further methods (several with + between), and with more than one opinion what they
    give is voted on. What a model `sees` is everything, masked (the schema, and placeholders for
    things and values), schema (that alone) or nothing (it is not asked). Below `answer_from` (a
    confidence) it asks back if `asks_back`, below `ask_from` it refuses. With `interpret` a last
    short call says the answer in words. If the model's server fails, graph search's outcome stands
    and says so, unless `fallback` is off. A run ends with its best after `tokens`, `seconds` or
    `money`. `timeout` is in seconds a query.
    """

    converses: ClassVar[bool] = True
    searches: ClassVar[bool] = True

    model: LanguageModel
    ask: str = "always"
    sure_from: float = 0.95
    candidates: int = 6
    values: bool = True
    shots: int = 3
    examples: str = ""
    embedder: str = ""
    meanings: str = ""
    classes: int = 5
    names: bool = True
    room: int = 830
    schema: str = "shapes"
    detail: str = "full"
    validate: bool = True
    looks: int = 1
    turns: int = 3
    n: int = 1
    models: str = ""
    consult: str = ""
    sees: Sees = "everything"
    asks_back: bool = True
    interpret: bool = False
    fallback: bool = True
    answer_from: float = 0.5
    ask_from: float = 0.2
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None
    timeout: float = 20.0
    temperature: float | None = None
    seed: int | None = None
    prices: Prices | None = field(default=None, repr=False)
    further: Mapping[str, LanguageModel] = field(default_factory=dict)
    others: Mapping[str, Method] = field(default_factory=dict)

    def __post_init__(self) -> None:
        one_of(self, ask=_ASKS, schema=_SCHEMAS, detail=_DETAILS, sees=get_args(Sees))
        at_least(self, 0, "candidates", "shots", "classes", "room", "looks", "turns")
        at_least(self, 1, "n")
        above_zero(self, "timeout", "tokens", "seconds", "money")
        self._check_sight()
        if self.ask_from > self.answer_from:
            raise SetupError(
                f"'ask_from' is at most 'answer_from' ({self.answer_from:g}), not {self.ask_from:g}"
            )
        shares(self, "sure_from", "answer_from", "ask_from")

    @property
    def brief(self) -> bool:
        """Whether little is shown, and a choice is all that is asked for."""
        return self.detail == "brief"

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over one graph, or by a query that may join several."""
        if not graphs:
            raise ValueError("no graph was given")
        limits = Limits(timeout=within(self.timeout, self.seconds))
        if self.examples and not replays():
            from askgraph.methods.shared.examples import with_examples  # most methods name none

            graphs = with_examples(graphs, self.examples)
        asked = AskedGraphs.of(question, graphs, limits)
        account = Account(Budget(None, self.tokens, self.money, self.seconds))
        run = _Run(self, question, asked, account)
        model = charged(self.model, account, prices=self.prices)
        options = Options(temperature=self.temperature, seed=self.seed)

        def words(answer: Answer) -> AsyncGenerator[Step, None]:
            return in_words(answer, asked.context_of(answer), model, account, options)

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
            most=min(method.candidates, _CHOICES) if method.brief else method.candidates,
            sees=method.sees,
            limits=SearchLimits(
                answer_from=method.answer_from,
                ask_from=method.ask_from,
                meanings=method.meanings,
            ),
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
            if silent and not (method.fallback and isinstance(failed, MAY_PASS)):
                raise
            problem = f"{WITHOUT_MODEL}{failed}" if silent else str(failed)
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
        judge = Judge(candidates, Trials(self.graphs, method.validate), chances)
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
        if method.detail == "written":
            return
        schema = CHOICE if method.brief else REPLY
        options = Options(temperature=method.temperature, seed=method.seed, schema=schema)
        renderings = ("shapes", "list") if method.schema == "both" else (method.schema,)
        renderings = (
            ("list",) if candidates.veil else renderings[:1] if method.brief else renderings
        )
        for rendering in renderings:
            write = partial(
                guided_messages,
                self.question,
                self.graphs,
                candidates,
                finding,
                self.shown(rendering),
                results=method.values,
                brief=method.brief,
            )
            messages = await heard("prompt", tuple[Message, ...], write, rendering)
            for name, model in [("model", method.model), *method.further.items()]:
                own = Account(Budget())  # voices speak at once: each knows what it cost itself
                asked = charged(model, self.account, own, prices=method.prices)
                talk = Conversation(asked, own, list(messages), options=options)
                told = f"{name}, {rendering}" if len(renderings) > 1 else name
                who = model.identity
                source = f"{who.provider} {who.model} {who.address}"
                yield Voice(told, talk, method.n, source)

    def shown(self, rendering: str) -> Shown:
        """What the settings say that the prompt shows."""
        method = self.method
        parts = ShapeParts(values=method.values)
        listed = rendering == "list"
        return Shown(
            method.shots, method.classes, method.room, method.names, method.embedder, parts, listed
        )

    def charged(self, other: Method) -> Method:
        """Another method, what its model costs being charged to this run."""
        model = getattr(other, "model", None)
        if not isinstance(model, LanguageModel):
            return other
        plugin: Callable[..., Method] = type(other)
        settings = {name: getattr(other, name) for name in signature(plugin).parameters}
        asked = charged(model, self.account, prices=self.method.prices)
        return without_fallback(plugin(**{**settings, "model": asked}))
