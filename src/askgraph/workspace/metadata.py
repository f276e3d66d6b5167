"""Metadata of a graph, asked anew within a bound and completed by what is published.

The shapes of its classes, or of a schema in a file, come with what it takes to show them.
"""

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urljoin

from pyoxigraph import NamedNode

from askgraph.answers.verbalize import labels_of
from askgraph.atomic_files import lock_file, write_text_atomically
from askgraph.endpoint.documents import fetched
from askgraph.endpoint.public_only import Guard
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
from askgraph.graph.published_metadata import MetadataSource, PublishedMetadata, read_published_void
from askgraph.graph.remote_profile import profile_endpoint
from askgraph.graph.shape_texts import parse_shacl
from askgraph.graph.shapes import Shape, build_shape, load_shape, select_frequent
from askgraph.graph.void import parse_void
from askgraph.index.names import Name
from askgraph.sparql.prefixes import PrefixMap, best_label, words_of_local_name
from askgraph.sparql.rdf_files import read_statements
from askgraph.sparql.vocabulary import SCHEMA_SPACES
from askgraph.workspace import Workspace
from askgraph.workspace.build import with_prefixes_of_names
from askgraph.workspace.graph_data import guard_of, is_url, known_snapshot, remote_endpoint
from askgraph.workspace.graphs import read_descriptions, run_over
from askgraph.workspace.run_sync import Progress, result_of
from askgraph.workspace.settings import GraphSettings

_KINDS = ("application/ld+json", "text/html")


@dataclass(frozen=True)
class Bound:
    """What profiling may cost; of an endpoint, whether its graphs are asked one by one."""

    queries: int = 200
    seconds: float = 120.0
    one_by_one: bool = False


@dataclass(frozen=True)
class Fetched:
    """What was published: the schema (None if nothing was), descriptions, places looked at."""

    profile: Profile | None
    descriptions: tuple[DatasetDescription, ...]
    places: tuple[MetadataSource, ...]


def fetch(
    place: Workspace, source: str, *, page: str | None = None, seconds: float = 30.0
) -> Fetched:
    """Return the VoID that an endpoint publishes, or a file holds, and how it describes itself.

    `source` is a graph of the workspace, a URL or a file; `page` a home page, else an endpoint's
    own page and its host's are read. What a graph of the workspace gains by it is kept. Raises
    `SetupError` for what is none of these, or, without a page, a graph whose triples lie here, of
    which everything is known already; `ServiceError` if the page does not come.
    """
    settings = place.graphs().get(source)
    url = settings.url if settings else source if is_url(source) else None
    if settings and not url and not page:
        raise SetupError(
            f"the triples of {source!r} lie here: everything is counted already; see askgraph "
            f"metadata completeness {source}, or name its home page with --page"
        )
    guard = guard_of(settings) if settings else None
    described: tuple[DatasetDescription, ...] = ()
    note = "" if page else "no description"
    if page:
        described = _described_resource(page, seconds=seconds)
    profile: Profile | None = None
    places: list[MetadataSource] = []
    if url is not None:
        published = result_of(_published(settings or GraphSettings(url=url), seconds))
        profile, places = published.profile, [*published.places]
        # The page at the endpoint's address, else that of its host.
        for address in dict.fromkeys((url, urljoin(url, "/"))) if not page else ():
            try:
                described = _described_resource(address, seconds=seconds, guard=guard)
            except (ServiceError, SetupError) as error:
                note = str(error)
            if described:
                note = f" at {address}"
                break
    elif settings is None:
        profile = parse_void(read_statements(Path(source)), source=str(Path(source)))
        found = "no VoID" if profile is None else f"{len(profile.classes):,} classes"
        places = [MetadataSource("file", found, told=profile is not None)]
    if page or url is not None:
        count = f"{len(described)} description{'' if len(described) == 1 else 's'}"
        text = f"{count}{note}" if described or page else note
        places.append(MetadataSource("page", text, told=bool(described)))
    if settings is not None:
        with lock_file(place.data(source).parent / ".locks" / source):
            if profile is not None:
                known = merge_profiles(place.profile(source), profile)
                save_profile(known, place.data(source) / "profile.json")
            if described:
                path = place.description(source)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text_atomically(path, format_json_ld(described))
    return Fetched(profile, described, tuple(places))


async def _published(settings: GraphSettings, seconds: float) -> PublishedMetadata:
    endpoint = remote_endpoint(settings)
    try:
        return await read_published_void(
            endpoint, settings.url or "", seconds=seconds, guard=guard_of(settings)
        )
    finally:
        await endpoint.close()


def profiled(
    place: Workspace,
    source: str,
    *,
    bound: Bound | None = None,
    graphs: Sequence[str] = (),
    progress: Progress,
) -> Profile:
    """Return the profile of a graph, an endpoint or a file; an endpoint is asked anew.

    The bound is for endpoints. Stopped, the same call goes on where it was. What is learnt of an
    endpoint that is a graph here replaces its profile; the graph's names stay as they are.
    """
    bound = bound or Bound()
    named = source in place.graphs()
    settings = place.graphs()[source] if named else GraphSettings(url=source)
    if not is_url(settings.url or ""):
        graph = place.find(source, progress=progress)
        result_of(graph.endpoint.close())
        return graph.profile
    if graphs:
        settings = replace(settings, graphs=tuple(graphs))
    asked = f"{settings.url} {' '.join(settings.graphs)} {bound.one_by_one}"
    digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
    journal = place.folder / "data" / f".profile~{digest}.answers.jsonl"

    async def ask() -> tuple[Profile, list[Name]]:
        endpoint = remote_endpoint(settings)
        try:
            return await profile_endpoint(
                endpoint,
                max_queries=bound.queries,
                max_seconds=bound.seconds,
                one_by_one=bound.one_by_one,
                progress=progress,
                resume=journal,
            )
        finally:
            await endpoint.close()

    profile = with_prefixes_of_names(*result_of(ask()))
    if named:
        with lock_file(place.data(source).parent / ".locks" / source):
            save_profile(profile, place.data(source) / "profile.json")
    return profile


def known_profile(place: Workspace, source: str | None, *, progress: Progress) -> Profile:
    """Return the profile of a graph as it is known, or of a VoID file."""
    if source is None or source in place.graphs() or not Path(source).is_file():
        return place.known(source, progress=progress)[0]
    profile = parse_void(read_statements(Path(source)), source=str(Path(source)))
    if profile is None:
        raise SetupError(f"{source!r} holds no VoID")
    return profile


def _described_resource(
    source: str, *, seconds: float = 20.0, guard: Guard | None = None
) -> tuple[DatasetDescription, ...]:
    """Return what a page, or a file, says of a resource in schema.org's words.

    `guard` says which addresses a page may come from.

    Raises `SetupError` if a file cannot be read or holds neither JSON-LD nor HTML,
    `ServiceError` if a page does not come.
    """
    if not is_url(source):
        return read_descriptions(Path(source))

    document = result_of(fetched(source, accept=_KINDS, timeout=seconds, guard=guard))
    return parse_descriptions(document.content.decode("utf-8", "replace"))


def kept_notes(
    place: Workspace, name: str, *, remove: Sequence[int] = (), clear: bool = False
) -> tuple[tuple[Note, bool], ...]:
    """Return what agents noted about a graph, and whether the graph has changed since each.

    Those whose numbers are to be removed (from 1 on), or all of them, are gone then. Raises
    `SetupError` for a graph or a number that there is not; then nothing is changed.
    """
    settings = place.graphs()
    if name not in settings:
        known = ", ".join(settings) or "none yet"
        raise SetupError(f"there is no graph {name!r} in {place.folder}; there are: {known}")

    def left(notes: Sequence[Note]) -> Sequence[Note]:
        if wrong := [one for one in remove if not 1 <= one <= len(notes)]:
            raise SetupError(f"there is no note {wrong[0]}: {name!r} has {len(notes)}")
        return [one for at, one in enumerate(notes, 1) if not (clear or at in remove)]

    path = place.notes_file(name)
    notes = update_notes(path, left) if remove or clear else read_notes(path)
    snapshot = known_snapshot(place.data(name), place.profile(name)) if notes else ""
    return tuple((one, one.snapshot != snapshot) for one in notes)


@dataclass(frozen=True)
class Shapes:
    """Shapes of classes, with the labels of all that they name and the prefixes to write them.

    `described` is what the publisher of the graph says of it.
    """

    shapes: tuple[Shape, ...]
    labels: dict[str, str]
    prefixes: PrefixMap
    left_out: int = 0
    described: tuple[DatasetDescription, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Which shapes: of these classes (IRIs, prefixed names or labels), else of the most frequent.

    Of these there are `limit` at most, out of a `fraction` of the schema by frequency. Labels are
    in `languages`, the first one preferred.
    """

    classes: tuple[str, ...] = ()
    fraction: float = 1.0
    limit: int = 20
    languages: tuple[str, ...] = ("en",)


def shapes(place: Workspace, source: str | None, choice: Choice, *, progress: Progress) -> Shapes:
    """Return the shapes of the classes of a graph, or those of a file of VoID or SHACL.

    Raises `SetupError` for a class that is not there, or a file that holds no schema.
    """
    if source is None or source in place.graphs() or not Path(source).is_file():
        graph = place.graph(source, progress=progress)
        return run_over(graph, _of_graph(graph, choice, progress))
    described = read_statements(Path(source))
    prefixes = PrefixMap(dict(described.prefixes))
    declared = {shape.cls: shape for shape in parse_shacl(described)}
    profile = parse_void(described)
    if profile is None and not declared:
        raise SetupError(f"{source!r} holds neither VoID nor SHACL shapes")
    if profile is None:  # just enough to choose among shapes that nobody counted
        predicates = {line.predicate for shape in declared.values() for line in shape.lines}
        profile = Profile(
            0,
            tuple(ClassProfile(cls, 0) for cls in declared),
            tuple(PredicateProfile(iri, 0, 0, 0) for iri in sorted(predicates)),
        )
    few = select_frequent(profile, choice.fraction)
    classes = _chosen(few, choice, prefixes)
    found = tuple(declared.get(cls) or build_shape(few, cls) for cls in classes)
    left_out = 0 if choice.classes else len(profile.classes) - len(classes)
    schema: list[ClassProfile | PredicateProfile] = [*profile.classes, *profile.predicates]
    labels = {one.iri: best_label(one.names, choice.languages) for one in schema}
    return Shapes(found, {iri: text for iri, text in labels.items() if text}, prefixes, left_out)


async def _of_graph(graph: KnowledgeGraph, choice: Choice, progress: Progress) -> Shapes:
    profile = select_frequent(graph.profile, choice.fraction)
    classes = _chosen(profile, choice, graph.prefixes)
    predicates = {p.iri for p in profile.predicates}
    found, iris = [], set[str]()
    for at, cls in enumerate(classes):
        progress("asking for shapes", at, len(classes))
        shape = await load_shape(cls, profile, graph.endpoint, arrays=graph.arrays)
        lines = tuple(line for line in shape.lines if line.predicate in predicates)
        found.append(replace(shape, lines=lines))
        examples = (x.example.value for x in lines if isinstance(x.example, NamedNode))
        iris.update((cls, *(line.predicate for line in lines), *examples))
    labels = await labels_of(sorted(iris), graph, choice.languages)
    left_out = 0 if choice.classes else len(graph.profile.classes) - len(classes)
    return Shapes(tuple(found), labels, graph.prefixes, left_out, graph.descriptions)


def _chosen(profile: Profile, choice: Choice, prefixes: PrefixMap) -> list[str]:
    """The classes that are meant, else the most frequent ones that are not of a vocabulary."""
    if choice.classes:
        return [_class(profile, word, prefixes) for word in choice.classes]
    order = sorted(profile.classes, key=lambda c: (-c.instances, c.iri))
    own = [c.iri for c in order if not c.iri.startswith(SCHEMA_SPACES)]
    return (own or [c.iri for c in order])[: choice.limit]


def _class(profile: Profile, word: str, prefixes: PrefixMap) -> str:
    known = {c.iri for c in profile.classes}
    named = {words_of_local_name(iri).casefold(): iri for iri in sorted(known)}
    named |= {text.casefold(): c.iri for c in profile.classes for text, _ in c.names}
    iri = word.strip("<>")
    if iri not in known and ":" in word and not word.startswith(("http", "<")):
        prefix = word.partition(":")[0]
        iri = prefixes.expand(word) if prefix in prefixes.namespaces else iri
    iri = iri if iri in known else named.get(word.casefold(), iri)
    if iri not in known:
        words = [*named, *(prefixes.shorten(c) for c in known)]
        near = difflib.get_close_matches(word.casefold(), words, n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise SetupError(f"there is no class {word!r} among those known{hint}")
    return iri
