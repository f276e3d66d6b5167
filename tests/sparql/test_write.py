"""Trees are written as a careful person writes them, and read back they are the same."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode, Variable
from tests.sparql.same_algebra import meaning
from tests.sparql.test_layout import ENDINGS, EX, GROUPS

from askgraph.sparql import Call, Filter, Group, Pattern, Query
from askgraph.sparql.layout import formatted
from askgraph.sparql.read import read
from askgraph.sparql.vocabulary import XSD_INTEGER
from askgraph.sparql.write import by_subject, laid_out, text_of, tree_of

X, MOON = Variable("x"), NamedNode("http://example.org/Moon")


def test_a_tree_is_laid_out_without_being_read_from_a_text() -> None:
    radius = NamedNode("http://example.org/radius")
    minus = Literal("-5", datatype=NamedNode(XSD_INTEGER))
    either = Call("||", (Call(">", (X, minus)), Call("&&", (X, Call("!", (X,))))))
    query = Query(
        "SELECT",
        Group((Pattern(X, radius, MOON), Pattern(X, radius, MOON), Filter(either))),
        columns=((X, None), (Variable("n"), Call("COUNT DISTINCT", (X,)))),
        order=((Call("COUNT", ()), False),),
        limit=3,
    )
    assert laid_out(query, EX, {"http://example.org/radius": "mean width"}) == (
        "PREFIX ex: <http://example.org/>\n"
        "SELECT ?x (COUNT(DISTINCT ?x) AS ?n) WHERE {\n"
        "  ?x ex:radius ex:Moon .  # mean width\n"
        "  FILTER(?x > -5 || (?x && !?x))\n"
        "}\n"
        "ORDER BY ASC(COUNT(*))\n"
        "LIMIT 3"
    )


def test_a_text_carries_its_tree_and_a_copy_is_mere_text() -> None:
    query = read("SELECT ?x { ?x a ?y . ?z a ?x . ?x a ?y }")
    text = laid_out(query, EX)

    assert tree_of(text) == read(text) == by_subject(query)
    assert text_of(query).tree is query
    assert [type(one) for one in (copy.copy(text), pickle.loads(pickle.dumps(text)))] == [str, str]


@pytest.mark.parametrize(
    "text",
    [
        "ASK {\n  ?s ex:a/^ex:b|!(ex:c|^a) ?o ;\n      (ex:a/ex:b)+ 2.5 .\n}",
        "SELECT * WHERE {\n  BIND(?a - (?b - 1) * 2 AS ?c)\n}",
        "ASK {\n  FILTER((?a = 1) = (?b IN (1, 2)))\n  FILTER(-(1) < ?a && !(!?b) && !(!(2)))\n}",
        "SELECT * WHERE {\n  FILTER NOT EXISTS { ?s ex:a ?o . }\n  MINUS { ?s ex:b ?o . }\n}",
        "DESCRIBE * WHERE {\n  ?s a ex:C .\n}",
    ],
)
def test_what_is_laid_out_stays_as_it_is(text: str) -> None:
    query = EX.header(text) + text
    assert laid_out(read(query), EX) == formatted(query, EX, {}) == query


@settings(max_examples=50, deadline=None)
@given(GROUPS.filter(lambda body: "[" not in body), ENDINGS)
def test_a_tree_laid_out_and_read_again_means_the_same(body: str, ending: str) -> None:
    head = "select ?x" if "group" in ending else "select distinct ?x ?y"
    query = f"{head} {{ {body} }} {ending}"
    query = EX.header(query) + query
    tree = read(query)
    out = laid_out(tree, EX, {"http://example.org/a": "some label"})
    assert laid_out(read(out), EX, {"http://example.org/a": "some label"}) == out
    assert text_of(read(text_of(tree))) == text_of(tree)
    if "values ?x" not in ending:
        assert meaning(out) == meaning(query)
