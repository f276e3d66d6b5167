"""The training of the pointer writer as a user starts it, made small."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra 'local'")

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.methods.writing.pointer.network import Settings
from askgraph.methods.writing.pointer.writer import PointerWriter, saved
from askgraph.search.rank import Ranking, ranking_text, weights_for
from askgraph.trace import Answer, Draft, Question
from askgraph.training.pointer.training import Plan, Trained, started
from askgraph.workspace import Workspace
from askgraph.workspace.outcome import outcome_of
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.writer import Wished, train_folds, train_writer

SHORT = Plan(epochs=1, batch=8)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight questions of the sample, as if over two graphs."""
    folder = tmp_path_factory.mktemp("benchmark")
    lines = sample.questions_path().with_suffix(".jsonl").read_text("utf-8").splitlines()[:8]
    for name in ("one", "two"):
        (folder / f"{name}.ttl").write_bytes(sample.graph_path().read_bytes())
    records = [
        json.loads(line) | {"kg": f"{'one' if at % 2 else 'two'}.ttl"}
        for at, line in enumerate(lines)
    ]
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    return path


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory, benchmark: Path) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    wished = Wished(questions=20, benchmarks=((benchmark, None),), plan=SHORT, practice=SHORT)
    return train_writer(Workspace(folder / "workspace"), wished, folder / "w.npz").path


def test_the_file_says_what_was_learned_from(weights: Path) -> None:
    about = PointerWriter.load(weights).about
    assert 5 <= int(str(about["practised"])) <= 8
    assert about["made up"]


def test_graph_search_answers_with_weights(weights: Path, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    graph = workspace.open(sample.graph_path())
    method = workspace.method("graph_search", {"writer": str(weights)})
    question = Question("Which moons does Mars have?", "en")
    outcome = result_of(outcome_of(question, method, [graph], timeout=30))
    result_of(graph.endpoint.close())
    assert isinstance(outcome, Answer)


def test_weights_are_listened_to_only_where_graph_search_is_unsure(
    weights: Path, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path)
    graph = workspace.open(sample.graph_path())
    question = Question("Which moons does Mars have?", "en")

    async def scores(**settings: object) -> list[float]:
        method = workspace.method("graph_search", settings)
        steps = [step async for step in method.answer(question, [graph])]
        return [step.score for step in steps if isinstance(step, Draft) and step.score is not None]

    async def found() -> list[list[float]]:
        without = await scores()
        sure = await scores(writer=str(weights), answer_from=0.0)
        unsure = await scores(writer=str(weights), answer_from=1.0)
        await graph.endpoint.close()
        return [without, sure, unsure]

    without, sure, unsure = result_of(found())
    assert without == sure
    assert without != unsure


@pytest.fixture(scope="module")
def unpractised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights of odd sizes that have seen no graph."""
    sizes = Settings(width=16, heads=2, inner=16, encoder=1, decoder=1)
    path = tmp_path_factory.mktemp("unpractised") / "w.npz"
    with path.open("wb") as file:
        saved(file, Trained(started(sizes), 0.0).arrays(), sizes, {"made up": 9})
    return path


def test_questions_are_chosen_by_tag_and_by_number(
    unpractised: Path, benchmark: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in benchmark.read_text("utf-8").splitlines()]
    for record in records:
        record["tags"] = [record["kg"]]
    chosen = benchmark.with_name("tagged.jsonl")
    chosen.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
    wished = Wished(
        benchmarks=((chosen, None),), start=unpractised, practice=SHORT, tags=("one.ttl",), number=2
    )
    made = train_writer(Workspace(tmp_path / "workspace"), wished, tmp_path / "w.npz")
    about = PointerWriter.load(made.path).about
    assert about["graphs"] == ["one"]
    assert 1 <= made.lessons <= 2

    with pytest.raises(SetupError, match=r"no question has the tag 'red'.*one\.ttl, two\.ttl"):
        train_writer(
            Workspace(tmp_path / "workspace"), replace(wished, tags=("red",)), tmp_path / "n.npz"
        )
    assert not (tmp_path / "n.npz").exists()


def test_the_weights_of_a_graph_have_not_seen_it(
    unpractised: Path, benchmark: Path, tmp_path: Path
) -> None:
    wished = Wished(benchmarks=((benchmark, None),), start=unpractised, practice=SHORT)
    made = train_folds(Workspace(tmp_path / "workspace"), wished, tmp_path / "folds", folds=2)
    assert sorted(one.path.name for one in made) == ["one.npz", "two.npz"]
    for one in made:
        writer = PointerWriter.load(one.path)
        assert writer.about["without"] == [one.path.stem]
        assert writer.about["graphs"] == [{"one": "two", "two": "one"}[one.path.stem]]
        assert writer.settings.width == 16


def test_two_files_that_ask_one_graph_are_both_learned_from(
    unpractised: Path, benchmark: Path, tmp_path: Path
) -> None:
    asked = tuple((benchmark, None) for _ in range(2))
    once, twice = (
        train_folds(
            Workspace(tmp_path / "workspace"),
            Wished(benchmarks=asked[:files], start=unpractised, practice=SHORT),
            tmp_path / str(files), folds=2,
        )
        for files in (1, 2)
    )  # fmt: skip
    assert [one.lessons for one in twice] == [2 * one.lessons for one in once]


def test_weights_that_have_seen_a_graph_cannot_start_those_that_must_not(
    weights: Path, benchmark: Path, tmp_path: Path
) -> None:
    wished = Wished(benchmarks=((benchmark, None),), start=weights, practice=SHORT)
    with pytest.raises(SetupError, match="learned from 'one', 'two'"):
        train_folds(Workspace(tmp_path / "workspace"), wished, tmp_path / "folds", folds=2)
    with pytest.raises(SetupError, match="learned from 'two'"):
        train_writer(
            Workspace(tmp_path / "workspace"), replace(wished, without=("two",)), tmp_path / "w"
        )


def test_what_is_wrong_with_the_questions_is_told_before_any_training(tmp_path: Path) -> None:
    told: list[str] = []
    wished = Wished(benchmarks=((tmp_path / "none.jsonl", None),), plan=SHORT)
    with pytest.raises(SetupError, match=r"none\.jsonl"):
        train_writer(
            Workspace(tmp_path / "workspace"), wished, tmp_path / "w.npz",
            progress=lambda what, done, total: told.append(what),
        )  # fmt: skip
    assert told == []


def test_without_anything_to_learn_from_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nothing to learn from"):
        train_writer(Workspace(tmp_path / "w"), Wished(questions=0), tmp_path / "w.npz")
    assert not (tmp_path / "w.npz").exists()


def test_more_folds_than_graphs_are_refused(weights: Path, benchmark: Path, tmp_path: Path) -> None:
    wished = Wished(benchmarks=((benchmark, None),), start=weights, practice=SHORT)
    with pytest.raises(SetupError, match="3 folds"):
        train_folds(Workspace(tmp_path / "workspace"), wished, tmp_path, folds=3)


def test_what_is_learned_depends_on_the_ranking_that_scores(
    weights: Path, benchmark: Path, tmp_path: Path
) -> None:
    ranking = tmp_path / "ranking.toml"
    own = weights_for("")
    grown = {name: own[name] for name in ("covered", "patterns", "unknown", "spread")}
    flat = dict.fromkeys(own, 0.01) | grown  # the same candidates grow, in another order
    ranking.write_text(ranking_text(Ranking(flat), []), "utf-8")
    wished = Wished(benchmarks=((benchmark, None),), start=weights, practice=SHORT)
    workspace = Workspace(tmp_path / "workspace")
    one = train_writer(workspace, wished, tmp_path / "one.npz")
    other = train_writer(workspace, replace(wished, ranking=str(ranking)), tmp_path / "other.npz")
    assert one.lessons == other.lessons
    assert one.loss != other.loss


def test_a_ranking_that_cannot_be_read_is_told_of_at_once(tmp_path: Path) -> None:
    wished = Wished(ranking=str(tmp_path / "none.toml"))
    with pytest.raises(SetupError, match=r"none\.toml"):
        train_writer(Workspace(tmp_path), wished, tmp_path / "w.npz")
    assert not (tmp_path / "w.npz").exists()
