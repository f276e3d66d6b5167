"""Requests and messages that no client sends: at each door of a server, down to the bytes.

    python -m tools.campaign.wires [--only WHAT ...] [--json FILE]

Survived is: a reply below 500, or the connection closed, within so many seconds; a problem that is
none of our own bugs; `healthz` answers after each; and the log names no bug. A request that is not
complete may be waited for.
"""

import itertools
import socket
import sys
import time
import tomllib
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.campaign._tries import Tried, main, serve

_SECONDS, _WAITED = 30.0, 0.5
_JSON = b"Content-Type: application/json\r\n"
_HALF = "\\ud83d"

Sent = tuple[str, bytes, bool]  # what it is, its bytes, and whether it is complete


def request(line: str, *heads: bytes, body: bytes = b"") -> bytes:
    """Return a request to this machine, after which the connection is closed."""
    start = f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n".encode()
    return start + b"".join(heads) + b"\r\n" + body


def posted(path: str, body: bytes, kind: bytes = _JSON) -> bytes:
    """Return a request with a body."""
    length = b"Content-Length: %d\r\n" % len(body)
    return request(f"POST {path}", kind, length, b"Accept: */*\r\n", body=body)


def requests() -> Iterator[Sent]:
    """Yield requests that are none, or hardly."""
    ask, chunked = "POST /api/v1/ask", b"Transfer-Encoding: chunked\r\n"
    yield "a bad chunk", request(ask, _JSON, chunked, body=b"ZZ\r\nabc\r\n0\r\n\r\n"), True
    yield "a huge chunk", request(ask, chunked, body=b"F" * 16 + b"\r\nabc"), False
    both = (chunked, b"Content-Length: 5\r\n")
    yield "two ways of length", request(ask, *both, body=b"0\r\n\r\n"), True
    for length in (b"-1", b"9" * 30, b"5, 6", b"x"):
        head = b"Content-Length: %s\r\n" % length
        yield f"a length of {length!r}", request(ask, head, body=b"{}"), True
    yield "a body that does not come", request(ask, b"Content-Length: 9\r\n", body=b"{"), False
    yield "a long head", request("GET /healthz", b"X: " + b"a" * 200_000 + b"\r\n"), True
    many = (b"X-%d: a\r\n" % at for at in range(20_000))
    yield "many heads", request("GET /healthz", *many), True
    yield "no host", b"GET /healthz HTTP/1.1\r\n\r\n", True
    yield "HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", True
    yield "noise", bytes(range(1, 256)) * 8, False
    for line in ("GET http://elsewhere.example/healthz", "CONNECT elsewhere:443", "FOO\0 /healthz"):
        yield line, request(line), True
    for path in ("/" + "a" * 60_000, "/api/v1/graphs/%ff%fe%00", "/api/v1/graphs/%ed%a0%80", "/%"):
        yield f"GET {path[:40]}", request(f"GET {path}"), True
    for head in (b"X-API-Key: \xff\r\n", b"Cookie: askgraph_visitor=\xff\r\n", b"X: a\0b\r\n"):
        yield f"a head of {head[:-2]!r}", request("GET /api/v1/me", head), True


def bodies() -> Iterator[Sent]:
    """Yield bodies of each kind of call: no JSON, halves of characters, odd numbers, depth."""
    odd_texts = (f'"{_HALF}"', '"\\u0000"', '"\u202ea"')
    values = (*odd_texts, "NaN", "1e400", "9" * 5000, "[" * 50_000, "{}")
    forms = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for (path, form), value in itertools.product(forms.items(), values):
        yield f"{path} {value[:9]}", posted(path, (form % value).encode()), True
    for path in forms:
        for body in (b"\xff\xfe", b"", b"[]", b"null", '{"a": "ä"}'.encode("utf-16"), b"{}" * 2):
            yield f"{path} {body[:9]!r}", posted(path, body), True
        yield f"{path} no name", posted(path, f'{{"{_HALF}": 1}}'.encode()), True
    fields = b"Content-Type: application/x-www-form-urlencoded\r\n"
    plain = b"Content-Type: application/sparql-query; charset=klingon\r\n"
    odd = (b"query=ASK{}&query=ASK{}", b"query=%ff", b"query", b"&" * 5000, b"update=DROP+ALL")
    for body in odd:
        yield f"/sparql {body[:24]!r}", posted("/sparql/space", body, fields), True
    yield "/sparql, no UTF-8", posted("/sparql/space", b'SELECT * {?s ?p "\xff"}', plain), True
    parts = b"Content-Type: multipart/form-data%s\r\n"
    name = b'--x\r\nContent-Disposition: form-data; name="files"; filename="\xff"\r\n\r\nabc'
    for more, body in ((b"", b"abc"), (b"; boundary=x", name), (b"; boundary=" + b"x" * 5000, b"")):
        yield f"a form{more[:13]!r}", posted("/api/v1/graphs/upload", body, parts % more), True


KINDS: dict[str, Callable[[], Iterator[Sent]]] = {"requests": requests, "bodies": bodies}


def told(port: int, data: bytes, seconds: float) -> bytes:
    """Send bytes; return what comes until the connection is closed, or nothing does any more."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        try:
            connection.sendall(data)
            while len(found) < 1 << 20 and (some := connection.recv(1 << 16)):
                found += some
        except TimeoutError:
            return found + b"<open>"
        except OSError:
            pass  # it hung up in the middle of what is sent
    return found


def fault_of(reply: bytes, *, complete: bool) -> str:
    """Return what was not survived."""
    status = reply[9:12]
    if status >= b"500" and status.isdigit():
        return f"a status of {status.decode()}: {reply[-200:]!r}"
    if b"problem:bug" in reply:
        return f"a bug: {reply[-200:]!r}"
    return "it is not answered" if complete and reply.endswith(b"<open>") else ""


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Send each by itself, and ask after it how the server is."""
    with serve(folder, "--sample", timeout=30) as (client, _):
        port = client.base_url.port or 0
        each = ((kind, sent) for kind in given.only for sent in KINDS[kind]())
        for kind, (what, data, complete) in each:
            began = time.monotonic()
            reply = told(port, data, _SECONDS if complete else _WAITED)
            fault = fault_of(reply, complete=complete)
            if not fault and client.get("/healthz").status_code != 200:
                fault = "the server is not well"
            yield Tried(kind, what, fault, time.monotonic() - began, f"{reply[:60]!r}")
        lines = (folder / "serve.log").read_text("utf-8").splitlines()
        bugs = [line[:200] for line in lines if "because of a bug" in line]
        yield Tried("the log", "bugs", "; ".join(bugs))


if __name__ == "__main__":
    sys.exit(main(__doc__, campaign, KINDS))
