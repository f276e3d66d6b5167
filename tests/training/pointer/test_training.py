"""Training the pointer writer: a few questions learned by heart, the same by torch and numpy."""

from collections.abc import Iterator

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'local'")

from askgraph import sample  # noqa: E402
from askgraph.evaluation.benchmarks.formats import read_questions  # noqa: E402
from askgraph.graph import KnowledgeGraph  # noqa: E402
from askgraph.methods.writing.pointer.network import Settings  # noqa: E402
from askgraph.methods.writing.pointer.writer import PointerWriter  # noqa: E402
from askgraph.training.pointer.training import (  # noqa: E402  # noqa: E402  # noqa: E402
    RIGHT,
    Lesson,
    Plan,
    TorchLibrary,
    from_examples,
    generated,
    losses,
    started,
    trained,
)
from askgraph.workspace import Workspace  # noqa: E402
from askgraph.workspace.run_sync import result_of  # noqa: E402

SMALL = Settings(width=32, heads=2, inner=32, encoder=1, decoder=1)
BY_HEART = Plan(epochs=40, batch=4, rate=5e-3, compare=0.0, forget=0.0, drop=0.0, decay=0.0)


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    graph = Workspace(tmp_path_factory.mktemp("workspace")).open(sample.graph_path())
    yield graph
    result_of(graph.endpoint.close())


@pytest.fixture(scope="module")
def lessons(space: KnowledgeGraph) -> list[Lesson]:
    """Six questions of the sample and six made up over its graph."""

    async def found() -> list[Lesson]:
        questions = read_questions(sample.questions_path().with_suffix(".jsonl"))[:6]
        asked = [one async for one in from_examples(questions, space)]
        made_up = [one async for one in generated(space, seed=1, number=6)]
        return asked + made_up

    return result_of(found())


def test_a_few_questions_are_learned_by_heart(lessons: list[Lesson]) -> None:
    done = trained(started(SMALL), lessons, SMALL, BY_HEART)
    writer = PointerWriter({k: v.numpy() for k, v in done.weights.items()}, SMALL, {})
    first = [writer.skeletons(one.units)[0][0] for one in lessons]
    right = [
        skeleton in [s for s, w in zip(one.skeletons, one.worths, strict=True) if w >= RIGHT]
        for skeleton, one in zip(first, lessons, strict=True)
        if max(one.worths) >= RIGHT
    ]
    assert sum(right) >= 0.7 * len(right)


def test_the_same_seed_gives_the_same_weights(lessons: list[Lesson]) -> None:
    plan = Plan(epochs=1, batch=4)
    one, other = (trained(started(SMALL), lessons, SMALL, plan).weights for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_torch_and_numpy_agree(lessons: list[Lesson]) -> None:
    weights = started(SMALL, 3)
    lesson = lessons[0]
    skeleton = lesson.skeletons[:1]
    alone = Lesson(lesson.units, skeleton, (1.0,), (0.0,))
    random = np.random.default_rng(0)
    plan = Plan(forget=0.0)
    write, _ = losses(weights, [alone], SMALL, plan, TorchLibrary(), random)
    writer = PointerWriter({k: v.numpy() for k, v in weights.items()}, SMALL, {})
    told = writer.log_probability(skeleton[0], lesson.units)
    assert float(write) == pytest.approx(-told / len(skeleton[0]), abs=1e-4)
