"""Questions in, answer lines out: in order, resumable, nothing lost."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.tool_graphs import opened_sample

from askgraph.errors import SetupError, Unreachable
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs.one_question import answer_all, build_answerer, collect_steps
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Outcome, Question, Refusal, Step, Thought

AnswerWith = Callable[[Mapping[str, object]], Callable[[Question], Awaitable[Outcome]]]

MARS = "PREFIX : <http://example.org/> SELECT ?m { ?m :orbits :Mars }"


def asked(*texts: str) -> list[GoldQuestion]:
    return [GoldQuestion(text, text) for text in texts]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_answers_of_a_batch(answer_with: AnswerWith, tmp_path: Path) -> None:
    # Each question gets its answer object.
    out = tmp_path / "out.jsonl"
    told: list[tuple[int, int]] = []
    failed = await answer_all(
        asked("a", "b"),
        answer_with({"a": MARS, "b": Refusal("no")}),
        out,
        progress=lambda done, total: told.append((done, total)),
    )
    first, second = lines(out)
    assert failed == 0 and (first["id"], first["status"], len(first["rows"])) == ("a", "answer", 2)
    assert (second["id"], second["status"], second["reason"]) == ("b", "refusal", "no")
    assert told == [(1, 2), (2, 2)]


async def test_failed_questions_are_tried_again(answer_with: AnswerWith, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    known: dict[str, object] = {"a": Unreachable("down"), "b": MARS}

    assert await answer_all(asked("a", "b"), answer_with(known), out) == 1
    assert [line["status"] for line in lines(out)] == ["refusal", "answer"]
    assert lines(out)[0]["error"] == "Unreachable: down"
    known |= {"a": MARS, "b": AssertionError("asked again")}
    assert await answer_all(asked("a", "b"), answer_with(known), out) == 0

    assert [(line["id"], line["status"]) for line in lines(out)] == [
        ("a", "answer"),
        ("b", "answer"),
    ]
    assert not any("error" in line for line in lines(out))


async def test_the_order_is_kept_however_long_each_takes(tmp_path: Path) -> None:
    under_way = most = 0

    async def answerer(question: Question) -> Outcome:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02 if question.text in "aceg" else 0)
        under_way -= 1
        return Refusal("no")

    out = tmp_path / "out.jsonl"
    await answer_all(asked(*"abcdefgh"), answerer, out, concurrency=3)

    assert "".join(line["id"] for line in lines(out)) == "abcdefgh" and most == 3


@pytest.mark.parametrize("stop_after", range(5))
async def test_an_interrupt_loses_and_repeats_nothing(tmp_path: Path, stop_after: int) -> None:
    out = tmp_path / "out.jsonl"
    calls: list[str] = []

    async def answerer(question: Question) -> Outcome:
        calls.append(question.text)
        return Refusal("no")

    def interrupt(done: int, total: int) -> None:
        if done == stop_after:
            raise KeyboardInterrupt

    if stop_after:
        with pytest.raises(KeyboardInterrupt):
            await answer_all(asked(*"abcd"), answerer, out, progress=interrupt)
        with out.open("a") as file:
            file.write('{"id": "d", "status": "ans')  # as a kill leaves it
    await answer_all(asked(*"abcd"), answerer, out)

    assert "".join(line["id"] for line in lines(out)) == "abcd"
    assert sorted(set(calls)) == list("abcd")
    assert len(calls) <= 5  # at most the one that was under way is asked again


async def test_a_slow_question_fails_alone(tmp_path: Path) -> None:
    async def answerer(question: Question) -> Outcome:
        await asyncio.sleep(60 if question.text == "slow" else 0)
        return Refusal("no")

    out = tmp_path / "out.jsonl"
    assert await answer_all(asked("slow", "quick"), answerer, out, timeout=1) == 1
    assert [line.get("error") for line in lines(out)] == ["no answer within 1 s", None]


@pytest.mark.parametrize("line", ['{"id": "x", "status": "answer"}', '{"id": "a", "question": ""}'])
async def test_a_file_with_something_else_is_left_alone(
    answer_with: AnswerWith, tmp_path: Path, line: str
) -> None:
    out = tmp_path / "questions.jsonl"
    out.write_text(line + "\n")
    with pytest.raises(SetupError, match="is in use"):
        await answer_all(asked("a"), answer_with({}), out)
    assert out.read_text() == line + "\n"


class Scripted:
    """A method that says what it is given, and knows whether its stream was closed."""

    def __init__(self, *steps: Step | Exception) -> None:
        self.steps = steps
        self.closed = False
        self.asked: list[Question] = []

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        self.asked.append(question)
        try:
            for step in self.steps:
                if isinstance(step, Exception):
                    raise step
                yield step
        finally:
            self.closed = True


async def test_what_came_before_an_error_is_kept(tmp_path: Path) -> None:
    steps, graphs = list[Step](), [opened_sample(tmp_path)]
    method = Scripted(Thought("hm"), Unreachable("down"))
    with pytest.raises(Unreachable):
        await collect_steps(Question("?"), steps, method=method, graphs=graphs)
    assert steps == [Thought("hm")] and method.closed
    # A language is given to questions that have none.
    method = Scripted(Refusal("no"))
    ask = build_answerer(method, "scripted", graphs, language="de")
    assert await ask(Question("Monde?")) == Refusal("no")
    await ask(Question("moons?", "en"))
    assert [question.language for question in method.asked] == ["de", "en"]
