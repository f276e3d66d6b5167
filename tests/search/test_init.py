"""Pieces of a candidate's query: made, found again, named, and the same tree as its text."""

from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph import sparql
from askgraph.search import query_pieces as pieces
from askgraph.sparql.elapsed import build_elapsed_time
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import format_tree, render_query
from askgraph.sparql.vocabulary import RDF_TYPE, XSD_DATE

EX = "http://example.org/"
PREFIXES = PrefixMap({"ex": EX})
A, B, C, D, E = map(pieces.get_variable, range(5))
MOON_CLASS = NamedNode(f"{EX}Moon")
BORN, MOON = pieces.build_pattern(A, f"{EX}born", B), pieces.build_pattern(A, RDF_TYPE, MOON_CLASS)
IO = NamedNode(f"{EX}Io")
DAY = pieces.parse_term(f'"2024-06-30"^^<{XSD_DATE}>')
NAMES = pieces.build_variable_names({A: "moon", B: "date of birth", C: "moon", D: "2 m²"})
COUNT = pieces.build_aggregate("COUNT", A)
AVERAGE = pieces.build_aggregate_query(C, [pieces.build_pattern(C, f"{EX}mass", D)], "AVG")

CONDITIONS = [
    pieces.ValueCondition(B, ">=", (DAY,)),
    pieces.ValueCondition(B, "YEAR", (Literal(1900),)),
    pieces.ValueCondition(B, "IN", (Literal('a "b"', language="en"), Literal(True), Literal(1.5))),
    pieces.ValueCondition(A, "CONTAINS", (Literal("x"),)),
    pieces.ValueCondition(A, "TEXT", (Literal("x"),)),
    pieces.ValueCondition(B, "<", (pieces.get_alias(AVERAGE),), pieces.DECIMAL),
    pieces.ValueCondition(B, "<", (Literal(5),), pieces.INTEGER),
]

QUERIES = [
    pieces.build_query([BORN, MOON], [A, B]),
    pieces.build_query([MOON, pieces.build_filter(A, "=", IO)], None),
    pieces.build_query(
        [
            pieces.build_pattern(A, RDF_TYPE, MOON_CLASS, is_transitive=True),
            pieces.build_pattern(A, f"{EX}partOf", C, is_transitive=True),
        ],
        [C, pieces.build_aggregate("COUNT", A, distinct=True)],
        group=[C],
        having=[sparql.Call(">", (COUNT, Literal(2)))],
        order=[(COUNT, True), (C, False), (sparql.Call(pieces.DECIMAL, (A,)), False)],
        limit=3,
        offset=1,
    ),
    pieces.build_query(
        [
            BORN,
            sparql.Nested("OPTIONAL", sparql.Group((pieces.build_pattern(A, f"{EX}died", C),))),
            sparql.Values((C, D), ((Literal(1), IO), (Literal(2), Literal("x")))),
            sparql.Bind(sparql.Call("COALESCE", (C, DAY)), D),
            sparql.Bind(sparql.Call("+", (sparql.Call("*", (C, Literal(3))), B)), E),
            sparql.Bind(build_elapsed_time("years", B, DAY), pieces.get_variable(5)),
            sparql.Bind(build_elapsed_time("days", B, DAY), pieces.get_variable(6)),
            AVERAGE,
            *(one.to_filter() for one in CONDITIONS),
            sparql.Union((sparql.Group((BORN,)), sparql.Group((MOON,)))),
            pieces.build_not_exists(
                pieces.build_pattern(A, f"{EX}of", C), pieces.build_filter(C, "!=", IO)
            ),
        ],
        [D],
    ),
]


@for_each("numbered", QUERIES)
def test_the_tree_is_that_of_its_text(numbered: sparql.Query) -> None:
    query = pieces.name_variables(numbered, NAMES)

    assert parse_tree(render_query(query, PREFIXES)) == query
    assert parse_tree(format_tree(query, PREFIXES)) == sparql.group_patterns_by_subject(query)


def test_a_query_is_written_with_one_pattern_a_line() -> None:
    assert render_query(pieces.name_variables(QUERIES[0], NAMES), PREFIXES) == (
        "PREFIX ex: <http://example.org/>\n\n"
        "SELECT DISTINCT ?moon ?date_of_birth WHERE {\n"
        "  ?moon ex:born ?date_of_birth .\n"
        "  ?moon a ex:Moon .\n"
        "}"
    )


def test_columns_are_named_after_what_they_hold() -> None:
    columns = pieces.name_variables(QUERIES[2], NAMES).columns

    assert [name.value for name, _ in columns] == ["moon_2", "number_of_moon"]


def test_an_average_is_named_where_it_is_made_and_where_it_is_compared() -> None:
    text = render_query(pieces.name_variables(QUERIES[3], NAMES), PREFIXES)

    assert text.count("?average_moon_2") == 2


def test_a_blank_node_is_a_variable_in_the_text() -> None:
    query = pieces.name_variables(
        pieces.build_query([pieces.build_pattern(BlankNode("b-1"), f"{EX}born", A)], [A]), NAMES
    )

    assert "?__b_1 ex:born ?moon" in render_query(query, PREFIXES)


def test_what_is_put_in_is_found_again() -> None:
    where = QUERIES[3].where

    assert pieces.list_conditions(where) == CONDITIONS
    assert pieces.list_patterns(where) == [BORN]
    assert [pieces.get_predicate(one) for one in pieces.list_optional_patterns(where)] == [
        f"{EX}died"
    ]
    assert pieces.list_subqueries(where) == [AVERAGE]
    assert [len(one.elements) for one in pieces.list_negated_groups(where)] == [2]
    assert pieces.list_union_groups(where) == [sparql.Group((BORN,)), sparql.Group((MOON,))]
    binds = [one for one in where.elements if isinstance(one, sparql.Bind)]
    assert [pieces.list_operands(one.value) for one in binds] == [
        [C, DAY], [C, Literal(3), B], [B, DAY], [B, DAY],
    ]  # fmt: skip


def test_modifiers_are_found_again() -> None:
    query = QUERIES[2]

    assert pieces.list_column_values(query) == [
        C,
        pieces.build_aggregate("COUNT", A, distinct=True),
    ]
    assert pieces.list_sort_keys(query) == [(COUNT, True), (C, False), (A, False)]
    assert pieces.list_having(query) == [(COUNT, ">", Literal(2))]
    assert pieces.get_predicate(pieces.list_patterns(query.where)[0]) == RDF_TYPE


CONSTANTS = ["5", "-1.5", "1e+16", "true", '"5"', '"a"@en', f"<{EX}Io>", "_:b"]


@for_each("text", CONSTANTS)
def test_a_constant_is_written_as_it_is_read(text: str) -> None:
    assert pieces.format_term(pieces.parse_term(text)) == text
