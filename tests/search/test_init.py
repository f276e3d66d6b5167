"""Pieces of a candidate's query: made, found again, named, and the same tree as its text."""

from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph.search.query_pieces import (
    DECIMAL,
    INTEGER,
    ValueCondition,
    build_aggregate,
    build_aggregate_query,
    build_filter,
    build_not_exists,
    build_pattern,
    build_query,
    build_variable_names,
    format_term,
    get_alias,
    get_predicate,
    get_variable,
    list_column_values,
    list_conditions,
    list_having,
    list_negated_groups,
    list_operands,
    list_optional_patterns,
    list_patterns,
    list_sort_keys,
    list_subqueries,
    list_union_groups,
    name_variables,
    parse_term,
)
from askgraph.sparql import (
    Bind,
    Call,
    Group,
    Nested,
    Query,
    Union,
    Values,
    group_patterns_by_subject,
)
from askgraph.sparql.elapsed import build_elapsed_time
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import format_tree, render_query
from askgraph.sparql.vocabulary import RDF_TYPE, XSD_DATE

EX = "http://example.org/"
PREFIXES = PrefixMap({"ex": EX})
A, B, C, D, E = map(get_variable, range(5))
MOON_CLASS = NamedNode(f"{EX}Moon")
BORN, MOON = build_pattern(A, f"{EX}born", B), build_pattern(A, RDF_TYPE, MOON_CLASS)
IO = NamedNode(f"{EX}Io")
DAY = parse_term(f'"2024-06-30"^^<{XSD_DATE}>')
NAMES = build_variable_names({A: "moon", B: "date of birth", C: "moon", D: "2 m²"})
COUNT = build_aggregate("COUNT", A)
AVERAGE = build_aggregate_query(C, [build_pattern(C, f"{EX}mass", D)], "AVG")

CONDITIONS = [
    ValueCondition(B, ">=", (DAY,)),
    ValueCondition(B, "YEAR", (Literal(1900),)),
    ValueCondition(B, "IN", (Literal('a "b"', language="en"), Literal(True), Literal(1.5))),
    ValueCondition(A, "CONTAINS", (Literal("x"),)),
    ValueCondition(A, "TEXT", (Literal("x"),)),
    ValueCondition(B, "<", (get_alias(AVERAGE),), DECIMAL),
    ValueCondition(B, "<", (Literal(5),), INTEGER),
]

QUERIES = [
    build_query([BORN, MOON], [A, B]),
    build_query([MOON, build_filter(A, "=", IO)], None),
    build_query(
        [
            build_pattern(A, RDF_TYPE, MOON_CLASS, is_transitive=True),
            build_pattern(A, f"{EX}partOf", C, is_transitive=True),
        ],
        [C, build_aggregate("COUNT", A, distinct=True)],
        group=[C],
        having=[Call(">", (COUNT, Literal(2)))],
        order=[(COUNT, True), (C, False), (Call(DECIMAL, (A,)), False)],
        limit=3,
        offset=1,
    ),
    build_query(
        [
            BORN,
            Nested("OPTIONAL", Group((build_pattern(A, f"{EX}died", C),))),
            Values((C, D), ((Literal(1), IO), (Literal(2), Literal("x")))),
            Bind(Call("COALESCE", (C, DAY)), D),
            Bind(Call("+", (Call("*", (C, Literal(3))), B)), E),
            Bind(build_elapsed_time("years", B, DAY), get_variable(5)),
            Bind(build_elapsed_time("days", B, DAY), get_variable(6)),
            AVERAGE,
            *(one.to_filter() for one in CONDITIONS),
            Union((Group((BORN,)), Group((MOON,)))),
            build_not_exists(build_pattern(A, f"{EX}of", C), build_filter(C, "!=", IO)),
        ],
        [D],
    ),
]


@for_each("numbered", QUERIES)
def test_the_tree_is_that_of_its_text(numbered: Query) -> None:
    query = name_variables(numbered, NAMES)

    assert parse_tree(render_query(query, PREFIXES)) == query
    assert parse_tree(format_tree(query, PREFIXES)) == group_patterns_by_subject(query)


def test_a_query_is_written_with_one_pattern_a_line() -> None:
    assert render_query(name_variables(QUERIES[0], NAMES), PREFIXES) == (
        "PREFIX ex: <http://example.org/>\n\n"
        "SELECT DISTINCT ?moon ?date_of_birth WHERE {\n"
        "  ?moon ex:born ?date_of_birth .\n"
        "  ?moon a ex:Moon .\n"
        "}"
    )


def test_columns_are_named_after_what_they_hold() -> None:
    columns = name_variables(QUERIES[2], NAMES).columns

    assert [name.value for name, _ in columns] == ["moon_2", "number_of_moon"]


def test_an_average_is_named_where_it_is_made_and_where_it_is_compared() -> None:
    text = render_query(name_variables(QUERIES[3], NAMES), PREFIXES)

    assert text.count("?average_moon_2") == 2


def test_a_blank_node_is_a_variable_in_the_text() -> None:
    query = name_variables(
        build_query([build_pattern(BlankNode("b-1"), f"{EX}born", A)], [A]), NAMES
    )

    assert "?__b_1 ex:born ?moon" in render_query(query, PREFIXES)


def test_what_is_put_in_is_found_again() -> None:
    where = QUERIES[3].where

    assert list_conditions(where) == CONDITIONS
    assert list_patterns(where) == [BORN]
    assert [get_predicate(one) for one in list_optional_patterns(where)] == [f"{EX}died"]
    assert list_subqueries(where) == [AVERAGE]
    assert [len(one.elements) for one in list_negated_groups(where)] == [2]
    assert list_union_groups(where) == [Group((BORN,)), Group((MOON,))]
    binds = [one for one in where.elements if isinstance(one, Bind)]
    assert [list_operands(one.value) for one in binds] == [
        [C, DAY], [C, Literal(3), B], [B, DAY], [B, DAY],
    ]  # fmt: skip


def test_modifiers_are_found_again() -> None:
    query = QUERIES[2]

    assert list_column_values(query) == [C, build_aggregate("COUNT", A, distinct=True)]
    assert list_sort_keys(query) == [(COUNT, True), (C, False), (A, False)]
    assert list_having(query) == [(COUNT, ">", Literal(2))]
    assert get_predicate(list_patterns(query.where)[0]) == RDF_TYPE


CONSTANTS = ["5", "-1.5", "1e+16", "true", '"5"', '"a"@en', f"<{EX}Io>", "_:b"]


@for_each("text", CONSTANTS)
def test_a_constant_is_written_as_it_is_read(text: str) -> None:
    assert format_term(parse_term(text)) == text
