"""A method and its settings in one word."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.workspace.method_specs import method_spec

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
