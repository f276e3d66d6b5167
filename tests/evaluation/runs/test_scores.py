"""What a person sees of one scored answer."""

from pyoxigraph import Literal, NamedNode

from askgraph.evaluation import Table
from askgraph.evaluation.runs.scores import detail_of
from askgraph.sparql.results import SelectResult

GOLD = Table.of_result(
    SelectResult(("m", "r"), ((NamedNode("urn:Io"), Literal(1.5)), (NamedNode("urn:Europa"), None)))
)


def test_both_heads_and_the_difference_are_plain_values() -> None:
    predicted = Table.of_json(["x", "y"], [["urn:Io", 1.5], ["urn:Mars", 3]])

    detail = detail_of("key", predicted, GOLD, steps=[{"step": "draft"}])

    assert detail.gold == {
        "columns": ["m", "r"],
        "rows": [["urn:Io", 1.5], ["urn:Europa", None]],
        "n": 2,
    }
    assert (detail.missing, detail.extra) == ((("urn:Europa", None),), (("urn:Mars", 3),))
    assert detail.steps == ({"step": "draft"},)


def test_long_results_are_cut_to_twenty_rows() -> None:
    many = Table.of_json(["n"], [[number] for number in range(50)])
    detail = detail_of("key", many, Table.of_json(["n"], []))
    assert detail.predicted is not None
    assert (len(detail.predicted["rows"]), detail.predicted["n"]) == (20, 50)  # type: ignore[arg-type]
    assert len(detail.extra) == 20


def test_a_result_that_there_is_not_differs_from_nothing() -> None:
    detail = detail_of("key", None, GOLD)
    assert (detail.predicted, detail.missing, detail.extra) == (None, (), ())
