"""Disagreement of metrics: small predictions, each wrong in one way, scored by every metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pyoxigraph import Literal, NamedNode

from askgraph import plugins
from askgraph.evaluation import Metric, ResultTable, Score
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row, SelectResult


@dataclass(frozen=True)
class MetricExample:
    """A predicted and a gold table, and a name that describes their difference."""

    name: str
    predicted: ResultTable
    gold: ResultTable


@dataclass(frozen=True)
class ScoredExample:
    """An example and its scores by metric."""

    example: MetricExample
    scores: Mapping[str, Score]


def score_examples(metrics: Sequence[str] | None = None) -> tuple[ScoredExample, ...]:
    """Score all examples with some metrics, by default with all.

    Raises:
        SetupError: A metric does not exist or needs a library that is not installed.
    """
    names = plugins.list_names("metric") if metrics is None else metrics
    loaded: dict[str, Metric] = {name: plugins.load("metric", name) for name in names}
    return tuple(
        ScoredExample(
            example,
            {name: metric(example.predicted, example.gold) for name, metric in loaded.items()},
        )
        for example in EXAMPLES
    )


def _build_resource(name: str) -> NamedNode:
    return NamedNode(f"https://example.org/space/{name}")


def _build_label(text: str) -> Literal:
    return Literal(text, language="en")


def _build_number(text: str, datatype: str = voc.XSD_INTEGER) -> Literal:
    return Literal(text, datatype=NamedNode(datatype))


def _build_table(*rows: Row, width: int = 1) -> ResultTable:
    width = len(rows[0]) if rows else width
    return ResultTable.from_result(SelectResult(tuple(f"v{index}" for index in range(width)), rows))


MOONS = tuple((_build_resource(name),) for name in ("Io", "Europa", "Ganymede", "Callisto"))
LABELLED = tuple((moon, _build_label(moon.value.rpartition("/")[2])) for (moon,) in MOONS)
DIAMETERS = (
    (_build_resource("Io"), _build_number("3643")),
    (_build_resource("Europa"), _build_number("3122")),
    (_build_resource("Ganymede"), _build_number("5268")),
    (_build_resource("Callisto"), _build_number("4821")),
)
MISPAIRED_DIAMETERS = tuple(
    (moon, size)
    for (moon, _), (_, size) in zip(DIAMETERS, DIAMETERS[1:] + DIAMETERS[:1], strict=True)
)
PAIRS = tuple((one, other) for (one,), (other,) in zip(MOONS, MOONS[1:] + MOONS[:1], strict=True))
DOUBLES = tuple((_build_number(f"{size.value}.0", voc.XSD_DOUBLE),) for _, size in DIAMETERS)
CRATERS = tuple((_build_resource(f"crater_{at}"),) for at in range(1025))
FIFTY_VALUE_ROW = tuple(crater for (crater,) in CRATERS[:49]) + MOONS[0]
LABELLED_CRATERS = tuple(
    (crater, _build_label(f"crater {at}")) for at, (crater,) in enumerate(CRATERS)
)

EXAMPLES: tuple[MetricExample, ...] = (
    MetricExample("right", _build_table(*MOONS), _build_table(*MOONS)),
    MetricExample("right, and a column of labels", _build_table(*LABELLED), _build_table(*MOONS)),
    MetricExample(
        "right, numbers with another datatype",
        _build_table(*DOUBLES),
        _build_table(*((size,) for _, size in DIAMETERS)),
    ),
    MetricExample("one column of two", _build_table(*MOONS), _build_table(*DIAMETERS)),
    MetricExample(
        "one column, where gold has its values twice", _build_table(*MOONS), _build_table(*PAIRS)
    ),
    MetricExample(
        "two columns, paired in the wrong rows",
        _build_table(*MISPAIRED_DIAMETERS),
        _build_table(*DIAMETERS),
    ),
    MetricExample("each row twice", _build_table(*MOONS, *MOONS), _build_table(*MOONS)),
    MetricExample("half of the rows", _build_table(*MOONS[:2]), _build_table(*MOONS)),
    MetricExample(
        "the rows, and as many wrong ones", _build_table(*MOONS, *CRATERS[:4]), _build_table(*MOONS)
    ),
    MetricExample(
        "one row with everything in it", _build_table(tuple(chain(*MOONS))), _build_table(*MOONS)
    ),
    MetricExample(
        "one row with fifty values, the last one right",
        _build_table(FIFTY_VALUE_ROW),
        _build_table(MOONS[0]),
    ),
    MetricExample("1,025 rows, right", _build_table(*CRATERS), _build_table(*CRATERS)),
    MetricExample(
        "1,025 rows, right, and labels", _build_table(*LABELLED_CRATERS), _build_table(*CRATERS)
    ),
    MetricExample(
        "right, the answer no", ResultTable.from_boolean(False), ResultTable.from_boolean(False)
    ),
    MetricExample(
        "no instead of yes", ResultTable.from_boolean(False), ResultTable.from_boolean(True)
    ),
    MetricExample("yes instead of rows", ResultTable.from_boolean(True), _build_table(*MOONS)),
    MetricExample("right, no rows", _build_table(), _build_table()),
    MetricExample("no rows instead of four", _build_table(), _build_table(*MOONS)),
)
"""The name of each example describes what is right and wrong with its prediction."""
