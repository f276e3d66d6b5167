"""The SPARQL 1.1 protocol, read-only, with its service description; and TEXT2SPARQL.

The TEXT2SPARQL challenge (https://text2sparql.aksw.org/) asks `GET /?dataset=…&question=…` for the
query that answers a question. A request to `/` without a question is the page's.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from askgraph.server.auth import Principal
from askgraph.server.hub import Asker, Hub, HubDep, Querier
from askgraph.server.problems import (
    Failed,
    Missing,
    Problem,
    TooLarge,
    problem_of,
    problem_response,
)
from askgraph.server.runs import MOST_QUESTION, AskBody
from askgraph.server.runs.replies import unless_disconnected
from askgraph.sparql.judge import MAX_LENGTH
from askgraph.sparql.results import (
    GRAPH_FORMATS,
    ROW_FORMATS,
    GraphResult,
    ResultFormat,
    serialised,
)
from askgraph.sparql.vocabulary import DCTERMS, RDF_TYPE, VOID, XSD_INTEGER

_FORM, _QUERY = "application/x-www-form-urlencoded", "application/sparql-query"
_MOST_BYTES = 4 * MAX_LENGTH
_MOST_FIELDS = 200
_PIECE = 10_000  # characters of a form that are decoded at once
_RANGE = re.compile(r"\s*([\w!#$&^.+*-]+)/([\w!#$&^.+*-]+)\s*((?:;[^;,]*)*)\s*$")
_QUALITY = re.compile(r";\s*q\s*=\s*(0(?:\.\d*)?|1(?:\.0*)?)\s*(?:;|$)", re.IGNORECASE)
_MOST_RANGES = 100  # ranges that are looked at


class WrongKind(QueryError):
    """The body is of a kind that the protocol does not know."""


@dataclass(frozen=True)
class ProtocolRequest:
    """A query with its dataset, None if there is no query; `format` is one asked for by name."""

    query: str | None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    format: str = ""


async def protocol_request(request: Request) -> ProtocolRequest:
    """Read a request by GET, as a form, or with the query as its body.

    Raises `ForbiddenQuery` for an update, `TooLarge`, `WrongKind`, and `QueryError` for anything
    else that the protocol does not have.
    """
    given = _fields(request.url.query)
    if request.method != "POST":
        return _read(given)
    kind, _, _ = request.headers.get("content-type", "").partition(";")
    match kind.strip().lower():
        case "application/x-www-form-urlencoded":
            sent = await asyncio.to_thread(_fields, await _body(request))
            return _read(
                {name: [*given.get(name, []), *sent.get(name, [])] for name in given | sent}
            )
        case "application/sparql-query":
            if "query" in given:
                raise QueryError("the query is given twice, in the body and in the address")
            return _read({**given, "query": [await _body(request)]})
        case "application/sparql-update":
            return _read({"update": [""]})
        case _:
            raise WrongKind(
                f"a query is posted as {_FORM} with the field 'query', or as {_QUERY}; "
                f"not as {kind.strip() or 'a body without a Content-Type'!r}"
            )


def _read(given: dict[str, list[str]]) -> ProtocolRequest:
    if "update" in given:
        raise ForbiddenQuery("this endpoint is read-only: updates are not taken")
    queries = given.get("query", [])
    if len(queries) > 1:
        raise QueryError("there are several fields 'query': send one query at a time")
    return ProtocolRequest(
        queries[0] if queries else None,
        tuple(given.get("default-graph-uri", ())),
        tuple(given.get("named-graph-uri", ())),
        given.get("format", [""])[0],
    )


def _fields(text: str) -> dict[str, list[str]]:
    found = dict[str, list[str]]()
    if text.count("&") >= _MOST_FIELDS:
        raise QueryError(f"there are more than {_MOST_FIELDS} fields")
    for part in filter(None, text.split("&")):
        name, _, value = part.partition("=")
        found.setdefault(_decoded(name), []).append(_decoded(value))
    return found


def _decoded(text: str) -> str:
    """Decode the text of a form piece by piece: a long one at once holds all other threads."""
    text, at, pieces = text.replace("+", " "), 0, list[bytes]()
    while at < len(text):
        end = at + _PIECE
        cut = text.find("%", end - 2, end)  # an escape has three characters
        end = end if cut < 0 else cut
        pieces.append(unquote_to_bytes(text[at:end]))
        at = end
    try:
        return b"".join(pieces).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise QueryError("the fields are not UTF-8, percent-encoded") from problem


async def _body(request: Request) -> str:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise TooLarge(f"the query is larger than {_MOST_BYTES:,} bytes")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise QueryError("the query is not UTF-8 text") from problem


def choose_format(header: str, formats: Sequence[ResultFormat]) -> ResultFormat | None:
    """Return the format that a client likes best, of equals the first; None if none will do.

    Without a header, or with one in which nothing can be read, anything will do.
    """
    ranges = list(_ranges(header))
    if not ranges:
        return formats[0]
    best, liked = None, 0.0
    for form in formats:
        # The quality of a format: by its names, else by the most exact range that holds its own.
        named = [q for one, two, q in ranges if f"{one}/{two}" in form.accepted]
        if named:
            quality = max(named)
        else:
            kind, _, _ = form.accepted[0].partition("/")
            held = [(one != "*", q) for one, two, q in ranges if two == "*" and one in (kind, "*")]
            quality = max(held)[1] if held else 0.0
        if quality > liked:
            best, liked = form, quality
    return best


def _ranges(header: str) -> Iterator[tuple[str, str, float]]:
    for part in header.split(",")[:_MOST_RANGES]:
        found = _RANGE.match(part)
        if found:
            quality = _QUALITY.search(found[3])
            yield found[1].lower(), found[2].lower(), float(quality[1]) if quality else 1.0


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
    return await _answer(graph, request, hub, caller)


@router.post(
    "/{graph}", response_class=Response, responses=_TEXT, openapi_extra={"requestBody": _BODY}
)
async def query_by_post(graph: str, request: Request, hub: HubDep, caller: Querier) -> Response:
    """Answer a query that comes as a form (with the fields of a GET), or as the whole body."""
    return await _answer(graph, request, hub, caller)


async def _answer(graph: str, request: Request, hub: Hub, caller: Principal) -> Response:
    try:
        asked = await protocol_request(request)
        async with hub.graphs.lease(graph, caller) as opened:
            if asked.query is None:
                return await _description(opened, request)
            allowed = hub.graphs.settings(graph, caller).graphs
            wanted = {*asked.default_graphs, *asked.named_graphs}
            if allowed and (other := sorted(wanted - set(allowed))):
                raise ForbiddenQuery(f"the graph <{other[0]}> is not among those that may be read")
            ready = await asyncio.to_thread(
                hub.queries.read,
                asked.query,
                opened,
                default_graphs=asked.default_graphs,
                named_graphs=asked.named_graphs,
            )
            formats = ROW_FORMATS if ready.form in ("SELECT", "ASK") else GRAPH_FORMATS
            form = _format(formats, request, asked.format)
            result = await hub.queries.run(ready, opened)
            headers = {"Vary": "Accept"}
            cut = None if isinstance(result, bool) else result.truncated
            if cut is not None:
                told = f"by {'askgraph' if cut.by == 'askgraph' else 'the server'}: {cut.reason}"
                headers[CUT] = " ".join(told.encode("ascii", "replace").decode().split())
            try:
                content = await asyncio.to_thread(
                    serialised, result, form, prefixes=opened.prefixes.namespaces
                )
            except ValueError as problem:
                raise _Unacceptable(str(problem)) from problem
            return Response(content, media_type=form.media_type, headers=headers)
    except AskgraphError as error:
        return _failure(error, request)


@router.options("/{graph}")
async def options(graph: str) -> Response:
    """Return the methods that there are."""
    return Response(status_code=204, headers={"Allow": "GET, HEAD, POST, OPTIONS"})


async def _description(graph: KnowledgeGraph, request: Request) -> Response:
    form = _format(GRAPH_FORMATS, request)
    address = NamedNode(str(request.url.replace(query="", fragment="")))
    content = serialised(GraphResult(tuple(_describe(graph, address))), form, prefixes=_PREFIXES)
    return Response(content, media_type=form.media_type, headers={"Vary": "Accept"})


def _format(formats: tuple[ResultFormat, ...], request: Request, name: str = "") -> ResultFormat:
    for form in formats:
        if form.name == name:
            return form
    found = choose_format(request.headers.get("accept", ""), formats)
    if found is None:
        offered = ", ".join(form.accepted[0] for form in formats)
        raise _Unacceptable(f"such a result comes as one of {offered}: accept one of these")
    return found


def _failure(error: AskgraphError, request: Request) -> Response:
    """An error in plain text, or as problem JSON if the client takes no text."""
    problem = problem_of(error)
    if isinstance(error, _Unacceptable):
        problem = problem.model_copy(update={"status": 406})
    elif isinstance(error, WrongKind):
        problem = problem.model_copy(update={"status": 415})
    form = choose_format(request.headers.get("accept", ""), _ERRORS)
    if form is not None and form.name == "problem":
        return problem_response(problem)
    headers = {"Retry-After": str(round(problem.retry_after))} if problem.retry_after else {}
    return PlainTextResponse(problem.detail + "\n", problem.status, headers)


def _describe(graph: KnowledgeGraph, endpoint: NamedNode) -> Iterator[Triple]:
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


_QUESTION_FIELDS = ("question", "dataset")


class _WithQuestion(APIRoute):
    """A route that is there only for requests with its fields, whatever else has its path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route."""
        match, child = super().matches(scope)
        given = QueryParams(scope.get("query_string", b""))
        if match is Match.NONE or not any(field in given for field in _QUESTION_FIELDS):
            return Match.NONE, {}
        return match, child


text2sparql_router = APIRouter(tags=["TEXT2SPARQL"], route_class=_WithQuestion)


class Text2Sparql(BaseModel):
    """A question with the query that answers it."""

    dataset: str
    question: str
    query: str = Field(description="Empty if no query was found.")
    run: str = Field(description="The run that it is kept as.")
    confidence: float = Field(description="How likely the query is right, 0 to 1.")


@text2sparql_router.get("/")
async def text2sparql(
    request: Request,
    hub: HubDep,
    caller: Asker,
    dataset: Annotated[str, Query(max_length=2000, description="A graph's IRI or name.")],
    question: Annotated[str, Query(min_length=1, max_length=MOST_QUESTION)],
) -> Text2Sparql:
    """Return the query that answers a question over a dataset.

    A dataset is a graph of this server: one that the setting `[serve.datasets]` names for its IRI,
    else the graph of its name or of the last part of its IRI. A question that is refused or asked
    back gets the best attempt, if there is one.
    """
    graphs = hub.graphs.names(caller)
    graph = find_graph(dataset, graphs, hub.settings.datasets)
    run = await hub.ask(AskBody(question=question, graphs=[graph]), caller)
    view = await unless_disconnected(request, hub.runs.outcome(run))
    if view.answer is None:
        raise Failed(view.problem or Problem.stopped())
    return Text2Sparql(
        dataset=dataset,
        question=question,
        query=view.answer.sparql or "",
        run=view.id,
        confidence=view.answer.confidence,
    )


def find_graph(dataset: str, graphs: Sequence[str], datasets: Mapping[str, str]) -> str:
    """Return the graph of a dataset, by its IRI in the settings, or by its name.

    Raises `Missing`, which says how to name one.
    """
    plain = dataset.rstrip("/#")
    named = {iri.rstrip("/#"): graph for iri, graph in datasets.items()}
    last = unquote(plain.partition("?")[0].rpartition("/")[2])
    by_letters = {graph.casefold(): graph for graph in graphs}
    for wanted in (named.get(plain), dataset, by_letters.get(last.casefold())):
        if wanted is not None and wanted in graphs:
            return wanted
    there = ", ".join(graphs) or "none"
    raise Missing(
        f"there is no dataset {dataset!r}: give the name of a graph ({there}), or name a graph for "
        "this IRI in the table [serve.datasets] of askgraph.toml"
    )
