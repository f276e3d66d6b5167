"""Plugins by name: the list of a kind, and the one that is asked for.

A plugin is one module, or one package, in the package of its kind, with an `__all__` of exactly one
name; modules with a leading underscore or with more names are helpers, but for those of the few
plugins that share a module (`_TOGETHER`). Another package adds plugins
with entry points in the group `askgraph.<kind>`. No plugin is imported before it is loaded, so that
a heavy library costs only those who use it:

    >>> from askgraph import plugins
    >>> answer_with = plugins.load("method", "graph-search")
"""

import ast
import difflib
import importlib
import importlib.util
import pkgutil
import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError

Plugin = Callable[..., Any]
"""A class or function; what it takes and gives is the contract of its kind."""

PACKAGES = {
    "endpoint": "askgraph.endpoint",
    "index": "askgraph.index",
    "linker": "askgraph.index.linkers",
    "name_search": "askgraph.index.name_search",
    "llm": "askgraph.llm",
    "tool": "askgraph.methods.tools",
    "method": "askgraph.methods",
    "metric": "askgraph.evaluation.metrics",
    "benchmark": "askgraph.evaluation.benchmarks",
    "executor": "askgraph.evaluation.executors",
    "check": "askgraph.answers.validation",
}
"""Each kind of plugin, and the package that holds ours of that kind."""

_TOGETHER = {
    "name_search": {
        "dbpedia": "dialects:LookupNames",
        "graphdb": "dialects:GraphdbNames",
        "jena": "dialects:JenaNames",
        "plain": "dialects:PlainNames",
        "qlever": "dialects:QleverNames",
        "rdf4j": "dialects:Rdf4jNames",
        "stardog": "dialects:StardogNames",
        "virtuoso": "dialects:VirtuosoNames",
        "wbsearchentities": "dialects:WikibaseApi",
        "wikibase": "dialects:WikibaseNames",
    },
    "tool": {
        "answer": "answer",
        "cancel": "answer",
        "execute": "execute",
        "why_empty": "execute",
        "find_examples": "overview",
        "find_similar_examples": "overview",
        "overview": "overview",
        "shape_of": "overview",
        "search_autocomplete": "search",
        "search_constrained": "search",
        "search_entity": "search",
        "search_object_of_property": "search",
        "search_property": "search",
        "search_property_of_entity": "search",
    },
    "benchmark": {
        "cwq": "json_records:ComplexWebQuestions",
        "dblp_quad": "json_records:DblpQuad",
        "grasp_lines": "json_records:GraspLines",
        "lcquad": "json_records:LcQuad",
        "lcquad2": "json_records:LcQuad2",
        "pat_questions": "json_records:PatQuestions",
        "qald": "json_records:Qald",
        "rubq": "json_records:Rubq",
        "sciqa": "json_records:SciQa",
        "simpledbpedia_qa": "json_records:SimpleDbpediaQa",
        "spinach": "json_records:Spinach",
        "webqsp": "json_records:WebQsp",
        "wikiwebquestions": "json_records:WikiWebQuestions",
    },
    "check": {
        "filters": "structure",
        "known_iris": "schema",
        "schema": "schema",
        "structure": "structure",
        "syntax": "structure",
    },
    "metric": {
        "accuracy_at_1": "sets",
        "best_column": "sets",
        "best_column_multiset": "sets",
        "column_mapping": "assignment",
        "dfsl": "sets",
        "exact_match": "sets",
        "flattened": "sets",
        "hits_at_1": "sets",
        "row_assignment": "assignment",
        "text2sparql": "sets",
    },
}
"""Plugins of one idea that share a module, under their own names or those behind the colon."""

_LIBRARIES = {
    "anthropic": "anthropic",
    "dask": "dask distributed",
    "embeddings": "sentence_transformers",
    "evaluation": "altair scipy vl_convert yaml",
    "google": "google",
    "local": "accelerate datasets gguf jinja2 peft safetensors torch transformers trl xgrammar",
    "postgresql": "asyncpg",
    "semantic": "onnxruntime tokenizers",
    "serve": "alembic fastapi mcp prometheus_client pydantic_settings python_multipart sqlalchemy "
    "starlette structlog uvicorn xlsxwriter",
    "spacy": "spacy",
    "telemetry": "opentelemetry",
    "vector": "faiss",
}
EXTRAS = {library: extra for extra, names in _LIBRARIES.items() for library in names.split()}
"""The extra that brings a library which a plain install lacks, by what is imported."""

_REMOVED = {
    ("executor", "ray"): "the Ray executor",
    ("command", "finetune ranker"): "rankers",
    ("setting", "ranker"): "rankers",
    ("command", "finetune writer"): "the pointer writer",
    ("setting", "writer"): "the pointer writer",
    ("writer", ".npz"): "the pointer writer",
    **{
        ("setting of method 'guided'", name): "what a prompt shows is set by 'detail'; this setting"
        for name in ("candidates", "values", "shots", "classes", "names", "room", "schema")
    },
    **{
        (
            "setting of method 'sparql-llm'",
            name,
        ): "shapes are set by 'without'; this setting"
        for name in ("properties", "ranges", "values", "ordered")
    },
    ("setting of method 'guided'", "validate"): "queries are always validated; this setting",
    ("setting of method 'guided'", "meanings"): "only graph-search takes it; this setting",
}
"""Kinds and names of what was removed after version 0.2, and what it belonged to."""


def names(kind: str) -> tuple[str, ...]:
    """Return the names of all plugins of a kind, sorted, words joined by underscores."""
    ours = {name for name, file in _modules(kind).items() if len(_exported(file)) == 1}
    return tuple(sorted({*ours, *_TOGETHER.get(kind, ()), *_entry_points(kind)}))


def load(kind: str, name: str) -> Plugin:
    """Import one plugin and return its class or function; dashes and underscores are alike.

    A plugin of ours goes before one of the same name from another package. Raises `SetupError`
    for a kind or name that does not exist and for a library that is not installed.
    """
    plain = _plain(name)
    try:
        if place := _TOGETHER.get(kind, {}).get(plain):
            module, _, exported = place.partition(":")
            shared = importlib.import_module(f"{PACKAGES[kind]}.{module}")
            together: Plugin = getattr(shared, exported or plain)
            return together
        if plain in _modules(kind):
            return _only_name(kind, plain)
        if entry := _entry_points(kind).get(plain):
            plugin: Plugin = entry.load()
            return plugin
    except ModuleNotFoundError as error:
        raise missing_extra(error, f"{kind} {plain!r}", plain.replace("_", "-")) from error
    raise SetupError(_unknown(kind, name))


def missing_extra(error: ModuleNotFoundError, needed_by: str, default: str = "") -> SetupError:
    """Return the error that names the extra to install; `default` if no extra has the library."""
    library = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(library, default)
    if not extra or library in {"", "askgraph"}:
        return SetupError(f"{needed_by} cannot be imported: {error}")
    return SetupError(f"{needed_by} needs {library}: pip install 'askgraph[{extra}]'")


def explain_removal(kind: str, name: str) -> str:
    """Return a sentence that names the last version with a removed feature, else an empty text.

    `kind` is a kind of plugins, or `command`, `setting` or `writer` (by the suffix of its file).
    """
    feature = _REMOVED.get((kind, name))
    if feature is None:
        return ""
    verb = "were" if feature.endswith("rs") else "was"
    return f"{name!r}: {feature} {verb} removed; askgraph 0.2 was the last version with this {kind}"


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def _modules(kind: str) -> dict[str, Path]:
    return _modules_in(tuple(_folders(kind)))


@cache
def _modules_in(folders: tuple[str, ...]) -> dict[str, Path]:
    """Return those of some folders: to list them takes longer than all else of a choice."""
    return {
        module.name: Path(folder, module.name, "__init__.py")
        if module.ispkg
        else Path(folder, f"{module.name}.py")
        for folder in folders
        for module in pkgutil.iter_modules([folder])
        if not module.name.startswith("_")
    }


def _folders(kind: str) -> list[str]:
    if kind not in PACKAGES:
        raise SetupError(f"no plugins of kind {kind!r}; the kinds are {', '.join(PACKAGES)}")
    package = PACKAGES[kind]
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError as error:
        if not f"{package}.".startswith(f"{error.name}."):
            raise
        return []
    return list(spec.submodule_search_locations or ()) if spec else []


@cache
def _exported(file: Path) -> tuple[str, ...]:
    """Return the `__all__` of a module, read without importing it."""
    with _PARSING:
        for statement in ast.parse(file.read_bytes(), filename=str(file)).body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    return tuple(ast.literal_eval(value))
    return ()


_PARSING = threading.Lock()  # Python 3.11 fails at times where two threads make syntax trees


def _entry_points(kind: str) -> dict[str, EntryPoint]:
    return _entry_points_on(kind, tuple(sys.path))


@cache
def _entry_points_on(kind: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return those of the packages on a path: to look through all of them takes milliseconds."""
    return {_plain(entry.name): entry for entry in entry_points(group=f"askgraph.{kind}")}


def _only_name(kind: str, plain: str) -> Plugin:
    module = importlib.import_module(f"{PACKAGES[kind]}.{plain}")
    exported: list[str] = list(getattr(module, "__all__", ()))
    if len(exported) != 1:
        raise SetupError(
            f"{kind} {plain!r}: {module.__name__} must have an __all__ of exactly one name, "
            f"it has {exported}"
        )
    plugin: Plugin = getattr(module, exported[0])
    return plugin


def _unknown(kind: str, name: str) -> str:
    if removal := explain_removal(kind, _plain(name)):
        return removal
    written = "-" if kind == "method" else "_"  # as pages and help write them
    there = [one.replace("_", written) for one in names(kind)]
    near = difflib.get_close_matches(_plain(name).replace("_", written), there, n=3, cutoff=0.6)
    suggestion = f"; did you mean {' or '.join(map(repr, near))}?" if near else ";"
    listing = f"there are {', '.join(there)}" if there else "there is none yet"
    return f"no {kind} named {name!r}{suggestion} {listing}"
