"""A tiny model is trained, whole and by adapters, saved, merged, loaded, and writes queries."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.late import local, training
from tests.tiny_models import tiny_qwen

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import read_completion
from askgraph.methods.multi_stage import MultiStage
from askgraph.methods.writing.model_writer import (
    PromptedWriter,
    build_messages,
    build_prompt,
    build_query_grammar,
    parse_query,
)
from askgraph.methods.writing.term_names import list_required_terms
from askgraph.sparql.parser import parse_tree
from askgraph.trace import Draft, Prompt, Question
from askgraph.training import TrainSettings, build_settings
from askgraph.training.pairs import (
    TrainingPair,
    TrainingQuestion,
    build_pairs,
    evaluate_pairs,
    open_term_search,
)
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),  # on a busy machine; on a core of its own all takes a quarter of one
    pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning"),  # of peft
]

QUICK = build_settings("quick", epochs=30, batch=4, rate=4e-3, warmup=10)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = Workspace(tmp_path_factory.mktemp("trained")).open(sample.graph_path())
    yield graph
    run_coroutine(graph.endpoint.close())


@pytest.fixture(scope="module")
def pairs(space: KnowledgeGraph) -> list[TrainingPair]:
    questions = read_questions(sample.questions_path().with_suffix(".jsonl"))
    asked = [TrainingQuestion(one.id, one.text, one.sparql) for one in questions if one.sparql]
    with open_term_search(space) as terms:
        made = [
            pair
            for pair in build_pairs(asked, terms, copies=False)
            if isinstance(pair, TrainingPair)
        ]
    return made[:16]


@pytest.fixture(scope="module")
def base(pairs: list[TrainingPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [build_prompt(pair.question, pair.names) + pair.target for pair in pairs]
    return tiny_qwen(tmp_path_factory.mktemp("base") / "tiny", texts, width=64)


@pytest.fixture(scope="module")
def whole(base: Path, pairs: list[TrainingPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "ours"
    training.train(
        str(base), pairs, folder, settings=QUICK, data="d", evaluation_pairs=pairs[:4], device="cpu"
    )
    return folder


async def _hypotheses_are_listed_queries(
    folder: Path, pairs: list[TrainingPair], space: KnowledgeGraph
) -> float:
    """The share of pairs whose right query is among the hypotheses, all of which are queries."""
    model = local.TransformersModel(str(folder), device="cpu")
    right = 0
    for pair in pairs:
        grammar = build_query_grammar(pair.names)
        reply = await read_completion(
            model.complete(
                build_messages(pair.question, pair.names),
                n=3,
                beams=True,
                grammar=grammar,
                max_tokens=120,
            )
        )
        for choice in reply.choices:
            query = parse_query(choice.text, pair.names)
            parse_tree(query)
            Store().query(query)
            assert {target for _, target in list_required_terms(query)} <= {
                one.target for one in pair.listed
            }
        right += pair.target in [choice.text for choice in reply.choices]
    for pair in pairs[:2]:
        written = await PromptedWriter(model, search="beams").write(
            Question(pair.question), pair.listed, space, n=3
        )
        assert written
        assert [each.score for each in written] == sorted(
            (each.score for each in written), key=lambda score: -(score or 0.0)
        )
    await model.close()
    return right / len(pairs)


def test_each_measurement_is_made_once_and_the_last_one_is_told(whole: Path) -> None:
    lines = [json.loads(line) for line in (whole / "log.jsonl").read_text().splitlines()]
    measured = {line["step"]: line["eval_loss"] for line in lines if "eval_loss" in line}
    told = json.loads((whole / "training.json").read_text())["result"]
    assert len(measured) == sum("eval_loss" in line for line in lines)
    assert told["evaluation"]["loss"] == round(measured[told["steps"]], 4)


async def test_trained_whole_it_knows_its_pairs_and_every_hypothesis_is_a_query(
    whole: Path, pairs: list[TrainingPair], space: KnowledgeGraph
) -> None:
    losses = [
        line["loss"]
        for line in map(json.loads, (whole / "log.jsonl").read_text().splitlines())
        if "loss" in line
    ]
    told = json.loads((whole / "training.json").read_text())

    assert losses[-1] < losses[0] / 10
    assert told["result"]["pairs"] == 16
    assert 0 < told["result"]["evaluation"]["whole"] <= 1
    assert "SHA-256" in (whole / "README.md").read_text()
    assert await _hypotheses_are_listed_queries(whole, pairs[:8], space) > 0


def test_trained_on_plain_sparql_it_answers_with_it(space: KnowledgeGraph, tmp_path: Path) -> None:
    questions = read_questions(sample.questions_path().with_suffix(".jsonl"))
    asked = [TrainingQuestion(one.id, one.text, one.sparql) for one in questions[:4] if one.sparql]
    with open_term_search(space) as terms:
        made = list(build_pairs(asked, terms, copies=False, form="plain"))
    pairs = [pair for pair in made if isinstance(pair, TrainingPair)]
    texts = [build_prompt(pair.question, pair.names) + pair.target for pair in pairs]
    base = tiny_qwen(tmp_path / "tiny", texts, width=64)
    settings = replace(QUICK, epochs=60, length=1024)
    training.train(str(base), pairs, tmp_path / "ours", settings=settings, data="d", device="cpu")

    model = local.TransformersModel(str(tmp_path / "ours"), device="cpu")
    found = run_coroutine(evaluate_pairs(model, pairs))
    method = MultiStage(model=model, writer="model", form="plain", n=1, near=0)
    trace = run_coroutine(
        trace_of(Question(asked[0].text), method=method, name="multi-stage", graphs=[space])
    )
    run_coroutine(model.close())

    assert found.sound == found.hypotheses == len(pairs) and found.first > 0
    [prompted] = [step for step in trace.steps if isinstance(step, Prompt)]
    assert "<https://example.org/space/" in getattr(prompted.messages[-1], "text", "")
    drafts = [step.query for step in trace.steps if isinstance(step, Draft)]
    assert drafts and all("<https://example.org/space/" in query for query in drafts)


async def test_trained_by_adapters_it_can_be_merged_and_writes_the_same(
    base: Path, pairs: list[TrainingPair], space: KnowledgeGraph, tmp_path: Path
) -> None:
    settings = replace(QUICK, lora=True, epochs=4, rate=1e-2)
    training.train(
        str(base), pairs, tmp_path / "adapters", settings=settings, data="d", device="cpu"
    )

    training.merge_adapters(tmp_path / "adapters", tmp_path / "merged")

    for pair in pairs[:2]:
        asked = build_messages(pair.question, pair.names)
        said = []
        for folder in ("adapters", "merged"):
            model = local.TransformersModel(str(tmp_path / folder), device="cpu", dtype="float32")
            reply = await read_completion(model.complete(asked, max_tokens=10, logprobs=True))
            said.append((reply.first.text, pytest.approx(reply.first.logprob, abs=1e-3)))
            await model.close()
        assert said[0] == said[1]
    await _hypotheses_are_listed_queries(tmp_path / "merged", pairs[:2], space)


def test_a_training_that_was_stopped_goes_on_from_its_checkpoint(
    base: Path, pairs: list[TrainingPair], tmp_path: Path
) -> None:
    settings = TrainSettings(epochs=2, batch=8, rate=1e-3, warmup=0, evaluations=2, length=600)

    class Stopped(Exception):
        """The power goes off."""

    def off(what: str, done: int, total: int | None) -> None:
        if done >= 3:
            raise Stopped

    with pytest.raises(Stopped):
        training.train(
            str(base), pairs, tmp_path / "m", settings=settings, data="d", device="cpu",
            progress=off,
        )  # fmt: skip
    steps: list[int] = []
    trained = training.train(
        str(base), pairs, tmp_path / "m", settings=settings, data="d", device="cpu",
        progress=lambda what, done, total: steps.append(done),
    )  # fmt: skip

    assert trained.resumed
    assert min(steps) > 1
    assert trained.steps == 4
    with pytest.raises(SetupError, match="another data"):
        training.train(str(base), pairs, tmp_path / "m", settings=settings, data="e")


def test_a_training_that_came_to_its_end_is_told_and_not_done_again(tmp_path: Path) -> None:
    settings = TrainSettings()
    result = {"steps": 4, "loss": 0.5, "evaluation": {}, "pairs": 3, "too_long": 1}
    plan = {"model": "nowhere", "settings": asdict(settings), "data": "d", "result": result}
    (tmp_path / "training.json").write_text(json.dumps(plan))

    again = training.train("nowhere", [], tmp_path, settings=settings, data="d", device="cpu")

    assert again.ended
    assert training.to_result_object(again) == result
    assert [file.name for file in tmp_path.iterdir()] == ["training.json"]


@pytest.mark.parametrize("device", ["mars", "cuda:99"])
def test_a_device_that_is_not_there_is_told_before_anything_is_read(
    tmp_path: Path, device: str
) -> None:
    with pytest.raises(SetupError, match=device):
        training.train("nowhere", [], tmp_path / "m", settings=QUICK, data="d", device=device)


def test_what_learns_is_kept_whole_and_saved_as_wished(
    base: Path, pairs: list[TrainingPair], tmp_path: Path
) -> None:
    settings = replace(QUICK, epochs=1, rate=1e-6, warmup=0, dtype="bfloat16")

    training.train(
        str(base), pairs[:4], tmp_path / "ours", settings=settings, data="d", device="cpu"
    )

    from safetensors.torch import load_file

    saved = load_file(tmp_path / "ours" / "model.safetensors")
    assert {str(value.dtype) for value in saved.values()} == {"torch.bfloat16"}
    kept = next((tmp_path / "ours" / "checkpoints").glob("*/model.safetensors"))
    assert {str(value.dtype) for value in load_file(kept).values()} == {"torch.float32"}
