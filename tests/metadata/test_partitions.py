"""Partitions counted from arrays are those that SPARQL counts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Store

from askgraph.metadata import Partition
from askgraph.metadata.partitions import partitions_of
from askgraph.rdf import vocabulary as v
from askgraph.sample import graph_path
from askgraph.traversal.build import build_arrays

COUNTS = """SELECT ?c ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to)
{ ?s a ?c ; ?p ?o FILTER(isIRI(?c)) } GROUP BY ?c ?p"""
TARGETS = """SELECT ?c ?p ?t (COUNT(*) AS ?n)
{ ?s a ?c ; ?p ?o FILTER(isIRI(?c) && isIRI(?o)) OPTIONAL { ?o a ?t } } GROUP BY ?c ?p ?t"""
DATATYPES = """SELECT ?c ?p ?t (COUNT(*) AS ?n)
{ ?s a ?c ; ?p ?o FILTER(isLiteral(?o)) BIND(DATATYPE(?o) AS ?t) } GROUP BY ?c ?p ?t"""


def counted(store: Store) -> list[Partition]:
    """The partitions as SPARQL counts them."""
    ends: dict[str, dict[tuple[str, str], Counter[str]]] = {TARGETS: {}, DATATYPES: {}}
    for query, found in ends.items():
        for cls, predicate, end, number in store.query(query):  # type: ignore[union-attr]
            counts = found.setdefault((cls.value, predicate.value), Counter())
            counts[end.value if end else v.RDFS_RESOURCE] += int(number.value)
    partitions = []
    for cls, predicate, *numbers in store.query(COUNTS):  # type: ignore[union-attr]
        key = (cls.value, predicate.value)
        sides = (sorted(ends[q].get(key, {}).items(), key=order) for q in (TARGETS, DATATYPES))
        targets, datatypes = map(tuple, sides)
        triples, subjects, objects = (int(number.value) for number in numbers)
        partitions.append(Partition(*key, triples, subjects, objects, targets, datatypes))
    return sorted(partitions, key=lambda one: (one.cls, one.predicate))


def order(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def test_the_partitions_of_the_sample_graph_are_those_that_sparql_counts() -> None:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    assert list(partitions_of(build_arrays(store))) == counted(store)


NODES = st.integers(0, 5).map(lambda n: NamedNode(f"http://x/{n}"))
CLASSES = st.integers(0, 3).map(lambda n: NamedNode(f"http://c/{n}"))
PREDICATES = st.integers(0, 2).map(lambda n: NamedNode(f"http://p/{n}"))
VALUES = st.sampled_from([Literal(1), Literal("a"), Literal("a", language="en"), Literal(1.5)])
TYPES = st.builds(lambda s, c: Quad(s, NamedNode(v.RDF_TYPE), c), NODES, CLASSES)


@given(st.lists(TYPES | st.builds(Quad, NODES, PREDICATES, NODES | VALUES), max_size=40))
def test_things_of_several_classes_count_for_each(quads: list[Quad]) -> None:
    store = Store()
    store.extend(quads)
    assert list(partitions_of(build_arrays(store))) == counted(store)


@pytest.mark.parametrize("text", ["", "<http://x/a> <http://x/b> 1 ."])
def test_a_graph_without_classes_has_no_partitions(text: str) -> None:
    store = Store()
    store.load(text.encode(), RdfFormat.TURTLE)
    assert partitions_of(build_arrays(store)) == ()
