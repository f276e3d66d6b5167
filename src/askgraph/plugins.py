"""Find and load plugins by kind and name.

A plugin is a module or package, inside the package of its kind, whose `__all__` has exactly one
name. Other modules are helpers, except those that hold several plugins (`_SHARED_MODULES`).
Third-party packages register plugins as entry points in the group `askgraph.<kind>`. Plugins are
imported only when loaded, so a heavy library costs only those who use it:

    >>> from askgraph import plugins
    >>> answer_with = plugins.load("method", "graph-search")
"""

import difflib
import importlib
import importlib.util
import json
import pkgutil
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError

Plugin = Callable[..., Any]
"""A class or function; the contract of its kind defines parameters and results."""

_TABLES: dict[str, Any] = json.loads(Path(__file__).with_name("plugins.json").read_text("utf-8"))

PACKAGES: dict[str, str] = _TABLES["packages"]
"""Package of the built-in plugins by kind."""

_SHARED_MODULES: dict[str, dict[str, str]] = _TABLES["shared_modules"]
"""Built-in plugins that share a module, each with its module and, after a colon, its class."""

EXTRAS: dict[str, str] = {
    library: extra
    for extra, names in _TABLES["extra_libraries"].items()
    for library in names.split()
}
"""Extra that installs a library, by the library's import name."""

_REMOVED_FEATURES: dict[str, dict[str, str]] = _TABLES["removed_features"]
"""Features removed after version 0.2, by kind and name, each with the phrase for its message."""


def list_names(kind: str) -> tuple[str, ...]:
    """Return the sorted names of all plugins of a kind, with underscores between words."""
    ours = {name for name, file in _find_modules(kind).items() if len(_read_exports(file)) == 1}
    return tuple(sorted({*ours, *_SHARED_MODULES.get(kind, ()), *_find_entry_points(kind)}))


def load(kind: str, name: str) -> Plugin:
    """Import a plugin and return its class or function.

    Dashes and underscores in `name` are equivalent. A built-in plugin takes precedence over a
    third-party one of the same name.

    Raises:
        SetupError: The kind or name is unknown, or a library is not installed.
    """
    normalized = _normalize_name(name)
    try:
        if location := _SHARED_MODULES.get(kind, {}).get(normalized):
            module, _, attribute = location.partition(":")
            shared_module = importlib.import_module(f"{PACKAGES[kind]}.{module}")
            shared_plugin: Plugin = getattr(shared_module, attribute or normalized)
            return shared_plugin
        if normalized in _find_modules(kind):
            return _load_module_plugin(kind, normalized)
        if entry := _find_entry_points(kind).get(normalized):
            plugin: Plugin = entry.load()
            return plugin
    except ModuleNotFoundError as error:
        raise to_missing_extra_error(
            error, f"{kind} {normalized!r}", normalized.replace("_", "-")
        ) from error
    raise SetupError(_describe_unknown(kind, name))


def to_missing_extra_error(
    error: ModuleNotFoundError, needed_by: str, default: str = ""
) -> SetupError:
    """Return the error that names the extra to install; `default` if no extra has the library."""
    library = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(library, default)
    if not extra or library in {"", "askgraph"}:
        return SetupError(f"{needed_by} cannot be imported: {error}")
    return SetupError(f"{needed_by} needs {library}: pip install 'askgraph[{extra}]'")


def explain_removal(kind: str, name: str) -> str:
    """Return a sentence that names the last version with a removed feature, or an empty string.

    `kind` is a plugin kind, `command`, `setting`, `form`, or `writer` (`name` is a file suffix).
    """
    feature = _REMOVED_FEATURES.get(kind, {}).get(name)
    if feature is None:
        return ""
    verb = "were" if feature.endswith("rs") else "was"
    return f"{name!r}: {feature} {verb} removed; askgraph 0.2 was the last version with this {kind}"


def _normalize_name(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def _find_modules(kind: str) -> dict[str, Path]:
    return _list_modules(tuple(_find_package_folders(kind)))


@cache
def _list_modules(folders: tuple[str, ...]) -> dict[str, Path]:
    """Return the module files in some folders by name; cached because listing is slow."""
    return {
        module.name: Path(folder, module.name, "__init__.py")
        if module.ispkg
        else Path(folder, f"{module.name}.py")
        for folder in folders
        for module in pkgutil.iter_modules([folder])
        if not module.name.startswith("_")
    }


def _find_package_folders(kind: str) -> list[str]:
    if kind not in PACKAGES:
        raise SetupError(f"there are no plugins of kind {kind!r}; available: {', '.join(PACKAGES)}")
    package = PACKAGES[kind]
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError as error:
        if not f"{package}.".startswith(f"{error.name}."):
            raise
        return []
    return list(spec.submodule_search_locations or ()) if spec else []


@cache
def _read_exports(file: Path) -> tuple[str, ...]:
    """Return the `__all__` of a module without importing it."""
    # Not by a syntax tree: Python 3.11 fails at times where two threads make one.
    exports = _EXPORTS.search(file.read_text("utf-8"))
    return tuple(re.findall(r"[\"'](\w+)[\"']", exports[1])) if exports else ()


_EXPORTS = re.compile(r"^__all__ = [\[(](.*?)[\])]", re.MULTILINE | re.DOTALL)


def _find_entry_points(kind: str) -> dict[str, EntryPoint]:
    return _list_entry_points(kind, tuple(sys.path))


@cache
def _list_entry_points(kind: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return the entry points of the packages on a path; cached because listing is slow."""
    return {_normalize_name(entry.name): entry for entry in entry_points(group=f"askgraph.{kind}")}


def _load_module_plugin(kind: str, name: str) -> Plugin:
    module = importlib.import_module(f"{PACKAGES[kind]}.{name}")
    exports: list[str] = list(getattr(module, "__all__", ()))
    if len(exports) != 1:
        raise SetupError(
            f"{kind} {name!r}: {module.__name__} must have exactly one name in __all__, "
            f"not {exports}"
        )
    plugin: Plugin = getattr(module, exports[0])
    return plugin


def _describe_unknown(kind: str, name: str) -> str:
    if removal := explain_removal(kind, _normalize_name(name)):
        return removal
    separator = "-" if kind == "method" else "_"  # as pages and help write them
    plugin_names = [plugin_name.replace("_", separator) for plugin_name in list_names(kind)]
    suggestions = difflib.get_close_matches(
        _normalize_name(name).replace("_", separator), plugin_names, n=3, cutoff=0.6
    )
    suggestion = f"; did you mean {' or '.join(map(repr, suggestions))}?" if suggestions else ";"
    listing = f"available: {', '.join(plugin_names)}" if plugin_names else "none is installed"
    return f"no {kind} named {name!r}{suggestion} {listing}"
