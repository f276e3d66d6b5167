"""The shapes of a graph's classes, or of a schema in a file, and what it takes to show them."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyoxigraph import NamedNode

from askgraph.errors import SetupError
from askgraph.explanation import labels_of
from askgraph.metadata import ClassProfile, PredicateProfile, Profile
from askgraph.metadata.descriptions import Description
from askgraph.metadata.shacl import shapes_of_shacl
from askgraph.metadata.shapes import Shape, frequent, known_shape, shape_at
from askgraph.metadata.void import profile_of_void
from askgraph.rdf import PrefixMap, best_label, words_of_local_name
from askgraph.rdf.statements import read_statements
from askgraph.rdf.vocabulary import SCHEMA_SPACES
from askgraph.workspace import Workspace
from askgraph.workspace.synchronous import Progress, result_of


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
        return _of_file(Path(source), choice)
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


def _of_file(path: Path, choice: Choice) -> Shapes:
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
    return Shapes(found, _labels(profile, choice.languages), prefixes, left_out)


def _labels(profile: Profile, languages: Sequence[str]) -> dict[str, str]:
    names = {c.iri: c.names for c in profile.classes} | {p.iri: p.names for p in profile.predicates}
    best = {iri: best_label(some, languages) for iri, some in names.items()}
    return {iri: label for iri, label in best.items() if label}


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
