"""Multi-stage: link entities, match predicates, drop unreachable ones, write, answer or refuse.

Alekseev et al., "The benefits of query-based KGQA systems for complex and temporal questions in
LLM era" (NLDB 2025): entity linking (4.1), predicate matching (4.2), a small model that writes the
query (4.3), the filter before it and the refusal of failed or empty queries (4.4, appendix D). The
writer is graph search or a language model. Ours are the restriction of predicates to those that
exist at the entities, the predicates there that no word names, and the writer without a model.
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
from askgraph.index.linkers import EntitySpan, create_linker
from askgraph.index.names import ItemKind
from askgraph.llm import LanguageModel, Options
from askgraph.llm.budget import BudgetAccount
from askgraph.methods import (
    PaperPreset,
    apply_presets,
    check_interpretation,
    parse_paper_preset,
    shared,
)
from askgraph.methods import settings as method_settings
from askgraph.methods.multi_stage.staged_terms import (
    ENTITY_KINDS,
    LinkedContext,
    build_findings,
    build_pick_prompt,
    link_context,
    list_external_entities,
    list_external_predicates,
    list_given_terms,
    list_linked_terms,
    list_proposed_terms,
    parse_picked_terms,
    retrieve_candidates,
    to_listed_predicate,
)
from askgraph.methods.shared import cooccurrence
from askgraph.methods.shared.follow_up import answer_over_first_graph
from askgraph.methods.shared.glossary_notes import format_glossary
from askgraph.methods.shared.index_cache import parse_bm25
from askgraph.methods.tools import Context
from askgraph.methods.tools.query_run import QueryRun, build_answer, prepare_query, run_query
from askgraph.methods.writing import Hypothesis, ListedTerm
from askgraph.methods.writing.graph_search_writer import GraphSearchWriter
from askgraph.methods.writing.model_writer import PromptedWriter
from askgraph.methods.writing.term_names import FORMS, NAMES, PLAIN, TermNames
from askgraph.plugins import explain_removal
from askgraph.sparql.results import GraphResult
from askgraph.trace import (
    Answer,
    Draft,
    Findings,
    Prompt,
    Question,
    Refusal,
    Step,
    Thought,
    record_or_replay,
)

__all__ = ["MultiStage"]

SEARCH_CHOICES = ("samples", "beams")
WRITER_CHOICES = ("grown", "model", "sparql")
_MODEL_WRITERS = ("model", "sparql")  # writers that ask a model
_LINK_CHOICES = ("linked", "reason", "given", "outside", "proposed")
_ListedTerms = tuple[ListedTerm, ...]
_DEFAULT_CONFIDENCE = 0.6  # confidence in a query whose writer reports none
_NEXT_QUERY_CONFIDENCE_RATIO = 0.8  # confidence factor for each earlier query
_MAX_PICK_TOKENS = 4_000  # of a reply as published: the bound of the authors' code
_TEXTS = method_settings.load_texts("multi-stage")


@apply_presets
@dataclass(frozen=True)
class MultiStage(method_settings.SpendingSettings):
    """Stages one after the other; the fields are its settings.

    With `preset` paper, unset settings take the published values.

    Attributes:
        model: the language model for reason, writer and interpret.
        picker: another language model for reason.
        preset: best (ours), or paper (as published).
        entities: how entities are found: linked, reason, given, outside or proposed.
        predicates: how predicates are found: linked, reason, given, outside or proposed.
        candidates: with reason, candidates from which the model picks.
        bm25_entities: with reason, k1 and b of the search for entities, as K1/B.
        bm25_predicates: with reason, k1 and b of the search for predicates, as K1/B.
        least_predicates: with reason, the fewest different predicates that leave an entity.
        linker: with outside, a URL, falcon, refined, spacy, or another plugin.
        linker_address: with outside, the address or folder of that linker.
        readings: terms that may share a word.
        restrict: only predicates at the entities, or further along a chain, are used.
        near: more predicates at the entities and one step away, which no word names.
        filter: what is refused before writing: direct (the paper's), reach (two steps) or off.
        writer: grown (without a model), model (trained, by a grammar) or sparql (any model).
        form: of the writer model: names (labels) or plain (SPARQL with IRIs).
        search: of the writer model: several queries come from samples or beams.
        ranking: of the writer grown: a file of weights that replaces the package's.
        shots: with plain SPARQL, similar examples of the graph that are shown.
        n: queries that are tried in turn.
        answer_from: the confidence below which it refuses, 0 to 1.
        rows: rows of the result at most.
    """

    converses: ClassVar[bool] = True
    published: ClassVar[PaperPreset] = parse_paper_preset(_TEXTS["paper"])
    """Settings of the paper; its ten candidates are our default too (4.1)."""
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
    form: str = NAMES
    search: str = "samples"
    ranking: str = ""
    shots: int = 0
    n: int = 5
    answer_from: float = 0.0
    rows: int = 10_000
    picker: str = ""
    further: Mapping[str, LanguageModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        removed_writer = explain_removal("writer", Path(self.writer).suffix)
        if removal := removed_writer or explain_removal("form", self.form):
            raise SetupError(removal)
        method_settings.check_choices(
            self,
            entities=_LINK_CHOICES,
            predicates=_LINK_CHOICES,
            filter=cooccurrence.FILTER_CHOICES,
            form=FORMS,
            search=SEARCH_CHOICES,
            writer=WRITER_CHOICES,
        )
        method_settings.check_minimum(self, 0, "near", "shots", "least_predicates")
        method_settings.check_minimum(self, 1, "candidates", "readings", "n", "rows")
        method_settings.check_fractions(self, "answer_from")
        parse_bm25(self.bm25_entities)
        parse_bm25(self.bm25_predicates)
        if self.writer in _MODEL_WRITERS and self.model is None:
            raise SetupError(
                f"writer={self.writer} needs a language model: name one with the setting 'model'"
            )
        if "reason" in (self.entities, self.predicates) and self.model is None:
            raise SetupError("reasoning needs a language model: name one with the setting 'model'")
        check_interpretation(self)
        if "outside" in (self.entities, self.predicates):
            create_linker(self.linker, self.linker_address)

    @property
    def writer_form(self) -> str:
        """The form in which a model writes; plain SPARQL for an untrained model."""
        return PLAIN if self.writer == "sparql" else self.form

    def answer(self, question: Question, graphs: Sequence[KnowledgeGraph]) -> AsyncIterator[Step]:
        """Answer a question over the first graph."""
        return answer_over_first_graph(
            self, self.model, question, graphs, partial(_MultiStageRun, self)
        )


@dataclass(eq=False)
class _MultiStageRun:
    method: MultiStage
    context: Context
    account: BudgetAccount
    model: LanguageModel | None
    entities: tuple[ListedTerm, ...] = ()
    predicates: tuple[ListedTerm, ...] = ()
    picked_terms: tuple[ListedTerm, ...] = ()
    spans: Sequence[EntitySpan] | None = None
    proposed_terms: _ListedTerms | None = None
    outcome: Answer | Refusal = field(
        default_factory=lambda: Refusal("No query fits what the question names.")
    )

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Run all stages: link, match, restrict, filter, write and run queries."""
        linked_context = await link_context(self.context)
        async for step in self.find_entities(linked_context):
            yield step
        yield await self.build_findings(linked_context, self.entities)
        async for step in self.find_predicates(linked_context):
            yield step
        yield await self.build_findings(linked_context, self.predicates)
        usable_predicates, reach = await record_or_replay(
            "meeting",
            tuple[_ListedTerms, str],
            partial(self.restrict_predicates, linked_context),
            (self.entities, self.predicates),
        )
        if self.method.restrict or self.method.near:
            yield await self.build_findings(linked_context, usable_predicates)
        listed = (*self.entities, *usable_predicates)
        if not listed:
            self.outcome = Refusal("Nothing in the graph is named by the words of the question.")
            return
        yield Thought(reach)
        if cooccurrence.is_refused(self.method.filter, reach):
            entity_labels, predicate_labels = (
                ", ".join(repr(term.label) for term in listed[:4])
                for listed in (self.entities, self.predicates)
            )
            reason = (
                f"Nothing that is called {entity_labels} has any of {predicate_labels} "
                "in this graph."
            )
            self.outcome = Refusal(reason)
            return
        async for step in self.write_and_run(listed):
            yield step

    async def build_findings(self, linked_context: LinkedContext, listed: _ListedTerms) -> Findings:
        """Return the terms of a stage as a step."""
        create = partial(build_findings, linked_context, listed)
        return await record_or_replay("findings", Findings, create, listed)

    async def find_entities(self, linked_context: LinkedContext) -> AsyncIterator[Step]:
        """Run the first stage: entities, classes and values."""
        method = self.method
        if method.entities == "reason":
            async for step in self.pick_terms(linked_context, "entities", method.bm25_entities):
                yield step

        async def find_terms() -> _ListedTerms:
            match method.entities:
                case "linked":
                    return list_linked_terms(
                        linked_context, *ENTITY_KINDS, readings=method.readings
                    )
                case "proposed":
                    proposed = await self.get_proposed_terms(linked_context)
                    return tuple(term for term in proposed if term.kind is not ItemKind.PREDICATE)
                case "given":
                    entities = await list_given_terms(linked_context, predicates=False)
                case "outside":
                    entities = await list_external_entities(
                        linked_context, await self.get_linker_spans()
                    )
                case _:
                    entities = self.picked_terms
            values = list_linked_terms(linked_context, ItemKind.VALUE, readings=method.readings)
            return (*entities, *values)

        self.entities = await record_or_replay(
            "things", _ListedTerms, find_terms, self.picked_terms
        )
        if method.preset == "paper":  # the writer is given entities and predicates alone (4.3)
            self.entities = tuple(term for term in self.entities if term.kind is not ItemKind.VALUE)

    async def find_predicates(self, linked_context: LinkedContext) -> AsyncIterator[Step]:
        """Run the second stage: predicates, before they are restricted."""
        method = self.method
        if method.predicates == "reason":
            async for step in self.pick_terms(linked_context, "properties", method.bm25_predicates):
                yield step
            self.predicates = self.picked_terms
            return

        async def find_terms() -> _ListedTerms:
            match method.predicates:
                case "given":
                    return await list_given_terms(linked_context, predicates=True)
                case "outside":
                    return list_external_predicates(linked_context, await self.get_linker_spans())
                case "proposed":
                    proposed = await self.get_proposed_terms(linked_context)
                    return tuple(term for term in proposed if term.kind is ItemKind.PREDICATE)
                case _:
                    return list_linked_terms(
                        linked_context, ItemKind.PREDICATE, readings=method.readings
                    )

        self.predicates = await record_or_replay("predicates", _ListedTerms, find_terms)

    async def get_proposed_terms(self, linked_context: LinkedContext) -> _ListedTerms:
        """Return the terms that graph search proposes; it runs once."""
        if self.proposed_terms is None:
            self.proposed_terms = await list_proposed_terms(linked_context)
        return self.proposed_terms

    async def get_linker_spans(self) -> Sequence[EntitySpan]:
        """Return the spans that the external linker finds; it runs once."""
        if self.spans is None:
            linker = create_linker(self.method.linker, self.method.linker_address)
            question = self.context.question
            self.spans = await linker.find_spans(question.text, question.language)
        return self.spans

    async def pick_terms(
        self, linked_context: LinkedContext, key: str, bm25: str
    ) -> AsyncIterator[Step]:
        """Retrieve candidates and let the model pick; its picks are in `picked_terms`."""
        self.picked_terms = ()

        async def retrieve() -> tuple[tuple[Resource, ...], Prompt]:
            limit = self.method.candidates
            min_predicates = self.method.least_predicates if key == "entities" else 0
            resources = await retrieve_candidates(
                linked_context,
                key,
                limit=limit,
                bm25=parse_bm25(bm25),
                min_predicates=min_predicates,
            )
            preset = self.method.preset
            return resources, build_pick_prompt(self.context, key, resources, preset=preset)

        candidates, prompt = await record_or_replay(
            key, tuple[tuple[Resource, ...], Prompt], retrieve
        )
        model = self.model
        for picker in self.method.further.values():
            model = self.method.charge(picker, self.account)
        if model is None or not candidates:
            return
        yield prompt
        options = Options(temperature=0.0)
        if self.method.preset == "paper":
            options["max_tokens"] = _MAX_PICK_TOKENS
        talk = shared.Conversation(model, self.account, [*prompt.messages], options=options)
        for turn in await talk.sample_replies(1):
            yield turn
            text = turn.choice.text

            async def parse_picks(text: str = text) -> _ListedTerms:
                preset = self.method.preset
                return parse_picked_terms(linked_context, key, candidates, text, preset=preset)

            self.picked_terms = self.picked_terms or await record_or_replay(
                f"picked {key}", _ListedTerms, parse_picks, text
            )

    async def restrict_predicates(self, linked_context: LinkedContext) -> tuple[_ListedTerms, str]:
        """Return the predicates that may be used, with nearby ones, and their reach."""
        method, usable = self.method, self.predicates
        schema = await linked_context.load_schema_around((*self.entities, *usable))
        cooccurring = await asyncio.to_thread(
            cooccurrence.find_cooccurring_predicates, schema, self.entities, usable
        )
        reach = cooccurring.describe_reach(usable) if self.entities else cooccurrence.NO_PREDICATES
        if method.predicates == "proposed":
            return usable, reach  # they exist, and are enough
        if method.restrict and self.entities:
            # They occur at the entities, or further along a chain.
            reachable_iris = cooccurring.chain.union(cooccurring.at)
            usable = tuple(term for term in usable if term.target in reachable_iris)
        usable_iris = {predicate.target for predicate in usable}
        profiles_by_iri = {
            profile.iri: profile for profile in self.context.graph.profile.predicates
        }
        nearby_iris = (
            iri
            for iri in (*cooccurring.at, *cooccurring.beyond)
            if iri not in usable_iris and iri in profiles_by_iri
        )
        added_iris = list(nearby_iris)[: method.near]
        return (*usable, *(to_listed_predicate(profiles_by_iri[iri]) for iri in added_iris)), reach

    async def write_and_run(self, listed: _ListedTerms) -> AsyncIterator[Step]:
        """Write queries and run them until one has a result; refuse if none has."""
        method, graph = self.method, self.context.graph
        recorder = shared.CompletionRecorder(self.model) if self.model else None
        context_texts, writer_prompt = await record_or_replay(
            "prompt",
            tuple[tuple[str, ...], Prompt | None],
            partial(self.build_writer_prompt, listed),
            listed,
        )
        if writer_prompt is not None:
            yield writer_prompt
        usage_before = shared.get_usage(self.account)

        async def write_queries() -> Sequence[Hypothesis]:
            writer: GraphSearchWriter | PromptedWriter = GraphSearchWriter(ranking=method.ranking)
            if recorder is not None and method.writer in _MODEL_WRITERS:
                writer = self.create_model_writer(recorder, context_texts)
            return await writer.write(self.context.question, listed, graph, n=method.n)

        queries = await (
            write_queries()
            if writer_prompt
            else record_or_replay("written", tuple[Hypothesis, ...], write_queries, listed)
        )
        if recorder is not None and recorder.last_completion is not None:
            for turn in shared.to_model_turns(
                recorder.last_completion, shared.get_usage(self.account) - usage_before
            ):
                yield turn
        for hypothesis in queries:
            yield Draft(
                hypothesis.query,
                round(hypothesis.score, 4) if hypothesis.score is not None else 0.0,
            )
        choose = partial(self.choose_outcome, queries)
        self.outcome = await record_or_replay("settled", Answer | Refusal, choose, *queries)

    async def build_writer_prompt(
        self, listed: _ListedTerms
    ) -> tuple[tuple[str, ...], Prompt | None]:
        """Return texts on the words of the question, and the prompt of a model writer, if any."""
        graph, question = self.context.graph, self.context.question
        names = TermNames(listed, self.method.writer_form)
        names_by_iri = {} if names.is_plain else names.by_target

        def format_iri(iri: str) -> str:
            return names_by_iri.get(iri) or graph.prefixes.shorten(iri)

        earlier_questions = shared.format_earlier_questions(question)
        context_texts = (
            *format_glossary(question, [graph], format_iri=format_iri),
            *([earlier_questions] if earlier_questions else []),
        )
        if self.model is None or self.method.writer not in _MODEL_WRITERS:
            return context_texts, None
        writer = self.create_model_writer(self.model, context_texts)
        return context_texts, Prompt(
            "write", tuple(writer.build_messages(question.text, listed, graph))
        )

    def create_model_writer(
        self, model: LanguageModel, context_texts: Sequence[str]
    ) -> PromptedWriter:
        """Create the writer that asks a model."""
        is_trained = self.method.writer == "model"
        return PromptedWriter(
            model,
            self.method.search if is_trained else "samples",
            constrained=is_trained and self.method.preset != "paper",
            notes=context_texts,
            form=self.method.writer_form,
            shots=self.method.shots,
        )

    async def choose_outcome(self, queries: Sequence[Hypothesis]) -> Answer | Refusal:
        """Return the answer of the first query with a result, else a refusal with the reason."""
        if not queries:
            return Refusal("The writer says that no query over the listed terms fits.")
        problems: list[str] = []
        empty_runs: list[tuple[QueryRun, float]] = []
        for position, hypothesis in enumerate(queries):
            confidence = _DEFAULT_CONFIDENCE * _NEXT_QUERY_CONFIDENCE_RATIO**position
            if hypothesis.score is not None:
                confidence = min(1.0, math.exp(hypothesis.score))
            try:
                query = prepare_query(self.context, hypothesis.query).query
                query_run = await run_query(self.context, query, rows=self.method.rows)
            except (Unreachable, Unauthorised):
                raise
            except (QueryError, ServiceError) as error:
                problems.append(str(error))
                continue
            result = query_run.result
            if isinstance(result, GraphResult):
                problems.append("it gives triples, and an answer is rows or yes, no")
            elif isinstance(result, bool) or result.rows:
                answer = await build_answer(self.context, query_run, confidence=confidence)
                if confidence < self.method.answer_from:
                    return Refusal("No query is sure enough; the nearest one is shown.", answer)
                return answer
            else:
                empty_runs.append((query_run, confidence))
        if not empty_runs:
            return Refusal(f"No query could be run: {problems[0]}")
        query_run, confidence = empty_runs[0]
        answer = await build_answer(self.context, query_run, confidence=confidence)
        failure_text = f" {len(problems)} failed, the first: {problems[0]}" if problems else ""
        return Refusal(f"No query has a result.{failure_text}", answer)
