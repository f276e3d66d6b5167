"""Runs over the sample graph: on one process and on several, with examples and without."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.servers.llm import LlmServer

from askgraph import plugins, sample
from askgraph.errors import SetupError
from askgraph.evaluation.runs import EvaluationOptions, EvaluationRun, Record, read_run
from askgraph.evaluation.runs.one_question import get_gold_links
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import Guided
from askgraph.trace import Usage
from askgraph.workspace import Workspace
from askgraph.workspace.evaluation import ExecutorOptions, evaluate_benchmarks
from askgraph.workspace.plans import RunOptions, parse_method_choices, sample_questions
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection, select_benchmarks

NEEDS = {"processes": "concurrent.futures", "dask": "distributed"}
QUESTIONS = str(sample.questions_path().with_suffix(".jsonl"))


def run(
    space: Workspace,
    *methods: str,
    selection: Selection | None = None,
    crew: ExecutorOptions | None = None,
    wishes: RunOptions | None = None,
    folder: Path | None = None,
    benchmarks: tuple[str, ...] = (QUESTIONS,),
) -> EvaluationRun:
    chosen = selection or Selection(sample=8)
    asked = select_benchmarks(space, benchmarks, chosen)
    with_methods = replace(
        wishes or RunOptions(()), methods=parse_method_choices(methods or ["graph-search"])
    )
    work = evaluate_benchmarks(
        space, asked, with_methods, chosen, crew or ExecutorOptions(), folder=folder
    )
    return run_coroutine(work)


def timeless(run: EvaluationRun) -> list[Record]:
    return [
        replace(record, seconds=0, usage=replace(record.usage, seconds=0)) for record in run.records
    ]


def test_every_question_is_asked_with_every_method_as_often_as_wanted(space: Workspace) -> None:
    methods = ("graph-search", "graph-search:operators=false")
    done = run(space, *methods, wishes=RunOptions((), repeat=2))
    assert len(done.records) == 8 * 2 * 2
    assert {(record.method, record.repeat) for record in done.records} == {
        (method, repeat) for method in methods for repeat in (0, 1)
    }
    graph = space.graph("space")
    run_coroutine(graph.endpoint.close())
    assert done.settings["graphs"] == [{"name": "space", "snapshot": graph.snapshot}]


def test_without_operators_questions_that_need_them_are_lost(space: Workspace) -> None:
    done = run(space, "graph-search", "graph-search:operators=false", selection=Selection())
    scores = {
        method: [record.f1 for record in done.records if record.method == method]
        for method in ("graph-search", "graph-search:operators=false")
    }
    whole, bare = scores.values()
    assert sum(whole) > sum(bare) + 20


@for_each("where", NEEDS)
def test_elsewhere_the_run_is_the_same_as_here(space: Workspace, where: str) -> None:
    pytest.importorskip(NEEDS[where])
    methods = ("graph-search", "graph-search:operators=false")
    here = run(space, *methods)
    there = run(space, *methods, crew=ExecutorOptions(where, workers=2))
    assert timeless(there) == timeless(here)


def test_executors_processes_and_settings() -> None:
    # Every executor is found by name.
    assert plugins.list_names("executor") == ("dask", "processes")
    # Many questions without a model have a process a core.
    crew, search = ExecutorOptions("auto"), [GraphSearch()]
    cores = os.cpu_count() or 1
    many = crew.resolve(500, search)
    assert (many.executor, many.worker_count) == ("processes" if cores > 1 else "local", cores)
    assert crew.resolve(20, search).executor == "local"
    assert crew.resolve(500, [*search, Guided(ScriptedModel([]))]).executor == "local"
    assert replace(crew, workers=3).resolve(20, search) == ExecutorOptions("processes", workers=3)
    assert replace(crew, concurrency=4).resolve(500, search).executor == "local"
    assert ExecutorOptions().resolve(500, search) == ExecutorOptions()
    # Settings for all methods give way to a methods own.
    one, other = parse_method_choices(["a:x=1", "b"], ["x=2", "y=text"])
    assert json.loads(one.settings) == {"x": 1, "y": "text"}
    assert json.loads(other.settings) == {"x": 2, "y": "text"}
    assert (one.label, other.label) == ('a:x=1,y="text"', 'b:x=2,y="text"')


def test_a_cluster_is_only_for_other_processes(space: Workspace) -> None:
    with pytest.raises(SetupError, match="--on processes"):
        run(space, crew=ExecutorOptions(address="tcp://127.0.0.1:8786"))
    with pytest.raises(SetupError, match="no executor named 'moon'"):
        run(space, crew=ExecutorOptions("moon"))
    with pytest.raises(SetupError, match="no metric named 'beauty'; available: "):
        run(space, wishes=RunOptions((), metric="beauty"))


def test_another_state_of_the_graph_is_another_run(space: Workspace, tmp_path: Path) -> None:
    graph = tmp_path / "space.ttl"
    graph.write_bytes(sample.graph_path().read_bytes())
    benchmarks = (f"{QUESTIONS}@{graph}",)
    run(space, folder=tmp_path / "run", benchmarks=benchmarks)
    with graph.open("a") as file:
        file.write("<https://example.org/space/Vulcan> a <https://example.org/space/Hoax> .\n")
    with pytest.raises(SetupError, match="another graph"):
        run(space, folder=tmp_path / "run", benchmarks=benchmarks)


def test_folds_never_show_a_method_its_own_question(space: Workspace, tmp_path: Path) -> None:
    selection = Selection(folds=3)
    done = run(space, "nearest-example", selection=selection, folder=tmp_path / "run")
    kept = read_run(tmp_path / "run")
    queries = {
        question.id: question.sparql
        for asked in select_benchmarks(space, [QUESTIONS], Selection())
        for question in asked.questions
    }
    files = sorted((tmp_path / "run" / "examples").iterdir())
    texts = {record.id: record.question for record in done.records}
    held = [ids(file) for file in files]

    assert kept.records == done.records
    assert len(files) == 3
    assert set.intersection(*held) == set()
    assert set.union(*held) == set(queries)
    copied = {
        detail.key.split("\t")[1]: step["words"]
        for detail in kept.iterate_details()
        for step in detail.steps
        if step["step"] == "draft"
    }
    assert copied.keys() == texts.keys()
    assert [identity for identity, text in copied.items() if text == texts[identity]] == []
    # A sample is taught by all other questions.
    selection = Selection(folds=2, sample=3)
    done = run(space, "nearest-example", selection=selection, folder=tmp_path / "sample")
    held = [ids(file) for file in sorted((tmp_path / "sample" / "examples").iterdir())]
    assert len(done.records) == 3
    assert set.union(*held) == set(queries)


def test_a_method_that_is_to_have_links_gets_those_of_gold_and_no_other_does(
    space: Workspace, llm_server: LlmServer, tmp_path: Path
) -> None:
    model = f"model=m,base_url={llm_server.base}/v1"
    methods = [f"dfsl:links={how},variant=zero,{model}" for how in ("given", "linked")]
    asked = sample_questions(
        select_benchmarks(space, [QUESTIONS], Selection())[0].questions, 1, seed=1
    )

    done = run(space, *methods, selection=Selection(sample=1, seed=1), folder=tmp_path / "run")

    told = {record.method.partition(",")[0]: record.gold_links for record in done.records}
    assert told == {'dfsl:links="given"': True, 'dfsl:links="linked"': False}
    assert {detail.key for detail in read_run(tmp_path / "run").iterate_details()} == {
        record.key for record in done.records
    }
    shown = llm_server.bodies[0]["messages"][1]["content"]
    links = [re.split("[/#]", iri)[-1] for iri in get_gold_links(asked[0])]
    assert links and [name for name in links if name not in shown] == []


def test_leaving_a_graph_out_gives_few_shot_learning_the_questions_about_the_others(
    space: Workspace, llm_server: LlmServer, tmp_path: Path
) -> None:
    lines = [
        {"id": name, "kg": graph, "question": question, "sparql": "ASK { ?s ?p ?o }"}
        for name, graph, question in (
            ("own", "space", "Which moons orbit Mars?"),
            ("other", "pets", "Which dogs has Ann?"),
        )
    ]
    path = tmp_path / "both.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    chosen = Selection(leave_out="graph", kg="space")
    method = f"dfsl:model=m,base_url={llm_server.base}/v1"

    run(space, method, selection=chosen, benchmarks=(f"{path}@space",))

    told = llm_server.bodies[0]["messages"][1]["content"]
    assert "Which dogs has Ann?" in told
    assert told.count("Which moons orbit Mars?") == 1


def test_leaving_a_data_set_out_teaches_from_the_others(space: Workspace, tmp_path: Path) -> None:
    lines = Path(QUESTIONS).read_text().splitlines()[:6]
    for name, part in (("one", lines[:3]), ("other", lines[3:])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(part) + "\n")
    run(
        space,
        "nearest-example",
        selection=Selection(leave_out="dataset"),
        folder=tmp_path / "run",
        benchmarks=(str(tmp_path / "one.jsonl"), str(tmp_path / "other.jsonl")),
    )
    first, second = map(ids, sorted((tmp_path / "run" / "examples").iterdir()))
    assert first == ids(tmp_path / "other.jsonl")
    assert second == ids(tmp_path / "one.jsonl")


def test_examples_that_changed_make_another_run(space: Workspace, tmp_path: Path) -> None:
    train = tmp_path / "train.jsonl"
    lines = Path(QUESTIONS).read_text(encoding="utf-8").splitlines(keepends=True)
    train.write_text("".join(lines[:20]), encoding="utf-8")
    method = f"nearest-example:examples={train}"
    before = run(space, method, folder=tmp_path / "run")
    assert run(space, method, folder=tmp_path / "run").records == before.records
    train.write_text("".join(lines[20:40]), encoding="utf-8")
    with pytest.raises(SetupError, match="a run with other settings"):
        run(space, method, folder=tmp_path / "run")


def test_drafts_are_scored_for_the_oracle(space: Workspace) -> None:
    done = run(space, wishes=RunOptions((), options=EvaluationOptions(drafts=5)))
    assert any(record.drafts for record in done.records)
    assert all(len(record.drafts) <= 5 for record in done.records)
    assert all(record.usage != Usage() for record in done.records if record.status == "answer")


@for_each(
    ("specs", "problem"),
    (["no-such-method"], "no method named"),
    (["graph-search:states"], "write NAME=VALUE"),
    (["graph-search:speed=1"], "has no setting 'speed'"),
    (["graph-search", "graph-search"], "named twice"),
)
def test_a_method_that_cannot_be_made_is_said(
    space: Workspace, specs: list[str], problem: str
) -> None:
    with pytest.raises(SetupError, match=problem):
        run(space, *specs)


def test_a_sample_is_the_same_for_a_seed_and_holds_smaller_ones(space: Workspace) -> None:
    [asked] = select_benchmarks(space, [QUESTIONS], Selection())
    ten, twenty = (sample_questions(asked.questions, size, seed=3) for size in (10, 20))
    backwards = sample_questions(asked.questions[::-1], 10, seed=3)
    other = sample_questions(asked.questions, 10, seed=4)
    assert set(ten) < set(twenty)
    assert set(backwards) == set(ten) != set(other)
    assert list(ten) == [question for question in asked.questions if question in ten]


def test_benchmarks_of_one_name_are_told_apart(space: Workspace, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        line = '{"id": "1", "question": "?", "sparql": "ASK {}"}'
        (tmp_path / name / "dev.jsonl").write_text(line + "\n")
    paths = [str(tmp_path / name / "dev.jsonl") for name in "ab"]
    names = [asked.name for asked in select_benchmarks(space, paths, Selection())]
    assert names == ["dev", "b-dev"]


def test_a_split_without_questions_is_an_error_that_names_the_others(
    space: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "parts.jsonl"
    line = '{"id": "%s", "question": "?", "sparql": "ASK {}", "split": "%s"}\n'
    path.write_text(line % ("a", "test") + line % ("b", "dev"))
    assert len(select_benchmarks(space, [str(path)], Selection(split="dev"))[0].questions) == 1
    with pytest.raises(SetupError, match="no question has the split 'train'; available: dev, test"):
        select_benchmarks(space, [str(path)], Selection(split="train"))


def ids(file: Path) -> set[str]:
    return {json.loads(line)["id"] for line in file.read_text().splitlines()}
