"""Prefixes that a gold query leaves open."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode, Variable
from tests.each import for_each
from tests.sparql.same_algebra import meaning
from tests.sparql.test_layout import ENDINGS, EX, GROUPS

from askgraph import sparql as ast
from askgraph.sparql.lexer import declare_prefixes, split_tokens, tokenize
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.rewrite import lay_out_query
from askgraph.sparql.serializer import format_tree, to_text, to_tree
from askgraph.sparql.vocabulary import XSD_INTEGER

KNOWN = {"ex": "http://example.org/", "other": "http://example.com/"}


def test_open_prefixes_outside_strings_and_iris_are_declared_if_they_are_known() -> None:
    query = 'PREFIX a: <http://a/> SELECT * { ?s a:b ex:c ; :d "no:text" ; <urn:no:name> ex:e }'
    own = "prefix ex: <http://else/> SELECT * { ?s ex:c 1 }"

    assert tuple(tokenize(query).undeclared_prefixes) == ("ex", "")
    assert declare_prefixes(query, KNOWN) == f"PREFIX ex: <http://example.org/>\n{query}"
    assert declare_prefixes(own, KNOWN) == own


def test_a_text_is_cut_into_tokens_once() -> None:
    query = 'SELECT * { ?s ex:c "d"@en-GB, :e # ex:f\n }'

    assert tokenize(query) is tokenize(query)
    assert tokenize(query).all_tokens == tuple(split_tokens(query))


def test_names_end_where_the_grammar_ends_them_and_long_gaps_are_no_tokens() -> None:
    query = "a:b..c. :x%41.-\\-d.." + " " * 50 + "\n" * 9 + "::.: a:-b e.f:g"

    assert [token.text for token in split_tokens(query)] == (
        ["a:b..c", ".", ":x%41.-\\-d", ".", ".", "::.:", "a:", "-", "b", "e.f:g"]
    )
    assert [token.start for token in split_tokens(query)][5] == query.index("::.:")


QUERY = parse_tree("SELECT ?a { ?a <x:p> ?b SERVICE <x:s> { ?b <x:q> <x:c> } FILTER(?b > 1) }")


def test_all_nodes_and_terms_are_walked_in_order() -> None:
    names = [str(node) for node in ast.walk(QUERY.where) if isinstance(node, NamedNode | Variable)]
    assert names == ["?a", "<x:p>", "?b", "?b", "<x:q>", "<x:c>", "<x:s>", "?b"]


def test_a_walk_stays_out_of_what_it_may_not_enter() -> None:
    found = ast.walk(
        QUERY, into=lambda node: () if isinstance(node, ast.Nested) else ast.get_children(node)
    )
    assert [node for node in found if isinstance(node, ast.Pattern)] == [QUERY.where.elements[0]]


def test_an_element_may_become_none_or_several() -> None:
    def change(node: object) -> object:
        if isinstance(node, ast.Filter):
            return ()
        return (node, node) if isinstance(node, ast.Pattern) else node

    changed = ast.transform(QUERY, change, enter=lambda node: not isinstance(node, ast.Nested))
    assert to_text(changed.where) == (
        "{ ?a <x:p> ?b . ?a <x:p> ?b . SERVICE <x:s> { ?b <x:q> <x:c> . } }"
    )


def test_what_does_not_change_is_the_same_object() -> None:
    assert ast.transform(QUERY, lambda node: node) is QUERY


X, MOON = Variable("x"), NamedNode("http://example.org/Moon")


def test_a_tree_is_laid_out_without_being_read_from_a_text() -> None:
    radius = NamedNode("http://example.org/radius")
    minus = Literal("-5", datatype=NamedNode(XSD_INTEGER))
    either = ast.Call("||", (ast.Call(">", (X, minus)), ast.Call("&&", (X, ast.Call("!", (X,))))))
    query = ast.Query(
        "SELECT",
        ast.Group((ast.Pattern(X, radius, MOON), ast.Pattern(X, radius, MOON), ast.Filter(either))),
        columns=((X, None), (Variable("n"), ast.Call("COUNT DISTINCT", (X,)))),
        order=((ast.Call("COUNT", ()), False),),
        limit=3,
    )
    assert format_tree(query, EX, {"http://example.org/radius": "mean width"}) == (
        "PREFIX ex: <http://example.org/>\n"
        "SELECT ?x (COUNT(DISTINCT ?x) AS ?n) WHERE {\n"
        "  ?x ex:radius ex:Moon .  # mean width\n"
        "  FILTER(?x > -5 || (?x && !?x))\n"
        "}\n"
        "ORDER BY ASC(COUNT(*))\n"
        "LIMIT 3"
    )


def test_a_text_carries_its_tree_and_a_copy_is_mere_text() -> None:
    query = parse_tree("SELECT ?x { ?x a ?y . ?z a ?x . ?x a ?y }")
    text = format_tree(query, EX)

    assert to_tree(text) == parse_tree(text) == ast.group_patterns_by_subject(query)
    assert to_text(query).tree is query
    assert [type(one) for one in (copy.copy(text), pickle.loads(pickle.dumps(text)))] == [str, str]


@for_each(
    "text",
    "ASK {\n  ?s ex:a/^ex:b|!(ex:c|^a) ?o ;\n      (ex:a/ex:b)+ 2.5 .\n}",
    "SELECT * WHERE {\n  BIND(?a - (?b - 1) * 2 AS ?c)\n}",
    "ASK {\n  FILTER((?a = 1) = (?b IN (1, 2)))\n  FILTER(-(1) < ?a && !(!?b) && !(!(2)))\n}",
    "SELECT * WHERE {\n  FILTER NOT EXISTS { ?s ex:a ?o . }\n  MINUS { ?s ex:b ?o . }\n}",
    "DESCRIBE * WHERE {\n  ?s a ex:C .\n}",
)
def test_what_is_laid_out_stays_as_it_is(text: str) -> None:
    query = EX.build_header(text) + text
    assert format_tree(parse_tree(query), EX) == lay_out_query(query, EX, {}) == query


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(GROUPS.filter(lambda body: "[" not in body), ENDINGS)
def test_a_tree_laid_out_and_read_again_means_the_same(body: str, ending: str) -> None:
    head = "select ?x" if "group" in ending else "select distinct ?x ?y"
    query = f"{head} {{ {body} }} {ending}"
    query = EX.build_header(query) + query
    tree = parse_tree(query)
    out = format_tree(tree, EX, {"http://example.org/a": "some label"})
    assert format_tree(parse_tree(out), EX, {"http://example.org/a": "some label"}) == out
    assert to_text(parse_tree(to_text(tree))) == to_text(tree)
    if "values ?x" not in ending:
        assert meaning(out) == meaning(query)
