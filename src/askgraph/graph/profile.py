"""Metadata of a graph: classes, predicates, names, and what was left out of the count.

On disk it is JSON with a version and a checksum, never half-written:

{"version": 2, "sha256": "…", "profile": {"triples": 2391, "classes": […], …}}
"""

import gc
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from askgraph.atomic_files import write_whole
from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays, names_of, objects_of
from askgraph.sparql import vocabulary as v
from askgraph.sparql.vocabulary import SCHEMA_SPACES

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
    kinds = (("classes", ClassProfile), ("predicates", PredicateProfile),
             ("partitions", Partition), ("completeness", Part))  # fmt: skip
    listed: dict[str, Any] = {
        name: tuple(kind(**_tuples(item)) for item in stored[name]) for name, kind in kinds
    }
    others = {name: value for name, value in stored.items() if name not in listed}
    return Profile(**_tuples(others), **listed)


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple([tuple(item) if type(item) is list else item for item in value])
        if type(value) is list
        else value
        for name, value in fields.items()
    }


Counts = tuple[tuple[str, int], ...]
Item = TypeVar("Item", ClassProfile, PredicateProfile, Partition)
Joined = Callable[[Sequence[int]], int]

_NUMBERS = frozenset(["instances", "triples", "subjects", "objects"])
_COUNTS = frozenset(["subject_classes", "object_classes", "datatypes", "languages", "targets"])
_IRIS = frozenset(["parents", "inverse_of"])
_FIRST = frozenset(["name_predicate", "naming"])


def merged(first: Profile, second: Profile) -> Profile:
    """Return two accounts of the same graph as one.

    The first is believed if both give a number, but what was counted before what was estimated
    from a sample; names, ends and partitions of either are kept.
    The completeness of each part is that of the account that knows more of it.
    """

    def first_known(numbers: Sequence[int]) -> int:
        return next((number for number in numbers if number), 0)

    def certainty(part: Part) -> tuple[float, int]:
        return (-1.0 if part.share is None else part.share, part.seen)

    parts = {part.name: part for part in first.completeness}
    for part in second.completeness:
        parts[part.name] = max(part, parts.get(part.name, part), key=certainty)
    return replace(
        _join_profiles([first, second], first_known, sampled=all),
        source=first.source or second.source,
        described=first.described or second.described,
        completeness=with_parts((), parts),
    )


def united(profiles: Sequence[Profile]) -> Profile:
    """Return the profile of several graphs together, each profiled alone: numbers are sums.

    What several graphs hold is counted several times, and links from one to a thing whose class
    only another one tells lead to things of no class. Raises `ValueError` if there is none.
    """
    if not profiles:
        raise ValueError("there is no profile to unite")
    parts: dict[str, list[Part]] = defaultdict(list)
    for part in chain.from_iterable(one.completeness for one in profiles):
        parts[part.name].append(part)
    return replace(
        _join_profiles(profiles, sum, sampled=any),
        source=profiles[0].source,
        completeness=with_parts((), {name: _summed(some) for name, some in parts.items()}),
    )


def ordered(profile: Profile) -> Profile:
    """Return the same profile, all that has no order of its own in one that is always the same."""
    classes = sorted(profile.classes, key=lambda c: (-c.instances, c.iri))
    predicates = sorted(profile.predicates, key=lambda p: (-p.triples, p.iri))
    partitions = sorted(profile.partitions, key=lambda x: (x.cls, x.predicate))
    return replace(
        profile,
        classes=tuple(map(_in_order, classes)),
        predicates=tuple(map(_in_order, predicates)),
        partitions=tuple(map(_in_order, partitions)),
        languages=sorted_counts(Counter(dict(profile.languages))),
        prefixes=tuple(sorted(set(profile.prefixes))),
        cuts=tuple(sorted(set(profile.cuts))),
        graphs=sorted_counts(Counter(dict(profile.graphs))),
        completeness=with_parts(profile.completeness, {}),
    )


def _in_order(item: Item) -> Item:
    known = vars(item)
    lists = {
        name: _sorted(name, known[name]) for name in (*_COUNTS, *_IRIS, "names") if name in known
    }
    return replace(item, **lists)


def _sorted(name: str, value: Any) -> Any:
    if name in _COUNTS:
        return sorted_counts(Counter(dict(value)))
    if name in _IRIS:
        return tuple(sorted(set(value)))
    first = first_names(value)
    return (*sorted(first), *sorted(set(value) - first))


def first_names(names: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the first (text, language) name in each language: the others are alternatives."""
    by_language: dict[str, tuple[str, str]] = {}
    for name in names:
        by_language.setdefault(name[1], name)
    return set(by_language.values())


def _join_profiles(
    profiles: Sequence[Profile], join: Joined, *, sampled: Callable[[Iterable[bool]], bool]
) -> Profile:
    """Join accounts: numbers by `join`; a partition is `sampled` if all, or any, of its are."""

    def group(items: Iterable[Item], key: Callable[[Item], object]) -> Iterator[list[Item]]:
        groups: dict[object, list[Item]] = defaultdict(list)
        for item in items:
            groups[key(item)].append(item)
        return iter(groups.values())

    classes = group((c for one in profiles for c in one.classes), lambda c: c.iri)
    predicates = group((p for one in profiles for p in one.predicates), lambda p: p.iri)
    partitions = group(
        (x for one in profiles for x in one.partitions), lambda x: (x.cls, x.predicate)
    )
    joined = ordered(
        Profile(
            triples=join([one.triples for one in profiles]),
            classes=tuple(_account(some, join, nary=all(c.nary for c in some)) for some in classes),
            predicates=tuple(
                _account(some, join, transitive=any(p.transitive for p in some), steps=1)
                for some in predicates
            ),
            languages=_counts([one.languages for one in profiles], join),
            prefixes=tuple({p: n for one in reversed(profiles) for p, n in one.prefixes}.items()),
            created=max(one.created for one in profiles),
            graphs=_counts([one.graphs for one in profiles], join),
            partitions=tuple(
                _account(
                    sorted(some, key=lambda x: x.sampled),
                    join,
                    sampled=sampled(x.sampled for x in some),
                )
                for some in partitions
            ),
        )
    )
    cuts = dict.fromkeys(cut for one in profiles for cut in one.cuts)
    return replace(joined, cuts=tuple(cuts))


def _account(some: Sequence[Item], join: Joined, **said: Any) -> Item:
    """Return accounts of one thing as one; `said` are the fields that are joined by no rule."""
    joined: dict[str, Any] = {}
    for name in vars(some[0]):
        given = [getattr(one, name) for one in some]
        if name in _NUMBERS:
            joined[name] = join(given)
        elif name in _COUNTS:
            joined[name] = _counts(given, join)
        elif name in _IRIS or name == "names":
            joined[name] = tuple(dict.fromkeys(chain.from_iterable(given)))
        elif name in _FIRST:
            joined[name] = next(filter(None, given), given[0])
    return replace(some[0], **(joined | said))


def _counts(listed: Sequence[Counts], join: Joined) -> Counts:
    numbers: dict[str, list[int]] = defaultdict(list)
    for counts in listed:
        for name, number in counts:
            numbers[name].append(number)
    return sorted_counts(Counter({name: join(some) for name, some in numbers.items()}))


def _summed(parts: Sequence[Part]) -> Part:
    totals = [part.total for part in parts if part.total is not None]
    total = sum(totals) if len(totals) == len(parts) else None
    notes = dict.fromkeys(part.note for part in parts if part.note)
    return Part(parts[0].name, sum(part.seen for part in parts), total, "; ".join(notes))


_FEW, _NEARLY = 5, 0.8  # classes that say all of one above them, and the share that is nearly all


@dataclass(frozen=True)
class Link:
    """The triples that lead from instances of a class to those of another by one predicate."""

    source: str
    predicate: str
    target: str
    triples: int


@dataclass(frozen=True)
class Picture:
    """The largest classes, largest first, and the links between them, most used first."""

    classes: tuple[ClassProfile, ...]
    links: tuple[Link, ...]


def largest_classes(profile: Profile) -> list[ClassProfile]:
    """Return the classes of a graph's things, largest first.

    Left out are those of its schema, and a class of which a few of its own say all: people, where
    nearly all of them are astronauts or scientists.
    """
    found = [one for one in profile.classes if one.instances and not is_schema(one.iri)]
    below: dict[str, list[int]] = {}
    for one in found:
        for parent in one.parents:
            below.setdefault(parent, []).append(one.instances)
    said = (sum(sorted(below.get(one.iri, ()))[-_FEW:]) for one in found)
    kept = [one for one, few in zip(found, said, strict=True) if few < _NEARLY * one.instances]
    return sorted(kept, key=lambda one: (-one.instances, one.iri))


def is_schema(iri: str) -> bool:
    """Whether a term is of a vocabulary in which schemas are written."""
    return iri.startswith(v.SCHEMA_SPACES)


def picture_of(profile: Profile, *, classes: int = 12, links: int = 20) -> Picture:
    """Return the picture of a profile; it is made of its counts, nothing is asked.

    Between two classes there is one link, of the predicate with the most triples. Where a profile
    has no partitions, classes are linked that stand at most ends of a predicate.
    """
    shown = tuple(largest_classes(profile)[:classes])
    names = {one.iri for one in shown}
    known = {one.iri: one for one in profile.predicates}
    best: dict[frozenset[str], Link] = {}
    for link in _links(profile, known):
        ends = frozenset((link.source, link.target))
        if ends <= names and link.triples > getattr(best.get(ends), "triples", 0):
            best[ends] = link
    ordered = sorted(best.values(), key=lambda one: (-one.triples, one.source, one.target))
    return Picture(shown, tuple(ordered[:links]))


def _links(profile: Profile, known: Mapping[str, PredicateProfile]) -> Iterator[Link]:
    counted: Counter[tuple[str, str, str]] = Counter()
    for one in profile.partitions:
        if is_schema(one.predicate) or (one.predicate in known and known[one.predicate].steps > 1):
            continue
        for target, triples in one.targets:
            counted[one.cls, one.predicate, target] += triples or one.triples or 1
    if not counted:
        for predicate in profile.predicates:
            ends = (predicate.subject_classes[:1], predicate.object_classes[:1])
            for (source, _), (target, _) in zip(*ends, strict=False):
                counted[source, predicate.iri, target] = predicate.triples or 1
    for (source, name, target), triples in counted.items():
        yield Link(source, name, target, triples)


def standard_naming(iri: str) -> str:
    """Return "name" or "alternative" for the predicates of the standard vocabularies, else ""."""
    if iri in v.LABEL_PREDICATES:
        return "name"
    return "alternative" if iri in v.ALTERNATIVE_LABEL_PREDICATES else ""


def classes_above(graph: GraphArrays, profile: Profile) -> tuple[ClassProfile, ...]:
    """Return the classes above those of a profile that the profile does not have.

    They count no instances: all of theirs are instances of classes below them.
    """
    known = {one.iri for one in profile.classes}
    listed = [above for one in profile.classes for above in one.parents]
    found = {}
    for iri in listed:
        if iri not in known and not iri.startswith(SCHEMA_SPACES):
            known.add(iri)
            parents = objects_of(graph, iri, v.RDFS_SUB_CLASS_OF)
            found[iri] = ClassProfile(iri, 0, names=names_of(graph, iri), parents=parents)
            listed += parents
    return tuple(found.values())
