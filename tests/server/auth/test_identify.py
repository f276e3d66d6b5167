"""Who a request is from, and what they may."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from tests.each import for_each
from tests.server.auth.conftest import MakeAccounts

from askgraph.errors import SetupError
from askgraph.server.auth import LimitExceededError, LimitOverrides, NotAllowedError
from askgraph.server.auth.api_keys import generate_key
from askgraph.server.auth.identify import (
    VISITOR_COOKIE,
    ProxyHeaders,
    RequestCredentials,
    generate_visitor,
)
from askgraph.server.settings import ServeSettings

ELSEWHERE = {"host": "192.0.2.1"}
PROXY = {"proxy_header": "X-Forwarded-User", "trusted_proxies": ["10.0.0.0/8"], **ELSEWHERE}


def by_key(text: str, client: str = "198.51.100.7") -> RequestCredentials:
    return RequestCredentials({"authorization": f"Bearer {text}"}, client=client)


async def test_who_may_do_what(accounts: MakeAccounts) -> None:
    # On this machine anybody may do all but administer.
    known, _ = await accounts()
    caller = await known.identify(RequestCredentials(client="127.0.0.1"))
    assert (caller.id, caller.graphs) == ("anonymous", None)
    assert caller.scopes == {"ask", "query", "confirm", "manage"}
    with pytest.raises(NotAllowedError) as caught:
        caller.require_scope("admin")
    assert caught.value.status == 401
    # Elsewhere nobody may do anything without a key.
    known, _ = await accounts(**ELSEWHERE)
    assert (await known.identify(RequestCredentials(client="127.0.0.1"))).scopes == frozenset()
    # Anonymous callers may what was chosen.
    known, _ = await accounts(anonymous=["ask"], **ELSEWHERE)
    caller = await known.identify(RequestCredentials(client="198.51.100.7"))
    assert caller.scopes == {"ask"}
    # A proxy before a server on this machine opens it to nobody.
    known, _ = await accounts()
    handed_on = RequestCredentials({"x-forwarded-for": "198.51.100.7"}, client="127.0.0.1")
    assert (await known.identify(handed_on)).scopes == frozenset()
    chosen, _ = await accounts(anonymous=["ask"])
    assert (await chosen.identify(handed_on)).scopes == {"ask"}
    # A key gives what it was made for.
    known, store = await accounts(requests_per_minute=100, **ELSEWHERE)
    own = LimitOverrides(requests_per_minute=5, parallel=0)
    key, text = generate_key("Ann's phone", ["ask", "query"], graphs=["space"], limits=own)
    await store.add_key(key)
    for asking in (by_key(text), RequestCredentials({"x-api-key": text})):
        caller = await known.identify(asking)
        assert (caller.id, caller.name) == (f"key:{key.id}", "Ann's phone")
        assert caller.has_scope("ask") and not caller.has_scope("confirm")
        assert caller.can_see("space") and not caller.can_see("rocks")
        assert caller.limits.requests_per_minute == 5
        assert (caller.limits.parallel, caller.limits.tokens_per_day) == (0, 0)
    with pytest.raises(NotAllowedError, match="needs the scope 'admin'") as caught:
        caller.require_scope("admin")
    assert caught.value.status == 403


async def test_keys_that_are_not_accepted(accounts: MakeAccounts) -> None:
    # The store does not know the secret.
    _, store = await accounts()
    key, text = generate_key("phone", ["ask"])
    await store.add_key(key)
    secret = text.removeprefix(f"askgraph_{key.id}_")
    assert len(secret) == 43 and secret not in repr(await store.list_keys())
    # Expired and revoked keys are refused with the reason.
    known, store = await accounts()
    over, old = generate_key("old", ["ask"], expires=datetime.now(UTC) - timedelta(seconds=1))
    gone, lost = generate_key("lost", ["ask"])
    await store.add_key(over)
    await store.add_key(gone)
    assert (await known.identify(by_key(lost))).name == "lost"
    await store.revoke_key(gone.id)
    with pytest.raises(NotAllowedError, match="revoked"):
        await known.identify(by_key(lost))
    with pytest.raises(NotAllowedError, match="expired"):
        await known.identify(by_key(old))
    # A token of somebody else says nothing.
    known, _ = await accounts()
    for given in ("Bearer sk-something", "Basic YW5uOnB3", "Bearer"):
        asking = RequestCredentials({"authorization": given}, client="127.0.0.1")
        assert (await known.identify(asking)).id == "anonymous"
    # Guessing is stopped and a good key of the neighbour is not.
    known, store = await accounts()
    (mine, text), (guessed, _) = generate_key("mine", ["ask"]), generate_key("guessed", ["ask"])
    await store.add_key(mine)
    await store.add_key(guessed)
    ended: list[type[Exception]] = []
    for at in range(15):
        with pytest.raises((NotAllowedError, LimitExceededError)) as caught:
            await known.identify(by_key(f"askgraph_{guessed.id}_{at}"))
        ended.append(caught.type)
    assert ended == [NotAllowedError] * 10 + [LimitExceededError] * 5
    assert (await known.identify(by_key(text))).name == "mine"
    with pytest.raises(NotAllowedError):
        await known.identify(by_key(f"askgraph_{guessed.id}_x", client="203.0.113.9"))


@for_each("change", ["another secret", "another id", "cut", "longer", "no key"])
async def test_a_key_that_is_not_exactly_ours_is_refused(
    accounts: MakeAccounts, change: str
) -> None:
    known, store = await accounts()
    (key, text), (_, other) = generate_key("phone", ["ask"]), generate_key("other", ["ask"])
    await store.add_key(key)
    wrong = {
        "another secret": f"askgraph_{key.id}_{other.split('_', 2)[2]}",
        "another id": other,
        "cut": text[:-1],
        "longer": text + "A" * 500,
        "no key": "askgraph_",
    }[change]
    with pytest.raises(NotAllowedError, match="unknown API key") as caught:
        await known.identify(by_key(wrong))
    assert caught.value.status == 401


async def test_proxies_and_visitors(accounts: MakeAccounts) -> None:
    # A trusted proxy says who the user is and nobody else does.
    known, _ = await accounts(proxy_scopes=["ask"], **PROXY)
    word = {"x-forwarded-user": "Zoë".encode().decode("latin-1")}
    user = await known.identify(RequestCredentials(word, client="203.0.113.9", peer="10.1.2.3"))
    assert (user.id, user.name, set(user.scopes)) == ("user:Zoë", "Zoë", {"ask"})
    forged = await known.identify(
        RequestCredentials(word, client="198.51.100.7", peer="198.51.100.7")
    )
    assert (forged.id, forged.scopes) == ("anonymous", frozenset())
    # A visitor is known again by the cookie which the id does not tell.
    known, _ = await accounts()
    cookie = generate_visitor()
    first = await known.identify(RequestCredentials({}, {VISITOR_COOKIE: cookie}, "127.0.0.1"))
    again = await known.identify(RequestCredentials({}, {VISITOR_COOKIE: cookie}, "127.0.0.1"))
    other = await known.identify(
        RequestCredentials({}, {VISITOR_COOKIE: generate_visitor()}, "127.0.0.1")
    )
    assert first.id == again.id != other.id
    assert first.id.startswith("visitor:") and cookie not in first.id
    forged = await known.identify(
        RequestCredentials({}, {VISITOR_COOKIE: first.id.removeprefix("visitor:")}, "127.0.0.1")
    )
    assert forged.id != first.id


@pytest.mark.parametrize("name", ["", "  "])
async def test_a_proxy_that_names_nobody_names_nobody(accounts: MakeAccounts, name: str) -> None:
    known, _ = await accounts(**PROXY)
    caller = await known.identify(RequestCredentials({"x-forwarded-user": name}, peer="10.1.2.3"))
    assert caller.id == "anonymous"


@for_each("name", ["a" * 500, "ann\tadmin", "\xff\xfe"])
async def test_a_proxy_that_names_no_name_is_refused(accounts: MakeAccounts, name: str) -> None:
    known, _ = await accounts(**PROXY)
    with pytest.raises(NotAllowedError):
        await known.identify(RequestCredentials({"x-forwarded-user": name}, peer="10.1.2.3"))


@for_each("cookie", ["", "admin", "x" * 5000, "../../etc/passwd", "é" * 32])
async def test_a_cookie_that_was_never_set_is_nobodys(accounts: MakeAccounts, cookie: str) -> None:
    known, _ = await accounts()
    caller = await known.identify(RequestCredentials({}, {VISITOR_COOKIE: cookie}, "127.0.0.1"))
    assert caller.id == "anonymous" and not caller.has_history


@for_each(
    ("settings", "words"),
    [
        ({"anonymous": ["ask", "admin"]}, "cannot be administrators"),
        ({"proxy_header": "X-User"}, "needs trusted_proxies"),
        ({"oauth_issuer": "https://e.org"}, "oauth_resource must be an https URL"),
        ({"proxy_header": "X-User", "trusted_proxies": ["proxy.example"]}, "'proxy.example'"),
    ],
)
async def test_settings_that_trust_too_much_are_refused(
    accounts: MakeAccounts, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(SetupError, match=words):
        await accounts(**settings)


CALLER = b"203.0.113.9"


async def client_seen(tmp_path: Path, *forwarded: bytes, peer: str = "10.0.0.1") -> str:
    """The address that is counted for a request with these lines of X-Forwarded-For."""
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["client"][0])

    async def nothing(*_: object) -> None:
        raise AssertionError("nothing is read or sent")

    settings = ServeSettings.from_folder(tmp_path, {"trusted_proxies": ("10.0.0.0/8",)})
    headers = [(b"x-forwarded-for", line) for line in forwarded]
    scope = {"type": "http", "client": (peer, 1), "headers": headers, "scheme": "http"}
    await ProxyHeaders(app, settings)(scope, nothing, nothing)  # type: ignore[arg-type]
    return seen[0]


@for_each(
    ("peer", "forwarded", "caller"),
    [
        ("10.0.0.1", (CALLER,), CALLER),
        ("10.0.0.1", (b"192.0.2.1, " + CALLER,), CALLER),
        ("10.0.0.1", (b"192.0.2.1", CALLER, b"10.0.0.2"), CALLER),
        ("::ffff:10.0.0.1", (CALLER,), CALLER),
        ("10.0.0.1", (b"192.0.2.1, nonsense",), b"10.0.0.1"),
        ("10.0.0.1", (), b"10.0.0.1"),
        ("203.0.113.9", (b"192.0.2.1",), CALLER),  # nobody else is believed
    ],
)
async def test_the_caller_is_who_the_proxy_saw_whatever_they_say_themselves(
    tmp_path: Path, peer: str, forwarded: tuple[bytes, ...], caller: bytes
) -> None:
    assert await client_seen(tmp_path, *forwarded, peer=peer) == caller.decode()
