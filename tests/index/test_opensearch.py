"""Names in OpenSearch against exchanges in its documented formats; none of them ran on a server.

`opensearch.json` has, for each test, the requests that have to come and the replies to them.
"""

import json
import socket
from pathlib import Path

import pytest
from tests.each import for_each
from tests.servers.recorded_http import RecordedServer

from askgraph.errors import (
    AskgraphError,
    ErrorReply,
    MalformedReply,
    Overloaded,
    SetupError,
    Unauthorised,
    Unreachable,
)
from askgraph.index import Resource
from askgraph.index import opensearch as module
from askgraph.index._server import PASSWORD_VARIABLE
from askgraph.index.embeddings import HashedEmbedder
from askgraph.index.opensearch import OpenSearchIndex

EX = "http://example.org/"
GANYMEDE = Resource(EX + "ganymede", "Ganymede", ("Jupiter III",), 9.0, ("moon of Jupiter",))
IO = Resource(EX + "io", "Io", (), 8.0)
JUPITER = Resource(EX + "jupiter", "Jupiter", (), 7.0, ("planet",))
MOONS = [GANYMEDE, IO, JUPITER]
RECORDED = json.loads(Path(__file__).with_name("opensearch.json").read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


def test_names_are_written_found_completed_and_read(folder: Path) -> None:
    with RecordedServer(RECORDED["build and search"]) as server:
        index = OpenSearchIndex.build(MOONS, folder, on=server.url, name="moons", k1=0.9, b=0.4)

        assert [hit.item for hit in index.search("moons of jupiter", limit=2)] == [
            GANYMEDE,
            JUPITER,
        ]
        within = index.search("jupiter", within=[EX + "io", EX + "jupiter"])
        assert [(hit.item, hit.score) for hit in within] == [(JUPITER, 0.6)]
        assert [(hit.item, hit.name) for hit in index.complete("jup")] == [
            (GANYMEDE, "Jupiter III"),
            (JUPITER, "Jupiter"),
        ]
        assert (index.find(EX + "io"), index.find(EX + "nothing")) == (IO, None)
        assert (list(index.iterate_resources()), len(index), index.bytes) == (MOONS, 3, 6021)
        assert index.search("") == index.search("io", within=[]) == []
        with pytest.raises(ValueError, match="limit must be 1 or more"):
            index.search("io", limit=0)


@pytest.mark.parametrize("what", ["a build that goes on", "a build of something else"])
def test_the_same_source_stays(folder: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askgraph.index._server.BATCH_SIZE", 2)
    with RecordedServer(RECORDED[what]) as server:
        index = OpenSearchIndex.build(MOONS, folder, on=server.url, name="moons", source="moons")

        assert len(index) == 3


def test_vectors_and_words_are_joined(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashedEmbedder(4)
    monkeypatch.setattr(module, "get_batch_embedder", lambda name: embedder)
    with RecordedServer(RECORDED["vectors"]) as server:
        index = OpenSearchIndex.build(MOONS, folder, on=server.url, name="moons", embedder=embedder)

        assert [hit.item for hit in index.search("Jupiters", limit=2)] == [JUPITER, GANYMEDE]
        assert [hit.item for hit in index.search("Jupiters", within=[EX + "io"])] == [IO]
        # The hash of "Io" is zero in four dimensions: no vector is sent, and none is asked for.
        assert [hit.item for hit in index.search("Io")] == [IO]


def test_no_sign_is_sent_that_a_completion_may_not_hold(folder: Path) -> None:
    odd = Resource(EX + "odd", "Cal\x1flisto\x00", (), 1.0)
    with RecordedServer(RECORDED["odd signs"]) as server:
        assert len(OpenSearchIndex.build([odd], folder, on=server.url, name="moons")) == 1


@pytest.mark.parametrize("what", ["busy for a moment", "busy for one of them"])
def test_a_busy_server_is_asked_again(
    folder: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FIRST_WAIT_SECONDS", 0)
    with RecordedServer(RECORDED[what]) as server:
        assert len(OpenSearchIndex.build(MOONS, folder, on=server.url, name="moons")) == 3


@for_each(
    ("what", "error", "message"),
    ("a wrong password", Unauthorised, f"HTTP 401: Unauthorized; set {PASSWORD_VARIABLE}"),
    ("no k-NN", SetupError, "embeddings need the server's plugin opensearch-knn"),
    ("busy for long", Overloaded, "the same call resumes the build"),
    ("a document that is refused", ErrorReply, "failed to parse field"),
    ("an IRI given twice", SetupError, "4 resources came .* and 3 different ones are written"),
    ("something else", MalformedReply, "the reply is not from an OpenSearch server"),
)
def test_each_failure_says_what_to_do(
    folder: Path,
    what: str,
    error: type[AskgraphError],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_FIRST_WAIT_SECONDS", 0)
    moons = [*MOONS, GANYMEDE] if what == "an IRI given twice" else MOONS
    embedder = HashedEmbedder(4) if what == "no k-NN" else None
    with RecordedServer(RECORDED[what]) as server, pytest.raises(error, match=message):
        OpenSearchIndex.build(moons, folder, on=server.url, name="moons", embedder=embedder)
    assert not folder.exists()


def test_the_user_s_password_is_in_the_env(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD_VARIABLE, "secret")
    with RecordedServer(RECORDED["a wrong password"]) as server, pytest.raises(Unauthorised):
        OpenSearchIndex.build(MOONS, folder, on=server.url.replace("//", "//admin@"), name="moons")

    assert server.authorizations == ["Basic YWRtaW46c2VjcmV0"]


def test_a_server_that_is_not_there_is_told_with_the_remedy(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match=r"no OpenSearch server answers there .*; start it"):
        OpenSearchIndex.build(MOONS, folder, on=f"http://127.0.0.1:{port}")
    with pytest.raises(SetupError, match="k1 must be 0 or more and b between 0 and 1"):
        OpenSearchIndex.build(MOONS, folder, on=f"http://127.0.0.1:{port}", b=2)


def test_an_index_that_is_not_complete_says_so(folder: Path) -> None:
    record = RECORDED["build and search"]
    missing = next(one for one in record if one["path"].startswith("/_alias/"))
    with RecordedServer([*record[:12], missing]) as server:
        index = OpenSearchIndex.build(MOONS, folder, on=server.url, name="moons", k1=0.9, b=0.4)
        index.server.close()
        with pytest.raises(SetupError, match="there is no complete index 'moons' at http://127"):
            OpenSearchIndex.open(folder)
