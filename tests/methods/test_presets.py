"""Presets: the settings of a paper beside our own."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.sparql_llm import SparqlLlm
from askgraph.workspace import Workspace

PLUGINS = (Dfsl, GrafVonData, Grasp, MultiStage, SparqlLlm)


@for_each("plugin", PLUGINS)
def test_a_preset_is_a_table_of_settings_that_differ_each_with_its_place(plugin: type) -> None:
    best = plugin(ScriptedModel([]))
    paper = plugin(ScriptedModel([]), preset="paper")

    table = plugin.published.settings  # type: ignore[attr-defined]
    assert table
    for name, (value, place) in table.items():
        assert getattr(paper, name) == value != getattr(best, name)
        assert place.strip()
    others = set(plugin.__dataclass_fields__) - {*table, "preset", "model"}  # type: ignore[attr-defined]
    assert all(getattr(paper, name) == getattr(best, name) for name in others)


def test_a_setting_that_is_given_goes_before_the_preset() -> None:
    method = Grasp(ScriptedModel([]), preset="paper", hits=3)

    assert (method.hits, method.tools) == (3, "S_E")
    assert replace(method, timeout=1.0).timeout == 1.0
    assert replace(method, timeout=1.0).tools == "S_E"


def test_a_preset_stands_in_the_settings_of_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "askgraph.toml").write_text('[methods.grasp]\npreset = "paper"\nrows = 4\n')

    method = Workspace(tmp_path).method("grasp", {"model": ScriptedModel([]), "steps": 2})

    assert isinstance(method, Grasp)
    assert (method.tools, method.rows, method.steps, method.propose) == ("S_E", 4, 2, False)


def test_an_unknown_preset_says_which_there_are() -> None:
    with pytest.raises(SetupError, match="'preset' is one of best, paper, not 'draft'"):
        Grasp(ScriptedModel([]), preset="draft")
