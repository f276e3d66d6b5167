"""The server's settings: the table `[serve]` of `askgraph.toml`, the environment, options.

    [serve]
    host = "0.0.0.0"
    database = "postgresql://askgraph@db/askgraph"
    anonymous = ["ask"]

    [serve.datasets]
    "https://example.org/corporate/" = "products"

Options override environment variables (`ASKGRAPH_SERVE_PORT=9000`), which override the file.
"""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from askgraph.errors import SetupError
from askgraph.server.auth import Scope
from askgraph.server.problems import describe_faults
from askgraph.workspace.settings import SETTINGS_FILE, load_serve_table

_ENV_PREFIX = "ASKGRAPH_SERVE_"
_DATABASE_FILE = "serve.db"
_LOOPBACK_SCOPES: tuple[Scope, ...] = ("ask", "query", "confirm", "manage")
NonNegativeInt = Annotated[int, Field(ge=0)]
PositiveInt = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class ServeSettings(BaseSettings):
    """Settings of a server: where it listens, who may use it, and its limits.

    Zero means no limit for `requests_per_minute`, `tokens_per_day`, `money_per_day` and
    `graphs_per_caller`.
    """

    model_config = SettingsConfigDict(env_prefix=_ENV_PREFIX, frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    root_path: str = Field(
        "", description="Path under which a proxy serves it, such as `/askgraph`."
    )
    database: str = Field(
        "", description="URL of the database; empty: `serve.db` (SQLite) in the workspace."
    )
    anonymous: tuple[Scope, ...] | None = Field(
        None,
        description="What callers without a key may do; by default all but `admin` if only "
        "this machine can connect, nothing elsewhere.",
    )
    proxy_header: str = Field(
        "",
        description="Header in which a trusted proxy names the user, such as `X-Forwarded-User`.",
    )
    proxy_scopes: tuple[Scope, ...] = Field(
        ("ask", "query", "confirm"), description="What users named by the proxy may do."
    )
    trusted_proxies: tuple[str, ...] = Field(
        (), description="Addresses or networks of proxies whose headers are believed."
    )
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Host names that it answers to; by default loopback and `host`."
    )
    cors_origins: tuple[str, ...] = Field(
        (), description="Other web sites whose pages may call it, such as `https://example.org`."
    )
    processes: NonNegativeInt = Field(
        0,
        description="Processes that answer questions; 0: the server itself; `askgraph serve` "
        "starts one per core.",
    )
    open_graphs: PositiveInt = Field(
        40, description="Graphs that each process keeps open; the one asked longest ago is closed."
    )
    stores: PositiveInt = Field(
        5, description="How many of these may have a store process at once."
    )
    parallel: PositiveInt = Field(
        4, description="Questions without a language model that run at once."
    )
    parallel_with_model: PositiveInt = Field(
        128,
        description="Questions with a language model that run at once; they mostly wait for it.",
    )
    queue: NonNegativeInt = Field(1000, description="Questions that may wait for their turn.")
    per_graph: PositiveInt = Field(
        4, description="Questions without a model that run at once on one graph."
    )
    parallel_per_caller: PositiveInt = Field(
        8, description="Questions of one caller that wait or run at once."
    )
    timeout: Seconds = Field(120.0, description="Seconds that a question may take.")
    query_timeout: Seconds = Field(30.0, description="Seconds that a query may take.")
    max_rows: PositiveInt = Field(10_000, description="Rows of a query's result.")
    page_rows: PositiveInt = Field(1000, description="Rows that are sent with an answer.")
    patience: Seconds = Field(
        5.0, description="Seconds that a question continues after its client disconnected."
    )
    grace: NonNegativeInt = Field(
        20, description="Seconds for running questions when it shuts down."
    )
    upload_mb: PositiveInt = Field(200, description="Megabytes that may be uploaded at once.")
    upload_seconds: Seconds = Field(600.0, description="Seconds that adding a graph may take.")
    upload_memory_mb: PositiveInt = Field(4096, description="Memory for reading an upload.")
    graphs_per_caller: NonNegativeInt = Field(
        20, description="Graphs that one caller may have added over the web; 0: no limit."
    )
    private_addresses: tuple[str, ...] = Field(
        (), description="Private hosts or networks from which the page may add graphs."
    )
    requests_per_minute: NonNegativeInt = Field(240, description="Requests per caller and minute.")
    tokens_per_day: NonNegativeInt = Field(
        0, description="Tokens of language models per caller and day."
    )
    money_per_day: float = Field(0.0, ge=0, description="Money for models per caller and day.")
    confirmations: PositiveInt = Field(
        2,
        description="People who must confirm an answer before others get it; 1: anybody's counts.",
    )
    first_graphs: tuple[str, ...] = Field(
        (),
        description="Graphs to list first; the page asks the first of them. `askgraph serve` "
        "sets the graphs of its arguments.",
    )
    methods: tuple[str, ...] = Field((), description="Methods that callers may choose; empty: all.")
    tiles: str = Field(
        "", description="URL template of map tiles, with {z}, {x} and {y}; empty: no tiles."
    )
    images: bool = Field(False, description="Whether the page shows images from other hosts.")
    metrics: Literal["loopback", "admin", "open", "off"] = Field(
        "loopback", description="Who may read /metrics."
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="JSON lines or text; auto: text on a terminal."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The lowest level that is logged."
    )
    datasets: dict[str, str] = Field(
        default_factory=dict, description="Graphs by the IRI of a TEXT2SPARQL dataset."
    )

    @classmethod
    def from_folder(
        cls, folder: Path, options: Mapping[str, object] | None = None, **defaults: object
    ) -> Self:
        """Return the settings of a workspace folder.

        Args:
            options: override all other sources; None means unset.
            defaults: values for settings that no other source sets.

        Raises:
            SetupError: a setting is unknown or its value is invalid.
        """
        try:
            environment: Mapping[str, Any] = EnvSettingsSource(cls, env_prefix=_ENV_PREFIX)()
        except SettingsError as error:
            # A setting that is a list or a table, and is not.
            fields = cls.model_fields
            name = next((value for value in fields if f'"{value}"' in str(error)), "…")
            raise SetupError(
                f"the variable {_ENV_PREFIX}{name.upper()} must contain JSON: a list such "
                'as ["ask"], or a table such as {"https://example.org/": "products"}'
            ) from error
        set_options = {key: value for key, value in (options or {}).items() if value is not None}
        try:
            return cls(**{**defaults, **load_serve_table(folder), **environment, **set_options})
        except ValidationError as error:
            message = describe_faults(error, list(cls.model_fields), noun="setting")
            raise SetupError(
                f"{SETTINGS_FILE}, [serve], or a variable {_ENV_PREFIX}…: {message}"
            ) from error

    def resolve_database(self, folder: Path) -> str:
        """Return the database URL; by default a file in the workspace folder."""
        return self.database or str(folder / _DATABASE_FILE)

    @property
    def is_on_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_personal(self) -> bool:
        """Whether the server is evidently its user's own.

        It listens on loopback, and no setting invites anybody else: scopes for `anonymous`, a
        proxy, other host names, pages of other sites.
        """
        proxies = self.proxy_header, self.trusted_proxies, self.root_path
        invites = self.anonymous is not None or any(proxies)
        return self.is_on_loopback and not (invites or self.allowed_hosts or self.cors_origins)

    @property
    def anonymous_scopes(self) -> tuple[Scope, ...]:
        """Scopes of callers without a key."""
        if self.anonymous is not None:
            return self.anonymous
        return _LOOPBACK_SCOPES if self.is_on_loopback else ()
