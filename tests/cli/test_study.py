"""`askgraph study`: a run for each variant, made of the plain graph, kept and used again."""

import json
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs_in_regions import FIRMS
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.workspace import Workspace

QUESTION = {
    "id": "south",
    "question": "Which firms are from Southland?",
    "lang": "en",
    "tags": ["geo"],
    "sparql": "PREFIX : <http://example.org/> SELECT DISTINCT ?x { ?x :hasSeat/:partOf+ :south }",
}
STUDY = ("study", "representations", "--method", "graph-search")
MINE = """
[[experiment]]
[[experiment]]
schema = "specific"
[[experiment]]
inverse = true
shortcuts = true
[[experiment]]
comments = true
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "firms.ttl").write_text(FIRMS)
    (tmp_path / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (tmp_path / "mine.toml").write_text(MINE)
    Workspace(tmp_path).add("firms", [tmp_path / "firms.ttl"])
    return tmp_path


def call(place: Path, *more: str) -> tuple[str, str]:
    arguments = [
        *STUDY, str(place / "questions.jsonl"), "-g", "firms", "--out", str(place / "runs"),
        "--experiments", str(place / "mine.toml"), "--workspace", str(place), *more,
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_a_study_of_representations(place: Path) -> None:
    # A study says what each representation gives and what is left out.
    out, err = call(place, "--by", "geo", "--json")
    found = json.loads(out)
    assert [one["number"] for one in found] == [1, 2, 3]
    assert found[2]["figures"] == {"all": {"em": 1.0, "f1": 1.0}, "geo": {"em": 1.0, "f1": 1.0}}
    assert "experiment 4: no definition has comments" in err and "no language model is named" in err


def test_a_graph_of_somebody_else_is_not_taken_away(place: Path) -> None:
    Workspace(place).add("firms.inverse-shortcuts", [place / "firms.ttl"])
    out, err = call(place, "--json")
    assert [row["number"] for row in json.loads(out)] == [1, 2]
    assert "experiment 3: the graph 'firms.inverse-shortcuts' was not made by a study of" in err
    assert "firms.inverse-shortcuts" in Workspace(place).graphs()


def test_a_dry_run_says_what_an_experiment_lacks(place: Path) -> None:
    out, _ = call(place, "--dry-run", "--json")
    *experiments, total = json.loads(out)[0]["rows"]
    assert [bool(one["needs"]) for one in experiments] == [False, False, False, True]
    assert total["questions"] == 2 and not (place / "runs").exists()


def test_a_method_without_boundaries_is_asked_once_for_all_of_them(place: Path) -> None:
    out, _ = call(place, "--markdown")
    assert sorted(one.name for one in (place / "runs").iterdir()) == ["inverse-shortcuts", "plain"]
    assert "graph-search has no entity boundaries" in out


def test_a_variant_of_another_name_is_refused(place: Path) -> None:
    arguments = [*STUDY, str(place / "questions.jsonl"), "-g", "firms", "--out", str(place)]
    result = CliRunner().invoke(
        app, [*arguments, "--variant", "odd=firms", "--workspace", str(place)]
    )
    assert result.exit_code != 0 and "--variant 'odd=firms'" in result.output


@for_each(
    ("more", "said"),
    (["--variant", "inverse=nobody"], "no graph 'nobody'"),
    (["--by", "odd"], "no question has the tag 'odd'"),
    (["--published", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
)
def test_what_is_wrong_is_said_before_the_first_run(
    place: Path, more: list[str], said: str
) -> None:
    arguments = [*STUDY, str(place / "questions.jsonl"), "-g", "firms", "--out"]
    arguments += [str(place / "runs"), *more, "--workspace", str(place)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0 and said in " ".join(result.output.split())
    assert not (place / "runs").exists()
