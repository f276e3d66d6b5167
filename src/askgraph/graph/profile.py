"""The profile of a graph: classes, predicates, names, and omissions.

The file format is JSON with a version and a checksum, written atomically:

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

from askgraph.atomic_files import write_text_atomically
from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays, get_names, get_objects
from askgraph.sparql import vocabulary as v
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES

PROFILE_VERSION = 2
_BODY_KEY = '"profile": '


@dataclass(frozen=True)
class ClassProfile:
    """Statistics of a class."""

    iri: str
    instances: int
    names: tuple[tuple[str, str], ...] = ()  # (text, language) pairs
    parents: tuple[str, ...] = ()  # direct superclasses
    name_predicate: str | None = None  # predicate with the names of its instances, if most have one
    nary: bool = False  # whether instances have no name and link two resources or more
    other_names: tuple[tuple[str, str], ...] = ()  # by its vocabulary: (text, language)


@dataclass(frozen=True)
class PredicateProfile:
    """Statistics of a predicate; (name, number) pairs are sorted by descending number."""

    iri: str
    triples: int
    subjects: int  # number of distinct subjects
    objects: int  # number of distinct objects
    names: tuple[tuple[str, str], ...] = ()  # (text, language) pairs
    subject_classes: tuple[tuple[str, int], ...] = ()  # with their triples
    object_classes: tuple[tuple[str, int], ...] = ()  # with their triples
    datatypes: tuple[tuple[str, int], ...] = ()  # of literals, with their triples
    languages: tuple[tuple[str, int], ...] = ()  # of literals, with their triples
    naming: str = ""  # "name", "alternative" or "" (not a name predicate)
    transitive: bool = False  # whether it may be followed any number of times
    inverse_of: tuple[str, ...] = ()  # predicates with the same meaning in the other direction
    steps: int = 1  # number of the graph's predicates it stands for: above 1 for a virtual shortcut
    other_names: tuple[tuple[str, str], ...] = ()  # by its vocabulary: (text, language)
    bookkeeping: bool = False  # about the record: only words that name it use it
    value: bool = False  # whether its value stands for a subject that has no name

    @property
    def functional(self) -> bool:
        """Whether a subject has at most one object (one in fifty may have more)."""
        return self.triples <= self.subjects * 1.02

    @property
    def literal(self) -> bool:
        """Whether all objects are literals."""
        return bool(self.datatypes) and not self.object_classes


@dataclass(frozen=True)
class Partition:
    """The triples from instances of a class by a predicate (a partition of VoID).

    Attributes:
        targets: Classes of objects with their numbers of triples (0 if unknown), most frequent
            first; `rdfs:Resource` stands for resources without a class.
    """

    cls: str  # the class
    predicate: str
    triples: int  # number of triples
    subjects: int = 0  # number of instances with the predicate; 0 if unknown
    objects: int = 0  # number of distinct objects; 0 if unknown
    targets: tuple[tuple[str, int], ...] = ()
    datatypes: tuple[tuple[str, int], ...] = ()  # of literals, with their triples
    sampled: bool = False  # whether the numbers are scaled up from some instances


@dataclass(frozen=True)
class Part:
    """Completeness of one part of a profile."""

    name: str
    seen: int  # number of known items
    total: int | None  # number of items; None if unknown
    note: str = ""  # explanation

    @property
    def share(self) -> float | None:
        """The known share, between 0 and 1; None if the total is unknown."""
        if self.total is None:
            return None
        return min(1.0, self.seen / self.total) if self.total else 1.0


@dataclass(frozen=True)
class Profile:
    """Statistics of a complete graph, as far as they are known."""

    triples: int
    classes: tuple[ClassProfile, ...]  # classes, largest first
    predicates: tuple[PredicateProfile, ...]  # predicates, most frequent first
    languages: tuple[tuple[str, int], ...] = ()  # language tags with their numbers of literals
    prefixes: tuple[tuple[str, str], ...] = ()  # (prefix, namespace) pairs
    cuts: tuple[str, ...] = ()  # omissions, in words
    source: str = ""  # where the graph comes from
    created: str = ""  # time of the profile, in ISO 8601
    version: int = PROFILE_VERSION  # version of the file format
    graphs: tuple[tuple[str, int], ...] = ()  # named ones with their triples (0: not counted)
    partitions: tuple[Partition, ...] = ()  # partitions, by class and predicate
    completeness: tuple[Part, ...] = ()  # known share of each part
    types: tuple[tuple[str, str], ...] = ()  # standard type predicates, each with the graph's own
    name_search: str = ""  # name search of the endpoint for names that were not read
    described: tuple[tuple[str, str], ...] = ()  # by the graph itself: (text, language)

    def __hash__(self) -> int:
        """Return a hash of a few fields: hashing all takes long for a large schema."""
        sizes = len(self.classes), len(self.predicates)
        return hash((self.triples, *sizes, self.source, self.created))

    def get_known_share(self, part: str) -> float:
        """Return the known share of a part, between 0 and 1; 0 if unknown."""
        return next((p.share or 0.0 for p in self.completeness if p.name == part), 0.0)


TRIPLES, GRAPHS, CLASSES, PREDICATES = "triples", "graphs", "classes", "predicates"
COUNTS, PARTITIONS, ENDS, LABELS = "predicate counts", "partitions", "ends", "labels"
PART_NAMES = (TRIPLES, GRAPHS, CLASSES, PREDICATES, COUNTS, PARTITIONS, ENDS, LABELS)
ENTITY_NAMES = "entity names"
"""Name of the part for incompletely read entity names; absent if all were read."""


EMPTY_DEFAULT_NOTE = "the default graph is empty"
"""How the omission begins in the profile of an endpoint whose data lies in named graphs only."""


def has_empty_default(profile: Profile) -> bool:
    """Return whether the endpoint's default graph is empty, and its named graphs are united."""
    return any(cut.startswith(EMPTY_DEFAULT_NOTE) for cut in profile.cuts)


def build_complete_parts(profile: Profile) -> tuple[Part, ...]:
    """Return the parts of a profile that counted every triple, except named graphs."""
    sizes = (
        profile.triples,
        len(profile.classes),
        len(profile.predicates),
        len(profile.predicates),
        len(profile.classes),
        len(profile.partitions),
        len(profile.classes) + len(profile.predicates),
    )
    names = [name for name in PART_NAMES if name != GRAPHS]
    return tuple(Part(name, size, size) for name, size in zip(names, sizes, strict=True))


def replace_parts(parts: Sequence[Part], replacements: Mapping[str, Part]) -> tuple[Part, ...]:
    """Return the parts, updated from `replacements` by name, in standard order."""
    by_name = {part.name: part for part in parts} | dict(replacements)
    order = {name: position for position, name in enumerate(PART_NAMES)}
    return tuple(sorted(by_name.values(), key=lambda part: order.get(part.name, len(order))))


def sort_counts(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Return (name, number) pairs by descending number, then by name."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def save_profile(profile: Profile, path: Path) -> None:
    """Write a profile atomically."""
    body = json.dumps(asdict(profile), ensure_ascii=False, separators=(",", ":"))
    head = f'{{"version": {profile.version}, "sha256": "{_hash_body(body)}", '
    write_text_atomically(path, f"{head}{_BODY_KEY}{body}}}\n")


def load_profile(path: Path) -> Profile:
    """Read a profile; raises `SetupError` if it is missing, damaged or of another version."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SetupError(f"there is no profile at {path}; add the graph again") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the profile {path} cannot be read: {error}") from error
    try:
        with _pause_garbage_collection():
            stored = json.loads(text)
            version, digest = stored["version"], stored["sha256"]
            body = text.split(_BODY_KEY, 1)[1].rstrip()[:-1]
            if version == PROFILE_VERSION and digest == _hash_body(body):
                content = stored["profile"]
                kinds = (("classes", ClassProfile), ("predicates", PredicateProfile),
                         ("partitions", Partition), ("completeness", Part))  # fmt: skip
                items_by_field: dict[str, Any] = {
                    name: tuple(kind(**_to_tuples(item)) for item in content[name])
                    for name, kind in kinds
                }
                scalar_fields = {
                    name: value for name, value in content.items() if name not in items_by_field
                }
                return Profile(**_to_tuples(scalar_fields), **items_by_field)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise SetupError(f"the profile {path} is damaged; add the graph again") from error
    if version != PROFILE_VERSION:
        raise SetupError(
            f"the profile {path} has version {version}, but this askgraph writes version "
            f"{PROFILE_VERSION}; add the graph again"
        )
    raise SetupError(f"the profile {path} does not match its checksum; add the graph again")


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, which would double the time to create millions of objects."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _hash_body(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _to_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple([tuple(item) if type(item) is list else item for item in value])
        if type(value) is list
        else value
        for name, value in fields.items()
    }


Counts = tuple[tuple[str, int], ...]
Item = TypeVar("Item", ClassProfile, PredicateProfile, Partition)
JoinNumbers = Callable[[Sequence[int]], int]

_NUMBER_FIELDS = frozenset(["instances", "triples", "subjects", "objects"])
_COUNT_FIELDS = frozenset(
    ["subject_classes", "object_classes", "datatypes", "languages", "targets"]
)
_IRI_FIELDS = frozenset(["parents", "inverse_of"])
_FIRST_FIELDS = frozenset(["name_predicate", "naming", "bookkeeping", "value"])
_NAME_FIELDS = frozenset(["names", "other_names"])


def merge_profiles(first: Profile, second: Profile) -> Profile:
    """Merge two profiles of the same graph.

    If both have a number, the first profile's is used, but counted numbers take precedence over
    estimates from a sample. Names, ends and partitions of both are kept. The completeness of each
    part is the higher one.
    """

    def rate_certainty(part: Part) -> tuple[float, int]:
        return (-1.0 if part.share is None else part.share, part.seen)

    parts = {part.name: part for part in first.completeness}
    for part in second.completeness:
        parts[part.name] = max(part, parts.get(part.name, part), key=rate_certainty)
    return replace(
        _join_profiles([first, second], lambda ns: next(filter(None, ns), 0), combine_sampled=all),
        source=first.source or second.source,
        described=first.described or second.described,
        completeness=replace_parts((), parts),
    )


def unite_profiles(profiles: Sequence[Profile]) -> Profile:
    """Merge the profiles of several graphs: numbers are added.

    Content in several graphs counts several times, and links to resources whose class is in another
    graph count as links to resources without a class.

    Raises:
        ValueError: There are no profiles.
    """
    if not profiles:
        raise ValueError("give at least one profile to merge")
    parts: dict[str, list[Part]] = defaultdict(list)
    for part in chain.from_iterable(profile.completeness for profile in profiles):
        parts[part.name].append(part)
    return replace(
        _join_profiles(profiles, sum, combine_sampled=any),
        source=profiles[0].source,
        completeness=replace_parts(
            (), {name: _sum_parts(same_parts) for name, same_parts in parts.items()}
        ),
    )


def sort_profile(profile: Profile) -> Profile:
    """Return the profile with all unordered content in a deterministic order."""
    classes = sorted(profile.classes, key=lambda c: (-c.instances, c.iri))
    predicates = sorted(profile.predicates, key=lambda p: (-p.triples, p.iri))
    partitions = sorted(profile.partitions, key=lambda x: (x.cls, x.predicate))
    return replace(
        profile,
        classes=tuple(map(_sort_item, classes)),
        predicates=tuple(map(_sort_item, predicates)),
        partitions=tuple(map(_sort_item, partitions)),
        languages=sort_counts(Counter(dict(profile.languages))),
        prefixes=tuple(sorted(set(profile.prefixes))),
        cuts=tuple(sorted(set(profile.cuts))),
        graphs=sort_counts(Counter(dict(profile.graphs))),
        completeness=replace_parts(profile.completeness, {}),
    )


def _sort_item(item: Item) -> Item:
    fields = vars(item)
    lists = {
        name: _sort_field(name, fields[name])
        for name in (*_COUNT_FIELDS, *_IRI_FIELDS, "names")
        if name in fields
    }
    return replace(item, **lists)


def _sort_field(name: str, value: Any) -> Any:
    if name in _COUNT_FIELDS:
        return sort_counts(Counter(dict(value)))
    if name in _IRI_FIELDS:
        return tuple(sorted(set(value)))
    first = select_first_names(value)
    return (*sorted(first), *sorted(set(value) - first))


def select_first_names(names: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the first (text, language) name of each language; later ones are alternatives."""
    by_language: dict[str, tuple[str, str]] = {}
    for name in names:
        by_language.setdefault(name[1], name)
    return set(by_language.values())


def _join_profiles(
    profiles: Sequence[Profile],
    join: JoinNumbers,
    *,
    combine_sampled: Callable[[Iterable[bool]], bool],
) -> Profile:
    def group_items_by(
        items: Iterable[Item], key: Callable[[Item], object]
    ) -> Iterator[list[Item]]:
        groups: dict[object, list[Item]] = defaultdict(list)
        for item in items:
            groups[key(item)].append(item)
        return iter(groups.values())

    classes = group_items_by((c for profile in profiles for c in profile.classes), lambda c: c.iri)
    predicates = group_items_by(
        (p for profile in profiles for p in profile.predicates), lambda p: p.iri
    )
    partitions = group_items_by(
        (x for profile in profiles for x in profile.partitions), lambda x: (x.cls, x.predicate)
    )
    joined = sort_profile(
        Profile(
            triples=join([profile.triples for profile in profiles]),
            classes=tuple(
                _join_items(group_items, join, nary=all(c.nary for c in group_items))
                for group_items in classes
            ),
            predicates=tuple(
                _join_items(
                    group_items, join, transitive=any(p.transitive for p in group_items), steps=1
                )
                for group_items in predicates
            ),
            languages=_join_counts([profile.languages for profile in profiles], join),
            prefixes=tuple(
                {p: n for profile in reversed(profiles) for p, n in profile.prefixes}.items()
            ),
            created=max(profile.created for profile in profiles),
            graphs=_join_counts([profile.graphs for profile in profiles], join),
            partitions=tuple(
                _join_items(
                    sorted(group_items, key=lambda x: x.sampled),
                    join,
                    sampled=combine_sampled(x.sampled for x in group_items),
                )
                for group_items in partitions
            ),
        )
    )
    cuts = dict.fromkeys(cut for profile in profiles for cut in profile.cuts)
    return replace(joined, cuts=tuple(cuts))


def _join_items(items: Sequence[Item], join: JoinNumbers, **overrides: Any) -> Item:
    """Merge descriptions of one item; `overrides` are fields without a merge rule."""
    fields: dict[str, Any] = {}
    for name in vars(items[0]):
        values = [getattr(item, name) for item in items]
        if name in _NUMBER_FIELDS:
            fields[name] = join(values)
        elif name in _COUNT_FIELDS:
            fields[name] = _join_counts(values, join)
        elif name in _IRI_FIELDS or name in _NAME_FIELDS:
            fields[name] = tuple(dict.fromkeys(chain.from_iterable(values)))
        elif name in _FIRST_FIELDS:
            fields[name] = next(filter(None, values), values[0])
    return replace(items[0], **(fields | overrides))


def _join_counts(counts_list: Sequence[Counts], join: JoinNumbers) -> Counts:
    numbers: dict[str, list[int]] = defaultdict(list)
    for counts in counts_list:
        for name, number in counts:
            numbers[name].append(number)
    return sort_counts(Counter({name: join(values) for name, values in numbers.items()}))


def _sum_parts(parts: Sequence[Part]) -> Part:
    totals = [part.total for part in parts if part.total is not None]
    total = sum(totals) if len(totals) == len(parts) else None
    notes = dict.fromkeys(part.note for part in parts if part.note)
    return Part(parts[0].name, sum(part.seen for part in parts), total, "; ".join(notes))


# Classes that say all of one above them, and the share that is nearly all.
_MAX_COVERING_CLASSES, _COVERED_SHARE = 5, 0.8


@dataclass(frozen=True)
class ClassLink:
    """The triples of one predicate from instances of one class to those of another."""

    source: str
    predicate: str
    target: str
    triples: int


@dataclass(frozen=True)
class SchemaDiagram:
    """The largest classes, largest first, and the links between them, most used first."""

    classes: tuple[ClassProfile, ...]
    links: tuple[ClassLink, ...]


def select_largest_classes(profile: Profile) -> list[ClassProfile]:
    """Return the classes of a graph's content, largest first.

    Schema classes are left out, and so are classes that a few subclasses nearly cover: people, if
    nearly all are astronauts or scientists.
    """
    classes = [cls for cls in profile.classes if cls.instances and not is_schema_term(cls.iri)]
    subclass_sizes: dict[str, list[int]] = {}
    for cls in classes:
        for parent in cls.parents:
            subclass_sizes.setdefault(parent, []).append(cls.instances)
    covered_counts = (
        sum(sorted(subclass_sizes.get(cls.iri, ()))[-_MAX_COVERING_CLASSES:]) for cls in classes
    )
    selected = [
        cls
        for cls, covered in zip(classes, covered_counts, strict=True)
        if covered < _COVERED_SHARE * cls.instances
    ]
    return sorted(selected, key=lambda cls: (-cls.instances, cls.iri))


def is_schema_term(iri: str) -> bool:
    """Return whether a term belongs to a schema vocabulary."""
    return iri.startswith(v.SCHEMA_NAMESPACES)


def build_schema_diagram(profile: Profile, *, classes: int = 12, links: int = 20) -> SchemaDiagram:
    """Build the diagram of a profile from its counts, without queries.

    Two classes have at most one link, of the predicate with the most triples. Without partitions,
    classes are linked by the most frequent classes at the ends of predicates.
    """
    largest = tuple(select_largest_classes(profile)[:classes])
    names = {item.iri for item in largest}
    predicates = {item.iri: item for item in profile.predicates}
    best: dict[frozenset[str], ClassLink] = {}
    for link in _iterate_links(profile, predicates):
        ends = frozenset((link.source, link.target))
        if ends <= names and link.triples > getattr(best.get(ends), "triples", 0):
            best[ends] = link
    sorted_links = sorted(best.values(), key=lambda item: (-item.triples, item.source, item.target))
    return SchemaDiagram(largest, tuple(sorted_links[:links]))


def _iterate_links(
    profile: Profile, predicates: Mapping[str, PredicateProfile]
) -> Iterator[ClassLink]:
    counts: Counter[tuple[str, str, str]] = Counter()
    for partition in profile.partitions:
        if is_schema_term(partition.predicate) or (
            partition.predicate in predicates and predicates[partition.predicate].steps > 1
        ):
            continue
        for target, triples in partition.targets:
            counts[partition.cls, partition.predicate, target] += triples or partition.triples or 1
    if not counts:
        for predicate in profile.predicates:
            ends = (predicate.subject_classes[:1], predicate.object_classes[:1])
            for (source, _), (target, _) in zip(*ends, strict=False):
                counts[source, predicate.iri, target] = predicate.triples or 1
    for (source, name, target), triples in counts.items():
        yield ClassLink(source, name, target, triples)


def get_standard_role(iri: str) -> str:
    """Return "name" or "alternative" for a standard vocabulary's name predicate, else ""."""
    if iri in v.LABEL_PREDICATES:
        return "name"
    return "alternative" if iri in v.ALTERNATIVE_LABEL_PREDICATES else ""


def collect_superclasses(graph: GraphArrays, profile: Profile) -> tuple[ClassProfile, ...]:
    """Return the superclasses of a profile's classes that are missing in the profile.

    Their own instances are 0: all instances belong to subclasses.
    """
    known_iris = {cls.iri for cls in profile.classes}
    parents_queue = [parent for cls in profile.classes for parent in cls.parents]
    superclasses = {}
    for iri in parents_queue:
        if iri not in known_iris and not iri.startswith(SCHEMA_NAMESPACES):
            known_iris.add(iri)
            parents = get_objects(graph, iri, v.RDFS_SUB_CLASS_OF)
            superclasses[iri] = ClassProfile(iri, 0, names=get_names(graph, iri), parents=parents)
            parents_queue += parents
    return tuple(superclasses.values())
