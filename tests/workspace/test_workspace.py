"""Graphs are added whole or not at all, opened fast, rebuilt when their source changed."""

import gzip
import json
import logging
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import EXTRA, MOONS, PETS

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.workspace import Workspace, get_default_folder
from askgraph.workspace.run_sync import run_coroutine

MOON_COUNT = "SELECT (COUNT(*) AS ?n) { ?s a <http://example.org/onto#Moon> }"


def moons(graph: KnowledgeGraph) -> int:
    try:
        result = run_coroutine(graph.endpoint.select(MOON_COUNT))
        return int(str(result.rows[0][0].value))  # type: ignore[union-attr]
    finally:
        run_coroutine(graph.endpoint.close())


def test_an_added_graph_has_endpoint_profile_names_arrays_and_prefixes(
    graph: KnowledgeGraph,
) -> None:
    assert graph.name == "moons" and graph.profile.triples == 23
    assert {c.iri.rpartition("#")[2]: c.instances for c in graph.profile.classes} == {
        "Moon": 3,
        "Planet": 2,
    }
    assert graph.arrays is not None and len(graph.arrays) == 23 and len(graph.names) > 0
    assert graph.prefixes.shorten("http://example.org/onto#orbits") == "onto:orbits"


def test_naming_graphs(workspace: Workspace, tmp_path: Path) -> None:
    # The only graph needs no name.
    assert moons(workspace.graph()) == 3
    # Of two graphs one must be named.
    (tmp_path / "pets.ttl").write_text(PETS)
    workspace.add("pets", [tmp_path / "pets.ttl"])
    with pytest.raises(SetupError, match="moons, pets"):
        workspace.graph()
    graph = workspace.graph("pets")
    run_coroutine(graph.endpoint.close())
    assert graph.profile.triples == 5
    # An unknown name tells the near ones and how to add.
    with pytest.raises(SetupError, match=r"did you mean 'moons'\?.*askgraph add moon FILE"):
        workspace.graph("moon")
    # An empty workspace tells how to add.
    with pytest.raises(SetupError, match="askgraph add NAME FILE"):
        Workspace(tmp_path / "none").graph()


def test_adding_and_replacing(
    workspace: Workspace, source: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # A taken name is not replaced unasked.
    with pytest.raises(SetupError, match="--replace"):
        workspace.add("moons", [source])
    # Replaced without sources it is built from its own.
    source.write_text(MOONS + EXTRA.split("onto#> .", 1)[1].split("schema#> .", 1)[1])
    assert workspace.add("moons", replace=True).classes[0].instances == 4
    # A changed source is read again and said so.
    source.write_text(MOONS.replace(":Phobos a onto:Moon", ":Phobos a onto:Planet"))
    with caplog.at_level(logging.WARNING, "askgraph"):
        assert moons(workspace.graph("moons")) == 2
    assert "moons.ttl changed" in caplog.text
    # A method has the settings of the file.
    file = workspace.folder / "askgraph.toml"
    file.write_text(file.read_text() + "[methods.graph-search]\nstates = 7\n")
    assert workspace.method().states == 7  # type: ignore[attr-defined]
    with pytest.raises(SetupError, match="has no setting 'no_such'"):
        workspace.method("graph-search", {"no_such": 1})
    # A graph opens in tens of milliseconds.
    run_coroutine(workspace.graph().endpoint.close())
    taken = []
    for _ in range(3):
        began = time.process_time()
        graph = workspace.graph()
        taken.append(time.process_time() - began)
        run_coroutine(graph.endpoint.close())
    assert min(taken) < 0.5
    # Several processes that see a change build it once.
    source.write_text(MOONS + "\n:Deimos a onto:Moon .")
    line = [sys.executable, "-m", "askgraph", "--workspace", str(workspace.folder)]
    query = [*line, "query", MOON_COUNT, "--csv"]
    running = [
        subprocess.Popen(query, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [process.communicate(timeout=600) for process in running]
    assert [out.split() for out, _ in said] == [["n", "4"]] * 4
    assert "".join(errors for _, errors in said).count("rebuilding graph") == 1
    # Built json is json.
    built = json.loads((workspace.get_data_folder("moons") / "built.json").read_text())
    assert built["sources"][0]["path"].endswith("moons.ttl")


@for_each("name", ["../x", "", ".hidden", "a b", "a/b", "a~b"])
def test_names_that_are_no_folder_names_are_refused(workspace: Workspace, name: str) -> None:
    with pytest.raises(SetupError, match="cannot be the name"):
        workspace.add(name, ["x.ttl"])


def test_a_graph_that_does_not_parse_leaves_nothing_behind(
    workspace: Workspace, source: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.ttl"
    bad.write_text("<a> <b>")
    with pytest.raises(SetupError, match=r"bad\.ttl"):
        workspace.add("moons", [bad], replace=True)
    assert {path.name for path in workspace.get_data_folder("x").parent.iterdir()} == {
        ".lock",
        "moons",
    }
    assert moons(workspace.graph("moons")) == 3


def test_sources_are_files_folders_packed_or_not(tmp_path: Path) -> None:
    folder, place = tmp_path / "many", Workspace(tmp_path / "w")
    (folder / "deep").mkdir(parents=True)
    (folder / "a.ttl").write_text(MOONS)
    (folder / "readme.txt").write_text("no graph")
    assert place.add("all", [folder]).classes[0].instances == 3
    # A file that came into the folder is read.
    (folder / "deep" / "b.ttl.gz").write_bytes(gzip.compress(EXTRA.encode()))
    assert moons(place.graph("all")) == 4


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([], "name a source"),
        (["missing.ttl"], "no file or folder"),
        (["picture.png"], "unknown file type"),
        (["page.html"], "'page.html' is a web page, not RDF"),
        (["page.ttl"], "page.ttl is a web page, not RDF: save the data that it links to"),
        (["empty"], "contains no RDF"),
        (["http://localhost/sparql", "moons.ttl"], "not both"),
    ],
)
def test_sources_that_cannot_be_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "picture.png").write_bytes(b"x")
    for name in ("page.html", "page.ttl"):
        (tmp_path / name).write_text("\n<!DOCTYPE html>\n<html><title>Our data</title></html>")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SetupError, match=said):
        Workspace(tmp_path / "w").add("x", sources)


def test_a_source_that_was_only_touched_is_not_read_again(
    workspace: Workspace, source: Path
) -> None:
    before = (workspace.get_data_folder("moons") / "built.json").stat().st_ino
    os.utime(source, (time.time() + 60, time.time() + 60))
    assert moons(workspace.graph("moons")) == 3
    assert (workspace.get_data_folder("moons") / "built.json").stat().st_ino == before


def test_a_graph_whose_source_is_gone_still_answers(
    workspace: Workspace, source: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source.unlink()
    with caplog.at_level(logging.WARNING, "askgraph"):
        assert moons(workspace.graph("moons")) == 3
    assert "using the previous data" in caplog.text


@for_each("name", ["profile.json", "names_texts.npy", "built.json", ""])
def test_damaged_or_missing_data_is_built_again(workspace: Workspace, name: str) -> None:
    if name:
        (workspace.get_data_folder("moons") / name).write_bytes(b"{}")
    else:
        shutil.rmtree(workspace.get_data_folder("moons"))
    assert moons(workspace.graph("moons")) == 3 and workspace.load_profile("moons").triples == 23


def test_what_a_killed_run_left_is_cleared_away(workspace: Workspace) -> None:
    left = workspace.get_data_folder(".moons~4999999-abc~1")
    left.mkdir()
    (left / "half").write_text("x")
    workspace.add("moons", replace=True)
    assert not left.exists()


def test_what_a_killed_run_had_put_away_comes_back(workspace: Workspace, source: Path) -> None:
    workspace.get_data_folder("moons").rename(workspace.get_data_folder(".moons~4999999-abc~1.old"))
    source.unlink()
    with pytest.raises(SetupError):
        workspace.add("moons", replace=True)
    assert moons(workspace.graph("moons")) == 3


def test_comments_and_other_settings_of_the_user_survive(
    workspace: Workspace, source: Path
) -> None:
    file = workspace.folder / "askgraph.toml"
    file.write_text("# mine\n" + file.read_text() + "timeout = 3.0  # short\n[methods.x]\na = 1\n")
    workspace.add("again", [source])
    workspace.add("moons", [source], replace=True)
    workspace.remove("again")
    assert not workspace.get_data_folder("again").exists() and source.exists()
    text = file.read_text()
    assert "# mine" in text and "timeout = 3.0  # short" in text and "[methods.x]" in text
    assert workspace.graphs()["moons"].timeout == 3.0


@for_each(
    ("text", "said"),
    ("[graphs.x\n", "cannot be read"),
    ("[graphs.x]\nsorces = ['a']\n", "unknown setting 'sorces'"),
    ("[graphs.x]\nsources = 'a'\n", "a list of texts"),
    ("[graphs.x]\nurl = 'http://x'\ntimeout = 'long'\n", "a number"),
    ("[graphs.x]\ntimeout = 3\n", "either `sources` or a `url`"),
    ("[graphs.x]\nurl = 'http://x'\nauth = 'magic'\n", "not one of none, basic"),
    ("[graphs]\nx = 3\n", "a table for each name"),
)
def test_a_settings_file_with_a_mistake_says_where(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "askgraph.toml").write_text(text)
    with pytest.raises(SetupError, match=said):
        Workspace(tmp_path).graphs()


def test_a_path_without_a_name_is_opened_and_remembered(tmp_path: Path, source: Path) -> None:
    place = Workspace(tmp_path / "w")
    first = place.open(source)
    assert first.name == "moons" and moons(first) == 3
    [folder] = [path for path in (tmp_path / "w" / "data").iterdir() if path.name[0] != "."]
    before = folder.stat().st_ino
    assert moons(place.find(str(source))) == 3 and folder.stat().st_ino == before
    assert place.graphs() == {}


def test_the_folder_is_named_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path))
    assert Workspace().folder == tmp_path
    monkeypatch.delenv("ASKGRAPH_WORKSPACE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert get_default_folder().name == "askgraph"
