"""Metadata of a graph: classes, predicates, names, and what was left out of the count.

On disk it is JSON with a version and a checksum, never half-written:

{"version": 2, "sha256": "…", "profile": {"triples": 2391, "classes": […], …}}
"""

import gc
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from askgraph.atomic_files import write_whole
from askgraph.errors import SetupError

VERSION = 2
_BODY = '"profile": '


@dataclass(frozen=True)
class ClassProfile:
    """A class as it is used.

    `names` are (text, language) pairs. `name_predicate` carries the names of its instances, if
    most have one. `nary` marks classes whose instances have no name and link two things or more.
    """

    iri: str
    instances: int
    names: tuple[tuple[str, str], ...] = ()
    parents: tuple[str, ...] = ()
    name_predicate: str | None = None
    nary: bool = False


@dataclass(frozen=True)
class PredicateProfile:
    """A predicate as it is used.

    `subject_classes`, `object_classes`, `datatypes` and `languages` are (name, number of triples)
    pairs, most frequent first. `naming` is "name", "alternative" or "" (no names). `inverse_of`
    lists predicates that say the same the other way round. `steps` is the number of the graph's own
    predicates for which it stands: more than one if it is a virtual shortcut.
    """

    iri: str
    triples: int
    subjects: int
    objects: int
    names: tuple[tuple[str, str], ...] = ()
    subject_classes: tuple[tuple[str, int], ...] = ()
    object_classes: tuple[tuple[str, int], ...] = ()
    datatypes: tuple[tuple[str, int], ...] = ()
    languages: tuple[tuple[str, int], ...] = ()
    naming: str = ""
    transitive: bool = False
    inverse_of: tuple[str, ...] = ()
    steps: int = 1

    @property
    def functional(self) -> bool:
        """Whether a subject has at most one object (one in fifty may have more)."""
        return self.triples <= self.subjects * 1.02

    @property
    def literal(self) -> bool:
        """Whether its objects are literals."""
        return bool(self.datatypes) and not self.object_classes


@dataclass(frozen=True)
class Partition:
    """The triples that lead from instances of a class by a predicate (a partition of VoID).

    `subjects` of the instances have it, to distinct `objects`; 0 if that is not known. `targets`
    are the classes of the objects (`rdfs:Resource` for things of no class), `datatypes` those of
    literals, as (name, number of triples) pairs, most frequent first; a number is 0 if only
    that it occurs is known. If `sampled`, the numbers are scaled up from some instances.
    """

    cls: str
    predicate: str
    triples: int
    subjects: int = 0
    objects: int = 0
    targets: tuple[tuple[str, int], ...] = ()
    datatypes: tuple[tuple[str, int], ...] = ()
    sampled: bool = False


@dataclass(frozen=True)
class Part:
    """The known extent of one part of a schema: `seen` of a `total`, None if nobody knows it."""

    name: str
    seen: int
    total: int | None
    note: str = ""

    @property
    def share(self) -> float | None:
        """The part that is known, between 0 and 1; None if the total is not known."""
        if self.total is None:
            return None
        return min(1.0, self.seen / self.total) if self.total else 1.0


@dataclass(frozen=True)
class Profile:
    """A graph as a whole, as far as it is known; `cuts` lists what a bound left out.

    `graphs` are its named graphs with their numbers of triples (0 if not counted),
    `completeness` says of each part how much of it is known; see `graph.profile`. `types` are
    the standard predicates that tell what things are, if the graph has other ones for them, each
    with the graph's own.
    `name_search` is the search by which its endpoint is asked for names that were not read.
    `described` is what the graph says of itself, as (text, language) pairs.
    """

    triples: int
    classes: tuple[ClassProfile, ...]
    predicates: tuple[PredicateProfile, ...]
    languages: tuple[tuple[str, int], ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    cuts: tuple[str, ...] = ()
    source: str = ""
    created: str = ""
    version: int = VERSION
    graphs: tuple[tuple[str, int], ...] = ()
    partitions: tuple[Partition, ...] = ()
    completeness: tuple[Part, ...] = ()
    types: tuple[tuple[str, str], ...] = ()
    name_search: str = ""
    described: tuple[tuple[str, str], ...] = ()

    def __hash__(self) -> int:
        """Return the hash of a few fields: that of all takes as long as the schema is large."""
        sizes = len(self.classes), len(self.predicates)
        return hash((self.triples, *sizes, self.source, self.created))

    def known_share(self, part: str) -> float:
        """Return how much of a part is known, between 0 and 1; 0 if nothing is said of it."""
        return next((p.share or 0.0 for p in self.completeness if p.name == part), 0.0)


TRIPLES, GRAPHS, CLASSES, PREDICATES = "triples", "graphs", "classes", "predicates"
COUNTS, PARTITIONS, ENDS, LABELS = "predicate counts", "partitions", "ends", "labels"
NAMES = (TRIPLES, GRAPHS, CLASSES, PREDICATES, COUNTS, PARTITIONS, ENDS, LABELS)
ENTITY_NAMES = "entity names"
"""The part of names that could not all be read; a profile of which all were has no such part."""


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


def sorted_counts(counted: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Return (name, number) pairs, the highest number first, equal ones by name."""
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def save_profile(profile: Profile, path: Path) -> None:
    """Write a profile; a reader sees the old file or the new one, nothing between."""
    body = json.dumps(asdict(profile), ensure_ascii=False, separators=(",", ":"))
    head = f'{{"version": {profile.version}, "sha256": "{_digest(body)}", '
    write_whole(path, f"{head}{_BODY}{body}}}\n")


def load_profile(path: Path) -> Profile:
    """Read a profile; `SetupError` if it is missing, damaged or of another version."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SetupError(f"there is no profile at {path}; add the graph again") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the profile {path} cannot be read: {error}") from error
    try:
        with _uncollected():
            stored = json.loads(text)
            version, digest = stored["version"], stored["sha256"]
            body = text.split(_BODY, 1)[1].rstrip()[:-1]
            if version == VERSION and digest == _digest(body):
                return _profile(stored["profile"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise SetupError(f"the profile {path} is damaged; add the graph again") from error
    if version != VERSION:
        raise SetupError(
            f"the profile {path} is of version {version}, this askgraph writes version {VERSION}; "
            "add the graph again"
        )
    raise SetupError(f"the profile {path} does not match its checksum; add the graph again")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collect no garbage: among millions of new objects that stay it takes as long as they do."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _profile(stored: Mapping[str, Any]) -> Profile:
    listed: dict[str, Any] = {
        "classes": tuple(ClassProfile(**_tuples(item)) for item in stored["classes"]),
        "predicates": tuple(PredicateProfile(**_tuples(item)) for item in stored["predicates"]),
        "partitions": tuple(Partition(**_tuples(item)) for item in stored["partitions"]),
        "completeness": tuple(Part(**_tuples(item)) for item in stored["completeness"]),
    }
    others = {name: value for name, value in stored.items() if name not in listed}
    return Profile(**_tuples(others), **listed)


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _tuple(value) if type(value) is list else value for name, value in fields.items()}


def _tuple(value: list[Any]) -> tuple[Any, ...]:
    return tuple([tuple(item) if type(item) is list else item for item in value])
