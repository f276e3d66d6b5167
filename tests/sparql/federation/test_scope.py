"""Where the parts of a group stand, and what they bind."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store

from askgraph.endpoint._joining import format_batches, format_values
from askgraph.errors import QueryError
from askgraph.graph.examples.shacl import read_shacl
from askgraph.sparql.federation import Part, VariableScope, get_span, split_group
from askgraph.sparql.federation.service import get_prologue, list_services
from askgraph.sparql.judge import admit_query
from askgraph.sparql.lexer import tokenize
from askgraph.sparql.parser import parse_query
from askgraph.sparql.results import Row

DATA = Path(os.environ.get("ASKGRAPH_DATA", Path(__file__).parents[3] / "shared" / "data"))
EXAMPLES = DATA / "sib-examples" / "examples.tar.gz"

QUERY = """PREFIX : <http://example.org/> SELECT ?a (COUNT(?b) AS ?n) FROM <a:g> FROM NAMED <a:h> {
  ?a :p ?b ; :q [ :r 5 ] . ?c ?d "}" . FILTER(?b > 1 && EXISTS { ?x :p ?a })
  OPTIONAL { ?b :s ?e } MINUS { ?b :t ?f } { ?g :p ?h } UNION { ?g :q ?i }
  VALUES (?j ?k) { (1 UNDEF) } VALUES ?l { 2 } BIND(?b + 1 AS ?m)
  GRAPH ?o { ?q :p ?r } SERVICE SILENT <a:b> { ?s :p ?t }
  { SELECT ?u (MAX(?v) AS ?w) { ?u :p ?v } GROUP BY ?u HAVING(EXISTS { ?u :p 1 }) LIMIT 3 }
} GROUP BY ?a ORDER BY ?n"""


def kind(part: Part) -> str:
    return "triples" if isinstance(part, tuple) else getattr(part, "word", type(part).__name__)


def test_each_part_has_its_place() -> None:
    where = parse_query(QUERY).tree.where
    written = [
        (kind(part), QUERY[slice(*get_span(part))].split()[0]) for part in split_group(where)
    ]
    assert written == [
        ("triples", "?a"), ("triples", "?c"), ("Filter", "FILTER(?b"), ("OPTIONAL", "OPTIONAL"),
        ("MINUS", "MINUS"), ("Union", "{"), ("Values", "VALUES"), ("Values", "VALUES"),
        ("Bind", "BIND(?b"), ("GRAPH", "GRAPH"), ("SERVICE", "SERVICE"), ("", "{"),
    ]  # fmt: skip
    assert QUERY[get_span(where)[1] :] == " GROUP BY ?a ORDER BY ?n"


def test_what_is_bound_for_sure_is_told_from_what_may_be() -> None:
    where, scope = parse_query(QUERY).tree.where, VariableScope(tokenize(QUERY).variable_names)
    assert "".join(sorted(scope.get_certain_variables(where))) == "abcdgloqru"
    assert "".join(scope.get_possible_variables(where)) == "abcdeghijklmoqrstuw"


@pytest.mark.data
@pytest.mark.skipif(not EXAMPLES.is_file(), reason=f"needs the benchmark data: {EXAMPLES}")
def test_the_variables_of_published_queries_are_those_that_oxigraph_sees() -> None:
    store, compared = Store(), 0
    for example in read_shacl(EXAMPLES).examples:
        if "SERVICE" in example.query.upper():
            continue  # Oxigraph would call it
        text = admit_query(example.query).text
        where = parse_query(text).tree.where
        if where.span is None:
            continue  # DESCRIBE <a>
        group = text[slice(*get_span(where))]
        try:
            solutions = store.query(f"{get_prologue(text)} SELECT * WHERE {group} LIMIT 0")
        except (SyntaxError, RuntimeError, ValueError):
            continue  # names and functions that Oxigraph does not know
        assert isinstance(solutions, QuerySolutions)
        possible = VariableScope(tokenize(text).variable_names).get_possible_variables(where)
        assert {one.value for one in solutions.variables} == set(possible), text
        compared += 1
    assert compared > 1_000


def test_addresses_are_named_in_order_and_none_twice() -> None:
    query = """PREFIX ex: <http://example.org/> # SERVICE <http://no/>
        SELECT * { SERVICE <http://b/> { ?s ?p "SERVICE <http://no/>" }
        SERVICE SILENT ex:a { ?s ?p ?o } SERVICE <http://b/> { ?a ?b ?c } SERVICE ?any { } }"""
    assert list_services(query) == ("http://b/", "http://example.org/a")


def test_a_query_without_services_calls_none() -> None:
    assert list_services("SELECT * { ?s ?p ?o }") == ()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TERMS = st.one_of(
    st.none(),
    st.builds(Literal, TEXT),
    st.builds(lambda text: Literal(text, language="en"), TEXT),
    st.builds(lambda text: Literal(text, datatype=NamedNode("a:type")), TEXT),
    st.sampled_from([NamedNode("http://example.org/ü"), Literal(5), Literal(0.5), Literal(True)]),
)
ROWS = st.lists(st.tuples(TERMS, TERMS), max_size=6)


def read(values: str) -> list[Row]:
    found = Store().query(f"SELECT ?a ?b WHERE {{ {values} }}")
    assert isinstance(found, QuerySolutions)
    return [tuple(row) for row in found]


@given(rows=ROWS)
def test_every_row_comes_back_as_often_as_it_was_given(rows: list[Row]) -> None:
    assert read(format_values(["a", "b"], rows)) == rows


@given(rows=ROWS, most=st.integers(1, 3))
def test_batches_hold_all_rows_in_turn(rows: list[Row], most: int) -> None:
    blocks = list(format_batches(["a", "b"], rows, max_rows=most, max_characters=40))
    assert [row for block in blocks for row in read(block)] == rows
    assert all(1 <= len(read(block)) <= most for block in blocks)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_solutions_without_variables_are_counted_too(count: int) -> None:
    assert len(read(format_values([], [()] * count))) == count


def test_a_blank_node_has_no_name_in_a_query() -> None:
    with pytest.raises(QueryError, match="cannot be named"):
        format_values(["a"], [(BlankNode("b"),)])
