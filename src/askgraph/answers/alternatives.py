"""Find alternatives to a part of a query: similar names, or terms that also give answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql as ast
from askgraph.answers.query_parts import ReplaceableTerm
from askgraph.answers.resource import list_classes
from askgraph.answers.verbalize import fetch_term_descriptions, fetch_term_labels
from askgraph.endpoint import Endpoint
from askgraph.errors import QueryError, QuerySyntaxError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import ItemKind, stem_name
from askgraph.sparql import vocabulary as v
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import to_text

_NAME_KINDS = {"entity": ItemKind.ENTITY, "class": ItemKind.CLASS, "predicate": ItemKind.PREDICATE}
_MAX_CONCURRENT_QUERIES = 2  # queries sent to one graph at a time
_MAX_RANKED_TERMS = 200  # terms that are ranked
_MAX_NAME_MATCHES = 30  # things with a similar name to consider

SolutionCounts = dict[NamedNode | Literal, int | None]


@dataclass(frozen=True)
class Alternative:
    """A term that could replace a part of a query."""

    term: NamedNode | Literal
    label: str
    description: str = ""  # the description in the graph, if there is one
    rows: int | None = None  # solutions that the query then has, if counted


async def find_alternatives(
    query: ast.Query | str,
    parts: Sequence[ReplaceableTerm],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    limit: int = 8,
    timeout: float = 3.0,
    query_graph: bool = True,
    other_meanings: Mapping[str, Sequence[str]] | None = None,
) -> tuple[tuple[Alternative, ...], ...]:
    """Return for each part at most `limit` terms that could replace it, best first.

    The order: other meanings of the words of the question, resources with the same name,
    terms with which the query has solutions (of the same class and best connected first),
    resources with a similar name, terms that fit by the profile. Compared values have no
    alternatives. If the graph does not answer in time, names and profile suffice.

    Args:
        timeout: seconds of one query; all queries together get twice that.
        query_graph: whether to query the graph for terms with solutions, once for each part.
        other_meanings: other IRIs that the words of an IRI may mean.
    """
    try:
        tree = (
            query if isinstance(query, ast.Query) else parse_tree(query, graph.prefixes.namespaces)
        )
    except QuerySyntaxError:
        return ((),) * len(parts)
    terms_by_part = await _AlternativeFinder(
        tree, graph, languages, limit, timeout, query_graph, other_meanings or {}
    ).find_all(parts)
    iris = {term.value for terms in terms_by_part for term in terms if isinstance(term, NamedNode)}
    labels = await fetch_term_labels(iris, graph, languages, timeout=timeout)
    entities = [
        term.value
        for part, terms in zip(parts, terms_by_part, strict=True)
        for term in terms
        if part.kind == "entity"
    ]
    try:
        descriptions = await fetch_term_descriptions(entities, graph, languages, timeout=timeout)
    except ServiceError:
        descriptions = {}
    return tuple(
        tuple(
            Alternative(term, _get_label(term, labels), descriptions.get(term.value, ""), rows)
            for term, rows in terms.items()
        )
        for terms in terms_by_part
    )


@dataclass(frozen=True)
class _AlternativeFinder:
    tree: ast.Query
    graph: KnowledgeGraph
    languages: Sequence[str]
    limit: int
    timeout: float
    query_graph: bool
    other_meanings: Mapping[str, Sequence[str]]
    started_at: float = field(default_factory=time.monotonic)

    async def find_all(self, parts: Sequence[ReplaceableTerm]) -> list[SolutionCounts]:
        iris = [part.term.value for part in parts if isinstance(part.term, NamedNode)]
        labels = await fetch_term_labels(iris, self.graph, self.languages, timeout=self.timeout)
        semaphore = asyncio.Semaphore(_MAX_CONCURRENT_QUERIES)
        return await asyncio.gather(
            *(self.find_for_part(part, labels, semaphore) for part in parts)
        )

    async def find_for_part(
        self, part: ReplaceableTerm, labels: Mapping[str, str], semaphore: asyncio.Semaphore
    ) -> SolutionCounts:
        same_name, similar_name = list[str](), list[str]()
        if isinstance(part.term, NamedNode):
            same_name, similar_name = await asyncio.to_thread(
                _find_by_name, _get_label(part.term, labels), _NAME_KINDS[part.kind], self.graph
            )
            same_name = [
                *self.other_meanings.get(part.term.value, ())[: self.limit // 2],
                *same_name,
            ]
            if part.kind == "class":
                # The classes that share a direct superclass with a class.
                parents = {
                    parent
                    for class_profile in self.graph.profile.classes
                    if class_profile.iri == part.term.value
                    for parent in class_profile.parents
                }
                similar_name += [
                    class_profile.iri
                    for class_profile in self.graph.profile.classes
                    if parents & {*class_profile.parents}
                ]
            if part.kind == "predicate":
                # Predicates of the same frequent subject classes and with the same kind of values.
                similar_name += [
                    candidate.iri
                    for predicate in self.graph.profile.predicates
                    if predicate.iri == part.term.value
                    for candidate in self.graph.profile.predicates
                    if candidate.literal == predicate.literal
                    and candidate.iri not in _UNINFORMATIVE_PREDICATES
                    if dict(predicate.subject_classes[:3]).keys()
                    & dict(candidate.subject_classes).keys()
                ]
        async with semaphore:
            is_late = time.monotonic() > self.started_at + self.timeout
            counts = await self.count_solutions(part) if self.query_graph and not is_late else {}
        if part.kind == "entity" and self.graph.arrays is not None:
            counts = await asyncio.to_thread(self.rank_by_degree, part.term.value, counts)
        candidates = [*map(NamedNode, same_name), *counts, *map(NamedNode, similar_name)]
        terms: SolutionCounts = {}
        for term in candidates:
            if term != part.term and len(terms) < self.limit:
                terms.setdefault(term, counts.get(term))
        return terms

    def rank_by_degree(
        self, entity: str, counts: Mapping[NamedNode | Literal, int]
    ) -> dict[NamedNode | Literal, int]:
        """Sort terms: those of the same class first, then by degree, then by rows."""
        arrays = self.graph.arrays
        own_classes = [class_profile.iri for class_profile in list_classes(entity, self.graph)[:1]]

        def sort_key(item: tuple[NamedNode | Literal, int]) -> tuple[bool, int, int]:
            iri = item[0].value
            node = arrays.terms.find_iri(iri) if arrays is not None else None
            degree = 0 if arrays is None or node is None else arrays.get_degree(node)
            same_class = any(
                class_profile.iri in own_classes for class_profile in list_classes(iri, self.graph)
            )
            return not same_class, -degree, -item[1]

        return dict(sorted(counts.items(), key=sort_key))

    async def count_solutions(self, part: ReplaceableTerm) -> dict[NamedNode | Literal, int]:
        """Count the solutions of the query for each term that could replace a part.

        If only the present term has solutions, return terms that fit its pattern alone, with 0
        solutions. That is skipped for a remote graph, which would have to count all triples of
        the predicate.
        """
        group = _replace_by_variable(part.term, self.tree.where)
        counts = await self.count_bindings(part, group)
        is_node = part.kind in ("entity", "value")
        if counts.keys() - {part.term} or not is_node or self.graph.arrays is None:
            return counts
        pattern_counts = await self.count_bindings(
            part, _build_open_pattern(part.term, self.tree.where)
        )
        return dict.fromkeys(pattern_counts, 0) if group else pattern_counts

    async def count_bindings(
        self, part: ReplaceableTerm, group: ast.Group | None
    ) -> dict[NamedNode | Literal, int]:
        if group is None:
            return {}
        endpoint = self.graph.endpoint
        ranks_later = part.kind == "entity" and self.graph.arrays is not None
        limit = max(self.limit, _MAX_RANKED_TERMS) if ranks_later else self.limit
        counts = await _count_terms(group, endpoint, limit=limit, timeout=self.timeout)
        term_type = Literal if part.kind == "value" else NamedNode
        return {term: rows for term, rows in counts.items() if isinstance(term, term_type)}


def _find_by_name(label: str, kind: ItemKind, graph: KnowledgeGraph) -> tuple[list[str], list[str]]:
    names, stems = graph.names, stem_name(label)
    ids = [(position, names.find_word(stem)) for position, stem in enumerate(stems)]
    matches = names.search([(position, word, 1.0) for position, word in ids if word is not None])
    names_found = [match.name for match in matches if match.name.kind is kind][:_MAX_NAME_MATCHES]
    same_name = [
        name.target for name in names_found if sorted(stem_name(name.text)) == sorted(stems)
    ]
    return same_name, [name.target for name in names_found if name.target not in same_name]


def _get_label(term: NamedNode | Literal, labels: Mapping[str, str]) -> str:
    if isinstance(term, Literal):
        return term.value
    return labels.get(term.value) or split_local_name(term.value)


_TERM, _ROW_COUNT = Variable("ask_other"), Variable("ask_rows")
_ENDS = (Variable("ask_subject"), Variable("ask_object"))
_UNINFORMATIVE_PREDICATES = frozenset(
    [v.RDF_TYPE, *v.LABEL_PREDICATES, *v.ALTERNATIVE_LABEL_PREDICATES, *v.DESCRIPTION_PREDICATES]
)
"""Predicates that are never alternatives: names, descriptions, types."""


def _replace_by_variable(term: NamedNode | Literal, group: ast.Group) -> ast.Group | None:
    """Return the group with a variable in place of a term; None if it would stay unbound."""
    # The variable is bound if the term occurs in a pattern itself, not only within a path.
    if not any(term in (p.subject, p.predicate, p.object) for p in _iterate_patterns(group)):
        return None
    replaced: ast.Group = ast.transform(
        group,
        lambda node: _TERM if node == term else node,
        enter=lambda node: not isinstance(node, ast.Path),
    )
    return replaced


def _build_open_pattern(term: NamedNode | Literal, group: ast.Group) -> ast.Group | None:
    """Return the first pattern with a term, with only its predicate fixed."""
    # None if the term is the predicate, or the pattern has no fixed predicate.
    for pattern in _iterate_patterns(group):
        if term in (pattern.subject, pattern.object) and isinstance(pattern.predicate, NamedNode):
            ends = (_TERM, _ENDS[1]) if pattern.subject == term else (_ENDS[0], _TERM)
            return ast.Group((ast.Pattern(ends[0], pattern.predicate, ends[1]),))
    return None


async def _count_terms(
    where: ast.Group, endpoint: Endpoint, *, limit: int, timeout: float
) -> dict[NamedNode | Literal, int]:
    # Empty if the endpoint does not answer in time.
    max_rows = limit + 1 + len(_UNINFORMATIVE_PREDICATES)
    query = ast.Query(
        "SELECT",
        where,
        ((_TERM, None), (_ROW_COUNT, ast.Call("COUNT"))),
        group_by=((_TERM, None),),
        order=((_ROW_COUNT, True), (_TERM, False)),
        limit=max_rows,
    )
    try:
        result = await endpoint.select(to_text(query), timeout=timeout, limit=max_rows)
    except (QueryError, ServiceError):
        return {}
    counts: dict[NamedNode | Literal, int] = {}
    for term, rows in result.rows:
        is_informative = (
            isinstance(term, NamedNode | Literal) and term.value not in _UNINFORMATIVE_PREDICATES
        )
        if is_informative and isinstance(term, NamedNode | Literal) and isinstance(rows, Literal):
            counts[term] = int(rows.value)
    return counts


def _iterate_patterns(group: ast.Group) -> Iterator[ast.Pattern]:
    return (
        node for node in ast.walk(group, into=_list_visible_parts) if isinstance(node, ast.Pattern)
    )


def _list_visible_parts(node: object) -> tuple[object, ...]:
    match node:
        case ast.Group() | ast.Union():
            return ast.get_children(node)
        case ast.Nested(word="" | "OPTIONAL" | "GRAPH", group=inner):
            return (inner,)
        case _:
            return ()
