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

    `settings.toml` describes each. Zero means no limit for `requests_per_minute`,
    `tokens_per_day`, `money_per_day` and `graphs_per_caller`.
    """

    model_config = SettingsConfigDict(env_prefix=_ENV_PREFIX, frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    root_path: str = ""
    database: str = ""
    anonymous: tuple[Scope, ...] | None = None
    proxy_header: str = ""
    proxy_scopes: tuple[Scope, ...] = ("ask", "query", "confirm")
    trusted_proxies: tuple[str, ...] = ()
    oauth_issuer: str = ""
    oauth_resource: str = ""
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    processes: NonNegativeInt = 0
    open_graphs: PositiveInt = 40
    stores: PositiveInt = 5
    parallel: PositiveInt = 4
    parallel_with_model: PositiveInt = 128
    queue: NonNegativeInt = 1000
    per_graph: PositiveInt = 4
    parallel_per_caller: PositiveInt = 8
    timeout: Seconds = 120.0
    query_timeout: Seconds = 30.0
    max_rows: PositiveInt = 10_000
    page_rows: PositiveInt = 1000
    patience: Seconds = 5.0
    grace: NonNegativeInt = 20
    upload_mb: PositiveInt = 200
    upload_seconds: Seconds = 600.0
    upload_memory_mb: PositiveInt = 4096
    graphs_per_caller: NonNegativeInt = 20
    private_addresses: tuple[str, ...] = ()
    requests_per_minute: NonNegativeInt = 240
    tokens_per_day: NonNegativeInt = 0
    money_per_day: float = Field(0.0, ge=0)
    confirmations: PositiveInt = 2
    first_graphs: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    tiles: str = ""
    images: bool = False
    metrics: Literal["loopback", "admin", "open", "off"] = "loopback"
    log_format: Literal["auto", "json", "text"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    datasets: dict[str, str] = Field(default_factory=dict)

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
            name = next((value for value in cls.model_fields if f'"{value}"' in str(error)), "…")
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
        proxy, an issuer of tokens, other host names, pages of other sites.
        """
        proxies = self.proxy_header, self.trusted_proxies, self.root_path, self.oauth_issuer
        invites = self.anonymous is not None or any(proxies)
        return self.is_on_loopback and not (invites or self.allowed_hosts or self.cors_origins)

    @property
    def anonymous_scopes(self) -> tuple[Scope, ...]:
        """Scopes of callers without a key."""
        if self.anonymous is not None:
            return self.anonymous
        return _LOOPBACK_SCOPES if self.is_on_loopback else ()
