"""Access tokens of an OAuth server are accepted beside keys, at MCP and over REST."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm
from tests.each import for_each
from tests.server.mcp.test_http import agent_of, knock
from tests.servers.key_holders import Locked
from tests.servers.served import ServedThread

from askgraph.errors import SetupError
from askgraph.server.auth import NotAllowedError
from askgraph.server.auth.access_tokens import AccessTokenVerifier
from askgraph.workspace import Workspace

RESOURCE = "https://ask.example.org/mcp"


class Issuer:
    """An authorization server on loopback that has published one key."""

    def __init__(self) -> None:
        self.key, self.stranger = new_key(), new_key()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = outer.documents.get(self.path)
                self.send_response(200 if content else 404)
                self.end_headers()
                self.wfile.write(json.dumps(content or {}).encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/realm"
        public = {**json.loads(RSAAlgorithm.to_jwk(self.key.public_key())), "kid": "k1"}
        self.documents: dict[str, Any] = {
            "/.well-known/oauth-authorization-server/realm": {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
            },
            "/realm/keys": {"keys": [public]},
        }

    def sign(
        self, *, key: Any = None, algorithm: str = "RS256", kid: str = "k1", **more: Any
    ) -> str:
        """A token for `ada` that may ask, with other claims if `more` says so; None removes one."""
        claims = {
            "iss": self.url, "aud": RESOURCE, "sub": "ada", "scope": "ask",
            "exp": time.time() + 300, **more,
        }  # fmt: skip
        content = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(content, key or self.key, algorithm, headers={"kid": kid})


def new_key() -> RSAPrivateKey:
    """A key pair."""
    return generate_private_key(65537, 2048)


@contextmanager
def published() -> Iterator[Issuer]:
    """An issuer that serves its keys."""
    issuer = Issuer()
    with issuer.server:
        Thread(target=issuer.server.serve_forever, daemon=True).start()
        yield issuer
        issuer.server.shutdown()


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with published() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def guarded(
    issuer: Issuer, sample_place: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Locked]:
    """A server that accepts keys, and the issuer's tokens."""
    database: Path = tmp_path_factory.mktemp("guarded") / "serve.db"
    settings = {"oauth_issuer": issuer.url, "oauth_resource": RESOURCE, "anonymous": ()}
    with ServedThread(sample_place, database=str(database), **settings) as server:
        yield Locked(server.url, database)


def test_a_client_finds_the_issuer_and_is_told_what_is_missing(
    guarded: Locked, issuer: Issuer
) -> None:
    reply = knock(guarded.url)
    where = "https://ask.example.org/.well-known/oauth-protected-resource/mcp"
    assert reply.status_code == 401
    assert reply.headers["www-authenticate"] == (
        f'Bearer realm="askgraph", scope="ask query", resource_metadata="{where}"'
    )
    for path in ("", "/mcp"):
        url = f"{guarded.url}/.well-known/oauth-protected-resource{path}"
        metadata = httpx2.get(url, timeout=600).json()
        assert metadata["resource"] == RESOURCE
        assert metadata["authorization_servers"] == [issuer.url]
        assert {"ask", "query"} <= {*metadata["scopes_supported"]} and "admin" not in str(metadata)
    reply = knock(guarded.url, issuer.sign(scope="email"))
    assert reply.status_code == 403
    assert 'error="insufficient_scope"' in reply.headers["www-authenticate"]
    assert knock(guarded.url, guarded.add_key("ask")).status_code == 200


@for_each(("changes", "words"), [
    ({"aud": "https://other.example.org/mcp"}, "Audience"), ({"aud": None}, "aud"),
    ({"iss": "https://evil.example.org"}, "issuer"), ({"exp": time.time() - 3600}, "expired"),
    ({"exp": None}, "exp"), ({"sub": None}, "sub"), ({"nbf": time.time() + 3600}, "not yet valid"),
    ({"kid": "k2"}, "no key of this id"), ({"key": "stranger"}, "Signature"),
    ({"key": "x" * 32, "algorithm": "HS256"}, "alg"),
])  # fmt: skip
def test_a_token_with_a_fault_is_refused_with_the_reason(
    guarded: Locked, issuer: Issuer, changes: dict[str, Any], words: str
) -> None:
    if changes.get("key") == "stranger":
        changes = {"key": issuer.stranger}
    reply = knock(guarded.url, issuer.sign(**changes))
    assert reply.status_code == 401 and words in reply.json()["detail"], reply.text
    assert 'error="invalid_token"' in reply.headers["www-authenticate"]


def test_a_token_without_a_signature_is_refused(guarded: Locked, issuer: Issuer) -> None:
    head, content, _ = issuer.sign().split(".")
    unsigned = jwt.encode({"sub": "ada"}, "", "none").split(".")[0]
    for token in ("nonsense", f"{head}.{content}.", f"{unsigned}.{content}."):
        assert knock(guarded.url, token).status_code == 401, token


@for_each(("scope", "may_query"), [("ask", False), ("askgraph:ask askgraph:query admin", True)])
async def test_a_client_of_the_protocol_asks_with_a_token(
    guarded: Locked, issuer: Issuer, scope: str, *, may_query: bool
) -> None:
    async with agent_of(guarded.url, issuer.sign(scope=scope)) as (client, http):
        found = await client.call_tool("ask", {"question": "Who discovered Titan?"})
        run = await client.call_tool("query", {"query": "ASK {}"})
        assert "Huygens" in str(found.content) and run.is_error is not may_query
        runs = (await http.get("/api/v1/runs")).json()["runs"]
        assert runs[0]["question"] == "Who discovered Titan?"
        assert (await http.get("/api/v1/keys")).status_code in (403, 404)


async def test_keys_are_fetched_again_when_they_change_and_not_too_often() -> None:
    now = [0.0]
    with published() as issuer:
        verifier = AccessTokenVerifier(issuer.url, RESOURCE, clock=lambda: now[0])
        token = await verifier.verify(issuer.sign(scp=["ask", "query"], scope=None))
        assert token.scopes == {"ask", "query"}
        [key] = issuer.documents["/realm/keys"]["keys"]
        issuer.documents["/realm/keys"]["keys"] = [{**key, "kid": "k2"}]
        with pytest.raises(NotAllowedError, match="no key of this id"):
            await verifier.verify(issuer.sign(kid="k2"))
        now[0] = 40.0
        assert (await verifier.verify(issuer.sign(kid="k2"))).subject == "ada"


@pytest.mark.parametrize("url", ["", "http://issuer.example.org", "ftp://x"])
def test_an_issuer_has_a_safe_address(url: str) -> None:
    with pytest.raises(SetupError, match="oauth_issuer must be an https URL"):
        AccessTokenVerifier(url, RESOURCE)
