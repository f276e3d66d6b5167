"""What a proxy says of the caller, as it goes on to the handlers."""

from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from askgraph.serve.identity.proxies import BehindProxy
from askgraph.serve.settings import ServeSettings

CALLER = b"203.0.113.9"


async def client_seen(tmp_path: Path, *forwarded: bytes, peer: str = "10.0.0.1") -> str:
    """The address that is counted for a request with these lines of X-Forwarded-For."""
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["client"][0])

    async def nothing(*_: object) -> None:
        raise AssertionError("nothing is read or sent")

    settings = ServeSettings.of(tmp_path, {"trusted_proxies": ("10.0.0.0/8",)})
    headers = [(b"x-forwarded-for", line) for line in forwarded]
    scope = {"type": "http", "client": (peer, 1), "headers": headers, "scheme": "http"}
    await BehindProxy(app, settings)(scope, nothing, nothing)  # type: ignore[arg-type]
    return seen[0]


@pytest.mark.parametrize(
    "forwarded",
    [
        (CALLER,),
        (b"192.0.2.1, " + CALLER,),
        (b"192.0.2.1", CALLER),
        (b"192.0.2.1", CALLER, b"10.0.0.2"),
    ],
)
async def test_the_caller_is_who_the_proxy_saw_whatever_they_say_themselves(
    tmp_path: Path, forwarded: tuple[bytes, ...]
) -> None:
    assert await client_seen(tmp_path, *forwarded) == CALLER.decode()


async def test_nobody_else_is_believed(tmp_path: Path) -> None:
    assert await client_seen(tmp_path, b"192.0.2.1", peer="203.0.113.9") == CALLER.decode()
