"""Multi-stage: link entities, match predicates, drop what never meets, write, refuse or answer.

Alekseev et al., "The benefits of query-based KGQA systems for complex and temporal questions in
LLM era" (NLDB 2025): entity linking (4.1), predicate matching (4.2), a small model that writes the
query (4.3), the filter before it and the refusal of what fails or is empty (4.4, appendix D). The
writer is grown without a model, or is a language model. Ours are the restriction of
predicates to those that exist at the entities, the predicates there that no word names, and a
writer without a language model.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

from askgraph.errors import QueryError, ServiceError, SetupError, Unauthorised, Unreachable
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource
from askgraph.index.linkers import Span, linker_of
from askgraph.index.names import Kind
from askgraph.llm import LanguageModel
from askgraph.llm.budget import Account
from askgraph.methods import PaperPreset, PaperSetting, apply_presets, check_interpretation
from askgraph.methods.multi_stage.staged_terms import (
    THINGS,
    Ground,
    findings,
    given_terms,
    grounded,
    linked_terms,
    outside_predicates,
    outside_things,
    picked,
    predicate_listed,
    proposed_terms,
    reason_prompt,
    reasoned,
    retrieved,
)
from askgraph.methods.settings import (
    SpendingSettings,
    check_choices,
    check_fractions,
    check_minimum,
)
from askgraph.methods.shared import Overheard, said_before, spent_on, turns_of
from askgraph.methods.shared.cooccurrence import FILTERS, UNMATCHED, meeting, refuses
from askgraph.methods.shared.follow_up import over_first_graph
from askgraph.methods.shared.glossary_notes import taught
from askgraph.methods.shared.index_cache import bm25_of
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import QueryRun, build_answer, prepare_query, run_query
from askgraph.methods.writing import Hypothesis, ListedTerm
from askgraph.methods.writing.graph_search_writer import GraphSearchWriter
from askgraph.methods.writing.model_writer import PromptedWriter
from askgraph.methods.writing.references import FORMS, PLAIN, References
from askgraph.plugins import explain_removal
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.trace import (
    Answer,
    Draft,
    Findings,
    Prompt,
    Question,
    Refusal,
    Step,
    Thought,
    heard,
)

__all__ = ["MultiStage"]

SEARCHES = ("samples", "beams")
WRITERS = ("grown", "model", "sparql")
_MODELS = ("model", "sparql")  # writers that ask a model
_LINKS = ("linked", "reason", "given", "outside", "proposed")
_Listings = tuple[ListedTerm, ...]
PUBLISHED = PaperPreset(
    "Alekseev et al., The benefits of query-based KGQA systems (NLDB 2025)",
    {
        "entities": PaperSetting(
            "reason", "4.1: RetReason; with ReFinED entities=outside,linker=refined"
        ),
        "predicates": PaperSetting("reason", "4.2: RetReason"),
        "bm25_entities": PaperSetting("2.95/0.2", "appendix B: for QALD-10"),
        "bm25_predicates": PaperSetting("5.18/0.01", "appendix B: for QALD-10"),
        "least_predicates": PaperSetting(10, "4.1: entities with fewer are not in the index"),
        "restrict": PaperSetting(False, "4.4: pairs are filtered, predicates are not"),
        "near": PaperSetting(0, "4.2: predicates that were retrieved"),
        "filter": PaperSetting("direct", "4.4, appendix D"),
        "writer": PaperSetting("model", "4.3: fine-tuned, by the setting 'model'"),
        "form": PaperSetting("plain", "4.3: the model predicts the final SPARQL query"),
        "search": PaperSetting("beams", "authors' code"),
        "n": PaperSetting(2, "authors' code: two beams"),
    },
    (
        "4.1: no linker comes along: entities=outside asks ReFinED or Falcon, or runs spaCy's",
        "4.1: behind an endpoint, ten times as many candidates are asked for their predicates",
        "4.1, appendix A: the paper does not print its prompts; ours say what its text says",
        "4.3: no trained model comes along; askgraph finetune trains one, and one model both picks "
        "and writes",
    ),
)
"""The settings of the paper; ten candidates are its own (4.1)."""


@apply_presets
@dataclass(frozen=True)
class MultiStage(SpendingSettings):
    """Stages one after the other; its fields are its settings.

    With `preset` paper, what is not set is as published.

    Attributes:
        model: the language model, where one is asked: reason, writer and interpret.
        preset: best (ours), or paper (as published).
        entities: how entities are found: linked, reason, given, outside or proposed.
        predicates: how predicates are found: linked, reason, given, outside or proposed.
        candidates: with reason, how many are retrieved for the model to pick from.
        bm25_entities: with reason, k1 and b of the search for entities, as K1/B.
        bm25_predicates: with reason, k1 and b of the search for predicates, as K1/B.
        least_predicates: with reason, only entities that so many different predicates leave.
        linker: with outside, a URL, falcon, refined, spacy, or another plugin.
        linker_address: with outside, where that linker is, or lies.
        readings: terms that may share a word.
        restrict: only predicates that exist at the entities, or further along a chain, go on.
        near: further predicates at the entities and a step from them, which no word names.
        filter: what is refused before writing: direct (the paper's), reach (two steps) or off.
        writer: grown (without a model), model (trained, by a grammar) or sparql (any model).
        form: of the writer model: references, plain (SPARQL with IRIs) or names (labels).
        search: of the writer model: how several queries are had, samples or beams.
        ranking: of the writer grown: a file of weights, in the place of the package's.
        shots: with plain SPARQL, similar examples of the graph that are shown.
        n: queries that are tried in turn.
        answer_from: the confidence below which there is no answer, 0 to 1.
        rows: rows of the result at most.
    """

    converses: ClassVar[bool] = True
    published: ClassVar[PaperPreset] = PUBLISHED
    asks: ClassVar[Mapping[str, tuple[object, ...]]] = {
        "entities": ("reason",),
        "predicates": ("reason",),
        "writer": ("model", "sparql"),
        "interpret": (True,),
    }

    model: LanguageModel | None = None
    preset: str = "best"
    entities: str = "linked"
    predicates: str = "linked"
    candidates: int = 10
    bm25_entities: str = "1.2/0.75"
    bm25_predicates: str = "1.2/0.75"
    least_predicates: int = 0
    linker: str = ""
    linker_address: str = ""
    readings: int = 6
    restrict: bool = True
    near: int = 60
    filter: str = "reach"
    writer: str = "grown"
    form: str = "references"
    search: str = "samples"
    ranking: str = ""
    shots: int = 0
    n: int = 5
    answer_from: float = 0.0
    rows: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if removal := explain_removal("writer", Path(self.writer).suffix):
            raise SetupError(removal)
        check_choices(
            self,
            entities=_LINKS,
            predicates=_LINKS,
            filter=FILTERS,
            form=FORMS,
            search=SEARCHES,
            writer=WRITERS,
        )
        check_minimum(self, 0, "near", "shots", "least_predicates")
        check_minimum(self, 1, "candidates", "readings", "n", "rows")
        check_fractions(self, "answer_from")
        bm25_of(self.bm25_entities)
        bm25_of(self.bm25_predicates)
        if self.writer in _MODELS and self.model is None:
            raise SetupError(
                f"writer={self.writer} needs a language model: name one with the setting 'model'"
            )
        if "reason" in (self.entities, self.predicates) and self.model is None:
            raise SetupError("to reason needs a language model: name one with the setting 'model'")
        check_interpretation(self)
        if "outside" in (self.entities, self.predicates):
            linker_of(self.linker, self.linker_address)

    @property
    def written_form(self) -> str:
        """The form in which a model writes; one that was not trained, SPARQL with IRIs."""
        return PLAIN if self.writer == "sparql" else self.form

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over the first graph."""
        return over_first_graph(self, self.model, question, graphs, partial(_Run, self))


@dataclass(eq=False)
class _Run:
    method: MultiStage
    context: Context
    account: Account
    model: LanguageModel | None
    things: tuple[ListedTerm, ...] = ()
    predicates: tuple[ListedTerm, ...] = ()
    picked: tuple[ListedTerm, ...] = ()
    spans: Sequence[Span] | None = None
    candidates: _Listings | None = None
    outcome: Answer | Refusal = field(
        default_factory=lambda: Refusal("No query fits what the question names.")
    )

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Link, match, restrict, filter, write, run; each stage says what it found."""
        ground = await grounded(self.context)
        async for step in self.find_things(ground):
            yield step
        yield await self.findings(ground, self.things)
        async for step in self.find_predicates(ground):
            yield step
        yield await self.findings(ground, self.predicates)
        found = (self.things, self.predicates)
        may_use, reach = await heard(
            "meeting", tuple[_Listings, str], partial(self.restricted, ground), found
        )
        if self.method.restrict or self.method.near:
            yield await self.findings(ground, may_use)
        listed = (*self.things, *may_use)
        if not listed:
            self.outcome = Refusal("Nothing in the graph goes by the words of the question.")
            return
        yield Thought(reach)
        if refuses(self.method.filter, reach):
            named, asked = (
                ", ".join(repr(one.label) for one in listed[:4])
                for listed in (self.things, self.predicates)
            )
            why = f"Nothing that is called {named} has any of {asked} in this graph."
            self.outcome = Refusal(why)
            return
        async for step in self.written(listed):
            yield step

    async def findings(self, ground: Ground, listed: _Listings) -> Findings:
        """What a stage found, as a step."""

        async def told() -> Findings:
            return findings(ground, listed)

        return await heard("findings", Findings, told, listed)

    async def find_things(self, ground: Ground) -> AsyncIterator[Step]:
        """The first stage: entities, classes and values."""
        method = self.method
        if method.entities == "reason":
            async for step in self.reasoned(ground, "entities", method.bm25_entities):
                yield step

        async def find() -> _Listings:
            match method.entities:
                case "linked":
                    return linked_terms(ground, *THINGS, readings=method.readings)
                case "proposed":
                    proposed = await self.proposed(ground)
                    return tuple(one for one in proposed if one.kind is not Kind.PREDICATE)
                case "given":
                    found = await given_terms(ground, predicates=False)
                case "outside":
                    found = await outside_things(ground, await self.outside())
                case _:
                    found = self.picked
            return (*found, *linked_terms(ground, Kind.VALUE, readings=method.readings))

        self.things = await heard("things", _Listings, find, self.picked)

    async def find_predicates(self, ground: Ground) -> AsyncIterator[Step]:
        """The second stage: predicates, before they are restricted."""
        method = self.method
        if method.predicates == "reason":
            async for step in self.reasoned(ground, "properties", method.bm25_predicates):
                yield step
            self.predicates = self.picked
            return

        async def find() -> _Listings:
            match method.predicates:
                case "given":
                    return await given_terms(ground, predicates=True)
                case "outside":
                    return outside_predicates(ground, await self.outside())
                case "proposed":
                    proposed = await self.proposed(ground)
                    return tuple(one for one in proposed if one.kind is Kind.PREDICATE)
                case _:
                    return linked_terms(ground, Kind.PREDICATE, readings=method.readings)

        self.predicates = await heard("predicates", _Listings, find)

    async def proposed(self, ground: Ground) -> _Listings:
        """Return what graph search proposes, which is asked once."""
        if self.candidates is None:
            self.candidates = await proposed_terms(ground)
        return self.candidates

    async def outside(self) -> Sequence[Span]:
        """Return what the linker finds in the question, which is asked once."""
        if self.spans is None:
            linker = linker_of(self.method.linker, self.method.linker_address)
            asked = self.context.question
            self.spans = await linker.spans(asked.text, asked.language)
        return self.spans

    async def reasoned(self, ground: Ground, key: str, bm25: str) -> AsyncIterator[Step]:
        """Retrieve and reason: what the model picks of the candidates is in `picked`."""
        self.picked = ()

        async def retrieve() -> tuple[tuple[Resource, ...], Prompt]:
            limit = self.method.candidates
            least = self.method.least_predicates if key == "entities" else 0
            found = await retrieved(ground, key, limit=limit, bm25=bm25_of(bm25), least=least)
            return found, reason_prompt(self.context, key, found)

        candidates, prompt = await heard(key, tuple[tuple[Resource, ...], Prompt], retrieve)
        if self.model is None or not candidates:
            return
        yield prompt
        for turn in await reasoned(self.model, self.account, prompt):
            yield turn
            text = turn.choice.text

            async def pick(text: str = text) -> _Listings:
                return picked(ground, key, candidates, text)

            self.picked = self.picked or await heard(f"picked {key}", _Listings, pick, text)

    async def restricted(self, ground: Ground) -> tuple[_Listings, str]:
        """The predicates that may be used, with those near, and how they meet the things."""
        method, matched = self.method, self.predicates
        schema = await ground.schema((*self.things, *matched))
        met = await asyncio.to_thread(meeting, schema, self.things, matched)
        reach = met.reach(matched) if self.things else UNMATCHED
        if method.predicates == "proposed":
            return matched, reach  # they exist, and are enough
        if method.restrict and self.things:
            matched = met.kept(matched)
        there = {one.target for one in matched}
        known = {p.iri: p for p in self.context.graph.profile.predicates}
        around = (iri for iri in (*met.at, *met.beyond) if iri not in there and iri in known)
        near = list(around)[: method.near]
        return (*matched, *(predicate_listed(known[iri]) for iri in near)), reach

    async def written(self, listed: _Listings) -> AsyncIterator[Step]:
        """Write queries and run them until one has a result; refuse on errors and emptiness."""
        method, graph = self.method, self.context.graph
        model = Overheard(self.model) if self.model else None
        known, told = await heard(
            "prompt",
            tuple[tuple[str, ...], Prompt | None],
            partial(self.build_review_message, listed),
            listed,
        )
        if told is not None:
            yield told
        before = spent_on(self.account)

        async def write() -> Sequence[Hypothesis]:
            writer: GraphSearchWriter | PromptedWriter = GraphSearchWriter(ranking=method.ranking)
            if model is not None and method.writer in _MODELS:
                writer = self.prompted(model, known)
            return await writer.write(self.context.question, listed, graph, n=method.n)

        queries = await (
            write() if told else heard("written", tuple[Hypothesis, ...], write, listed)
        )
        if model is not None and model.said is not None:
            for turn in turns_of(model.said, spent_on(self.account) - before):
                yield turn
        for one in queries:
            yield Draft(one.query, round(one.score, 4) if one.score is not None else 0.0)
        settle = partial(self.settled, queries)
        self.outcome = await heard("settled", Answer | Refusal, settle, *queries)

    async def build_review_message(
        self, listed: _Listings
    ) -> tuple[tuple[str, ...], Prompt | None]:
        """What is known of the question's words, and what a model that writes is told."""
        graph, question = self.context.graph, self.context.question
        short = References(listed, self.method.written_form)
        names = (
            {}
            if short.is_plain
            else {t.target: short.render_name(n) for n, t in short.by_name.items()}
        )

        def shown(iri: str) -> str:
            return names.get(iri) or graph.prefixes.shorten(iri)

        before = said_before(question)
        known = (*taught(question, [graph], shown=shown), *([before] if before else []))
        if self.model is None or self.method.writer not in _MODELS:
            return known, None
        writer = self.prompted(self.model, known)
        return known, Prompt("write", tuple(writer.build_messages(question.text, listed, graph)))

    def prompted(self, model: LanguageModel, known: Sequence[str]) -> PromptedWriter:
        """The writer that asks a model."""
        held = self.method.writer == "model"
        return PromptedWriter(
            model,
            self.method.search if held else "samples",
            constrained=held,
            notes=known,
            form=self.method.written_form,
            shots=self.method.shots,
        )

    async def settled(self, queries: Sequence[Hypothesis]) -> Answer | Refusal:
        """The answer of the first query with a result, else a refusal that says why."""
        if not queries:
            return Refusal("The writer says that no query over the listed terms fits.")
        runs: list[Tried] = []
        for place, one in enumerate(queries):
            runs.append(await tried(self.context, one, place, rows=self.method.rows))
            if runs[-1].full:
                break
        return await chosen_of(self.context, runs, answer_from=self.method.answer_from)


_UNSAID = 0.6  # what is believed of a query whose writer does not say
_PASSED = 0.8  # what is left of that for each query before it


@dataclass(frozen=True)
class Tried:
    """A query that was run: what it gave, or why it failed, and what is believed of it (0–1)."""

    query: str
    result: SelectResult | bool | None
    belief: float
    problem: str = ""

    @property
    def full(self) -> bool:
        """Whether it has a result that is not empty."""
        return isinstance(self.result, bool) or bool(self.result and self.result.rows)


async def tried(context: Context, one: Hypothesis, place: int, *, rows: int) -> Tried:
    """Run a query; a failed one says why. Raises `ServiceError` if the graph is down."""
    belief = min(1.0, math.exp(one.score)) if one.score is not None else _UNSAID * _PASSED**place
    try:
        ran = await run_query(context, prepare_query(context, one.query).query, rows=rows)
    except (Unreachable, Unauthorised):
        raise
    except (QueryError, ServiceError) as error:
        return Tried(one.query, None, belief, str(error))
    if isinstance(ran.result, GraphResult):
        return Tried(one.query, None, belief, "it gives triples, and an answer is rows or yes, no")
    return Tried(ran.query, ran.result, belief)


async def chosen_of(
    context: Context, runs: Sequence[Tried], *, answer_from: float
) -> Answer | Refusal:
    """Return the answer of the last run, if it has a result and is believed enough.

    Else a refusal that says why, with the first query that ran as the best attempt.
    """
    ran = [one for one in runs if one.result is not None]
    if not ran:
        return Refusal(f"No query could be run: {runs[0].problem}")
    best = next((one for one in ran if one.full), ran[0])
    assert best.result is not None
    answer = await build_answer(context, QueryRun(best.query, best.result), confidence=best.belief)
    if not best.full:
        failed = [one.problem for one in runs if one.problem]
        said = f" {len(failed)} failed, the first: {failed[0]}" if failed else ""
        return Refusal(f"No query has a result.{said}", answer)
    if best.belief < answer_from:
        return Refusal("No query is sure enough; the nearest one is shown.", answer)
    return answer
