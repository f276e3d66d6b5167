"""Fetch the part of a remote graph that a question needs, in a few batched queries.

    small graph      one query for everything
    entities         their edges in both directions; then the edges of the nodes reached
    values           the subjects that have them
    predicates       all their triples, or those between the nodes reached
    classes          their instances
    nodes reached    their classes and names

Blank nodes cannot be queried again, so that one query fetches them with their surroundings; they
are different nodes in each reply.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph import deadline
from askgraph.endpoint import Endpoint
from askgraph.errors import ErrorReply, MalformedReply, ServiceError, TimedOut
from askgraph.graph.arrays import GraphArrays, Seeds, build_arrays
from askgraph.index.name_search import format_iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import OwnPredicates, add_standard_triples, build_triples
from askgraph.sparql.results import Row

_MAX_CONCURRENT_REQUESTS_COUNT = 4
_MAX_REQUEST_SECONDS = 20.0
_REQUEST_SHARE = 1 / 3  # part of a question's remaining time for one request
_MAX_REQUEST_ROWS = 9_900  # rows of a request: below the usual cap of servers
_MAX_REQUEST_PARTS = 100  # sub-selects of a request: at 200 the process of Virtuoso 7.2 ends
_MAX_CACHED_TRIPLES = 200_000  # triples cached for later questions, about 300 bytes each


@dataclass(frozen=True)
class RequestPart:
    """A part of a request."""

    body: str  # patterns that bind ?s, ?p and ?o
    rows: int  # maximum number of rows


@dataclass
class PartCache:
    """Results of request parts for later questions; the least recently used are evicted."""

    _triples: OrderedDict[RequestPart, Sequence[Triple]] = field(default_factory=OrderedDict)
    _size: int = 0

    def get(self, part: RequestPart) -> Sequence[Triple] | None:
        """Return the cached triples of a part, or None."""
        if part in self._triples:
            self._triples.move_to_end(part)
        return self._triples.get(part)

    def store(self, part: RequestPart, triples: Sequence[Triple]) -> None:
        """Cache the triples of a part, unless they have blank nodes: these change per reply."""
        ends = (end for triple in triples for end in (triple.subject, triple.object))
        if part in self._triples or any(isinstance(end, BlankNode) for end in ends):
            return
        self._triples[part] = triples
        self._size += len(triples) + 1
        while self._size > _MAX_CACHED_TRIPLES:
            self._size -= len(self._triples.popitem(last=False)[1]) + 1


@dataclass
class TripleFetcher:
    """Sends requests to an endpoint and collects the triples."""

    endpoint: Endpoint
    budget: int  # number of requests that may still be sent
    cache: PartCache = field(default_factory=PartCache)  # results of earlier questions
    reserve: int = 0  # requests of the budget to keep for later
    all_triples: set[Triple] = field(default_factory=set)  # all triples so far
    cut: bool = False  # whether the endpoint, the budget or a failed request left out anything
    failure: ServiceError | None = None  # the error of the last failed request
    _replies: int = 0
    _slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_MAX_CONCURRENT_REQUESTS_COUNT)
    )

    async def fetch_triples(self, query: str) -> Sequence[Triple]:
        """Fetch triples; rows of five terms give two: the first three terms and the last three.

        Blank nodes are the same within a reply and different in other replies.
        """
        rows, _ = await self._select_rows(query)
        return self._collect(
            row[start : start + 3] for row in rows for start in range(0, len(row) - 2, 2)
        )

    async def fetch_parts(self, parts: Iterable[RequestPart]) -> list[Sequence[Triple]]:
        """Fetch the triples of each part, in as few requests as their rows permit.

        Cached parts are not requested.
        """
        parts = list(parts)
        results = {part: cached for part in parts if (cached := self.cache.get(part)) is not None}
        for triples in results.values():
            self.all_triples.update(triples)
        new_results = await asyncio.gather(
            *(
                self._fetch_batch(batch)
                for batch in _pack_parts(p for p in parts if p not in results)
            )
        )
        for result in new_results:
            results |= result
        return [results.get(part, ()) for part in parts]

    async def _fetch_batch(
        self, parts: Sequence[RequestPart]
    ) -> dict[RequestPart, Sequence[Triple]]:
        """Fetch parts in one request; in two if the server failed or cut it off."""
        rows, is_complete = await self._select_rows(_build_union_query(parts))
        rows_by_part: dict[int, list[Row]] = {}
        for row in rows:
            index = int(row[3].value) if len(row) > 3 and isinstance(row[3], Literal) else 0
            rows_by_part.setdefault(index, []).append(row[:3])
        is_complete = is_complete and (len(parts) == 1 or len(parts) in rows_by_part)
        results = {
            part: self._collect(rows_by_part.get(index, ())) for index, part in enumerate(parts)
        }
        if is_complete:
            for part, triples in results.items():
                self.cache.store(part, triples)
        elif len(parts) > 1:
            middle = len(parts) // 2
            halves = await asyncio.gather(
                self._fetch_batch(parts[:middle]), self._fetch_batch(parts[middle:])
            )
            results |= {
                part: triples
                for half_results in halves
                for part, triples in half_results.items()
                if triples
            }
        return results

    def _collect(self, cells: Iterable[Row]) -> Sequence[Triple]:
        triples = list(build_triples(cells, f"r{self._replies}x"))
        self.all_triples.update(triples)
        return triples

    async def _select_rows(self, query: str) -> tuple[Sequence[Row], bool]:
        """Fetch rows, and whether they are complete; none if the budget is spent or it failed."""
        if self.budget <= self.reserve:
            self.cut = True
            return (), False
        self.budget -= 1
        self._replies += 1
        async with self._slots:
            timeout = deadline.clamp_timeout(_MAX_REQUEST_SECONDS, share=_REQUEST_SHARE)
            try:
                result = await self.endpoint.select(query, timeout=timeout)
            except (TimedOut, ErrorReply, MalformedReply) as error:
                self.failure, self.cut = error, True
                return (), False
        self.cut = self.cut or result.truncated is not None
        return result.rows, result.truncated is None


def _pack_parts(parts: Iterable[RequestPart]) -> Iterator[list[RequestPart]]:
    batch: list[RequestPart] = []
    for part in dict.fromkeys(parts):
        if batch and (
            len(batch) == _MAX_REQUEST_PARTS
            or sum(packed_part.rows for packed_part in batch) + part.rows > _MAX_REQUEST_ROWS
        ):
            yield batch
            batch = []
        batch.append(part)
    if batch:
        yield batch


def _build_union_query(parts: Sequence[RequestPart]) -> str:
    if len(parts) == 1:
        return f"SELECT ?s ?p ?o {{ {parts[0].body} }} LIMIT {parts[0].rows}"
    subqueries = (
        f"{{ SELECT ?s ?p ?o ({index} AS ?part) {{ {part.body} }} LIMIT {part.rows} }}"
        for index, part in enumerate(parts)
    )
    # Its one row is missing if a server cuts off without a word.
    end = f"{{ SELECT ?s ?p ?o ({len(parts)} AS ?part) {{ ?s ?p ?o }} LIMIT 1 }}"
    return f"SELECT ?s ?p ?o ?part {{ {' UNION '.join((*subqueries, end))} }}"


PredicateCounts = Mapping[str, tuple[int, int, int]]
"""Numbers of triples, subjects and objects by predicate IRI."""

_MAX_COMPLETE_TRIPLES = 9_000
_MAX_ENTITY_EDGES = 4_000  # edges around all entities, per direction
_MIN_EDGES_PER_ENTITY, _MAX_EDGES_PER_ENTITY = 100, 1_000  # of one entity
_MAX_HUB_EDGES_PER_PREDICATE = 100  # edges of a hub
_MAX_HUB_PREDICATES = 60  # predicates to query at a hub
_MAX_SUBJECTS_PER_VALUE = 100  # of a value
_MAX_INSTANCES = 500
_MAX_CLASSES = 6
_MAX_PREDICATE_ROWS = 2_000
_SAMPLE_ROWS = 500  # of a frequent predicate
_MAX_REACHED_NODES = 250
_MAX_EDGES = 4_900
_MIN_HUB_RATIO = 50
# Predicates to query one by one; total names of nodes.
_MAX_INCOMING_PREDICATES, _MAX_LISTED_NODES = 40, 400
_DESCRIPTION_REQUESTS_COUNT = 2


async def fetch_neighbourhood(
    endpoint: Endpoint,
    seeds: Seeds,
    *,
    triples: int,
    counts: PredicateCounts | None = None,
    naming: Sequence[str] = v.LABEL_PREDICATES,
    budget: int = 16,
    links: Sequence[str] = (),
    own_types: OwnPredicates | None = None,
    kept: PartCache | None = None,
) -> GraphArrays:
    """Return the arrays around the seeds; `complete` if they hold the complete graph.

    A failed request loses only its own part.

    Args:
        seeds: The terms of the question.
        triples: Size of the graph.
        counts: Known statistics of predicates.
        naming: Predicates of names.
        budget: Maximum number of requests; four run at a time.
        links: Predicates between resources.
        own_types: The graph's own type predicates, by the standard ones.
        kept: Cache of earlier results.

    Raises:
        ServiceError: All requests fail.
    """
    requests = TripleFetcher(endpoint, budget, kept or PartCache())
    if triples <= _MAX_COMPLETE_TRIPLES:
        await requests.fetch_triples(
            f"SELECT ?s ?p ?o {{ ?s ?p ?o }} LIMIT {2 * _MAX_COMPLETE_TRIPLES}"
        )
        if requests.all_triples and not requests.cut:
            return build_arrays(add_standard_triples(requests.all_triples, own_types or {}))
    typing = (own_types or {}).get(v.RDF_TYPE, v.RDF_TYPE)
    fetcher = _NeighbourhoodFetcher(requests, seeds, counts or {}, naming, links, typing)
    await fetcher.fetch_seeds()
    await fetcher.fetch_reached()
    await fetcher.fetch_descriptions()
    if requests.failure and not requests.all_triples:
        raise requests.failure
    return build_arrays(add_standard_triples(requests.all_triples, own_types or {}), complete=False)


@dataclass
class _NeighbourhoodFetcher:
    """Decides what to request around the seeds."""

    requests: TripleFetcher
    seeds: Seeds
    counts: PredicateCounts
    naming: Sequence[str]
    links: Sequence[str]  # predicates that lead to things
    type_predicate: str  # the predicate that gives the class of a thing
    reached: dict[str, int] = field(default_factory=dict)  # how near to the question
    has_blanks: bool = False  # whether any blank node was reached

    async def fetch_seeds(self) -> None:
        """Fetch the edges of the seeds; at hubs only a few edges per predicate."""
        seeds = self.seeds
        edge_limit = _MAX_EDGES_PER_ENTITY
        while (
            edge_limit > _MIN_EDGES_PER_ENTITY
            and edge_limit * len(seeds.entities) > _MAX_ENTITY_EDGES
        ):
            edge_limit = max(_MIN_EDGES_PER_ENTITY, edge_limit // 3)
        around = [(iri, inverse) for iri in seeds.entities for inverse in (False, True)]
        instances = [
            RequestPart(
                f"VALUES (?p ?o) {{ (<{self.type_predicate}> <{cls}>) }} ?s ?p ?o", _MAX_INSTANCES
            )
            for cls in seeds.classes[:_MAX_CLASSES]
        ]
        results = await self._fetch_and_reach(
            [
                *(
                    (
                        RequestPart(
                            self._build_edges_pattern((iri,), inverse=is_inverse), edge_limit
                        ),
                        is_inverse,
                    )
                    for iri, is_inverse in around
                ),
                *(
                    (
                        RequestPart(f"VALUES ?o {{ {literal} }} ?s ?p ?o", _MAX_SUBJECTS_PER_VALUE),
                        True,
                    )
                    for literal in seeds.literals
                ),
                *((part, None) for part in instances),
                *(
                    (RequestPart(f"VALUES ?p {{ <{iri}> }} ?s ?p ?o", size), None)
                    for iri, size in self._iterate_small_predicates()
                ),
            ]
        )
        start = len(around) + len(seeds.literals)
        for triples in results[start : start + len(instances)]:
            for triple in triples[: _MAX_REACHED_NODES // 8]:
                if isinstance(triple.subject, NamedNode):
                    self.reached.setdefault(triple.subject.value, 0)
        hub_results = zip(around, results, strict=False)
        await self._sample_hubs([hub for hub, triples in hub_results if len(triples) >= edge_limit])

    async def _fetch_and_reach(
        self, parts: Sequence[tuple[RequestPart, bool | None]]
    ) -> list[Sequence[Triple]]:
        """Fetch parts and mark their ends, forwards or `inverse`, as reached (None: do not)."""
        results = await self.requests.fetch_parts([part for part, _ in parts])
        for (_, inverse), triples in zip(parts, results, strict=True):
            if inverse is not None:
                self._mark_reached(triples, inverse=inverse)
        return results

    async def _sample_hubs(self, hubs: Sequence[tuple[str, bool]]) -> None:
        """Fetch a few edges of each mentioned or frequent predicate at hubs."""
        # Edges to instances of a mentioned class are fetched completely, up to a limit.
        candidates = dict.fromkeys([*self.seeds.predicates, *self.counts])
        predicates = [iri for iri in candidates if iri != self.type_predicate][:_MAX_HUB_PREDICATES]
        class_parts, predicate_parts = [], list[tuple[RequestPart, bool | None]]()
        for iri, inverse in hubs:
            edges = self._build_edges_pattern((iri,), inverse=inverse)
            end = "?s" if inverse else "?o"
            for cls in self.seeds.classes[:_MAX_CLASSES]:
                body = f"{edges} . {end} <{self.type_predicate}> <{cls}>"
                class_parts.append((RequestPart(body, _MAX_INSTANCES), inverse, cls))
            for predicate in predicates:
                body = f"VALUES ?p {{ <{predicate}> }} {edges}"
                predicate_parts.append((RequestPart(body, _MAX_HUB_EDGES_PER_PREDICATE), inverse))
        results = await self._fetch_and_reach(
            [*((part, inverse) for part, inverse, _ in class_parts), *predicate_parts]
        )
        for (_, inverse, cls), triples in zip(class_parts, results, strict=False):
            self.requests.all_triples.update(
                Triple(end, NamedNode(self.type_predicate), NamedNode(cls))
                for end in (triple.subject if inverse else triple.object for triple in triples)
                if isinstance(end, NamedNode)
            )

    async def fetch_reached(self) -> None:
        """Fetch the edges of the nodes reached, and blank nodes between them."""
        seeds = self.seeds.entities
        sorted_nodes = sorted(self.reached, key=lambda iri: -self.reached[iri])
        nodes = [iri for iri in sorted_nodes if iri not in seeds][:_MAX_REACHED_NODES]
        frequent = [
            iri
            for iri in self.seeds.predicates
            if self.counts.get(iri, (0,))[0] > _MAX_PREDICATE_ROWS
        ]
        parts: list[tuple[RequestPart, bool | None]] = [
            (part, None) for iri in frequent[:4] for part in self._split_big_predicate(iri)
        ]
        mentioned_nodes = [iri for iri in nodes if self.reached[iri] > 1]
        other_nodes = [iri for iri in nodes if self.reached[iri] <= 1]
        for node_group in filter(None, (mentioned_nodes, other_nodes)):
            edges = self._build_edges_pattern(
                node_group, self._find_hub_predicates(inverse=False), inverse=False
            )
            parts.append((RequestPart(edges, _MAX_EDGES), False))
            parts += [(part, True) for part in self._build_incoming_parts(node_group)]
        self.requests.reserve = _DESCRIPTION_REQUESTS_COUNT
        tasks = [self._fetch_blanks(seeds)] if self.has_blanks and seeds else []
        await asyncio.gather(self._fetch_and_reach(parts), *tasks)
        if self.has_blanks and nodes:
            await self._fetch_blanks(nodes)
        self.requests.reserve = 0

    async def fetch_descriptions(self) -> None:
        """Fetch classes and names of the most relevant nodes."""
        nodes, typed_nodes = dict[str, None](), set[str]()
        for triple in self.requests.all_triples:
            ends = (triple.subject, triple.object)
            nodes |= dict.fromkeys(end.value for end in ends if isinstance(end, NamedNode))
            if triple.predicate.value == self.type_predicate and isinstance(
                triple.subject, NamedNode
            ):
                typed_nodes.add(triple.subject.value)
        untyped_nodes = [iri for iri in nodes if iri not in typed_nodes]
        untyped_nodes.sort(key=lambda iri: -self.reached.get(iri, 0))
        subjects = format_iris(untyped_nodes[:_MAX_REACHED_NODES])
        properties = format_iris((self.type_predicate, *self.naming))
        body = f"VALUES ?s {{ {subjects} }} VALUES ?p {{ {properties} }} ?s ?p ?o"
        await self.requests.fetch_parts([RequestPart(body, _MAX_EDGES)] if untyped_nodes else [])

    def _split_big_predicate(self, predicate: str) -> list[RequestPart]:
        """Return the parts for a frequent predicate at reached nodes or mentioned classes."""
        bodies = [
            f"VALUES ?c {{ {format_iris(self.seeds.classes)} }} ?s a ?c . ?s ?p ?o",
            f"VALUES ?c {{ {format_iris(self.seeds.classes)} }} ?o a ?c . ?s ?p ?o",
        ]
        if not self.seeds.classes:
            nodes = format_iris(list(self.reached)[: _MAX_REACHED_NODES // 2])
            bodies = [f"VALUES {variable} {{ {nodes} }} ?s ?p ?o" for variable in ("?s", "?o")]
        return [
            RequestPart(f"VALUES ?p {{ <{predicate}> }} {body}", _SAMPLE_ROWS) for body in bodies
        ]

    async def _fetch_blanks(self, nodes: Sequence[str]) -> None:
        values = f"VALUES ?a {{ {format_iris(nodes)} }}"
        star = "FILTER(isBlank(?b)) ?b ?q ?c"
        results = await asyncio.gather(
            self.requests.fetch_triples(
                f"SELECT ?a ?p ?b ?q ?c {{ {values} ?a ?p ?b . {star} }} LIMIT {_MAX_EDGES}"
            ),
            self.requests.fetch_triples(
                f"SELECT ?x ?y ?b ?q ?c {{ {values} ?b ?p ?a . {star} OPTIONAL {{ ?x ?y ?b }} }} "
                f"LIMIT {_MAX_EDGES}"
            ),
        )
        for triples in results:
            self._mark_reached(triples, inverse=False)

    def _mark_reached(self, triples: Iterable[Triple], *, inverse: bool) -> None:
        for triple in triples:
            end = triple.subject if inverse else triple.object
            if isinstance(end, BlankNode):
                self.has_blanks = True
            if isinstance(end, NamedNode) and triple.predicate.value != self.type_predicate:
                relevance = 2 if triple.predicate.value in self.seeds.predicates else 1
                self.reached[end.value] = max(relevance, self.reached.get(end.value, 0))

    def _find_hub_predicates(self, *, inverse: bool) -> list[str]:
        """Return the predicates from one node to very many, except mentioned ones."""
        return [
            iri
            for iri, (triples, subjects, objects) in self.counts.items()
            if triples > _MIN_HUB_RATIO * max(1, objects if inverse else subjects)
            and iri not in self.seeds.predicates
        ]

    def _iterate_small_predicates(self) -> Iterator[tuple[str, int]]:
        """Yield the mentioned predicates whose triples fit into a reply, with a row limit."""
        for iri in self.seeds.predicates:
            size = self.counts.get(iri, (_MAX_PREDICATE_ROWS, 1, 1))[0]
            if 0 < size <= _MAX_PREDICATE_ROWS:
                yield iri, size + 1  # one more row than there are is no cap

    def _build_edges_pattern(
        self, nodes: Sequence[str], excluded_predicates: Sequence[str] = (), *, inverse: bool
    ) -> str:
        """Return patterns for the edges of nodes, except some predicates and incoming types."""
        variable = "?o" if inverse else "?s"
        excluded_predicates = (
            (*excluded_predicates, self.type_predicate) if inverse else excluded_predicates
        )
        excluded = ", ".join(f"<{iri}>" for iri in excluded_predicates)
        condition = f" FILTER(?p NOT IN ({excluded}))" if excluded else ""
        return f"VALUES {variable} {{ {format_iris(nodes)} }} ?s ?p ?o{condition}"

    def _build_incoming_parts(self, nodes: Sequence[str]) -> list[RequestPart]:
        """Return the parts for incoming edges of nodes: by predicate, if there are few."""
        # Object and predicate together are fast to look up; some servers scan everything for an
        # object alone.
        hubs = self._find_hub_predicates(inverse=True)
        incoming_predicates = [iri for iri in self.links if iri not in (*hubs, self.type_predicate)]
        if not 0 < len(incoming_predicates) <= _MAX_INCOMING_PREDICATES:
            return [RequestPart(self._build_edges_pattern(nodes, hubs, inverse=True), _MAX_EDGES)]
        listed_nodes = format_iris(nodes[: _MAX_LISTED_NODES // len(incoming_predicates)])
        row_limit = _MAX_EDGES // len(incoming_predicates)
        return [
            RequestPart(
                f"VALUES ?o {{ {listed_nodes} }} VALUES ?p {{ <{iri}> }} ?s ?p ?o", row_limit
            )
            for iri in incoming_predicates
        ]
