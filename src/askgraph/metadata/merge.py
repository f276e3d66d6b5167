"""Merged profiles: of one graph described twice, or of several graphs together."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from askgraph.metadata import (
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
    return replace(
        profile,
        classes=tuple(
            replace(c, names=_named(c.names), parents=tuple(sorted(set(c.parents))))
            for c in sorted(profile.classes, key=lambda c: (-c.instances, c.iri))
        ),
        predicates=tuple(
            replace(
                p,
                names=_named(p.names),
                subject_classes=_by_count(p.subject_classes),
                object_classes=_by_count(p.object_classes),
                datatypes=_by_count(p.datatypes),
                languages=_by_count(p.languages),
                inverse_of=tuple(sorted(set(p.inverse_of))),
            )
            for p in sorted(profile.predicates, key=lambda p: (-p.triples, p.iri))
        ),
        languages=_by_count(profile.languages),
        prefixes=_sorted(profile.prefixes),
        cuts=tuple(sorted(set(profile.cuts))),
        graphs=_by_count(profile.graphs),
        partitions=tuple(
            replace(x, targets=_by_count(x.targets), datatypes=_by_count(x.datatypes))
            for x in sorted(profile.partitions, key=lambda x: (x.cls, x.predicate))
        ),
        completeness=with_parts(profile.completeness, {}),
    )


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
    return ClassProfile(
        iri=some[0].iri,
        instances=join([c.instances for c in some]),
        names=tuple(dict.fromkeys(name for c in some for name in c.names)),
        parents=tuple(dict.fromkeys(parent for c in some for parent in c.parents)),
        name_predicate=next((c.name_predicate for c in some if c.name_predicate), None),
        nary=all(c.nary for c in some),
    )


def _predicate(some: Sequence[PredicateProfile], join: Joined) -> PredicateProfile:
    return PredicateProfile(
        iri=some[0].iri,
        triples=join([p.triples for p in some]),
        subjects=join([p.subjects for p in some]),
        objects=join([p.objects for p in some]),
        names=tuple(dict.fromkeys(name for p in some for name in p.names)),
        subject_classes=_counts([p.subject_classes for p in some], join),
        object_classes=_counts([p.object_classes for p in some], join),
        datatypes=_counts([p.datatypes for p in some], join),
        languages=_counts([p.languages for p in some], join),
        naming=next((p.naming for p in some if p.naming), ""),
        transitive=any(p.transitive for p in some),
        inverse_of=tuple(dict.fromkeys(iri for p in some for iri in p.inverse_of)),
    )


def _partition(some: Sequence[Partition], join: Joined) -> Partition:
    some = sorted(some, key=lambda x: x.sampled)
    sampled = some[0].sampled if join is _first else any(x.sampled for x in some)
    return Partition(
        cls=some[0].cls,
        predicate=some[0].predicate,
        triples=join([x.triples for x in some]),
        subjects=join([x.subjects for x in some]),
        objects=join([x.objects for x in some]),
        targets=_counts([x.targets for x in some], join),
        datatypes=_counts([x.datatypes for x in some], join),
        sampled=sampled,
    )


def _counts(listed: Sequence[Counts], join: Joined) -> Counts:
    numbers: dict[str, list[int]] = defaultdict(list)
    for counts in listed:
        for name, number in counts:
            numbers[name].append(number)
    return sorted_counts(Counter({name: join(some) for name, some in numbers.items()}))


def _by_count(counts: Counts) -> Counts:
    return sorted_counts(Counter(dict(counts)))


def _sorted(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(set(pairs)))


def _certainty(part: Part) -> tuple[float, int]:
    return (-1.0 if part.share is None else part.share, part.seen)


def _summed(parts: Sequence[Part]) -> Part:
    totals = [part.total for part in parts if part.total is not None]
    total = sum(totals) if len(totals) == len(parts) else None
    notes = dict.fromkeys(part.note for part in parts if part.note)
    return Part(parts[0].name, sum(part.seen for part in parts), total, "; ".join(notes))
