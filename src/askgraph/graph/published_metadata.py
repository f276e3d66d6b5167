"""Read metadata and examples that an endpoint publishes: in its store, its description, its host.

Each of the three sources has its own time limit; their results are merged. An empty or failing
source is reported, not ignored.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import reduce

from pyoxigraph import NamedNode, RdfFormat

from askgraph.endpoint import Endpoint
from askgraph.endpoint.documents import WebDocument, build_well_known_url, fetch_document
from askgraph.endpoint.public_only import AddressGuard
from askgraph.errors import MalformedReply, ServiceError, SetupError
from askgraph.graph.archives import decode_text
from askgraph.graph.bounded_queries import QuerySession
from askgraph.graph.examples.shacl import (
    QUERY_PREDICATES,
    ExecutableItem,
    find_executables,
    parse_executables,
)
from askgraph.graph.profile import Profile, merge_profiles
from askgraph.graph.void import VOID_PREDICATES, parse_void
from askgraph.index.name_search import format_iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import FORMAT_BY_MEDIA_TYPE, RdfStatements, build_triples
from askgraph.sparql.results import Row

_MAX_VOID_TRIPLES = 100_000  # triples of VoID that are read of a store
_DEFAULT_SECONDS, _MAX_QUERIES = 30.0, 8


@dataclass(frozen=True)
class MetadataSource:
    """A source that was read."""

    name: str
    found: str  # description of its content, or the reason of the failure
    told: bool  # whether it has VoID


@dataclass(frozen=True)
class PublishedMetadata:
    """The published profile and the sources that were read."""

    profile: Profile | None  # the merged profile; None if no source has VoID
    places: tuple[MetadataSource, ...]  # the sources, in order


async def read_published_void(
    endpoint: Endpoint,
    url: str,
    *,
    seconds: float = _DEFAULT_SECONDS,
    guard: AddressGuard | None = None,
) -> PublishedMetadata:
    """Read the VoID of an endpoint from its store, its service description and its host.

    Args:
        seconds: Time limit of each source.
        guard: Decides which addresses may be fetched.

    Returns:
        The profile and the sources; failures are recorded there, never raised.
    """
    places: list[MetadataSource] = []
    profiles: list[Profile] = []

    async def read_source(
        name: str, load: Callable[[], Awaitable[tuple[RdfStatements | None, str]]]
    ) -> None:
        try:
            statements, note = await load()
        except (ServiceError, SetupError) as error:
            places.append(MetadataSource(name, str(error), told=False))
            return
        profile = parse_void(statements, source=url) if statements else None
        if profile is None:
            places.append(MetadataSource(name, "no VoID", told=False))
            return
        profiles.append(profile)
        size = f"{len(profile.classes):,} classes, {len(profile.predicates):,} predicates{note}"
        places.append(MetadataSource(name, size, told=True))

    await read_source("store", lambda: _read_store(endpoint, seconds))
    for name, address in (
        ("service description", url),
        ("well-known", build_well_known_url(url, "void")),
    ):
        await read_source(name, lambda address=address: _fetch_document(address, seconds, guard))  # type: ignore[misc]
    return PublishedMetadata(reduce(merge_profiles, profiles) if profiles else None, tuple(places))


def parse_document(document: WebDocument) -> RdfStatements:
    """Parse a document by its media type; raises `SetupError` if it is not RDF."""
    kind = FORMAT_BY_MEDIA_TYPE.get(document.media_type)
    if kind is None and document.content.lstrip()[:1] in (b"@", b"P", b"#"):
        kind = RdfFormat.TURTLE
    if kind is None:
        raise SetupError(f"{document.url} is {document.media_type or 'of no kind'}, not RDF")
    return RdfStatements.parse_document(document.content, kind, base=document.url)


async def _fetch_document(
    address: str, seconds: float, guard: AddressGuard | None
) -> tuple[RdfStatements, str]:
    document = await fetch_document(
        address, accept=tuple(FORMAT_BY_MEDIA_TYPE), timeout=seconds, guard=guard
    )
    return parse_document(document), ""


async def _read_store(endpoint: Endpoint, seconds: float) -> tuple[RdfStatements | None, str]:
    """Return the VoID of the default graph, else of the named graphs, with labels."""
    values = f"VALUES ?p {{ {format_iris(VOID_PREDICATES)} }}"
    with QuerySession(endpoint, max_queries=_MAX_QUERIES, max_seconds=seconds) as session:
        for pattern in ("?s ?p ?o", "GRAPH ?g { ?s ?p ?o }"):
            query = f"SELECT DISTINCT ?s ?p ?o {{ {values} {pattern} }} LIMIT {_MAX_VOID_TRIPLES}"
            reply = await session.select("VoID", query)
            if reply and reply.rows:
                labels = await _fetch_labels(session, reply.rows)
                triples = [*build_triples(reply.rows), *build_triples(labels)]
                cut = reply.cut or len(reply.rows) >= _MAX_VOID_TRIPLES
                return RdfStatements(triples), ", cut off by a cap on rows" if cut else ""
        if session.failures:
            raise ServiceError("; ".join(session.failures))
    return None, ""


async def _fetch_labels(session: QuerySession, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    schema_predicates = (NamedNode(v.VOID_CLASS), NamedNode(v.VOID_PROPERTY))
    terms = sorted(
        {str(o) for _, p, o in rows if isinstance(o, NamedNode) and p in schema_predicates}
    )
    label_rows: list[Row] = []
    for start in range(0, len(terms), 200):
        reply = await session.select(
            "labels",
            f"SELECT ?s ?p ?o {{ VALUES ?s {{ {' '.join(terms[start : start + 200])} }} "
            f"VALUES ?p {{ <{v.RDFS_LABEL}> <{v.SKOS_PREF_LABEL}> <{v.RDFS_SUB_CLASS_OF}> }} "
            f"?s ?p ?o }} LIMIT {_MAX_VOID_TRIPLES}",
        )
        label_rows += reply.rows if reply else ()
    return tuple(label_rows)


_EXAMPLES_QUERY = (
    "CONSTRUCT { ?s ?p ?o } WHERE { { SELECT DISTINCT ?s WHERE { { ?s <"
    + "> ?query } UNION { ?s <".join(QUERY_PREDICATES)
    + f"> ?query }} UNION {{ ?s <{v.SH_DECLARE}> ?prefix }} "
    + f"UNION {{ ?prefixes <{v.SH_DECLARE}> ?s }} }} }} ?s ?p ?o }}"
)
_MAX_EXAMPLE_TRIPLES = 200_000  # triples


async def fetch_published_examples(
    endpoint: Endpoint, *, timeout: float | None = 60.0
) -> list[ExecutableItem]:
    """Fetch every executable in a SPARQL endpoint's own store with one query.

    A truncated reply is reported as an item.

    Raises:
        ServiceError: The endpoint fails.
    """
    reply = await endpoint.construct(_EXAMPLES_QUERY, timeout=timeout, limit=_MAX_EXAMPLE_TRIPLES)
    statements = RdfStatements(reply.triples)
    items = list(find_executables(endpoint.address, statements, statements.get_declared_prefixes()))
    if reply.truncated:
        items.append((endpoint.address, f"more examples may exist: {reply.truncated.reason}"))
    return items


async def fetch_described_examples(
    url: str, *, timeout: float = 20.0, guard: AddressGuard | None = None
) -> list[ExecutableItem]:
    """Fetch every executable in an endpoint's service description, the RDF at its URL.

    `guard` decides which addresses may be fetched.

    Raises:
        ServiceError: There is no service description.
        SetupError: It cannot be parsed.
    """
    document = await fetch_document(
        url, accept=tuple(FORMAT_BY_MEDIA_TYPE), timeout=timeout, guard=guard
    )
    if document.media_type not in FORMAT_BY_MEDIA_TYPE:
        raise MalformedReply(
            f"{url} returned {document.media_type!r} instead of a service description"
        )
    text = decode_text(document.content, document.url)
    return parse_executables(text, document.url, format=FORMAT_BY_MEDIA_TYPE[document.media_type])
