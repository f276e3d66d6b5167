"""Survey the metadata of a graph within limits, and complete it from published metadata.

The shapes of its classes, or of a schema in a file, come with labels and prefixes for display.
"""

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urljoin

from pyoxigraph import NamedNode

from askgraph.answers.verbalize import fetch_term_labels
from askgraph.atomic_files import lock_file, write_text_atomically
from askgraph.endpoint.documents import fetch_document
from askgraph.endpoint.public_only import AddressGuard
from askgraph.errors import ServiceError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.descriptions import DatasetDescription, format_json_ld, parse_descriptions
from askgraph.graph.glossary import Note, read_notes, update_notes
from askgraph.graph.profile import (
    ClassProfile,
    PredicateProfile,
    Profile,
    merge_profiles,
    save_profile,
)
from askgraph.graph.published_metadata import MetadataSource, read_published_void
from askgraph.graph.remote_profile import profile_endpoint
from askgraph.graph.shape_texts import parse_shacl
from askgraph.graph.shapes import Shape, build_shape, load_shape, select_frequent
from askgraph.graph.void import parse_void
from askgraph.sparql.prefixes import PrefixMap, choose_label, split_local_name
from askgraph.sparql.rdf_files import read_statements
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES
from askgraph.workspace import Workspace, graph_data
from askgraph.workspace.build import add_prefixes_of_names
from askgraph.workspace.graphs import read_descriptions, run_and_close
from askgraph.workspace.run_sync import Progress, run_coroutine
from askgraph.workspace.settings import GraphSettings

_MEDIA_TYPES = ("application/ld+json", "text/html")


@dataclass(frozen=True)
class ProfilingLimits:
    """Limits of profiling; `one_by_one` surveys each named graph of an endpoint separately."""

    queries: int = 200
    seconds: float = 120.0
    one_by_one: bool = False


@dataclass(frozen=True)
class FetchedMetadata:
    """Published metadata: the schema (None if there is none), descriptions, and places checked."""

    profile: Profile | None
    descriptions: tuple[DatasetDescription, ...]
    places: tuple[MetadataSource, ...]


def fetch_metadata(
    workspace: Workspace, source: str, *, page: str | None = None, seconds: float = 30.0
) -> FetchedMetadata:
    """Fetch the VoID of an endpoint or file, and the description of the graph.

    `source` is a graph of the workspace, a URL or a file; `page` a home page, else the
    endpoint's own page and its host's are read. New metadata of a graph of the workspace is
    stored.

    Raises:
        SetupError: the source is invalid, or it is a local graph and no page is given.
        ServiceError: the page cannot be fetched.
    """
    settings = workspace.graphs().get(source)
    url = settings.url if settings else source if graph_data.is_url(source) else None
    if settings and not url and not page:
        raise SetupError(
            f"the graph {source!r} was read from files and is fully counted: see askgraph "
            f"metadata completeness {source}, or name its home page with --page"
        )
    guard = graph_data.create_guard(settings) if settings else None
    described: tuple[DatasetDescription, ...] = ()
    note = "" if page else "no description"
    if page:
        described = _fetch_descriptions(page, seconds=seconds)
    profile: Profile | None = None
    places: list[MetadataSource] = []
    if url is not None:
        endpoint = graph_data.create_remote_endpoint(settings or GraphSettings(url=url))
        reading = read_published_void(endpoint, url, seconds=seconds, guard=guard)
        published = run_and_close(endpoint, reading)
        profile, places = published.profile, [*published.places]
        # The page at the endpoint's address, else that of its host.
        for address in dict.fromkeys((url, urljoin(url, "/"))) if not page else ():
            try:
                described = _fetch_descriptions(address, seconds=seconds, guard=guard)
            except (ServiceError, SetupError) as error:
                note = str(error)
            if described:
                note = f" at {address}"
                break
    elif settings is None:
        profile = parse_void(read_statements(Path(source)), source=str(Path(source)))
        finding = "no VoID" if profile is None else f"{len(profile.classes):,} classes"
        places = [MetadataSource("file", finding, told=profile is not None)]
    if page or url is not None:
        count = f"{len(described)} description{'' if len(described) == 1 else 's'}"
        text = f"{count}{note}" if described or page else note
        places.append(MetadataSource("page", text, told=bool(described)))
    if settings is not None:
        with lock_file(workspace.get_data_folder(source).parent / ".locks" / source):
            if profile is not None:
                merged_profile = merge_profiles(workspace.load_profile(source), profile)
                save_profile(merged_profile, workspace.get_data_folder(source) / "profile.json")
            if described:
                path = workspace.get_description_file(source)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text_atomically(path, format_json_ld(described))
    return FetchedMetadata(profile, described, tuple(places))


def profile_source(
    workspace: Workspace,
    source: str,
    *,
    limits: ProfilingLimits | None = None,
    graphs: Sequence[str] = (),
    progress: Progress,
) -> Profile:
    """Return the profile of a graph, an endpoint or a file; an endpoint is surveyed again.

    The limits apply to endpoints. A stopped survey resumes with the same call. For a graph
    of the workspace, the new profile replaces the old one; its names stay.
    """
    limits = limits or ProfilingLimits()
    is_in_workspace = source in workspace.graphs()
    settings = workspace.graphs()[source] if is_in_workspace else GraphSettings(url=source)
    if not graph_data.is_url(settings.url or ""):
        graph = workspace.find(source, progress=progress)
        run_coroutine(graph.endpoint.close())
        return graph.profile
    if graphs:
        settings = replace(settings, graphs=tuple(graphs))
    survey_key = f"{settings.url} {' '.join(settings.graphs)} {limits.one_by_one}"
    digest = hashlib.sha256(survey_key.encode()).hexdigest()[:12]
    journal = workspace.folder / "data" / f".profile~{digest}.answers.jsonl"
    endpoint = graph_data.create_remote_endpoint(settings)
    survey = profile_endpoint(
        endpoint,
        max_queries=limits.queries,
        max_seconds=limits.seconds,
        one_by_one=limits.one_by_one,
        progress=progress,
        resume=journal,
    )
    profile = add_prefixes_of_names(*run_and_close(endpoint, survey))
    if is_in_workspace:
        with lock_file(workspace.get_data_folder(source).parent / ".locks" / source):
            save_profile(profile, workspace.get_data_folder(source) / "profile.json")
    return profile


def load_source_profile(workspace: Workspace, source: str | None, *, progress: Progress) -> Profile:
    """Return the stored profile of a graph, or that of a VoID file."""
    if source is None or source in workspace.graphs() or not Path(source).is_file():
        return workspace.load_content(source, progress=progress)[0]
    profile = parse_void(read_statements(Path(source)), source=str(Path(source)))
    if profile is None:
        raise SetupError(f"{source!r} contains no VoID")
    return profile


def _fetch_descriptions(
    source: str, *, seconds: float = 20.0, guard: AddressGuard | None = None
) -> tuple[DatasetDescription, ...]:
    if not graph_data.is_url(source):
        return read_descriptions(Path(source))

    document = run_coroutine(
        fetch_document(source, accept=_MEDIA_TYPES, timeout=seconds, guard=guard)
    )
    return parse_descriptions(document.content.decode("utf-8", "replace"))


def manage_notes(
    workspace: Workspace, name: str, *, remove: Sequence[int] = (), clear: bool = False
) -> tuple[tuple[Note, bool], ...]:
    """Return the agents' notes on a graph, each with whether the graph has changed since.

    Args:
        remove: numbers of notes to remove, from 1.
        clear: remove all notes.

    Raises:
        SetupError: the graph or a number does not exist; then nothing changes.
    """
    settings = workspace.graphs()
    if name not in settings:
        names = ", ".join(settings) or "none yet"
        raise SetupError(f"there is no graph {name!r} in {workspace.folder}; available: {names}")

    def filter_notes(notes: Sequence[Note]) -> Sequence[Note]:
        if invalid := [number for number in remove if not 1 <= number <= len(notes)]:
            raise SetupError(f"there is no note {invalid[0]}: graph {name!r} has {len(notes)}")
        return [
            number for position, number in enumerate(notes, 1) if not (clear or position in remove)
        ]

    path = workspace.get_notes_file(name)
    notes = update_notes(path, filter_notes) if remove or clear else read_notes(path)
    snapshot = (
        graph_data.compute_snapshot(workspace.get_data_folder(name), workspace.load_profile(name))
        if notes
        else ""
    )
    return tuple((item, item.snapshot != snapshot) for item in notes)


@dataclass(frozen=True)
class ClassShapes:
    """Shapes of classes, with the labels of their terms and the prefixes to write them."""

    shapes: tuple[Shape, ...]
    labels: dict[str, str]
    prefixes: PrefixMap
    left_out: int = 0
    described: tuple[DatasetDescription, ...] = ()  # the publisher's descriptions of the graph


@dataclass(frozen=True)
class ShapeSelection:
    """The shapes to return: of these classes (IRIs, prefixed names, labels), or the most frequent.

    At most `limit` classes, out of a `fraction` of the schema by frequency. Labels are in
    `languages`, the first one preferred.
    """

    classes: tuple[str, ...] = ()
    fraction: float = 1.0
    limit: int = 20
    languages: tuple[str, ...] = ("en",)


def load_shapes(
    workspace: Workspace, source: str | None, selection: ShapeSelection, *, progress: Progress
) -> ClassShapes:
    """Return the shapes of the classes of a graph, or those of a file of VoID or SHACL.

    Raises:
        SetupError: a class does not exist, or a file has no schema.
    """
    if source is None or source in workspace.graphs() or not Path(source).is_file():
        graph = workspace.graph(source, progress=progress)
        return run_and_close(graph, _load_graph_shapes(graph, selection, progress))
    described = read_statements(Path(source))
    prefixes = PrefixMap(dict(described.prefixes))
    declared = {shape.cls: shape for shape in parse_shacl(described)}
    profile = parse_void(described)
    if profile is None and not declared:
        raise SetupError(f"{source!r} contains neither VoID nor SHACL shapes")
    if profile is None:  # just enough to choose among uncounted shapes
        predicates = {line.predicate for shape in declared.values() for line in shape.lines}
        profile = Profile(
            0,
            tuple(ClassProfile(cls, 0) for cls in declared),
            tuple(PredicateProfile(iri, 0, 0, 0) for iri in sorted(predicates)),
        )
    frequent_profile = select_frequent(profile, selection.fraction)
    classes = _choose_classes(frequent_profile, selection, prefixes)
    class_shapes = tuple(declared.get(cls) or build_shape(frequent_profile, cls) for cls in classes)
    left_out = 0 if selection.classes else len(profile.classes) - len(classes)
    schema: list[ClassProfile | PredicateProfile] = [*profile.classes, *profile.predicates]
    labels = {term.iri: choose_label(term.names, selection.languages) for term in schema}
    return ClassShapes(
        class_shapes, {iri: text for iri, text in labels.items() if text}, prefixes, left_out
    )


async def _load_graph_shapes(
    graph: KnowledgeGraph, selection: ShapeSelection, progress: Progress
) -> ClassShapes:
    profile = select_frequent(graph.profile, selection.fraction)
    classes = _choose_classes(profile, selection, graph.prefixes)
    predicates = {predicate.iri for predicate in profile.predicates}
    class_shapes, iris = [], set[str]()
    for position, cls in enumerate(classes):
        progress("asking for shapes", position, len(classes))
        shape = await load_shape(cls, profile, graph.endpoint, arrays=graph.arrays)
        lines = tuple(line for line in shape.lines if line.predicate in predicates)
        class_shapes.append(replace(shape, lines=lines))
        examples = (item.example.value for item in lines if isinstance(item.example, NamedNode))
        iris.update((cls, *(line.predicate for line in lines), *examples))
    labels = await fetch_term_labels(sorted(iris), graph, selection.languages)
    left_out = 0 if selection.classes else len(graph.profile.classes) - len(classes)
    return ClassShapes(tuple(class_shapes), labels, graph.prefixes, left_out, graph.descriptions)


def _choose_classes(profile: Profile, selection: ShapeSelection, prefixes: PrefixMap) -> list[str]:
    """Return the selected classes, else the most frequent ones outside of schema vocabularies."""
    if selection.classes:
        return [_resolve_class(profile, word, prefixes) for word in selection.classes]
    order = sorted(profile.classes, key=lambda cls: (-cls.instances, cls.iri))
    own_classes = [cls.iri for cls in order if not cls.iri.startswith(SCHEMA_NAMESPACES)]
    return (own_classes or [cls.iri for cls in order])[: selection.limit]


def _resolve_class(profile: Profile, word: str, prefixes: PrefixMap) -> str:
    class_iris = {cls.iri for cls in profile.classes}
    iris_by_name = {split_local_name(iri).casefold(): iri for iri in sorted(class_iris)}
    iris_by_name |= {text.casefold(): cls.iri for cls in profile.classes for text, _ in cls.names}
    iri = word.strip("<>")
    if iri not in class_iris and ":" in word and not word.startswith(("http", "<")):
        iri = prefixes.expand(word) if word.partition(":")[0] in prefixes.namespaces else iri
    iri = iri if iri in class_iris else iris_by_name.get(word.casefold(), iri)
    if iri not in class_iris:
        words = [*iris_by_name, *(prefixes.shorten(class_iri) for class_iri in class_iris)]
        near = difflib.get_close_matches(word.casefold(), words, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise SetupError(f"unknown class {word!r}{hint}")
    return iri
