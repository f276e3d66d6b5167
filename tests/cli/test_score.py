"""`askgraph score`, run as a command."""

import json
from functools import partial
from pathlib import Path

import pytest
from tests.cli.lookup import JUPITER, MARS, PREFIX, questions
from tests.cli.running import Run, askgraph
from tests.servers.llm import LlmServer, Turn

from askgraph.evaluation.runs import read_run

GOLD: tuple[dict[str, object], ...] = (
    {"id": "a", "question": "Jupiter?", "sparql": JUPITER.removeprefix(PREFIX)},
    {"id": "b", "question": "Mars?", "sparql": MARS},
    {"id": "c", "question": "Sun?", "sparql": None},
)
STORED = {"vars": ["moon"], "rows": [["http://example.org/Phobos"]]}


@pytest.fixture
def run(moons: Path, tmp_path: Path) -> Run:
    return partial(askgraph, workspace=moons, folder=tmp_path)


def predictions(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "theirs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_predictions_become_a_run(run: Run, tmp_path: Path) -> None:
    # Predictions become a run that report reads.
    said = predictions(
        tmp_path,
        {"id": "a", "sparql": JUPITER, "confidence": 0.9, "seconds": 2.0},
        {"id": "c", "sparql": None},
    )
    done = run("score", said, questions(tmp_path, *GOLD), "-g", "moons", "--json", "--out", "kept")
    assert done.returncode == 0, done.stderr
    [group] = json.loads(done.stdout)["groups"]
    assert (group["n"], group["f1"], group["unanswerable"]) == (3, 0.5, {"n": 1, "refused": 1})
    kept = read_run(tmp_path / "kept")
    assert [(r.id, r.f1, r.error) for r in kept.records] == [
        ("a", 1, None),
        ("b", 0, "no prediction"),
        ("c", 1, None),
    ]
    assert {record.method for record in kept.records} == {"theirs"} and kept.is_complete
    assert [detail.key for detail in kept.iterate_details()] == [
        record.key for record in kept.records
    ]
    report = run("report", "kept", "--json")
    assert json.loads(report.stdout)["groups"] == json.loads(done.stdout)["groups"]
    # People see a table.
    said = predictions(tmp_path, {"id": "a", "sparql": JUPITER}, {"id": "b", "sparql": JUPITER})
    done = run("score", said, questions(tmp_path, *GOLD), "-g", "moons")
    assert done.returncode == 0, done.stderr
    assert "50.0" in done.stdout


def test_what_is_scored_against(run: Run, tmp_path: Path) -> None:
    # Frozen gold is scored against.
    path = questions(tmp_path, GOLD[1])
    run("benchmark", "freeze", path, "-g", "moons", "--out", "gold.jsonl")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(gold.read_text().replace("Phobos", "Deimos"))
    said = predictions(tmp_path, {"id": "b", "sparql": MARS})
    done = run("score", said, path, "-g", "moons", "--gold", gold, "--json")
    other = questions(tmp_path, {**GOLD[1], "sparql": MARS + " LIMIT 1"})
    refused = run("score", said, other, "-g", "moons", "--gold", gold)
    assert json.loads(done.stdout)["groups"][0]["f1"] == 0 and refused.returncode == 2
    assert "gold query of question 'b' has changed" in refused.stderr
    # A batch scores as an evaluation does.
    path = questions(tmp_path, {"id": "b", "question": "Which moons orbit Mars?", "sparql": MARS})
    run("batch", path, "-g", "moons", "--out", "answers.jsonl")
    run("evaluate", path, "-g", "moons", "--out", "asked")
    run("score", "answers.jsonl", path, "-g", "moons", "--out", "scored")
    [asked], [scored] = (read_run(tmp_path / name).records for name in ("asked", "scored"))
    assert asked.f1 == 1
    assert {n: s.f1 for n, s in scored.scores.items()} == {n: s.f1 for n, s in asked.scores.items()}
    assert (scored.benchmark, scored.sparql) == (asked.benchmark, asked.sparql)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "z", "sparql": MARS}, "has no question 'z'"),
        ({"id": "a", "sparql": 1}, "theirs.jsonl, line 1: 'sparql' must be text"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(
    line: dict[str, object], message: str, run: Run, tmp_path: Path
) -> None:
    done = run("score", predictions(tmp_path, line), questions(tmp_path, *GOLD), "--out", "kept")
    assert done.returncode == 2 and message in done.stderr and not (tmp_path / "kept").exists()


def test_published_scores_stand_beside_ours(run: Run, tmp_path: Path) -> None:
    gold = {"a:1-en": {"urn:Io": 1}, "a:1-es": {"urn:Io": 1}, "a:2-en": {"2": 1}}
    sets = {
        "right": (gold, {name: {"set_F": 1.0} for name in gold}),
        "wrong": ({name: {"urn:Io": 1} for name in gold}, {"a:1-en": {"set_F": 0.5}}),
    }
    (tmp_path / "truth.json").write_text(json.dumps(gold))
    for system, (results, scores) in sets.items():
        (tmp_path / "sets" / system).mkdir(parents=True)
        (tmp_path / "sets" / system / "result_set.json").write_text(json.dumps(results))
        (tmp_path / "sets" / system / "eval.json").write_text(json.dumps(scores))

    words = ("score", "sets", "truth.json", "--metric", "text2sparql")
    done, shown = run(*words, "--json"), run(*words)

    assert done.returncode == 0, done.stderr
    keys = ("method", "language", "questions", "text2sparql", "published", "questions that differ")
    assert [tuple(row[key] for key in keys) for row in json.loads(done.stdout)["published"]] == [
        ("right", "en", 2, 1.0, 1.0, 0), ("right", "es", 1, 1.0, 1.0, 0),
        ("wrong", "en", 1, 1.0, 0.5, 1),
    ]  # fmt: skip
    assert "Published scores, computed again" in shown.stdout and "50.0" in shown.stdout


def test_published_answers_and_results_of_a_company_are_scored(run: Run, tmp_path: Path) -> None:
    iri, name = "https://c.example/2025/corporate/", "http://example.org/{}".format
    head = {"id": iri, "prefix": "ck25", "defaultNamespace": "http://example.org/"}
    asked = [
        {"id": at, "question": {"en": "Whose?"}, "features": ["SELECT"], "query": {"sparql": query}}
        for at, query in enumerate((JUPITER, MARS), 1)
    ]
    blocks = f"# lint\n---\ndataset: {json.dumps(head)}\nquestions: {json.dumps(asked)}\n"
    (tmp_path / "questions.yml").write_text(blocks)
    moons = {"ck25:1-en": {name("Io"): 1, name("Europa"): 1}, "ck25:2-en": {name("Phobos"): 1}}
    (tmp_path / "true.json").write_text(json.dumps(moons))
    for system, queries, given, scores in (
        ("AB", (JUPITER, MARS), moons, (1.0, 1.0)),
        ("CD", (MARS,), {"ck25:1-en": {name("Io"): 1}}, (0.5,)),  # one of the two was answered
    ):
        team = tmp_path / "results" / system
        team.mkdir(parents=True)
        answers = [
            {"dataset": iri, "question": "Whose?", "query": query, "endpoint": "http://c.example",
             "qname": f"ck25:{at}-en", "uri": f"{iri}{at}-en"}
            for at, query in enumerate(queries, 1)
        ]  # fmt: skip
        (team / "ck25_answers.json").write_text(json.dumps(answers))
        (team / "ck25_system_result_set.json").write_text(json.dumps(given))
        evals = {f"ck25:{at}-en": {"set_F": score} for at, score in enumerate(scores, 1)}
        (team / "ck25_eval.json").write_text(json.dumps(evals | {"average": {"set_F": 0.9}}))
    end = ("--metric", "text2sparql", "--json")
    rerun = run("score", "results/*/ck25_answers.json", "questions.yml", "-g", "moons", *end)
    stored = run("score", "results/*/ck25_system_result_set.json", "true.json", *end)

    assert rerun.returncode == stored.returncode == 0, rerun.stderr + stored.stderr
    keys = ("method", "questions", "text2sparql", "published", "difference")
    for done, own in ((rerun, 0.0), (stored, 2 / 3)):
        rows = [tuple(map(row.get, keys)) for row in json.loads(done.stdout)["published"]]
        last = ("CD", 1, pytest.approx(own), 0.5, pytest.approx(own - 0.5, abs=1e-5))
        assert rows == [("AB", 2, 1, 1, 0), last]


VERDICTS = {"Jupiter?": "true", "Mars?": "true", "Venus?": "no verdict at all"}


def test_judges(run: Run, tmp_path: Path, llm_server: LlmServer) -> None:
    # A judge is a metric beside the others and asked once.
    gold: list[dict[str, object]] = [
        *GOLD[:2],
        {"id": "v", "question": "Venus?", "sparql": JUPITER},
    ]
    said = predictions(
        tmp_path,
        {"id": "a", "sparql": JUPITER},
        {"id": "b", "sparql": JUPITER},
        {"id": "v", "sparql": JUPITER},
    )
    llm_server.knows = lambda body: [
        Turn(f'{{"why": "", "right": {verdict}}}')
        for question, verdict in VERDICTS.items()
        if f"Question: {question}" in str(body["messages"])
    ]
    judge = ("--judge", "m", "--base-url", f"{llm_server.base}/v1", "--metric", "judge")
    words = ("score", said, questions(tmp_path, *gold), "-g", "moons", *judge)
    done = run(*words, "--out", "kept")
    again = run(*words)
    assert done.returncode == 0, done.stderr
    records = {record.id: record for record in read_run(tmp_path / "kept").records}
    judged = {name: record.get_score("judge").f1 for name, record in records.items()}
    assert judged == {"a": 1, "b": 1, "v": 0}
    assert {name: record.f1 for name, record in records.items()} == {"a": 1, "b": 0, "v": 1}
    assert "The judge and the metric" in done.stdout and "66.7" in done.stdout
    assert again.returncode == 0 and len(llm_server.bodies) == 3
    assert "Io" in str(llm_server.bodies[0]["messages"])
    other = run(*words[:-2], "--metric", "rows", "--out", "kept", "--judge", "another")
    assert "other settings" in other.stderr
    # A judge has to be named.
    said = predictions(tmp_path, {"id": "a", "sparql": JUPITER})
    done = run("score", said, questions(tmp_path, *GOLD), "-g", "moons", "--metric", "judge")
    assert (done.returncode, "name it with --judge MODEL" in done.stderr) == (2, True)
