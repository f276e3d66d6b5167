"""Collect the facts of one resource and the links to it, by predicate and in pages."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.answers.verbalize import fetch_term_descriptions, fetch_term_labels
from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.boundaries import build_counts_query, build_samples_query
from askgraph.graph.profile import ClassProfile
from askgraph.index.name_search import format_iris
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import Row, Term
from askgraph.sparql.vocabulary import RDF_TYPE

_MAX_PREDICATES = 200  # predicates to describe in each direction
_MAX_NAMED_LINKS = 200  # nameless values that are named after what they link
_MAX_COUNTED_STATEMENTS = 20_000  # statements of a remote graph that are counted


@dataclass(frozen=True)
class PredicateFacts:
    """A page of the values of a predicate at a resource, or of the subjects that link to it."""

    predicate: str
    values: tuple[Term, ...]
    total: int  # number of all values
    at_least: bool = False  # whether there may be more values


@dataclass(frozen=True)
class ResourceFacts:
    """A resource with its facts in both directions; `labels` cover all IRIs in them."""

    iri: str
    description: str
    types: tuple[str, ...]
    outgoing: tuple[PredicateFacts, ...]
    incoming: tuple[PredicateFacts, ...]
    labels: Mapping[str, str]

    @property
    def label(self) -> str:
        """The name of the resource."""
        return self.labels.get(self.iri) or split_local_name(self.iri)


async def fetch_resource_facts(
    iri: str,
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    predicate: str | None = None,
    page_size: int = 20,
    offset: int = 0,
    timeout: float | None = None,
) -> ResourceFacts:
    """Return the facts of a resource in both directions, `page_size` values of each predicate.

    With `predicate`, only its facts. An IRI that the graph does not contain has no facts. A
    local graph is counted completely; a remote graph gets at most seven queries of `timeout`
    seconds, and its values come in its own order.

    Raises:
        QueryError: a text is not an IRI.
        ServiceError: the endpoint failed.
    """
    for iri_text in (iri, predicate or RDF_TYPE):
        try:
            NamedNode(iri_text)
        except ValueError as error:
            raise QueryError(f"{iri_text!r} is not an IRI: give one in full") from error
    if graph.arrays is not None and graph.arrays.complete:
        directions = [
            _read_local_facts(iri, graph.arrays, predicate, inverse, page_size, offset)
            for inverse in (False, True)
        ]
    else:
        reader = _RemoteFactReader(iri, graph, predicate, page_size, offset, timeout)
        directions = [await reader.fetch_direction(inverse=inverse) for inverse in (False, True)]
    outgoing, incoming = map(tuple, directions)
    types = [value for facts in outgoing if facts.predicate == RDF_TYPE for value in facts.values]
    classes = tuple(value.value for value in types if isinstance(value, NamedNode))
    labels = await fetch_term_labels(
        _iterate_iris(iri, *directions), graph, languages, timeout=timeout
    )
    labels = {**await _name_links(iri, labels, directions, graph, languages, timeout), **labels}
    descriptions = await fetch_term_descriptions([iri], graph, languages, timeout=timeout)
    return ResourceFacts(iri, descriptions.get(iri, ""), classes, outgoing, incoming, labels)


async def fetch_instances(
    cls: str, graph: KnowledgeGraph, *, limit: int, offset: int = 0, timeout: float | None = None
) -> PredicateFacts:
    """Return the instances of a class, as facts of `rdf:type` that point at it."""
    facts = await fetch_resource_facts(
        cls, graph, (), predicate=RDF_TYPE, page_size=limit, offset=offset, timeout=timeout
    )
    return next(iter(facts.incoming), PredicateFacts(RDF_TYPE, (), 0))


def list_classes(iri: str, graph: KnowledgeGraph) -> list[ClassProfile]:
    """Return the classes of a node, smallest class first; empty for a remote graph."""
    arrays = graph.arrays
    node = arrays.terms.find_iri(iri) if arrays is not None else None
    type_number = arrays.get_predicate_number(RDF_TYPE) if arrays is not None else None
    if arrays is None or node is None or type_number is None:
        return []
    nodes = arrays.step(np.array([node], dtype=np.int32), type_number)
    class_iris = {arrays.terms.get_value(int(class_profile)) for class_profile in nodes}
    profiles = [
        class_profile for class_profile in graph.profile.classes if class_profile.iri in class_iris
    ]
    return sorted(profiles, key=lambda class_profile: (class_profile.instances, class_profile.iri))


def sample_instances(
    classes: Sequence[str], graph: KnowledgeGraph, *, per_class: int = 3
) -> dict[str, tuple[str, ...]]:
    """Return the IRIs of a few instances of each class; empty for a remote graph."""
    arrays = graph.arrays
    type_number = arrays.get_predicate_number(RDF_TYPE) if arrays is not None else None
    if arrays is None or type_number is None:
        return {}
    instances: dict[str, tuple[str, ...]] = {}
    for cls in classes:
        node = arrays.terms.find_iri(cls)
        if node is not None:
            members = arrays.step(np.array([node], dtype=np.int32), type_number, inverse=True)[
                : 10 * per_class
            ]
            iris = [arrays.terms.get_value(int(m)) for m in members if arrays.terms.is_iri(int(m))]
            instances[cls] = tuple(iris[:per_class])
    return instances


async def _name_links(
    iri: str,
    labels: Mapping[str, str],
    directions: Sequence[Sequence[PredicateFacts]],
    graph: KnowledgeGraph,
    languages: Sequence[str],
    timeout: float | None,
) -> dict[str, str]:
    """Name nameless values that only link a resource with others after these others."""
    classes = [cls.iri for cls in graph.profile.classes if cls.nary][:_MAX_NAMED_LINKS]
    nodes = {
        value.value
        for value in chain.from_iterable(facts.values for facts in chain(*directions))
        if isinstance(value, NamedNode) and value.value not in labels
    }
    if not classes or not nodes:
        return {}
    query = (
        f"SELECT DISTINCT ?node ?other WHERE {{ VALUES ?class {{ {format_iris(classes)} }} "
        f"VALUES ?node {{ {format_iris(sorted(nodes)[:_MAX_NAMED_LINKS])} }} "
        f"?node a ?class ; ?p ?other "
        f"FILTER(ISIRI(?other) && ?p != <{RDF_TYPE}> && ?other != <{iri}>) }} LIMIT 1000"
    )
    ends = defaultdict[str, list[str]](list)
    for node, other in (await graph.endpoint.select(query, timeout=timeout)).rows:
        if isinstance(node, NamedNode) and isinstance(other, NamedNode):
            ends[node.value].append(other.value)
    names = await fetch_term_labels(chain(*ends.values()), graph, languages, timeout=timeout)
    texts = {
        node: [names[node_id] for node_id in neighbours if node_id in names]
        for node, neighbours in ends.items()
    }
    return {node: ", ".join(parts) for node, parts in texts.items() if parts}


def _iterate_iris(iri: str, *directions: Sequence[PredicateFacts]) -> Iterator[str]:
    yield iri
    for direction_facts in directions:
        yield from (facts.predicate for facts in direction_facts)
    values = [facts.values for direction_facts in directions for facts in direction_facts]
    for turn in zip_longest(*values):
        yield from (value.value for value in turn if isinstance(value, NamedNode))


def _read_local_facts(
    iri: str, arrays: GraphArrays, predicate: str | None, inverse: bool, page_size: int, offset: int
) -> list[PredicateFacts]:
    node_id = arrays.terms.find_iri(iri)
    if node_id is None:
        return []
    node = np.array([node_id], dtype=np.int32)
    numbers, counts = arrays.count_predicates(node, inverse=inverse)
    facts: list[PredicateFacts] = []
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        name = arrays.get_predicate_iri(number)
        if predicate in (None, name) and len(facts) < _MAX_PREDICATES:
            ends = arrays.step(node, number, inverse=inverse)[offset : offset + page_size]
            values = tuple(arrays.terms.get_term(int(end)) for end in ends)
            facts.append(PredicateFacts(name, values, int(count)))
    return facts


@dataclass(frozen=True)
class _RemoteFactReader:
    iri: str
    graph: KnowledgeGraph
    predicate: str | None
    page_size: int
    offset: int
    timeout: float | None

    async def fetch_direction(self, *, inverse: bool) -> list[PredicateFacts]:
        if self.predicate is not None:
            return await self.fetch_page(self.predicate, inverse=inverse)
        counted = await self.fetch_rows(
            build_counts_query(self.iri, inverse=inverse, limit=_MAX_COUNTED_STATEMENTS)
        )
        counts = {
            name.value: int(count.value)
            for name, count in counted[:_MAX_PREDICATES]
            if isinstance(name, NamedNode) and isinstance(count, Literal)
        }
        if not counts:
            return []
        sample_query = build_samples_query(
            self.iri, list(counts), inverse=inverse, rows_per_predicate=self.page_size
        )
        values = defaultdict[str, list[Term]](list)
        for name, value in await self.fetch_rows(sample_query):
            if isinstance(name, NamedNode) and value is not None:
                values[name.value].append(value)
        is_cut = sum(counts.values()) >= _MAX_COUNTED_STATEMENTS
        return [
            PredicateFacts(name, tuple(values[name]), count, is_cut)
            for name, count in counts.items()
        ]

    async def fetch_page(self, predicate: str, *, inverse: bool) -> list[PredicateFacts]:
        """Fetch a page of values of one predicate; one extra row shows if more follow."""
        link = f"?x <{predicate}> <{self.iri}>" if inverse else f"<{self.iri}> <{predicate}> ?x"
        page = f"LIMIT {self.page_size + 1} OFFSET {self.offset}"
        rows = await self.fetch_rows(f"SELECT DISTINCT ?x WHERE {{ {link} }} {page}")
        values = tuple(value for (value,) in rows[: self.page_size] if value is not None)
        if not values:
            return []
        return [
            PredicateFacts(predicate, values, self.offset + len(rows), len(rows) > self.page_size)
        ]

    async def fetch_rows(self, query: str) -> Sequence[Row]:
        return (await self.graph.endpoint.select(query, timeout=self.timeout)).rows
