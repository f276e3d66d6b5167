"""Pieces of a candidate's query: made, found again, named, and the same tree as its text."""

from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph.search.query_pieces import (
    DECIMAL,
    INTEGER,
    Condition,
    aggregate,
    aggregate_of,
    alias_of,
    averages_in,
    condition,
    conditions_in,
    denied,
    denied_in,
    either_in,
    having_of,
    keys_of,
    named,
    names_of,
    operands_of,
    optional_in,
    pattern,
    patterns_in,
    predicate_of,
    query_of,
    term_of,
    text_of,
    values_of,
    variable,
)
from askgraph.sparql import Bind, Call, Group, Nested, Query, Union, Values, by_subject
from askgraph.sparql.elapsed import elapsed
from askgraph.sparql.parser import read
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.serializer import laid_out, plain_text
from askgraph.sparql.vocabulary import RDF_TYPE, XSD_DATE

EX = "http://example.org/"
PREFIXES = PrefixMap({"ex": EX})
A, B, C, D, E = map(variable, range(5))
MOON_CLASS = NamedNode(f"{EX}Moon")
BORN, MOON = pattern(A, f"{EX}born", B), pattern(A, RDF_TYPE, MOON_CLASS)
IO = NamedNode(f"{EX}Io")
DAY = term_of(f'"2024-06-30"^^<{XSD_DATE}>')
NAMES = names_of({A: "moon", B: "date of birth", C: "moon", D: "2 m²"})
COUNT = aggregate("COUNT", A)
AVERAGE = aggregate_of(C, [pattern(C, f"{EX}mass", D)], "AVG")

CONDITIONS = [
    Condition(B, ">=", (DAY,)),
    Condition(B, "YEAR", (Literal(1900),)),
    Condition(B, "IN", (Literal('a "b"', language="en"), Literal(True), Literal(1.5))),
    Condition(A, "CONTAINS", (Literal("x"),)),
    Condition(A, "TEXT", (Literal("x"),)),
    Condition(B, "<", (alias_of(AVERAGE),), DECIMAL),
    Condition(B, "<", (Literal(5),), INTEGER),
]

QUERIES = [
    query_of([BORN, MOON], [A, B]),
    query_of([MOON, condition(A, "=", IO)], None),
    query_of(
        [
            pattern(A, RDF_TYPE, MOON_CLASS, walked=True),
            pattern(A, f"{EX}partOf", C, walked=True),
        ],
        [C, aggregate("COUNT", A, distinct=True)],
        group=[C],
        having=[Call(">", (COUNT, Literal(2)))],
        order=[(COUNT, True), (C, False), (Call(DECIMAL, (A,)), False)],
        limit=3,
        offset=1,
    ),
    query_of(
        [
            BORN,
            Nested("OPTIONAL", Group((pattern(A, f"{EX}died", C),))),
            Values((C, D), ((Literal(1), IO), (Literal(2), Literal("x")))),
            Bind(Call("COALESCE", (C, DAY)), D),
            Bind(Call("+", (Call("*", (C, Literal(3))), B)), E),
            Bind(elapsed("years", B, DAY), variable(5)),
            Bind(elapsed("days", B, DAY), variable(6)),
            AVERAGE,
            *(one.filter() for one in CONDITIONS),
            Union((Group((BORN,)), Group((MOON,)))),
            denied(pattern(A, f"{EX}of", C), condition(C, "!=", IO)),
        ],
        [D],
    ),
]


@for_each("numbered", QUERIES)
def test_the_tree_is_that_of_its_text(numbered: Query) -> None:
    query = named(numbered, NAMES)

    assert read(plain_text(query, PREFIXES)) == query
    assert read(laid_out(query, PREFIXES)) == by_subject(query)


def test_a_query_is_written_with_one_pattern_a_line() -> None:
    assert plain_text(named(QUERIES[0], NAMES), PREFIXES) == (
        "PREFIX ex: <http://example.org/>\n\n"
        "SELECT DISTINCT ?moon ?date_of_birth WHERE {\n"
        "  ?moon ex:born ?date_of_birth .\n"
        "  ?moon a ex:Moon .\n"
        "}"
    )


def test_columns_are_named_after_what_they_hold() -> None:
    columns = named(QUERIES[2], NAMES).columns

    assert [name.value for name, _ in columns] == ["moon_2", "number_of_moon"]


def test_an_average_is_named_where_it_is_made_and_where_it_is_compared() -> None:
    text = plain_text(named(QUERIES[3], NAMES), PREFIXES)

    assert text.count("?average_moon_2") == 2


def test_a_blank_node_is_a_variable_in_the_text() -> None:
    query = named(query_of([pattern(BlankNode("b-1"), f"{EX}born", A)], [A]), NAMES)

    assert "?__b_1 ex:born ?moon" in plain_text(query, PREFIXES)


def test_what_is_put_in_is_found_again() -> None:
    where = QUERIES[3].where

    assert conditions_in(where) == CONDITIONS
    assert patterns_in(where) == [BORN]
    assert [predicate_of(one) for one in optional_in(where)] == [f"{EX}died"]
    assert averages_in(where) == [AVERAGE]
    assert [len(one.elements) for one in denied_in(where)] == [2]
    assert either_in(where) == [Group((BORN,)), Group((MOON,))]
    binds = [one for one in where.elements if isinstance(one, Bind)]
    assert [operands_of(one.value) for one in binds] == [
        [C, DAY], [C, Literal(3), B], [B, DAY], [B, DAY],
    ]  # fmt: skip


def test_modifiers_are_found_again() -> None:
    query = QUERIES[2]

    assert values_of(query) == [C, aggregate("COUNT", A, distinct=True)]
    assert keys_of(query) == [(COUNT, True), (C, False), (A, False)]
    assert having_of(query) == [(COUNT, ">", Literal(2))]
    assert predicate_of(patterns_in(query.where)[0]) == RDF_TYPE


CONSTANTS = ["5", "-1.5", "1e+16", "true", '"5"', '"a"@en', f"<{EX}Io>", "_:b"]


@for_each("text", CONSTANTS)
def test_a_constant_is_written_as_it_is_read(text: str) -> None:
    assert text_of(term_of(text)) == text
