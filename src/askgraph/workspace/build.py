"""Build a graph's data folder: from files in one pass, or from a survey of an endpoint."""

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

from askgraph.atomic_files import replace_folder, write_text_atomically
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.endpoint.oxigraph_load import FileOptions as FileOptions
from askgraph.endpoint.oxigraph_load import read_quads, read_rows
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
from askgraph.graph.vocabularies import compute_vocabulary_digest
from askgraph.graph.void import parse_void
from askgraph.index.name_search import PLAIN, detect_name_search, load_sparql_plugin
from askgraph.index.names import IndexedName, ItemKind, NameIndex
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql import Predicate
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import OwnPredicates, add_standard_triples, read_statements
from askgraph.sparql.rewrite.virtual import find_predicates
from askgraph.workspace import graph_data
from askgraph.workspace.run_sync import Progress
from askgraph.workspace.settings import GraphSettings

# Seconds for setting up a remote graph, and its search.
_FIRST_SURVEY_SECONDS, _SEARCH_DETECTION_SECONDS = 20.0, 5.0
_HEAD_BYTES = 2**16
_SAMPLE_SIZE = 5000
_TURTLE_PREFIX = re.compile(
    r"^\s*@?prefix\s+([^\s:]*):\s*<([^<>\s]+)>", re.IGNORECASE | re.MULTILINE
)
_XML_PREFIX = re.compile(r"""\bxmlns:([\w.-]+)\s*=\s*["']([^"']+)["']""")
_XML_ENTITY = re.compile(r"""<!ENTITY\s+([\w.-]+)\s+["']([^"']+)["']""")


def build_local(
    files: Sequence[Path],
    folder: Path,
    *,
    graphs: Sequence[str] = (),
    source: str,
    enrich: Path | None = None,
    vocabulary_files: Sequence[Path] = (),
    options: FileOptions | None = None,
    left_out: Sequence[str] = (),
    progress: Progress,
) -> None:
    """Fill an empty folder with all data for answering over these files.

    Args:
        graphs: the named graphs to read; empty means the union of all.
        enrich: a file of definitions to add virtually.
        vocabulary_files: vocabularies besides those in the package.
        options: how the files are read.
        left_out: sentences on files that are not read.
    """
    options = options or FileOptions()
    source_files = graph_data.fingerprint_files([*files, *([enrich] if enrich else [])])
    if enrich is None:
        with OxigraphEndpoint.load_in_background(files, folder / "store", options):
            arrays = _parse_arrays(files, graphs, progress, options)
            profile = _save_profile_data(arrays, files, source, folder, vocabulary_files, progress)
            progress("loading", 0, None)
    else:
        arrays = _build_enriched_arrays(files, folder, graphs, enrich, progress, options)
        profile = _save_profile_data(arrays, files, source, folder, vocabulary_files, progress)
    store = Store.read_only(str(folder / "store"))
    named_graphs = {g.value for g in store.named_graphs() if isinstance(g, NamedNode)}
    # The described graphs, which are not counted.
    described = tuple((graph, 0) for graph in sorted(named_graphs) if graph in graphs or not graphs)
    parts = replace_parts(
        profile.completeness, {GRAPHS: Part(GRAPHS, len(described), len(described))}
    )
    save_profile(
        replace(
            profile,
            graphs=described,
            completeness=parts,
            cuts=(*profile.cuts, *options.describe_odd(), *left_out),
        ),
        folder / "profile.json",
    )
    _write_manifest(profile, folder, source_files, vocabulary_files)


def _build_enriched_arrays(
    files: Sequence[Path],
    folder: Path,
    graphs: Sequence[str],
    enrich: Path,
    progress: Progress,
    options: FileOptions,
) -> GraphArrays:
    definitions = read_definitions(enrich)
    write_text_atomically(folder / graph_data.ENRICHMENT, enrich.read_text(encoding="utf-8"))
    statements_file, end = folder / "enrichment.nq", f" <{graphs[0]}> .\n" if graphs else " .\n"

    def load_store() -> GraphArrays:
        OxigraphEndpoint.load(
            [*files, statements_file],
            folder / "store",
            progress=lambda done, total, name: progress(f"loading {name}", done, total),
            options=options,
        )
        return _build_arrays_from_store(folder / "store", graphs, progress)

    write_text_atomically(
        statements_file, "".join(f"{triple}{end}" for triple in build_statements(definitions))
    )
    plain = load_store()
    if definitions.names:
        with statements_file.open("a", encoding="utf-8") as out:
            out.writelines(f"{triple}{end}" for triple in build_names(definitions, plain))
        plain = load_store()
    progress("adding virtual triples", 0, None)
    virtual_triples, type_predicates = build_links(definitions, plain), detect_own_types(plain)
    return _build_arrays_from_store(
        folder / "store",
        graphs,
        progress,
        extra_triples=virtual_triples,
        known_types=type_predicates,
    )


def _save_profile_data(
    arrays: GraphArrays,
    files: Sequence[Path],
    source: str,
    folder: Path,
    vocabulary_files: Sequence[Path],
    progress: Progress,
) -> Profile:
    (folder / "arrays").mkdir()
    arrays.save(folder / "arrays")
    progress("profiling", 0, None)
    prefixes = read_described_prefixes(arrays) | read_declared_prefixes(files)
    profile = build_profile(arrays, source=source, vocabulary_files=vocabulary_files)
    terms = arrays.terms
    step = max(1, (terms.first_blank - terms.first_iri) // _SAMPLE_SIZE)
    sample = map(terms.get_value, range(terms.first_iri, terms.first_blank, step))
    profile = add_prefixes(profile, sample, declared=prefixes)
    unnamed: set[str] = set()
    if (folder / graph_data.ENRICHMENT).is_file():
        # The number of predicates that each virtual one replaces.
        steps = {
            iri: len(list(find_predicates(path)))
            for iri, path in graph_data.load_virtual_paths(folder).items()
        }
        with_steps = (replace(p, steps=steps.get(p.iri, 1)) for p in profile.predicates)
        profile = replace(profile, predicates=tuple(with_steps))
        properties = read_definitions(folder / graph_data.ENRICHMENT).properties
        unnamed = {definition.iri for definition in properties if definition.unnamed}
    progress("indexing names", 0, None)
    names = (
        name
        for name in iterate_names(arrays, profile, vocabulary_files)
        if name.target not in unnamed
    )
    NameIndex.from_names(names).save(folder)
    return profile


async def build_remote(
    settings: GraphSettings,
    folder: Path,
    *,
    answers: Path,
    later: Path | None = None,
    known_part: Profile | None = None,
    vocabulary_files: Sequence[Path] = (),
    progress: Progress,
) -> None:
    """Fill an empty folder with the survey of an endpoint.

    Args:
        answers: the file that keeps replies, so that a stopped survey can resume.
        later: with this, only the essential survey runs; if anything is left, this file keeps the
            replies.
        known_part: a profile of the graph from elsewhere.
        vocabulary_files: vocabularies besides those in the package.
    """
    endpoint = graph_data.create_remote_endpoint(settings)

    async def find_name_search(profile: Profile) -> str:
        progress("looking for a search", 0, None)
        if settings.name_search:
            return settings.name_search
        if endpoint.dialect == "blazegraph" and (wikibase := load_sparql_plugin("wikibase")):
            endpoint.services = wikibase.services
        try:
            async with asyncio.timeout(_SEARCH_DETECTION_SECONDS):
                return await detect_name_search(
                    endpoint, get_naming(profile), dialect=endpoint.dialect
                )
        except TimeoutError:
            return PLAIN

    ask = partial(
        profile_endpoint,
        endpoint,
        progress=progress,
        resume=answers,
        known=known_part,
        search=find_name_search,
        vocabulary_files=vocabulary_files,
    )
    try:
        try:
            profile, names = await (
                ask(later=later, max_seconds=_FIRST_SURVEY_SECONDS) if later else ask()
            )
        except ServiceError as error:
            if later is None or type(error) is not ServiceError:
                raise
            profile, names = await ask()  # even the smallest request takes seconds
        lacks_names = any(part.name == ENTITY_NAMES for part in profile.completeness)
        if lacks_names and not profile.name_search:
            profile = replace(profile, name_search=await find_name_search(profile))
    finally:
        await endpoint.close()
    progress("indexing names", 0, None)
    NameIndex.from_names(names).save(folder)
    save_profile(add_prefixes_of_names(profile, names), folder / "profile.json")
    _write_manifest(profile, folder, (), vocabulary_files)


def read_profile(path: Path) -> Profile:
    """Return the profile in a VoID file; `SetupError` if there is none."""
    profile = parse_void(read_statements(path), source=str(path))
    if profile is None:
        raise SetupError(
            f"{str(path)!r} contains no VoID: it describes no class or property partition"
        )
    return profile


def enrich_endpoint(data: Path, definitions: Definitions) -> Profile:
    """Add virtual predicates to the data of a graph behind an endpoint; return its profile.

    Earlier virtual predicates are removed. The counts of the new ones derive from the
    predicates of their paths, without queries.

    Raises:
        SetupError: the definitions have comments or names, which would have to be triples.
    """
    if definitions.comments or definitions.names:
        raise SetupError(
            "comments and names of nodes need a graph read from files, not an endpoint"
        )
    before = graph_data.load_virtual_paths(data)
    old = load_profile(data / "profile.json")
    own_profile = replace(old, predicates=tuple(p for p in old.predicates if p.iri not in before))
    if existing := {p.iri for p in own_profile.predicates} & {
        definition.iri for definition in definitions.properties
    }:
        raise SetupError(
            f"the graph has <{min(existing)}> already: define a property with another IRI"
        )
    added = tuple(_iterate_virtual_predicates(definitions, own_profile))
    profile = replace(own_profile, predicates=(*own_profile.predicates, *added))
    with replace_folder(data) as folder:
        shutil.copytree(
            data,
            folder,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("indices", graph_data.ENRICHMENT),
        )
        save_profile(profile, folder / "profile.json")
        _save_names(data, folder, frozenset(before), added, definitions)
        if definitions:
            write_text_atomically(folder / graph_data.ENRICHMENT, format_definitions(definitions))
    return profile


def _parse_arrays(
    files: Sequence[Path],
    graphs: Sequence[str],
    progress: Progress,
    options: FileOptions,
    *,
    known_types: OwnPredicates | None = None,
) -> GraphArrays:
    """Build the arrays of the triples in the files; detect the graph's own type predicates."""

    def report_progress(done: int, total: int, name: str) -> None:
        progress(f"reading {name}", done, total)

    chosen = {NamedNode(graph) for graph in graphs}
    if chosen or known_types:
        quads = read_quads(files, progress=report_progress, options=options)
        selected_quads = (quad for quad in quads if quad.graph_name in chosen) if chosen else quads
        arrays = build_arrays(
            add_standard_triples(selected_quads, known_types) if known_types else selected_quads,
            as_stored=True,
        )
    else:
        rows = read_rows(files, progress=report_progress, options=options)
        arrays = build_arrays(rows, as_stored=True)
    type_predicates = detect_own_types(arrays) if known_types is None else {}
    return (
        _parse_arrays(files, graphs, progress, options, known_types=type_predicates)
        if type_predicates
        else arrays
    )


def _build_arrays_from_store(
    store: Path,
    graphs: Sequence[str],
    progress: Progress,
    *,
    extra_triples: Iterable[Triple] = (),
    known_types: OwnPredicates | None = None,
) -> GraphArrays:
    opened_store = Store.read_only(str(store))
    total = len(opened_store)
    chosen: list[NamedNode | None] = [NamedNode(graph) for graph in graphs]
    quads = chain.from_iterable(
        opened_store.quads_for_pattern(None, None, None, graph) for graph in chosen or [None]
    )
    arrays = build_arrays(
        chain(add_standard_triples(quads, known_types) if known_types else quads, extra_triples),
        progress=lambda read: progress("reading triples", read, total),
    )
    type_predicates = detect_own_types(arrays) if known_types is None else {}
    return (
        _build_arrays_from_store(store, graphs, progress, known_types=type_predicates)
        if type_predicates
        else arrays
    )


def _write_manifest(
    profile: Profile,
    folder: Path,
    sources: Sequence[graph_data.SourceFile],
    vocabulary_files: Sequence[Path],
) -> None:
    """Write the graph's own type predicates and then, last, the manifest of its sources."""
    if profile.types:
        type_definitions = (
            DefinedProperty(iri, NamedNode(standard_iri), unnamed=True)
            for iri, standard_iri in profile.types
        )
        write_text_atomically(
            folder / graph_data.TYPES, format_definitions(Definitions(tuple(type_definitions)))
        )
    manifest: dict[str, Any] = {
        "format": graph_data.FORMAT_VERSION,
        "sources": [file.to_json() for file in sources],
        "vocabularies": compute_vocabulary_digest(vocabulary_files),
        "literals": graph_data.LITERALS_VERSION,
    }
    write_text_atomically(folder / "built.json", json.dumps(manifest))


def read_declared_prefixes(files: Sequence[Path]) -> dict[str, str]:
    """Return the prefixes in the heads of Turtle, TriG and RDF/XML files."""
    prefixes: dict[str, str] = {}
    for path in files[:100]:
        opener = gzip.open if path.name.endswith(".gz") else open
        with opener(path, "rb") as file:
            head = file.read(_HEAD_BYTES).decode("utf-8", errors="replace")
        if path.name.removesuffix(".gz").endswith((".rdf", ".owl", ".xml")):
            entities = dict(_XML_ENTITY.findall(head))
            pairs = [
                (name, _resolve_entities(value, entities))
                for name, value in _XML_PREFIX.findall(head)
            ]
        else:
            pairs = _TURTLE_PREFIX.findall(head)
        for prefix, namespace in pairs:
            if ":" in namespace:
                prefixes.setdefault(prefix, namespace)
    return prefixes


def _resolve_entities(value: str, entities: Mapping[str, str]) -> str:
    return re.sub(r"&([\w.-]+);", lambda match: entities.get(match[1], match[0]), value)


def add_prefixes(
    profile: Profile, iris: Iterable[str], *, declared: Mapping[str, str] | None = None
) -> Profile:
    """Return the profile with its own prefixes, and readable ones for its other namespaces.

    `iris` are a sample of the graph; namespaces with three of them get a prefix.
    """
    schema = [class_profile.iri for class_profile in profile.classes] + [
        predicate.iri for predicate in profile.predicates
    ]
    prefix_map = (
        PrefixMap(declared or {})
        .derive_prefixes(schema, min_count=1)
        .derive_prefixes(iris, min_count=3)
    )
    return replace(profile, prefixes=tuple(sorted(prefix_map.own_prefixes.items())))


def add_prefixes_of_names(profile: Profile, names: Sequence[IndexedName]) -> Profile:
    """Return the profile with prefixes for its namespaces and those of named entities."""
    entities = [name.target for name in names if name.kind is ItemKind.ENTITY]
    return add_prefixes(profile, entities[:: max(1, len(entities) // _SAMPLE_SIZE)])


def read_described_prefixes(arrays: GraphArrays) -> dict[str, str]:
    """Return the prefixes that a graph declares with VANN or SHACL."""

    def read_values(iri: str) -> dict[int, str]:
        number = arrays.get_predicate_number(iri)
        if number is None:
            return {}
        subjects, objects = arrays.get_edges_in_range(0, len(arrays.terms), number)
        return dict(zip(subjects.tolist(), arrays.terms.iterate_values(objects), strict=True))

    prefixes: dict[str, str] = {}
    for prefix, namespace in (
        (v.VANN_PREFERRED_NAMESPACE_PREFIX, v.VANN_PREFERRED_NAMESPACE_URI),
        (v.SH_PREFIX, v.SH_NAMESPACE),
    ):
        namespaces = read_values(namespace)
        for subject, name in read_values(prefix).items():
            if subject in namespaces:
                prefixes.setdefault(name, namespaces[subject])
    return prefixes


def _save_names(
    data: Path,
    folder: Path,
    removed: frozenset[str],
    added: tuple[PredicateProfile, ...],
    definitions: Definitions,
) -> None:
    names, _ = graph_data.load_names_and_arrays(data)
    unnamed = {definition.iri for definition in definitions.properties if definition.unnamed}
    profile = Profile(0, (), tuple(p for p in added if p.iri not in unnamed))
    old = (name for at in range(len(names)) if (name := names.read_name(at)).target not in removed)
    new_names = NameIndex.from_names([*old, *iterate_schema_names(profile)])
    for file in folder.glob("names_*.npy"):
        file.unlink()  # a copy may share its bytes with a mapped file
    new_names.save(folder)


def _iterate_virtual_predicates(
    definitions: Definitions, profile: Profile
) -> Iterator[PredicateProfile]:
    predicates = {predicate.iri: predicate for predicate in profile.predicates}
    paths = resolve_virtual_paths(definitions)
    for definition in definitions.properties:
        if (path_profile := _profile_path(paths[definition.iri], predicates)) is None:
            continue
        unnamed = replace(
            path_profile, iri=definition.iri, names=(), naming="", transitive=False, inverse_of=()
        )
        yield replace(
            unnamed,
            names=((definition.label or get_label(unnamed), definition.language),),
            inverse_of=(definition.inverse_of,) if definition.inverse_of else (),
            steps=len(list(find_predicates(paths[definition.iri]))),
        )


def _profile_path(
    path: Predicate, predicates: Mapping[str, PredicateProfile]
) -> PredicateProfile | None:
    match path:
        case PropertyPath(operator="^", parts=(inner,)):
            inner_profile = _profile_path(inner, predicates)
            return inner_profile and replace(
                inner_profile,
                subjects=inner_profile.objects,
                objects=inner_profile.subjects,
                subject_classes=inner_profile.object_classes,
                object_classes=inner_profile.subject_classes,
                datatypes=(),
                languages=(),
            )
        case PropertyPath(operator="/", parts=parts):
            steps = [_profile_path(part, predicates) for part in parts]
            first, last = steps[0], steps[-1]
            if first is None or last is None:
                return None
            triples = max(step.triples for step in steps if step is not None)
            return replace(
                first, triples=triples, objects=last.objects, object_classes=last.object_classes,
                datatypes=last.datatypes, languages=last.languages,
            )  # fmt: skip
        case PropertyPath(parts=parts):
            return _profile_path(parts[0], predicates)
        case _:
            return predicates.get(str(path.value))
