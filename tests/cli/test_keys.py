"""`askgraph keys`: what it prints, and what the server makes of it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.running import Done, Run, askgraph
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.server.auth import NotAllowedError, Principal
from askgraph.server.auth.api_keys import parse_expiry
from askgraph.server.auth.identify import CallerAccounts, RequestCredentials
from askgraph.server.settings import ServeSettings
from askgraph.server.store import Store


@pytest.fixture
def run(moons: Path, tmp_path: Path) -> Run:
    def finished(*words: object) -> Done:
        given = ("--database", tmp_path / "serve.db")
        return askgraph("keys", *words, *given, workspace=moons, folder=tmp_path)

    return finished


def caller(folder: Path, key: str) -> Principal:
    """Who the server takes the holder of a key for."""

    async def identified() -> Principal:
        store = await Store.open(str(folder / "serve.db"))
        try:
            known = CallerAccounts(ServeSettings.from_folder(folder), store)
            return await known.identify(RequestCredentials({"authorization": f"Bearer {key}"}))
        finally:
            await store.close()

    return asyncio.run(identified())


def test_a_key_is_printed_once_and_opens_the_server(run: Run, tmp_path: Path) -> None:
    made = run("add", "Ann's phone", "--scope", "ask", "-g", "moons", "--requests-per-minute", 5)
    assert made.returncode == 0
    key = made.stdout.strip()
    known = caller(tmp_path, key)
    assert known.name == "Ann's phone"
    assert set(known.scopes) == {"ask"} and known.can_see("moons") and not known.can_see("rocks")
    assert known.limits.requests_per_minute == 5
    assert "may ask on moons, with 5 requests per minute" in made.stderr
    listed = run("list")
    assert "Ann's phone" in listed.stdout and "valid" in listed.stdout
    assert key.split("_", 2)[2] not in listed.stdout


def test_a_key_as_json_is_the_same_with_the_key(run: Run) -> None:
    made = json.loads(run("add", "script", "--expires", "90d", "--json").stdout)
    assert made.pop("key").startswith(f"askgraph_{made['id']}_")
    assert (made["scopes"], made["graphs"], made["state"]) == (["ask", "query"], None, "valid")
    assert json.loads(run("list", "--json").stdout) == [made]


@for_each("by", ["id", "name", "key"], share_folder=True)
def test_a_revoked_key_opens_nothing_and_stays_in_the_list(
    run: Run, tmp_path: Path, by: str
) -> None:
    made = json.loads(run("add", "lost", "--json").stdout)
    assert caller(tmp_path, made["key"]).name == "lost"
    assert run("revoke", made[by]).stdout == f"{made['id']} (lost) is revoked.\n"
    with pytest.raises(NotAllowedError, match="revoked"):
        caller(tmp_path, made["key"])
    assert "revoked" in run("list").stdout


@for_each(
    ("words", "said"),
    (("add", "x", "--scope", "root"), "'root' is not a scope"),
    (("add", "x", "-g", "rocks"), "no graph 'rocks'"),
    (("add", "x", "--expires", "soon"), "not a time to expire"),
    (("revoke", "nobody"), "no key matches"),
)
def test_what_makes_no_sense_is_refused_in_words(
    run: Run, words: tuple[str, ...], said: str
) -> None:
    refused = run(*words)
    assert refused.returncode == 2 and said in refused.stderr
    assert json.loads(run("list", "--json").stdout) == []


def test_of_two_keys_with_one_name_none_is_revoked_by_it(run: Run) -> None:
    run("add", "twin")
    run("add", "twin")
    refused = run("revoke", "twin")
    assert refused.returncode == 2 and "2 keys have the name 'twin'" in refused.stderr


@for_each(
    ("text", "until"),
    ("12h", datetime(2030, 1, 1, 12, tzinfo=UTC)),
    ("90d", datetime(2030, 4, 1, tzinfo=UTC)),
    ("2030-06-01", datetime(2030, 6, 1, tzinfo=UTC)),
    ("2030-06-01T12:00+02:00", datetime(2030, 6, 1, 10, tzinfo=UTC)),
)
def test_a_key_expires_after_a_while_or_at_a_date(text: str, until: datetime) -> None:
    assert parse_expiry(text, today=datetime(2030, 1, 1, tzinfo=UTC)) - until == timedelta(0)


@for_each("text", ["0d", "2029-12-31", "99999w", "-1d", "1y", ""])
def test_a_key_that_would_be_of_no_use_is_not_made(text: str) -> None:
    with pytest.raises(SetupError):
        parse_expiry(text, today=datetime(2030, 1, 1, tzinfo=UTC))
