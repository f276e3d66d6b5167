"""Facts of a few nodes at once: their classes, the predicates that meet there, and their variants.

From the arrays if the triples lie here, else by one query for all of them. Predicates that are one
property (`graph.profile.variants`) are told under the one that leads straight to the values.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from pyoxigraph import Literal, NamedNode

from askgraph.errors import ErrorReply, MalformedReply, TimedOut
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.names import code_of, same_property, variants_in
from askgraph.graph.profile import PredicateProfile, Profile
from askgraph.methods.tools import Context
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Term

_TYPES = 20  # classes of one node that are looked at
_EDGES = 5_000  # of all nodes together, each way
_TRIED = (TimedOut, ErrorReply, MalformedReply)


@dataclass(frozen=True)
class Meeting:
    """A predicate at a node, the number of its edges there, and whether they come in."""

    predicate: str
    count: int
    inverse: bool = False


@dataclass(frozen=True)
class Facts:
    """By N-Triples text: classes and predicates; `trouble` says what could not be asked."""

    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meetings: Mapping[str, tuple[Meeting, ...]] = field(default_factory=dict)
    trouble: str = ""


async def facts_of(context: Context, nodes: Sequence[Term]) -> Facts:
    """Return the classes and predicates of IRIs and literals; blank nodes are passed over.

    A remote graph that does not answer costs the facts, not the search: `trouble` says so.
    """
    wanted = tuple(
        dict.fromkeys(str(node) for node in nodes if isinstance(node, NamedNode | Literal))
    )
    if not wanted:
        return Facts()
    if context.graph.arrays is not None:
        return await asyncio.to_thread(_known, context.graph.arrays, wanted)
    try:
        result = await context.graph.endpoint.select(
            _question(wanted), timeout=context.limits.timeout, limit=4 * _EDGES
        )
    except _TRIED as problem:
        return Facts(trouble=f"classes and properties of these could not be asked: {problem}")
    types: dict[str, list[str]] = defaultdict(list)
    meetings: dict[str, list[Meeting]] = defaultdict(list)
    for node, cls, predicate, count, way in result.rows:
        if isinstance(cls, NamedNode):
            types[str(node)].append(cls.value)
        elif isinstance(predicate, NamedNode):
            meeting = Meeting(predicate.value, numbered(count), numbered(way) == 1)
            meetings[str(node)].append(meeting)
    return Facts(
        {node: tuple(listed) for node, listed in types.items()},
        {node: tuple(listed) for node, listed in meetings.items()},
    )


def numbered(term: Term | None) -> int:
    """Return the whole number that a literal is, 0 for anything else."""
    return int(term.value) if isinstance(term, Literal) and term.value.isdigit() else 0


def own_types(arrays: GraphArrays, node: str) -> tuple[str, ...]:
    """Return the classes of a node, which is given as N-Triples text."""
    kind, at = arrays.number(v.RDF_TYPE), arrays.terms.find(node)
    if kind is None or at is None:
        return ()
    found = arrays.step(np.array([at], dtype=np.int32), kind).tolist()
    return tuple(arrays.terms.value(one) for one in found if arrays.terms.is_iri(one))


def _known(arrays: GraphArrays, nodes: Sequence[str]) -> Facts:
    types: dict[str, tuple[str, ...]] = {}
    meetings: dict[str, tuple[Meeting, ...]] = {}
    for node in nodes:
        at = arrays.terms.find(node)
        if at is None:
            continue
        here = np.array([at], dtype=np.int32)
        types[node] = own_types(arrays, node)
        meetings[node] = tuple(_meetings(arrays, here))
    return Facts(types, meetings)


def _meetings(arrays: GraphArrays, here: np.ndarray) -> Iterator[Meeting]:
    for inverse in (False, True):
        numbers, _ = arrays.predicates_of(here, inverse=inverse)
        for number in numbers.tolist():
            edges = len(arrays.pairs(here, number, inverse=inverse)[0])
            yield Meeting(arrays.iri_of(number), edges, inverse)


def _question(nodes: Sequence[str]) -> str:
    """One query: classes, what leaves the nodes, and some of what comes in."""
    values = f"VALUES ?x {{ {' '.join(nodes)} }}"
    iris = [node for node in nodes if node.startswith("<")]
    leaving = f"VALUES ?x {{ {' '.join(iris)} }}"
    parts = [
        f"{{ SELECT ?x ?p (COUNT(*) AS ?n) (1 AS ?way) {{ {{ SELECT ?x ?p {{ {values} ?s ?p ?x }} "
        f"LIMIT {_EDGES} }} }} GROUP BY ?x ?p }}"
    ]
    if iris:
        parts += [
            f"{{ SELECT ?x ?c {{ {leaving} ?x <{v.RDF_TYPE}> ?c }} LIMIT {_TYPES * len(iris)} }}",
            f"{{ SELECT ?x ?p (COUNT(*) AS ?n) (0 AS ?way) {{ {{ SELECT ?x ?p {{ {leaving} "
            f"?x ?p ?o }} LIMIT {_EDGES} }} }} GROUP BY ?x ?p }}",
        ]
    return f"SELECT ?x ?c ?p ?n ?way WHERE {{ {' UNION '.join(parts)} }} LIMIT {4 * _EDGES}"


@dataclass(frozen=True)
class Variants:
    """The properties of a graph that it writes as several predicates, by its profile."""

    profile: Profile

    @cached_property
    def known(self) -> Mapping[str, PredicateProfile]:
        """What the profile tells of each predicate."""
        return {p.iri: p for p in self.profile.predicates}

    def grouped(self, iris: Iterable[str]) -> list[tuple[str, ...]]:
        """Return predicates in groups, each of one property, in the order of their firsts.

        Within a group the most direct one comes first.
        """
        return [self._in_order(group) for group in same_property(iris)]

    def of(self, iris: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return all variants of some predicates, by what they share, the most direct one first."""
        codes = {key for iri in iris if (key := code_of(iri)) is not None}
        endings = tuple(code for _, code in codes)
        alike = variants_in(iri for iri in self.known if iri.endswith(endings))
        return {key: self._in_order(group) for key, group in alike.items() if key in codes}

    def _in_order(self, iris: Sequence[str]) -> tuple[str, ...]:
        return tuple(iris) if len(iris) == 1 else tuple(sorted(iris, key=self._rank))

    def _rank(self, iri: str) -> tuple[int, float, bool, int, int, str]:
        """The order of variants.

        If statements are nodes, those have no label, and a predicate leads to each of them
        once; its direct variant leads to the values, which many share.
        """
        p = self.known.get(iri)
        if p is None:
            return 0, 1.0, True, 0, len(iri), iri
        plain = self._plain(p.subject_classes) + (p.literal or self._plain(p.object_classes))
        own = p.objects / max(1, p.triples)
        return -plain, own, not p.literal, -p.triples, len(iri), iri

    def _plain(self, ends: Sequence[tuple[str, int]]) -> bool:
        return any(iri not in self._nameless for iri, _ in ends)

    @cached_property
    def _nameless(self) -> frozenset[str]:
        """The classes whose instances have no label, as nodes for statements have none."""
        classes = self.profile.classes
        return frozenset(c.iri for c in classes if c.nary or c.name_predicate is None)
