"""The terms of each stage before the writer: entities and predicates that a query may name.

Entity linking and predicate matching are separate stages in Alekseev et al. (NLDB 2025, sections
4.1 and 4.2). Several readings of the same words, predicates at the entities that no word names, and
the proposals of graph search are ours.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pyoxigraph import NamedNode

from askgraph.errors import SetupError
from askgraph.graph.profile import PredicateProfile
from askgraph.index import Resource
from askgraph.index.linkers import EntitySpan
from askgraph.index.names import ItemKind
from askgraph.llm import System, User
from askgraph.methods.settings import load_texts
from askgraph.methods.shared.glossary_notes import format_glossary
from askgraph.methods.shared.index_cache import Bm25Parameters, open_bm25_index
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import fetch_labels
from askgraph.methods.tools.term_text import is_absolute_iri
from askgraph.methods.tools.terms import filter_unknown_iris, find_relations
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing.graph_search_writer import MAX_CLUSTERS, list_terms_of_queries
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.pipeline import link_to_graph, load_schema, propose
from askgraph.search.rank import cluster_candidates
from askgraph.search.tokenize import tokenize
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import render_query
from askgraph.trace import Findings, Mention, Prompt

ENTITY_KINDS = (ItemKind.ENTITY, ItemKind.CLASS, ItemKind.VALUE)


@dataclass(frozen=True, eq=False)
class LinkedContext:
    """The context and the linked question, on which all stages build."""

    context: Context
    linked: LinkedQuestion

    async def load_schema_around(self, listed: Iterable[ListedTerm] = ()) -> Schema:
        """Load the schema over the arrays around the links and the listed terms."""
        further_links = tuple(
            Link(term.kind, term.target, term.label, 1.0, (), ())
            for term in listed
            if not any(link.target == term.target for link in self.linked.links)
        )
        linked = replace(self.linked, links=(*self.linked.links, *further_links))
        return await load_schema(linked, self.context.graph)

    def find_positions(self, kind: ItemKind, target: str) -> tuple[int, ...]:
        """Return the positions of the words that are best linked to a term, if any."""
        links = (link for link in self.linked.links if (link.kind, link.target) == (kind, target))
        return next((link.positions for link in links), ())


async def link_context(context: Context) -> LinkedContext:
    """Tokenize and link the question; targets of the glossary get the labels of the graph."""
    question = context.question
    linked = await link_to_graph(tokenize(question.text, question.language), context.graph)
    taught_iris = {iri for item in linked.glossary_words for iri in item.targets}
    labels = await fetch_labels(context, sorted(taught_iris)) if taught_iris else {}
    links = (replace(item, name=labels.get(item.target, item.name)) for item in linked.links)
    return LinkedContext(context, replace(linked, links=tuple(links)))


def list_linked_terms(
    linked_context: LinkedContext, *kinds: ItemKind, readings: int
) -> tuple[ListedTerm, ...]:
    """Return the linked terms of some kinds, best first, without duplicates.

    At most `readings` links that share a word are kept.
    """
    reading_counts: dict[int, int] = {}
    terms_by_iri: dict[str, ListedTerm] = {}
    links = linked_context.linked.get_links(*kinds)
    for link in sorted(links, key=lambda link: (-link.score * link.quality, -len(link.positions))):
        if (
            link.target in terms_by_iri
            or max(reading_counts.get(position, 0) for position in link.positions) >= readings
        ):
            continue
        for position in link.positions:
            reading_counts[position] = reading_counts.get(position, 0) + 1
        terms_by_iri[link.target] = ListedTerm(
            link.kind, link.target, link.name, positions=link.positions, score=link.score
        )
    return tuple(terms_by_iri.values())


async def list_given_terms(
    linked_context: LinkedContext, *, predicates: bool
) -> tuple[ListedTerm, ...]:
    """Return the predicates, or the other terms, that came with the question.

    Each term has the words that are linked to it, if any.

    Raises:
        SetupError: the question came without terms.
    """
    given_iris = linked_context.context.question.given
    if given_iris is None:
        raise SetupError(
            "the question has no given entities or predicates; find them with 'linked'"
        )
    classes = {class_profile.iri for class_profile in linked_context.context.graph.profile.classes}
    relations = await find_relations(linked_context.context, given_iris)
    terms = []
    for iri in given_iris:
        if (iri in relations) is predicates:
            kind = ItemKind.CLASS if iri in classes else ItemKind.ENTITY
            kind = ItemKind.PREDICATE if predicates else kind
            label, positions = split_local_name(iri), linked_context.find_positions(kind, iri)
            terms.append(ListedTerm(kind, iri, label, positions=positions, score=1.0))
    return tuple(terms)


async def list_proposed_terms(linked_context: LinkedContext) -> tuple[ListedTerm, ...]:
    """Return the terms in the best candidates of graph search: entities, values and predicates."""
    graph = linked_context.context.graph
    proposal = await propose(linked_context.context.question, graph)
    best_clusters = cluster_candidates(proposal.candidates)[:MAX_CLUSTERS]
    queries = [
        render_query(item.best.query, graph.prefixes, graph.profile.types) for item in best_clusters
    ]
    language, schema_graph = proposal.question.language, proposal.schema.graph
    terms = await list_terms_of_queries(queries, graph, language, schema_graph)
    return tuple(
        replace(item, positions=linked_context.find_positions(item.kind, item.target))
        for item in terms
    )


def to_listed_predicate(profile: PredicateProfile, score: float = 0.0) -> ListedTerm:
    """Return a predicate that no word names as a listed term, with its label."""
    label = profile.names[0][0] if profile.names else split_local_name(profile.iri)
    return ListedTerm(ItemKind.PREDICATE, profile.iri, label, score=score)


async def build_findings(linked_context: LinkedContext, listed: Sequence[ListedTerm]) -> Findings:
    """Return the terms of a stage as a step; terms without linked words have empty words."""
    tokens = linked_context.linked.reading.tokens
    return Findings(
        tuple(
            Mention(
                " ".join(tokens[position].text for position in term.positions),
                term.kind.name.lower(),
                term.target,
                term.label,
                round(term.score, 3),
            )
            for term in listed
        )
    )


async def list_external_entities(
    linked_context: LinkedContext, spans: Sequence[EntitySpan]
) -> tuple[ListedTerm, ...]:
    """Return the entities that a linker found and the graph has, each with its best span."""
    context = linked_context.context
    best_spans = _select_best_spans(
        span for span in spans if not span.relation and is_absolute_iri(span.iri)
    )
    unknown_set = set(await filter_unknown_iris(context, best_spans))
    best_spans = {iri: span for iri, span in best_spans.items() if iri not in unknown_set}
    labels = await fetch_labels(context, list(best_spans))
    classes = {class_profile.iri for class_profile in context.graph.profile.classes}
    return tuple(
        ListedTerm(
            ItemKind.CLASS if iri in classes else ItemKind.ENTITY,
            iri,
            labels.get(iri) or split_local_name(iri),
            positions=_find_span_positions(linked_context, span),
            score=span.score,
        )
        for iri, span in best_spans.items()
    )


def list_external_predicates(
    linked_context: LinkedContext, spans: Sequence[EntitySpan]
) -> tuple[ListedTerm, ...]:
    """Return the graph's predicates for the relations that a linker found.

    A relation with an unknown IRI is matched by its local name: for Wikidata's P19, linkers return
    the entity while the graph uses `wdt:P19`. The most frequent predicate of that name counts.
    """
    profiles_by_iri = {
        profile.iri: profile for profile in linked_context.context.graph.profile.predicates
    }
    iris_by_local_name: dict[str, str] = {}
    for profile in sorted(profiles_by_iri.values(), key=lambda profile: -profile.triples):
        iris_by_local_name.setdefault(re.split(r"[/#:]", profile.iri)[-1], profile.iri)
    best_spans = _select_best_spans(span for span in spans if span.relation)
    terms_by_iri: dict[str, ListedTerm] = {}
    for iri, span in best_spans.items():
        predicate_iri = (
            iri if iri in profiles_by_iri else iris_by_local_name.get(re.split(r"[/#:]", iri)[-1])
        )
        if predicate_iri is not None:
            term = to_listed_predicate(profiles_by_iri[predicate_iri], span.score)
            terms_by_iri.setdefault(
                predicate_iri, replace(term, positions=_find_span_positions(linked_context, span))
            )
    return tuple(terms_by_iri.values())


def _select_best_spans(spans: Iterable[EntitySpan]) -> dict[str, EntitySpan]:
    """Return the most confident span of each IRI, the most confident first."""
    best_spans: dict[str, EntitySpan] = {}
    for span in sorted(spans, key=lambda span: -span.score):
        best_spans.setdefault(span.iri, span)
    return best_spans


def _find_span_positions(linked_context: LinkedContext, span: EntitySpan) -> tuple[int, ...]:
    tokens = linked_context.linked.reading.tokens
    return tuple(
        position
        for position, token in enumerate(tokens)
        if token.start < span.end and span.start < token.end
    )


_PICK_SCORE = 0.9  # how sure a pick counts
_CANDIDATE_SEARCH_FACTOR = 10  # candidates to inspect per result where some may be dropped
_MAX_SYNONYMS = 3  # names to show of a candidate beside its label
_MAX_DESCRIPTION_CHARACTERS = 160
_PICK_LINE = re.compile(
    r"^[\s>*_#`-]*PICK(?:ED|S)?\b[\s*_`]*(?:[:=-]|(?=[\d\[]))(.*)$", re.IGNORECASE | re.MULTILINE
)
_NONE_WORD = re.compile(r"\bnone\b", re.IGNORECASE)

_TEXTS = load_texts("multi-stage")
_INSTRUCTIONS: Mapping[str, Mapping[str, str]] = _TEXTS["pick_instructions"]


async def retrieve_candidates(
    linked_context: LinkedContext,
    key: str,
    *,
    limit: int,
    bm25: Bm25Parameters,
    min_predicates: int = 0,
) -> tuple[Resource, ...]:
    """Return the candidates for the question from the index `key`, best first.

    Args:
        min_predicates: leave out terms with fewer different outgoing predicates; a remote graph is
            asked about ten times as many candidates.

    Raises:
        SetupError: the graph has no such index.
        ServiceError: the endpoint fails.
    """
    context = linked_context.context
    graph, text = context.graph, context.question.text
    is_local = graph.arrays is not None and graph.arrays.complete
    open_index = partial(
        open_bm25_index, graph, key, bm25, min_predicates=min_predicates if is_local else 0
    )
    index = await asyncio.to_thread(open_index)
    if is_local or not min_predicates:
        hits = await asyncio.to_thread(index.search, text, limit=limit)
        return tuple(hit.item for hit in hits)
    hits = await asyncio.to_thread(index.search, text, limit=limit * _CANDIDATE_SEARCH_FACTOR)
    values_text = " ".join(f"<{hit.item.iri}>" for hit in hits)
    query = (
        f"SELECT ?thing WHERE {{ VALUES ?thing {{ {values_text} }} ?thing ?p ?value }} "
        f"GROUP BY ?thing HAVING (COUNT(DISTINCT ?p) >= {min_predicates})"
    )
    result = await graph.endpoint.select(query, timeout=context.limits.timeout, limit=len(hits))
    kept_iris = {term.value for (term,) in result.rows if isinstance(term, NamedNode)}
    return tuple(hit.item for hit in hits if hit.item.iri in kept_iris)[:limit]


def build_pick_prompt(
    context: Context, key: str, candidates: Sequence[Resource], *, preset: str = "best"
) -> Prompt:
    """Build the prompt that asks the model to pick entities or predicates."""
    shorten = context.graph.prefixes.shorten
    lines = "\n".join(
        f"{shorten(candidate.iri) if preset == 'paper' else f'{number}.'} "
        f"{_format_candidate(candidate)}"
        for number, candidate in enumerate(candidates, start=1)
    )
    instruction = _INSTRUCTIONS[preset][key]
    purpose = "pick entities" if key == "entities" else "pick predicates"
    glossary_texts = format_glossary(context.question, [context.graph])
    message_text = "\n\n".join(
        (*glossary_texts, f"Question: {context.question.text}", f"Candidates\n{lines}")
    )
    return Prompt(purpose, (System(instruction), User(message_text)))


def parse_picked_numbers(text: str, max_number: int) -> tuple[int, ...]:
    """Return the numbers in the last line that begins with PICK, from 1 to `max_number`, each once.

    The result is empty if there is no such line, or if it reads "none".
    """
    line = _find_pick_line(text)
    numbers = (
        []
        if _NONE_WORD.search(line)
        else [int(digits) for digits in re.findall(r"\d+", line[:999])]
    )
    return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= max_number))


def _find_pick_line(text: str) -> str:
    """Return what follows PICK in the last line that begins with it, or "none"."""
    return next((match.group(1) for match in reversed(list(_PICK_LINE.finditer(text)))), "none")


def parse_picked_terms(
    linked_context: LinkedContext,
    key: str,
    candidates: Sequence[Resource],
    text: str,
    *,
    preset: str = "best",
) -> tuple[ListedTerm, ...]:
    """Return the candidates that the model picked, with the words that are linked to them.

    It picks numbers; as published (section 4.1, appendix A), IRIs as they are shown.
    """
    if preset == "paper":
        words = {word.rstrip(".") for word in re.split(r"[\s,;`*\[\]]+", _find_pick_line(text))}
        shorten = linked_context.context.graph.prefixes.shorten
        picked = [item for item in candidates if words & {shorten(item.iri), item.iri}]
    else:
        picked = [candidates[at - 1] for at in parse_picked_numbers(text, len(candidates))]
    classes = {class_profile.iri for class_profile in linked_context.context.graph.profile.classes}
    terms = []
    for candidate in picked:
        kind = ItemKind.CLASS if candidate.iri in classes else ItemKind.ENTITY
        kind = kind if key == "entities" else ItemKind.PREDICATE
        positions = linked_context.find_positions(kind, candidate.iri)
        description = "; ".join(candidate.infos)
        terms.append(
            ListedTerm(kind, candidate.iri, candidate.label, description, positions, _PICK_SCORE)
        )
    return tuple(terms)


def _format_candidate(candidate: Resource) -> str:
    synonyms = [name for name in candidate.synonyms if name != candidate.label][:_MAX_SYNONYMS]
    names = f"{candidate.label} ({', '.join(synonyms)})" if synonyms else candidate.label
    # A line break of the graph would begin a line of the prompt.
    names, description = (" ".join(text.split()) for text in (names, "; ".join(candidate.infos)))
    if len(description) > _MAX_DESCRIPTION_CHARACTERS:
        description = f"{description[: _MAX_DESCRIPTION_CHARACTERS - 1]}…"
    return f"{names}: {description}" if description else names
