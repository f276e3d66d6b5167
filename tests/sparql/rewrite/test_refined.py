"""Queries whose rows are arranged otherwise."""

from dataclasses import replace

import pytest
from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.sparql import Query
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.rewrite import swapped
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import XSD_INTEGER

SIZES = parse_tree("SELECT ?moon ?size WHERE { ?moon <http://x/size> ?size }")
COUNTS = parse_tree(
    "SELECT ?planet (COUNT(?moon) AS ?moons) WHERE { ?moon <http://x/orbits> ?planet } "
    "GROUP BY ?planet"
)
TEN = Literal("10", datatype=NamedNode(XSD_INTEGER))


def shown(query: Query) -> str:
    return str(to_text(query))


def test_rows_are_sorted_and_cut_off_and_all_of_it_taken_back() -> None:
    largest = swapped.set_limit(swapped.sort_by(SIZES, "size", descending=True), 5)
    assert shown(largest).endswith("ORDER BY DESC(?size) LIMIT 5")
    assert swapped.set_limit(swapped.sort_by(largest, None), None) == SIZES
    told = swapped.get_arrangement(largest)
    assert told is not None
    assert (told.columns, told.order, told.limit) == (("moon", "size"), (("size", True),), 5)


def test_a_value_that_is_compared_can_become_a_column_and_sort() -> None:
    text = (
        "SELECT DISTINCT ?moon { ?moon :size ?size . :Moon :size ?limit . FILTER(?size > ?limit) }"
    )
    query = parse_tree(f"PREFIX : <http://x/> {text}")
    told = swapped.get_arrangement(query)
    assert told is not None and told.hidden == ("size",)
    longer = swapped.sort_by(swapped.select_query_columns(query, ["moon", "size"]), "size")
    assert shown(longer).startswith("SELECT DISTINCT ?moon ?size ")
    assert shown(longer).endswith("ORDER BY ?size")


@pytest.mark.parametrize(
    ("query", "condition", "text", "seen"),
    [
        (SIZES, swapped.ColumnCondition("size", ">", TEN), "FILTER(?size > 10)", TEN),
        (COUNTS, swapped.ColumnCondition("moons", ">=", TEN), "HAVING", TEN),
        (
            SIZES,
            swapped.ColumnCondition("moon", "contains", Literal("Io")),
            'CONTAINS(LCASE(STR(?moon)), "io")',
            Literal("io"),
        ),
    ],
)
def test_a_condition_is_added_seen_and_taken_away(
    query: Query, condition: swapped.ColumnCondition, text: str, seen: Literal
) -> None:
    changed = swapped.add_condition(query, condition)
    told = swapped.get_arrangement(changed)

    assert text in shown(changed)
    assert told is not None
    assert told.conditions == (replace(condition, value=seen),)
    assert swapped.remove_condition(changed, 0) == query


def test_fewer_columns_have_each_row_once() -> None:
    assert shown(swapped.select_query_columns(SIZES, ["moon"])).startswith(
        "SELECT DISTINCT ?moon WHERE"
    )
    assert shown(swapped.select_query_columns(COUNTS, ["moons"])).startswith(
        "SELECT (COUNT(?moon) AS ?moons)"
    )


def test_rows_are_counted_by_a_column() -> None:
    counted = shown(
        swapped.count_by(parse_tree("SELECT * WHERE { ?moon <http://x/orbits> ?planet }"), "planet")
    )
    assert counted.startswith("SELECT ?planet (COUNT(DISTINCT ?moon) AS ?number_of_moon)")
    assert counted.endswith("GROUP BY ?planet ORDER BY DESC(?number_of_moon)")


def test_what_a_query_does_not_have_is_refused_by_name() -> None:
    with pytest.raises(QueryError, match="no column 'mass'; it has moon, size"):
        swapped.sort_by(SIZES, "mass")
    with pytest.raises(QueryError, match="no condition 0"):
        swapped.remove_condition(SIZES, 0)
    with pytest.raises(QueryError, match="keep one"):
        swapped.select_query_columns(SIZES, [])
    with pytest.raises(QueryError, match="counts already"):
        swapped.count_by(COUNTS, "planet")
    assert swapped.get_arrangement(parse_tree("ASK { ?s ?p ?o }")) is None
