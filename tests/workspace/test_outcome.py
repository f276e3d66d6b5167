"""One question within a time: steps as they come, the outcome, the head of a trace."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.tool_graphs import opened_sample

from askgraph.errors import TimedOut
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Answer, Question, Refusal, Step, Thought, Usage
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method, head_of, run_coroutine, stream_steps

MOONS = Question("Which moons does Jupiter have?")


@dataclass
class Slow:
    """Thinks, waits, and refuses; it knows whether its stream was closed."""

    wait: float
    seconds: float | None = None
    closed: list[bool] = field(default_factory=list)

    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        try:
            yield Thought("Well.")
            await asyncio.sleep(self.wait)
            yield Refusal("It took too long.")
        finally:
            self.closed.append(True)


def test_the_steps_come_one_by_one_and_end_in_the_outcome(space: Workspace) -> None:
    method, graph = space.method("graph-search"), space.graph("space")

    async def asked() -> tuple[list[Step], object]:
        steps = [step async for step in stream_steps(MOONS, method, [graph])]
        outcome = await ask_method(MOONS, method, [graph])
        await graph.endpoint.close()
        return steps, outcome

    steps, outcome = run_coroutine(asked())
    answer = steps[-1]
    assert isinstance(answer, Answer) and isinstance(outcome, Answer)
    assert not any(isinstance(step, Answer) for step in steps[:-1])
    assert (answer.query, answer.result.rows) == (outcome.query, outcome.result.rows)
    assert {"Io", "Europa"} <= set(answer.labels.values())


async def test_deadlines(tmp_path: Path) -> None:
    graphs = [opened_sample(tmp_path)]
    # A question that takes too long is given up and its stream closed.
    slow = Slow(wait=60)
    with pytest.raises(TimedOut, match=r"no answer within 0\.05 seconds"):
        await ask_method(MOONS, slow, graphs, timeout=0.05)
    assert slow.closed == [True]
    # A method that misses its deadline has refused and its stream is closed.
    slow = Slow(wait=60, seconds=0.05)
    outcome = await ask_method(MOONS, slow, graphs)
    reason = "The time limit of 0.05 seconds was reached."
    assert outcome == Refusal(reason, usage=Usage(seconds=0.05))
    assert slow.closed == [True]
    # Who stops reading ends the run.
    slow = Slow(wait=60)
    async with aclosing(stream_steps(MOONS, slow, graphs)) as stream:
        assert isinstance(await anext(stream), Thought)
    assert slow.closed == [True]
    # A refusal in time is the outcome.
    assert await ask_method(MOONS, Slow(wait=0), graphs, timeout=5) == Refusal("It took too long.")


def test_the_head_of_a_trace_has_the_settings_and_the_states_of_the_graphs(
    space: Workspace,
) -> None:
    graph = space.graph("space")
    run_coroutine(graph.endpoint.close())
    head = head_of(space.method("graph-search", {"operators": False}), [graph])
    assert head.settings["operators"] is False
    assert [(one.name, one.snapshot) for one in head.graphs] == [("space", graph.snapshot)]
