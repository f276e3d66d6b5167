"""`askgraph keys`: create, list and revoke API keys of the server."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

import typer

from askgraph.cli import CommandGroup
from askgraph.cli.figures import format_table
from askgraph.cli.output import CommonOptions, check_graphs, print_blocks, print_json
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

if TYPE_CHECKING:  # the server is an extra
    from askgraph.server.store import Store
    from askgraph.server.store.tables import KeyRow

Result = TypeVar("Result")

keys = CommandGroup()


@keys.command("add")
def add(
    common: CommonOptions,
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
    """Create a key and print it: it is shown only this time."""
    from askgraph.server.auth import LimitOverrides
    from askgraph.server.auth.api_keys import generate_key, parse_expiry, parse_scopes

    check_graphs(common.workspace, graph or ())
    key, text = generate_key(
        name,
        parse_scopes(scope or ["ask", "query"]),
        graphs=graph,
        limits=LimitOverrides(requests_per_minute, parallel, tokens_per_day, money_per_day),
        expires=parse_expiry(expires) if expires else None,
    )
    _run_in_store(common.workspace, database, lambda store: store.add_key(key))
    if json:
        print_json({**_to_key_object(key), "key": text})
        return
    typer.echo(text)
    typer.echo(f"{_format_summary(key)} Keep it safe: it is not shown again.", err=True)


@keys.command("list")
def list_keys(common: CommonOptions, database: str | None = None, json: bool = False) -> None:
    """List the keys and their rights, including keys that are no longer valid."""
    key_rows = _run_in_store(common.workspace, database, lambda store: store.list_keys())
    if json:
        print_json([_to_key_object(key) for key in key_rows])
    elif key_rows:
        print_blocks(format_table(_HEADERS, [_format_row(key) for key in key_rows]))
    else:
        typer.echo("No keys yet; create one with askgraph keys add NAME.", err=True)


@keys.command("revoke")
def revoke(
    common: CommonOptions, which: str, database: str | None = None, json: bool = False
) -> None:
    """Revoke a key, immediately and for good."""
    from askgraph.server.auth.api_keys import find_key

    async def revoke_key(store: "Store") -> "KeyRow":
        key = await find_key(store, which)
        await store.revoke_key(key.id)
        return await store.get_key(key.id) or key

    key = _run_in_store(common.workspace, database, revoke_key)
    if json:
        print_json(_to_key_object(key))
    else:
        typer.echo(f"{key.id} ({key.name}) is revoked.")


def _run_in_store(
    workspace: Workspace, database: str | None, work: Callable[["Store"], Awaitable[Result]]
) -> Result:
    from askgraph.server.settings import ServeSettings
    from askgraph.server.store import Store

    folder = workspace.folder
    url = ServeSettings.from_folder(folder, {"database": database}).resolve_database(folder)

    async def run_and_close() -> Result:
        store = await Store.open(url)
        try:
            return await work(store)
        finally:
            await store.close()

    return run_coroutine(run_and_close())


_HEADERS = ("id", "name", "state", "may", "graphs", "limits", "expires", "used")
_LIMIT_LABELS = {
    "requests_per_minute": "requests per minute",
    "parallel": "at once",
    "tokens_per_day": "tokens per day",
    "money_per_day": "money per day",
}
_MINUTE_LENGTH = len("2030-01-31T12:00")


def _to_key_object(key: "KeyRow") -> dict[str, object]:
    from askgraph.server.auth.api_keys import get_key_state

    return {
        "id": key.id, "name": key.name, "state": get_key_state(key), "scopes": sorted(key.scopes),
        "graphs": None if key.graphs is None else sorted(key.graphs), "limits": asdict(key.limits),
        "created": key.created, "expires": key.expires, "revoked": key.revoked, "used": key.used,
    }  # fmt: skip


def _format_row(key: "KeyRow") -> tuple[str, ...]:
    return (
        key.id, key.name, str(_to_key_object(key)["state"]), " ".join(sorted(key.scopes)),
        "all" if key.graphs is None else " ".join(sorted(key.graphs)), _format_limits(key) or "-",
        _format_time(key.expires), _format_time(key.used),
    )  # fmt: skip


def _format_summary(key: "KeyRow") -> str:
    scope_list = ", ".join(sorted(key.scopes))
    graph_list = "all graphs" if key.graphs is None else ", ".join(sorted(key.graphs))
    expiry_note = f", until {_format_time(key.expires)} UTC" if key.expires else ""
    limits = f", with {_format_limits(key)}" if _format_limits(key) else ""
    return f"The key {key.id} of {key.name} may {scope_list} on {graph_list}{expiry_note}{limits}."


def _format_limits(key: "KeyRow") -> str:
    labelled = [
        (_LIMIT_LABELS[name], value)
        for name, value in asdict(key.limits).items()
        if value is not None
    ]
    return ", ".join(f"{value:g} {unit}" if value else f"any {unit}" for unit, value in labelled)


def _format_time(text: str | None) -> str:
    return "-" if text is None else text[:_MINUTE_LENGTH].replace("T", " ")
