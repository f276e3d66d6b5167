"""A small graph, and the command line with a method that looks answers up."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Done, Run, askgraph

from askgraph.workspace import Workspace

MOONS = """
prefix : <http://example.org/> prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
:Io a :Moon ; rdfs:label "Io"@en ; :orbits :Jupiter ; :radius 1821.6 .
:Europa a :Moon ; rdfs:label "Europa"@en ; :orbits :Jupiter ; :radius 1560.8 .
:Phobos a :Moon ; rdfs:label "Phobos"@en ; :orbits :Mars ; :radius 11.2667 .
:Jupiter a :Planet ; rdfs:label "Jupiter"@en .
:Mars a :Planet ; rdfs:label "Mars"@en .
"""


@pytest.fixture(scope="module")
def moons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "moons.ttl").write_text(MOONS)
    Workspace(folder).add("moons", [folder / "moons.ttl"])
    return folder


@pytest.fixture
def command(moons: Path, tmp_path: Path) -> Callable[..., tuple[list[str], dict[str, Any]]]:
    """The command line, and how to start it; its method is `lookup`."""

    def line(*arguments: object) -> tuple[list[str], dict[str, Any]]:
        environment = {**os.environ, "ASKGRAPH_WORKSPACE": str(moons), "PYTHONPATH": str(tmp_path)}
        words = [sys.executable, "-m", "askgraph", *map(str, arguments), "--method", "lookup"]
        return words, {"env": environment, "cwd": tmp_path, "text": True}

    return line


@pytest.fixture
def run(moons: Path, tmp_path: Path) -> Run:
    def finished(*words: object) -> Done:
        place = {"workspace": moons, "folder": tmp_path, "packages": tmp_path}
        return askgraph(*words, "--method", "lookup", **place)

    return finished
