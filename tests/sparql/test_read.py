"""A query read into a tree and written again means the same."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode, Variable
from tests.each import for_each
from tests.sparql.same_algebra import meaning
from tests.sparql.test_layout import ENDINGS, EX, GROUPS

from askgraph.errors import QuerySyntaxError
from askgraph.sparql import Call, Filter, Pattern, variables_of
from askgraph.sparql import Path as PropertyPath
from askgraph.sparql.read import read
from askgraph.sparql.write import text_of

A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DATA = Path(os.environ.get("ASKGRAPH_DATA", "../shared/data"))


def test_the_order_of_writing_is_kept() -> None:
    query = read("SELECT ?b { ?a <x:p>+ ?b ; a <x:C> . FILTER(?b > 1 + 2 * 3 || !?c) }")
    first, second, last = query.where.elements
    assert first == Pattern(Variable("a"), PropertyPath("+", (NamedNode("x:p"),)), Variable("b"))
    assert isinstance(second, Pattern)
    assert isinstance(last, Filter)
    assert isinstance(last.condition, Call)
    assert last.condition.name == "||"
    assert text_of(last) == "FILTER((?b > (1 + (2 * 3))) || !(?c))"
    assert [name.value for name in variables_of(query)] == ["b"]


@for_each(
    ("query", "written"),
    [
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
    ],
)
def test_what_may_be_left_out_and_what_stands_after_the_group_is_read(
    query: str, written: str
) -> None:
    assert text_of(read(query)) == written
    assert text_of(read(written)) == written


def test_escapes_and_unknown_prefixes_are_resolved() -> None:
    query = read(r"PREFIX e: <http://x/> SELECT * { e:a\#b no:such 'it''s' }".replace("''", "\\'"))
    assert query.where.elements[0] == Pattern(
        NamedNode("http://x/a#b"), NamedNode("no:such"), Literal("it's")
    )


def test_blank_nodes_and_collections_become_variables() -> None:
    query = read("SELECT * { [ <x:p> 1 ] <x:q> (2 _:b) }")
    assert len(query.where.elements) == 6
    assert all(name.value.startswith("__") for name in variables_of(query.where))


@for_each("next", ["{ ?a <x:q> ?c }", "BIND(1 AS ?c)", "FILTER(?b > 1)", ". ?b ?c ?d"])
def test_a_semicolon_may_end_what_is_said_of_a_thing(next: str) -> None:
    assert read(f"ASK {{ ?a <x:p> ?b ; {next} }}") == read(f"ASK {{ ?a <x:p> ?b . {next} }}")


@for_each("text", ["", "hello", "SELECT ?x", "DELETE WHERE { ?s ?p ?o }", "ASK {"])
def test_what_is_no_query_is_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError):
        read(text)


@settings(max_examples=100, deadline=None)
@given(GROUPS.filter(lambda body: "[" not in body), ENDINGS)
def test_a_query_read_and_written_means_the_same(body: str, ending: str) -> None:
    head = "select ?x" if "group" in ending else "select distinct ?x ?y"
    query = f"{head} {{ {body} }} {ending}"
    query = EX.header(query) + query
    text = text_of(read(query))
    assert text_of(read(text)) == text
    if "values ?x" not in ending:
        assert meaning(text) == meaning(query)


@pytest.mark.data
@pytest.mark.parametrize("folder", ["supply-kgrep", "spider4sparql"])
def test_gold_queries_are_read(folder: str) -> None:
    path = DATA / folder / "questions.jsonl"
    if not path.exists():
        pytest.skip(f"needs the benchmark data: {path} is not there")
    for line in path.read_text(encoding="utf-8").splitlines():
        query = json.loads(line)["sparql"]
        text = text_of(read(query))
        assert text_of(read(text)) == text
