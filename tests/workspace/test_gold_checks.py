"""Gold checked and frozen on the graphs of a workspace."""

from pathlib import Path

import pytest

from askgraph import sample
from askgraph.evaluation.benchmarks import Contents, Unreadable
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.gold.frozen import read_frozen
from askgraph.evaluation.questions import GoldQuestion
from askgraph.workspace import Workspace
from askgraph.workspace.gold_checks import Checks, check_gold, freeze_gold


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    place = Workspace(tmp_path_factory.mktemp("workspace"))
    place.add("space", [sample.graph_path()])
    return place


def tell(what: str, done: int, total: int | None) -> None:
    """Nobody listens."""


QUESTIONS = sample.questions_path().with_name("questions.jsonl")


def test_the_gold_of_the_sample_graph_has_no_errors(workspace: Workspace) -> None:
    _, contents = read_benchmark(QUESTIONS)
    found = check_gold(workspace, QUESTIONS, contents, Checks(graph="space"), progress=tell)
    assert [finding for finding in found if finding.severity == "error"] == []


def test_findings_stand_in_the_order_of_the_file(workspace: Workspace, tmp_path: Path) -> None:
    contents = Contents(
        (
            GoldQuestion("z", "Which?", sparql="SELECT ?s { ?s a <urn:None> }"),
            GoldQuestion("a", "How?", sparql="SELECT ?s {"),
        ),
        (Unreadable("line 3", "no 'id'"),),
    )
    path = tmp_path / "made-up.jsonl"
    found = check_gold(workspace, path, contents, Checks(graph="space"), progress=tell)
    assert [(f.benchmark, f.id, f.kind) for f in found] == [
        ("made-up", "line 3", "unreadable"),
        ("made-up", "z", "empty"),
        ("made-up", "a", "syntax"),
    ]


def test_frozen_gold_has_not_changed_on_the_same_graph(
    workspace: Workspace, tmp_path: Path
) -> None:
    _, contents = read_benchmark(QUESTIONS)
    out = tmp_path / "gold.jsonl"

    count, failed = freeze_gold(workspace, QUESTIONS, contents, out, graph="space", progress=tell)
    checks = Checks(graph="space", frozen=read_frozen(out))
    found = check_gold(workspace, QUESTIONS, contents, checks, progress=tell)

    assert failed == 0
    assert count == sum(q.sparql is not None for q in contents.questions if not q.unanswerable)
    assert "drift" not in {finding.kind for finding in found}
    graphs = read_frozen(out).header["graphs"]
    assert isinstance(graphs, dict)
    assert graphs["space"]["engine"].startswith("pyoxigraph ")
    assert str(tmp_path) not in out.read_text()


def test_offline_nothing_is_looked_up(tmp_path: Path) -> None:
    contents = Contents((GoldQuestion("a", "?", sparql="ASK {}", graph="nowhere.ttl"),))
    none = Workspace(tmp_path / "none")
    found = check_gold(none, tmp_path / "q.jsonl", contents, Checks(offline=True), progress=tell)
    assert found == ()
