"""`askgraph keys`: who may use the server, and how much: API keys made, listed and revoked."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

import typer

from askgraph.cli import Commands
from askgraph.cli.figures import as_table
from askgraph.cli.options import Common, check_graphs
from askgraph.cli.output import print_json, show
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

if TYPE_CHECKING:  # the server is an extra
    from askgraph.server.store import Store
    from askgraph.server.store.tables import KeyRow

Result = TypeVar("Result")

keys = Commands()


@keys.command("add")
def add(
    common: Common,
    name: str,
    scope: list[str] | None = None,
    graph: list[str] | None = None,
    expires: str | None = None,
    requests_per_minute: int | None = None,
    parallel: int | None = None,
    tokens_per_day: int | None = None,
    money_per_day: float | None = None,
    database: str | None = None,
    json: bool = False,
) -> None:
    """Make a key and print it: it is shown now and never again.

    Its owner sends it with each request, as 'Authorization: Bearer askgraph_…'.
    """
    from askgraph.server.auth import OwnLimits
    from askgraph.server.auth.api_keys import expiry, new_key, read_scopes

    check_graphs(common.workspace, graph or ())
    key, text = new_key(
        name,
        read_scopes(scope or ["ask", "query"]),
        graphs=graph,
        limits=OwnLimits(requests_per_minute, parallel, tokens_per_day, money_per_day),
        expires=expiry(expires) if expires else None,
    )
    _in_store(common.workspace, database, lambda store: store.add_key(key))
    if json:
        print_json({**_key_object(key), "key": text})
        return
    typer.echo(text)
    typer.echo(f"{_words(key)} Keep it safe: it is not shown again.", err=True)


@keys.command("list")
def list_(common: Common, database: str | None = None, json: bool = False) -> None:
    """List the keys with what they allow, also those that are no longer valid."""
    found = _in_store(common.workspace, database, lambda store: store.keys())
    if json:
        print_json([_key_object(key) for key in found])
    elif found:
        show(as_table(_HEADS, [_cells(key) for key in found]))
    else:
        typer.echo("There are no keys; askgraph keys add NAME makes one.", err=True)


@keys.command("revoke")
def revoke(common: Common, which: str, database: str | None = None, json: bool = False) -> None:
    """Make a key worthless, at once and for good."""
    from askgraph.server.auth.api_keys import found_key

    async def revoked(store: "Store") -> "KeyRow":
        key = await found_key(store, which)
        await store.revoke(key.id)
        return await store.key(key.id) or key

    key = _in_store(common.workspace, database, revoked)
    if json:
        print_json(_key_object(key))
    else:
        typer.echo(f"{key.id} ({key.name}) is revoked.")


def _in_store(
    place: Workspace, database: str | None, work: Callable[["Store"], Awaitable[Result]]
) -> Result:
    """Do something with the server's database."""
    from askgraph.server.settings import ServeSettings
    from askgraph.server.store import Store

    folder = place.folder
    url = ServeSettings.of(folder, {"database": database}).database_in(folder)

    async def done() -> Result:
        store = await Store.open(url)
        try:
            return await work(store)
        finally:
            await store.close()

    return result_of(done())


_HEADS = ("id", "name", "state", "may", "graphs", "limits", "expires", "used")
_SHORT = {
    "requests_per_minute": "requests a minute",
    "parallel": "at once",
    "tokens_per_day": "tokens a day",
    "money_per_day": "money a day",
}
_MINUTE = len("2030-01-31T12:00")


def _key_object(key: "KeyRow") -> dict[str, object]:
    """A key for JSON: all but its secret."""
    from askgraph.server.auth.api_keys import state_of

    return {
        "id": key.id,
        "name": key.name,
        "state": state_of(key),
        "scopes": sorted(key.scopes),
        "graphs": None if key.graphs is None else sorted(key.graphs),
        "limits": asdict(key.limits),
        "created": key.created,
        "expires": key.expires,
        "revoked": key.revoked,
        "used": key.used,
    }


def _cells(key: "KeyRow") -> tuple[str, ...]:
    """A key as the cells of a row under `_HEADS`."""
    return (
        key.id,
        key.name,
        str(_key_object(key)["state"]),
        " ".join(sorted(key.scopes)),
        "all" if key.graphs is None else " ".join(sorted(key.graphs)),
        _limits(key) or "-",
        _time(key.expires),
        _time(key.used),
    )


def _words(key: "KeyRow") -> str:
    may = ", ".join(sorted(key.scopes))
    where = "all graphs" if key.graphs is None else ", ".join(sorted(key.graphs))
    until = f", until {_time(key.expires)} UTC" if key.expires else ""
    limits = f", with {_limits(key)}" if _limits(key) else ""
    return f"The key {key.id} of {key.name} may {may} on {where}{until}{limits}."


def _limits(key: "KeyRow") -> str:
    own = [(_SHORT[name], value) for name, value in asdict(key.limits).items() if value is not None]
    return ", ".join(f"{value:g} {what}" if value else f"any {what}" for what, value in own)


def _time(text: str | None) -> str:
    return "-" if text is None else text[:_MINUTE].replace("T", " ")
