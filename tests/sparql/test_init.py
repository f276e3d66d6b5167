"""A tree is walked in the order written, and changed from the inside out."""

from pyoxigraph import NamedNode, Variable

from askgraph.sparql import Filter, Nested, Pattern, children, transform, walk
from askgraph.sparql.parser import read
from askgraph.sparql.write import text_of

QUERY = read("SELECT ?a { ?a <x:p> ?b SERVICE <x:s> { ?b <x:q> <x:c> } FILTER(?b > 1) }")


def test_all_nodes_and_terms_are_walked_in_order() -> None:
    names = [str(node) for node in walk(QUERY.where) if isinstance(node, NamedNode | Variable)]
    assert names == ["?a", "<x:p>", "?b", "?b", "<x:q>", "<x:c>", "<x:s>", "?b"]


def test_a_walk_stays_out_of_what_it_may_not_enter() -> None:
    found = walk(QUERY, into=lambda node: () if isinstance(node, Nested) else children(node))
    assert [node for node in found if isinstance(node, Pattern)] == [QUERY.where.elements[0]]


def test_an_element_may_become_none_or_several() -> None:
    def change(node: object) -> object:
        if isinstance(node, Filter):
            return ()
        return (node, node) if isinstance(node, Pattern) else node

    changed = transform(QUERY, change, enter=lambda node: not isinstance(node, Nested))
    assert text_of(changed.where) == (
        "{ ?a <x:p> ?b . ?a <x:p> ?b . SERVICE <x:s> { ?b <x:q> <x:c> . } }"
    )


def test_what_does_not_change_is_the_same_object() -> None:
    assert transform(QUERY, lambda node: node) is QUERY
