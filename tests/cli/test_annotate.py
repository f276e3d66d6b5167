"""`askgraph annotate`: a table in, the things, classes and predicates of a graph out."""

import csv
import json
from pathlib import Path

import pytest
from tests.cli.running import Done, Run, askgraph

TABLE = "Moon,Around,Radius\nIo,Jupiter,1821.6\nPhobos,Mars,11.3\nEuropa,Jupiter,1560.8\n"


@pytest.fixture
def run(moons: Path, tmp_path: Path) -> Run:
    (tmp_path / "moons.csv").write_text(TABLE)

    def annotated(*words: object) -> Done:
        return askgraph("annotate", *words, "-g", "moons", workspace=moons, folder=tmp_path)

    return annotated


def test_annotating_a_table(run: Run, tmp_path: Path) -> None:
    # A table is annotated and written with its iris.
    done = run("moons.csv", "--out", "out.csv")
    assert done.returncode == 0, done.stderr
    for part in ("Moon", "things", "values", "orbits", "http://example.org/radius"):
        assert part in done.stdout
    assert "6 of 6 cells linked to things" in done.stderr
    first, *_ = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    assert (first["Moon"], first["Moon iri"]) == ("Io", "http://example.org/Io")
    assert first["Around iri"] == "http://example.org/Jupiter"
    assert 0.5 < float(first["Moon score"]) <= 1
    # As json it is what a file of json has.
    done = run("moons.csv", "--out", "out.json", "--json")
    found = json.loads(done.stdout)
    assert found == json.loads((tmp_path / "out.json").read_text())
    assert [column["things"] for column in found["columns"]] == [True, True, False]
    assert found["cells"][0]["candidates"][0]["iri"] == "http://example.org/Io"
    assert {(pair["subject"], pair["object"]) for pair in found["pairs"]} == {(0, 1), (0, 2)}
    # Nothing is read where nothing can be written.
    nowhere = run("moons.csv", "--out", "none/out.csv")
    itself = run("moons.csv", "--out", "moons.csv")
    assert (nowhere.returncode, "there is no folder 'none'" in nowhere.stderr) == (2, True)
    assert (itself.returncode, "is the table itself" in itself.stderr) == (2, True)
    assert (tmp_path / "moons.csv").read_text() == TABLE


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("none.csv",), "cannot read the table 'none.csv'"),
        (("moons.csv", "--out", "out.txt"), "does not end in .csv or .json"),
    ],
)
def test_what_cannot_be_read_or_written_is_told(
    run: Run, words: tuple[str, ...], told: str
) -> None:
    done = run(*words)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
