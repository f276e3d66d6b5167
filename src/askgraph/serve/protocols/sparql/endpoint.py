"""The SPARQL 1.1 protocol, read-only: `/sparql/GRAPH`, with its service description."""

import asyncio
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.errors import AskgraphError, ForbiddenQuery
from askgraph.graph import KnowledgeGraph
from askgraph.rdf.vocabulary import DCTERMS, RDF_TYPE, VOID, XSD_INTEGER
from askgraph.serve.hub import Hub, HubDep, Querier
from askgraph.serve.identity.principal import Principal
from askgraph.serve.problems import problem_of, problem_response
from askgraph.serve.protocols.sparql.requests import (
    ProtocolRequest,
    WrongKind,
    accepted,
    protocol_request,
)
from askgraph.sparql.result_formats import (
    GRAPH_FORMATS,
    ROW_FORMATS,
    Result,
    ResultFormat,
    serialised,
)
from askgraph.sparql.results import GraphResult

router = APIRouter(prefix="/sparql", tags=["SPARQL protocol"])
_SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = "http://www.w3.org/ns/formats/"
CUT = "X-Askgraph-Truncated"
_ERRORS = (
    ResultFormat("text", ("text/plain",)),
    ResultFormat("problem", ("application/problem+json", "application/json")),
)
_PREFIXES = {"sd": _SD, "void": VOID, "dcterms": DCTERMS, "formats": _FORMATS}
_TYPES: dict[str, dict[str, str]] = {
    name: {} for form in (*ROW_FORMATS, *GRAPH_FORMATS) for name in form.accepted[:1]
}
_ERROR_TYPES: dict[str, dict[str, str]] = {"text/plain": {}, "application/problem+json": {}}
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The result, or the description of the endpoint.", "content": _TYPES},
    "4XX": {"description": "What is wrong, in words.", "content": _ERROR_TYPES},
    "5XX": {"description": "What failed, in words.", "content": _ERROR_TYPES},
}
_FIELDS = [
    {"name": name, "in": "query", "required": False, "schema": schema, "description": words}
    for name, schema, words in (
        ("query", {"type": "string"}, "The query; without one, the endpoint describes itself."),
        ("default-graph-uri", {"type": "string"}, "The named graph to read; several may be given."),
        ("named-graph-uri", {"type": "string"}, "A graph for GRAPH; several may be given."),
        ("format", {"type": "string"}, "json, xml, csv, tsv, ttl, nt, rdf or jsonld."),
    )
]
_BODY = {
    "content": {
        "application/x-www-form-urlencoded": {
            "schema": {"type": "object", "properties": {"query": {"type": "string"}}}
        },
        "application/sparql-query": {"schema": {"type": "string"}},
    }
}
_RESULT_FORMATS = (
    "SPARQL_Results_JSON",
    "SPARQL_Results_XML",
    "SPARQL_Results_CSV",
    "SPARQL_Results_TSV",
    "Turtle",
    "N-Triples",
    "RDF_XML",
    "JSON-LD",
)
_NAMED = 1000  # graphs that are listed
Node = NamedNode | BlankNode


class _Unacceptable(AskgraphError):
    """There is no format that the client takes."""


@router.get(
    "/{graph}", response_class=Response, responses=_TEXT, openapi_extra={"parameters": _FIELDS}
)
@router.head("/{graph}", response_class=Response, include_in_schema=False)
async def query_by_get(graph: str, request: Request, hub: HubDep, caller: Querier) -> Response:
    """Answer a query of the SPARQL 1.1 protocol; without one, describe the endpoint.

    The Accept header chooses the format, or `format` does by its name. A result that was cut off
    says so in the header `X-Askgraph-Truncated`. Errors are plain text if that is accepted.
    """
    return await _answered(graph, request, hub, caller)


@router.post(
    "/{graph}", response_class=Response, responses=_TEXT, openapi_extra={"requestBody": _BODY}
)
async def query_by_post(graph: str, request: Request, hub: HubDep, caller: Querier) -> Response:
    """Answer a query that comes as a form (with the fields of a GET), or as the whole body."""
    return await _answered(graph, request, hub, caller)


async def _answered(graph: str, request: Request, hub: Hub, caller: Principal) -> Response:
    try:
        asked = await protocol_request(request)
        async with hub.graphs.lease(graph, caller) as opened:
            if asked.query is None:
                return await _description(opened, request)
            _check_graphs(asked, hub.graphs.settings(graph, caller).graphs)
            return await _answer(asked, asked.query, opened, hub, request)
    except AskgraphError as error:
        return _failure(error, request)


@router.options("/{graph}")
async def options(graph: str) -> Response:
    """Return the methods that there are."""
    return Response(status_code=204, headers={"Allow": "GET, HEAD, POST, OPTIONS"})


async def _answer(
    asked: ProtocolRequest, query: str, graph: KnowledgeGraph, hub: Hub, request: Request
) -> Response:
    ready = await asyncio.to_thread(
        hub.queries.read,
        query,
        graph,
        default_graphs=asked.default_graphs,
        named_graphs=asked.named_graphs,
    )
    formats = ROW_FORMATS if ready.form in ("SELECT", "ASK") else GRAPH_FORMATS
    form = _format(formats, request, asked.format)
    result = await hub.queries.run(ready, graph)
    return await _written(result, form, graph)


async def _description(graph: KnowledgeGraph, request: Request) -> Response:
    form = _format(GRAPH_FORMATS, request)
    address = str(request.url.replace(query="", fragment=""))
    described = service_description(graph, address)
    content = serialised(described, form, prefixes=_PREFIXES)
    return Response(content, media_type=form.media_type, headers={"Vary": "Accept"})


def _format(formats: tuple[ResultFormat, ...], request: Request, name: str = "") -> ResultFormat:
    for form in formats:
        if form.name == name:
            return form
    found = accepted(request.headers.get("accept", ""), formats)
    if found is None:
        offered = ", ".join(form.accepted[0] for form in formats)
        raise _Unacceptable(f"such a result comes as one of {offered}: accept one of these")
    return found


async def _written(result: Result, form: ResultFormat, graph: KnowledgeGraph) -> Response:
    headers = {"Vary": "Accept"}
    cut = None if isinstance(result, bool) else result.truncated
    if cut is not None:
        told = f"by {'askgraph' if cut.by == 'askgraph' else 'the server'}: {cut.reason}"
        headers[CUT] = " ".join(told.encode("ascii", "replace").decode().split())
    try:
        content = await asyncio.to_thread(
            serialised, result, form, prefixes=graph.prefixes.namespaces
        )
    except ValueError as problem:
        raise _Unacceptable(str(problem)) from problem
    return Response(content, media_type=form.media_type, headers=headers)


def _check_graphs(asked: ProtocolRequest, allowed: tuple[str, ...]) -> None:
    """Refuse named graphs that are not among those that may be read, if not all may."""
    wanted = {*asked.default_graphs, *asked.named_graphs}
    if allowed and (other := sorted(wanted - set(allowed))):
        raise ForbiddenQuery(f"the graph <{other[0]}> is not among those that may be read")


def _failure(error: AskgraphError, request: Request) -> Response:
    """An error in plain text, or as problem JSON if the client takes no text."""
    problem = problem_of(error)
    if isinstance(error, _Unacceptable):
        problem = problem.model_copy(update={"status": 406})
    elif isinstance(error, WrongKind):
        problem = problem.model_copy(update={"status": 415})
    form = accepted(request.headers.get("accept", ""), _ERRORS)
    if form is not None and form.name == "problem":
        return problem_response(problem)
    headers = {"Retry-After": str(round(problem.retry_after))} if problem.retry_after else {}
    return PlainTextResponse(problem.detail + "\n", problem.status, headers)


def service_description(graph: KnowledgeGraph, address: str) -> GraphResult:
    """Return the description of the endpoint of a graph at an address, as triples."""
    return GraphResult(tuple(_described(graph, NamedNode(address))))


def _described(graph: KnowledgeGraph, endpoint: NamedNode) -> Iterator[Triple]:
    service, dataset, default = endpoint, BlankNode("dataset"), BlankNode("default")
    yield _is_a(service, "Service")
    yield _said(service, "endpoint", endpoint)
    yield _said(service, "supportedLanguage", NamedNode(_SD + "SPARQL11Query"))
    yield _said(service, "feature", NamedNode(_SD + "BasicFederatedQuery"))
    if graph.profile.graphs:
        yield _said(service, "feature", NamedNode(_SD + "UnionDefaultGraph"))
    for name in _RESULT_FORMATS:
        yield _said(service, "resultFormat", NamedNode(_FORMATS + name))
    yield _said(service, "defaultDataset", dataset)
    yield _is_a(dataset, "Dataset")
    yield Triple(dataset, NamedNode(DCTERMS + "title"), Literal(graph.name))
    yield _said(dataset, "defaultGraph", default)
    yield _is_a(default, "Graph")
    yield _number(default, "triples", graph.profile.triples)
    yield _number(default, "classes", len(graph.profile.classes))
    yield _number(default, "properties", len(graph.profile.predicates))
    for at, (iri, triples) in enumerate(graph.profile.graphs[:_NAMED]):
        named, content = BlankNode(f"named{at}"), BlankNode(f"graph{at}")
        yield _said(dataset, "namedGraph", named)
        yield _is_a(named, "NamedGraph")
        yield _said(named, "name", NamedNode(iri))
        yield _said(named, "graph", content)
        yield _is_a(content, "Graph")
        if triples:
            yield _number(content, "triples", triples)


def _is_a(subject: Node, name: str) -> Triple:
    return Triple(subject, NamedNode(RDF_TYPE), NamedNode(_SD + name))


def _said(subject: Node, name: str, value: Node) -> Triple:
    return Triple(subject, NamedNode(_SD + name), value)


def _number(subject: Node, name: str, value: int) -> Triple:
    number = Literal(str(value), datatype=NamedNode(XSD_INTEGER))
    return Triple(subject, NamedNode(VOID + name), number)
