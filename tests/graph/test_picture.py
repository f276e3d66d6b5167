"""The picture of a graph: which classes are in it, and which predicate links two of them."""

from tests.graphs import store_of

from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.profile import (
    ClassProfile,
    PredicateProfile,
    Profile,
    build_schema_diagram,
    select_largest_classes,
)
from askgraph.sparql import vocabulary as v

E = "http://example.org/"
HEAD = f"@prefix : <{E}> . @prefix owl: <{v.OWL}> . @prefix rdfs: <{v.RDFS}> .\n"


def profile(turtle: str) -> Profile:
    return build_profile(build_arrays(store_of(HEAD + turtle)))


def named(classes: list[ClassProfile]) -> list[str]:
    return [one.iri.removeprefix(E) for one in classes]


def test_two_classes_are_linked_by_the_predicate_that_does_so_most() -> None:
    found = build_schema_diagram(
        profile(""":Cat a owl:Class . :a a :Cat ; :eats :x, :y ; :likes :x . :b a :Cat ; :likes :a .
        :x a :Fish . :y a :Fish ; :fears :a .""")
    )
    assert named(list(found.classes)) == ["Cat", "Fish"]
    links = [(one.source, one.predicate, one.target, one.triples) for one in found.links]
    assert links == [(E + "Cat", E + "eats", E + "Fish", 2), (E + "Cat", E + "likes", E + "Cat", 1)]


def test_a_class_is_left_out_of_which_a_few_others_say_all() -> None:
    both = ":Cat rdfs:subClassOf :Pet . :Dog rdfs:subClassOf :Pet . :a a :Cat, :Pet . "
    both += ":b a :Dog, :Pet ."
    assert named(select_largest_classes(profile(both))) == ["Cat", "Dog"]
    assert named(select_largest_classes(profile(both + " :c a :Pet . :d a :Pet .")))[0] == "Pet"
    many = "".join(f":P{n} rdfs:subClassOf :Pet . :a{n} a :P{n}, :Pet . " for n in range(9))
    assert named(select_largest_classes(profile(many)))[0] == "Pet"


def test_only_so_many_classes_and_links_are_drawn_largest_first() -> None:
    turtle = "".join(
        f":c{n}x{at} a :C{n} ; :p{n} :c{(n + 1) % 5}x0 . " for n in range(5) for at in range(n + 1)
    )
    found = build_schema_diagram(profile(turtle), classes=3, links=1)
    assert named(list(found.classes)) == ["C4", "C3", "C2"]
    assert [one.predicate for one in found.links] == [E + "p3"]


def test_without_partitions_the_ends_of_predicates_are_linked() -> None:
    classes = (ClassProfile(E + "Cat", 9), ClassProfile(E + "Fish", 5))
    cats, fish = ((E + "Cat", 7),), ((E + "Fish", 7),)
    eats = PredicateProfile(E + "eats", 7, 5, 5, subject_classes=cats, object_classes=fish)
    found = build_schema_diagram(Profile(20, classes, (eats,)))
    assert [(one.source, one.target, one.triples) for one in found.links] == [
        (E + "Cat", E + "Fish", 7)
    ]
