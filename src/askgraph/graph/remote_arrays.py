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
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph import deadline
from askgraph.endpoint import Endpoint
from askgraph.errors import ErrorReply, MalformedReply, ServiceError, TimedOut
from askgraph.graph.arrays import GraphArrays, Seeds, build_arrays
from askgraph.index.name_search import iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import OwnTypes, triples_in, with_types
from askgraph.sparql.results import Row

_AT_ONCE = 4
_SECONDS = 20.0
_SHARE = 1 / 3  # of what a question has left, for a request
_TOGETHER = 9_900  # rows of a request: below the usual cap of servers
_PARTS = 100  # sub-selects of a request: at 200 the process of Virtuoso 7.2 ends
_KEPT = 200_000  # triples kept for later questions, of some 300 bytes each


@dataclass(frozen=True)
class Part:
    """A part of a request: patterns that bind ?s, ?p and ?o, and the most rows of them."""

    body: str
    rows: int


@dataclass
class Kept:
    """What parts of requests gave, kept for later questions; those unused for longest go first."""

    _found: OrderedDict[Part, Sequence[Triple]] = field(default_factory=OrderedDict)
    _size: int = 0

    def get(self, part: Part) -> Sequence[Triple] | None:
        """Return what a part gave, if it is kept."""
        if part in self._found:
            self._found.move_to_end(part)
        return self._found.get(part)

    def put(self, part: Part, found: Sequence[Triple]) -> None:
        """Keep what a part gave; blank nodes would be others in the next reply."""
        ends = (end for triple in found for end in (triple.subject, triple.object))
        if part in self._found or any(isinstance(end, BlankNode) for end in ends):
            return
        self._found[part] = found
        self._size += len(found) + 1
        while self._size > _KEPT:
            self._size -= len(self._found.popitem(last=False)[1]) + 1


@dataclass
class Fetch:
    """Requests to an endpoint, and the triples that came.

    Of the `budget`, `reserve` requests are kept for later. `cut` is set if anything was left
    out: by the endpoint, by the budget, or by a request that failed (`failure` is the last one).
    """

    endpoint: Endpoint
    budget: int
    kept: Kept = field(default_factory=Kept)
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
        rows, _ = await self._rows(query)
        return self._take(row[at : at + 3] for row in rows for at in range(0, len(row) - 2, 2))

    async def parts(self, parts: Iterable[Part]) -> list[Sequence[Triple]]:
        """Fetch the triples of each part, in as few requests as their rows allow.

        Parts that are kept from earlier are not asked for.
        """
        parts = list(parts)
        found = {part: known for part in parts if (known := self.kept.get(part)) is not None}
        for triples in found.values():
            self.found.update(triples)
        asked = await asyncio.gather(
            *(self._together(some) for some in _packed(p for p in parts if p not in found))
        )
        for one in asked:
            found |= one
        return [found.get(part, ()) for part in parts]

    async def _together(self, parts: Sequence[Part]) -> dict[Part, Sequence[Triple]]:
        """Ask for parts in one request; in two if the server failed or cut it off."""
        rows, whole = await self._rows(_united(parts))
        mine: dict[int, list[Row]] = {}
        for row in rows:
            at = int(row[3].value) if len(row) > 3 and isinstance(row[3], Literal) else 0
            mine.setdefault(at, []).append(row[:3])
        whole = whole and (len(parts) == 1 or len(parts) in mine)
        found = {part: self._take(mine.get(at, ())) for at, part in enumerate(parts)}
        if whole:
            for part, triples in found.items():
                self.kept.put(part, triples)
        elif len(parts) > 1:
            half = len(parts) // 2
            both = await asyncio.gather(self._together(parts[:half]), self._together(parts[half:]))
            found |= {part: some for one in both for part, some in one.items() if some}
        return found

    def _take(self, cells: Iterable[Row]) -> Sequence[Triple]:
        found = list(triples_in(cells, f"r{self._replies}x"))
        self.found.update(found)
        return found

    async def _rows(self, query: str) -> tuple[Sequence[Row], bool]:
        """Fetch rows, and whether these are all; none if the budget is spent or it failed."""
        if self.budget <= self.reserve:
            self.cut = True
            return (), False
        self.budget -= 1
        self._replies += 1
        async with self._slots:
            timeout = deadline.at_most(_SECONDS, share=_SHARE)
            try:
                result = await self.endpoint.select(query, timeout=timeout)
            except (TimedOut, ErrorReply, MalformedReply) as error:
                self.failure, self.cut = error, True
                return (), False
        self.cut = self.cut or result.truncated is not None
        return result.rows, result.truncated is None


def _packed(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Put parts together as far as their rows fit into one reply, and they into a request."""
    together: list[Part] = []
    for part in dict.fromkeys(parts):
        full = len(together) == _PARTS
        if together and (full or sum(one.rows for one in together) + part.rows > _TOGETHER):
            yield together
            together = []
        together.append(part)
    if together:
        yield together


def _united(parts: Sequence[Part]) -> str:
    if len(parts) == 1:
        return f"SELECT ?s ?p ?o {{ {parts[0].body} }} LIMIT {parts[0].rows}"
    each = (
        f"{{ SELECT ?s ?p ?o ({at} AS ?part) {{ {part.body} }} LIMIT {part.rows} }}"
        for at, part in enumerate(parts)
    )
    # Its one row is missing if a server cuts off without a word.
    end = f"{{ SELECT ?s ?p ?o ({len(parts)} AS ?part) {{ ?s ?p ?o }} LIMIT 1 }}"
    return f"SELECT ?s ?p ?o ?part {{ {' UNION '.join((*each, end))} }}"


Counts = Mapping[str, tuple[int, int, int]]
"""By predicate IRI: its triples, subjects and objects."""

_SMALL = 9_000
_AROUND = 4_000  # edges around all entities, each way
_LEAST_EACH, _MOST_EACH = 100, 1_000  # of one entity
_OF_A_PREDICATE = 100  # edges of a hub
_PREDICATES = 60  # that are asked for at a hub
_HOLDERS = 100  # of a value
_INSTANCES = 500
_CLASSES = 6
_PREDICATE_ROWS = 2_000
_SAMPLE = 500  # of a frequent predicate
_REACHED = 250
_EDGES = 4_900
_HUB = 50
_LEADING, _NAMED = 40, 400  # predicates that are asked for one by one; names of nodes in all
_DESCRIBING = 2


async def neighbourhood(
    endpoint: Endpoint,
    seeds: Seeds,
    *,
    triples: int,
    counts: Counts | None = None,
    naming: Sequence[str] = v.LABEL_PREDICATES,
    budget: int = 16,
    links: Sequence[str] = (),
    own_types: OwnTypes | None = None,
    kept: Kept | None = None,
) -> GraphArrays:
    """Return the arrays of what lies around the seeds; `complete` if that is the whole graph.

    `triples` is the size of the graph, `counts` what is known of its predicates, `naming` the
    predicates that carry names, `links` those that lead to things, `own_types` those that say what
    things are here, by the standard ones. At most `budget` requests are made, four at a time; one
    that fails costs its own part. What was `kept` of earlier questions is not asked again. Raises
    `ServiceError` if all fail.
    """
    fetch = Fetch(endpoint, budget, kept or Kept())
    if triples <= _SMALL:
        await fetch.triples(f"SELECT ?s ?p ?o {{ ?s ?p ?o }} LIMIT {2 * _SMALL}")
        if fetch.found and not fetch.cut:
            return build_arrays(with_types(fetch.found, own_types or {}))
    typing = (own_types or {}).get(v.RDF_TYPE, v.RDF_TYPE)
    walk = _Walk(fetch, seeds, counts or {}, naming, links, typing)
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
    links: Sequence[str]  # predicates that lead to things
    typing: str  # the predicate that says what things are
    reached: dict[str, int] = field(default_factory=dict)  # how near to the question
    blank: bool = False

    async def first(self) -> None:
        """Everything that hangs on the seeds themselves; of hubs a few edges a predicate."""
        seeds = self.seeds
        each = _MOST_EACH
        while each > _LEAST_EACH and each * len(seeds.entities) > _AROUND:
            each = max(_LEAST_EACH, each // 3)
        around = [(iri, inverse) for iri in seeds.entities for inverse in (False, True)]
        instances = [
            Part(f"VALUES (?p ?o) {{ (<{self.typing}> <{cls}>) }} ?s ?p ?o", _INSTANCES)
            for cls in seeds.classes[:_CLASSES]
        ]
        found = await self._ask(
            [
                *((Part(self._edges((iri,), inverse=inverse), each), inverse)
                  for iri, inverse in around),
                *((Part(f"VALUES ?o {{ {one} }} ?s ?p ?o", _HOLDERS), True)
                  for one in seeds.literals),
                *((part, None) for part in instances),
                *((Part(f"VALUES ?p {{ <{iri}> }} ?s ?p ?o", size), None)
                  for iri, size in self._small()),
            ]
        )  # fmt: skip
        start = len(around) + len(seeds.literals)
        for triples in found[start : start + len(instances)]:
            for triple in triples[: _REACHED // 8]:
                if isinstance(triple.subject, NamedNode):
                    self.reached.setdefault(triple.subject.value, 0)
        both = zip(around, found, strict=False)
        await self._sample([hub for hub, triples in both if len(triples) >= each])

    async def _ask(self, parts: Sequence[tuple[Part, bool | None]]) -> list[Sequence[Triple]]:
        """Fetch parts; what they lead to, forwards or `inverse`, is reached (None: it is not)."""
        found = await self.fetch.parts([part for part, _ in parts])
        for (_, inverse), triples in zip(parts, found, strict=True):
            if inverse is not None:
                self._reach(triples, inverse=inverse)
        return found

    async def _sample(self, hubs: Sequence[tuple[str, bool]]) -> None:
        """A few edges of every predicate at a hub, of those that are mentioned and frequent.

        All that lead to a class that is mentioned, as far as they are not too many.
        """
        known = dict.fromkeys([*self.seeds.predicates, *self.counts])
        predicates = [iri for iri in known if iri != self.typing][:_PREDICATES]
        met, sampled = [], list[tuple[Part, bool | None]]()
        for iri, inverse in hubs:
            edges, end = self._edges((iri,), inverse=inverse), "?s" if inverse else "?o"
            for cls in self.seeds.classes[:_CLASSES]:
                body = f"{edges} . {end} <{self.typing}> <{cls}>"
                met.append((Part(body, _INSTANCES), inverse, cls))
            for predicate in predicates:
                body = f"VALUES ?p {{ <{predicate}> }} {edges}"
                sampled.append((Part(body, _OF_A_PREDICATE), inverse))
        found = await self._ask([*((part, inverse) for part, inverse, _ in met), *sampled])
        for (_, inverse, cls), triples in zip(met, found, strict=False):
            ends = (triple.subject if inverse else triple.object for triple in triples)
            self.fetch.found.update(
                Triple(end, NamedNode(self.typing), NamedNode(cls))
                for end in ends
                if isinstance(end, NamedNode)
            )

    async def second(self) -> None:
        """What hangs on the nodes reached, and blank nodes between them."""
        seeds = self.seeds.entities
        near = sorted(self.reached, key=lambda iri: -self.reached[iri])
        wanted = [iri for iri in near if iri not in seeds][:_REACHED]
        frequent = [
            iri for iri in self.seeds.predicates if self.counts.get(iri, (0,))[0] > _PREDICATE_ROWS
        ]
        parts: list[tuple[Part, bool | None]] = [
            (part, None) for iri in frequent[:4] for part in self._big_predicate(iri)
        ]
        mentioned = [iri for iri in wanted if self.reached[iri] > 1]
        rest = [iri for iri in wanted if self.reached[iri] <= 1]
        for some in filter(None, (mentioned, rest)):
            edges = self._edges(some, self._hubs(inverse=False), inverse=False)
            parts.append((Part(edges, _EDGES), False))
            parts += [(part, True) for part in self._into(some)]
        self.fetch.reserve = _DESCRIBING
        walks = [self._through_blanks(seeds)] if self.blank and seeds else []
        await asyncio.gather(self._ask(parts), *walks)
        if self.blank and wanted:
            await self._through_blanks(wanted)
        self.fetch.reserve = 0

    async def described(self) -> None:
        """Classes and names of the nodes that are nearest."""
        nodes, typed = dict[str, None](), set[str]()
        for triple in self.fetch.found:
            ends = (triple.subject, triple.object)
            nodes |= dict.fromkeys(end.value for end in ends if isinstance(end, NamedNode))
            if triple.predicate.value == self.typing and isinstance(triple.subject, NamedNode):
                typed.add(triple.subject.value)
        wanted = [iri for iri in nodes if iri not in typed]
        wanted.sort(key=lambda iri: -self.reached.get(iri, 0))
        subjects, properties = iris(wanted[:_REACHED]), iris((self.typing, *self.naming))
        body = f"VALUES ?s {{ {subjects} }} VALUES ?p {{ {properties} }} ?s ?p ?o"
        await self.fetch.parts([Part(body, _EDGES)] if wanted else [])

    def _big_predicate(self, predicate: str) -> list[Part]:
        """Return the parts for a frequent predicate between known nodes, or of linked classes."""
        bodies = [
            f"VALUES ?c {{ {iris(self.seeds.classes)} }} ?s a ?c . ?s ?p ?o",
            f"VALUES ?c {{ {iris(self.seeds.classes)} }} ?o a ?c . ?s ?p ?o",
        ]
        if not self.seeds.classes:
            near = iris(list(self.reached)[: _REACHED // 2])
            bodies = [f"VALUES {at} {{ {near} }} ?s ?p ?o" for at in ("?s", "?o")]
        return [Part(f"VALUES ?p {{ <{predicate}> }} {body}", _SAMPLE) for body in bodies]

    async def _through_blanks(self, nodes: Sequence[str]) -> None:
        """Blank nodes next to nodes, with all that leaves them."""
        values = f"VALUES ?a {{ {iris(nodes)} }}"
        star = "FILTER(isBlank(?b)) ?b ?q ?c"
        both = await asyncio.gather(
            self.fetch.triples(
                f"SELECT ?a ?p ?b ?q ?c {{ {values} ?a ?p ?b . {star} }} LIMIT {_EDGES}"
            ),
            self.fetch.triples(
                f"SELECT ?x ?y ?b ?q ?c {{ {values} ?b ?p ?a . {star} OPTIONAL {{ ?x ?y ?b }} }} "
                f"LIMIT {_EDGES}"
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

    def _small(self) -> Iterator[tuple[str, int]]:
        """Predicates whose triples fit into a reply, with their number."""
        for iri in self.seeds.predicates:
            size = self.counts.get(iri, (_PREDICATE_ROWS, 1, 1))[0]
            if 0 < size <= _PREDICATE_ROWS:
                yield iri, size + 1  # one more row than there are is no cap

    def _edges(self, nodes: Sequence[str], without: Sequence[str] = (), *, inverse: bool) -> str:
        """Return the patterns for edges of nodes, but for some predicates; for classes not back."""
        at = "?o" if inverse else "?s"
        without = (*without, self.typing) if inverse else without
        listed = ", ".join(f"<{iri}>" for iri in without)
        unless = f" FILTER(?p NOT IN ({listed}))" if listed else ""
        return f"VALUES {at} {{ {iris(nodes)} }} ?s ?p ?o{unless}"

    def _into(self, nodes: Sequence[str]) -> list[Part]:
        """Return the parts for edges that lead to nodes: by predicate, if these are few.

        Subjects are found fast by an object and a predicate; by objects alone some servers read
        everything.
        """
        hubs = self._hubs(inverse=True)
        leading = [iri for iri in self.links if iri not in (*hubs, self.typing)]
        if not 0 < len(leading) <= _LEADING:
            return [Part(self._edges(nodes, hubs, inverse=True), _EDGES)]
        some = iris(nodes[: _NAMED // len(leading)])
        each = _EDGES // len(leading)
        return [
            Part(f"VALUES ?o {{ {some} }} VALUES ?p {{ <{iri}> }} ?s ?p ?o", each)
            for iri in leading
        ]
