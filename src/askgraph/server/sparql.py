"""The SPARQL 1.1 protocol, read-only, with its service description; and TEXT2SPARQL.

The TEXT2SPARQL challenge (https://text2sparql.aksw.org/) sends `GET /?dataset=…&question=…` and
expects a query that answers the question. A request to `/` without a question is for the page.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, unquote_to_bytes

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from starlette.datastructures import QueryParams
from starlette.routing import Match
from starlette.types import Scope

from askgraph.errors import AskgraphError, ForbiddenQuery, QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.server import problems
from askgraph.server.auth import Principal
from askgraph.server.hub import Asker, Hub, HubDep, Querier
from askgraph.server.runs import MAX_QUESTION_CHARACTERS, AskBody
from askgraph.server.runs.replies import cancel_on_disconnect
from askgraph.sparql.judge import MAX_QUERY_CHARACTERS
from askgraph.sparql.results import (
    GRAPH_FORMATS,
    ROW_FORMATS,
    GraphResult,
    ResultFormat,
    serialize_result,
)
from askgraph.sparql.vocabulary import DCTERMS, RDF_TYPE, VOID, XSD_INTEGER

_FORM_TYPE, _QUERY_TYPE = "application/x-www-form-urlencoded", "application/sparql-query"
_MAX_BODY_BYTES = 4 * MAX_QUERY_CHARACTERS
_MAX_FIELDS = 200
_CHUNK_CHARACTERS = 10_000  # characters of a form that are decoded at once
_MEDIA_RANGE = re.compile(r"\s*([\w!#$&^.+*-]+/[\w!#$&^.+*-]+)\s*((?:;[^;,]*)*)\s*$")
_QUALITY = re.compile(r";\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*(?:;|$)", re.IGNORECASE)
_MAX_RANGES = 100  # maximum number of ranges to parse


class UnsupportedMediaType(QueryError):
    """The protocol does not support the media type of the body."""


@dataclass(frozen=True)
class ProtocolRequest:
    """A request of the SPARQL protocol."""

    query: str | None  # the query text; None if the request has none
    default_graphs: tuple[str, ...] = ()  # IRIs that replace the query's FROM
    named_graphs: tuple[str, ...] = ()  # IRIs that replace the query's FROM NAMED
    format: str = ""  # the name of the requested format; "" to use the Accept header


async def parse_request(request: Request) -> ProtocolRequest:
    """Parse a request by GET, by form, or with the query as its body.

    Raises:
        ForbiddenQuery: the request is an update.
        TooLarge: the body is too large.
        UnsupportedMediaType: the body has another media type.
        QueryError: the request violates the protocol in another way.
    """
    fields = _parse_fields(request.url.query)
    if request.method != "POST":
        return _to_protocol_request(fields)
    media_type, _, _ = request.headers.get("content-type", "").partition(";")
    match media_type.strip().lower():
        case "application/x-www-form-urlencoded":
            form_fields = await asyncio.to_thread(_parse_fields, await _read_body(request))
            for name, values in form_fields.items():
                fields.setdefault(name, []).extend(values)
            return _to_protocol_request(fields)
        case "application/sparql-query":
            if "query" in fields:
                raise QueryError(
                    "the request has two queries, one in the body and one in the address: send one"
                )
            return _to_protocol_request({**fields, "query": [await _read_body(request)]})
        case "application/sparql-update":
            return _to_protocol_request({"update": [""]})
        case _:
            raise UnsupportedMediaType(
                f"post a query as {_FORM_TYPE} with the field 'query', or as {_QUERY_TYPE}, not as "
                f"{media_type.strip() or 'a body without a Content-Type'!r}"
            )


def _to_protocol_request(fields: dict[str, list[str]]) -> ProtocolRequest:
    if "update" in fields:
        raise ForbiddenQuery("this endpoint is read-only: updates are not allowed")
    queries = fields.get("query", [])
    if len(queries) > 1:
        raise QueryError("the request has several 'query' fields: send one query at a time")
    return ProtocolRequest(
        queries[0] if queries else None,
        tuple(fields.get("default-graph-uri", ())),
        tuple(fields.get("named-graph-uri", ())),
        fields.get("format", [""])[0],
    )


def _parse_fields(text: str) -> dict[str, list[str]]:
    values_by_name = dict[str, list[str]]()
    if text.count("&") >= _MAX_FIELDS:
        raise QueryError(f"the request has more than {_MAX_FIELDS} fields")
    for part in filter(None, text.split("&")):
        name, _, value = part.partition("=")
        values_by_name.setdefault(_decode_text(name), []).append(_decode_text(value))
    return values_by_name


def _decode_text(text: str) -> str:
    """Decode form text in chunks: decoding a long text at once would block all other threads."""
    text, position, pieces = text.replace("+", " "), 0, list[bytes]()
    while position < len(text):
        end = position + _CHUNK_CHARACTERS
        escape_start = text.find("%", end - 2, end)  # an escape has three characters
        end = end if escape_start < 0 else escape_start
        pieces.append(unquote_to_bytes(text[position:end]))
        position = end
    try:
        return b"".join(pieces).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise QueryError("the fields are not UTF-8, percent-encoded") from problem


async def _read_body(request: Request) -> str:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY_BYTES:
            raise problems.TooLarge(f"the query is larger than {_MAX_BODY_BYTES:,} bytes")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise QueryError("the query is not UTF-8 text") from problem


def choose_format(header: str, formats: Sequence[ResultFormat]) -> ResultFormat | None:
    """Return the format with the highest quality, the first of equals; None if none is accepted.

    Without a header, or with an unreadable one, the first format is returned.
    """
    ranges = list(_parse_ranges(header))
    if not ranges:
        return formats[0]
    best, best_quality = None, 0.0
    for result_format in formats:
        # The quality of a format: by its names, else by the most exact range that holds its own.
        own_type, _, _ = result_format.accepted[0].partition("/")
        exactness = {"*/*": 0, f"{own_type}/*": 1, **dict.fromkeys(result_format.accepted, 2)}
        matches = [
            (exactness[media_range], weight)
            for media_range, weight in ranges
            if media_range in exactness
        ]
        quality = max(matches, default=(0, 0.0))[1]
        if quality > best_quality:
            best, best_quality = result_format, quality
    return best


def _parse_ranges(header: str) -> Iterator[tuple[str, float]]:
    for part in header.split(",")[:_MAX_RANGES]:
        if match := _MEDIA_RANGE.match(part):
            quality = _QUALITY.search(match[2])
            yield match[1].lower(), float(quality[1]) if quality else 1.0


router = APIRouter(prefix="/sparql", tags=["SPARQL protocol"])
_SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = "http://www.w3.org/ns/formats/"
TRUNCATED_HEADER = "X-Askgraph-Truncated"
_ERROR_FORMATS = (
    ResultFormat("text", ("text/plain",)),
    ResultFormat("problem", ("application/problem+json", "application/json")),
)
_PREFIXES = {"sd": _SD, "void": VOID, "dcterms": DCTERMS, "formats": _FORMATS}
_RESULT_TYPES: dict[str, dict[str, str]] = {
    name: {} for form in (*ROW_FORMATS, *GRAPH_FORMATS) for name in form.accepted[:1]
}
_ERROR_TYPES: dict[str, dict[str, str]] = {"text/plain": {}, "application/problem+json": {}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The result, or the description of the endpoint.",
        "content": _RESULT_TYPES,
    },
    "4XX": {"description": "The error in words.", "content": _ERROR_TYPES},
    "5XX": {"description": "The failure in words.", "content": _ERROR_TYPES},
}
_OPENAPI = json.loads(Path(__file__).with_name("sparql.json").read_text("utf-8"))
_PARAMETERS: list[dict[str, Any]] = _OPENAPI["parameters"]
_REQUEST_BODY: dict[str, Any] = _OPENAPI["request_body"]
_RESULT_FORMATS = tuple(
    (
        "SPARQL_Results_JSON SPARQL_Results_XML SPARQL_Results_CSV SPARQL_Results_TSV Turtle "
        "N-Triples RDF_XML JSON-LD"
    ).split()
)
_MAX_NAMED_GRAPHS = 1000  # graphs that are listed
SubjectNode = NamedNode | BlankNode


class _NotAcceptable(AskgraphError):
    """The client accepts none of the formats."""


@router.get(
    "/{graph}",
    response_class=Response,
    responses=_RESPONSES,
    openapi_extra={"parameters": _PARAMETERS},
)
@router.head("/{graph}", response_class=Response, include_in_schema=False)
async def query_by_get(graph: str, request: Request, hub: HubDep, caller: Querier) -> Response:
    """Answer a query of the SPARQL 1.1 protocol; without one, describe the endpoint.

    The Accept header chooses the format, or `format` by its name. The header
    `X-Askgraph-Truncated` marks a truncated result. Errors are plain text if accepted.
    """
    return await _answer_request(graph, request, hub, caller)


@router.post(
    "/{graph}",
    response_class=Response,
    responses=_RESPONSES,
    openapi_extra={"requestBody": _REQUEST_BODY},
)
async def query_by_post(graph: str, request: Request, hub: HubDep, caller: Querier) -> Response:
    """Answer a query sent as a form (with the fields of a GET), or as the whole body."""
    return await _answer_request(graph, request, hub, caller)


async def _answer_request(graph: str, request: Request, hub: Hub, caller: Principal) -> Response:
    try:
        request_data = await parse_request(request)
        async with hub.graphs.lease(graph, caller) as open_graph:
            if request_data.query is None:
                return await _build_description(open_graph, request)
            allowed_graphs = hub.graphs.get_settings(graph, caller).graphs
            requested_graphs = {*request_data.default_graphs, *request_data.named_graphs}
            if allowed_graphs and (forbidden := sorted(requested_graphs - set(allowed_graphs))):
                raise ForbiddenQuery(
                    f"the graph <{forbidden[0]}> is not one of the graphs that may be read"
                )
            checked_query = await asyncio.to_thread(
                hub.queries.check,
                request_data.query,
                open_graph,
                default_graphs=request_data.default_graphs,
                named_graphs=request_data.named_graphs,
            )
            formats = ROW_FORMATS if checked_query.form in ("SELECT", "ASK") else GRAPH_FORMATS
            result_format = _select_format(formats, request, request_data.format)
            result = await hub.queries.run(checked_query, open_graph)
            headers = {"Vary": "Accept"}
            truncation = None if isinstance(result, bool) else result.truncated
            if truncation is not None:
                by = "askgraph" if truncation.by == "askgraph" else "the server"
                note = f"by {by}: {truncation.reason}".encode("ascii", "replace").decode()
                headers[TRUNCATED_HEADER] = " ".join(note.split())
            try:
                content = await asyncio.to_thread(
                    serialize_result, result, result_format, prefixes=open_graph.prefixes.namespaces
                )
            except ValueError as problem:
                raise _NotAcceptable(str(problem)) from problem
            return Response(content, media_type=result_format.media_type, headers=headers)
    except AskgraphError as error:
        return _to_error_response(error, request)


@router.options("/{graph}")
async def list_methods(graph: str) -> Response:
    """Return the allowed HTTP methods."""
    return Response(status_code=204, headers={"Allow": "GET, HEAD, POST, OPTIONS"})


async def _build_description(graph: KnowledgeGraph, request: Request) -> Response:
    result_format = _select_format(GRAPH_FORMATS, request)
    address = NamedNode(str(request.url.replace(query="", fragment="")))
    content = serialize_result(
        GraphResult(tuple(_describe_service(graph, address))), result_format, prefixes=_PREFIXES
    )
    return Response(content, media_type=result_format.media_type, headers={"Vary": "Accept"})


def _select_format(
    formats: tuple[ResultFormat, ...], request: Request, name: str = ""
) -> ResultFormat:
    for result_format in formats:
        if result_format.name == name:
            return result_format
    chosen = choose_format(request.headers.get("accept", ""), formats)
    if chosen is None:
        media_types = ", ".join(result_format.accepted[0] for result_format in formats)
        raise _NotAcceptable(f"the result is available as {media_types}: accept one of these")
    return chosen


def _to_error_response(error: AskgraphError, request: Request) -> Response:
    """Return an error as plain text, or as problem JSON if the client does not accept text."""
    problem = problems.to_problem(error)
    problem.status = {_NotAcceptable: 406, UnsupportedMediaType: 415}.get(
        type(error), problem.status
    )
    error_format = choose_format(request.headers.get("accept", ""), _ERROR_FORMATS)
    if error_format is not None and error_format.name == "problem":
        return problems.to_problem_response(problem)
    headers = {"Retry-After": str(round(problem.retry_after))} if problem.retry_after else {}
    return PlainTextResponse(problem.detail + "\n", problem.status, headers)


def _describe_service(graph: KnowledgeGraph, endpoint: NamedNode) -> Iterator[Triple]:
    service, dataset, default = endpoint, BlankNode("dataset"), BlankNode("default")
    yield _build_type_triple(service, "Service")
    yield _build_service_triple(service, "endpoint", endpoint)
    yield _build_service_triple(service, "supportedLanguage", NamedNode(_SD + "SPARQL11Query"))
    yield _build_service_triple(service, "feature", NamedNode(_SD + "BasicFederatedQuery"))
    if graph.profile.graphs:
        yield _build_service_triple(service, "feature", NamedNode(_SD + "UnionDefaultGraph"))
    for name in _RESULT_FORMATS:
        yield _build_service_triple(service, "resultFormat", NamedNode(_FORMATS + name))
    yield _build_service_triple(service, "defaultDataset", dataset)
    yield _build_type_triple(dataset, "Dataset")
    yield Triple(dataset, NamedNode(DCTERMS + "title"), Literal(graph.name))
    yield _build_service_triple(dataset, "defaultGraph", default)
    yield _build_type_triple(default, "Graph")
    yield _build_count_triple(default, "triples", graph.profile.triples)
    yield _build_count_triple(default, "classes", len(graph.profile.classes))
    yield _build_count_triple(default, "properties", len(graph.profile.predicates))
    for index, (iri, triples) in enumerate(graph.profile.graphs[:_MAX_NAMED_GRAPHS]):
        named_graph, content = BlankNode(f"named{index}"), BlankNode(f"graph{index}")
        yield _build_service_triple(dataset, "namedGraph", named_graph)
        yield _build_type_triple(named_graph, "NamedGraph")
        yield _build_service_triple(named_graph, "name", NamedNode(iri))
        yield _build_service_triple(named_graph, "graph", content)
        yield _build_type_triple(content, "Graph")
        if triples:
            yield _build_count_triple(content, "triples", triples)


def _build_type_triple(subject: SubjectNode, name: str) -> Triple:
    return Triple(subject, NamedNode(RDF_TYPE), NamedNode(_SD + name))


def _build_service_triple(subject: SubjectNode, name: str, value: SubjectNode) -> Triple:
    return Triple(subject, NamedNode(_SD + name), value)


def _build_count_triple(subject: SubjectNode, name: str, value: int) -> Triple:
    number = Literal(str(value), datatype=NamedNode(XSD_INTEGER))
    return Triple(subject, NamedNode(VOID + name), number)


_QUESTION_FIELDS = ("question", "dataset")


class _QuestionRoute(APIRoute):
    """A route that matches only requests with one of its query fields."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        parameters = QueryParams(scope.get("query_string", b""))
        if match is Match.NONE or not any(field in parameters for field in _QUESTION_FIELDS):
            return Match.NONE, {}
        return match, child


text2sparql_router = APIRouter(tags=["TEXT2SPARQL"], route_class=_QuestionRoute)


class Text2SparqlReply(BaseModel):
    """A question with the query that answers it."""

    dataset: str
    question: str
    query: str = Field(description="Empty if no query was found.")
    run: str = Field(description="The id of its run.")
    confidence: float = Field(description="How likely the query is right, 0 to 1.")


@text2sparql_router.get("/")
@text2sparql_router.get("/text2sparql", operation_id="answer_text2sparql_at_its_own_path")
async def answer_text2sparql(
    request: Request,
    hub: HubDep,
    caller: Asker,
    dataset: Annotated[str, Query(max_length=2000, description="A graph's IRI or name.")],
    question: Annotated[str, Query(min_length=1, max_length=MAX_QUESTION_CHARACTERS)],
) -> Text2SparqlReply:
    """Return the query that answers a question over a dataset.

    A dataset is a graph of this server: the graph that `[serve.datasets]` names for its IRI, else
    the graph with its name or with the last part of its IRI. For a refusal or clarification the
    query is the best attempt, if there is one.
    """
    graph = find_graph(dataset, hub.graphs.list_names(caller), hub.settings.datasets)
    run = await hub.ask(AskBody(question=question, graphs=[graph]), caller)
    view = await cancel_on_disconnect(request, hub.runs.wait_for_outcome(run))
    if view.answer is None:
        raise problems.RunFailed(view.problem or problems.Problem.for_stop())
    return Text2SparqlReply(
        dataset=dataset,
        question=question,
        query=view.answer.sparql or "",
        run=view.id,
        confidence=view.answer.confidence,
    )


def find_graph(dataset: str, graphs: Sequence[str], datasets: Mapping[str, str]) -> str:
    """Return the graph of a dataset, by its IRI in the settings or by its name.

    Raises:
        NotFound: no graph matches; the message explains how to name one.
    """
    dataset_iri = dataset.rstrip("/#")
    graphs_by_iri = {iri.rstrip("/#"): graph for iri, graph in datasets.items()}
    last_segment = unquote(dataset_iri.partition("?")[0].rpartition("/")[2])
    named_graph = {graph.casefold(): graph for graph in graphs}.get(last_segment.casefold())
    for candidate in (graphs_by_iri.get(dataset_iri), dataset, named_graph):
        if candidate is not None and candidate in graphs:
            return candidate
    known_graphs = ", ".join(graphs) or "none"
    raise problems.NotFound(
        f"there is no dataset {dataset!r}: use the name of a graph ({known_graphs}), or "
        "map this IRI to a graph in the table [serve.datasets] of askgraph.toml"
    )
