"""A graph behind an endpoint with virtual predicates: known by their paths, without its triples."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from askgraph.errors import SetupError
from askgraph.metadata import PredicateProfile, Profile
from askgraph.metadata.definitions import DefinedProperty, Definitions, virtual_paths
from askgraph.metadata.definitions_file import definitions_text
from askgraph.metadata.names import called, schema_names
from askgraph.metadata.store import load_profile, save_profile, write_whole
from askgraph.sparql.rewrite.virtual import predicates_in
from askgraph.sparql.tree import Path as PropertyPath
from askgraph.sparql.tree import Predicate
from askgraph.workspace.build import ENRICHMENT, known_content, known_paths
from askgraph.workspace.replacing import replacing

if TYPE_CHECKING:
    from askgraph.index.names import Name

__all__ = ["enrich_endpoint"]

_INDICES = "indices"


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
            data, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(_INDICES, ENRICHMENT)
        )
        save_profile(profile, folder / "profile.json")
        _save_names(data, folder, frozenset(before), added, definitions)
        if definitions:
            write_whole(folder / ENRICHMENT, definitions_text(definitions))
    return profile


def _save_names(
    data: Path,
    folder: Path,
    gone: frozenset[str],
    added: tuple[PredicateProfile, ...],
    definitions: Definitions,
) -> None:
    from askgraph.index.names import NameIndex

    known, _ = known_content(data)
    unnamed = {one.iri for one in definitions.properties if one.unnamed}

    def names() -> "Iterator[Name]":
        for at in range(len(known)):
            name = known.name(at)
            if name.target not in gone:
                yield name
        yield from schema_names(Profile(0, (), tuple(p for p in added if p.iri not in unnamed)))

    made = NameIndex.of(list(names()))
    for file in folder.glob("names_*.npy"):
        file.unlink()  # a copy may share its bytes with what is mapped
    made.save(folder)


def _predicates(definitions: Definitions, profile: Profile) -> Iterator[PredicateProfile]:
    known = {p.iri: p for p in profile.predicates}
    paths = virtual_paths(definitions)
    for one in definitions.properties:
        if found := _along(paths[one.iri], known):
            yield _named(one, replace(found, steps=len(list(predicates_in(paths[one.iri])))))


def _named(one: DefinedProperty, found: PredicateProfile) -> PredicateProfile:
    bare = replace(found, iri=one.iri, names=(), naming="", transitive=False, inverse_of=())
    turned = (one.inverse_of,) if one.inverse_of else ()
    label = one.label or called(bare)
    return replace(bare, names=((label, one.language),), inverse_of=turned)


def _along(path: Predicate, known: Mapping[str, PredicateProfile]) -> PredicateProfile | None:
    """What a path links, from what its ends are known to be; None for unknown predicates."""
    match path:
        case PropertyPath(operator="^", parts=(inner,)):
            found = _along(inner, known)
            return None if found is None else _turned(found)
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


def _turned(found: PredicateProfile) -> PredicateProfile:
    return replace(
        found,
        subjects=found.objects,
        objects=found.subjects,
        subject_classes=found.object_classes,
        object_classes=found.subject_classes,
        datatypes=(),
        languages=(),
    )
