"""`askgraph.toml`: which graphs a workspace has, and the settings of endpoints and methods.

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

The file is the user's: their comments and order survive whatever askgraph changes in it.
"""

import json
import time
import tomllib
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Self, Union, get_args, get_origin, get_type_hints

from askgraph.atomic_files import write_text_atomically
from askgraph.errors import SetupError
from askgraph.plugins import explain_removal

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

FILE = "askgraph.toml"
_PATHS = ("ranking",)
_WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    NoneType: "null",
    tuple[str, ...]: "a list of texts",
}
CHOICE = ("model", "provider", "base_url", "key_env", "sent")
"""The settings of a method that say which model it gets, and where what it is sent is logged."""
AUTH = ("none", "basic", "bearer", "header")
_SETTLED = 10**9  # nanoseconds after which a file that is written again has another time
_HEAD = "# The graphs of this askgraph workspace. Edit as you like: comments and order are kept.\n"


@dataclass(frozen=True)
class GraphSettings:
    """One `[graphs.NAME]` table: either `sources` (files and folders) or a `url`.

    `auth` is none, basic, bearer or header; `user_env`, `password_env`, `token_env` and
    `header_env` name environment variables. `timeout` is in seconds, `graphs` are the IRIs of the
    named graphs to read (none: all), `requests_a_minute` the most that its endpoint is asked
    (0: any number), `cache_mb` and `cache_hours` bound the cache of replies.

    `index` is the kind of the indices of entities and properties, or of entities alone if there is
    a `properties_index`; `embeddings` is what embeds their names, and with `comments` these are
    searched with what describes them besides; `on` is the address of the server that holds all
    indices, if they are not in files. `entities` and `properties` say what these are built
    from (see `indices`), `dump` lists RDF files for those of which neither does. `examples` is a
    file, folder or archive of questions with queries. `enrich` is a file of definitions that are
    added virtually (`askgraph enrich`). Relative paths of these start at the workspace's folder.
    `name_search` says by which search of the endpoint names are found that could not be read,
    `profile` is a file of VoID with what is known of the endpoint already.

    With `public_only` the URL and what is published beside it are reached at public addresses only,
    and at the hosts and networks of `private_addresses`; graphs that were added over the web have
    it. `added_by` is who added such a graph.
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
    name_search: str | None = None
    profile: str | None = None
    public_only: bool = False
    private_addresses: tuple[str, ...] = ()
    added_by: str = ""

    @classmethod
    def of(cls, name: str, table: Mapping[str, Any]) -> Self:
        """Read a table; `SetupError` names what is unknown or of the wrong type."""
        where, hints = f"{FILE}: [graphs.{name}]", _hints(GraphSettings)
        for key, value in table.items():
            if key not in hints:
                raise SetupError(
                    f"{where} has an unknown setting {key!r}; there are {', '.join(hints)}"
                )
            kinds = [kind for kind in _kinds_in(hints[key]) if kind is not NoneType]
            if not any(_fits(value, kind) for kind in kinds):
                raise SetupError(f"{where} {key} must be {_WORDS[kinds[0]]}, it is {value!r}")
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        settings = cls(**values)
        if bool(settings.sources) == bool(settings.url):
            raise SetupError(f"{where} must have either `sources` or a `url`")
        if settings.auth not in AUTH:
            raise SetupError(f"{where} auth {settings.auth!r} is none of {', '.join(AUTH)}")
        return settings

    def table(self) -> dict[str, Any]:
        """Return what differs from the defaults, as TOML has it."""
        return {
            field.name: list(value) if isinstance(value, tuple) else value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }


def graph_settings(folder: Path) -> dict[str, GraphSettings]:
    """Return the settings of all graphs of a workspace, in the order of the file."""
    tables = _table(folder, "graphs")
    return {name: GraphSettings.of(name, table) for name, table in tables.items()}


def method_settings(folder: Path, method: str) -> dict[str, Any]:
    """Return the `[methods.NAME]` table of a method; dashes and underscores are alike.

    Relative paths in it (`ranking`) start at the workspace's folder.
    """
    tables = {name.replace("-", "_"): table for name, table in _table(folder, "methods").items()}
    table = dict(tables.get(method.replace("-", "_"), {}))
    for key in _PATHS:
        value = table.get(key)
        if isinstance(value, str) and (Path(value).suffix or Path(value).parent.name):
            table[key] = str(folder / Path(value).expanduser())
    return table


def model_tables(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the `[models.NAME]` tables by name."""
    return _table(folder, "models")


def serve_table(folder: Path) -> dict[str, Any]:
    """Return the table `[serve]`, with the settings of the server."""
    table = _document(folder).get("serve", {})
    if not isinstance(table, dict):
        raise SetupError(f"{folder / FILE}: 'serve' must be a table, as [serve]")
    return table


def with_graph(folder: Path, name: str, settings: GraphSettings) -> None:
    """Add a graph to the file, or replace what it says of this one."""

    def change(document: "TOMLDocument") -> None:
        graphs = _super_table(document, "graphs")
        old = graphs.get(name)
        new = settings.table()
        if old is None:
            graphs[name] = new
            return
        for key in [key for key in old if key not in new]:
            del old[key]
        for key, value in new.items():
            if old.get(key) != value:
                old[key] = value

    _changed(folder, change)


def with_method(folder: Path, name: str, settings: Mapping[str, str]) -> None:
    """Put settings into the table of a method; the others that it has stay."""

    def change(document: "TOMLDocument") -> None:
        methods = _super_table(document, "methods")
        plain = {known.replace("-", "_"): known for known in methods}
        methods.setdefault(plain.get(name.replace("-", "_"), name), {}).update(settings)

    _changed(folder, change)


def without(folder: Path, name: str) -> None:
    """Take a graph out of the file."""

    def change(document: "TOMLDocument") -> None:
        document.get("graphs", {}).pop(name, None)

    _changed(folder, change)


def _table(folder: Path, kind: str) -> dict[str, dict[str, Any]]:
    tables = _document(folder).get(kind, {})
    if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise SetupError(
            f"{folder / FILE}: [{kind}] must hold a table for each name, as [{kind}.NAME]"
        )
    return tables


def _document(folder: Path) -> dict[str, Any]:
    path = folder / FILE
    try:
        known = path.stat()
        if time.time_ns() - known.st_mtime_ns < _SETTLED:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        return deepcopy(_remembered(path, known.st_mtime_ns, known.st_size, known.st_ino))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error


@lru_cache(16)
def _remembered(path: Path, *state: int) -> dict[str, Any]:
    """A file in this state, which each question asks for several times."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _super_table(document: "TOMLDocument", name: str) -> Any:
    import tomlkit

    return document.setdefault(name, tomlkit.table(is_super_table=True))


def _changed(folder: Path, change: Callable[["TOMLDocument"], None]) -> None:
    import tomlkit  # takes a third of the time to open a workspace, which most commands only read
    from tomlkit.exceptions import ParseError

    path = folder / FILE
    text = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    try:
        document = tomlkit.parse(text)
    except ParseError as error:
        raise SetupError(f"{path} cannot be read: {error}") from error
    change(document)
    write_text_atomically(path, tomlkit.dumps(document))


def check_settings(
    name: str, plugin: Callable[..., object], settings: Mapping[str, object]
) -> None:
    """Raise `SetupError` for a setting that a method has no field for, or a value not of its type.

    A field of a type that settings cannot tell, such as one of the method's own, takes anything.
    """
    if isinstance(plugin, type) and is_dataclass(plugin):
        check_fields(f"method {name!r}", plugin, settings)


def check_fields(whose: str, kind: type, settings: Mapping[str, object]) -> None:
    """Raise `SetupError` for a setting that a dataclass has no field for, or of another type."""
    known = [field.name for field in fields(kind) if field.init]
    hints = _hints(kind)
    for setting, value in settings.items():
        if setting not in known:
            own = f"setting of {whose}".replace("_", "-")
            if removal := explain_removal("setting", setting) or explain_removal(own, setting):
                raise SetupError(f"{whose}: {removal}")
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise SetupError(
                f"{whose} does not take these settings: there is no {setting!r}; {there}"
            )
        wanted = _kinds_in(hints.get(setting, object))
        if all(kind in _WORDS for kind in wanted) and not any(_fits(value, k) for k in wanted):
            raise SetupError(
                f"{whose} does not take these settings: {setting!r} is "
                f"{' or '.join(_WORDS[kind] for kind in wanted)}, not {value!r}"
            )


@cache
def _hints(kind: type) -> dict[str, Any]:
    try:
        return get_type_hints(kind)
    except NameError:  # a type that is only there for type checkers
        return {}


def _kinds_in(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(value: object, kind: Any) -> bool:
    if isinstance(value, bool):
        return kind is bool
    if get_origin(kind) is tuple:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, (int, float) if kind is float else kind)


def method_spec(spec: str) -> tuple[str, dict[str, object]]:
    """Return the name in `graph-search` or `graph-search:operators=false`, and the settings.

    Raises `SetupError` for a setting without a name or value.
    """
    name, _, own = spec.partition(":")
    return name, dict(named_setting(text) for text in own.split(",") if text.strip())


def named_setting(text: str) -> tuple[str, object]:
    """Return the name and the value of `NAME=VALUE`; the value is JSON if it can be, else text.

    Raises `SetupError` for another text.
    """
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise SetupError(f"the setting {text!r} is not understood; write NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value
