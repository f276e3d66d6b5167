"""Read and write `askgraph.toml`: the graphs of a workspace, and settings of methods and models.

    [graphs.space]
    sources = ["/data/space.ttl"]

    [graphs.wikidata]
    url = "https://query.wikidata.org/sparql"
    timeout = 60.0
    auth = "bearer"
    token_env = "WIKIDATA_TOKEN"      # the name of a variable; a secret is never written here

    [models.default]
    model = "qwen3:8b"
    base_url = "http://localhost:11434/v1"

    [methods.graph_search]
    states = 100

The file belongs to the user: its comments and order survive changes by askgraph.
"""

import json
import re
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from askgraph.atomic_files import write_text_atomically
from askgraph.errors import SetupError
from askgraph.plugins import explain_removal

SETTINGS_FILE = "askgraph.toml"
_PATH_SETTINGS = ("ranking",)
_TYPE_NAMES: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    NoneType: "null",
    tuple[str, ...]: "a list of texts",
}
MODEL_SETTINGS = ("model", "provider", "base_url", "key_env", "sent")
"""The settings of a method that choose its model, and the log file of its requests."""
AUTH_KINDS = ("none", "basic", "digest", "bearer", "header")
# Nanoseconds after which a rewritten file has a different timestamp.
_MIN_CACHE_AGE_NANOSECONDS = 10**9
_FILE_HEADER = (
    "# The graphs of this askgraph workspace. Edit as you like: comments and order are kept.\n"
)


def read_endpoint_file(path: Path, name: str) -> dict[str, object]:
    """Return the settings of an endpoint that a peer's JSON file describes; empty for other files.

    `info.json` of GRASP stands beside its index data. The settings of SPARQL-LLM list endpoints:
    the name of the graph is the `label` of one, in lower case and with hyphens.

    Raises:
        SetupError: no endpoint of the list has this name.
    """
    if path.suffix != ".json" or not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError:
        return {}
    match content:
        case {"endpoint": str(url)}:
            names = (key for key in ("entities", "properties") if (path.parent / key).is_dir())
            return {"url": url, **{key: str(path.parent.absolute() / key) for key in names}}
        case {"endpoints": [{"endpoint_url": str()}, *_] as items}:
            endpoints = [x for x in items if isinstance(x, dict) and x.get("endpoint_url")]
            labels = [str(item.get("label") or item["endpoint_url"]) for item in endpoints]
            slugs = [re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-") for label in labels]
            if name not in slugs:
                raise SetupError(f"{path} has no endpoint {name!r}; available: {', '.join(slugs)}")
            item = endpoints[slugs.index(name)]
            files = {"profile": item.get("void_file"), "examples": item.get("examples_file")}
            paths = {key: str(path.parent.absolute() / file) for key, file in files.items() if file}
            return {"url": item["endpoint_url"], **paths}
        case _:
            return {}


@dataclass(frozen=True)
class GraphSettings:
    """One `[graphs.NAME]` table: either `sources` (files and folders) or a `url`.

    `auth` is none, basic, digest, bearer or header; `user_env`, `password_env`, `token_env` and
    `header_env` name environment variables. `timeout` is in seconds, `graphs` are the IRIs
    of the named graphs to read (empty: all), `requests_a_minute` limits the requests to the
    endpoint (0: no limit), `ca_file` holds certificates to trust, `cache_mb` and
    `cache_hours` limit the cache of replies.

    `index` is the kind of the indices of entities and properties, or of entities alone if
    there is a `properties_index`; `embeddings` is the embedding model of their names; with
    `comments`, descriptions are searched too; `on` is the address of the server that holds
    all indices, if they are not in files. `entities` and `properties` name the sources of
    these indices (see `indices`), `dump` lists RDF files as the default source. `examples`
    is a file, folder or archive of questions with queries. `enrich` is a file of virtual
    definitions (`askgraph enrich`). `vocabularies` are files on what people call the terms
    of a vocabulary, besides those in the package. Relative paths start at the workspace's
    folder.
    With `strict`, files with invalid IRIs or language tags are refused, not mended; `contexts`
    is a folder of JSON-LD contexts by the last part of their addresses.
    `name_search` is the endpoint's search for names that could not be read, `profile` a
    VoID file with metadata of the endpoint.

    With `public_only`, the URL and linked metadata are fetched from public addresses only,
    and from the hosts and networks of `private_addresses`; graphs added over the web have
    it. `added_by` is the user who added such a graph. A `personal` graph has a private address
    that only a personal server accepts (`ServeSettings.is_personal`); no other server shows it.
    """

    sources: tuple[str, ...] = ()
    url: str | None = None
    dialect: str | None = None
    auth: str = "none"
    user_env: str | None = None
    password_env: str | None = None
    token_env: str | None = None
    header: str | None = None
    header_env: str | None = None
    ca_file: str | None = None
    timeout: float = 60.0
    graphs: tuple[str, ...] = ()
    requests_a_minute: int = 600
    cache_mb: int = 200
    cache_hours: float = 24.0
    index: str = "keyword"
    properties_index: str | None = None
    comments: bool = False
    entities: str | None = None
    properties: str | None = None
    dump: tuple[str, ...] = ()
    embeddings: str | None = None
    on: str | None = None
    examples: str | None = None
    enrich: str = ""
    vocabularies: tuple[str, ...] = ()
    strict: bool = False
    contexts: str | None = None
    name_search: str | None = None
    profile: str | None = None
    public_only: bool = False
    private_addresses: tuple[str, ...] = ()
    added_by: str = ""
    personal: bool = False

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any]) -> Self:
        """Parse a table; `SetupError` names unknown settings and wrong types."""
        where, hints = f"{SETTINGS_FILE}: [graphs.{name}]", _get_type_hints(GraphSettings)
        for key, value in table.items():
            if key not in hints:
                raise SetupError(
                    f"{where} has an unknown setting {key!r}; available: {', '.join(hints)}"
                )
            kinds = [kind for kind in _list_types(hints[key]) if kind is not NoneType]
            if not any(_has_type(value, kind) for kind in kinds):
                raise SetupError(f"{where} {key} must be {_TYPE_NAMES[kinds[0]]}, not {value!r}")
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        settings = cls(**values)
        if bool(settings.sources) == bool(settings.url):
            raise SetupError(f"{where} must have either `sources` or a `url`")
        if settings.auth not in AUTH_KINDS:
            raise SetupError(
                f"{where} auth {settings.auth!r} is not one of {', '.join(AUTH_KINDS)}"
            )
        return settings

    def to_table(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults, as TOML values."""
        return {
            field.name: list(value) if isinstance(value, tuple) else value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }


def load_graph_settings(folder: Path) -> dict[str, GraphSettings]:
    """Return the settings of all graphs of a workspace, in the order of the file."""
    tables = _read_tables(folder, "graphs")
    return {name: GraphSettings.from_table(name, table) for name, table in tables.items()}


def load_method_settings(folder: Path, method: str) -> dict[str, Any]:
    """Return the `[methods.NAME]` table of a method; dashes equal underscores.

    Relative paths in it (`ranking`) start at the workspace's folder.
    """
    tables = {
        name.replace("-", "_"): table for name, table in _read_tables(folder, "methods").items()
    }
    table = dict(tables.get(method.replace("-", "_"), {}))
    for key in _PATH_SETTINGS:
        value = table.get(key)
        if isinstance(value, str) and (Path(value).suffix or Path(value).parent.name):
            table[key] = str(folder / Path(value).expanduser())
    return table


def load_model_tables(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the `[models.NAME]` tables by name."""
    return _read_tables(folder, "models")


def load_serve_table(folder: Path) -> dict[str, Any]:
    """Return the table `[serve]` with the settings of the server."""
    table = _read_document(folder).get("serve", {})
    if not isinstance(table, dict):
        raise SetupError(f"{folder / SETTINGS_FILE}: 'serve' must be a table: write [serve]")
    return table


def write_graph_settings(folder: Path, name: str, settings: GraphSettings) -> None:
    """Add a graph to the file, or replace its settings."""
    with _change_tables(folder, "graphs") as graphs:
        old = graphs.get(name)
        new = settings.to_table()
        if old is None:
            graphs[name] = new
            return
        for key in [key for key in old if key not in new]:
            del old[key]
        for key, value in new.items():
            if old.get(key) != value:
                old[key] = value


def write_method_settings(folder: Path, name: str, settings: Mapping[str, str]) -> None:
    """Write settings into the table of a method; its other settings stay."""
    with _change_tables(folder, "methods") as methods:
        names_by_module = {method_name.replace("-", "_"): method_name for method_name in methods}
        methods.setdefault(names_by_module.get(name.replace("-", "_"), name), {}).update(settings)


def remove_graph_settings(folder: Path, name: str) -> None:
    """Remove a graph from the file."""
    with _change_tables(folder, "graphs") as graphs:
        graphs.pop(name, None)


def _read_tables(folder: Path, kind: str) -> dict[str, dict[str, Any]]:
    tables = _read_document(folder).get(kind, {})
    if not isinstance(tables, dict) or not all(
        isinstance(table, dict) for table in tables.values()
    ):
        raise SetupError(
            f"{folder / SETTINGS_FILE}: [{kind}] must contain a table for each name: write "
            f"[{kind}.NAME]"
        )
    return tables


def _read_document(folder: Path) -> dict[str, Any]:
    path = folder / SETTINGS_FILE
    try:
        state = path.stat()
        if time.time_ns() - state.st_mtime_ns < _MIN_CACHE_AGE_NANOSECONDS:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        return deepcopy(_parse_cached(path, state.st_mtime_ns, state.st_size, state.st_ino))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error


@lru_cache(16)
def _parse_cached(path: Path, *state: int) -> dict[str, Any]:
    """Parse a file in this state; each question needs it several times."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@contextmanager
def _change_tables(folder: Path, kind: str) -> Iterator[Any]:
    """Yield the tables of a kind by name, to be changed; then write the file."""
    import tomlkit.exceptions  # slow to import, and most commands only read the workspace

    path = folder / SETTINGS_FILE
    text = path.read_text(encoding="utf-8") if path.exists() else _FILE_HEADER
    try:
        document = tomlkit.parse(text)
    except tomlkit.exceptions.ParseError as error:
        raise SetupError(f"{path} cannot be read: {error}") from error
    yield document.setdefault(kind, tomlkit.table(is_super_table=True))
    write_text_atomically(path, tomlkit.dumps(document))


def check_settings(
    name: str, plugin: Callable[..., object], settings: Mapping[str, object]
) -> None:
    """Raise `SetupError` for a setting without a field of the method, or a value of a wrong type.

    A field of a type that settings cannot express accepts any value.
    """
    if isinstance(plugin, type) and is_dataclass(plugin):
        check_fields(f"method {name!r}", plugin, settings)


def check_fields(owner: str, kind: type, settings: Mapping[str, object]) -> None:
    """Raise `SetupError` for a setting without a field of the dataclass, or of a wrong type."""
    names = [field.name for field in fields(kind) if field.init]
    hints = _get_type_hints(kind)
    for setting, value in settings.items():
        if setting not in names:
            if removal := explain_removal("setting", setting) or explain_removal(
                f"setting of {owner}".replace("_", "-"), setting
            ):
                raise SetupError(f"{owner}: {removal}")
            field_list = f"available: {', '.join(names)}" if names else "it has no settings"
            raise SetupError(f"{owner} has no setting {setting!r}; {field_list}")
        types = _list_types(hints.get(setting, object))
        if all(kind in _TYPE_NAMES for kind in types) and not any(
            _has_type(value, expected_type) for expected_type in types
        ):
            raise SetupError(
                f"{owner}: the setting {setting!r} must be "
                f"{' or '.join(_TYPE_NAMES[kind] for kind in types)}, not {value!r}"
            )


@cache
def _get_type_hints(kind: type) -> dict[str, Any]:
    try:
        return get_type_hints(kind)
    except NameError:  # a type that is only there for type checkers
        return {}


def _list_types(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _has_type(value: object, kind: Any) -> bool:
    if isinstance(value, bool):
        return kind is bool
    if get_origin(kind) is tuple:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, (int, float) if kind is float else kind)


def parse_method_spec(spec: str) -> tuple[str, dict[str, object]]:
    """Return name and settings of `graph-search:operators=false`; raise `SetupError` if wrong."""
    name, _, options = spec.partition(":")
    return name, dict(parse_setting(text) for text in options.split(",") if text.strip())


def parse_setting(text: str) -> tuple[str, object]:
    """Return name and value (JSON, else text) of `NAME=VALUE`; raise `SetupError` for others."""
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise SetupError(f"the setting {text!r} cannot be read; write NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
