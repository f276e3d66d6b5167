"""A text is embedded once, as long as it is kept."""

import importlib.util
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from tests.each import for_each
from tests.servers.clients import minilm

from askgraph import errors
from askgraph.index import embeddings


class Counting:
    """Embeds a text as its length, and notes what it was asked for."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> embeddings.Vectors:
        self.asked += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def test_a_text_that_is_known_is_not_embedded_again() -> None:
    inner = Counting()
    kept = embeddings.CachingEmbedder(inner)

    kept.embed(["a", "bb", "a"])
    rows = kept.embed(["bb", "ccc"])

    assert inner.asked == ["a", "bb", "ccc"]
    assert rows.tolist() == [[2, 1], [3, 1]]


def test_the_oldest_are_forgotten() -> None:
    inner = Counting()
    kept = embeddings.CachingEmbedder(inner, max_count=2)

    rows = kept.embed(["a", "bb", "ccc"])
    kept.embed(["ccc", "a"])

    assert rows.tolist() == [[1, 1], [2, 1], [3, 1]]
    assert inner.asked == ["a", "bb", "ccc", "a"]


def test_an_embedder_of_a_name_is_one_and_the_same() -> None:
    assert embeddings.get_embedder("hashed") is embeddings.get_embedder("hashed")
    assert embeddings.get_embedder("hashed").name == "hashed"
    with pytest.raises(errors.SetupError, match="no embedder"):
        embeddings.get_embedder("nothing")


def test_hashed_gives_like_spellings_like_vectors() -> None:
    like, same, other = embeddings.create_embedder("hashed").embed(
        ["Einstein", "Einsteins", "Ganymede"]
    )
    assert np.dot(like, same) > 4 * abs(np.dot(like, other))


@for_each("name", ["", "hash", "local:", "onnx:", "openai:", "openai:small"])
def test_an_unknown_name_is_a_setup_error(name: str) -> None:
    with pytest.raises(
        errors.SetupError, match="name 'hashed', 'onnx:PATH', 'local:PATH' or 'openai:"
    ):
        embeddings.create_embedder(name)


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="it is installed"
)
def test_a_missing_library_is_told_with_its_extra() -> None:
    with pytest.raises(errors.SetupError, match=r"pip install 'askgraph\[embeddings\]'"):
        embeddings.create_embedder("local:small")


class Server(ThreadingHTTPServer):
    """Replies with what is in `replies`, then with embeddings: (length, 1) of each text."""

    daemon_threads = True
    replies: list[tuple[int, bytes]]
    asked: list[tuple[str | None, int]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.headers["Authorization"], len(body["input"])))
        status, content = 200, embedded(body["input"])
        if self.server.replies:
            status, content = self.server.replies.pop(0)
        if status == 0:
            threading.Event().wait(1)
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def embedded(texts: list[str]) -> bytes:
    listed = [{"index": at, "embedding": [len(text), 1]} for at, text in enumerate(texts)]
    return json.dumps({"data": listed[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.replies, running.asked = [], []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def client(server: Server) -> embeddings.ServerEmbedder:
    return embeddings.ServerEmbedder("small", server.url, timeout=0.5, tries=3, wait=0)


def test_vectors_come_in_order_of_texts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(embeddings.KEY_VARIABLE, "secret")
    with client(server) as embedder:
        assert np.array_equal(embedder.embed(["a", "abc"]), [[1, 1], [3, 1]])
        assert embedder.name == f"openai:small@{server.url}"
        assert embedder.embed(["a"] * 600).shape == (600, 2)
    assert server.asked == [("Bearer secret", count) for count in (2, 256, 256, 88)]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: Server, status: int) -> None:
    server.replies = [(status, b"")] * 2
    with client(server) as embedder:
        assert len(embedder.embed(["a"])) == 1
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((503, b"busy"), errors.Overloaded),
        ((401, b"who are you"), errors.Unauthorised),
        ((404, b"no such model"), errors.ErrorReply),
        ((200, b"<html>"), errors.MalformedReply),
        ((200, b"{}"), errors.MalformedReply),
        ((200, b'{"data": []}'), errors.MalformedReply),
        ((200, b'{"data": [{"index": 0, "embedding": ["x"]}]}'), errors.MalformedReply),
        ((0, b""), errors.TimedOut),
    ],
)
def test_what_goes_wrong_is_told(
    server: Server, reply: tuple[int, bytes], error: type[errors.AskgraphError]
) -> None:
    server.replies = [reply] * 3
    with client(server) as embedder, pytest.raises(error, match=r"127\.0\.0\.1"):
        embedder.embed(["a"])
    nobody = embeddings.create_embedder("openai:small@http://127.0.0.1:9/v1")
    assert isinstance(nobody, embeddings.ServerEmbedder)
    with nobody, pytest.raises(errors.Unreachable):
        nobody.embed(["a"])


def test_a_model_gives_texts_of_similar_meaning_similar_vectors() -> None:
    weight, mass, launch = embeddings.create_embedder(f"onnx:{minilm()}").embed(
        ["weight", "mass", "launch site"]
    )
    similar = np.dot(weight, mass) / np.linalg.norm(weight) / np.linalg.norm(mass)
    other = np.dot(weight, launch) / np.linalg.norm(weight) / np.linalg.norm(launch)

    assert similar > other + 0.2


def test_what_a_model_lacks_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        errors.SetupError, match=r"no model at .*nowhere.*model\.onnx and tokenizer"
    ):
        embeddings.create_embedder(f"onnx:{tmp_path / 'nowhere'}")
    (tmp_path / "model.onnx").write_bytes(b"none")
    with pytest.raises(errors.SetupError, match=r"put the model's tokenizer\.json beside"):
        embeddings.create_embedder(f"onnx:{tmp_path}")
    (tmp_path / "tokenizer.json").write_bytes((Path(minilm()) / "tokenizer.json").read_bytes())
    with pytest.raises(errors.SetupError, match="cannot read the model"):
        embeddings.create_embedder(f"onnx:{tmp_path}")
