"""A workspace and a database of 0.1.0 open with this version, with all that is in them."""

import json
import sqlite3
import tarfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import numpy as np
import pytest
from tests.servers.served import ServedThread

import askgraph
from askgraph.errors import SetupError
from askgraph.graph.literals import ValueKind
from askgraph.workspace import Workspace

LEFT = Path(__file__).parent / "v0_1_0"
SPACE = "https://example.org/space/"
MARS, LUNA = "Which moons orbit Mars?", "What is the diameter of Luna?"
MOONS = [[f"{SPACE}Deimos"], [f"{SPACE}Phobos"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(LEFT / "workspace.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    database = sqlite3.connect(tmp_path / "serve.db")
    database.executescript((LEFT / "serve.sql").read_text("utf-8"))
    database.close()
    return tmp_path


@pytest.fixture
def old(folder: Path) -> Iterator[httpx2.Client]:
    """A caller with the key that 0.1.0 gave them."""
    key = {"Authorization": f"Bearer {(LEFT / 'key.txt').read_text().strip()}"}
    with (
        ServedThread(Workspace(folder)) as server,
        httpx2.Client(base_url=f"{server.url}/api/v1", headers=key, timeout=600) as client,
    ):
        yield client


def test_the_graph_is_asked_without_being_built_again(folder: Path) -> None:
    built = folder / "data" / "moons" / "built.json"
    before = built.stat().st_mtime_ns
    assert askgraph.ask(MARS, "moons", workspace=folder).json()["rows"] == MOONS
    assert built.stat().st_mtime_ns == before
    # A graph that a newer askgraph has written is left as it is.
    path = folder / "data" / "moons" / "built.json"
    newer = json.dumps({**json.loads(path.read_text("utf-8")), "format": 99, "unknown": True})
    path.write_text(newer, "utf-8")
    with pytest.raises(SetupError, match=r"newer askgraph .*format is 99.* upgrade askgraph"):
        askgraph.ask(MARS, "moons", workspace=folder)
    assert path.read_text("utf-8") == newer


def test_a_graph_whose_dates_an_older_version_took_for_texts_is_built_again(tmp_path: Path) -> None:
    (tmp_path / "notes.ttl").write_text("<urn:note> <urn:made> '2020-01-02T00:00:00Z' .")
    workspace = Workspace(tmp_path)
    workspace.add("notes", [tmp_path / "notes.ttl"])
    folder = workspace.get_data_folder("notes")
    kinds, built = folder / "arrays" / "sorts.npy", folder / "built.json"
    np.save(kinds, np.full_like(np.load(kinds), ValueKind.TEXT))
    built.write_text(json.dumps({**json.loads(built.read_text("utf-8")), "literals": 0}), "utf-8")
    workspace.graph("notes")
    assert ValueKind.TEXT_DATE in np.load(kinds)


def test_answers_verdicts_and_keys_are_still_there(old: httpx2.Client) -> None:
    runs = {run["question"]: run["id"] for run in old.get("runs").json()["runs"]}
    mars, luna = (old.get(f"runs/{runs[question]}").json() for question in (MARS, LUNA))
    assert mars["answer"]["rows"] == MOONS and mars["answer"]["sentence"].startswith("Deimos and")
    assert mars["feedback"] == {"verdict": "right", "comment": "both"} and mars["verified"] is True
    assert luna["answer"]["rows"] == [[3474]] and luna["feedback"] is None
    (session,) = {
        run["session"] for run in old.get("runs").json()["runs"] if run["question"] == MARS
    }
    # A confirmed question is answered as it was confirmed.
    again = old.post("ask", json={"question": MARS}).json()
    assert again["answer"]["rows"] == MOONS
    assert again["answer"]["confirmed"]["question"] == MARS
    # A question goes on from one that was asked before the upgrade.
    body = {"question": "And Earth?", "session": session}
    assert old.post("ask", json=body).json()["answer"]["rows"] == [[f"{SPACE}Luna"]]
