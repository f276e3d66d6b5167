"""Units: their sizes, and what a predicate says its numbers are in."""

import tomllib
from collections import Counter
from importlib.resources import files
from math import isclose
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.graph.measures import Unit, detect_unit, get_unit_by_iri, match_unit, parse_unit
from askgraph.index.names import split_tokens

LISTED: list[dict[str, Any]] = tomllib.loads(
    files("askgraph.graph").joinpath("units.toml").read_text(encoding="utf-8")
)["units"]
UNITS = [
    unit for one in LISTED if (unit := parse_unit((one["symbols"] + one["names"])[0])) is not None
]
VALUES = st.floats(-1e9, 1e9, allow_nan=False)


def named(text: str) -> Unit:
    unit = parse_unit(text)
    assert unit is not None, text
    return unit


def test_no_two_units_share_a_symbol_and_each_dimension_has_a_base() -> None:
    symbols = Counter(split_tokens(symbol) for one in LISTED for symbol in one["symbols"])
    assert [symbol for symbol, count in symbols.items() if count > 1] == []
    bases = [one["dimension"] for one in LISTED if one["factor"] == 1.0 and not one.get("offset")]
    assert sorted(bases) == sorted({one["dimension"] for one in LISTED})


@for_each(
    "value, unit, other, expected",
    (1, "mile", "km", 1.609344),
    (2, "tonnes", "kg", 2000),
    (5000, "pounds", "kg", 2267.96185),
    (60, "mph", "km/h", 96.56064),
    (2, "hours", "minutes", 120),
    (100, "degrees Celsius", "kelvin", 373.15),
    (1, "light year", "km", 9460730472580.8),
    (1, "square mile", "km²", 2.589988110336),
)
def test_values_are_converted(value: float, unit: str, other: str, expected: float) -> None:
    assert named(unit).convert(value, named(other)) == pytest.approx(expected, rel=1e-9)


@given(value=VALUES, one=st.sampled_from(UNITS), other=st.sampled_from(UNITS))
def test_there_and_back_again_is_the_same(value: float, one: Unit, other: Unit) -> None:
    if one.dimension == other.dimension:
        back = other.convert(one.convert(value, other), one)
        assert isclose(
            back, value, rel_tol=1e-6, abs_tol=1e-6 * max(1.0, other.factor / one.factor)
        )


@for_each(
    "name, unit",
    ("length (m)", "metre"),
    ("maximum load in kg", "kilogram"),
    ("weightKg", "kilogram"),
    ("height_cm", "centimetre"),
    ("https://x.example/terms#massKg", "kilogram"),
    ("top speed [mph]", "miles per hour"),
    *((name, "") for name in ("top speed", "km", "opening time", "year", "end in itself", "m")),
)
def test_a_name_says_the_unit(name: str, unit: str) -> None:
    assert detect_unit([name]) == (named(unit) if unit else None)


def test_descriptions_questions_and_iris_say_the_unit() -> None:
    unit = detect_unit(["distance"], ["Mean distance in millions of kilometres."])
    assert unit is not None and named("km").convert(5e6, unit) == 5
    assert match_unit(("5", "square", "miles", "wide"), 1) == (named("square mile"), 2)
    assert match_unit(("5", "apples"), 1) is None
    assert get_unit_by_iri("http://qudt.org/vocab/unit/TONNE") == named("tonne")
    assert get_unit_by_iri("http://x.example/TONNE") is None
