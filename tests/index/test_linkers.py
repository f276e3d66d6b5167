"""An entity linker behind HTTP: what it finds, and every way in which it can fail."""

import json
from collections.abc import Iterator

import pytest
from pyoxigraph import Store
from tests.servers.sparql import Reply, Request, SparqlServer

from askgraph.errors import (
    AskgraphError,
    ErrorReply,
    MalformedReply,
    Overloaded,
    SetupError,
    Unauthorised,
    Unreachable,
)
from askgraph.index.linkers import Span, linker_of

TEXT = "Which moons orbit Jupiter?"


class LinkerServer(SparqlServer):
    """Says the same to every text."""

    def __init__(self) -> None:
        super().__init__(Store())
        self.says: object = []
        self.status = 200

    def honest(self, request: Request) -> Reply:
        body = self.says if isinstance(self.says, str) else json.dumps(self.says)
        return Reply(self.status, {"Content-Type": "application/json"}, body.encode())


@pytest.fixture
def server() -> Iterator[LinkerServer]:
    with LinkerServer() as running:
        yield running


async def test_spans_are_read_however_they_are_written(server: LinkerServer) -> None:
    server.says = {
        "spans": [
            {"start": 18, "end": 25, "iri": "http://example.org/Jupiter", "score": 0.9},
            {"start": 6, "length": 5, "id": "Q2"},
            {"start": 0, "end": 5, "id": None},
            {"start": 20, "end": 99, "id": "Q9"},
        ]
    }
    linker = linker_of(f"{server.url}#http://example.org/")

    assert await linker.spans(TEXT, "en") == [
        Span(6, 11, "http://example.org/Q2"),
        Span(18, 25, "http://example.org/Jupiter", 0.9),
    ]
    assert json.loads(server.requests[-1].body) == {"text": TEXT, "language": "en"}


@pytest.mark.parametrize(
    ("status", "says", "error"),
    [
        (200, "no JSON", MalformedReply),
        (200, {"entities": []}, MalformedReply),
        (200, ["Q2"], MalformedReply),
        (200, [{"id": "Q2"}], MalformedReply),
        (401, [], Unauthorised),
        (503, [], Overloaded),
        (500, [], ErrorReply),
    ],
)
async def test_a_failure_is_told_by_its_name(
    server: LinkerServer, status: int, says: object, error: type[AskgraphError]
) -> None:
    server.status, server.says = status, says

    with pytest.raises(error, match="linker"):
        await linker_of(server.url).spans(TEXT, None)


async def test_a_server_that_is_gone_cannot_be_reached() -> None:
    with LinkerServer() as gone:
        address = gone.url

    with pytest.raises(Unreachable, match="cannot be reached"):
        await linker_of(address).spans(TEXT, None)


@pytest.mark.parametrize("name", ["", "nobody", "http@ftp://example.org", "http://", "http@"])
def test_a_linker_that_there_is_none_of_is_refused(name: str) -> None:
    with pytest.raises(SetupError):
        linker_of(name)
