"""Facts of one resource and links to it: by predicate, values in pages."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.answers.verbalize import descriptions_of, labels_of
from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.boundaries import build_counts_query, build_samples_query
from askgraph.graph.profile import ClassProfile
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.results import Row, Term
from askgraph.sparql.vocabulary import RDF_TYPE

_PREDICATES = 200  # that are told of, each way
_COUNTED = 20_000  # statements of a remote graph that are counted


@dataclass(frozen=True)
class Facts:
    """Some of the values of a predicate at a resource, or of the things that point at it.

    Of `total` values there are those from the page asked for; if `at_least`, there may be more.
    """

    predicate: str
    values: tuple[Term, ...]
    total: int
    at_least: bool = False


@dataclass(frozen=True)
class ResourceFacts:
    """A resource with its facts, both ways; `labels` name all IRIs in them."""

    iri: str
    description: str
    types: tuple[str, ...]
    outgoing: tuple[Facts, ...]
    incoming: tuple[Facts, ...]
    labels: Mapping[str, str]

    @property
    def label(self) -> str:
        """What the resource is called."""
        return self.labels.get(self.iri) or words_of_local_name(self.iri)


async def resource_facts(
    iri: str,
    graph: KnowledgeGraph,
    languages: Sequence[str],
    *,
    predicate: str | None = None,
    each: int = 20,
    offset: int = 0,
    timeout: float | None = None,
) -> ResourceFacts:
    """Return what a graph says of a resource: of each predicate `each` values from `offset` on.

    With `predicate`, its facts alone. Nothing at all is said of an IRI that the graph does not
    hold. Of a graph that lies here all is counted; a remote one is asked, in at most five queries
    of `timeout` seconds, and its first values come in its own order. Raises `QueryError` for text
    that is no IRI, and `ServiceError`.
    """
    for given in (iri, predicate or RDF_TYPE):
        try:
            NamedNode(given)
        except ValueError as problem:
            raise QueryError(f"{given!r} is no IRI: give one in full") from problem
    if graph.arrays is not None and graph.arrays.complete:
        ways = [
            _own(iri, graph.arrays, predicate, inverse, each, offset) for inverse in (False, True)
        ]
    else:
        asking = _Asking(iri, graph, predicate, each, offset, timeout)
        ways = [await asking.way(inverse=inverse) for inverse in (False, True)]
    outgoing, incoming = map(tuple, ways)
    types = [value for facts in outgoing if facts.predicate == RDF_TYPE for value in facts.values]
    classes = tuple(value.value for value in types if isinstance(value, NamedNode))
    labels = await labels_of(_iris(iri, *ways), graph, languages, timeout=timeout)
    told = await descriptions_of([iri], graph, languages, timeout=timeout)
    return ResourceFacts(iri, told.get(iri, ""), classes, outgoing, incoming, labels)


async def instances_of(
    cls: str, graph: KnowledgeGraph, *, limit: int, offset: int = 0, timeout: float | None = None
) -> Facts:
    """Return the instances of a class, as the facts of `rdf:type` that point at it."""
    found = await resource_facts(
        cls, graph, (), predicate=RDF_TYPE, each=limit, offset=offset, timeout=timeout
    )
    return next(iter(found.incoming), Facts(RDF_TYPE, (), 0))


def classes_of(iri: str, graph: KnowledgeGraph) -> list[ClassProfile]:
    """Return the classes of a thing, that with the fewest things first; none of a remote graph."""
    arrays = graph.arrays
    at = arrays.terms.find_iri(iri) if arrays is not None else None
    kind = arrays.get_predicate_number(RDF_TYPE) if arrays is not None else None
    if arrays is None or at is None or kind is None:
        return []
    nodes = arrays.step(np.array([at], dtype=np.int32), kind)
    own = {arrays.terms.get_value(int(one)) for one in nodes}
    found = [one for one in graph.profile.classes if one.iri in own]
    return sorted(found, key=lambda one: (one.instances, one.iri))


def some_instances(
    classes: Sequence[str], graph: KnowledgeGraph, *, each: int = 3
) -> dict[str, tuple[str, ...]]:
    """Return the IRIs of a few instances of each of some classes; none of a remote graph."""
    arrays = graph.arrays
    kind = arrays.get_predicate_number(RDF_TYPE) if arrays is not None else None
    if arrays is None or kind is None:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for cls in classes:
        at = arrays.terms.find_iri(cls)
        if at is not None:
            members = arrays.step(np.array([at], dtype=np.int32), kind, inverse=True)[: 10 * each]
            iris = [arrays.terms.get_value(int(m)) for m in members if arrays.terms.is_iri(int(m))]
            found[cls] = tuple(iris[:each])
    return found


def _iris(iri: str, *ways: Sequence[Facts]) -> Iterator[str]:
    """The IRIs that a reader meets, the values of many predicates in turns."""
    yield iri
    for way in ways:
        yield from (facts.predicate for facts in way)
    values = [facts.values for way in ways for facts in way]
    for turn in zip_longest(*values):
        yield from (value.value for value in turn if isinstance(value, NamedNode))


def _own(
    iri: str, arrays: GraphArrays, predicate: str | None, inverse: bool, each: int, offset: int
) -> list[Facts]:
    """The facts of a graph that lies here."""
    at = arrays.terms.find_iri(iri)
    if at is None:
        return []
    node = np.array([at], dtype=np.int32)
    numbers, counts = arrays.count_predicates(node, inverse=inverse)
    found: list[Facts] = []
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        name = arrays.get_predicate_iri(number)
        if predicate in (None, name) and len(found) < _PREDICATES:
            ends = arrays.step(node, number, inverse=inverse)[offset : offset + each]
            values = tuple(arrays.terms.get_term(int(end)) for end in ends)
            found.append(Facts(name, values, int(count)))
    return found


@dataclass(frozen=True)
class _Asking:
    """Asks a remote graph for the facts at a resource."""

    iri: str
    graph: KnowledgeGraph
    predicate: str | None
    each: int
    offset: int
    timeout: float | None

    async def way(self, *, inverse: bool) -> list[Facts]:
        if self.predicate is not None:
            return await self.one(self.predicate, inverse=inverse)
        counted = await self.rows(build_counts_query(self.iri, inverse=inverse, limit=_COUNTED))
        counts = {
            name.value: int(count.value)
            for name, count in counted[:_PREDICATES]
            if isinstance(name, NamedNode) and isinstance(count, Literal)
        }
        if not counts:
            return []
        few = build_samples_query(
            self.iri, list(counts), inverse=inverse, rows_per_predicate=self.each
        )
        values = defaultdict[str, list[Term]](list)
        for name, value in await self.rows(few):
            if isinstance(name, NamedNode) and value is not None:
                values[name.value].append(value)
        cut = sum(counts.values()) >= _COUNTED
        return [Facts(name, tuple(values[name]), count, cut) for name, count in counts.items()]

    async def one(self, predicate: str, *, inverse: bool) -> list[Facts]:
        """A page of one predicate's values; whether more follow is seen by one value more."""
        link = f"?x <{predicate}> <{self.iri}>" if inverse else f"<{self.iri}> <{predicate}> ?x"
        page = f"LIMIT {self.each + 1} OFFSET {self.offset}"
        rows = await self.rows(f"SELECT DISTINCT ?x WHERE {{ {link} }} {page}")
        values = tuple(value for (value,) in rows[: self.each] if value is not None)
        if not values:
            return []
        return [Facts(predicate, values, self.offset + len(rows), len(rows) > self.each)]

    async def rows(self, query: str) -> Sequence[Row]:
        return (await self.graph.endpoint.select(query, timeout=self.timeout)).rows
