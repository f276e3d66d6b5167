"""Metadata and examples that an endpoint publishes: in its store, its description, its host.

Three places are looked at, each within its own bound; what they tell is put together. A place
that has nothing, or does not answer, is said, not passed over in silence.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import reduce

from pyoxigraph import NamedNode, RdfFormat

from askgraph.endpoint import Endpoint
from askgraph.endpoint.documents import Document, fetched, well_known
from askgraph.endpoint.public_only import Guard
from askgraph.errors import MalformedReply, ServiceError, SetupError
from askgraph.graph.archives import decoded
from askgraph.graph.bounded_queries import Inquiry
from askgraph.graph.examples.shacl import QUERIES, Item, described_in, executables_in
from askgraph.graph.profile import Profile, merged
from askgraph.graph.void import VOID_PREDICATES, profile_of_void
from askgraph.index.name_search import iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import RDF_KINDS, Statements, triples_in
from askgraph.sparql.results import Row

_MOST = 100_000  # triples of VoID that are read of a store
_SECONDS, _QUERIES = 30.0, 8


@dataclass(frozen=True)
class Place:
    """A place that was looked at, with a description of its content."""

    name: str
    found: str
    told: bool


@dataclass(frozen=True)
class Published:
    """The published profile, None if there is none; `places` are those looked at."""

    profile: Profile | None
    places: tuple[Place, ...]


async def published_void(
    endpoint: Endpoint,
    url: str,
    *,
    seconds: float = _SECONDS,
    guard: Guard | None = None,
) -> Published:
    """Return the VoID of an endpoint: from its store, its description and its host's.

    Each place gets so many `seconds`; `guard` says which addresses they may come from. Raises
    nothing of a place that fails: it is among the `places`.
    """
    places: list[Place] = []
    profiles: list[Profile] = []

    async def look(name: str, work: Callable[[], Awaitable[tuple[Statements | None, str]]]) -> None:
        try:
            described, note = await work()
        except (ServiceError, SetupError) as error:
            places.append(Place(name, str(error), told=False))
            return
        profile = profile_of_void(described, source=url) if described else None
        if profile is None:
            places.append(Place(name, "no VoID", told=False))
            return
        profiles.append(profile)
        size = f"{len(profile.classes):,} classes, {len(profile.predicates):,} predicates{note}"
        places.append(Place(name, size, told=True))

    await look("store", lambda: _stored(endpoint, seconds))
    for name, address in (("service description", url), ("well-known", well_known(url, "void"))):
        await look(name, lambda address=address: _document(address, seconds, guard))  # type: ignore[misc]
    return Published(reduce(merged, profiles) if profiles else None, tuple(places))


def described_document(document: Document) -> Statements:
    """Parse a document by its media type; `SetupError` if it is no RDF."""
    kind = RDF_KINDS.get(document.kind)
    if kind is None and document.content.lstrip()[:1] in (b"@", b"P", b"#"):
        kind = RdfFormat.TURTLE
    if kind is None:
        raise SetupError(f"{document.url} is {document.kind or 'of no kind'}, not RDF")
    return Statements.parsed(document.content, kind, base=document.url)


async def _document(address: str, seconds: float, guard: Guard | None) -> tuple[Statements, str]:
    document = await fetched(address, accept=tuple(RDF_KINDS), timeout=seconds, guard=guard)
    return described_document(document), ""


async def _stored(endpoint: Endpoint, seconds: float) -> tuple[Statements | None, str]:
    """Return the VoID triples of the default graph, else of the named graphs, with their labels."""
    values = f"VALUES ?p {{ {iris(VOID_PREDICATES)} }}"
    with Inquiry(endpoint, max_queries=_QUERIES, max_seconds=seconds) as inquiry:
        for pattern in ("?s ?p ?o", "GRAPH ?g { ?s ?p ?o }"):
            query = f"SELECT DISTINCT ?s ?p ?o {{ {values} {pattern} }} LIMIT {_MOST}"
            reply = await inquiry.rows("VoID", query)
            if reply and reply.rows:
                labels = await _labels(inquiry, reply.rows)
                triples = [*triples_in(reply.rows), *triples_in(labels)]
                cut = reply.cut or len(reply.rows) >= _MOST
                return Statements(triples), ", cut off by a cap on rows" if cut else ""
        if inquiry.failed:
            raise ServiceError("; ".join(inquiry.failed))
    return None, ""


async def _labels(inquiry: Inquiry, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return labels of the classes and properties, some hundreds at a time."""
    named = (NamedNode(v.VOID_CLASS), NamedNode(v.VOID_PROPERTY))
    terms = sorted({str(o) for _, p, o in rows if isinstance(o, NamedNode) and p in named})
    found: list[Row] = []
    for at in range(0, len(terms), 200):
        reply = await inquiry.rows(
            "labels",
            f"SELECT ?s ?p ?o {{ VALUES ?s {{ {' '.join(terms[at : at + 200])} }} "
            f"VALUES ?p {{ <{v.RDFS_LABEL}> <{v.SKOS_PREF_LABEL}> <{v.RDFS_SUB_CLASS_OF}> }} "
            f"?s ?p ?o }} LIMIT {_MOST}",
        )
        found += reply.rows if reply else ()
    return tuple(found)


_EXAMPLES = (
    "CONSTRUCT { ?s ?p ?o } WHERE { { SELECT DISTINCT ?s WHERE { { ?s <"
    + "> ?query } UNION { ?s <".join(QUERIES)
    + f"> ?query }} UNION {{ ?s <{v.SH_DECLARE}> ?prefix }} "
    + f"UNION {{ ?prefixes <{v.SH_DECLARE}> ?s }} }} }} ?s ?p ?o }}"
)
_MOST_EXAMPLES = 200_000  # triples


async def published_examples(endpoint: Endpoint, *, timeout: float | None = 60.0) -> list[Item]:
    """Return every executable that a SPARQL endpoint holds in its own graph, by one query.

    Raises `ServiceError` if the endpoint fails; that its reply was cut off is an item.
    """
    reply = await endpoint.construct(_EXAMPLES, timeout=timeout, limit=_MOST_EXAMPLES)
    statements = Statements(reply.triples)
    items = list(described_in(endpoint.address, statements, statements.declared()))
    if reply.truncated:
        items.append((endpoint.address, f"more examples may exist: {reply.truncated.reason}"))
    return items


async def in_description(
    url: str, *, timeout: float = 20.0, guard: Guard | None = None
) -> list[Item]:
    """Return every executable of an endpoint's service description: the RDF that its URL gives.

    `guard` says which addresses it may come from. Raises `ServiceError` if there is none,
    `SetupError` if it cannot be read.
    """
    document = await fetched(url, accept=tuple(RDF_KINDS), timeout=timeout, guard=guard)
    if document.kind not in RDF_KINDS:
        raise MalformedReply(f"{url} gives no service description, but {document.kind!r}")
    text = decoded(document.content, document.url)
    return executables_in(text, document.url, format=RDF_KINDS[document.kind])
