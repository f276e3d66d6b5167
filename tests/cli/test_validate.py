"""`askgraph validate`: findings as people and programs read them, and the repaired query."""

import json
from pathlib import Path

import pytest
from tests.graphs import MOONS
from typer.testing import CliRunner, Result

from askgraph.cli import app

FAULTY = (
    "PREFIX onto: <http://example.org/onto#>\n"
    "SELECT * { ?p a onto:Planet ;\n  onto:orbits ?m ; onto:code ?c }\n"
)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    (tmp_path / "moons.ttl").write_text(MOONS)
    (tmp_path / "query.rq").write_text(FAULTY)
    assert run("add", "moons", tmp_path / "moons.ttl").exit_code == 0
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_finding_is_shown_under_its_line(workspace: Path) -> None:
    said = run("validate", workspace / "query.rq")
    assert said.exit_code == 3
    lines = said.stdout.split("\n")
    assert lines[0].startswith("3:3 wrong direction: onto:orbits leads the other way")
    assert lines[1:3] == ["      onto:orbits ?m ; onto:code ?c }", "      ^^^^^^^^^^^"]
    assert lines[3].startswith("    instead: ^onto:orbits (orbits)")


def test_the_repaired_query_is_sound(workspace: Path) -> None:
    said = run("validate", workspace / "query.rq", "--repair")
    assert said.exit_code == 0
    assert said.stdout == FAULTY.replace("onto:orbits", "^onto:orbits") + "\n"
    (workspace / "query.rq").write_text(said.stdout)
    assert run("validate", workspace / "query.rq").stdout == "nothing found\n"


def test_programs_are_told_all_of_it(workspace: Path) -> None:
    told = json.loads(run("validate", workspace / "query.rq", "--json").stdout)
    (finding,) = told["findings"]
    assert finding["kind"] == "wrong direction"
    assert finding["place"] == {"start": 72, "end": 83, "line": 3, "column": 3}
    assert finding["proposals"][0]["iri"] == "http://example.org/onto#orbits"
    assert told["remaining"] == []


def test_a_called_graph_is_judged_by_what_is_known_of_it(workspace: Path) -> None:
    (workspace / "query.rq").write_text(
        "SELECT * { SERVICE <askgraph:moons> { ?m <http://example.org/onto#orbit> ?p } }"
    )
    assert "unknown predicate" in run("validate", workspace / "query.rq").stdout
