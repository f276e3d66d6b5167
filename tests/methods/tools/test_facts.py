"""Of predicates that are one property, the one that leads straight to values comes first."""

import pytest
from tests.graphs import store_of

from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import profile_of
from askgraph.methods.tools._facts import Variants

HEAD = """
@prefix : <http://example.org/thing/> .
@prefix d: <http://example.org/prop/direct/> .
@prefix p: <http://example.org/prop/> .
@prefix s: <http://example.org/prop/statement/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
SHARED = """
:a d:P1 :x ; p:P1 :s1 . :s1 s:P1 :x . :b d:P1 :x ; p:P1 :s2 . :s2 s:P1 :x .
"""
OF_CLASSES = """
:a a :City ; rdfs:label "a" ; d:P1 :x ; p:P1 :s1 . :s1 a :Statement ; s:P1 :x .
:b a :City ; rdfs:label "b" ; d:P1 :y ; p:P1 :s2 . :s2 a :Statement ; s:P1 :y .
:x a :Land ; rdfs:label "x" . :y a :Land ; rdfs:label "y" .
"""
VALUES = """
:a d:P1 "1" ; p:P1 :s1 . :s1 s:P1 "1" . :b d:P1 "2" ; p:P1 :s2 . :s2 s:P1 "2" .
"""


def variants(turtle: str) -> Variants:
    store = store_of(HEAD + turtle)
    return Variants(profile_of(build_arrays(store)))


@pytest.mark.parametrize("turtle", [SHARED, OF_CLASSES])
def test_the_direct_one_comes_first(turtle: str) -> None:
    base = "http://example.org/prop/"
    (group,) = variants(turtle).grouped([f"{base}P1", f"{base}statement/P1", f"{base}direct/P1"])

    assert group[0] == f"{base}direct/P1" and len(group) == 3


def test_one_that_leads_to_values_comes_before_one_that_leads_to_nodes() -> None:
    base = "http://example.org/prop/"
    (group,) = variants(VALUES).grouped([f"{base}P1", f"{base}direct/P1"])

    assert group[0] == f"{base}direct/P1"


def test_all_variants_of_a_predicate_are_found_by_any_of_them() -> None:
    found = variants(SHARED).of(["http://example.org/prop/statement/P1"])

    assert [len(group) for group in found.values()] == [3]


def test_a_word_in_two_namespaces_is_two_properties() -> None:
    iris = ["http://example.org/prop/name", "http://example.org/prop/direct/name"]

    assert variants(SHARED).grouped(iris) == [(iris[0],), (iris[1],)]
