"""The kinds of plots on a page, as Vega-Lite: dots with intervals, lines, bars.

Text and axes take the colour of the page's text, so that light, dark and paper need no second plot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import altair as alt

Spec = dict[str, object]

# Okabe and Ito's colours, which most people with colour vision deficiencies tell apart, without
# black and yellow, which vanish on one of the two backgrounds; then the same with other shapes.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
ROW, HEIGHT = 20, 240  # pixels
SHORT = 14  # characters of a name, of which three stand beside each other on a small screen

CONFIG: Mapping[str, object] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "currentColor",
        "tickColor": "currentColor",
        "gridColor": "currentColor",
        "gridOpacity": 0.12,
        "domainOpacity": 0.4,
        "tickOpacity": 0.4,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 180,
    },
    "legend": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "labelFontSize": 12,
        "labelLimit": 260,
        "orient": "top",
        "direction": "horizontal",
        "symbolOpacity": 1,
        "title": None,
    },
}


@dataclass(frozen=True)
class Dot:
    """A mean between 0 and 1 of one system in one category, its interval, and over how many."""

    category: str
    system: str
    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Point:
    """A point of the line of one system."""

    system: str
    x: float
    y: float


@dataclass(frozen=True)
class Bar:
    """How many questions of one system fall into one category."""

    category: str
    system: str
    count: int


def dots(points: Sequence[Dot], *, systems: Sequence[str], x: str, y: str) -> Spec:
    """Return a plot of a mean and its interval for each category and system.

    Categories stand in the order of the points; `x` and `y` are the titles of the axes.
    """
    categories = list(dict.fromkeys(point.category for point in points))
    base = alt.Chart(_values(points)).encode(
        y=_category_axis(categories, y),
        yOffset=alt.YOffset("system:N", sort=list(systems)),
        color=_colour(systems),
        tooltip=[
            alt.Tooltip("category:N", title=y.lower() or "of"),
            alt.Tooltip("system:N", title="method"),
            alt.Tooltip("mean:Q", title=x.lower(), format=".1%"),
            alt.Tooltip("low:Q", title="from", format=".1%"),
            alt.Tooltip("high:Q", title="to", format=".1%"),
            alt.Tooltip("n:Q", title="questions"),
        ],
    )
    scale, percent = alt.Scale(domain=[0, 1]), alt.Axis(format="%", tickCount=5)
    interval = base.mark_rule(strokeWidth=2, opacity=0.75).encode(
        x=alt.X("low:Q", title=x, scale=scale, axis=percent), x2="high:Q"
    )
    mean = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("mean:Q", title=x, scale=scale, axis=percent), shape=_shape(systems)
    )
    height = len(categories) * max(1.6, len(systems) + 0.6) * ROW
    return _spec(alt.LayerChart(layer=[interval, mean], height=height))


def lines(
    points: Sequence[Point],
    *,
    systems: Sequence[str],
    x: str,
    y: str,
    logarithmic: bool = False,
    dotted: bool = False,
    same: bool = False,
) -> Spec:
    """Return a plot of a line for each system, y between 0 and 1.

    x goes from 0 to 1, or is `logarithmic`; `dotted` marks the points, `same` adds the line on
    which x and y are equal.
    """
    scale = alt.Scale(type="log") if logarithmic else alt.Scale(domain=[0, 1])
    drawn = alt.Chart(_values(points)).encode(
        x=alt.X("x:Q", title=x, scale=scale, axis=_number_axis(logarithmic=logarithmic)),
        y=alt.Y("y:Q", title=y, scale=alt.Scale(domain=[0, 1]), axis=_number_axis()),
        color=_colour(systems),
        tooltip=[
            alt.Tooltip("system:N", title="method"),
            alt.Tooltip("x:Q", title=x.lower(), format=".3~r" if logarithmic else ".1%"),
            alt.Tooltip("y:Q", title=y.lower(), format=".1%"),
        ],
    )
    curve = drawn.mark_line(strokeWidth=2)
    layers = [curve if dotted else curve.encode(strokeDash=_dash(systems))]
    if dotted:
        points_too = drawn.mark_point(filled=True, size=60, opacity=1)
        layers.append(points_too.encode(shape=_shape(systems)))
    if same:
        layers.insert(0, _diagonal())
    return _spec(alt.LayerChart(layer=layers, height=HEIGHT))


def bars(counts: Sequence[Bar], *, systems: Sequence[str], x: str, y: str) -> Spec:
    """Return a plot of a bar for each category and system; categories in the order given."""
    categories = list(dict.fromkeys(bar.category for bar in counts))
    drawn = (
        alt.Chart(_values(counts))
        .mark_bar()
        .encode(
            x=alt.X("count:Q", title=x, axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d")),
            y=_category_axis(categories, y),
            yOffset=alt.YOffset("system:N", sort=list(systems)),
            color=_colour(systems),
            tooltip=[
                alt.Tooltip("category:N", title=y.lower()),
                alt.Tooltip("system:N", title="method"),
                alt.Tooltip("count:Q", title=x.lower()),
            ],
        )
    )
    height = len(categories) * max(1.3, 0.7 * len(systems) + 0.6) * ROW
    return _spec(drawn.properties(height=height))


def _values(points: Sequence[Dot] | Sequence[Point] | Sequence[Bar]) -> alt.InlineData:
    return alt.InlineData(values=[asdict(point) for point in points])


def _category_axis(categories: Sequence[str], title: str) -> alt.Y:
    axis = alt.Axis(grid=False, ticks=False, domain=False, labelPadding=8)
    return alt.Y("category:N", title=title or None, sort=list(categories), axis=axis)


def _number_axis(*, logarithmic: bool = False) -> alt.Axis:
    if logarithmic:
        return alt.Axis(format="~r", tickCount=5, grid=False)
    return alt.Axis(format="%", tickCount=5)


def _diagonal() -> alt.Chart:
    ends = alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    line: alt.Chart = alt.Chart(ends).mark_line(
        color="currentColor", opacity=0.4, strokeDash=[2, 3], strokeWidth=1
    )
    drawn: alt.Chart = line.encode(x="x:Q", y="y:Q")
    return drawn


def _colour(systems: Sequence[str]) -> alt.Color:
    colours = [COLOURS[at % len(COLOURS)] for at in range(len(systems))]
    scale = alt.Scale(domain=list(systems), range=colours)
    return alt.Color("system:N", scale=scale, legend=_legend(systems))


def _shape(systems: Sequence[str]) -> alt.Shape:
    shapes = [SHAPES[at % len(SHAPES)] for at in range(len(systems))]
    scale = alt.Scale(domain=list(systems), range=shapes)
    return alt.Shape("system:N", scale=scale, legend=_legend(systems))


def _dash(systems: Sequence[str]) -> alt.StrokeDash:
    dashes = [DASHES[at % len(DASHES)] for at in range(len(systems))]
    scale = alt.Scale(domain=list(systems), range=dashes)
    return alt.StrokeDash("system:N", scale=scale, legend=_legend(systems))


def _legend(systems: Sequence[str]) -> alt.Legend | None:
    """One system needs no legend: the page names it."""
    if len(systems) < 2:
        return None
    return alt.Legend(columns=3 if max(map(len, systems)) <= SHORT else 1)


def _spec(chart: alt.LayerChart | alt.Chart) -> Spec:
    size = alt.AutoSizeParams(type="fit-x", contains="padding")
    return {**chart.properties(width="container", autosize=size).to_dict(), "config": CONFIG}
