"""Search names, values and nodes: in the whole graph, or at one position of a pattern.

For a pattern, a limited query returns candidates first, and then an index is searched within them.
Values, which no index may know, are ranked by their own words, in the way that
`askgraph.index.keyword` ranks names. If there are too many candidates or the query takes too long,
the best hits of the whole graph are tested.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Annotated
from typing import Literal as OneOf
from urllib.parse import urlsplit

from pyoxigraph import BlankNode, Literal, NamedNode, Variable
from rapidfuzz.distance import Levenshtein

from askgraph.errors import ErrorReply, MalformedReply, QueryError, QuerySyntaxError, TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.graph.names import extract_code
from askgraph.index import Hit, Resource
from askgraph.index.names import fold_word, split_tokens
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import (
    HitLines,
    SearchHit,
    Sort,
    format_entities,
    format_plain_hits,
    format_properties,
    parse_count,
    search_graph,
    search_index,
    to_search_hit,
)
from askgraph.methods.tools.query_run import prepare_query
from askgraph.methods.tools.rendering import quote
from askgraph.methods.tools.terms import resolve_iri, resolve_object
from askgraph.sparql import Group, Pattern, find_variables, walk
from askgraph.sparql.judge import check_query
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import get_namespace, split_local_name
from askgraph.sparql.results import Term
from askgraph.sparql.serializer import to_text
from askgraph.trace import Observation

__all__ = [
    "search_autocomplete",
    "search_constrained",
    "search_entity",
    "search_object_of_property",
    "search_property",
    "search_property_of_entity",
]

_MAX_INDEX_HITS = 50  # hits of an index to rank with terms outside of it
_MAX_TESTED_HITS = 200  # hits of the whole graph to try if there are too many candidates
_SAMPLE_SIZE = 20
_PREFIX_SCORE, _TYPO_SCORE = 0.75, 0.5  # score of a prefix, or a word with one wrong letter
_MIN_TYPO_CHARACTERS = 4
_MAX_QUOTED_CHARACTERS = 60
_MAX_QUERY_CHARACTERS = 500
_MAX_ALTERNATIVES = 5  # candidates to show if none matches
_SEARCH_VARIABLE = Variable("search")


@dataclass(frozen=True)
class VariableCandidates:
    """Terms that a variable may be, with their numbers of solutions, the most frequent first.

    `trouble` explains why terms are missing; empty if there are all.
    """

    where: Group
    variable: Variable
    terms: Mapping[Term, int]
    trouble: str = ""


async def fetch_variable_candidates(
    context: Context, where: Group, variable: Variable
) -> VariableCandidates:
    """Fetch the terms that a variable of a pattern may be, at most `limits.candidates`.

    Raises:
        QueryError: the query is invalid.
        ServiceError: the endpoint cannot be reached.
    """
    max_terms, seconds = context.limits.candidates, context.limits.timeout
    query = (
        f"SELECT {variable} (COUNT(*) AS ?askgraph_n) WHERE {to_text(where)} "
        f"GROUP BY {variable} ORDER BY DESC(?askgraph_n) LIMIT {max_terms + 1}"
    )
    try:
        result = await context.graph.endpoint.select(query, timeout=seconds, limit=max_terms + 1)
    except TimedOut:
        return VariableCandidates(
            where, variable, {}, f"to find what fits took longer than {seconds:g} s"
        )
    except (ErrorReply, MalformedReply) as problem:
        return VariableCandidates(where, variable, {}, f"what fits could not be found ({problem})")
    terms = {term: parse_count(count) for term, count in result.rows if term is not None}
    is_cut = len(terms) > max_terms or (
        result.truncated is not None and len(terms) >= _MAX_TESTED_HITS
    )
    trouble = f"more than {min(max_terms, len(terms)):,} things fit" if is_cut else ""
    return VariableCandidates(where, variable, terms, trouble)


async def search_candidates(
    context: Context, candidates: VariableCandidates, text: str, sort: Sort
) -> list[SearchHit]:
    """Return the candidates that match a text, best first; without a text the most frequent.

    If candidates are missing, the fitting hits of the whole graph come first.
    """
    graph, terms, max_hits = context.graph, candidates.terms, context.limits.hits
    if not text:
        return await asyncio.to_thread(
            _list_frequent, graph, dict(islice(terms.items(), max_hits)), sort
        )
    matches = await asyncio.to_thread(_match_candidates, context, terms, text, sort)
    if candidates.trouble:
        hits = await asyncio.to_thread(_search_whole_graph, graph, text, sort)
        fitting_terms = await _filter_fitting(context, candidates, [hit.term for hit in hits])
        fitting_hits = [hit for hit in hits if hit.term in fitting_terms]
        return [*fitting_hits, *(match for match in matches if match.term not in fitting_terms)][
            :max_hits
        ]
    return matches


def _list_frequent(graph: KnowledgeGraph, terms: Mapping[Term, int], sort: Sort) -> list[SearchHit]:
    """Return candidates with their numbers, and an index's text for nodes without a label."""
    hits = []
    for term, count in terms.items():
        resource = _find_resource(graph, term, sort)
        short_resource = resource and replace(
            resource, synonyms=(max(resource.names, key=len),), infos=()
        )
        hits.append(SearchHit(term, short_resource, note=_format_count(count)))
    return hits


def _search_whole_graph(graph: KnowledgeGraph, text: str, sort: Sort) -> list[SearchHit]:
    """Return many hits of the whole graph, alternating between entities and values."""
    keys = ("entities", "literals") if sort == "entities" else (sort,)
    hits_by_index = [search_index(graph, key, text, _MAX_TESTED_HITS // len(keys)) for key in keys]
    return [
        to_search_hit(hit) for row in zip_longest(*hits_by_index) for hit in row if hit is not None
    ]


async def _filter_fitting(
    context: Context, candidates: VariableCandidates, terms: Sequence[Term]
) -> frozenset[Term]:
    """Return which of a few terms fit; this query is quick even if the open one is not."""
    term_texts = [str(term) for term in terms if not isinstance(term, BlankNode)]
    if not term_texts:
        return frozenset()
    query = (
        f"SELECT DISTINCT {candidates.variable} WHERE {{ VALUES {candidates.variable} "
        f"{{ {' '.join(term_texts)} }} {to_text(candidates.where)} }} LIMIT {len(term_texts)}"
    )
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return frozenset(term for (term,) in result.rows if term is not None)


def _match_candidates(
    context: Context, terms: Mapping[Term, int], text: str, sort: Sort
) -> list[SearchHit]:
    """Return the candidates that match by their own words or in an index, best first."""
    graph = context.graph
    hit_by_term: dict[Term, Hit[Resource]] = {}
    for key, ids in _map_index_ids(graph, terms, sort, text).items():
        for hit in search_index(graph, key, text, _MAX_INDEX_HITS, list(ids)):
            hit_by_term.setdefault(ids[hit.item.iri], hit)

    def list_texts(term: Term) -> tuple[str, ...]:
        if term in hit_by_term:
            return hit_by_term[term].item.names
        if isinstance(term, NamedNode):
            return (split_local_name(term.value),)
        return (term.value,) if isinstance(term, Literal) else ()

    scores = dict(zip(terms, score_keywords(text, list(map(list_texts, terms))), strict=True))
    ranks = {term: at for at, term in enumerate(hit_by_term)}
    matches = [term for term in terms if scores[term] > 0 or term in ranks]
    matches.sort(key=lambda term: (-scores[term], ranks.get(term, len(ranks)), -terms[term]))
    return [
        replace(to_search_hit(hit_by_term[term]), term=term, note=_format_count(terms[term]))
        if term in hit_by_term
        else SearchHit(term, note=_format_count(terms[term]))
        for term in matches[: context.limits.hits]
    ]


def _map_index_ids(
    graph: KnowledgeGraph, terms: Mapping[Term, int], sort: Sort, text: str
) -> dict[str, dict[str, Term]]:
    term_by_literal: dict[str, Term] = {
        str(node): node for node in terms if isinstance(node, Literal)
    }
    term_by_iri: dict[str, Term] = {
        node.value: node for node in terms if isinstance(node, NamedNode)
    }
    if sort == "entities":
        return {"entities": term_by_iri, "literals": term_by_literal}
    # An index may know properties under the namespace of another variant.
    hit_iris = [hit.item.iri for hit in search_index(graph, "properties", text, _SAMPLE_SIZE)]
    aliases = {
        space + code[1]: term
        for space in {get_namespace(iri) for iri in hit_iris if extract_code(iri) is not None}
        for iri, term in reversed(term_by_iri.items())
        if (code := extract_code(iri)) is not None and urlsplit(space).netloc == code[0]
    }
    return {"properties": {**aliases, **term_by_iri}}


def _find_resource(graph: KnowledgeGraph, term: Term, sort: Sort) -> Resource | None:
    """Return the entry of a term in an index that can be queried by id."""
    find_by_id = getattr(graph.indices.get(sort), "find", None)
    resource: Resource | None = (
        find_by_id(term.value) if find_by_id and isinstance(term, NamedNode) else None
    )
    return resource


def _format_count(count: int) -> str:
    return f"{count:,}× here" if count > 1 else ""


def score_keywords(search: str, texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the score of the best text of each item; 0 if no keyword matches."""
    keywords = tuple(dict.fromkeys(_split_words(search)))

    def match_exactly(keyword: str, words: Sequence[str]) -> float:
        # In a script without spaces, a word may be a whole sentence: match any part of it.
        has_substrings = not keyword.isascii()
        is_prefix = any(
            word.startswith(keyword) or (has_substrings and keyword in word) for word in words
        )
        return 1.0 if keyword in words else _PREFIX_SCORE if is_prefix else 0.0

    def match_with_typo(keyword: str, words: Sequence[str]) -> float:
        typo_matches = (Levenshtein.distance(keyword, word, score_cutoff=1) <= 1 for word in words)
        return _TYPO_SCORE if len(keyword) >= _MIN_TYPO_CHARACTERS and any(typo_matches) else 0.0

    scores: list[float] = []
    for score in (match_exactly, match_with_typo):
        scores = [
            max(
                (
                    sum(score(keyword, _split_words(text)) for keyword in keywords)
                    for text in item_texts
                ),
                default=0.0,
            )
            for item_texts in texts
        ]
        if any(scores):
            break
    return scores


def _split_words(text: str) -> tuple[str, ...]:
    return split_tokens(text) or tuple(fold_word(text).split())


async def search_by_name(context: Context, text: str, sort: Sort) -> Observation:
    """Search the whole graph for a text."""
    text = _clean(text)
    if not text:
        return Observation("search for what? The text is empty", failed=True)
    hits = await search_graph(context, text, sort)
    if not hits:
        missing = "" if sort in context.graph.indices else f" (this graph has no index of {sort})"
        return Observation(
            f"nothing found for {_quote(text)}. Try other words, fewer words, the singular, "
            f"a synonym, or the name in another language{missing}"
        )
    hit_lines = await format_hits(context, hits, sort)
    return Observation("\n".join(hit_lines.lines), hit_lines.iris)


async def search_variable(
    context: Context, where: Group, variable: Variable, text: str, sort: Sort, *, noun: str
) -> Observation:
    """Search the terms that a variable of a pattern may be.

    `noun` describes them, such as `objects of wdt:P31`.
    """
    text = _clean(text)
    candidates = await fetch_variable_candidates(context, where, variable)
    if not candidates.terms and not candidates.trouble:
        return Observation(f"there are no {noun}")
    hits = await search_candidates(context, candidates, text, sort)
    total_text = f"{len(candidates.terms):,} {noun}"
    if not text:
        suffix = f", the {len(hits)} most frequent" if len(hits) < len(candidates.terms) else ""
        trouble = f"{candidates.trouble}: " if candidates.trouble else ""
        head = f"{trouble}{total_text}{suffix}:" if hits else f"{noun}: {candidates.trouble}"
    elif candidates.trouble:
        prefix = f"{noun}: {candidates.trouble}; so {_quote(text)} was searched in the whole graph"
        hit_text = f"{len(hits)} that fit were found:" if hits else "none of the best hits fits"
        head = f"{prefix}, and {hit_text}"
    elif not hits:
        head = f"none of the {total_text} matches {_quote(text)}; the most frequent are:"
    else:
        match_text = " best matches" if len(hits) >= context.limits.hits else " matching"
        head = f"{total_text}, {len(hits)}{match_text} for {_quote(text)}:"
    if not hits and not candidates.trouble:
        hits = (await search_candidates(context, candidates, "", sort))[:_MAX_ALTERNATIVES]
    hit_lines = await format_hits(context, hits, sort)
    return Observation("\n".join([head, *hit_lines.lines]), hit_lines.iris)


async def format_hits(context: Context, hits: Sequence[SearchHit], sort: Sort) -> HitLines:
    """Format hits as lines."""
    if not hits:
        return HitLines()
    if context.limits.plain or context.limits.bare:
        return await format_plain_hits(context, hits)
    return await (format_properties if sort == "properties" else format_entities)(context, hits)


def _clean(text: str) -> str:
    """Return a text without lone surrogates, clipped to the length of a name."""
    return " ".join(text[:_MAX_QUERY_CHARACTERS].encode(errors="replace").decode().split())


def _quote(text: str) -> str:
    return quote(text, _MAX_QUOTED_CHARACTERS)


async def search_entity(context: Context, query: Annotated[str, "name or keywords"]) -> Observation:
    """Find entities and classes by name.

    If few match, literals that contain the name are added, each with a subject.
    """
    return await search_by_name(context, query, "entities")


async def search_property(
    context: Context, query: Annotated[str, "name or keywords"]
) -> Observation:
    """Find properties by name."""
    return await search_by_name(context, query, "properties")


async def search_property_of_entity(
    context: Context,
    entity: Annotated[str, "IRI"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among the properties of an entity, in both directions."""
    node = NamedNode(await resolve_iri(context, entity))
    search, other_end = _SEARCH_VARIABLE, Variable("other")
    short = context.graph.prefixes.shorten(node.value)
    outgoing, incoming = await asyncio.gather(
        *(
            search_variable(context, Group((pattern,)), search, query, "properties", noun=noun)
            for pattern, noun in (
                (Pattern(node, search, other_end), f"properties from {short}"),
                (Pattern(other_end, search, node), f"properties to {short}"),
            )
        )
    )
    text = f"{outgoing.text}\n{incoming.text}"
    return Observation(text, tuple(dict.fromkeys([node.value, *outgoing.seen, *incoming.seen])))


async def search_object_of_property(
    context: Context,
    property: Annotated[str, "IRI"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among the objects of a property: entities and literal values.

    Literals are written as in SPARQL.
    """
    iri = await resolve_iri(context, property, sort="properties")
    where = Group((Pattern(Variable("subject"), NamedNode(iri), _SEARCH_VARIABLE),))
    noun = f"objects of {context.graph.prefixes.shorten(iri)}"
    return await search_variable(context, where, _SEARCH_VARIABLE, query, "entities", noun=noun)


async def search_autocomplete(
    context: Context,
    sparql: Annotated[str, "SELECT query with ?search at any place"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among what ?search may be in a query.

    Only its patterns count; columns, order and limits are ignored (GRASP, arXiv 2507.08107, section
    3.3, S_A).

    Raises:
        QueryError: the query is no SELECT or does not use ?search.
    """
    try:
        tree = parse_tree(check_query(prepare_query(context, sparql).query).text)
    except QuerySyntaxError as problem:
        raise QueryError(f"{problem}; write it as SELECT ?search WHERE {{ … }}") from problem
    if tree.form != "SELECT":
        raise QueryError(f"expected a SELECT query, not {tree.form}")
    if _SEARCH_VARIABLE not in set(find_variables(tree.where)):
        raise QueryError("no pattern uses ?search: write it where the thing looked for would stand")
    patterns = (node for node in walk(tree.where) if isinstance(node, Pattern))
    is_property = any(pattern.predicate == _SEARCH_VARIABLE for pattern in patterns)
    sort: Sort = "properties" if is_property else "entities"
    return await search_variable(
        context, tree.where, _SEARCH_VARIABLE, query, sort, noun="candidates for ?search"
    )


_PLURAL = {"subject": "subjects", "property": "properties", "object": "objects"}


async def search_constrained(
    context: Context,
    position: OneOf["subject", "property", "object"],
    query: Annotated[str, "name; empty: most frequent"] = "",
    subject: str | None = None,
    property: str | None = None,
    object: str | None = None,
) -> Observation:
    """Find entities, classes or values (subject, object) or properties, with IRIs as constraints.

    The results stand at `position` in triples with the given constraints; without any, in the whole
    graph, which requires a name. An object may also be a literal.

    Raises:
        QueryError: a constraint at `position` itself, or an unknown name.
    """
    texts_by_role = {"subject": subject, "property": property, "object": object}
    constraints = {role: text for role, text in texts_by_role.items() if text and text.strip()}
    if position in constraints:
        raise QueryError(
            f"{position} is what to find, so it cannot be given as {constraints[position][:80]!r}; "
            "leave it out, or choose another position"
        )
    sort: Sort = "properties" if position == "property" else "entities"
    if not constraints:
        return await search_by_name(context, query, sort)
    nodes: dict[str, NamedNode | Literal] = {}
    for role, text in constraints.items():
        if role == "object":
            nodes[role] = await resolve_object(context, text)
        else:
            nodes[role] = NamedNode(
                await resolve_iri(context, text, sort="properties" if role == "property" else "")
            )
    start, predicate, end = (nodes.get(role, Variable(role)) for role in texts_by_role)
    assert not isinstance(predicate, Literal)
    shorten = context.graph.prefixes.shorten
    texts = (
        shorten(node.value) if isinstance(node, NamedNode) else str(node) for node in nodes.values()
    )
    noun = f"{_PLURAL[position]} of {' '.join(texts)}"
    where = Group((Pattern(start, predicate, end),))
    return await search_variable(context, where, Variable(position), query, sort, noun=noun)
