"""Predicates with one code are one property; names are told apart by their namespace."""

from askgraph.graph.names import code_of, same_property, variants_in

BASE = "http://example.org/prop/"


def test_a_code_in_several_namespaces_of_one_host_is_one_property() -> None:
    iris = [BASE + "direct/P3", BASE + "name", BASE + "statement/P3", BASE + "direct/P4"]
    assert same_property(iris) == [(iris[0], iris[2]), (iris[1],), (iris[3],)]


def test_names_that_can_be_read_are_never_put_together() -> None:
    iris = ["http://example.org/moon/radius", "http://example.org/planet/radius"]
    assert same_property(iris) == [(iris[0],), (iris[1],)]
    assert code_of(iris[0]) is None


def test_the_same_code_of_two_hosts_is_two_properties() -> None:
    iris = ["http://example.org/P3", "http://example.com/P3"]
    assert len(same_property(iris)) == 2


def test_variants_keep_the_order_given() -> None:
    iris = [BASE + "b/P3", BASE + "a/P3"]
    assert variants_in(iris) == {("example.org", "P3"): (iris[0], iris[1])}
