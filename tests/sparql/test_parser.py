"""A query parsed into a tree and written again means the same, and each node knows its place."""

import re
from typing import TypeVar

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode, Variable
from tests.each import for_each
from tests.sparql.test_layout import ENDINGS, EX, GROUPS

from askgraph import sparql as ast
from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql.parser import parse_query, parse_tree
from askgraph.sparql.serializer import to_text

Node = TypeVar("Node")
A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def test_the_order_of_writing_is_kept() -> None:
    query = parse_tree("SELECT ?b { ?a <x:p>+ ?b ; a <x:C> . FILTER(?b > 1 + 2 * 3 || !?c) }")
    first, second, last = query.where.elements
    assert first == ast.Pattern(
        Variable("a"), PropertyPath("+", (NamedNode("x:p"),)), Variable("b")
    )
    assert isinstance(second, ast.Pattern)
    assert isinstance(last, ast.Filter)
    assert isinstance(last.condition, ast.Call)
    assert last.condition.name == "||"
    assert to_text(last) == "FILTER((?b > (1 + (2 * 3))) || !(?c))"
    assert [name.value for name in ast.find_variables(query)] == ["b"]


@for_each(
    ("query", "written"),
    (
        "SELECT * { [ <x:p> 1 ] FILTER(?a) [ <x:p> 2 ; ] { ?b ?c ?d } }",
        "SELECT * WHERE { ?__1 <x:p> 1 . FILTER(?a) ?__2 <x:p> 2 . { ?b ?c ?d . } }",
    ),
    ("DESCRIBE <x:a> ?b LIMIT 1", "DESCRIBE <x:a> ?b WHERE {  } LIMIT 1"),
    ("SELECT * { ?a !^<x:p>? ?b }", "SELECT * WHERE { ?a (!(^<x:p>))? ?b . }"),
    ("SELECT * { ?a !(<x:p>|^a)+ ?b }", f"SELECT * WHERE {{ ?a (!(<x:p>|^{A}))+ ?b . }}"),
    (
        "SELECT * { ?a <x:p> ?b FILTER(BOUND(?c)) } VALUES ?c { 1 }",
        "SELECT * WHERE { { ?a <x:p> ?b . FILTER(BOUND(?c)) } VALUES (?c) { (1) } }",
    ),
    (
        "SELECT (COUNT(*) AS ?n) { ?a ?b ?c } LIMIT 5 VALUES ?d { 1 2 }",
        "SELECT ?n WHERE { { SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . } }"
        " VALUES (?d) { (1) (2) } } LIMIT 5",
    ),
    (
        "SELECT ?a { ?a ?b ?c } GROUP BY ?a HAVING (?a) (MAX(?c) > 1)",
        "SELECT ?a WHERE { ?a ?b ?c . } GROUP BY ?a HAVING (?a) (MAX(?c) > 1)",
    ),
)
def test_what_may_be_left_out_and_what_follows_the_group_is_read(query: str, written: str) -> None:
    assert to_text(parse_tree(query)) == written
    assert to_text(parse_tree(written)) == written


def test_escapes_and_unknown_prefixes_are_resolved() -> None:
    query = parse_tree(
        r"PREFIX e: <http://x/> SELECT * { e:a\#b no:such 'it''s' }".replace("''", "\\'")
    )
    assert query.where.elements[0] == ast.Pattern(
        NamedNode("http://x/a#b"), NamedNode("no:such"), Literal("it's")
    )


def test_blank_nodes_and_collections_become_variables() -> None:
    query = parse_tree("SELECT * { [ <x:p> 1 ] <x:q> (2 _:b) }")
    assert len(query.where.elements) == 6
    assert all(name.value.startswith("__") for name in ast.find_variables(query.where))


@for_each("next", ["{ ?a <x:q> ?c }", "BIND(1 AS ?c)", "FILTER(?b > 1)", ". ?b ?c ?d"])
def test_a_semicolon_may_end_what_is_said_of_a_thing(next: str) -> None:
    ended = next.removeprefix(". ")
    assert parse_tree(f"ASK {{ ?a <x:p> ?b ; {next} }}") == parse_tree(
        f"ASK {{ ?a <x:p> ?b . {ended} }}"
    )


@for_each("text", ["", "hello", "SELECT ?x", "DELETE WHERE { ?s ?p ?o }", "ASK {"])
def test_what_is_no_query_is_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError):
        parse_tree(text)


@settings(max_examples=100, deadline=None)
@given(GROUPS, ENDINGS)
def test_a_tree_written_as_text_is_parsed_into_the_same_tree(body: str, ending: str) -> None:
    head = "select reduced ?x" if "group" in ending else "select distinct ?x (?y + 1 as ?z1)"
    tree = parse_query(EX.build_header("ex:a") + f"{head} {{ {body} }} {ending}").tree
    assert parse_query(to_text(tree)).tree == tree


@settings(max_examples=100, deadline=None)
@given(GROUPS)
def test_the_place_of_a_node_holds_a_text_of_that_node(body: str) -> None:
    text = EX.build_header("ex:a") + f"select * {{ {body} }}"
    for node in ast.walk(parse_query(text).tree.where):
        if not isinstance(
            node,
            ast.Call | PropertyPath | ast.Filter | ast.Bind | ast.Values | ast.Nested | ast.Union,
        ):
            continue
        assert node.span is not None
        found: object
        piece = text[slice(*node.span)]
        if "[" in piece or "_:" in piece:  # whose variables are numbered through the query
            continue
        match node:
            case ast.Call() if node.is_aggregate:
                continue
            case ast.Call():
                found = _first(f"SELECT (({piece}) AS ?new1) {{ }}", ast.Query).columns[0][1]
            case PropertyPath():
                found = _first(f"ASK {{ ?s {piece} ?o }}", ast.Pattern).predicate
            case _:
                found = _first(f"ASK {{ {piece} }}", ast.Query).where.elements[0]
        assert found == node


def _first(text: str, kind: type[Node]) -> Node:
    tree = parse_query(EX.build_header("ex:a") + text).tree
    return next(node for node in ast.walk(tree) if isinstance(node, kind))


CASTS = [f"xsd:{name}" for name in ("int", "long", "float", "dateTime", "date", "string", "gYear")]


@for_each("function", [*CASTS, "xsd:boolean", "<http://x.example/f>", "geof:distance"])
def test_casts_and_functions_by_an_iri_are_calls(function: str) -> None:
    query = parse_tree(f"ASK {{ ?s ?p ?o FILTER({function}(?o) > {function}(DISTINCT ?o, 1)) }}")
    condition = query.where.elements[1]
    assert isinstance(condition, ast.Filter)
    assert len(list(ast.find_calls(condition))) == 3


@for_each(
    ("query", "words"),
    ("ASK { ?s ?p }", "column 13: '}' was not expected here: expected a variable, an IRI or a"),
    ("ASK { ?s ?p ?o ?q }", "column 16: '?q' was not expected here: expected '.', ';', ','"),
    ("ASK { ?s ?p ?o . . }", "column 18: '.' was not expected"),
    ("ASK { ?s A ?o }", "column 10: 'A' was not expected here: expected a predicate"),
    ("ASK { FILTER ?x }", "column 14: '?x' was not expected here: expected '(' or a function"),
    ("ASK { FILTER(FOO(?x)) }", "'FOO' was not expected here: expected a function of SPARQL"),
    ("ASK { FILTER(SUBSTR(?x)) }", "column 14: SUBSTR takes 2 to 3 arguments, not 1"),
    ("ASK { FILTER(?a < ?b < ?c) }", "column 22: '<' was not expected here"),
    ("ASK { FILTER(BOUND(1)) }", "column 20: '1' was not expected here: expected a variable"),
    ("SELECT COUNT(?x) { ?x ?p 1 }", "'COUNT' was not expected here: expected a variable, '*'"),
    ("SELECT * { VALUES (?a ?b) { (1) } }", "a row of VALUES has 1 values for 2 variables"),
    ("CONSTRUCT { ?s <a:b>/<a:c> ?o } { }", "column 21: '/' was not expected here"),
    ("CONSTRUCT WHERE { FILTER(1) }", "column 19: 'FILTER' was not expected here"),
    ("SELECT * { } LIMIT 1 LIMIT 2", "'LIMIT' was not expected here: expected the end"),
    ("SELECT * { } LIMIT -1", "'-' was not expected here: expected a whole number"),
    ("SELECT * { { SELECT * FROM <a:b> { } } }", "column 23: FROM is not allowed here"),
    ("ASK { <b> ?p ?o }", "column 7: <b> is not a full IRI"),
    ("ASK " + "{" * 9_000 + "}" * 9_000, "nested too deeply"),
)
def test_what_is_wrong_is_named_with_its_place_and_what_is_right(query: str, words: str) -> None:
    with pytest.raises(QuerySyntaxError, match=re.escape(words)):
        parse_tree(query)


def test_a_sign_belongs_to_the_number_behind_it_only_where_no_operand_is_before() -> None:
    query = parse_tree("ASK { ?s <x:p> +1 ; <x:q>+ 2 . FILTER(?a -5 = - 5 + -5) }")
    assert to_text(query) == (
        'ASK WHERE { ?s <x:p> "+1"^^<http://www.w3.org/2001/XMLSchema#integer> . ?s <x:q>+ 2 .'
        " FILTER((?a - 5) = (-(5) + "
        '"-5"^^<http://www.w3.org/2001/XMLSchema#integer>)) }'
    )
