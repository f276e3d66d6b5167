"""Settings of methods as they stand in `askgraph.toml`."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each
from tests.servers.sparql import SparqlServer

from askgraph.errors import NotPublic, SetupError
from askgraph.workspace import Workspace
from askgraph.workspace.settings import (
    SETTINGS_FILE,
    GraphSettings,
    check_settings,
    load_method_settings,
    parse_method_spec,
)


@for_each("method", ["graph-search", "multi-stage"])
def test_a_relative_path_of_a_method_starts_at_the_folder_of_the_file(
    method: str, tmp_path: Path
) -> None:
    table = f"[methods.{method.replace('-', '_')}]\n"
    (tmp_path / SETTINGS_FILE).write_text(f'{table}ranking = "weights/{{graph}}.bin"\n', "utf-8")
    path = str(tmp_path / "weights" / "{graph}.bin")
    assert load_method_settings(tmp_path, method) == {"ranking": path}
    # A name and a whole path stay as they are.
    for value in ("", "grown", "model", "/elsewhere/weights.bin"):
        (tmp_path / SETTINGS_FILE).write_text(f'{table}ranking = "{value}"\n', "utf-8")
        assert load_method_settings(tmp_path, method) == {"ranking": value}


def test_guarded_graphs(sparql_server: SparqlServer, tmp_path: Path) -> None:
    # A guarded graph stays guarded when its settings are read again.
    settings = GraphSettings(
        url="https://example.org/sparql", public_only=True, private_addresses=("10.0.0.0/8",)
    )
    assert GraphSettings.from_table("it", settings.to_table()) == settings
    # A guarded graph is not profiled at a private address.
    workspace = Workspace(tmp_path)
    with pytest.raises(NotPublic):
        workspace.add("inside", [sparql_server.url], settings={"public_only": True})
    assert sparql_server.requests == [] and workspace.graphs() == {}
    workspace.add(
        "inside",
        [sparql_server.url],
        settings={"public_only": True, "private_addresses": ("127.0.0.1",)},
    )
    assert workspace.graphs()["inside"].public_only
    # A name alone has no settings.
    assert parse_method_spec("graph-search") == ("graph-search", {})
    for spec in ("dfsl:n", "dfsl:=3"):
        with pytest.raises(SetupError, match="NAME=VALUE"):
            parse_method_spec(spec)


@for_each(
    ("setting", "value", "wanted"),
    ("public_only", 1, "true or false"),
    ("cache_mb", True, "a whole number"),
    ("timeout", "1", "a number"),
    ("graphs", "x", "a list of texts"),
)
def test_a_setting_of_another_kind_is_refused(setting: str, value: object, wanted: str) -> None:
    with pytest.raises(SetupError, match=wanted):
        GraphSettings.from_table("it", {"url": "https://example.org", setting: value})


@dataclass(frozen=True)
class Answering:
    """A method with a field of each kind."""

    states: int = 5
    share: float = 0.5
    timeout: float | None = None
    operators: bool = True
    examples: str = ""
    place: Path = Path()


@for_each(
    ("setting", "value", "told"),
    ("operators", "False", "'operators' must be true or false, not 'False'"),
    ("operators", 0, "'operators' must be true or false, not 0"),
    ("states", "abc", "'states' must be a whole number, not 'abc'"),
    ("states", 2.5, "'states' must be a whole number, not 2.5"),
    ("states", True, "'states' must be a whole number, not True"),
    ("timeout", "long", "'timeout' must be a number or null, not 'long'"),
    ("examples", 5, "'examples' must be text, not 5"),
    (
        "speed",
        1,
        "has no setting 'speed'; available: states, share, timeout, operators, examples, place",
    ),
)
def test_a_setting_of_another_type_is_refused(setting: str, value: object, told: str) -> None:
    with pytest.raises(SetupError, match=f"method 'm'.* {told}"):
        check_settings("m", Answering, {setting: value})
    taken = {"operators": False, "states": 7, "share": 1, "timeout": None, "place": "somewhere"}
    check_settings("m", Answering, taken)


NAMES = st.from_regex(r"[a-z_]+", fullmatch=True)
VALUES = st.one_of(st.integers(), st.booleans())
TEXTS = st.from_regex(r"x[a-z0-9/]*", fullmatch=True)


@given(NAMES, st.dictionaries(NAMES, VALUES | TEXTS))
def test_settings_follow_the_name(name: str, settings: dict[str, object]) -> None:
    told = [f"{key}={v if isinstance(v, str) else json.dumps(v)}" for key, v in settings.items()]
    assert parse_method_spec(f"{name}:{','.join(told)}") == (name, settings)
