"""Values that count as equal: numbers that are close, things and their names."""

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.evaluation import ResultTable, align_numbers
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import collect_names, score_by_name
from askgraph.graph import KnowledgeGraph
from askgraph.sparql.results import SelectResult
from askgraph.workspace import Workspace

NAMES = {f"urn:{at}": {("text", name)} for at, name in enumerate(["Ann", "Bob", "Cleo"])}


def _table(*rows: tuple[str, ...]) -> ResultTable:
    """A table; cells that start with "urn:" are things."""
    terms = tuple(
        tuple(NamedNode(cell) if cell.startswith("urn:") else Literal(cell) for cell in row)
        for row in rows
    )
    variables = tuple(f"v{at}" for at in range(len(rows[0])))
    assert all(Variable(name) for name in variables)
    return ResultTable.from_result(SelectResult(variables, terms))


def test_things_and_their_names(tmp_path: Path) -> None:
    # Things are as good as their names.
    things, gold = _table(("urn:0",), ("urn:1",)), _table(("Ann",), ("Bob",))
    assert best_column(things, gold).f1 == 0 and score_by_name(things, gold, NAMES).f1 == 1
    # Another thing is as wrong as before.
    score = score_by_name(_table(("urn:0",), ("urn:2",)), _table(("Ann",), ("Bob",)), NAMES)
    assert (score.precision, score.recall) == (0.5, 0.5)
    # What a thing is not called does not count.
    assert score_by_name(_table(("urn:0",)), _table(("42",)), NAMES).f1 == 0
    # A thing beside the value asked for is found column by column.
    gold = _table(("Ann", "42"), ("Bob", "7"))
    assert score_by_name(_table(("urn:0", "42"), ("urn:1", "7")), gold, NAMES).f1 == 1
    # A thing counts as its name and as its key each in its own column.
    names = {f"urn:{at}": {("text", name), ("text", str(at))} for at, name in enumerate("ab")}
    gold = _table(("a", "1"), ("b", "0"))  # in the second column "1" is said of the first thing
    assert score_by_name(_table(("urn:0", "1"), ("urn:1", "0")), gold, names).f1 == 1
    # Names and keys are read from a graph.
    (tmp_path / "boats.ttl").write_text(TURTLE)
    workspace = Workspace(tmp_path / "workspace")
    workspace.add("boats", [tmp_path / "boats.ttl"])
    graph = workspace.find("boats")
    known = collect_names(graph)
    asyncio.run(_closed(graph))
    assert known == {
        "http://example.org/a": {("text", "Albatross"), ("number", 7)},
        "http://example.org/b": {("text", "Bittern"), ("number", 8)},
    }


TURTLE = """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Boat ; rdfs:label "Albatross" ; :boatId 7 ; :age 3 .
:b a :Boat ; rdfs:label "Bittern" ; :boatId 8 ; :age 4 .
:t a :Trip ; :boatId :a ; :crewNumber 3 . :u a :Trip ; :boatId :a ; :crewNumber 3 .
"""


async def _closed(graph: KnowledgeGraph) -> None:
    await graph.endpoint.close()


CELLS = st.sampled_from(["urn:0", "urn:1", "urn:2", "urn:9", "Ann", "Bob", "7"])
ROWS = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5)


@given(ROWS, ROWS)
def test_it_is_never_below_the_strict_score_and_never_above_one(
    predicted: list[tuple[str, ...]], gold: list[tuple[str, ...]]
) -> None:
    one, other = _table(*predicted), _table(*gold)
    assert best_column(one, other).f1 <= score_by_name(one, other, NAMES).f1 <= 1


def numbers(*values: object) -> ResultTable:
    return ResultTable.from_json(["n"], [[value] for value in values])


def test_equal_numbers() -> None:
    # Numbers within a millionth are made equal.
    one, other = align_numbers(numbers(1 / 3, 5), numbers(0.33333333, 5.0000001))
    assert one.get_values() == other.get_values()
    # Whole numbers stay apart however large.
    one, other = align_numbers(numbers(10_000_001), numbers(10_000_002, 10_000_001.5))
    assert not one.get_values() & numbers(10_000_002).get_values() and len(other.get_values()) == 2
    # A number further off stays apart.
    one, other = align_numbers(numbers(1.0001), numbers(1.0002))
    assert not one.get_values() & other.get_values()
    # A number too large for a double is not any large number.
    one, other = align_numbers(numbers("1e400"), numbers("1e300"))
    assert not one.get_values() & other.get_values()
