"""`askgraph validate`: findings as people and programs read them, and the repaired query."""

import json
from pathlib import Path

import pytest
from tests.cli.running import cli as run
from tests.graphs import MOONS
from typer.testing import CliRunner

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


def test_findings_and_repairs(workspace: Path) -> None:
    # A finding is shown under its line.
    said = run("validate", workspace / "query.rq")
    assert said.exit_code == 3
    lines = said.stdout.split("\n")
    assert lines[0].startswith("3:3 wrong direction: onto:orbits leads the other way")
    assert lines[1:3] == ["      onto:orbits ?m ; onto:code ?c }", "      ^^^^^^^^^^^"]
    assert lines[3].startswith("    instead: ^onto:orbits (orbits)")
    # The repaired query is sound.
    said = run("validate", workspace / "query.rq", "--repair")
    assert said.exit_code == 0
    assert said.stdout == FAULTY.replace("onto:orbits", "^onto:orbits") + "\n"
    (workspace / "query.rq").write_text(said.stdout)
    assert run("validate", workspace / "query.rq").stdout == "nothing found\n"
    # A query comes from standard input too.
    read = CliRunner().invoke(app, ["validate", "-"], input=FAULTY)
    assert (read.exit_code, read.stdout[:19]) == (3, "3:3 wrong direction")
    wrong = CliRunner().invoke(app, ["validate", "-"], input=b"SELECT * { ?m a '\xe9' }")
    assert wrong.exit_code == 2 and "standard input is not UTF-8 text" in wrong.stderr
    # A graph that is not there is said.
    said = run("validate", workspace / "query.rq", "-g", "suns")
    assert said.exit_code == 2 and "'suns'" in said.stderr and "moons" in said.stderr


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


def test_the_name_of_a_thing_is_repaired_and_said_so(workspace: Path) -> None:
    (workspace / "query.rq").write_text(
        "SELECT * { <http://example.org/europa> <http://example.org/onto#radius> ?r }"
    )
    said = run("validate", workspace / "query.rq", "--repair")
    assert said.exit_code == 0
    assert "<http://example.org/Europa>" in said.stdout or ":Europa" in said.stdout
    assert "repaired: the name of a thing was corrected" in said.stderr


UNREADABLE = {
    "absent.rq": "there is no file 'absent.rq': name one that contains the query, or - to read",
    "folder": "'folder' is a folder: name a file that contains one query",
    "latin.rq": "'latin.rq' is not UTF-8 text (line 2 has the byte 0xe9): save the query as UTF-8",
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_said_with_what_to_do(
    name: str, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    (workspace / "folder").mkdir()
    (workspace / "latin.rq").write_bytes("SELECT * {\n?m a 'é' }".encode("latin-1"))
    said = run("validate", name)
    assert said.exit_code == 2 and said.stderr.startswith("askgraph: " + UNREADABLE[name])
    assert "Errno" not in said.stderr


def test_an_empty_file_holds_no_query(workspace: Path) -> None:
    (workspace / "query.rq").write_text("")
    said = run("validate", workspace / "query.rq")
    assert (said.exit_code, said.stdout) == (
        3,
        "1:1 syntax: line 1, column 1: the query is empty\n",
    )
