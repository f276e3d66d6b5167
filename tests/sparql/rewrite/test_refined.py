"""Queries whose rows are arranged otherwise."""

import pytest
from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.sparql import Query
from askgraph.sparql.parser import read
from askgraph.sparql.rewrite.refined import (
    Condition,
    arrangement,
    counted_by,
    limited,
    sorted_by,
    with_columns,
    with_condition,
    without_condition,
)
from askgraph.sparql.vocabulary import XSD_INTEGER
from askgraph.sparql.write import text_of

SIZES = read("SELECT ?moon ?size WHERE { ?moon <http://x/size> ?size }")
COUNTS = read(
    "SELECT ?planet (COUNT(?moon) AS ?moons) WHERE { ?moon <http://x/orbits> ?planet } "
    "GROUP BY ?planet"
)
TEN = Literal("10", datatype=NamedNode(XSD_INTEGER))


def shown(query: Query) -> str:
    return str(text_of(query))


def test_rows_are_sorted_and_cut_off_and_all_of_it_taken_back() -> None:
    largest = limited(sorted_by(SIZES, "size", descending=True), 5)
    assert shown(largest).endswith("ORDER BY DESC(?size) LIMIT 5")
    assert limited(sorted_by(largest, None), None) == SIZES
    told = arrangement(largest)
    assert told is not None
    assert (told.columns, told.order, told.limit) == (("moon", "size"), (("size", True),), 5)


def test_a_condition_on_a_column_is_added_seen_and_taken_away() -> None:
    large = with_condition(SIZES, Condition("size", ">", TEN))
    assert "FILTER(?size > 10)" in shown(large)
    told = arrangement(large)
    assert told is not None
    assert told.conditions == (Condition("size", ">", TEN),)
    assert without_condition(large, 0) == SIZES


def test_a_condition_on_a_count_is_one_of_its_groups() -> None:
    many = with_condition(COUNTS, Condition("moons", ">=", TEN))
    assert "HAVING" in shown(many)
    told = arrangement(many)
    assert told is not None
    assert told.conditions == (Condition("moons", ">=", TEN),)
    assert without_condition(many, 0) == COUNTS


def test_a_text_is_found_in_whatever_case() -> None:
    named = with_condition(SIZES, Condition("moon", "contains", Literal("Io")))
    assert 'CONTAINS(LCASE(STR(?moon)), "io")' in shown(named)
    told = arrangement(named)
    assert told is not None
    assert told.conditions == (Condition("moon", "contains", Literal("io")),)


def test_fewer_columns_have_each_row_once() -> None:
    assert shown(with_columns(SIZES, ["moon"])).startswith("SELECT DISTINCT ?moon WHERE")
    assert shown(with_columns(COUNTS, ["moons"])).startswith("SELECT (COUNT(?moon) AS ?moons)")


def test_rows_are_counted_by_a_column() -> None:
    counted = shown(
        counted_by(read("SELECT * WHERE { ?moon <http://x/orbits> ?planet }"), "planet")
    )
    assert counted.startswith("SELECT ?planet (COUNT(DISTINCT ?moon) AS ?number_of_moon)")
    assert counted.endswith("GROUP BY ?planet ORDER BY DESC(?number_of_moon)")


def test_what_a_query_does_not_have_is_refused_by_name() -> None:
    with pytest.raises(QueryError, match="no column 'mass'; it has moon, size"):
        sorted_by(SIZES, "mass")
    with pytest.raises(QueryError, match="no condition 0"):
        without_condition(SIZES, 0)
    with pytest.raises(QueryError, match="keep one"):
        with_columns(SIZES, [])
    with pytest.raises(QueryError, match="counts already"):
        counted_by(COUNTS, "planet")
    assert arrangement(read("ASK { ?s ?p ?o }")) is None
