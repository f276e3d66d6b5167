"""Merged profiles: of one graph described twice, or of several graphs together."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from askgraph.graph.profile import (
    ClassProfile,
    Part,
    Partition,
    PredicateProfile,
    Profile,
    sorted_counts,
    with_parts,
)

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
    profile = _joined([first, second], _first)
    parts = {part.name: part for part in first.completeness}
    for part in second.completeness:
        parts[part.name] = max(part, parts.get(part.name, part), key=_certainty)
    return replace(
        profile,
        source=first.source or second.source,
        created=max(first.created, second.created),
        cuts=tuple(dict.fromkeys((*first.cuts, *second.cuts))),
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
    profile = _joined(profiles, sum)
    parts: dict[str, list[Part]] = defaultdict(list)
    for one in profiles:
        for part in one.completeness:
            parts[part.name].append(part)
    return replace(
        profile,
        source=profiles[0].source,
        created=max(one.created for one in profiles),
        cuts=tuple(dict.fromkeys(cut for one in profiles for cut in one.cuts)),
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
        languages=_by_count(profile.languages),
        prefixes=tuple(sorted(set(profile.prefixes))),
        cuts=tuple(sorted(set(profile.cuts))),
        graphs=_by_count(profile.graphs),
        completeness=with_parts(profile.completeness, {}),
    )


def _in_order(item: Item) -> Item:
    given = {field.name: getattr(item, field.name) for field in fields(item)}
    changed: dict[str, Any] = {name: _by_count(given[name]) for name in _COUNTS & given.keys()}
    changed |= {name: tuple(sorted(set(given[name]))) for name in _IRIS & given.keys()}
    if "names" in given:
        changed["names"] = _named(given["names"])
    return replace(item, **changed)


def first_names(names: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the first (text, language) name in each language: the others are alternatives."""
    by_language: dict[str, tuple[str, str]] = {}
    for name in names:
        by_language.setdefault(name[1], name)
    return set(by_language.values())


def _named(names: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    first = first_names(names)
    return (*sorted(first), *sorted(set(names) - first))


def _first(numbers: Sequence[int]) -> int:
    return next((number for number in numbers if number), 0)


def _joined(profiles: Sequence[Profile], join: Joined) -> Profile:
    classes = _grouped((c for one in profiles for c in one.classes), lambda c: c.iri)
    predicates = _grouped((p for one in profiles for p in one.predicates), lambda p: p.iri)
    partitions = _grouped(
        (x for one in profiles for x in one.partitions), lambda x: f"{x.cls} {x.predicate}"
    )
    return ordered(
        Profile(
            triples=join([one.triples for one in profiles]),
            classes=tuple(_class(some, join) for some in classes),
            predicates=tuple(_predicate(some, join) for some in predicates),
            languages=_counts([one.languages for one in profiles], join),
            prefixes=tuple({p: n for one in reversed(profiles) for p, n in one.prefixes}.items()),
            graphs=_counts([one.graphs for one in profiles], join),
            partitions=tuple(_partition(some, join) for some in partitions),
        )
    )


def _grouped(items: Iterable[Item], key: Callable[[Item], str]) -> list[list[Item]]:
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return list(groups.values())


def _class(some: Sequence[ClassProfile], join: Joined) -> ClassProfile:
    return _account(some, join, nary=all(c.nary for c in some))


def _predicate(some: Sequence[PredicateProfile], join: Joined) -> PredicateProfile:
    return _account(some, join, transitive=any(p.transitive for p in some), steps=1)


def _partition(some: Sequence[Partition], join: Joined) -> Partition:
    some = sorted(some, key=lambda x: x.sampled)
    sampled = some[0].sampled if join is _first else any(x.sampled for x in some)
    return _account(some, join, sampled=sampled)


def _account(some: Sequence[Item], join: Joined, **said: Any) -> Item:
    """Return accounts of one thing as one; `said` are the fields that are joined by no rule."""
    given = {field.name: [getattr(one, field.name) for one in some] for field in fields(some[0])}
    joined: dict[str, Any] = {name: join(given[name]) for name in _NUMBERS & given.keys()}
    joined |= {name: _counts(given[name], join) for name in _COUNTS & given.keys()}
    for name in (_IRIS | {"names"}) & given.keys():
        joined[name] = tuple(dict.fromkeys(one for listed in given[name] for one in listed))
    for name in _FIRST & given.keys():
        joined[name] = next(filter(None, given[name]), given[name][0])
    return replace(some[0], **(joined | said))


def _counts(listed: Sequence[Counts], join: Joined) -> Counts:
    numbers: dict[str, list[int]] = defaultdict(list)
    for counts in listed:
        for name, number in counts:
            numbers[name].append(number)
    return sorted_counts(Counter({name: join(some) for name, some in numbers.items()}))


def _by_count(counts: Counts) -> Counts:
    return sorted_counts(Counter(dict(counts)))


def _certainty(part: Part) -> tuple[float, int]:
    return (-1.0 if part.share is None else part.share, part.seen)


def _summed(parts: Sequence[Part]) -> Part:
    totals = [part.total for part in parts if part.total is not None]
    total = sum(totals) if len(totals) == len(parts) else None
    notes = dict.fromkeys(part.note for part in parts if part.note)
    return Part(parts[0].name, sum(part.seen for part in parts), total, "; ".join(notes))
