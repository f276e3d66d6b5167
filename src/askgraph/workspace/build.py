"""A graph's data folder built: of files in one pass, or of what an endpoint says of itself."""

import asyncio
import gzip
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Store, Triple

from askgraph.atomic_files import write_text_atomically
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.endpoint.oxigraph_load import quads_in, rows_in
from askgraph.errors import ServiceError, SetupError
from askgraph.graph.arrays import GraphArrays, build_arrays
from askgraph.graph.definitions import (
    DefinedProperty,
    Definitions,
    format_definitions,
    read_definitions,
    resolve_virtual_paths,
)
from askgraph.graph.enrichment import build_links, build_names, build_statements
from askgraph.graph.local_profile import build_profile, detect_own_types
from askgraph.graph.names import get_label, iterate_names, iterate_schema_names
from askgraph.graph.nodes import get_naming
from askgraph.graph.profile import (
    ENTITY_NAMES,
    GRAPHS,
    Part,
    PredicateProfile,
    Profile,
    load_profile,
    replace_parts,
    save_profile,
)
from askgraph.graph.remote_profile import profile_endpoint
from askgraph.graph.void import parse_void
from askgraph.index.name_search import PLAIN, detected, in_sparql
from askgraph.index.names import Kind, Name, NameIndex
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql import Predicate
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import OwnTypes, read_statements, with_types
from askgraph.sparql.rewrite.virtual import predicates_in
from askgraph.workspace.graph_data import (
    ENRICHMENT,
    FORMAT,
    TYPES,
    SourceFile,
    fingerprint,
    known_content,
    known_paths,
    remote_endpoint,
    replacing,
)
from askgraph.workspace.run_sync import Progress
from askgraph.workspace.settings import GraphSettings

_FIRST, _LOOKING = 20.0, 5.0  # seconds for what a graph behind an endpoint needs, and its search
_READ = 2**16
_SAMPLE = 5000
_TURTLE = re.compile(r"^\s*@?prefix\s+([^\s:]*):\s*<([^<>\s]+)>", re.IGNORECASE | re.MULTILINE)
_XML = re.compile(r"""\bxmlns:([\w.-]+)\s*=\s*["']([^"']+)["']""")
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.-]+)\s+["']([^"']+)["']""")


def build_local(
    files: Sequence[Path],
    folder: Path,
    *,
    graphs: Sequence[str] = (),
    source: str,
    enrich: Path | None = None,
    progress: Progress,
) -> None:
    """Fill an empty folder with everything that answering over these files needs.

    `graphs` are the named graphs to know of; none means the union of all. `enrich` is a file of
    definitions to add virtually.
    """
    known = fingerprint([*files, *([enrich] if enrich else [])])
    if enrich is None:
        with OxigraphEndpoint.loading(files, folder / "store"):
            arrays = _parsed(files, graphs, progress)
            profile = _counted(arrays, files, source, folder, progress)
            progress("loading", 0, None)
    else:
        arrays = _enriched(files, folder, graphs, enrich, progress)
        profile = _counted(arrays, files, source, folder, progress)
    store = Store.read_only(str(folder / "store"))
    named = {g.value for g in store.named_graphs() if isinstance(g, NamedNode)}
    # The graphs that it is about, which are not counted.
    about = tuple((graph, 0) for graph in sorted(named) if graph in graphs or not graphs)
    parts = replace_parts(profile.completeness, {GRAPHS: Part(GRAPHS, len(about), len(about))})
    save_profile(replace(profile, graphs=about, completeness=parts), folder / "profile.json")
    _finish(profile, folder, known)


def _enriched(
    files: Sequence[Path], folder: Path, graphs: Sequence[str], enrich: Path, progress: Progress
) -> GraphArrays:
    """Load files with what a file of definitions adds, and return the arrays of both."""
    definitions = read_definitions(enrich)
    write_text_atomically(folder / ENRICHMENT, enrich.read_text(encoding="utf-8"))
    said, end = folder / "enrichment.nq", f" <{graphs[0]}> .\n" if graphs else " .\n"

    def load() -> GraphArrays:
        OxigraphEndpoint.load(
            [*files, said],
            folder / "store",
            progress=lambda done, total, name: progress(f"loading {name}", done, total),
        )
        return _arrays(folder / "store", graphs, progress)

    write_text_atomically(
        said, "".join(f"{triple}{end}" for triple in build_statements(definitions))
    )
    plain = load()
    if definitions.names:
        with said.open("a", encoding="utf-8") as out:
            out.writelines(f"{triple}{end}" for triple in build_names(definitions, plain))
        plain = load()
    progress("adding virtual triples", 0, None)
    more, own = build_links(definitions, plain), detect_own_types(plain)
    return _arrays(folder / "store", graphs, progress, more=more, own=own)


def _counted(
    arrays: GraphArrays, files: Sequence[Path], source: str, folder: Path, progress: Progress
) -> Profile:
    """Save the arrays and the names of a graph, and return its profile."""
    (folder / "arrays").mkdir()
    arrays.save(folder / "arrays")
    progress("profiling", 0, None)
    own = described_prefixes(arrays) | declared_prefixes(files)
    profile = with_prefixes(build_profile(arrays, source=source), some_iris(arrays), own=own)
    unnamed: set[str] = set()
    if (folder / ENRICHMENT).is_file():
        # How many predicates each virtual one stands for.
        steps = {iri: len(list(predicates_in(path))) for iri, path in known_paths(folder).items()}
        counted = (replace(p, steps=steps.get(p.iri, 1)) for p in profile.predicates)
        profile = replace(profile, predicates=tuple(counted))
        properties = read_definitions(folder / ENRICHMENT).properties
        unnamed = {one.iri for one in properties if one.unnamed}
    progress("indexing names", 0, None)
    names = (name for name in iterate_names(arrays, profile) if name.target not in unnamed)
    NameIndex.of(names).save(folder)
    return profile


async def build_remote(
    settings: GraphSettings,
    folder: Path,
    *,
    answers: Path,
    later: Path | None = None,
    known: Profile | None = None,
    progress: Progress,
) -> None:
    """Fill an empty folder with what an endpoint says of its graph; `answers` keeps replies.

    With `later`, the endpoint is asked for what a graph needs at first; if there is more to ask,
    that file keeps the replies. `known` is a profile of the graph that was made elsewhere.
    """
    endpoint = remote_endpoint(settings)

    async def search(profile: Profile) -> str:
        progress("looking for a search", 0, None)
        if settings.name_search:
            return settings.name_search
        if endpoint.dialect == "blazegraph" and (wikibase := in_sparql("wikibase")):
            endpoint.services = wikibase.services
        try:
            async with asyncio.timeout(_LOOKING):
                return await detected(endpoint, get_naming(profile), dialect=endpoint.dialect)
        except TimeoutError:
            return PLAIN

    ask = partial(
        profile_endpoint, endpoint, progress=progress, resume=answers, known=known, search=search
    )
    try:
        try:
            profile, names = await (ask(later=later, max_seconds=_FIRST) if later else ask())
        except ServiceError as error:
            if later is None or type(error) is not ServiceError:
                raise
            profile, names = await ask()  # it takes seconds for the least thing
        lacks = any(part.name == ENTITY_NAMES for part in profile.completeness)
        if lacks and not profile.name_search:
            profile = replace(profile, name_search=await search(profile))
    finally:
        await endpoint.close()
    progress("indexing names", 0, None)
    NameIndex.of(names).save(folder)
    save_profile(with_prefixes_of_names(profile, names), folder / "profile.json")
    _finish(profile, folder, ())


def given_profile(path: Path) -> Profile:
    """Return the profile that a file of VoID holds; `SetupError` if it holds none."""
    profile = parse_void(read_statements(path), source=str(path))
    if profile is None:
        raise SetupError(f"{str(path)!r} holds no VoID: it divides nothing by class or property")
    return profile


def enrich_endpoint(data: Path, definitions: Definitions) -> Profile:
    """Put virtual predicates into the data folder of an endpoint's graph; return its profile.

    Those of before go. What the new ones link is told from the predicates of their paths, and no
    query is asked. Raises `SetupError` for comments and names, which would have to be triples.
    """
    if definitions.comments or definitions.names:
        raise SetupError("comments and names of nodes need the triples here, not at an endpoint")
    before = known_paths(data)
    old = load_profile(data / "profile.json")
    own = replace(old, predicates=tuple(p for p in old.predicates if p.iri not in before))
    if taken := {p.iri for p in own.predicates} & {one.iri for one in definitions.properties}:
        raise SetupError(f"the graph has <{min(taken)}> already: define a property that it lacks")
    added = tuple(_predicates(definitions, own))
    profile = replace(own, predicates=(*own.predicates, *added))
    with replacing(data) as folder:
        shutil.copytree(
            data, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("indices", ENRICHMENT)
        )
        save_profile(profile, folder / "profile.json")
        _save_names(data, folder, frozenset(before), added, definitions)
        if definitions:
            write_text_atomically(folder / ENRICHMENT, format_definitions(definitions))
    return profile


def _parsed(
    files: Sequence[Path],
    graphs: Sequence[str],
    progress: Progress,
    *,
    own: OwnTypes | None = None,
) -> GraphArrays:
    """The arrays of the triples in the files; without their `own` types, they are looked for."""

    def tell(done: int, total: int, name: str) -> None:
        progress(f"reading {name}", done, total)

    chosen = {NamedNode(graph) for graph in graphs}
    if chosen or own:
        quads = quads_in(files, progress=tell)
        some = (quad for quad in quads if quad.graph_name in chosen) if chosen else quads
        arrays = build_arrays(with_types(some, own) if own else some, as_stored=True)
    else:
        arrays = build_arrays(rows_in(files, progress=tell), as_stored=True)
    found = detect_own_types(arrays) if own is None else {}
    return _parsed(files, graphs, progress, own=found) if found else arrays


def _arrays(
    store: Path,
    graphs: Sequence[str],
    progress: Progress,
    *,
    more: Iterable[Triple] = (),
    own: OwnTypes | None = None,
) -> GraphArrays:
    """The arrays of the triples and of `more`; without its `own` types, they are looked for."""
    stored = Store.read_only(str(store))
    total = len(stored)
    chosen: list[NamedNode | None] = [NamedNode(graph) for graph in graphs]
    quads = chain.from_iterable(
        stored.quads_for_pattern(None, None, None, graph) for graph in chosen or [None]
    )
    arrays = build_arrays(
        chain(with_types(quads, own) if own else quads, more),
        progress=lambda read: progress("reading triples", read, total),
    )
    found = detect_own_types(arrays) if own is None else {}
    return _arrays(store, graphs, progress, own=found) if found else arrays


def _finish(profile: Profile, folder: Path, sources: Sequence[SourceFile]) -> None:
    """Write which own predicates stand for standard ones; then, last, what a folder is built of."""
    if profile.types:
        own = (DefinedProperty(iri, NamedNode(said), unnamed=True) for iri, said in profile.types)
        write_text_atomically(folder / TYPES, format_definitions(Definitions(tuple(own))))
    signed: dict[str, Any] = {"format": FORMAT, "sources": [file.stored() for file in sources]}
    write_text_atomically(folder / "built.json", json.dumps(signed))


def declared_prefixes(files: Sequence[Path]) -> dict[str, str]:
    """Return the prefixes declared at the head of Turtle, TriG and RDF/XML files."""
    found: dict[str, str] = {}
    for path in files[:100]:
        opener = gzip.open if path.name.endswith(".gz") else open
        with opener(path, "rb") as file:
            head = file.read(_READ).decode("utf-8", errors="replace")
        if path.name.removesuffix(".gz").endswith((".rdf", ".owl", ".xml")):
            entities = dict(_ENTITY.findall(head))
            pairs = [(name, _resolve(value, entities)) for name, value in _XML.findall(head)]
        else:
            pairs = _TURTLE.findall(head)
        for prefix, namespace in pairs:
            if ":" in namespace:
                found.setdefault(prefix, namespace)
    return found


def _resolve(value: str, entities: Mapping[str, str]) -> str:
    return re.sub(r"&([\w.-]+);", lambda match: entities.get(match[1], match[0]), value)


def with_prefixes(
    profile: Profile, iris: Iterable[str], *, own: Mapping[str, str] | None = None
) -> Profile:
    """Return the profile with its own prefixes, and readable ones for its other namespaces.

    `iris` are some of the graph's; namespaces that hold three of them get a prefix.
    """
    schema = [c.iri for c in profile.classes] + [p.iri for p in profile.predicates]
    full = PrefixMap(own or {}).with_derived(schema, least=1).with_derived(iris, least=3)
    return replace(profile, prefixes=tuple(sorted(full.own.items())))


def with_prefixes_of_names(profile: Profile, names: Sequence[Name]) -> Profile:
    """Return the profile with prefixes for its namespaces, and for those of what has a name."""
    entities = [name.target for name in names if name.kind is Kind.ENTITY]
    return with_prefixes(profile, entities[:: max(1, len(entities) // _SAMPLE)])


def some_iris(arrays: GraphArrays) -> Iterator[str]:
    """Return a few thousand of a graph's IRIs, evenly taken."""
    terms = arrays.terms
    step = max(1, (terms.first_blank - terms.first_iri) // _SAMPLE)
    return (terms.get_value(at) for at in range(terms.first_iri, terms.first_blank, step))


def described_prefixes(arrays: GraphArrays) -> dict[str, str]:
    """Return the prefixes that a graph describes in the words of VANN or SHACL."""

    def values(iri: str) -> dict[int, str]:
        number = arrays.get_predicate_number(iri)
        if number is None:
            return {}
        subjects, objects = arrays.get_edges_in_range(0, len(arrays.terms), number)
        return dict(zip(subjects.tolist(), arrays.terms.iterate_values(objects), strict=True))

    found: dict[str, str] = {}
    for prefix, namespace in (
        (v.VANN_PREFERRED_NAMESPACE_PREFIX, v.VANN_PREFERRED_NAMESPACE_URI),
        (v.SH_PREFIX, v.SH_NAMESPACE),
    ):
        namespaces = values(namespace)
        for subject, name in values(prefix).items():
            if subject in namespaces:
                found.setdefault(name, namespaces[subject])
    return found


def _save_names(
    data: Path,
    folder: Path,
    gone: frozenset[str],
    added: tuple[PredicateProfile, ...],
    definitions: Definitions,
) -> None:
    known, _ = known_content(data)
    unnamed = {one.iri for one in definitions.properties if one.unnamed}
    named = Profile(0, (), tuple(p for p in added if p.iri not in unnamed))
    old = (name for at in range(len(known)) if (name := known.name(at)).target not in gone)
    made = NameIndex.of([*old, *iterate_schema_names(named)])
    for file in folder.glob("names_*.npy"):
        file.unlink()  # a copy may share its bytes with what is mapped
    made.save(folder)


def _predicates(definitions: Definitions, profile: Profile) -> Iterator[PredicateProfile]:
    known = {p.iri: p for p in profile.predicates}
    paths = resolve_virtual_paths(definitions)
    for one in definitions.properties:
        if (found := _along(paths[one.iri], known)) is None:
            continue
        bare = replace(found, iri=one.iri, names=(), naming="", transitive=False, inverse_of=())
        yield replace(
            bare,
            names=((one.label or get_label(bare), one.language),),
            inverse_of=(one.inverse_of,) if one.inverse_of else (),
            steps=len(list(predicates_in(paths[one.iri]))),
        )


def _along(path: Predicate, known: Mapping[str, PredicateProfile]) -> PredicateProfile | None:
    """What a path links, from what its ends are known to be; None for unknown predicates."""
    match path:
        case PropertyPath(operator="^", parts=(inner,)):
            found = _along(inner, known)
            return found and replace(
                found,
                subjects=found.objects,
                objects=found.subjects,
                subject_classes=found.object_classes,
                object_classes=found.subject_classes,
                datatypes=(),
                languages=(),
            )
        case PropertyPath(operator="/", parts=parts):
            steps = [_along(part, known) for part in parts]
            first, last = steps[0], steps[-1]
            if first is None or last is None:
                return None
            triples = max(step.triples for step in steps if step is not None)
            return replace(
                first, triples=triples, objects=last.objects, object_classes=last.object_classes,
                datatypes=last.datatypes, languages=last.languages,
            )  # fmt: skip
        case PropertyPath(parts=parts):
            return _along(parts[0], known)
        case _:
            return known.get(str(path.value))
