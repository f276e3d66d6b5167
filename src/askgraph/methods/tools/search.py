"""Searches among names, values and nodes: in the whole graph, or at one place of a pattern.

In a pattern the query comes first and the text second: an index is searched within what a bounded
query gave. What no index knows (values, nodes without a name) is ranked by its own words, as
`askgraph.index.keyword` ranks names. If more fits than a query may give, or it takes too long, the
best of the whole graph are tried.
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
from askgraph.graph.names import code_of
from askgraph.index import Hit, Resource
from askgraph.index.names import folded, tokens
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import (
    Found,
    HitLines,
    Sort,
    entity_lines,
    found_anywhere,
    found_of,
    index_hits,
    numbered,
    property_lines,
)
from askgraph.methods.tools.query_run import ready
from askgraph.methods.tools.rendering import quoted
from askgraph.methods.tools.terms import named_node, object_term
from askgraph.sparql import Group, Pattern, variables_of, walk
from askgraph.sparql.judge import checked
from askgraph.sparql.parser import read
from askgraph.sparql.prefixes import namespace_of, words_of_local_name
from askgraph.sparql.results import Term
from askgraph.sparql.serializer import text_of
from askgraph.trace import Observation

__all__ = [
    "search_autocomplete",
    "search_constrained",
    "search_entity",
    "search_object_of_property",
    "search_property",
    "search_property_of_entity",
]

_LOOKED_AT = 50  # hits of an index that are ranked together with what it does not know
_TRIED = 200  # hits of the whole graph that are tried where candidates are too many
_PASSED = 5_000  # candidates among which nodes without a name are looked for
_SAMPLED = 20
_ABOUT = 4
_PREFIX, _MISTYPED = 0.75, 0.5  # the score of a word that is begun, or a letter off
_SHORTEST_MISTYPED = 4
_CLIP = 60
_LONGEST = 500
_INSTEAD = 5  # candidates shown where none matches
_SEARCH = Variable("search")


@dataclass(frozen=True)
class Candidates:
    """Terms that fit, with the number of solutions each, the most frequent first.

    `trouble` says, in words, why they are not all; empty if they are.
    """

    where: Group
    variable: Variable
    terms: Mapping[Term, int]
    trouble: str = ""


async def candidates_of(context: Context, where: Group, variable: Variable) -> Candidates:
    """Ask what a variable of a pattern may be, for at most `limits.candidates` terms.

    Raises `QueryError`, and `ServiceError` if the endpoint cannot be reached at all.
    """
    most, seconds = context.limits.candidates, context.limits.timeout
    query = (
        f"SELECT {variable} (COUNT(*) AS ?askgraph_n) WHERE {text_of(where)} "
        f"GROUP BY {variable} ORDER BY DESC(?askgraph_n) LIMIT {most + 1}"
    )
    try:
        result = await context.graph.endpoint.select(query, timeout=seconds, limit=most + 1)
    except TimedOut:
        return Candidates(where, variable, {}, f"to find what fits took longer than {seconds:g} s")
    except (ErrorReply, MalformedReply) as problem:
        return Candidates(where, variable, {}, f"what fits could not be found ({problem})")
    terms = {term: numbered(count) for term, count in result.rows if term is not None}
    cut = len(terms) > most or (result.truncated is not None and len(terms) >= _TRIED)
    trouble = f"more than {min(most, len(terms)):,} things fit" if cut else ""
    return Candidates(where, variable, terms, trouble)


async def found_within(
    context: Context, candidates: Candidates, text: str, sort: Sort
) -> list[Found]:
    """Return the candidates that match a text, best first; without a text the most frequent.

    If they are not all known, the best hits of the whole graph that fit, then known ones.
    """
    graph, terms, most = context.graph, candidates.terms, context.limits.hits
    if not text:
        return await asyncio.to_thread(_frequent, graph, dict(islice(terms.items(), most)), sort)
    found = await asyncio.to_thread(_matching, context, terms, text, sort)
    if candidates.trouble:
        hits = await asyncio.to_thread(_hits_anywhere, graph, text, sort)
        fitting = await _fitting(context, candidates, [hit.term for hit in hits])
        fits = [hit for hit in hits if hit.term in fitting]
        return [*fits, *(one for one in found if one.term not in fitting)][:most]
    if found or sort == "properties":
        return found
    return await _found_by_content(context, candidates, text)


def _frequent(graph: KnowledgeGraph, terms: Mapping[Term, int], sort: Sort) -> list[Found]:
    """Candidates by their number; what an index calls nodes without a label goes with them."""
    found = []
    for term, count in terms.items():
        known = _known_as(graph, term, sort)
        trimmed = known and replace(known, synonyms=(max(known.names, key=len),), infos=())
        found.append(Found(term, trimmed, note=_times(count)))
    return found


def _hits_anywhere(graph: KnowledgeGraph, text: str, sort: Sort) -> list[Found]:
    """Many hits of the whole graph, things and values alike, in turn."""
    keys = ("entities", "literals") if sort == "entities" else (sort,)
    listed = [index_hits(graph, key, text, _TRIED // len(keys)) for key in keys]
    return [found_of(one) for row in zip_longest(*listed) for one in row if one is not None]


async def _fitting(
    context: Context, candidates: Candidates, terms: Sequence[Term]
) -> frozenset[Term]:
    """Those of a few terms that fit: a question that is quick if the open one is not."""
    named = [str(term) for term in terms if not isinstance(term, BlankNode)]
    if not named:
        return frozenset()
    query = (
        f"SELECT DISTINCT {candidates.variable} WHERE {{ VALUES {candidates.variable} "
        f"{{ {' '.join(named)} }} {text_of(candidates.where)} }} LIMIT {len(named)}"
    )
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    return frozenset(term for (term,) in result.rows if term is not None)


def _matching(context: Context, terms: Mapping[Term, int], text: str, sort: Sort) -> list[Found]:
    """The candidates that match by their own words or by an index, best first."""
    graph = context.graph
    known: dict[Term, Hit[Resource]] = {}
    for key, ids in _ids(graph, terms, sort, text).items():
        for hit in index_hits(graph, key, text, _LOOKED_AT, list(ids)):
            known.setdefault(ids[hit.item.iri], hit)

    def texts(term: Term) -> tuple[str, ...]:
        if term in known:
            return known[term].item.names
        if isinstance(term, NamedNode):
            return (words_of_local_name(term.value),)
        return (term.value,) if isinstance(term, Literal) else ()

    scores = dict(zip(terms, keyword_scores(text, list(map(texts, terms))), strict=True))
    places = {term: at for at, term in enumerate(known)}
    found = [term for term in terms if scores[term] > 0 or term in places]
    found.sort(key=lambda term: (-scores[term], places.get(term, len(places)), -terms[term]))
    return [
        replace(found_of(known[term]), term=term, note=_times(terms[term]))
        if term in known
        else Found(term, note=_times(terms[term]))
        for term in found[: context.limits.hits]
    ]


def _ids(
    graph: KnowledgeGraph, terms: Mapping[Term, int], sort: Sort, text: str
) -> dict[str, dict[str, Term]]:
    """By index, the ids that it may know the terms by."""
    literals: dict[str, Term] = {str(one): one for one in terms if isinstance(one, Literal)}
    iris: dict[str, Term] = {one.value: one for one in terms if isinstance(one, NamedNode)}
    if sort == "entities":
        return {"entities": iris, "literals": literals}
    # An index may know properties under the namespace of another variant.
    first = [hit.item.iri for hit in index_hits(graph, "properties", text, _SAMPLED)]
    aliases = {
        space + code[1]: term
        for space in {namespace_of(iri) for iri in first if code_of(iri) is not None}
        for iri, term in reversed(iris.items())
        if (code := code_of(iri)) is not None and urlsplit(space).netloc == code[0]
    }
    return {"properties": {**aliases, **iris}}


def _known_as(graph: KnowledgeGraph, term: Term, sort: Sort) -> Resource | None:
    """What an index that can be asked for an id knows of a term."""
    find = getattr(graph.indices.get(sort), "find", None)
    known: Resource | None = find(term.value) if find and isinstance(term, NamedNode) else None
    return known


def _times(count: int) -> str:
    return f"{count:,}× here" if count > 1 else ""


async def _found_by_content(context: Context, candidates: Candidates, text: str) -> list[Found]:
    """Nodes without a name of their own, by their values and by the names of what they link.

    None if there are too many of them.
    """

    def nameless() -> list[Term]:
        nodes = (term for term in candidates.terms if not isinstance(term, Literal))
        unknown = (node for node in nodes if _known_as(context.graph, node, "entities") is None)
        return list(islice(unknown, _TRIED + 1)) if len(candidates.terms) <= _PASSED else []

    nodes = await asyncio.to_thread(nameless)
    if not 0 < len(nodes) <= _TRIED:
        return []
    variable = candidates.variable
    where = f"VALUES {variable} {{ {' '.join(map(str, nodes))} }}"
    if any(isinstance(node, BlankNode) for node in nodes):
        where = text_of(candidates.where)
    naming = [f"<{p.iri}>" for p in context.graph.profile.predicates if p.naming]
    named = f"?askgraph_y ?askgraph_q ?askgraph_t VALUES ?askgraph_q {{ {' '.join(naming)} }}"
    parts = [
        f"{variable} ?askgraph_p ?askgraph_t FILTER(isLiteral(?askgraph_t))",
        f"{variable} ?askgraph_p ?askgraph_y . {named}",
    ]
    query = (
        f"SELECT DISTINCT {variable} ?askgraph_t WHERE {{ "
        f"{' UNION '.join(f'{{ {where} {part} }}' for part in parts)} }} "
        f"LIMIT {_TRIED * _SAMPLED}"
    )
    result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
    texts: dict[NamedNode | BlankNode, list[str]] = {}
    for node, value in result.rows:
        if isinstance(node, NamedNode | BlankNode) and isinstance(value, Literal):
            texts.setdefault(node, []).append(value.value)
    scores = keyword_scores(text, [(*own, " ".join(own)) for own in texts.values()])
    ranked = sorted(zip(scores, texts, strict=True), key=lambda pair: -pair[0])
    return [
        Found(node, Resource(node.value, ", ".join(texts[node][:_ABOUT])), nameless=True)
        for score, node in ranked[: context.limits.hits]
        if score
    ]


def keyword_scores(search: str, texts: Sequence[Sequence[str]]) -> list[float]:
    """Return for each thing the score of the best of its texts; 0 if nothing matches."""
    keywords = tuple(dict.fromkeys(_words(search)))

    def match(keyword: str, words: Sequence[str]) -> float:
        # A script without spaces has a sentence for a word: any part of it may be meant.
        inside = not keyword.isascii()
        begun = any(word.startswith(keyword) or (inside and keyword in word) for word in words)
        return 1.0 if keyword in words else _PREFIX if begun else 0.0

    def nearly(keyword: str, words: Sequence[str]) -> float:
        near = (Levenshtein.distance(keyword, word, score_cutoff=1) <= 1 for word in words)
        return _MISTYPED if len(keyword) >= _SHORTEST_MISTYPED and any(near) else 0.0

    scores: list[float] = []
    for score in (match, nearly):
        scores = [
            max((sum(score(key, _words(text)) for key in keywords) for text in own), default=0.0)
            for own in texts
        ]
        if any(scores):
            break
    return scores


def _words(text: str) -> tuple[str, ...]:
    return tokens(text) or tuple(folded(text).split())


async def searched(context: Context, text: str, sort: Sort) -> Observation:
    """Search the whole graph for a text."""
    text = _clean(text)
    if not text:
        return Observation("search for what? The text is empty", failed=True)
    found = await found_anywhere(context, text, sort)
    if not found:
        missing = "" if sort in context.graph.indices else f" (this graph has no index of {sort})"
        return Observation(
            f"nothing found for {_quoted(text)}. Try other words, fewer words, the singular, "
            f"a synonym, or the name in another language{missing}"
        )
    page = await shown(context, found, sort)
    return Observation("\n".join(page.lines), page.seen)


async def searched_within(
    context: Context, where: Group, variable: Variable, text: str, sort: Sort, *, what: str
) -> Observation:
    """Search what a variable of a pattern may be; `what` names that, as `objects of wdt:P31`."""
    text = _clean(text)
    candidates = await candidates_of(context, where, variable)
    if not candidates.terms and not candidates.trouble:
        return Observation(f"there are no {what}")
    found = await found_within(context, candidates, text, sort)
    every = f"{len(candidates.terms):,} {what}"
    if not text:
        few = len(found) < len(candidates.terms)
        most = f", the {len(found)} most frequent" if few else ""
        trouble = f"{candidates.trouble}: " if candidates.trouble else ""
        head = f"{trouble}{every}{most}:" if found else f"{what}: {candidates.trouble}"
    elif candidates.trouble:
        tried = f"{what}: {candidates.trouble}; so {_quoted(text)} was searched in the whole graph"
        fits = f"{len(found)} that fit were found:" if found else "none of the best hits fits"
        head = f"{tried}, and {fits}"
    elif not found:
        head = f"none of the {every} matches {_quoted(text)}; the most frequent are:"
    else:
        more = " best matches" if len(found) >= context.limits.hits else " matching"
        head = f"{every}, {len(found)}{more} for {_quoted(text)}:"
    if not found and not candidates.trouble:
        found = (await found_within(context, candidates, "", sort))[:_INSTEAD]
    page = await shown(context, found, sort)
    return Observation("\n".join([head, *page.lines]), page.seen)


async def shown(context: Context, found: Sequence[Found], sort: Sort) -> HitLines:
    """Show hits as what they are."""
    if not found:
        return HitLines()
    return await (property_lines if sort == "properties" else entity_lines)(context, found)


def _clean(text: str) -> str:
    """A text as an index takes it: halves of characters out, nothing beyond what a name has."""
    return " ".join(text[:_LONGEST].encode(errors="replace").decode().split())


def _quoted(text: str) -> str:
    return quoted(text, _CLIP)


async def search_entity(context: Context, query: Annotated[str, "name or keywords"]) -> Observation:
    """Find entities and classes by name.

    If few have the name, literal values that hold it too, with a subject that has the value.
    """
    return await searched(context, query, "entities")


async def search_property(
    context: Context, query: Annotated[str, "name or keywords"]
) -> Observation:
    """Find properties by name."""
    return await searched(context, query, "properties")


async def search_property_of_entity(
    context: Context,
    entity: Annotated[str, "IRI"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among the properties of an entity, in both directions."""
    node = NamedNode(await named_node(context, entity))
    search, other = _SEARCH, Variable("other")
    short = context.graph.prefixes.shorten(node.value)
    leaving, coming = await asyncio.gather(
        *(
            searched_within(context, Group((pattern,)), search, query, "properties", what=what)
            for pattern, what in (
                (Pattern(node, search, other), f"properties from {short}"),
                (Pattern(other, search, node), f"properties to {short}"),
            )
        )
    )
    text = f"{leaving.text}\n{coming.text}"
    return Observation(text, tuple(dict.fromkeys([node.value, *leaving.seen, *coming.seen])))


async def search_object_of_property(
    context: Context,
    property: Annotated[str, "IRI"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among the objects of a property: entities and literal values.

    Literals are shown as a query has to write them.
    """
    iri = await named_node(context, property, sort="properties")
    where = Group((Pattern(Variable("subject"), NamedNode(iri), _SEARCH),))
    what = f"objects of {context.graph.prefixes.shorten(iri)}"
    return await searched_within(context, where, _SEARCH, query, "entities", what=what)


async def search_autocomplete(
    context: Context,
    sparql: Annotated[str, "SELECT query with ?search at any place"],
    query: Annotated[str, "keywords; empty: most frequent"] = "",
) -> Observation:
    """Search among what ?search may be in a query.

    Only its patterns count; columns, order and limits are passed over (GRASP, arXiv 2507.08107,
    section 3.3, S_A). Raises `QueryError` if it is no SELECT or does not use ?search.
    """
    try:
        tree = read(checked(ready(context, sparql).query).text)
    except QuerySyntaxError as problem:
        raise QueryError(f"{problem}; write it as SELECT ?search WHERE {{ … }}") from problem
    if tree.form != "SELECT":
        raise QueryError(f"a SELECT query is wanted, not {tree.form}")
    if _SEARCH not in set(variables_of(tree.where)):
        raise QueryError("no pattern uses ?search: write it where the thing looked for would stand")
    patterns = (node for node in walk(tree.where) if isinstance(node, Pattern))
    is_property = any(pattern.predicate == _SEARCH for pattern in patterns)
    sort: Sort = "properties" if is_property else "entities"
    return await searched_within(
        context, tree.where, _SEARCH, query, sort, what="candidates for ?search"
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

    Those that stand at `position` in triples with the constraints given; without any, all. An
    object may be a literal too. Without constraints a name is needed.
    Raises `QueryError` for a constraint at `position` itself, and for what names nothing.
    """
    given = {"subject": subject, "property": property, "object": object}
    kept = {place: text for place, text in given.items() if text and text.strip()}
    if position in kept:
        raise QueryError(
            f"{position} is what to find, so it cannot be given as {kept[position][:80]!r}; leave "
            "it out, or choose another position"
        )
    sort: Sort = "properties" if position == "property" else "entities"
    if not kept:
        return await searched(context, query, sort)
    nodes: dict[str, NamedNode | Literal] = {}
    for place, text in kept.items():
        if place == "object":
            nodes[place] = await object_term(context, text)
        else:
            nodes[place] = NamedNode(
                await named_node(context, text, sort="properties" if place == "property" else "")
            )
    at, predicate, end = (nodes.get(place, Variable(place)) for place in given)
    assert not isinstance(predicate, Literal)
    shorten = context.graph.prefixes.shorten
    texts = (shorten(n.value) if isinstance(n, NamedNode) else str(n) for n in nodes.values())
    what = f"{_PLURAL[position]} of {' '.join(texts)}"
    where = Group((Pattern(at, predicate, end),))
    return await searched_within(context, where, Variable(position), query, sort, what=what)
