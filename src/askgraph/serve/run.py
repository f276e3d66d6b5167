"""The server process: it listens, reports its address, and finishes its work before it stops."""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence

import uvicorn

from askgraph.errors import AskgraphError, SetupError
from askgraph.operations.answering import outcome_of
from askgraph.serve.app import create_app
from askgraph.serve.hub import Hub
from askgraph.serve.identity.identify import check_rules
from askgraph.serve.identity.principal import Principal
from askgraph.serve.middleware.logs import set_up_logs
from askgraph.serve.settings import ServeSettings
from askgraph.serve.store import Store
from askgraph.trace import Question
from askgraph.workspace import DEFAULT_METHOD, Workspace

Report = Callable[[str, ServeSettings, Sequence[str]], None]
_WARMED = 3  # graphs that are opened ahead
_WARMING = 10.0  # seconds for the question to each
_SERVER = Principal("server", "the server", frozenset({"admin"}))
_log = logging.getLogger("askgraph.serve")


def run(
    settings: ServeSettings,
    workspace: Workspace,
    *,
    report: Report,
    opened: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; `report` gets the address once it listens.

    Then no more connections are taken, and questions under way have `settings.grace` seconds.
    Raises `SetupError` if the address cannot be used or the settings do not go together, and
    the errors of opening the database.
    """
    set_up_logs(settings)
    check_rules(settings)
    asyncio.run(_check_database(settings.database_in(workspace.folder)))
    server, listening = server_of(settings, workspace, report=report, opened=opened)
    server.run(sockets=[listening])


def server_of(
    settings: ServeSettings,
    workspace: Workspace,
    *,
    report: Report,
    opened: Callable[[str], None] | None = None,
) -> tuple[uvicorn.Server, socket.socket]:
    """Return a server that is ready to run, and the socket that it is to listen on; see `run`."""
    listening = _listening(settings)
    address = _address(settings, listening.getsockname()[1])
    config = uvicorn.Config(
        create_app(settings, workspace),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.grace + 5,
        proxy_headers=False,  # see `BehindProxy`, which also remembers who the proxy is
        ws_max_size=256 * 1024,
        h11_max_incomplete_event_size=64 * 1024,
        timeout_keep_alive=30,
    )
    server = _Server(config, lambda: _announce(address, settings, workspace, report, opened))
    return server, listening


class _Server(uvicorn.Server):
    """Reports that it takes requests; hands questions back before it waits for connections."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started
        self._warming: asyncio.Task[None] | None = None

    @property
    def _hub(self) -> Hub | None:
        return getattr(self.config.app.state, "hub", None)  # type: ignore[union-attr]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()
            if self._hub is not None:
                self._warming = asyncio.create_task(warm_up(self._hub), name="warm up")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait([self._warming])
        if self._hub is not None:
            await self._hub.stop()
        await super().shutdown(sockets)
        self._captured_signals.clear()  # they asked for this end, which is none of a failure


async def _check_database(url: str) -> None:
    """Open the database once, so that its errors are reported in plain words."""
    store = await Store.open(url)
    await store.close()


def _listening(settings: ServeSettings) -> socket.socket:
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.set_inheritable(False)
    except OSError as error:
        raise SetupError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror or error}; choose "
            "another --port (0 takes a free one) or --host"
        ) from error
    return listening


def _address(settings: ServeSettings, port: int) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    return f"http://{host}:{port}{settings.root_path}/"


def _announce(
    address: str,
    settings: ServeSettings,
    workspace: Workspace,
    report: Report,
    opened: Callable[[str], None] | None,
) -> None:
    report(address, settings, list(workspace.graphs()))
    if opened is not None:
        opened(address)


async def warm_up(hub: Hub) -> None:
    """Open the first graphs that lie here, and ask each something; failures are left for later.

    Endpoints elsewhere are left alone, and nothing is kept of it.
    """
    graphs = hub.workspace.graphs()
    here = [name for name, settings in graphs.items() if settings.url is None]
    for name in here[:_WARMED]:
        try:
            method = await asyncio.to_thread(hub.workspace.method, DEFAULT_METHOD)
            async with hub.graphs.lease(name, _SERVER) as graph:
                await outcome_of(Question("What is there?"), method, [graph], timeout=_WARMING)
        except AskgraphError as error:
            _log.info("graph %r was not opened ahead: %s", name, error)
