"""The part of a remote graph that a question needs, fetched into arrays by a few batched queries.

    small graph      one query for everything
    entities         their edges, both ways; then the edges of the nodes reached
    values           what has them
    predicates       all their triples, or those between the nodes reached
    classes          their instances
    nodes reached    their classes and names

Blank nodes cannot be asked for again, so they are walked through in one query with what they hang
on, and are taken for others in every reply.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, NamedNode, Triple

from askgraph import deadline
from askgraph.endpoint import Endpoint
from askgraph.errors import ErrorReply, MalformedReply, ServiceError, TimedOut
from askgraph.rdf import vocabulary as v
from askgraph.rdf.statements import OwnTypes, triples_in, with_types
from askgraph.sparql.results import Row
from askgraph.traversal import GraphArrays, Seeds, build_arrays

_AT_ONCE = 4
_SECONDS = 20.0
_SHARE = 1 / 3  # of what a question has left, for a request


@dataclass
class Fetch:
    """Requests to an endpoint, and the triples that came.

    Of the `budget`, `reserve` requests are kept for later. `cut` is set if anything was left
    out: by the endpoint, by the budget, or by a request that failed (`failure` is the last one).
    """

    endpoint: Endpoint
    budget: int
    reserve: int = 0
    found: set[Triple] = field(default_factory=set)
    cut: bool = False
    failure: ServiceError | None = None
    _replies: int = 0
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def triples(self, query: str) -> Sequence[Triple]:
        """Fetch triples: of rows of five terms, the first three and the last three.

        A blank node is the same one within a reply, and another one in every other reply.
        """
        rows = await self.rows(query)
        self._replies += 1
        cells = (row[at : at + 3] for row in rows for at in range(0, len(row) - 2, 2))
        found = list(triples_in(cells, f"r{self._replies}x"))
        self.found.update(found)
        return found

    async def rows(self, query: str) -> Sequence[Row]:
        """Fetch rows; none if the budget is spent or the request failed."""
        if self.budget <= self.reserve:
            self.cut = True
            return ()
        self.budget -= 1
        async with self._slots:
            timeout = deadline.at_most(_SECONDS, share=_SHARE)
            try:
                result = await self.endpoint.select(query, timeout=timeout)
            except (TimedOut, ErrorReply, MalformedReply) as error:
                self.failure, self.cut = error, True
                return ()
        self.cut = self.cut or result.truncated is not None
        return result.rows


Counts = Mapping[str, tuple[int, int, int]]
"""By predicate IRI: its triples, subjects and objects."""

_SMALL = 9_000
_ROWS = 5_000
_PREDICATE_ROWS = 10_000
_BATCH = 200
_REACHED = 1_200
_HUB = 50
_DESCRIBING = 6


async def neighbourhood(
    endpoint: Endpoint,
    seeds: Seeds,
    *,
    triples: int,
    counts: Counts | None = None,
    naming: Sequence[str] = v.LABEL_PREDICATES,
    budget: int = 40,
    own_types: OwnTypes | None = None,
) -> GraphArrays:
    """Return the arrays of what lies around the seeds; `complete` if that is the whole graph.

    `triples` is the size of the graph, `counts` what is known of its predicates, `naming` the
    predicates that carry names, `own_types` those that say what things are here, by the standard
    ones. At most `budget` requests are made, four at a time; one that fails
    costs its own part. Raises `ServiceError` if all fail.
    """
    fetch = Fetch(endpoint, budget)
    if triples <= _SMALL:
        await fetch.triples(f"SELECT ?s ?p ?o {{ ?s ?p ?o }} LIMIT {2 * _SMALL}")
        if fetch.found and not fetch.cut:
            return build_arrays(with_types(fetch.found, own_types or {}))
    walk = _Walk(fetch, seeds, counts or {}, naming, (own_types or {}).get(v.RDF_TYPE, v.RDF_TYPE))
    await walk.first()
    await walk.second()
    await walk.described()
    if fetch.failure and not fetch.found:
        raise fetch.failure
    return build_arrays(with_types(fetch.found, own_types or {}), complete=False)


@dataclass
class _Walk:
    fetch: Fetch
    seeds: Seeds
    counts: Counts
    naming: Sequence[str]
    typing: str  # the predicate that says what things are
    reached: dict[str, int] = field(default_factory=dict)  # how near to the question
    blank: bool = False

    async def first(self) -> None:
        """Everything that hangs on the seeds themselves."""
        jobs: list[Coroutine[None, None, None]]
        jobs = [self._around(some) for some in _batches(self.seeds.entities, 20)]
        jobs += [self._holders(some) for some in _batches(self.seeds.literals, 50)]
        jobs += [self._instances(cls) for cls in self.seeds.classes[:6]]
        jobs += [self._all_of(some) for some in self._small_predicates()]
        await asyncio.gather(*jobs)

    async def second(self) -> None:
        """What hangs on the nodes reached, and blank nodes between them."""
        seeds = self.seeds.entities
        near = sorted(self.reached, key=lambda iri: -self.reached[iri])
        wanted = [iri for iri in near if iri not in seeds][:_REACHED]
        jobs = [self._through_blanks(seeds)] if self.blank and seeds else []
        jobs += [self._big_predicate(iri) for iri in self._big_predicates()]
        for some in _batches(wanted, _BATCH):
            jobs.append(self._edges(some, inverse=False, wide=False))
            jobs.append(self._edges(some, inverse=True, wide=False))
        self.fetch.reserve = _DESCRIBING
        await asyncio.gather(*jobs)
        if self.blank:
            rest = (self._through_blanks(some) for some in _batches(wanted, _BATCH))
            await asyncio.gather(*rest)
        self.fetch.reserve = 0

    async def described(self) -> None:
        """Classes and names of all nodes, as far as the budget goes."""
        nodes = dict.fromkeys(
            term.value
            for triple in self.fetch.found
            for term in (triple.subject, triple.object)
            if isinstance(term, NamedNode)
        )
        known = {
            triple.subject.value
            for triple in self.fetch.found
            if triple.predicate.value == self.typing and isinstance(triple.subject, NamedNode)
        }
        wanted = [iri for iri in nodes if iri not in known]
        wanted.sort(key=lambda iri: -self.reached.get(iri, 0))
        properties = _iris((self.typing, *self.naming))
        jobs = [
            self.fetch.triples(
                f"SELECT ?s ?p ?o {{ VALUES ?s {{ {_iris(some)} }} VALUES ?p {{ {properties} }} "
                f"?s ?p ?o }} LIMIT {_PREDICATE_ROWS}"
            )
            for some in _batches(wanted, 2 * _BATCH)
        ]
        await asyncio.gather(*jobs)

    async def _around(self, iris: Sequence[str]) -> None:
        await asyncio.gather(
            self._edges(iris, inverse=False, wide=True), self._edges(iris, inverse=True, wide=True)
        )

    async def _edges(self, iris: Sequence[str], *, inverse: bool, wide: bool) -> None:
        """Fetch edges of nodes; if these are many, those of each predicate apart."""
        at = "?o" if inverse else "?s"
        values = f"VALUES {at} {{ {_iris(iris)} }}"
        hubs = () if wide else self._hubs(inverse=inverse)
        no_types = (self.typing,) if inverse else ()
        without = _without((*hubs, *no_types))
        found = await self.fetch.triples(
            f"SELECT ?s ?p ?o {{ {values} ?s ?p ?o {without} }} LIMIT {_ROWS}"
        )
        self._reach(found, inverse=inverse)
        if wide and len(found) >= _ROWS:
            await self._each_predicate(values, without, inverse=inverse)

    async def _each_predicate(self, values: str, without: str, *, inverse: bool) -> None:
        """A hub: a few edges of every predicate, more of those that the question mentions."""
        rows = await self.fetch.rows(
            f"SELECT DISTINCT ?p {{ {values} ?s ?p ?o {without} }} LIMIT 200"
        )
        kinds = [row[0].value for row in rows if isinstance(row[0], NamedNode)]
        mentioned = [iri for iri in kinds if iri in self.seeds.predicates]
        parts = [_limited(values, iri, 100) for iri in kinds if iri not in mentioned]
        queries = [_limited(values, iri, _ROWS) for iri in mentioned]
        queries += [" UNION ".join(some) for some in _batches(parts, 25)]
        found = await asyncio.gather(
            *(self.fetch.triples(f"SELECT ?s ?p ?o {{ {query} }}") for query in queries)
        )
        for triples in found:
            self._reach(triples, inverse=inverse)

    async def _holders(self, literals: Sequence[str]) -> None:
        found = await self.fetch.triples(
            f"SELECT ?s ?p ?o {{ VALUES ?o {{ {' '.join(literals)} }} ?s ?p ?o }} LIMIT {_ROWS}"
        )
        self._reach(found, inverse=True)

    async def _instances(self, cls: str) -> None:
        found = await self.fetch.triples(
            f"SELECT ?s ?p ?o {{ VALUES (?p ?o) {{ (<{self.typing}> <{cls}>) }} ?s ?p ?o }} "
            f"LIMIT {_ROWS}"
        )
        for triple in found[: _REACHED // 2]:
            if isinstance(triple.subject, NamedNode):
                self.reached.setdefault(triple.subject.value, 0)

    async def _all_of(self, predicates: Sequence[str]) -> None:
        await self.fetch.triples(
            f"SELECT ?s ?p ?o {{ VALUES ?p {{ {_iris(predicates)} }} ?s ?p ?o }} "
            f"LIMIT {_PREDICATE_ROWS}"
        )

    async def _big_predicate(self, predicate: str) -> None:
        """Return the query for a frequent predicate between known nodes, or of linked classes."""
        bodies = [
            f"VALUES ?c {{ {_iris(self.seeds.classes)} }} ?s a ?c . ?s ?p ?o",
            f"VALUES ?c {{ {_iris(self.seeds.classes)} }} ?o a ?c . ?s ?p ?o",
        ]
        if not self.seeds.classes:
            near = _iris(list(self.reached)[:_BATCH])
            bodies = [f"VALUES {at} {{ {near} }} ?s ?p ?o" for at in ("?s", "?o")]
        values = f"VALUES ?p {{ <{predicate}> }}"
        await asyncio.gather(
            *(
                self.fetch.triples(f"SELECT ?s ?p ?o {{ {values} {body} }} LIMIT {_ROWS}")
                for body in bodies
            )
        )

    async def _through_blanks(self, iris: Sequence[str]) -> None:
        """Blank nodes next to nodes, with all that leaves them."""
        values = f"VALUES ?a {{ {_iris(iris)} }}"
        star = "FILTER(isBlank(?b)) ?b ?q ?c"
        both = await asyncio.gather(
            self.fetch.triples(
                f"SELECT ?a ?p ?b ?q ?c {{ {values} ?a ?p ?b . {star} }} LIMIT {_ROWS}"
            ),
            self.fetch.triples(
                f"SELECT ?x ?y ?b ?q ?c {{ {values} ?b ?p ?a . {star} OPTIONAL {{ ?x ?y ?b }} }} "
                f"LIMIT {_ROWS}"
            ),
        )
        for found in both:
            self._reach(found, inverse=False)

    def _reach(self, triples: Iterable[Triple], *, inverse: bool) -> None:
        for triple in triples:
            other = triple.subject if inverse else triple.object
            if isinstance(other, BlankNode):
                self.blank = True
            if isinstance(other, NamedNode) and triple.predicate.value != self.typing:
                mentioned = triple.predicate.value in self.seeds.predicates
                nearness = 2 if mentioned else 1
                self.reached[other.value] = max(nearness, self.reached.get(other.value, 0))

    def _hubs(self, *, inverse: bool) -> list[str]:
        """Predicates that lead from one node to very many, unless the question mentions them."""
        return [
            iri
            for iri, (triples, subjects, objects) in self.counts.items()
            if triples > _HUB * max(1, objects if inverse else subjects)
            and iri not in self.seeds.predicates
        ]

    def _small_predicates(self) -> list[list[str]]:
        """Predicates whose triples fit into a reply, together as far as they do."""
        together: list[list[str]] = []
        room = 0
        for iri in self.seeds.predicates:
            size = self.counts.get(iri, (_PREDICATE_ROWS // 4, 1, 1))[0]
            if size > _PREDICATE_ROWS:
                continue
            if size > room:
                together.append([])
                room = _PREDICATE_ROWS
            together[-1].append(iri)
            room -= size
        return together

    def _big_predicates(self) -> list[str]:
        return [
            iri for iri in self.seeds.predicates if self.counts.get(iri, (0,))[0] > _PREDICATE_ROWS
        ][:4]


def _iris(iris: Iterable[str]) -> str:
    return " ".join(f"<{iri}>" for iri in iris)


def _without(predicates: Sequence[str]) -> str:
    listed = ", ".join(f"<{iri}>" for iri in predicates)
    return f"FILTER(?p NOT IN ({listed}))" if listed else ""


def _limited(values: str, predicate: str, limit: int) -> str:
    inner = f"{values} VALUES ?p {{ <{predicate}> }} ?s ?p ?o"
    return f"{{ SELECT ?s ?p ?o {{ {inner} }} LIMIT {limit} }}"


def _batches(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]
