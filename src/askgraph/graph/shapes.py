"""The shape of a class: what its instances have, how many of them, of what kind, with an example.

Counted if the triples lie here; else from the profile, and from a sample of instances if the
profile does not tell.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import cast
from weakref import WeakKeyDictionary

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.endpoint import Endpoint
from askgraph.graph.arrays import GraphArrays, Ids
from askgraph.graph.literals import split_literal
from askgraph.graph.profile import Counts, PredicateProfile, Profile, sorted_counts
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import SCHEMA_SPACES

_SAMPLE = 1_000
_LINES = 60
_FEW, _AGAIN = 6, 3  # values of an enumeration, at most, and how often each is used, at least
_STEPS = 3  # of a chain
_JOINED, _USUAL = 3, 0.5  # properties that a shown instance has, of those that so many have
_NO_LINE = (v.RDF_TYPE,)


@dataclass(frozen=True)
class ShapeLine:
    """A predicate at the instances of a class; `inverse` if it leads to them.

    `having` of the instances have it, in `triples` triples; None if that is not known.
    `kinds` are the classes or datatypes of the other end. `least` and `most` are how often an
    instance has to have it and may have it, if a shape that somebody wrote says so. `values` are
    all that occur, if these are few that come again and again. `in_steps` says that
    it leads on from what it leads to, so that a question may mean all steps of it; `chain` is what
    it leads to from the example, step by step. `highest` is how many triples one instance has. Of
    the things at the other end the share `untyped` is of no class; those have `beyond`. `below` are
    its sub-properties. The example is not the shape's instance's if it is from `elsewhere`.
    """

    predicate: str
    triples: int | None
    having: int | None
    kinds: tuple[str, ...] = ()
    inverse: bool = False
    example: Term | None = None
    least: int | None = None
    most: int | None = None
    values: tuple[Term, ...] = ()
    in_steps: bool = False
    chain: tuple[Term, ...] = ()
    highest: int | None = None
    untyped: float = 0.0
    beyond: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    elsewhere: bool = False


@dataclass(frozen=True)
class Shape:
    """The lines of a class, the most frequent first; `sampled` of its instances were looked at.

    `instances` is 0 if nobody counted them. The examples are those of one `instance`, if it is
    known: one that has most of what instances of the class have.
    """

    cls: str
    instances: int
    lines: tuple[ShapeLine, ...]
    sampled: int | None = None
    instance: Term | None = None

    def share(self, line: ShapeLine) -> float | None:
        """Return the part of the instances that have a line, between 0 and 1; None if not known."""
        every = self.sampled or self.instances
        return min(1.0, line.having / every) if every and line.having is not None else None


_COUNTED: WeakKeyDictionary[GraphArrays, tuple[Profile, dict[str, Shape]]] = WeakKeyDictionary()


async def shape_at(
    cls: str,
    profile: Profile,
    endpoint: Endpoint,
    *,
    arrays: GraphArrays | None = None,
    examples: bool = True,
    timeout: float = 20.0,
) -> Shape:
    """Return the shape of a class; with no lines if the graph has no instance of it.

    Without arrays the endpoint is asked twice at most, for `timeout` seconds each. Raises
    `ServiceError` if it does not answer.
    """
    if arrays is not None:
        return await asyncio.to_thread(_kept, profile, arrays, cls)
    shape = known_shape(profile, cls)
    if not shape.lines:
        shape = await _sampled_shape(shape, endpoint, timeout)
    return await with_examples(shape, endpoint, timeout=timeout) if examples else shape


async def _sampled_shape(shape: Shape, endpoint: Endpoint, timeout: float) -> Shape:
    """Return the shape that some instances of its class have, of which nothing is known."""
    some = f"{{ SELECT ?s WHERE {{ ?s <{v.RDF_TYPE}> <{shape.cls}> }} LIMIT {_SAMPLE} }}"
    counts = "(COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?having)"
    parts = [
        f"{{ SELECT ({way} AS ?way) ?p {counts} WHERE {{ {some} {edge} }} GROUP BY ?p }}"
        for way, edge in enumerate(("?s ?p ?o", "?o ?p ?s"))
    ]
    parts.append(f"{{ SELECT (2 AS ?way) (COUNT(*) AS ?n) WHERE {{ {some} }} }}")
    query = f"SELECT ?way ?p ?n ?having WHERE {{ {' UNION '.join(parts)} }} LIMIT 500"
    result = await endpoint.select(query, timeout=timeout)
    lines, looked_at = [], 0
    for way, predicate, count, having in result.rows:
        if isinstance(predicate, NamedNode):
            inverse, sizes = _number(way) == 1, (_number(count), _number(having))
            lines.append(ShapeLine(predicate.value, *sizes, inverse=inverse))
        else:
            looked_at = max(looked_at, _number(count))
    if looked_at < _SAMPLE:
        return replace(shape, instances=looked_at, lines=_most(lines))
    return replace(shape, lines=_most(lines), sampled=looked_at)


def known_shape(profile: Profile, cls: str) -> Shape:
    """Return the shape of a class as far as a profile tells it, without example values."""
    instances = next((one.instances for one in profile.classes if one.iri == cls), 0)
    lines: list[ShapeLine] = []
    for one in profile.partitions:
        if one.cls == cls:
            kinds = _ends((one.targets, one.triples), one.datatypes, profile)
            lines.append(ShapeLine(one.predicate, one.triples or None, one.subjects or None, kinds))
    if not lines:  # how many of the subjects of each predicate are of the class
        for p in profile.predicates:
            if leaving := min(instances, dict(p.subject_classes).get(cls, 0)):
                kinds = ends_of(p, profile, inverse=False)
                lines.append(ShapeLine(p.iri, leaving if p.functional else None, leaving, kinds))
    return Shape(cls, instances, _most([*lines, *_coming(profile, cls, instances)]))


def frequent(profile: Profile, fraction: float) -> Profile:
    """Return the profile of the most frequent part of a schema: of classes, and of predicates.

    A `fraction` of 0.25 keeps a quarter of either, rounded up, and the partitions between them.
    """
    classes = sorted(profile.classes, key=lambda c: (-c.instances, c.iri))
    predicates = sorted(profile.predicates, key=lambda p: (-p.triples, p.iri))
    classes = classes[: ceil(fraction * len(classes))]
    predicates = predicates[: ceil(fraction * len(predicates))]
    kept = {c.iri for c in classes}, {p.iri for p in predicates}
    return replace(
        profile,
        classes=tuple(classes),
        predicates=tuple(predicates),
        partitions=tuple(
            one for one in profile.partitions if one.cls in kept[0] and one.predicate in kept[1]
        ),
    )


async def with_examples(shape: Shape, endpoint: Endpoint, *, timeout: float = 20.0) -> Shape:
    """Return the shape with a value of each predicate, all by one query.

    They are of one instance that has the most frequent properties, and of others what that lacks.
    """
    if not shape.lines:
        return shape
    usual = [
        line for line in shape.lines if not line.inverse and (shape.share(line) or 0) >= _USUAL
    ]
    telling = " ".join(
        f"?one <{line.predicate}> ?o{at} ." for at, line in enumerate(usual[:_JOINED])
    )

    def step(line: ShapeLine, node: str) -> str:
        ends = ("?x", node) if line.inverse else (node, "?x")
        return f"{ends[0]} <{line.predicate}> {ends[1]}"

    parts, own = [], []
    for at, line in enumerate(shape.lines):
        typed = f"?s <{v.RDF_TYPE}> <{shape.cls}> . {step(line, '?s')}"
        parts.append(f"{{ SELECT ({at} AS ?n) ?x WHERE {{ {typed} }} LIMIT 1 }}")
        own.append(f"{{ {step(line, '?one')} BIND({at} AS ?n) }}")
    parts.append(
        "{ SELECT ?n ?one (SAMPLE(?x) AS ?own) WHERE { { SELECT ?one WHERE "
        f"{{ ?one <{v.RDF_TYPE}> <{shape.cls}> . {telling} }} LIMIT 1 }} {' UNION '.join(own)} }} "
        "GROUP BY ?n ?one }"
    )
    query = f"SELECT ?n ?x ?one ?own WHERE {{ {' UNION '.join(parts)} }} LIMIT {2 * len(parts)}"
    result = await endpoint.select(query, timeout=timeout)
    some: dict[int, Term] = {}
    of_one: dict[int, Term] = {}
    instance: Term | None = None
    for number, term, one, value in result.rows:
        if one is not None and value is not None:
            of_one[_number(number)], instance = value, one
        elif isinstance(number, Literal) and term is not None:
            some[_number(number)] = term
    lines = [
        replace(
            line,
            example=of_one.get(at, some.get(at)),
            elsewhere=instance is not None and at not in of_one,
        )
        for at, line in enumerate(shape.lines)
    ]
    return replace(shape, lines=tuple(lines), instance=instance)


def _most(lines: Sequence[ShapeLine]) -> tuple[ShapeLine, ...]:
    told = [line for line in lines if line.predicate not in _NO_LINE]

    def order(line: ShapeLine) -> tuple[bool, int, str]:
        size = line.triples or 0 if line.having is None else line.having
        return (line.inverse, -size, line.predicate)

    return tuple(sorted(told, key=order)[:_LINES])


def _kept(profile: Profile, arrays: GraphArrays, cls: str) -> Shape:
    """Return the shape of a class as first counted: neither triples nor profile change."""
    known = _COUNTED.get(arrays)
    if known is None or known[0] is not profile:
        known = _COUNTED[arrays] = profile, {}
    if cls not in known[1]:
        known[1][cls] = _counted(profile, arrays, cls)
    return known[1][cls]


def _counted(profile: Profile, arrays: GraphArrays, cls: str) -> Shape:
    kind, at = arrays.number(v.RDF_TYPE), arrays.terms.iri(cls)
    if kind is None or at is None:
        return Shape(cls, 0, ())
    nodes = np.sort(arrays.step(_node(at), kind, inverse=True))
    if not len(nodes):
        return Shape(cls, 0, ())
    chains = {p.iri for p in profile.predicates if p.transitive}
    below = _below(arrays)
    had = np.zeros(len(nodes), dtype=np.int32)
    found = []
    for inverse in (False, True):
        for number in arrays.predicates_of(nodes, inverse=inverse)[0].tolist():
            sources, targets = arrays.pairs(nodes, number, inverse=inverse)
            if number == kind and not inverse:
                continue
            ends = np.unique(targets)
            having, each = np.unique(sources, return_counts=True)
            had[np.searchsorted(nodes, having)] += 1
            iri = arrays.iri_of(number)
            untyped, beyond = _untyped(profile, arrays, ends, kind)
            line = ShapeLine(
                iri,
                len(targets),
                len(each),
                _kinds(profile, arrays, ends, kind),
                inverse,
                values=_values(arrays, ends, len(targets)),
                highest=int(each.max()),
                untyped=untyped,
                beyond=beyond,
                below=() if inverse else below.get(iri, ()),
            )
            found.append((number, int(ends[len(ends) // 2]), line))
    best = np.flatnonzero(had == had.max())
    one = int(nodes[best[len(best) // 2]])
    lines = []
    for number, other, line in found:
        own = arrays.step(_node(one), number, inverse=line.inverse)[:_FEW].tolist()
        english = (at for at in own if arrays.terms.text(at).endswith('"@en'))
        example = next(english, own[0]) if own else other
        leads_on = line.predicate in chains and not line.inverse
        chain = _chain(arrays, number, example) if leads_on else ()
        term = _term(arrays, example)
        lines.append(replace(line, example=term, chain=chain, elsewhere=not own))
    return Shape(cls, len(nodes), _most(lines), instance=_term(arrays, one))


def _node(at: int) -> Ids:
    return np.array([at], dtype=np.int32)


def _term(arrays: GraphArrays, at: int) -> Term:
    return cast(Term, arrays.terms.term(at))


def _values(arrays: GraphArrays, ends: Ids, triples: int) -> tuple[Term, ...]:
    """Return all values if they are few that come again and again."""
    terms = arrays.terms
    few = len(ends) <= _FEW and triples >= _AGAIN * len(ends)
    if not few or any(at >= terms.first_blank for at in ends.tolist()):
        return ()
    return tuple(_term(arrays, at) for at in ends.tolist())


def _below(arrays: GraphArrays) -> dict[str, tuple[str, ...]]:
    """Return the sub-properties of each property that has some, as the graph states them."""
    number = arrays.number(v.RDFS_SUB_PROPERTY_OF)
    if number is None:
        return {}
    below, above = arrays.pairs(arrays.ends(number), number)
    found: dict[str, tuple[str, ...]] = {}
    for one, other in zip(below.tolist(), above.tolist(), strict=True):
        if one != other and arrays.terms.is_iri(one) and arrays.terms.is_iri(other):
            key = arrays.terms.value(other)
            found[key] = (*found.get(key, ()), arrays.terms.value(one))
    return found


def _untyped(
    profile: Profile, arrays: GraphArrays, ends: Ids, kind: int
) -> tuple[float, tuple[str, ...]]:
    """Return the share of things among some nodes that are of no class, and what these have.

    Nodes among which there are known classes are of no account.
    """
    some = ends[:: max(1, len(ends) // _SAMPLE)]
    things = some[some >= arrays.terms.first_iri]
    bare = np.setdiff1d(things, arrays.pairs(things, kind)[0])
    if not len(bare):
        return 0.0, ()
    first = arrays.terms.value(int(bare[0]))
    if any(one.iri == first for one in profile.classes):
        return 0.0, ()
    numbers, counts = arrays.predicates_of(bare)
    order = np.argsort(-counts, kind="stable")[:_FEW]
    return len(bare) / len(things), tuple(arrays.iri_of(int(numbers[at])) for at in order)


def _chain(arrays: GraphArrays, predicate: int, start: int) -> tuple[Term, ...]:
    """Return the ends of a predicate from a node, always on from the first; at most three steps."""
    way = [start]
    while len(way) <= _STEPS:
        targets = arrays.step(_node(way[-1]), predicate).tolist()
        if not targets or targets[0] in way:
            break
        way.append(targets[0])
    return tuple(_term(arrays, at) for at in way[1:])


def _kinds(profile: Profile, arrays: GraphArrays, ends: Ids, kind: int) -> tuple[str, ...]:
    """Return the classes or datatypes of most of some nodes, evenly chosen if there are many."""
    some = ends[:: max(1, len(ends) // _SAMPLE)]
    literals = [at for at in some.tolist() if arrays.terms.is_literal(at)]
    if len(literals) * 2 > len(some):
        types = Counter(split_literal(arrays.terms.text(at))[1] for at in literals)
        return tuple(iri for iri, _ in types.most_common(2))
    _, classes = arrays.pairs(some, kind)
    counted = [
        (arrays.terms.value(at), n)
        for at, n in Counter(classes.tolist()).most_common()
        if arrays.terms.is_iri(at)
    ]
    return common(counted, len(some), profile)


def _coming(profile: Profile, cls: str, instances: int) -> Iterator[ShapeLine]:
    """What leads to the instances, from where as the partitions tell, else the predicates."""
    sources: dict[str, Counter[str]] = {}
    for one in profile.partitions:
        number = dict(one.targets).get(cls)
        if number is not None:
            sources.setdefault(one.predicate, Counter())[one.cls] += number
    for p in profile.predicates:
        coming = min(instances, dict(p.object_classes).get(cls, 0))
        if not coming and p.iri not in sources:
            continue
        kinds = ends_of(p, profile, inverse=True)
        if p.iri in sources:
            counted = sorted_counts(sources[p.iri])
            kinds = common(counted, max(n for _, n in counted), profile)
        once = coming if coming and p.triples <= p.objects else None
        yield ShapeLine(p.iri, once, coming or None, kinds, inverse=True)


def _number(term: Term | None) -> int:
    return int(term.value) if isinstance(term, Literal) and term.value.isdigit() else 0


def narrowest(types: Iterable[str], profile: Profile, *, most: int = 2) -> tuple[str, ...]:
    """Return the classes that tell most: none above another of them, the smallest first."""
    known = {cls.iri: cls for cls in profile.classes}
    own = [iri for iri in dict.fromkeys(types) if not iri.startswith(SCHEMA_SPACES)]
    above = {
        parent for iri in own if iri in known for parent in known[iri].parents if parent != iri
    }
    told = [iri for iri in own if iri not in above] or own
    told.sort(key=lambda iri: known[iri].instances if iri in known else 0)
    return tuple(told[:most]) or tuple(dict.fromkeys(types))[:1]


def common(counted: Sequence[tuple[str, int]], total: int, profile: Profile) -> tuple[str, ...]:
    """Return the narrowest class that (nearly) all are of, else the two most frequent classes.

    `counted` are classes or datatypes with their numbers, out of a `total`.
    """
    telling = [(iri, n) for iri, n in counted if not iri.startswith((v.RDFS, v.OWL, v.RDF))]
    whole = [iri for iri, n in telling if n >= 0.99 * total]
    if whole:
        return narrowest(whole, profile, most=1)
    few = telling[:3]
    parents = {cls.iri: cls.parents for cls in profile.classes}
    above = {
        iri
        for iri, n in few
        for other, m in few
        if iri in parents.get(other, ()) and iri != other and m >= 0.9 * n
    }
    return tuple(iri for iri, _ in few if iri not in above)[:2]


def ends_of(p: PredicateProfile, profile: Profile, *, inverse: bool) -> tuple[str, ...]:
    """Return the classes (or datatypes) that a predicate leads to; those it leads from, inverse."""
    if inverse:
        return common(p.subject_classes, p.subjects, profile)
    return _ends((p.object_classes, p.objects), p.datatypes, profile)


def _ends(classes: tuple[Counts, int], datatypes: Counts, profile: Profile) -> tuple[str, ...]:
    counted, total = classes
    if counted and not datatypes:
        return common(counted, total, profile)
    return tuple(iri for iri, _ in (*datatypes, *counted))[:2]
