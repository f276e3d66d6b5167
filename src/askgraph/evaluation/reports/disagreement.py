"""Disagreement of metrics: small predictions, each wrong in one way, scored with all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pyoxigraph import Literal, NamedNode

from askgraph import plugins
from askgraph.evaluation import Metric, Score, Table
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row, SelectResult


@dataclass(frozen=True)
class Example:
    """A predicted and a gold table, and what is wrong with the predicted one."""

    name: str
    predicted: Table
    gold: Table


@dataclass(frozen=True)
class Scored:
    """An example and its score by each metric's name."""

    example: Example
    scores: Mapping[str, Score]


def scored(metrics: Sequence[str] | None = None) -> tuple[Scored, ...]:
    """Score all examples with the metrics of these names, else with all there are.

    Raises `SetupError` for a metric that does not exist or that needs a library that is missing.
    """
    wanted = plugins.names("metric") if metrics is None else metrics
    loaded: dict[str, Metric] = {name: plugins.load("metric", name) for name in wanted}
    return tuple(
        Scored(example, {name: m(example.predicted, example.gold) for name, m in loaded.items()})
        for example in EXAMPLES
    )


def _thing(name: str) -> NamedNode:
    return NamedNode(f"https://example.org/space/{name}")


def _label(text: str) -> Literal:
    return Literal(text, language="en")


def _number(text: str, datatype: str = voc.XSD_INTEGER) -> Literal:
    return Literal(text, datatype=NamedNode(datatype))


def _table(*rows: Row, width: int = 1) -> Table:
    width = len(rows[0]) if rows else width
    return Table.of_result(SelectResult(tuple(f"v{at}" for at in range(width)), rows))


MOONS = tuple((_thing(name),) for name in ("Io", "Europa", "Ganymede", "Callisto"))
LABELLED = tuple((moon, _label(moon.value.rpartition("/")[2])) for (moon,) in MOONS)
DIAMETERS = (
    (_thing("Io"), _number("3643")),
    (_thing("Europa"), _number("3122")),
    (_thing("Ganymede"), _number("5268")),
    (_thing("Callisto"), _number("4821")),
)
TURNED = tuple(
    (moon, size)
    for (moon, _), (_, size) in zip(DIAMETERS, DIAMETERS[1:] + DIAMETERS[:1], strict=True)
)
PAIRS = tuple((one, other) for (one,), (other,) in zip(MOONS, MOONS[1:] + MOONS[:1], strict=True))
DOUBLES = tuple((_number(f"{size.value}.0", voc.XSD_DOUBLE),) for _, size in DIAMETERS)
MANY = tuple((_thing(f"crater_{at}"),) for at in range(1025))
STUFFED = tuple(crater for (crater,) in MANY[:49]) + MOONS[0]
MANY_LABELLED = tuple((crater, _label(f"crater {at}")) for at, (crater,) in enumerate(MANY))

EXAMPLES: tuple[Example, ...] = (
    Example("right", _table(*MOONS), _table(*MOONS)),
    Example("right, and a column of labels", _table(*LABELLED), _table(*MOONS)),
    Example(
        "right, numbers with another datatype",
        _table(*DOUBLES),
        _table(*((size,) for _, size in DIAMETERS)),
    ),
    Example("one column of two", _table(*MOONS), _table(*DIAMETERS)),
    Example("one column, where gold has its values twice", _table(*MOONS), _table(*PAIRS)),
    Example("two columns, paired in the wrong rows", _table(*TURNED), _table(*DIAMETERS)),
    Example("each row twice", _table(*MOONS, *MOONS), _table(*MOONS)),
    Example("half of the rows", _table(*MOONS[:2]), _table(*MOONS)),
    Example("the rows, and as many wrong ones", _table(*MOONS, *MANY[:4]), _table(*MOONS)),
    Example("one row with everything in it", _table(tuple(chain(*MOONS))), _table(*MOONS)),
    Example("one row with fifty values, the last one right", _table(STUFFED), _table(MOONS[0])),
    Example("1,025 rows, right", _table(*MANY), _table(*MANY)),
    Example("1,025 rows, right, and labels", _table(*MANY_LABELLED), _table(*MANY)),
    Example("right, the answer no", Table.of_boolean(False), Table.of_boolean(False)),
    Example("no instead of yes", Table.of_boolean(False), Table.of_boolean(True)),
    Example("yes instead of rows", Table.of_boolean(True), _table(*MOONS)),
    Example("right, no rows", _table(), _table()),
    Example("no rows instead of four", _table(), _table(*MOONS)),
)
"""What each prediction is called says all that is right and wrong with it."""
