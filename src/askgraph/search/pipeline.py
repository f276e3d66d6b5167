"""Graph search in six steps: tokenize, link, expand, complete with operators, rank, decide.

`propose` takes the first five; `askgraph.search.decide.decide` is the last, for the graph that fits
best. A remote graph is asked for the part that a question needs; all else is pure computation over
arrays, done off the event loop.
"""

import asyncio
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays, Ids, Seeds, in_both
from askgraph.graph.measures import Unit, unit_at
from askgraph.graph.profile import Profile
from askgraph.index.names import Kind, NameIndex
from askgraph.index.names import tokens as words_in
from askgraph.search.decide import decide
from askgraph.search.expand.beam_search import expand
from askgraph.search.expand.schema import Schema, link_asked_kind
from askgraph.search.link import Description, Link, LinkedQuestion, link_question
from askgraph.search.operators import complete
from askgraph.search.rank import Proposal, rank, weights_for
from askgraph.search.rank.faults import demote_faulty
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.search.tokenize.question_operators import (
    Operator,
    QuestionOperators,
    detect_operators,
)
from askgraph.trace import Question

if TYPE_CHECKING:
    from askgraph.graph.remote_arrays import Kept

__all__ = [
    "build_schema",
    "decide",
    "link_text",
    "link_to_graph",
    "load_schema",
    "propose",
    "propose_from_links",
]

_FIRST_DAY = date(1970, 1, 1).toordinal()


async def propose(
    question: Question,
    graph: KnowledgeGraph,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    ranking: str = "",
    meanings: str = "",
) -> Proposal:
    """Return what a question was read as, and its candidates; see `propose_from_links`.

    `ranking` is a file of weights; see `askgraph.search.rank`. With `meanings`, the name of
    an embedder, an unsure question is looked at again (`askgraph.search.embedding_linking`). Raises
    `ServiceError` if a remote graph or the embedder's server does not answer, and `SetupError` if
    the file holds no ranking or there is no such embedder.
    """
    weights = weights_for(graph.name, ranking)

    async def proposal_for(linked: LinkedQuestion) -> Proposal:
        schema = await load_schema(linked, graph)
        if linked.taught:
            linked = _glossary().unite_classes(linked)
        return await asyncio.to_thread(
            propose_from_links,
            *(linked, schema),
            states=states,
            operators=operators,
            today=today,
            weights=weights,
        )

    tokenized = await asyncio.to_thread(tokenize, question.text, question.language)
    linked = await link_to_graph(tokenized, graph)
    proposal = await proposal_for(linked)
    if meanings:
        from askgraph.search.embedding_linking import (
            retry_with_embeddings,  # only with an embedding model
        )

        proposal = await retry_with_embeddings(proposal, linked, graph, meanings, proposal_for)
    if linked.taught:
        schema = proposal.schema
        candidates = tuple(_glossary().restore_classes(proposal.candidates, linked.taught, schema))
        return replace(proposal, candidates=candidates)
    return proposal


def propose_from_links(
    linked: LinkedQuestion,
    schema: Schema,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    weights: Mapping[str, float] | None = None,
) -> Proposal:
    """Expand the links of a question, complete and rank candidates; `states` bounds the work.

    Without `operators` only patterns come: no counts, comparisons, orders, negations. What is
    current is so on the day `today`, that of the clock if none is given. The `weights` of the
    ranking are the package's if none are given.
    """
    weights = weights_for("") if weights is None else weights
    day = float((today or date.today()).toordinal() - _FIRST_DAY)
    question = resolve_operators(linked, schema, day, operators=operators)
    expansion = expand(question.linked, question.operators, schema, weights, limit=states)
    candidates = complete(expansion, question.description)
    proposal = rank(candidates, question.linked, question.operators, schema, weights)
    return demote_faulty(proposal, weights["faulty"])


def _glossary() -> ModuleType:
    from askgraph.search import glossary  # few graphs have one

    return glossary


async def link_to_graph(reading: TokenizedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Link the words of a question to a graph's names.

    A graph whose names are not all here is asked for those that the question may hold.
    """
    linked = await asyncio.to_thread(link_question, reading, graph.names)
    if graph.name_search is not None:
        from askgraph.search.link.endpoint_linking import link_with_endpoint  # most graphs lie here

        linked = await link_with_endpoint(linked, graph)
    if graph.glossary:
        linked = await asyncio.to_thread(_glossary().link_glossary, linked, graph)
    return linked


def link_text(
    text: str, language: str | None, names: NameIndex, *, without: Container[str] = ()
) -> LinkedQuestion:
    """Read a question and link its words to the names that are known here."""
    return link_question(tokenize(text, language), names, without=without)


async def load_schema(linked: LinkedQuestion, graph: KnowledgeGraph) -> Schema:
    """Return the schema of a graph over the arrays of what lies around the links.

    Raises `ServiceError` if a remote graph does not answer.
    """
    profile = (
        _glossary().add_superclasses(graph.profile, linked.taught)
        if linked.taught
        else graph.profile
    )
    return build_schema(await surroundings(graph, _seeds(linked)), profile)


def _seeds(linked: LinkedQuestion) -> Seeds:
    def targets(kind: Kind) -> tuple[str, ...]:
        return tuple(dict.fromkeys(link.target for link in linked.of(kind)))

    return Seeds(
        entities=targets(Kind.ENTITY),
        literals=targets(Kind.VALUE),
        classes=targets(Kind.CLASS),
        predicates=targets(Kind.PREDICATE),
    )


@lru_cache(maxsize=8)
def build_schema(graph: GraphArrays, profile: Profile) -> Schema:
    """Return the schema of a graph, kept for the next question."""
    return Schema(graph, profile)


@dataclass(frozen=True, eq=False)
class ResolvedQuestion:
    """A linked question with its operators, and the description that it asks for, if it does."""

    linked: LinkedQuestion
    operators: QuestionOperators
    description: Description | None = None


def resolve_operators(
    linked: LinkedQuestion, schema: Schema, day: float, *, operators: bool = True
) -> ResolvedQuestion:
    """Return a question on a day (days from 1970-01-01) as a graph reads it.

    Without `operators` it has none: no counts, comparisons, orders, negations.
    """
    linked = replace(linked, reading=linked.reading.on(day))
    linked = follow_redirects(linked, schema)
    wanted = _description_wanted(linked)
    frame = detect_operators(linked.reading, linked.scales)
    frame = detect_name_filters(
        detect_groups(detect_named_years(frame, linked), linked), linked, schema
    )
    frame = resolve_times(frame, schema, day)
    if wanted is not None and wanted.lead:
        others = tuple(one for one in frame.operators if one.first >= wanted.lead)
        asking = Operator("describe", 0, wanted.lead - 1)
        frame = replace(frame, operators=(asking, *others), asks=None)
    if not operators:
        frame = replace(frame, operators=())
    return ResolvedQuestion(link_asked_kind(linked, frame, schema), frame, wanted)


def follow_redirects(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Return the links with what things that have only a name left were merged into.

    Such a thing stays too if something leads to it. If the question names what leads from it, it is
    asked for what it was merged into.
    """
    if any(schema.number(one.target) in schema.redirects for one in linked.of(Kind.PREDICATE)):
        return linked
    links: dict[tuple[Kind, str, tuple[int, ...]], Link] = {}
    names: dict[str, str] = {}
    for one in linked.links:
        node = schema.node(one.target) if one.kind is Kind.ENTITY and schema.redirects else None
        into = None if node is None else schema.merged(node)
        if node is not None and into is not None:
            iri = schema.graph.terms.value(into)
            names.setdefault(iri, one.name)
            links.setdefault((one.kind, iri, one.positions), replace(one, target=iri))
            entering = schema.graph.present(np.array([node], dtype=np.int32), inverse=True)
            if entering <= schema.redirects:
                continue
        links.setdefault((one.kind, one.target, one.positions), one)
    return replace(linked, links=tuple(links.values()), merged=names) if names else linked


_NAMED = 0.9  # words so near to a name of the graph's own mean it


def detect_named_years(frame: QuestionOperators, linked: LinkedQuestion) -> QuestionOperators:
    """Return a frame in which "per year" is "per" and the year that the graph has by that name."""
    named = {
        one.positions
        for one in linked.of(Kind.CLASS, Kind.PREDICATE)
        if one.score >= _NAMED and len(one.positions) == 1
    }

    def read(one: Operator) -> Operator:
        is_named = one.name == "yearly" and (one.last,) in named and one.last > one.first
        return replace(one, name="each", last=one.last - 1) if is_named else one

    return replace(frame, operators=tuple(map(read, frame.operators)))


_TOTALS = ("count", "average", "sum", "minimum", "maximum")


def detect_groups(frame: QuestionOperators, linked: LinkedQuestion) -> QuestionOperators:
    """Return a frame in which "by" means "for each": "the average height by country".

    That is so after an aggregate, between two names of classes or properties, of which the second
    is as the graph writes it: things "written by authors" or "by an author" are in no groups.
    """
    reading, totals = linked.reading, frame.of(*_TOTALS)
    named = [one for one in linked.links if one.score >= _NAMED and one.kind is not Kind.VALUE]
    same = [
        one
        for one in named
        if {reading.folded[at] for at in one.positions} <= {*words_in(one.name)}
    ]
    things = {at for one in same if one.kind is Kind.ENTITY for at in one.positions}
    nouns = {one.positions[-1] for one in same}
    nouns |= {one.positions[-1] for one in named if one.kind is Kind.CLASS}
    groups = {one.positions[0] for one in same if one.kind is not Kind.ENTITY} - things
    longer = {at for one in frame.operators if one.first < one.last for at in one.positions}
    by = {
        at
        for at, word in enumerate(reading.folded)
        if word in reading.words.clauses["by"] and at not in longer
        if at - 1 in nouns and at + 1 in groups and any(one.last < at for one in totals)
    }
    kept = (one for one in frame.operators if by.isdisjoint(one.positions))
    operators = (*kept, *(Operator("each", at, at) for at in by))
    return replace(frame, operators=tuple(sorted(operators, key=lambda one: one.first)))


_ALIKE = 3  # so many things of a class whose names hold a word are called by it


def detect_name_filters(
    frame: QuestionOperators, linked: LinkedQuestion, schema: Schema
) -> QuestionOperators:
    """Return a frame in which a word in names of a class limits it: "all Gemini flights".

    That is so if no name is the word itself, and names of several things of the class have it.
    """
    reading, near = linked.reading, [one for one in linked.links if one.score >= _NAMED]
    whole = {at for one in near for at in one.positions} | {
        *(at for one in frame.operators for at in one.positions)
    }
    found: dict[int, set[str]] = {}
    for one in linked.of(Kind.ENTITY):
        at = one.positions[0]
        if len(one.positions) == 1 and reading.tokens[at].capital and at not in whole:
            found.setdefault(at, set()).add(one.target)
    operators = [
        Operator("called", at, at)
        for at, things in found.items()
        if len(things) >= _ALIKE
        for cls in near
        if cls.kind is Kind.CLASS and at in (cls.positions[0] - 1, cls.positions[-1] + 1)
        if len(in_both(schema.instances(cls.target), _nodes_of(things, schema))) >= _ALIKE
    ]
    return replace(frame, operators=(*frame.operators, *operators[:1]))


def _nodes_of(things: Iterable[str], schema: Schema) -> Ids:
    """The nodes of some IRIs that are in the graph, sorted."""
    found = (schema.graph.terms.iri(one) for one in things)
    return np.array(sorted(one for one in found if one is not None), dtype=np.int32)


_OF_SPANS = frozenset("now past during ongoing lasted".split())
_ASKED = ("lasting", "measure")


def resolve_times(frame: QuestionOperators, schema: Schema, today: float) -> QuestionOperators:
    """Return a frame for a graph on a day (days from 1970-01-01).

    If the graph has starts and ends, each date that is no other operator's argument becomes one
    ("at"); if it has none, words of time are no operators. "In miles" is one if numbers with
    a unit are known.
    """
    frame = replace(frame, today=today)
    spans = bool(schema.spans)
    dated = spans or bool(schema.times.dates)
    kept = [one for operator in frame.operators for one in _served(frame, operator, spans, dated)]
    if spans:
        kept += list(_dates_at(replace(frame, operators=tuple(kept))))
    kept += list(_in_unit(replace(frame, operators=tuple(kept)), schema))
    return replace(frame, operators=tuple(sorted(kept, key=lambda operator: operator.first)))


def _served(
    frame: QuestionOperators, operator: Operator, spans: bool, dated: bool
) -> Iterator[Operator]:
    tokens = frame.reading.tokens
    if operator.name == "lasting":
        lasts = any(
            tokens[at].folded == phrase[0]
            for at in range(operator.last + 1, len(tokens))
            for phrase in frame.reading.words.operators["lasted"]
        )
        yield (
            operator
            if spans and lasts
            else replace(operator, name="count", last=operator.first + 1)
        )
    elif operator.name == "now":
        if dated:
            yield operator
    elif operator.name in _OF_SPANS:
        words = tuple(tokens[at].folded for at in operator.positions)
        if spans:
            yield operator
        elif words in frame.reading.words.operators["not"]:
            yield replace(operator, name="not")
    elif spans and _is_verb(frame, operator):
        yield replace(operator, name="lasted", measure=None)
    else:
        yield operator


def _is_verb(frame: QuestionOperators, operator: Operator) -> bool:
    """Whether "last" is the verb: "how long did it last?"."""
    words = tuple(frame.reading.tokens[at].folded for at in operator.positions)
    asked = any(one.name in _ASKED and one.first < operator.first for one in frame.operators)
    return (
        operator.name == "superlative"
        and asked
        and words in frame.reading.words.operators["lasted"]
        and operator.last == len(frame.reading.tokens) - 1
    )


def _dates_at(frame: QuestionOperators) -> Iterator[Operator]:
    for quantity in frame.reading.quantities:
        if quantity.days is not None and not frame.takes(quantity):
            mask = sum(1 << at for at in quantity.positions)
            if not mask & frame.mask:
                yield Operator("at", quantity.first, quantity.last)


def _in_unit(frame: QuestionOperators, schema: Schema) -> Iterator[Operator]:
    """ "In miles" after no number."""
    words = tuple(token.folded for token in frame.reading.tokens)
    counted = {at for quantity in frame.reading.quantities for at in quantity.measured}
    for at in range(len(words)):
        for phrase in frame.reading.words.times["in_unit"]:
            start = at + len(phrase)
            found = unit_at(words, start) if words[at:start] == phrase else None
            if found is None or start in counted or frame.mask >> start & 1:
                continue
            if found[0].dimension in {unit.dimension for unit in _units(schema)}:
                yield Operator("in_unit", at, start + found[1] - 1)
                return


def _units(schema: Schema) -> Iterator[Unit]:
    for number in schema.predicates:
        unit = schema.unit(number)
        if unit is not None:
            yield unit


_ABOUT, _ABOUT_ALONE = 0.45, 0.8
"""How well words have to name a thing that is asked about, and one whose name is all there is."""
_THINGS = 3  # so many things of one name are described, each for itself


def _description_wanted(linked: LinkedQuestion) -> Description | None:
    """Return what a question wants described; None if it asks for anything else."""
    reading = linked.reading
    words, size = reading.words.describing, len(reading.tokens)
    lead = next((len(phrase) for phrase in words["lead"] if reading.says(phrase, 0)), 0)
    first, last = lead, size - 1
    if size > lead and (reading.folded[lead],) in reading.words.times["one"]:
        return None  # "what is a moon?" asks for a kind of thing
    around = {phrase[0] for phrase in words["around"]}
    while first <= last and reading.folded[first] in around:
        first += 1
    while last >= first and reading.folded[last] in around:
        last -= 1
    content = {at for at in range(first, last + 1) if not reading.is_stop(at)}
    if not content:
        return None
    links: list[Link] = []
    rest = range(first, last + 1)
    asked = lead > 0
    least = _ABOUT if asked else _ABOUT_ALONE
    if not asked:
        nouns = (
            one for one in linked.of(Kind.CLASS, Kind.PREDICATE) if content <= {*one.positions}
        )
        least = max([least, *(one.score for one in nouns)])
    for one in linked.of(Kind.ENTITY, Kind.VALUE):
        whole = content <= {*one.positions} and {rest[0], rest[-1]} <= {*one.positions}
        if whole and one.score >= least:
            links.append(one)
    return Description(tuple(links[:_THINGS]), lead) if links else None


_WHOLE: WeakKeyDictionary[NameIndex, GraphArrays] = WeakKeyDictionary()
_KEPT: "WeakKeyDictionary[NameIndex, Kept]" = WeakKeyDictionary()


async def surroundings(graph: KnowledgeGraph, seeds: Seeds) -> GraphArrays:
    """Return the arrays of what lies around the seeds, asking the endpoint if they are not here.

    A remote graph that came whole is kept as long as its names are in use: they are the same if
    only the endpoint was wrapped in another one. Raises `ServiceError` if nothing can be
    fetched.
    """
    known = _WHOLE.get(graph.names) if graph.arrays is None else graph.arrays
    if known is not None:
        return known
    from askgraph.graph.remote_arrays import Kept, neighbourhood  # most graphs lie here

    predicates = graph.profile.predicates
    arrays = await neighbourhood(
        graph.endpoint,
        seeds,
        triples=graph.profile.triples,
        counts={p.iri: (p.triples, p.subjects, p.objects) for p in predicates},
        naming=[p.iri for p in predicates if p.naming == "name"],
        links=[p.iri for p in predicates if not p.literal],
        own_types=dict(graph.profile.types),
        kept=_KEPT.setdefault(graph.names, Kept()),
    )
    if arrays.complete:
        _WHOLE[graph.names] = arrays
    return arrays
