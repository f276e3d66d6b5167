"""Tables annotated by a graph: names propose, and what the graph says decides."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.each import for_each
from tests.workspace.conftest import workspace_of

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.workspace.annotation import AnnotatedTable, annotate_table, read_table
from askgraph.workspace.run_sync import run_coroutine

# Two cities are called Springfield, and the river is called like a city.
CITIES = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Springfield_A a :City ; rdfs:label "Springfield" ; :state :Illinois ; :people 114394 .
:Springfield_B a :City ; rdfs:label "Springfield" ; :state :Oregon ; :people 61851 .
:Salem a :City ; rdfs:label "Salem" ; :state :Oregon ; :people 175535 .
:Salem_river a :River ; rdfs:label "Salem" .
:Chicago a :City ; rdfs:label "Chicago" ; :state :Illinois ; :people 2746388 .
:Illinois a :State ; rdfs:label "Illinois" .
:Oregon a :State ; rdfs:label "Oregon" .
:City rdfs:label "city" . :State rdfs:label "state" . :state rdfs:label "lies in" .
"""
HEADS = ("Place", "Where", "Inhabitants")
ROWS = (
    ("Springfield", "Oregon", "61,851"),
    ("Springfield", "Illinois", "114394"),
    ("Salem", "Oregon", "175600"),
    ("Chicago", "", "2746388"),
    ("Atlantis", "Illinois", "none"),
)
EX = "http://example.org/"


@pytest.fixture(scope="module")
def cities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = workspace_of(tmp_path_factory.mktemp("cities"), cities=CITIES).graph()
    yield graph
    run_coroutine(graph.endpoint.close())


@pytest.fixture(scope="module")
def found(cities: KnowledgeGraph) -> AnnotatedTable:
    return run_coroutine(annotate_table(cities, HEADS, ROWS))


def best(found: AnnotatedTable) -> dict[tuple[int, int], str]:
    return {
        (cell.row, cell.column): cell.candidates[0].iri.removeprefix(EX) if cell.candidates else ""
        for cell in found.cells
    }


def test_things_of_one_name_are_told_apart_by_what_stands_beside_them(
    found: AnnotatedTable,
) -> None:
    cells = best(found)
    assert (cells[0, 0], cells[1, 0]) == ("Springfield_B", "Springfield_A")


def test_the_class_of_the_column_decides_between_things_of_one_name(cities: KnowledgeGraph) -> None:
    alone = run_coroutine(
        annotate_table(cities, ("Place",), [("Chicago",), ("Springfield",), ("Salem",)])
    )
    assert best(alone)[2, 0] == "Salem"
    [salem, river] = alone.cells[2].candidates
    assert salem.score > river.score and river.iri == f"{EX}Salem_river"


def test_columns_have_classes_and_pairs_predicates_with_the_share_of_rows(
    found: AnnotatedTable,
) -> None:
    place, where, inhabitants = found.columns

    assert (place.classes[0].label, place.classes[0].score) == ("city", 0.8)
    assert (where.classes[0].label, inhabitants.things) == ("state", False)
    pairs = {(one.subject, one.object): one.predicates[0] for one in found.pairs}
    assert pairs.keys() == {(0, 1), (0, 2)}
    assert (pairs[0, 1].label, pairs[0, 1].score) == ("lies in", 0.75)
    assert pairs[0, 2].iri == f"{EX}people"


def test_what_nothing_is_called_is_left_unlinked(found: AnnotatedTable) -> None:
    assert best(found)[4, 0] == "" and (3, 1) not in best(found)
    assert found.linked_count == len(found.cells) - 1


def test_the_table_comes_back_with_iris_beside_it(found: AnnotatedTable) -> None:
    heads, first, *_, last = found.iterate_csv_rows()

    assert list(heads[3:]) == [
        *("Place iri", "Place score", "Place others", "Where iri", "Where score", "Where others")
    ]
    assert first[:4] == [*ROWS[0], f"{EX}Springfield_B"]
    assert f"{EX}Springfield_A" in first[5]
    assert last[3:6] == ["", "", ""]


@for_each("between", [",", ";", "\t"])
def test_a_table_is_read_whatever_stands_between_its_cells(tmp_path: Path, between: str) -> None:
    lines = [("a", "b c"), ("1", "x"), ("2",), ("", "")]
    path = tmp_path / "t.csv"
    path.write_text(
        "\ufeff# made by hand\r\n" + "\r\n".join(between.join(line) for line in lines),
        encoding="utf-8",
    )

    assert read_table(path) == (("a", "b c"), (("1", "x"), ("2", "")))


def test_no_cell_of_a_table_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"a, b; c, d";e\r\n1;2;3\r\n;\r\n"x ""y""\r\nz";\r\n', encoding="utf-8")

    assert read_table(path) == (
        ("a, b; c, d", "e", "3"),
        (("1", "2", "3"), ("", "", ""), ('x "y"\nz', "", "")),
    )
    assert read_table(path, headless=True)[1][0] == ("a, b; c, d", "e", "")


@for_each("people", ["61851", "61,851", "61.851,0", "61851,00"])
def test_numbers_may_have_a_comma_before_their_decimals(
    cities: KnowledgeGraph, people: str
) -> None:
    rows = [("Springfield", people), ("Chicago", "2746388")]
    found = run_coroutine(annotate_table(cities, ("Place", "Inhabitants"), rows))
    assert found.pairs[0].predicates[0].score == 1.0
    assert best(found)[0, 0] == "Springfield_B"


def test_heads_that_are_as_the_rows_below_are_noticed(cities: KnowledgeGraph) -> None:
    for heads, expected in (
        (("Chicago", "Oregon", "12"), True),
        (("Chicago", "Where", "Inhabitants"), False),
        (HEADS, False),
        (("Place", "Where", "2020"), False),
    ):
        assert run_coroutine(annotate_table(cities, heads, ROWS)).headless is expected


@for_each(
    ("content", "told"),
    [(b"", "contains no table"), (b"a,b\n", "contains no table"), (b"\xff\n1", "not UTF-8")],
)
def test_what_is_no_table_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)

    with pytest.raises(SetupError, match=told):
        read_table(tmp_path / "t.csv")
    with pytest.raises(SetupError, match=r"cannot read the table .* No such file"):
        read_table(tmp_path / "none.csv")
