"""`askgraph.ask`, as scripts and notebooks use it."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.deaf import installed
from tests.graphs import MOONS, PETS

import askgraph
from askgraph import sample
from askgraph.errors import SetupError, TimedOut
from askgraph.llm import ToolCall
from askgraph.llm.scripted import ScriptedModel
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

QUESTION = "Which moons orbit Jupiter?"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    path = tmp_path / "moons.ttl"
    path.write_text(MOONS)
    return path


def test_a_file_and_an_open_graph_are_asked(source: Path) -> None:
    result = askgraph.ask(QUESTION, source)
    assert result.answered
    assert "Europa" in str(result) and "SELECT" in str(result)
    assert result.json()["graph"] == "moons"
    graph = Workspace().open(source)
    try:
        assert all(askgraph.ask(QUESTION, graph).answered for _ in range(2))
    finally:
        run_coroutine(graph.endpoint.close())


def test_a_named_graph_is_asked_by_name_or_as_the_only_one(source: Path) -> None:
    Workspace().add("space", [source])
    assert askgraph.ask(QUESTION, "space").json()["rows"] == askgraph.ask(QUESTION).json()["rows"]


async def test_it_works_where_a_loop_runs_already(source: Path) -> None:
    assert askgraph.ask(QUESTION, source).answered


def test_an_empty_result_is_trusted_less(source: Path) -> None:
    question = "Which moons have a diameter of more than {} km?"
    some = askgraph.ask(question.format(3000), sample.graph_path()).json()
    none = askgraph.ask(question.format(300_000), sample.graph_path()).json()

    sure, unsure = some["confidence"], none["confidence"]
    assert some["rows"] and not none["rows"]
    assert isinstance(sure, float) and isinstance(unsure, float) and unsure < 0.7 * sure


def test_what_does_not_exist_or_cannot_be_told_apart_is_told(source: Path) -> None:
    with pytest.raises(SetupError, match="no graph 'nothing'"):
        askgraph.ask(QUESTION, "nothing")
    with pytest.raises(SetupError, match="no file or folder"):
        askgraph.ask(QUESTION, Path("nothing.ttl"))
    with pytest.raises(SetupError, match="two of the graphs have the name 'moons'"):
        askgraph.ask(QUESTION, [source, source])
    with pytest.raises(SetupError, match="name at least one graph"):
        askgraph.ask(QUESTION, [])


def test_time_runs_out(source: Path) -> None:
    with pytest.raises(TimedOut):
        askgraph.ask(QUESTION, source, timeout=1e-6)


def test_importing_it_imports_nothing() -> None:
    script = "import askgraph, sys; assert not {'numpy', 'asyncio', 'typer'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_several_graphs_are_asked_as_one(source: Path) -> None:
    pets = source.with_name("pets.ttl")
    pets.write_text(PETS)

    owner = askgraph.ask("Who is the owner of Rex?", [source, pets])
    moons = askgraph.ask(QUESTION, [source, pets])

    assert (owner.json()["graph"], moons.json()["graph"]) == ("pets", "moons")


def test_an_answer_is_shown_with_the_prefixes_of_its_graph(source: Path) -> None:
    pets = source.with_name("pets.ttl")
    pets.write_text("@prefix pet: <http://pets.example/> . pet:Rex pet:owner pet:Ann .")
    query = '{"graph": "pets", "query": "SELECT ?who { ?pet pet:owner ?who }", "columns": ["who"]}'
    model = ScriptedModel([ToolCall("1", "answer", query)])

    result = askgraph.ask("Who owns Rex?", [source, pets], method="grasp", model=model)

    assert "pet:Ann" in str(result)


def test_a_question_follows_another_one(source: Path) -> None:
    query = '{"query": "SELECT ?moon { ?moon onto:orbits :%s }", "columns": ["moon"]}'
    model = ScriptedModel([ToolCall("1", "answer", query % at) for at in ("Jupiter", "Mars")])

    first = askgraph.ask(QUESTION, source, method="grasp", model=model)
    second = askgraph.ask("And Mars?", source, method="grasp", model=model, after=first)

    told = "\n".join(message.text for message in model.requests[-1].messages)
    assert QUESTION in told and "onto:orbits :Jupiter" in told
    assert second.json()["rows"] == [["http://example.org/Phobos"]]
    assert [earlier.question for earlier in second.question.before] == [QUESTION]


def test_a_method_that_does_not_converse_says_so(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    installed(tmp_path, monkeypatch)
    first = askgraph.ask(QUESTION, source)

    after = {"method": "deaf", "after": first}
    assert askgraph.ask("Which moons orbit Mars?", source, **after).answered  # type: ignore[arg-type]

    assert "'deaf' ignores earlier questions" in caplog.text


def test_an_index_that_cannot_be_built_is_told_before_a_model_is_asked(source: Path) -> None:
    Workspace().add("moons", [source], settings={"entities": "nowhere.tsv"})
    model = ScriptedModel([])

    with pytest.raises(SetupError, match="nowhere"):
        askgraph.ask(QUESTION, "moons", method="grasp", model=model)

    assert model.requests == []
