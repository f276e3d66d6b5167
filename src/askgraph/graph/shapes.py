"""Build the shape of a class: the properties of its instances, with counts, kinds and examples.

Counted exactly for a local graph; else taken from the profile, and from a sample of instances if
the profile has no data.
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
from askgraph.graph.profile import Counts, PredicateProfile, Profile, sort_counts
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Term
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES

_SAMPLE_SIZE = 1_000
_MAX_LINES = 60
# Values of an enumeration, at most, and how often each is used, at least.
_MAX_VALUES, _MIN_USES_PER_VALUE = 6, 3
_MAX_CHAIN_STEPS = 3  # of a chain
# Properties that a shown instance has, of those that so many have.
_MAX_REQUIRED_PROPERTIES, _COMMON_SHARE = 3, 0.5
_EXCLUDED_PREDICATES = (v.RDF_TYPE,)


@dataclass(frozen=True)
class ShapeLine:
    """A predicate at the instances of a class."""

    predicate: str  # IRI of the predicate
    triples: int | None  # number of triples; None if unknown
    having: int | None  # number of instances with the predicate; None if unknown
    kinds: tuple[str, ...] = ()  # classes or datatypes of the other end
    inverse: bool = False  # whether the predicate leads to the instances
    example: Term | None = None  # a value
    min_count: int | None = None  # required number of values, from a hand-written shape
    max_count: int | None = None  # permitted number of values, from a hand-written shape
    values: tuple[Term, ...] = ()  # all values, if they are few and repeated
    in_steps: bool = False  # whether it also leaves its values: any number of steps may be meant
    chain: tuple[Term, ...] = ()  # values of further steps from the example
    max_triples: int | None = None  # maximum number of triples of one instance
    untyped_share: float = 0.0  # share of resources at the other end without a class
    untyped_predicates: tuple[str, ...] = ()  # predicates of these resources
    subproperties: tuple[str, ...] = ()  # its sub-properties
    is_foreign_example: bool = False  # of another instance than the shape's


@dataclass(frozen=True)
class Shape:
    """The properties of a class."""

    cls: str  # IRI of the class
    instances: int  # number of instances; 0 if not counted
    lines: tuple[ShapeLine, ...]  # the properties, most frequent first
    sampled: int | None = None  # number of sampled instances; None if all were counted
    instance: Term | None = None  # the instance of the examples: one with most of the properties

    def get_share(self, line: ShapeLine) -> float | None:
        """Return the share of instances with a line's predicate, from 0 to 1; None if unknown."""
        instance_count = self.sampled or self.instances
        return (
            min(1.0, line.having / instance_count)
            if instance_count and line.having is not None
            else None
        )


_SHAPE_CACHE: WeakKeyDictionary[GraphArrays, tuple[Profile, dict[str, Shape]]] = WeakKeyDictionary()


async def load_shape(
    cls: str,
    profile: Profile,
    endpoint: Endpoint,
    *,
    arrays: GraphArrays | None = None,
    examples: bool = True,
    timeout: float = 20.0,
) -> Shape:
    """Return the shape of a class; without lines if the graph has no instances of it.

    Without arrays, the endpoint gets at most two queries, each with `timeout` seconds.

    Raises:
        ServiceError: The endpoint does not answer.
    """
    if arrays is not None:
        return await asyncio.to_thread(_get_shape, profile, arrays, cls)
    shape = build_shape(profile, cls)
    if not shape.lines:
        shape = await _sample_shape(shape, endpoint, timeout)
    return await add_examples(shape, endpoint, timeout=timeout) if examples else shape


async def _sample_shape(shape: Shape, endpoint: Endpoint, timeout: float) -> Shape:
    sample = f"{{ SELECT ?s WHERE {{ ?s <{v.RDF_TYPE}> <{shape.cls}> }} LIMIT {_SAMPLE_SIZE} }}"
    counts = "(COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?having)"
    parts = [
        f"{{ SELECT ({direction} AS ?way) ?p {counts} WHERE {{ {sample} {edge} }} GROUP BY ?p }}"
        for direction, edge in enumerate(("?s ?p ?o", "?o ?p ?s"))
    ]
    parts.append(f"{{ SELECT (2 AS ?way) (COUNT(*) AS ?n) WHERE {{ {sample} }} }}")
    query = f"SELECT ?way ?p ?n ?having WHERE {{ {' UNION '.join(parts)} }} LIMIT 500"
    result = await endpoint.select(query, timeout=timeout)
    lines, sample_count = [], 0
    for direction, predicate, count, having in result.rows:
        if isinstance(predicate, NamedNode):
            inverse = _parse_count(direction) == 1
            sizes = (_parse_count(count), _parse_count(having))
            lines.append(ShapeLine(predicate.value, *sizes, inverse=inverse))
        else:
            sample_count = max(sample_count, _parse_count(count))
    if sample_count < _SAMPLE_SIZE:
        return replace(shape, instances=sample_count, lines=_select_lines(lines))
    return replace(shape, lines=_select_lines(lines), sampled=sample_count)


def build_shape(profile: Profile, cls: str) -> Shape:
    """Build the shape of a class from a profile, without example values."""
    instances = next(
        (partition.instances for partition in profile.classes if partition.iri == cls), 0
    )
    lines: list[ShapeLine] = []
    for partition in profile.partitions:
        if partition.cls == cls:
            kinds = _select_end_kinds(
                (partition.targets, partition.triples), partition.datatypes, profile
            )
            lines.append(
                ShapeLine(
                    partition.predicate,
                    partition.triples or None,
                    partition.subjects or None,
                    kinds,
                )
            )
    if not lines:  # how many of the subjects of each predicate are of the class
        for p in profile.predicates:
            if instance_count := min(instances, dict(p.subject_classes).get(cls, 0)):
                kinds = get_end_kinds(p, profile, inverse=False)
                lines.append(
                    ShapeLine(
                        p.iri, instance_count if p.functional else None, instance_count, kinds
                    )
                )
    return Shape(
        cls, instances, _select_lines([*lines, *_iterate_inverse_lines(profile, cls, instances)])
    )


def select_frequent(profile: Profile, fraction: float) -> Profile:
    """Return a profile with the most frequent classes and predicates only.

    A `fraction` of 0.25 keeps a quarter of each, rounded up, and the partitions between them.
    """
    classes = sorted(profile.classes, key=lambda c: (-c.instances, c.iri))
    predicates = sorted(profile.predicates, key=lambda p: (-p.triples, p.iri))
    classes = classes[: ceil(fraction * len(classes))]
    predicates = predicates[: ceil(fraction * len(predicates))]
    selected_iris = {c.iri for c in classes}, {p.iri for p in predicates}
    return replace(
        profile,
        classes=tuple(classes),
        predicates=tuple(predicates),
        partitions=tuple(
            partition
            for partition in profile.partitions
            if partition.cls in selected_iris[0] and partition.predicate in selected_iris[1]
        ),
    )


async def add_examples(shape: Shape, endpoint: Endpoint, *, timeout: float = 20.0) -> Shape:
    """Return the shape with an example value of each line, by one query.

    Values come from one instance with the most frequent properties, else from any instance.
    """
    if not shape.lines:
        return shape
    common_lines = [
        line
        for line in shape.lines
        if not line.inverse and (shape.get_share(line) or 0) >= _COMMON_SHARE
    ]
    required_patterns = " ".join(
        f"?one <{line.predicate}> ?o{index} ."
        for index, line in enumerate(common_lines[:_MAX_REQUIRED_PROPERTIES])
    )

    def build_step(line: ShapeLine, node: str) -> str:
        ends = ("?x", node) if line.inverse else (node, "?x")
        return f"{ends[0]} <{line.predicate}> {ends[1]}"

    parts, example_patterns = [], []
    for index, line in enumerate(shape.lines):
        pattern = f"?s <{v.RDF_TYPE}> <{shape.cls}> . {build_step(line, '?s')}"
        parts.append(f"{{ SELECT ({index} AS ?n) ?x WHERE {{ {pattern} }} LIMIT 1 }}")
        example_patterns.append(f"{{ {build_step(line, '?one')} BIND({index} AS ?n) }}")
    parts.append(
        "{ SELECT ?n ?one (SAMPLE(?x) AS ?own) WHERE { { SELECT ?one WHERE "
        f"{{ ?one <{v.RDF_TYPE}> <{shape.cls}> . {required_patterns} }} LIMIT 1 "
        f"}} {' UNION '.join(example_patterns)} }} "
        "GROUP BY ?n ?one }"
    )
    query = f"SELECT ?n ?x ?one ?own WHERE {{ {' UNION '.join(parts)} }} LIMIT {2 * len(parts)}"
    result = await endpoint.select(query, timeout=timeout)
    examples: dict[int, Term] = {}
    instance_examples: dict[int, Term] = {}
    instance: Term | None = None
    for number, term, subject, value in result.rows:
        if subject is not None and value is not None:
            instance_examples[_parse_count(number)], instance = value, subject
        elif isinstance(number, Literal) and term is not None:
            examples[_parse_count(number)] = term
    lines = [
        replace(
            line,
            example=instance_examples.get(index, examples.get(index)),
            is_foreign_example=instance is not None and index not in instance_examples,
        )
        for index, line in enumerate(shape.lines)
    ]
    return replace(shape, lines=tuple(lines), instance=instance)


def _select_lines(lines: Sequence[ShapeLine]) -> tuple[ShapeLine, ...]:
    visible = [line for line in lines if line.predicate not in _EXCLUDED_PREDICATES]

    def get_sort_key(line: ShapeLine) -> tuple[bool, int, str]:
        size = line.triples or 0 if line.having is None else line.having
        return (line.inverse, -size, line.predicate)

    return tuple(sorted(visible, key=get_sort_key)[:_MAX_LINES])


def _get_shape(profile: Profile, arrays: GraphArrays, cls: str) -> Shape:
    """Return the shape of a class from the cache, or count it: the data does not change."""
    cached = _SHAPE_CACHE.get(arrays)
    if cached is None or cached[0] is not profile:
        cached = _SHAPE_CACHE[arrays] = profile, {}
    if cls not in cached[1]:
        cached[1][cls] = _count_shape(profile, arrays, cls)
    return cached[1][cls]


def _count_shape(profile: Profile, arrays: GraphArrays, cls: str) -> Shape:
    type_number, class_id = arrays.get_predicate_number(v.RDF_TYPE), arrays.terms.find_iri(cls)
    if type_number is None or class_id is None:
        return Shape(cls, 0, ())
    nodes = np.sort(arrays.step(_to_ids(class_id), type_number, inverse=True))
    if not len(nodes):
        return Shape(cls, 0, ())
    chains = {p.iri for p in profile.predicates if p.transitive}
    subproperties = _find_subproperties(arrays)
    predicate_counts = np.zeros(len(nodes), dtype=np.int32)
    candidates = []
    for inverse in (False, True):
        for number in arrays.count_predicates(nodes, inverse=inverse)[0].tolist():
            sources, targets = arrays.get_edges(nodes, number, inverse=inverse)
            if number == type_number and not inverse:
                continue
            ends = np.unique(targets)
            having, value_counts = np.unique(sources, return_counts=True)
            predicate_counts[np.searchsorted(nodes, having)] += 1
            iri = arrays.get_predicate_iri(number)
            untyped_share, untyped_predicates = _measure_untyped(profile, arrays, ends, type_number)
            line = ShapeLine(
                iri,
                len(targets),
                len(value_counts),
                detect_kinds(profile, arrays, ends, type_number),
                inverse,
                values=_list_values(arrays, ends, len(targets)),
                max_triples=int(value_counts.max()),
                untyped_share=untyped_share,
                untyped_predicates=untyped_predicates,
                subproperties=() if inverse else subproperties.get(iri, ()),
            )
            candidates.append((number, int(ends[len(ends) // 2]), line))
    richest = np.flatnonzero(predicate_counts == predicate_counts.max())
    instance = int(nodes[richest[len(richest) // 2]])
    lines = []
    for number, other_value, line in candidates:
        instance_values = arrays.step(_to_ids(instance), number, inverse=line.inverse)[
            :_MAX_VALUES
        ].tolist()
        english = (
            class_id
            for class_id in instance_values
            if arrays.terms.get_text(class_id).endswith('"@en')
        )
        example = next(english, instance_values[0]) if instance_values else other_value
        is_chain = line.predicate in chains and not line.inverse
        chain = _follow_chain(arrays, number, example) if is_chain else ()
        term = _get_term(arrays, example)
        lines.append(
            replace(line, example=term, chain=chain, is_foreign_example=not instance_values)
        )
    return Shape(cls, len(nodes), _select_lines(lines), instance=_get_term(arrays, instance))


def _to_ids(term_id: int) -> Ids:
    return np.array([term_id], dtype=np.int32)


def _get_term(arrays: GraphArrays, term_id: int) -> Term:
    return cast(Term, arrays.terms.get_term(term_id))


def _list_values(arrays: GraphArrays, ends: Ids, triples: int) -> tuple[Term, ...]:
    terms = arrays.terms
    is_enumeration = len(ends) <= _MAX_VALUES and triples >= _MIN_USES_PER_VALUE * len(ends)
    if not is_enumeration or any(term_id >= terms.first_blank for term_id in ends.tolist()):
        return ()
    return tuple(_get_term(arrays, term_id) for term_id in ends.tolist())


def _find_subproperties(arrays: GraphArrays) -> dict[str, tuple[str, ...]]:
    number = arrays.get_predicate_number(v.RDFS_SUB_PROPERTY_OF)
    if number is None:
        return {}
    below, above = arrays.get_edges(arrays.get_ends(number), number)
    subproperties: dict[str, tuple[str, ...]] = {}
    for child, parent in zip(below.tolist(), above.tolist(), strict=True):
        if child != parent and arrays.terms.is_iri(child) and arrays.terms.is_iri(parent):
            key = arrays.terms.get_value(parent)
            subproperties[key] = (*subproperties.get(key, ()), arrays.terms.get_value(child))
    return subproperties


def _measure_untyped(
    profile: Profile, arrays: GraphArrays, ends: Ids, kind: int
) -> tuple[float, tuple[str, ...]]:
    """Return the share of resources without a class among some nodes, and their predicates."""
    # Returns nothing if the nodes are classes themselves.
    sample = ends[:: max(1, len(ends) // _SAMPLE_SIZE)]
    resources = sample[sample >= arrays.terms.first_iri]
    untyped = np.setdiff1d(resources, arrays.get_edges(resources, kind)[0])
    if not len(untyped):
        return 0.0, ()
    first = arrays.terms.get_value(int(untyped[0]))
    if any(cls.iri == first for cls in profile.classes):
        return 0.0, ()
    numbers, counts = arrays.count_predicates(untyped)
    order = np.argsort(-counts, kind="stable")[:_MAX_VALUES]
    return len(untyped) / len(resources), tuple(
        arrays.get_predicate_iri(int(numbers[index])) for index in order
    )


def _follow_chain(arrays: GraphArrays, predicate: int, start: int) -> tuple[Term, ...]:
    """Return the nodes of a chain of a predicate, always by the first target; up to three steps."""
    nodes = [start]
    while len(nodes) <= _MAX_CHAIN_STEPS:
        targets = arrays.step(_to_ids(nodes[-1]), predicate).tolist()
        if not targets or targets[0] in nodes:
            break
        nodes.append(targets[0])
    return tuple(_get_term(arrays, node) for node in nodes[1:])


def detect_kinds(profile: Profile, arrays: GraphArrays, ends: Ids, kind: int) -> tuple[str, ...]:
    """Return the classes or datatypes of most nodes, from an evenly spaced sample."""
    sample = ends[:: max(1, len(ends) // _SAMPLE_SIZE)]
    literals = [term_id for term_id in sample.tolist() if arrays.terms.is_literal(term_id)]
    if len(literals) * 2 > len(sample):
        types = Counter(split_literal(arrays.terms.get_text(term_id))[1] for term_id in literals)
        return tuple(iri for iri, _ in types.most_common(2))
    _, classes = arrays.get_edges(sample, kind)
    class_counts = [
        (arrays.terms.get_value(term_id), n)
        for term_id, n in Counter(classes.tolist()).most_common()
        if arrays.terms.is_iri(term_id)
    ]
    return select_common(class_counts, len(sample), profile)


def _iterate_inverse_lines(profile: Profile, cls: str, instances: int) -> Iterator[ShapeLine]:
    """Yield the lines of incoming predicates, with sources from partitions, else predicates."""
    sources: dict[str, Counter[str]] = {}
    for partition in profile.partitions:
        number = dict(partition.targets).get(cls)
        if number is not None:
            sources.setdefault(partition.predicate, Counter())[partition.cls] += number
    for p in profile.predicates:
        instance_count = min(instances, dict(p.object_classes).get(cls, 0))
        if not instance_count and p.iri not in sources:
            continue
        kinds = get_end_kinds(p, profile, inverse=True)
        if p.iri in sources:
            class_counts = sort_counts(sources[p.iri])
            kinds = select_common(class_counts, max(n for _, n in class_counts), profile)
        triple_count = instance_count if instance_count and p.triples <= p.objects else None
        yield ShapeLine(p.iri, triple_count, instance_count or None, kinds, inverse=True)


def _parse_count(term: Term | None) -> int:
    return int(term.value) if isinstance(term, Literal) and term.value.isdigit() else 0


def select_narrowest(types: Iterable[str], profile: Profile, *, limit: int = 2) -> tuple[str, ...]:
    """Return the most specific classes, the smallest first, without superclasses of others."""
    classes = {cls.iri: cls for cls in profile.classes}
    candidates = [iri for iri in dict.fromkeys(types) if not iri.startswith(SCHEMA_NAMESPACES)]
    superclasses = {
        parent
        for iri in candidates
        if iri in classes
        for parent in classes[iri].parents
        if parent != iri
    }
    specific = [iri for iri in candidates if iri not in superclasses] or candidates
    specific.sort(key=lambda iri: classes[iri].instances if iri in classes else 0)
    return tuple(specific[:limit]) or tuple(dict.fromkeys(types))[:1]


def select_common(
    class_counts: Sequence[tuple[str, int]], total: int, profile: Profile
) -> tuple[str, ...]:
    """Return the narrowest class of (nearly) all items, else the two most frequent classes.

    `class_counts` holds classes or datatypes with their numbers, out of a `total`.
    """
    specific_counts = [
        (iri, n) for iri, n in class_counts if not iri.startswith((v.RDFS, v.OWL, v.RDF))
    ]
    covering = [iri for iri, n in specific_counts if n >= 0.99 * total]
    if covering:
        return select_narrowest(covering, profile, limit=1)
    frequent = specific_counts[:3]
    parents = {cls.iri: cls.parents for cls in profile.classes}
    redundant = {
        iri
        for iri, n in frequent
        for candidate, m in frequent
        if iri in parents.get(candidate, ()) and iri != candidate and m >= 0.9 * n
    }
    return tuple(iri for iri, _ in frequent if iri not in redundant)[:2]


def get_end_kinds(p: PredicateProfile, profile: Profile, *, inverse: bool) -> tuple[str, ...]:
    """Return the classes or datatypes of a predicate's objects, or of its subjects if `inverse`."""
    if inverse:
        return select_common(p.subject_classes, p.subjects, profile)
    return _select_end_kinds((p.object_classes, p.objects), p.datatypes, profile)


def _select_end_kinds(
    classes: tuple[Counts, int], datatypes: Counts, profile: Profile
) -> tuple[str, ...]:
    class_counts, total = classes
    if class_counts and not datatypes:
        return select_common(class_counts, total, profile)
    return tuple(iri for iri, _ in (*datatypes, *class_counts))[:2]
