"""How much of a schema is known, part by part, and what it would take to know more.

| part | seen | of |
|---|---|---|
| triples | those that were read or counted | all |
| graphs | named graphs listed | all |
| classes | classes listed | all that have an instance |
| predicates | predicates listed | all that have a triple |
| predicate counts | predicates whose triples were counted | predicates listed |
| partitions | classes whose predicates are known in full | classes listed |
| ends | partitions of which classes or datatypes of the objects are known | partitions listed |
| labels | classes and predicates that were asked for their labels | all listed |
"""

from collections.abc import Mapping, Sequence

from askgraph.metadata import Part, Profile

__all__ = [
    "CLASSES",
    "COUNTS",
    "ENDS",
    "GRAPHS",
    "LABELS",
    "PARTITIONS",
    "PREDICATES",
    "TRIPLES",
    "complete",
    "lines_of",
    "with_parts",
]

TRIPLES, GRAPHS, CLASSES, PREDICATES = "triples", "graphs", "classes", "predicates"
COUNTS, PARTITIONS, ENDS, LABELS = "predicate counts", "partitions", "ends", "labels"
NAMES = (TRIPLES, GRAPHS, CLASSES, PREDICATES, COUNTS, PARTITIONS, ENDS, LABELS)


def complete(profile: Profile) -> tuple[Part, ...]:
    """Return the parts of a profile whose every triple was counted, but for its named graphs."""
    schema = len(profile.classes) + len(profile.predicates)
    sizes = (
        profile.triples,
        len(profile.classes),
        len(profile.predicates),
        len(profile.predicates),
        len(profile.classes),
        len(profile.partitions),
        schema,
    )
    names = [name for name in NAMES if name != GRAPHS]
    return tuple(Part(name, size, size) for name, size in zip(names, sizes, strict=True))


def with_parts(parts: Sequence[Part], more: Mapping[str, Part]) -> tuple[Part, ...]:
    """Return the parts, those of a name in `more` replaced, in the usual order."""
    by_name = {part.name: part for part in parts} | dict(more)
    order = {name: at for at, name in enumerate(NAMES)}
    return tuple(sorted(by_name.values(), key=lambda part: order.get(part.name, len(order))))


def lines_of(profile: Profile) -> tuple[str, ...]:
    """Return a sentence for each part that is not known in full."""
    return tuple(_line(part) for part in profile.completeness if part.share != 1.0)


def _line(part: Part) -> str:
    total = "an unknown number" if part.total is None else f"{part.total:,}"
    note = f": {part.note}" if part.note else ""
    return f"{part.name}: {part.seen:,} of {total}{note}"
