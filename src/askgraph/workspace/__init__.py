"""A workspace: a folder with `askgraph.toml` and the data of its graphs.

    >>> workspace = Workspace()                                    # doctest: +SKIP
    >>> workspace.add("space", ["space.ttl"])                      # doctest: +SKIP
    >>> graph = workspace.graph("space")                           # doctest: +SKIP

It is the place where settings become objects: graphs, methods, endpoints.

What lives here: `settings`, `graphs`, `models`, the building of a graph's data folder (`build`,
`graph_data`, `indices`), and a module for each use case that the command line and the server
share (`outcome` asks a question, `evaluation` runs a benchmark, …). May import: `evaluation`,
`training` and the rooms below them. Start reading at `Workspace`.
"""

import dataclasses
import difflib
import hashlib
import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from askgraph import plugins
from askgraph.atomic_files import lock_file
from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import Profile, load_profile
from askgraph.llm import LanguageModel
from askgraph.methods import ConfirmedAnswerMethod, Method, can_call_model
from askgraph.workspace.graph_data import (
    WrittenByNewer,
    changed_file,
    is_url,
    known_content,
    known_sources,
    open_endpoint,
    rdf_files,
    replacing,
)
from askgraph.workspace.graphs import WorkspaceServices, open_graph, service_url
from askgraph.workspace.run_sync import Progress, result_of, silent
from askgraph.workspace.settings import (
    CHOICE,
    GraphSettings,
    check_settings,
    graph_settings,
    method_settings,
    with_graph,
    without,
)

if TYPE_CHECKING:
    from askgraph.graph.examples import QueryExample
    from askgraph.graph.glossary import Glossary, GlossaryEntry
    from askgraph.workspace.models import Models

__all__ = [
    "DEFAULT_METHOD",
    "GraphSettings",
    "Progress",
    "Workspace",
    "check_name",
    "default_folder",
    "silent",
]

DEFAULT_METHOD = "graph-search"
Content = TypeVar("Content")
_NAME = re.compile(r"\w[\w.-]*")
_DEPENDENT = frozenset({*CHOICE, "further", "others"})
"""Fields and settings of methods that work with models or consult other methods."""
_FIRST = {"confirmed": 0, "written": 1, "generated": 2}
_log = logging.getLogger("askgraph")


def default_folder() -> Path:
    """Return the folder named by `ASKGRAPH_WORKSPACE`, else the platform's place for user data."""
    named = os.environ.get("ASKGRAPH_WORKSPACE")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "askgraph"


class _UnusableError(Exception):
    """A data folder that has to be built again, and why."""


class Workspace:
    """The graphs of one folder; opening a workspace reads and writes nothing."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder).expanduser().absolute() if folder else default_folder()

    def graphs(self) -> dict[str, GraphSettings]:
        """Return the settings of all graphs by name."""
        return graph_settings(self.folder)

    def add(
        self,
        name: str,
        sources: Sequence[str | Path] = (),
        *,
        settings: Mapping[str, object] | None = None,
        replace: bool = False,
        progress: Progress = silent,
    ) -> Profile:
        """Add a graph from files, folders or one endpoint URL, and return its profile.

        Nothing is half-written: what was there before stays until the new graph is complete.
        `settings` are fields of `GraphSettings`. With `replace` and no source, what is there is
        built anew. Raises `SetupError` if the name is taken (unless `replace`) or a source
        cannot be read, `ServiceError` if an endpoint fails.
        """
        from askgraph.index.name_search import Naming, name_search  # graphs are added once

        check_name(name)
        old = self.graphs().get(name)
        if old and not replace:
            raise SetupError(
                f"there is a graph {name!r} already; --replace builds it anew, "
                f"askgraph remove {name} takes it away"
            )
        table = _settings(sources, old).table() | {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in (settings or {}).items()
        }
        chosen = GraphSettings.of(name, table)
        self._examples(name, chosen)
        if chosen.name_search:
            name_search(chosen.name_search, Naming())  # there is such a search
        self._build(name, chosen, progress)
        self._enrich_endpoint(name, chosen)
        with lock_file(self.folder / ".lock"):
            with_graph(self.folder, name, chosen)
        return self.profile(name)

    def unasked(self, name: str) -> bool:
        """Return whether an endpoint has more to say of its graph than was asked at first."""
        return self._replies(name, "later").exists()

    def grow(self, name: str, *, progress: Progress = silent) -> Profile:
        """Ask an endpoint for what was not asked at first, and return the profile.

        It takes two minutes at most. One process at a time does it, once. Raises `ServiceError` if
        the endpoint fails, and `SetupError` if the graph was changed or removed meanwhile.
        """
        name, settings = self._chosen(name)
        with lock_file(self.data(name).parent / ".locks" / f"{name}.growing"):
            if self.unasked(name):
                self._build(name, settings, progress, growing=True)
                self._enrich_endpoint(name, settings)
        return self.profile(name)

    def graph(
        self, name: str | None = None, *, fresh: bool = False, progress: Progress = silent
    ) -> KnowledgeGraph:
        """Open a graph by name; the name may be left out if there is only one.

        A graph whose files changed, or whose data is damaged, is built again first. Its queries
        may call the workspace's graphs by SERVICE. With `fresh` its endpoint is asked each time,
        whatever it answered before. Close the endpoint after use.
        """
        name, settings = self._chosen(name)
        if fresh:
            settings = dataclasses.replace(settings, cache_mb=0)
        examples = self._examples(name, settings)
        known = self.glossary(name) if self.glossary_file(name).exists() else None
        notes = self.notes_file(name)
        return self._ready(
            name, settings, progress, lambda: self._open(name, settings, examples, known, notes)
        )

    def open(self, source: str | Path, *, progress: Progress = silent) -> KnowledgeGraph:
        """Open a file, a folder or an endpoint's URL that has no name here.

        What is learnt of it is kept beside the graphs with names, and used again next time.
        """
        settings = _settings([source], None)
        place = settings.url or settings.sources[0]
        stem = re.sub(r"[^\w.-]+", "-", Path(urlsplit(place).path).stem) or "graph"
        name = f"{stem}~{hashlib.sha256(place.encode()).hexdigest()[:12]}"
        graph = self._ready(name, settings, progress, lambda: self._open(name, settings))
        if self.unasked(name):
            _log.warning(
                "graph %r is known as far as it was asked at first: under a name of its own "
                "(askgraph add NAME URL) it is asked for the rest",
                stem,
            )
        return graph

    def find(
        self, graph: str | Path | None = None, *, progress: Progress = silent
    ) -> KnowledgeGraph:
        """Open a graph by its name here, else by its path or URL."""
        if graph is None or str(graph) in self.graphs():
            return self.graph(None if graph is None else str(graph), progress=progress)
        if isinstance(graph, Path) or is_url(graph) or Path(graph).expanduser().exists():
            return self.open(graph, progress=progress)
        return self.graph(graph, progress=progress)

    def stale(self, name: str) -> str | None:
        """Return why what was built of a graph is not what it would be now; None if it is.

        Raises `SetupError` if there is no such graph.
        """
        name, settings = self._chosen(name)
        return self._stale(name, settings)

    def known(
        self, name: str | None = None, *, progress: Progress = silent
    ) -> tuple[Profile, GraphArrays | None]:
        """Return what is known of a graph, as it is now, without opening its endpoint.

        The arrays are its triples; None if these lie behind an endpoint.
        """
        name, settings = self._chosen(name)

        def content() -> tuple[Profile, GraphArrays | None]:
            return self.profile(name), known_content(self.data(name))[1]

        return self._ready(name, settings, progress, content)

    def profile(self, name: str) -> Profile:
        """Return the profile of a graph as it was written."""
        return load_profile(self.data(name) / "profile.json")

    def remove(self, name: str) -> None:
        """Take a graph and its data away; its sources stay."""
        self._chosen(name)
        with lock_file(self.folder / ".lock"):
            without(self.folder, name)
        for folder in (self.data(name), self.cache(name)):
            shutil.rmtree(folder, ignore_errors=True)
        enriched = self.folder / "enrichments" / name
        for file in (
            self.description(name),
            self.glossary_file(name),
            self.notes_file(name),
            self._replies(name, "answers"),
            self._replies(name, "later"),
            enriched.with_name(f"{name}.toml"),
            enriched.with_name(f"{name}.nt"),
        ):
            file.unlink(missing_ok=True)

    def model(self, name: str | None = None, **overrides: object) -> LanguageModel:
        """Return a language model: that of a table `[models.NAME]`, else the one with this id.

        See `askgraph.workspace.models`, which also says what is taken without a name. Close it
        after use.
        """
        from askgraph.workspace.models import Models

        return Models(self.folder).model(name, **overrides)

    def method(
        self,
        name: str = DEFAULT_METHOD,
        settings: Mapping[str, Any] | None = None,
        *,
        models: "Models | None" = None,
        confirmed: bool = False,
    ) -> Method:
        """Return a method with its settings: those of `askgraph.toml`, then those given here.

        With `confirmed`, a question whose answer was confirmed before gets that one, and the method
        is not asked; unless the setting `confirmed`, which every method has, is false.

        A method that works with a language model gets it: the one that the settings `model`,
        `provider`, `base_url` and `key_env` name, else the workspace's. One that asks further
        models or consults other methods gets those that its settings `models` and `consult` name.
        Unless all models come from `models`, close the method after use
        (`askgraph.methods.closed`).
        """
        plugin = plugins.load("method", name)
        chosen = method_settings(self.folder, name) | dict(settings or {})
        setting = chosen.pop("confirmed", True)
        if not isinstance(setting, bool):
            raise SetupError(f"method {name!r}: 'confirmed' is true or false, not {setting!r}")
        known = getattr(plugin, "__dataclass_fields__", {}).items()
        wants = {key for key, one in known if one.default is dataclasses.MISSING or one.default}
        if _DEPENDENT & {*chosen, *wants} or can_call_model(plugin, chosen):
            from askgraph.workspace.models import with_dependencies

            chosen = with_dependencies(
                plugin,
                chosen,
                self.folder,
                lambda other, given, made: self.method(other, given, models=made),
                models,
            )
        check_settings(name, plugin, chosen)
        try:
            method: Method = plugin(**chosen)
        except TypeError as error:
            raise SetupError(f"method {name!r} does not take these settings: {error}") from error
        return ConfirmedAnswerMethod(method) if confirmed and setting else method

    def data(self, name: str) -> Path:
        """Return the folder with the data of a graph."""
        return self.folder / "data" / name

    def cache(self, name: str) -> Path:
        """Return the folder with the remembered answers of a graph's endpoint."""
        return self.folder / "cache" / name

    def examples(self, name: str) -> Path:
        """Return the folder with the confirmed and generated examples of a graph."""
        return self.folder / "examples" / name

    def known_examples(self, name: str) -> "tuple[QueryExample, ...]":
        """Return the examples of a graph: confirmed ones, then written ones, then generated ones.

        They come from its folder in the workspace and from its setting `examples`. Items of that
        which cannot be read as an example are counted in a warning.
        """
        return self._examples(*self._chosen(name))

    def glossary(self, name: str) -> "Glossary":
        """Return what was taught of a graph; `SetupError` if its file cannot be read."""
        from askgraph.workspace.glossary import kept_glossary  # few graphs were taught anything

        return kept_glossary(self.glossary_file(self._chosen(name)[0]))

    def teach(
        self,
        name: str,
        *entries: "GlossaryEntry",
        instructions: str | None = None,
        without: str = "",
    ) -> "Glossary":
        """Add entries to a graph's glossary, or take one away, and return the glossary.

        An entry takes the place of one of the same word; what it means may be given by IRI,
        prefixed name or name. `instructions` take the place of those that language models were
        given before; the entry of the word `without` goes. Raises `SetupError` for what the graph
        does not have, and for a word or a query that there is not; then nothing is changed.
        """
        from askgraph.workspace.glossary import Known  # few graphs were taught anything

        name, _ = self._chosen(name)
        profile, arrays = self.known(name)
        known = Known(name, profile, known_content(self.data(name))[0], arrays)
        path = self.glossary_file(name)
        return known.taught(path, entries, instructions=instructions, without=without)

    def glossary_file(self, name: str) -> Path:
        """Return the file with the glossary of a graph (TOML)."""
        return self.folder / "glossaries" / f"{name}.toml"

    def notes_file(self, name: str) -> Path:
        """Return the file with what agents noted about a graph (JSON lines)."""
        return self.folder / "notes" / f"{name}.jsonl"

    def description(self, name: str) -> Path:
        """Return the file with what the publisher of a graph says of it (JSON-LD)."""
        return self.folder / "descriptions" / f"{name}.jsonld"

    def _chosen(self, name: str | None) -> tuple[str, GraphSettings]:
        graphs = self.graphs()
        if name is None and not graphs:
            add = "add one with: askgraph add NAME FILE"
            raise SetupError(f"the workspace {self.folder} has no graph yet; {add}")
        if name is None and len(graphs) > 1:
            raise SetupError(f"which graph? There are {', '.join(graphs)}: name one with -g")
        name = next(iter(graphs)) if name is None else name
        if name not in graphs:
            raise SetupError(_unknown(name, graphs, self.folder))
        return name, graphs[name]

    def _ready(
        self, name: str, settings: GraphSettings, progress: Progress, use: Callable[[], Content]
    ) -> Content:
        """Use a data folder, building it again first if it is missing, old or damaged."""
        try:
            return self._used(name, settings, use)
        except _UnusableError:
            pass
        with lock_file(self.data(name).parent / ".locks" / name):
            try:
                return self._used(name, settings, use)  # another process may have built it
            except _UnusableError as problem:
                if settings.url and name in self.graphs():
                    again = f"askgraph add {name} --replace"
                    raise SetupError(f"{problem}; ask it anew with: {again}") from problem
                if self.data(name).exists():
                    _log.warning("graph %r is built again: %s", name, problem)
            self._build(name, settings, progress)
            return use()

    def _used(self, name: str, settings: GraphSettings, use: Callable[[], Content]) -> Content:
        reason = self._stale(name, settings)
        if reason is None:
            try:
                return use()
            except SetupError as error:
                if settings.url:
                    raise
                reason = str(error)
        raise _UnusableError(reason)

    def _examples(self, name: str, settings: GraphSettings) -> "tuple[QueryExample, ...]":
        if settings.examples is None and not self.examples(name).is_dir():
            return ()
        # Most graphs have no examples, and then none of the formats is needed that these come in.
        from askgraph.evaluation.benchmarks.formats import read_example_file
        from askgraph.graph.examples.folder import ExampleFolder

        found = [one.example for one in ExampleFolder(self.examples(name)).list_examples()]
        if settings.examples is not None:
            path = self.folder / Path(settings.examples).expanduser()
            if not path.exists():
                raise SetupError(
                    f"cannot read the examples {path}: there is no such file or folder"
                )
            given = read_example_file(path)
            found += given.examples
            if given.skipped:
                first, count = given.skipped[0], len(given.skipped)
                _log.warning("%d items are no examples; %s: %s", count, first.place, first.reason)
        return tuple(sorted(found, key=lambda example: _FIRST[example.origin]))

    def _open(
        self,
        name: str,
        settings: GraphSettings,
        examples: "tuple[QueryExample, ...]" = (),
        glossary: "Glossary | None" = None,
        notes: Path | None = None,
    ) -> KnowledgeGraph:
        services = WorkspaceServices(self.graphs, self._service)
        return open_graph(
            name,
            settings,
            self.data(name),
            cache=self.cache(name),
            services=services,
            service=service_url(name.partition("~")[0], self.graphs()),
            examples=examples,
            description=self.description(name),
            glossary=glossary,
            notes=notes,
        )

    def _service(self, name: str) -> Endpoint:
        """Open only the endpoint of a graph, which another one calls."""
        name, settings = self._chosen(name)

        def endpoint() -> Endpoint:
            return open_endpoint(settings, self.data(name), cache=self.cache(name))

        return endpoint() if settings.url else self._ready(name, settings, silent, endpoint)

    def _stale(self, name: str, settings: GraphSettings) -> str | None:
        """Why a data folder cannot be used as it is."""
        try:
            known = known_sources(self.data(name))
        except WrittenByNewer:
            raise
        except SetupError as error:
            return str(error)
        if settings.url:
            return None
        try:
            changed = changed_file(known, settings.sources, also=self._enrichments(settings))
        except SetupError as error:
            _log.warning("graph %r is used as it was read: %s", name, error)
            return None
        return f"{changed} changed" if changed else None

    def _replies(self, name: str, kind: str) -> Path:
        """The file with an endpoint's `answers` to a survey that was stopped, or is due `later`."""
        return self.data(name).with_name(f".{name}.{kind}.jsonl")

    def _build(
        self, name: str, settings: GraphSettings, progress: Progress, *, growing: bool = False
    ) -> None:
        # A graph is built once and opened often, without all that building needs.
        from askgraph.workspace.build import build_local, build_remote, given_profile

        with replacing(self.data(name)) as folder:
            if not settings.url:
                build_local(
                    rdf_files(settings.sources),
                    folder,
                    graphs=settings.graphs,
                    source=", ".join(settings.sources),
                    enrich=next(iter(self._enrichments(settings)), None),
                    progress=progress,
                )
                return
            later = self._replies(name, "later")
            if not growing:
                later.unlink(missing_ok=True)
            path = self.folder / Path(settings.profile or "").expanduser()
            remote = build_remote(
                settings,
                folder,
                answers=later if growing else self._replies(name, "answers"),
                later=None if growing else later,
                known=given_profile(path) if settings.profile else None,
                progress=progress,
            )
            result_of(remote)
            if growing and self.graphs().get(name) != settings:
                raise SetupError(f"the graph {name!r} was changed or removed meanwhile")
            if not growing:
                shutil.rmtree(self.cache(name), ignore_errors=True)

    def _enrich_endpoint(self, name: str, settings: GraphSettings) -> None:
        """Add to a graph behind an endpoint, asked anew, what it was enriched with."""
        if not (settings.url and settings.enrich):
            return
        from askgraph.graph.definitions import read_definitions
        from askgraph.workspace.build import enrich_endpoint

        enrich_endpoint(self.data(name), read_definitions(self._enrichments(settings)[0]))

    def _enrichments(self, settings: GraphSettings) -> list[Path]:
        """The file of definitions of a graph, if it has one."""
        return [self.folder / Path(settings.enrich).expanduser()] if settings.enrich else []


def check_name(name: str) -> None:
    """Raise `SetupError` for what cannot be the name of a graph, nor of its files."""
    if not _NAME.fullmatch(name):
        raise SetupError(
            f"{name!r} cannot be the name of a graph; letters, digits, '_', '-' and '.' can: "
            "first say what to call it, then where it is (askgraph add NAME SOURCE)"
        )


def _settings(sources: Sequence[str | Path], old: GraphSettings | None) -> GraphSettings:
    """The settings of a graph to add; those of one to replace stay if they still apply."""
    if not sources:
        if old:
            return old
        raise SetupError("no source given: name files, a folder, or the URL of an endpoint")
    urls = [str(source) for source in sources if is_url(str(source))]
    if urls and len(sources) > 1:
        raise SetupError("a graph is either files and folders or one endpoint, not both")
    if urls:
        kept = old if old and old.url == urls[0] else GraphSettings()
        return dataclasses.replace(kept, url=urls[0])
    rdf_files(sources)
    kept = old if old and old.sources else GraphSettings()
    return dataclasses.replace(
        kept, sources=tuple(str(Path(s).expanduser().absolute()) for s in sources)
    )


def _unknown(name: str, graphs: Mapping[str, GraphSettings], folder: Path) -> str:
    near = difflib.get_close_matches(name, graphs, n=3, cutoff=0.5)
    listing = f"there are {', '.join(graphs)}" if graphs else "it has none yet"
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else f"; {listing}."
    file = bool(Path(name).suffix) or "/" in name
    what, called = ("no file and no graph", "NAME") if file else ("no graph", name)
    return (
        f"{what} {name!r} in the workspace {folder}{hint} Add one with: askgraph add {called} FILE"
    )
