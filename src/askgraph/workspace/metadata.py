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
from askgraph.atomic_files import locked, write_whole
from askgraph.endpoint.documents import fetched
from askgraph.endpoint.public_only import Guard
from askgraph.errors import ServiceError, SetupError
from askgraph.graph.descriptions import Description, descriptions_in, json_ld_of
from askgraph.graph.glossary import Note, changed, notes_in
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile, merged, save_profile
from askgraph.graph.published import Place, Published, published_void
from askgraph.graph.remote_profile import profile_endpoint
from askgraph.graph.shape_texts import shapes_of_shacl
from askgraph.graph.shapes import Shape, frequent, known_shape, shape_at
from askgraph.graph.void import profile_of_void
from askgraph.index.names import Kind
from askgraph.sparql.prefixes import PrefixMap, best_label, words_of_local_name
from askgraph.sparql.rdf_files import read_statements
from askgraph.sparql.vocabulary import SCHEMA_SPACES
from askgraph.workspace import Workspace
from askgraph.workspace.build import with_prefixes
from askgraph.workspace.graph_data import guard_of, is_url, known_snapshot, remote_endpoint
from askgraph.workspace.graphs import read_descriptions
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
    descriptions: tuple[Description, ...]
    places: tuple[Place, ...]


def fetch(
    place: Workspace, source: str, *, page: str | None = None, seconds: float = 30.0
) -> Fetched:
    """Return the VoID that an endpoint publishes, or a file holds, and how it describes itself.

    `source` is a graph of the workspace, a URL or a file; `page` a home page, else an endpoint's
    own page and its host's are read. What a graph of the workspace gains by it is kept. Raises
    `SetupError` for what is none of these, or, without a page, a graph whose triples lie here, of
    which everything is known already; `ServiceError` if the page does not come.
    """
    described = _described_resource(page, seconds=seconds) if page else ()
    places = [Place("page", _count(described), told=bool(described))] if page else []
    settings = place.graphs().get(source)
    url = settings.url if settings else source if is_url(source) else None
    profile: Profile | None = None
    if url is not None:
        published = result_of(_published(settings or GraphSettings(url=url), seconds))
        profile = published.profile
        places[:0] = published.places
        if not page:
            guard = guard_of(settings) if settings else None
            described, where = _own_pages(url, seconds=seconds, guard=guard)
            found = f"{_count(described)} at {where}" if described else where
            places.append(Place("page", found, told=bool(described)))
    elif settings is None:
        profile = _of_file(Path(source))
        found = "no VoID" if profile is None else f"{len(profile.classes):,} classes"
        places.insert(0, Place("file", found, told=profile is not None))
    elif not page:
        raise SetupError(
            f"the triples of {source!r} lie here: everything is counted already; see askgraph "
            f"metadata completeness {source}, or name its home page with --page"
        )
    if settings is not None:
        _keep(place, source, profile, described)
    return Fetched(profile, described, tuple(places))


def _count(described: Sequence[Description]) -> str:
    return f"{len(described)} description{'' if len(described) == 1 else 's'}"


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
    chosen = bound or Bound()
    named = source in place.graphs()
    settings = place.graphs()[source] if named else GraphSettings(url=source)
    if not is_url(settings.url or ""):
        graph = place.find(source, progress=progress)
        result_of(graph.endpoint.close())
        return graph.profile
    if graphs:
        settings = replace(settings, graphs=tuple(graphs))
    asked = f"{settings.url} {' '.join(settings.graphs)} {chosen.one_by_one}"
    digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
    profile = result_of(
        _asked(
            settings, chosen, place.folder / "data" / f".profile~{digest}.answers.jsonl", progress
        )
    )
    if named:
        with locked(place.data(source).parent / ".locks" / source):
            save_profile(profile, place.data(source) / "profile.json")
    return profile


def known_profile(place: Workspace, source: str | None, *, progress: Progress) -> Profile:
    """Return the profile of a graph as it is known, or of a VoID file."""
    if source is None or source in place.graphs() or not Path(source).is_file():
        return place.known(source, progress=progress)[0]
    profile = _of_file(Path(source))
    if profile is None:
        raise SetupError(f"{source!r} holds no VoID")
    return profile


async def _published(settings: GraphSettings, seconds: float) -> Published:
    endpoint = remote_endpoint(settings)
    try:
        return await published_void(
            endpoint, settings.url or "", seconds=seconds, guard=guard_of(settings)
        )
    finally:
        await endpoint.close()


def _keep(
    place: Workspace, name: str, published: Profile | None, described: Sequence[Description]
) -> None:
    with locked(place.data(name).parent / ".locks" / name):
        if published is not None:
            profile = merged(place.profile(name), published)
            save_profile(profile, place.data(name) / "profile.json")
        if described:
            path = place.description(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json_ld_of(described))


async def _asked(
    settings: GraphSettings, bound: Bound, journal: Path, progress: Progress
) -> Profile:
    endpoint = remote_endpoint(settings)
    try:
        profile, names = await profile_endpoint(
            endpoint,
            max_queries=bound.queries,
            max_seconds=bound.seconds,
            one_by_one=bound.one_by_one,
            progress=progress,
            resume=journal,
        )
    finally:
        await endpoint.close()
    entities = [name.target for name in names if name.kind is Kind.ENTITY]
    return with_prefixes(profile, entities[:: max(1, len(entities) // 5000)])


def _of_file(path: Path) -> Profile | None:
    return profile_of_void(read_statements(path), source=str(path))


def _described_resource(
    source: str, *, seconds: float = 20.0, guard: Guard | None = None
) -> tuple[Description, ...]:
    """Return what a page, or a file, says of a resource in schema.org's words.

    `guard` says which addresses a page may come from.

    Raises `SetupError` if a file cannot be read or holds neither JSON-LD nor HTML,
    `ServiceError` if a page does not come.
    """
    if not is_url(source):
        return read_descriptions(Path(source))

    document = result_of(fetched(source, accept=_KINDS, timeout=seconds, guard=guard))
    return descriptions_in(document.content.decode("utf-8", "replace"))


def _own_pages(
    url: str, *, seconds: float = 20.0, guard: Guard | None = None
) -> tuple[tuple[Description, ...], str]:
    """Return what the page at an endpoint's address, else that of its host, says; and where.

    If neither says anything, the second is why.
    """
    why = "no description"
    for page in dict.fromkeys((url, urljoin(url, "/"))):
        try:
            if found := _described_resource(page, seconds=seconds, guard=guard):
                return found, page
        except (ServiceError, SetupError) as error:
            why = str(error)
    return (), why


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
    notes = changed(path, left) if remove or clear else notes_in(path)
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
    described: tuple[Description, ...] = ()


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
    if source is not None and source not in place.graphs() and Path(source).is_file():
        path = Path(source)
        described = read_statements(path)
        prefixes = PrefixMap(dict(described.prefixes))
        declared = {shape.cls: shape for shape in shapes_of_shacl(described)}
        profile = profile_of_void(described)
        if profile is None and not declared:
            raise SetupError(f"{str(path)!r} holds neither VoID nor SHACL shapes")
        if profile is None:
            profile = _profile_of(tuple(declared.values()))
        few = frequent(profile, choice.fraction)
        classes = _chosen(few, choice, prefixes)
        found = tuple(declared.get(cls) or known_shape(few, cls) for cls in classes)
        left_out = 0 if choice.classes else len(profile.classes) - len(classes)
        languages = choice.languages
        names = {c.iri: c.names for c in profile.classes} | {
            p.iri: p.names for p in profile.predicates
        }
        best = {iri: best_label(some, languages) for iri, some in names.items()}
        return Shapes(
            found, {iri: label for iri, label in best.items() if label}, prefixes, left_out
        )
    return result_of(_of_graph(place, source, choice, progress))


async def _of_graph(
    place: Workspace, source: str | None, choice: Choice, progress: Progress
) -> Shapes:
    graph = place.graph(source, progress=progress)
    try:
        profile = frequent(graph.profile, choice.fraction)
        classes = _chosen(profile, choice, graph.prefixes)
        found = []
        for at, cls in enumerate(classes):
            progress("asking for shapes", at, len(classes))
            shape = await shape_at(cls, profile, graph.endpoint, arrays=graph.arrays)
            found.append(_kept(shape, profile))
        iris = sorted({iri for shape in found for iri in _iris(shape)})
        labels = await labels_of(iris, graph, choice.languages)
    finally:
        await graph.endpoint.close()
    left_out = 0 if choice.classes else len(graph.profile.classes) - len(classes)
    return Shapes(tuple(found), labels, graph.prefixes, left_out, graph.described)


def _kept(shape: Shape, profile: Profile) -> Shape:
    """The lines whose predicates belong to the part of the schema that was chosen."""
    predicates = {p.iri for p in profile.predicates}
    return replace(shape, lines=tuple(x for x in shape.lines if x.predicate in predicates))


def _profile_of(declared: Sequence[Shape]) -> Profile:
    """Just enough of a profile to choose among shapes that nobody counted."""
    predicates = {line.predicate for shape in declared for line in shape.lines}
    return Profile(
        0,
        tuple(ClassProfile(shape.cls, 0) for shape in declared),
        tuple(PredicateProfile(iri, 0, 0, 0) for iri in sorted(predicates)),
    )


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


def _iris(shape: Shape) -> list[str]:
    examples = [x.example.value for x in shape.lines if isinstance(x.example, NamedNode)]
    return [shape.cls, *(line.predicate for line in shape.lines), *examples]
