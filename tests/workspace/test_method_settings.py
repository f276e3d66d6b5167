"""Settings of a method held against its fields."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.workspace.method_settings import check_settings, method_spec


@dataclass(frozen=True)
class Answering:
    """A method with a field of each kind."""

    states: int = 5
    share: float = 0.5
    timeout: float | None = None
    operators: bool = True
    examples: str = ""
    place: Path = Path()


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("operators", "False", "'operators' is true or false, not 'False'"),
        ("operators", 0, "'operators' is true or false, not 0"),
        ("states", "abc", "'states' is a whole number, not 'abc'"),
        ("states", 2.5, "'states' is a whole number, not 2.5"),
        ("states", True, "'states' is a whole number, not True"),
        ("timeout", "long", "'timeout' is a number or null, not 'long'"),
        ("examples", 5, "'examples' is text, not 5"),
        ("speed", 1, "no 'speed'; it has states, share, timeout, operators, examples, place"),
    ],
)
def test_a_setting_of_another_type_is_refused(setting: str, value: object, told: str) -> None:
    with pytest.raises(SetupError, match=f"method 'm' does not take these settings: .*{told}"):
        check_settings("m", Answering, {setting: value})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("operators", False),
        ("states", 7),
        ("share", 1),
        ("timeout", None),
        ("timeout", 2.5),
        ("examples", "train.jsonl"),
        ("place", "somewhere"),
    ],
)
def test_a_setting_of_the_fields_type_is_taken(setting: str, value: object) -> None:
    check_settings("m", Answering, {setting: value})


NAMES = st.from_regex(r"[a-z_]+", fullmatch=True)
VALUES = st.one_of(st.integers(), st.booleans())
TEXTS = st.from_regex(r"x[a-z0-9/]*", fullmatch=True)


@given(NAMES, st.dictionaries(NAMES, VALUES | TEXTS))
def test_settings_follow_the_name(name: str, settings: dict[str, object]) -> None:
    told = [f"{key}={v if isinstance(v, str) else json.dumps(v)}" for key, v in settings.items()]

    assert method_spec(f"{name}:{','.join(told)}") == (name, settings)


def test_a_name_alone_has_no_settings() -> None:
    assert method_spec("graph-search") == ("graph-search", {})


@pytest.mark.parametrize("spec", ["dfsl:n", "dfsl:=3"])
def test_a_setting_without_name_or_value_is_refused(spec: str) -> None:
    with pytest.raises(SetupError, match="NAME=VALUE"):
        method_spec(spec)
