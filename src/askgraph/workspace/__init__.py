"""Manage a workspace: a folder with `askgraph.toml` and the data of its graphs.

    >>> workspace = Workspace()                                    # doctest: +SKIP
    >>> workspace.add("space", ["space.ttl"])                      # doctest: +SKIP
    >>> graph = workspace.graph("space")                           # doctest: +SKIP

A workspace turns settings into objects: graphs, methods, endpoints.

Contents: `settings`, `graphs`, `models`, the building of a graph's data folder (`build`,
`graph_data`, `indices`), and a module for each use case that the command line and the server
share (`run_sync` asks a question, `evaluation` runs a benchmark, …). May import: `evaluation`,
`training` and the rooms below them. Start reading at `Workspace`.
"""

import dataclasses
import difflib
import hashlib
import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from askgraph import plugins
from askgraph.atomic_files import lock_file, replace_folder
from askgraph.endpoint import Endpoint
from askgraph.errors import ErrorReply, MalformedReply, ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import Profile, load_profile
from askgraph.index.names import NameIndex
from askgraph.llm import LanguageModel
from askgraph.methods import ConfirmedAnswerMethod, Method, can_call_model
from askgraph.sparql.rdf_files import is_rdf_url
from askgraph.trace import Answer, Outcome, Question
from askgraph.workspace import graph_data
from askgraph.workspace.graphs import WorkspaceServices, get_service_url, open_graph
from askgraph.workspace.run_sync import Progress, ignore_progress, run_coroutine
from askgraph.workspace.settings import (
    MODEL_SETTINGS,
    GraphSettings,
    check_settings,
    load_graph_settings,
    load_method_settings,
    load_model_tables,
    remove_graph_settings,
    write_graph_settings,
)

if TYPE_CHECKING:
    from askgraph.graph.examples import QueryExample
    from askgraph.graph.glossary import Glossary, GlossaryEntry
    from askgraph.workspace.models import Models

__all__ = [
    "DEFAULT_METHOD",
    "SEARCH_METHOD",
    "GraphSettings",
    "Progress",
    "Workspace",
    "check_name",
    "get_default_folder",
    "ignore_progress",
]

DEFAULT_METHOD = "auto"
SEARCH_METHOD = "graph-search"
"""The method without a language model, which also tries questions that nobody asked."""
Content = TypeVar("Content")
_NAME_PATTERN = re.compile(r"\w[\w.-]*")
_DEPENDENT_SETTINGS = frozenset({*MODEL_SETTINGS, "further", "others"})
"""Fields and settings of methods that use models or consult other methods."""
_SHARED_SETTINGS = frozenset({"confirmed", "seconds", "timeout", "sent"})
"""Settings of `auto` that need no check: callers pass them for any method."""
_ORIGIN_ORDER = {"confirmed": 0, "written": 1, "generated": 2}
_MIN_SURE_CONFIDENCE = 0.6  # of an answer for which no other graphs are offered
_MAX_SEARCHED_GRAPHS = 8  # other graphs in which the words of a question are looked up
_log = logging.getLogger("askgraph")


def get_default_folder() -> Path:
    """Return the folder in `ASKGRAPH_WORKSPACE`, else the platform's folder for user data."""
    environment_folder = os.environ.get("ASKGRAPH_WORKSPACE")
    if environment_folder:
        return Path(environment_folder).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "askgraph"


class _UnusableError(Exception):
    """A data folder must be rebuilt; the message gives the reason."""


class Workspace:
    """The graphs of one folder; opening a workspace reads and writes nothing."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder).expanduser().absolute() if folder else get_default_folder()

    def graphs(self) -> dict[str, GraphSettings]:
        """Return the settings of all graphs by name."""
        return load_graph_settings(self.folder)

    def add(
        self,
        name: str,
        sources: Sequence[str | Path] = (),
        *,
        settings: Mapping[str, object] | None = None,
        replace: bool = False,
        progress: Progress = ignore_progress,
    ) -> Profile:
        """Add a graph from files, folders or one endpoint URL, and return its profile.

        An existing graph stays in use until the new one is complete. With `replace` and no
        source, the existing graph is rebuilt. A URL of an RDF file is downloaded.

        Args:
            settings: fields of `GraphSettings`.

        Raises:
            SetupError: the name is taken (unless `replace`), or a source cannot be read.
            ServiceError: an endpoint failed.
        """
        # Graphs are added once.
        from askgraph.index.name_search import NameSettings, create_name_search

        check_name(name)
        old = self.graphs().get(name)
        if old and not replace:
            raise SetupError(
                f"graph {name!r} exists already; rebuild it with --replace, or remove it "
                f"with: askgraph remove {name}"
            )
        values = dict(settings or {})

        def build(sources: Sequence[str | Path]) -> Profile:
            chosen = GraphSettings.from_table(
                name, _choose_settings(sources, old).to_table() | values
            )
            self._read_examples(name, chosen)
            if chosen.name_search:
                create_name_search(chosen.name_search, NameSettings())  # raises if it is unknown
            self._build_data(name, chosen, progress)
            self._enrich_endpoint(name, chosen)
            with lock_file(self.folder / ".lock"):
                write_graph_settings(self.folder, name, chosen)
            return self.load_profile(name)

        if not any(graph_data.is_url(str(source)) for source in sources):
            return build(sources)
        failure: ServiceError | None = None
        if not any(is_rdf_url(str(source)) for source in sources):
            try:
                return build(sources)
            except ServiceError as error:
                if type(error) not in (ServiceError, ErrorReply, MalformedReply):
                    raise
                failure = error  # it may be a file without a suffix
        guard = graph_data.create_guard(
            GraphSettings.from_table(name, {"url": str(sources[0])} | values)
        )
        with graph_data.download_sources(sources, self._get_downloads_folder(name), guard) as files:
            if files is None:
                raise failure or SetupError(
                    "a source is neither RDF nor an endpoint: name its file"
                )
            return build(files)

    def has_pending_survey(self, name: str) -> bool:
        """Return whether parts of an endpoint's survey were postponed."""
        return self._get_replies_file(name, "later").exists()

    def complete_survey(self, name: str, *, progress: Progress = ignore_progress) -> Profile:
        """Run the postponed part of an endpoint's survey, and return the profile.

        It takes at most two minutes. One process at a time does it, once.

        Raises:
            ServiceError: the endpoint failed.
            SetupError: the graph was changed or removed in the meantime.
        """
        name, settings = self._resolve_name(name)
        with lock_file(self.get_data_folder(name).parent / ".locks" / f"{name}.growing"):
            if self.has_pending_survey(name):
                self._build_data(name, settings, progress, completing=True)
                self._enrich_endpoint(name, settings)
        return self.load_profile(name)

    def graph(
        self, name: str | None = None, *, fresh: bool = False, progress: Progress = ignore_progress
    ) -> KnowledgeGraph:
        """Open a graph by name; the name is optional if there is only one graph.

        A graph with changed files or damaged data is rebuilt first. Its queries may call the
        graphs of the workspace by SERVICE. With `fresh`, the endpoint's cache is not used.
        Close the endpoint after use.
        """
        name, settings = self._resolve_name(name)
        if fresh:
            settings = dataclasses.replace(settings, cache_mb=0)
        examples = self._read_examples(name, settings)
        glossary = self.load_glossary(name) if self.get_glossary_file(name).exists() else None
        notes = self.get_notes_file(name)
        return self._use_ready_data(
            name,
            settings,
            progress,
            lambda: self._open_graph(name, settings, examples, glossary, notes),
        )

    def open(self, source: str | Path, *, progress: Progress = ignore_progress) -> KnowledgeGraph:
        """Open a file, a folder or an endpoint URL that has no name in the workspace.

        Its data is kept beside the named graphs and reused next time.
        """
        settings = _choose_settings([source], None)
        address = settings.url or settings.sources[0]
        stem = _suggest_name(address)
        name = f"{stem}~{hashlib.sha256(address.encode()).hexdigest()[:12]}"
        graph = self._use_ready_data(
            name, settings, progress, lambda: self._open_graph(name, settings)
        )
        if self.has_pending_survey(name):
            _log.warning(
                "graph %r is only partly profiled: add it under a name with 'askgraph add "
                "NAME URL' to profile the rest",
                stem,
            )
        return graph

    def find(
        self, graph: str | Path | None = None, *, progress: Progress = ignore_progress
    ) -> KnowledgeGraph:
        """Open a graph by its name, else by its path or URL."""
        if graph is None or str(graph) in self.graphs():
            return self.graph(None if graph is None else str(graph), progress=progress)
        if isinstance(graph, Path) or graph_data.is_url(graph) or Path(graph).expanduser().exists():
            return self.open(graph, progress=progress)
        return self.graph(graph, progress=progress)

    def offer_graphs(
        self,
        question: Question,
        graphs: Sequence[KnowledgeGraph],
        outcome: Outcome,
        *,
        visible: Collection[str] | None = None,
    ) -> Outcome:
        """Return an outcome that is not sure with other graphs that know the question's words.

        Args:
            graphs: the graphs that the question was put to.
            visible: the graphs that may be offered; None for all.
        """
        confidence = outcome.confidence if isinstance(outcome, Answer) else 0.0
        if question.before or confidence >= _MIN_SURE_CONFIDENCE:
            return outcome
        from askgraph.answers.suggestions import find_fitting_graphs  # for unsure answers

        current = {graph.name: graph.names for graph in graphs}
        allowed = self.graphs().keys() if visible is None else self.graphs().keys() & visible
        indices: dict[str, NameIndex] = {}
        for name in sorted(allowed - current.keys())[:_MAX_SEARCHED_GRAPHS]:
            with suppress(SetupError):  # it may be removed or replaced meanwhile
                if self.find_stale_reason(name) is None:
                    names, _ = graph_data.load_names_and_arrays(self.get_data_folder(name))
                    indices[name] = names
        fitting = find_fitting_graphs(
            question, current.values(), indices, only_better=confidence > 0
        )
        return dataclasses.replace(outcome, other_graphs=fitting) if fitting else outcome

    def find_stale_reason(self, name: str) -> str | None:
        """Return why a graph's data is out of date, or None; raise `SetupError` for no graph."""
        name, settings = self._resolve_name(name)
        return self._check_stale(name, settings)

    def load_content(
        self, name: str | None = None, *, progress: Progress = ignore_progress
    ) -> tuple[Profile, GraphArrays | None]:
        """Return the current profile and arrays of a graph, without opening its endpoint.

        The arrays hold its triples; None for a graph behind an endpoint.
        """
        name, settings = self._resolve_name(name)
        folder = self.get_data_folder(name)
        return self._use_ready_data(
            name,
            settings,
            progress,
            lambda: (self.load_profile(name), graph_data.load_names_and_arrays(folder)[1]),
        )

    def load_profile(self, name: str) -> Profile:
        """Return the stored profile of a graph."""
        return load_profile(self.get_data_folder(name) / "profile.json")

    def remove(self, name: str) -> None:
        """Remove a graph and its data; its sources stay."""
        self._resolve_name(name)
        with lock_file(self.folder / ".lock"):
            remove_graph_settings(self.folder, name)
        for folder in (
            self.get_data_folder(name),
            self.get_cache_folder(name),
            self._get_downloads_folder(name),
        ):
            shutil.rmtree(folder, ignore_errors=True)
        enrichment = self.folder / "enrichments" / name
        for file in (
            self.get_description_file(name),
            self.get_glossary_file(name),
            self.get_notes_file(name),
            self._get_replies_file(name, "answers"),
            self._get_replies_file(name, "later"),
            enrichment.with_name(f"{name}.toml"),
            enrichment.with_name(f"{name}.nt"),
        ):
            file.unlink(missing_ok=True)

    def model(self, name: str | None = None, **overrides: object) -> LanguageModel:
        """Return a language model: that of a table `[models.NAME]`, else the one with this id.

        See `askgraph.workspace.models`, also for the model without a name. Close it after use.
        """
        from askgraph.workspace.models import Models

        return Models(self.folder).get_model(name, **overrides)

    def method(
        self,
        name: str = SEARCH_METHOD,
        settings: Mapping[str, Any] | None = None,
        *,
        models: "Models | None" = None,
        confirmed: bool = False,
    ) -> Method:
        """Return a method with its settings: those of `askgraph.toml`, then those passed here.

        With `confirmed`, a question with a confirmed answer gets that answer without running
        the method, unless the setting `confirmed`, which every method has, is false.

        A method that uses a language model gets the one that the settings `model`, `provider`,
        `base_url` and `key_env` name, else the workspace's. Further models and consulted
        methods come from its settings `models` and `consult`. Unless all models come from
        `models`, close the method after use (`askgraph.methods.close_models`).
        """
        name, explicit = self.resolve_method(name, settings)
        plugin: Any = plugins.load("method", name)
        chosen = load_method_settings(self.folder, name) | explicit
        if name == DEFAULT_METHOD:
            chosen = {**load_method_settings(self.folder, "guided"), "ask": plugin.ask, **chosen}
        setting = chosen.pop("confirmed", True)
        if not isinstance(setting, bool):
            raise SetupError(f"method {name!r}: 'confirmed' must be true or false, not {setting!r}")
        fields = getattr(plugin, "__dataclass_fields__", {}).items()
        nonempty_fields = {
            key for key, field in fields if field.default is dataclasses.MISSING or field.default
        }
        if _DEPENDENT_SETTINGS & {*chosen, *nonempty_fields} or can_call_model(plugin, chosen):
            from askgraph.workspace.models import resolve_dependencies

            def make(method_name: str, overrides: Mapping[str, Any], shared: "Models") -> Method:
                return self.method(method_name, overrides, models=shared)

            try:
                chosen = resolve_dependencies(plugin, chosen, self.folder, make, models)
            except SetupError as error:
                if name != DEFAULT_METHOD or explicit.keys() - _SHARED_SETTINGS:
                    raise
                _log.warning("graph search answers, without the language model: %s", error)
                return self.method(SEARCH_METHOD, explicit, confirmed=confirmed)
        check_settings(name, plugin, chosen)
        try:
            method: Method = plugin(**chosen)
        except TypeError as error:
            raise SetupError(f"method {name!r} does not accept these settings: {error}") from error
        return ConfirmedAnswerMethod(method) if confirmed and setting else method

    def resolve_method(
        self, name: str, settings: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Return the method to create and its settings: graph search for `auto` without a model.

        The settings of `auto` that graph search lacks are checked and dropped.
        """
        explicit = dict(settings or {})
        if name.lower() != DEFAULT_METHOD:
            return name, explicit
        chosen = load_method_settings(self.folder, name) | explicit
        all_settings = load_method_settings(self.folder, "guided") | chosen
        names_model = any(all_settings.get(key) for key in MODEL_SETTINGS if key != "sent")
        has_default = "default" in load_model_tables(self.folder)
        if names_model or has_default or os.environ.get("ASKGRAPH_MODEL"):
            return DEFAULT_METHOD, explicit
        if unchecked := {key: chosen[key] for key in chosen.keys() - _SHARED_SETTINGS}:
            check_settings(name, plugins.load("method", name), unchecked)
        search: Any = plugins.load("method", SEARCH_METHOD)
        names = {*search.__dataclass_fields__, *_SHARED_SETTINGS}
        return SEARCH_METHOD, {key: value for key, value in chosen.items() if key in names}

    def get_data_folder(self, name: str) -> Path:
        """Return the data folder of a graph."""
        return self.folder / "data" / name

    def get_cache_folder(self, name: str) -> Path:
        """Return the folder with cached replies of a graph's endpoint."""
        return self.folder / "cache" / name

    def get_examples_folder(self, name: str) -> Path:
        """Return the folder with the confirmed and generated examples of a graph."""
        return self.folder / "examples" / name

    def load_examples(self, name: str) -> "tuple[QueryExample, ...]":
        """Return the examples of a graph: confirmed ones, then written ones, then generated ones.

        They come from its folder in the workspace and from its setting `examples`. Unreadable
        items are counted in a warning.
        """
        return self._read_examples(*self._resolve_name(name))

    def load_glossary(self, name: str) -> "Glossary":
        """Return the glossary of a graph; `SetupError` if its file cannot be read."""
        from askgraph.workspace.glossary import load_glossary  # few graphs were taught anything

        return load_glossary(self.get_glossary_file(self._resolve_name(name)[0]))

    def define(
        self,
        name: str,
        *entries: "GlossaryEntry",
        instructions: str | None = None,
        without: str = "",
    ) -> "Glossary":
        """Add entries to a graph's glossary, or remove one, and return the glossary.

        An entry replaces one of the same word; its meaning is an IRI, a prefixed name or a name.

        Args:
            instructions: replace the instructions for language models.
            without: the word whose entry is removed.

        Raises:
            SetupError: the graph lacks a name, or a word or query does not exist. Nothing changes.
        """
        from askgraph.workspace.glossary import GlossaryChecker  # few graphs were taught anything

        name, _ = self._resolve_name(name)
        profile, arrays = self.load_content(name)
        checker = GlossaryChecker(
            name, profile, graph_data.load_names_and_arrays(self.get_data_folder(name))[0], arrays
        )
        path = self.get_glossary_file(name)
        return checker.update_file(path, entries, instructions=instructions, without=without)

    def get_glossary_file(self, name: str) -> Path:
        """Return the glossary file of a graph (TOML)."""
        return self.folder / "glossaries" / f"{name}.toml"

    def get_notes_file(self, name: str) -> Path:
        """Return the file with the agents' notes on a graph (JSON lines)."""
        return self.folder / "notes" / f"{name}.jsonl"

    def get_description_file(self, name: str) -> Path:
        """Return the file with the publisher's description of a graph (JSON-LD)."""
        return self.folder / "descriptions" / f"{name}.jsonld"

    def _resolve_name(self, name: str | None) -> tuple[str, GraphSettings]:
        graphs = self.graphs()
        if name is None and not graphs:
            add = "add one with: askgraph add NAME FILE"
            raise SetupError(f"the workspace {self.folder} has no graph yet; {add}")
        if name is None and len(graphs) > 1:
            raise SetupError(f"name a graph with -g; available: {', '.join(graphs)}")
        name = next(iter(graphs)) if name is None else name
        if name not in graphs:
            raise SetupError(_build_unknown_graph_message(name, graphs, self.folder))
        return name, graphs[name]

    def _use_ready_data(
        self, name: str, settings: GraphSettings, progress: Progress, use: Callable[[], Content]
    ) -> Content:
        """Use a data folder; rebuild it first if it is missing, old or damaged."""
        try:
            return self._use_current_data(name, settings, use)
        except _UnusableError:
            pass
        with lock_file(self.get_data_folder(name).parent / ".locks" / name):
            try:
                # Another process may have built it.
                return self._use_current_data(name, settings, use)
            except _UnusableError as problem:
                if settings.url and name in self.graphs():
                    again = f"askgraph add {name} --replace"
                    raise SetupError(f"{problem}; profile it again with: {again}") from problem
                if self.get_data_folder(name).exists():
                    _log.warning("rebuilding graph %r: %s", name, problem)
            self._build_data(name, settings, progress)
            return use()

    def _use_current_data(
        self, name: str, settings: GraphSettings, use: Callable[[], Content]
    ) -> Content:
        reason = self._check_stale(name, settings)
        if reason is None:
            try:
                return use()
            except SetupError as error:
                if settings.url:
                    raise
                reason = str(error)
        raise _UnusableError(reason)

    def _read_examples(self, name: str, settings: GraphSettings) -> "tuple[QueryExample, ...]":
        if settings.examples is None and not self.get_examples_folder(name).is_dir():
            return ()
        # Imported late: most graphs have no examples.
        from askgraph.evaluation.benchmarks.formats import read_example_file
        from askgraph.graph.examples.folder import ExampleFolder

        examples = [
            stored_example.example
            for stored_example in ExampleFolder(self.get_examples_folder(name)).list_examples()
        ]
        if settings.examples is not None:
            path = self.folder / Path(settings.examples).expanduser()
            if not path.exists():
                raise SetupError(
                    f"cannot read the examples {path}: there is no such file or folder"
                )
            collection = read_example_file(path)
            examples += collection.examples
            if collection.skipped:
                first, count = collection.skipped[0], len(collection.skipped)
                _log.warning("%d items are not examples; %s: %s", count, first.place, first.reason)
        return tuple(sorted(examples, key=lambda example: _ORIGIN_ORDER[example.origin]))

    def _open_graph(
        self,
        name: str,
        settings: GraphSettings,
        examples: "tuple[QueryExample, ...]" = (),
        glossary: "Glossary | None" = None,
        notes: Path | None = None,
    ) -> KnowledgeGraph:
        graph = open_graph(
            name,
            settings,
            self.get_data_folder(name),
            cache=self.get_cache_folder(name),
            services=WorkspaceServices(self.graphs, self._open_service),
            service=get_service_url(name.partition("~")[0], self.graphs()),
            examples=examples,
            description=self.get_description_file(name),
            notes=notes,
        )
        if not glossary:
            return graph
        from askgraph.workspace.glossary import apply_glossary  # few graphs have one

        return apply_glossary(graph, glossary)

    def _open_service(self, name: str) -> Endpoint:
        name, settings = self._resolve_name(name)

        def open_graph_endpoint() -> Endpoint:
            profile = self.load_profile(name) if settings.url else None
            return graph_data.open_endpoint(
                graph_data.keep_united_graphs(settings, profile) if profile else settings,
                self.get_data_folder(name),
                cache=self.get_cache_folder(name),
            )

        return (
            open_graph_endpoint()
            if settings.url
            else self._use_ready_data(name, settings, ignore_progress, open_graph_endpoint)
        )

    def _check_stale(self, name: str, settings: GraphSettings) -> str | None:
        """Return why a data folder cannot be used as it is; None if it can."""
        try:
            sources = graph_data.load_sources(self.get_data_folder(name))
        except graph_data.NewerFormatError:
            raise
        except SetupError as error:
            return str(error)
        if settings.url:
            return None
        if not graph_data.has_current_vocabularies(
            self.get_data_folder(name), self._list_vocabulary_files(settings)
        ):
            return "its vocabularies changed"
        try:
            changed = graph_data.find_changed_file(
                sources, settings.sources, also=self._list_enrichment_files(settings)
            )
        except SetupError as error:
            _log.warning("using the previous data of graph %r: %s", name, error)
            return None
        if changed:
            return f"{changed} changed"
        is_current = graph_data.has_current_kinds(self.get_data_folder(name))
        return None if is_current else "this version reads more of its texts as dates or numbers"

    def _get_replies_file(self, name: str, kind: str) -> Path:
        """Return the file of an endpoint's survey replies: `answers` or postponed (`later`)."""
        return self.get_data_folder(name).with_name(f".{name}.{kind}.jsonl")

    def _get_downloads_folder(self, name: str) -> Path:
        return self.folder / "downloads" / name

    def _build_data(
        self, name: str, settings: GraphSettings, progress: Progress, *, completing: bool = False
    ) -> None:
        # A graph is built once and opened often, without all that building needs.
        from askgraph.workspace.build import FileOptions, build_local, build_remote, read_profile

        with replace_folder(self.get_data_folder(name)) as folder:
            if not settings.url:
                contexts = self.folder / settings.contexts if settings.contexts else None
                left_out: list[str] = []
                build_local(
                    graph_data.list_rdf_files(settings.sources, left_out),
                    folder,
                    graphs=settings.graphs,
                    source=", ".join(settings.sources),
                    enrich=next(iter(self._list_enrichment_files(settings)), None),
                    vocabulary_files=self._list_vocabulary_files(settings),
                    options=FileOptions(settings.strict, contexts),
                    left_out=left_out,
                    progress=progress,
                )
                return
            later = self._get_replies_file(name, "later")
            if not completing:
                later.unlink(missing_ok=True)
            path = self.folder / Path(settings.profile or "").expanduser()
            remote = build_remote(
                settings,
                folder,
                answers=later if completing else self._get_replies_file(name, "answers"),
                later=None if completing else later,
                known_part=read_profile(path) if settings.profile else None,
                vocabulary_files=self._list_vocabulary_files(settings),
                progress=progress,
            )
            run_coroutine(remote)
            if completing and self.graphs().get(name) != settings:
                raise SetupError(
                    f"the graph {name!r} was changed or removed in the meantime: try again"
                )
            if not completing:
                shutil.rmtree(self.get_cache_folder(name), ignore_errors=True)

    def _enrich_endpoint(self, name: str, settings: GraphSettings) -> None:
        """Apply the enrichment of a graph behind an endpoint again after a new survey."""
        if not (settings.url and settings.enrich):
            return
        from askgraph.graph.definitions import read_definitions
        from askgraph.workspace.build import enrich_endpoint

        enrich_endpoint(
            self.get_data_folder(name), read_definitions(self._list_enrichment_files(settings)[0])
        )

    def _list_enrichment_files(self, settings: GraphSettings) -> list[Path]:
        return [self.folder / Path(settings.enrich).expanduser()] if settings.enrich else []

    def _list_vocabulary_files(self, settings: GraphSettings) -> list[Path]:
        return [self.folder / Path(file).expanduser() for file in settings.vocabularies]


def check_name(name: str) -> None:
    """Raise `SetupError` if a name cannot name a graph and its files."""
    if not _NAME_PATTERN.fullmatch(name):
        raise SetupError(
            f"{name!r} cannot be the name of a graph; letters, digits, '_', '-' and '.' can: "
            "first say what to call it, then where it is (askgraph add NAME SOURCE)"
        )


def _choose_settings(sources: Sequence[str | Path], old: GraphSettings | None) -> GraphSettings:
    """Return the settings of a new graph; settings of a replaced graph stay if they still apply."""
    if not sources:
        if old:
            return old
        raise SetupError("name a source: files, a folder, or the URL of an endpoint")
    urls = [str(source) for source in sources if graph_data.is_url(str(source))]
    if any(map(is_rdf_url, urls)):
        raise SetupError(f"{urls[0]} is a file: {_build_add_hint(urls[0])}")
    if urls and len(sources) > 1:
        raise SetupError("a graph is either files and folders or one endpoint, not both")
    if urls:
        kept_settings = old if old and old.url == urls[0] else GraphSettings()
        return dataclasses.replace(kept_settings, url=urls[0])
    graph_data.list_rdf_files(sources)
    kept_settings = old if old and old.sources else GraphSettings()
    return dataclasses.replace(
        kept_settings,
        sources=tuple(str(Path(source).expanduser().absolute()) for source in sources),
    )


def _suggest_name(address: str) -> str:
    return re.sub(r"[^\w.-]+", "-", Path(urlsplit(address).path).stem).strip(".-") or "graph"


def _build_add_hint(source: str) -> str:
    name = _suggest_name(source)
    return (
        f"add it first with: askgraph add {name} {shlex.quote(source)}, and name it with -g {name}"
    )


def _build_unknown_graph_message(
    name: str, graphs: Mapping[str, GraphSettings], folder: Path
) -> str:
    if graph_data.is_url(name) or Path(name).expanduser().exists():
        return f"{name!r} is not the name of a graph: {_build_add_hint(name)}"
    near = difflib.get_close_matches(name, graphs, n=3, cutoff=0.5)
    listing = f"available: {', '.join(graphs)}" if graphs else "it has none yet"
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else f"; {listing}."
    file = bool(Path(name).suffix) or "/" in name
    missing_kind, placeholder = ("no file and no graph", "NAME") if file else ("no graph", name)
    return (
        f"{missing_kind} {name!r} in the workspace {folder}{hint} Add one with: askgraph "
        f"add {placeholder} FILE"
    )
