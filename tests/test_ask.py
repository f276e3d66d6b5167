"""`askgraph.ask` and `askgraph.Graph`, as scripts and notebooks use them."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, date, datetime
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


@pytest.fixture
def pets(source: Path) -> Path:
    path = source.with_name("pets.ttl")
    path.write_text(PETS)
    return path


def test_a_file_and_an_open_graph_are_asked(source: Path) -> None:
    result = askgraph.ask(QUESTION, source)
    assert result.answered and "Europa" in str(result) and "SELECT" in str(result)
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


def test_what_does_not_exist_cannot_be_told_apart_or_takes_too_long_is_told(source: Path) -> None:
    with pytest.raises(SetupError, match="no graph 'nothing'"):
        askgraph.ask(QUESTION, "nothing")
    with pytest.raises(SetupError, match="no file or folder"):
        askgraph.ask(QUESTION, Path("nothing.ttl"))
    with pytest.raises(SetupError, match="two of the graphs have the name 'moons'"):
        askgraph.ask(QUESTION, [source, source])
    with pytest.raises(SetupError, match="name at least one graph"):
        askgraph.ask(QUESTION, [])
    with pytest.raises(TimedOut):
        askgraph.ask(QUESTION, source, timeout=1e-6)


def test_importing_it_imports_nothing() -> None:
    script = "import askgraph, sys; assert not {'numpy', 'asyncio', 'typer'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_several_graphs_are_asked_as_one(source: Path, pets: Path) -> None:
    owner = askgraph.ask("Who is the owner of Rex?", [source, pets])
    moons = askgraph.ask(QUESTION, [source, pets])
    assert (owner.json()["graph"], moons.json()["graph"]) == ("pets", "moons")


def test_an_answer_is_shown_with_the_prefixes_of_its_graph(source: Path, pets: Path) -> None:
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


def test_a_graph_is_opened_once_for_many_questions(source: Path, pets: Path) -> None:
    with askgraph.Graph([source, pets]) as graph:
        source.unlink()
        moons, owner = graph.ask(QUESTION), graph.ask("Who is the owner of Rex?", language="en")

    assert "Europa" in moons.sentence and moons.query and "SELECT" in moons.query
    assert (moons.json()["graph"], owner.json()["graph"]) == ("moons", "pets")
    assert moons.confidence == moons.json()["confidence"] and moons.reading in str(moons)
    with pytest.raises(SetupError, match="no graph 'nothing'"):
        askgraph.Graph("nothing")
    with pytest.raises(SetupError, match="no file or folder"):
        graph.ask(QUESTION)  # it was closed, and would have to open again


async def test_questions_run_at_once_in_a_loop(source: Path) -> None:
    graph = askgraph.AsyncGraph(source)
    first, second = await asyncio.gather(graph.ask(QUESTION), graph.ask("Which moon orbits Mars?"))
    await graph.close()
    async with graph:
        with pytest.raises(TimedOut):
            await graph.ask(QUESTION, timeout=1e-6)
        again = await graph.ask("And Mars?", after=first)

    assert first.answered and second.rows == again.rows == (("http://example.org/Phobos",),)


TYPED = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix x: <http://www.w3.org/2001/XMLSchema#> .
:a rdfs:label "<script>a</script>" ; :n 1 ; :f 1 ; :b true ; :d "2001-02-03"^^x:date ; :y "1969"^^x:gYear ;
  :t "2001-02-03T04:05:06"^^x:dateTime ; :z "2001-02-03T04:05:06+02:00"^^x:dateTime ; :m 5 ; :w "1969"^^x:gYear .
:b :n 2 ; :f 1.5 ; :b false ; :z "2001-02-03T04:05:06Z"^^x:dateTime ; :m "no number"^^x:integer ; :w "x"^^x:date .
"""  # noqa: E501
EAST = datetime(2001, 2, 3, 2, 5, 6, tzinfo=UTC)


@pytest.fixture
def typed(source: Path) -> askgraph.Result:
    source.write_text(TYPED)
    pattern = " ".join(f"OPTIONAL {{ ?s :{name} ?{name} }}" for name in "nfbdytzmw")
    query = f"SELECT * {{ ?s :n [] {pattern} }} ORDER BY ?s"
    call = json.dumps({"query": query, "columns": ["s"]})
    model = ScriptedModel([ToolCall(str(turn), "answer", call) for turn in (1, 2)])
    return askgraph.ask("Which?", source, method="grasp", model=model)


def test_a_column_of_a_frame_has_one_type(
    typed: askgraph.Result, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = typed.to_pandas()
    values = {name: frame[name].tolist() for name in frame.columns}

    types = "Int64 float64 boolean datetime64[s] Int64 datetime64[us] datetime64[us,UTC]".split()
    assert [str(kind).replace(" ", "") for kind in frame.dtypes[1:8]] == types
    assert values["n"] == [1, 2] and values["f"] == [1.0, 1.5] and values["b"] == [True, False]
    assert values["d"][0] == datetime(2001, 2, 3) and values["y"][0] == 1969
    assert values["z"] == [EAST, EAST.replace(hour=4)]
    assert values["m"] == ["5", "no number"] and values["w"] == ["1969", "x"]
    assert typed.rows[0][1:6] == (1, 1, True, date(2001, 2, 3), 1969) and typed.rows[1][4] is None
    assert typed.to_pandas(labels=True)["s"].tolist() == ["<script>a</script>", "http://e.org/b"]
    boolean = askgraph.ask("Is Titan a moon of Saturn?", sample.graph_path())
    assert boolean.to_pandas().to_dict("list") == {"answer": [True]} and boolean.rows == ((True,),)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(SetupError, match="pip install polars"):
        typed.to_polars()


def test_polars_has_the_same_columns(typed: askgraph.Result) -> None:
    polars = pytest.importorskip("polars")
    names = ("String", "Int64", "Float64", "Boolean", "Date", "Int64")
    zones = (polars.Datetime("us"), polars.Datetime("us", "UTC"), polars.String, polars.String)

    assert typed.to_polars().dtypes == [*(getattr(polars, name) for name in names), *zones]
    assert typed.to_polars()["z"].to_list() == [EAST, EAST.replace(hour=4)]


def test_a_notebook_shows_texts_of_the_graph_as_text(typed: askgraph.Result, source: Path) -> None:
    page = typed._repr_html_()

    assert "&lt;script&gt;a&lt;/script&gt;" in page and "<script" not in page
    assert page.count("<tr>") == 3 and "<summary>Query</summary>" in page and "Read as" in page
    many = askgraph.ask("Which moons are there?", sample.graph_path())._repr_html_()
    assert many.count("<tr>") == 21 and "20 of 55" in many and len(many) < 4000
    refused = askgraph.ask("What is the population of Mars?", sample.graph_path())
    assert "'population'" in refused.sentence and "&#x27;population" in refused._repr_html_()
    assert (refused.rows, refused.query, refused.confidence) == ((), None, None)


SCRIPT = """
import asyncio
from typing import assert_type

import askgraph
from askgraph.api import Value


def ask(graph: askgraph.Graph) -> askgraph.Result:
    result = graph.ask("Which moons are there?", language="en", seconds=5)
    assert_type(result.confidence, float | None)
    assert_type(result.columns, tuple[str, ...])
    for row in result.rows:
        assert_type(row, tuple[Value, ...])
    return result


async def ask_at_once() -> str:
    async with askgraph.AsyncGraph(["a.ttl", "b.ttl"], method="guided", model="m") as graph:
        return (await graph.ask("Which?", after=askgraph.ask("Which?", "a.ttl"))).sentence


with askgraph.Graph("space.ttl") as opened:
    print(ask(opened), asyncio.run(ask_at_once()))
"""


def test_a_strict_type_checker_understands_the_api(tmp_path: Path) -> None:
    for name, wrong in (("right", ""), ("wrong", "number: int = opened.ask(1).query\n")):
        (tmp_path / f"{name}.py").write_text(SCRIPT + wrong)
    root = Path(__file__).parents[1]  # our own types are checked already, strictly, by `make check`
    done = subprocess.run(
        [sys.executable, "-m", "mypy", tmp_path], cwd=root, capture_output=True, text=True
    )

    place = f"{tmp_path / 'wrong.py'}:{SCRIPT.count(chr(10)) + 1}: error: "
    assert done.stdout.count(place) == 2 and "Found 2 errors in 1 file" in done.stdout, done.stdout
    assert (root / "src" / "askgraph" / "py.typed").exists()
