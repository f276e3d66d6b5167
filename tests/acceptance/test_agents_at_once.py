"""Many questions at once through an agent: all wait together, and cancelled ones leave nothing."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Unpack

import pytest
from tests.graphs import MOONS
from tests.servers import faults
from tests.servers.llm import LlmServer
from tests.servers.sparql import becomes_true, held_open

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Assistant, Event, Identity, Message, Options, Request, ToolCall
from askgraph.llm.openai import OpenAIModel
from askgraph.llm.scripted import ScriptedModel, ScriptedReply
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.methods.guided import Guided
from askgraph.trace import Answer, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

ALL = "SELECT DISTINCT ?moon WHERE { ?moon onto:orbits :Jupiter }"
ASKED = Question("Which moons orbit Jupiter?")


@pytest.fixture(scope="module")
def moons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("at-once")
    (folder / "moons.ttl").write_text(MOONS)
    graph = Workspace(folder / "workspace").open(folder / "moons.ttl")
    yield graph
    run_coroutine(graph.endpoint.close())


class Together:
    """A model that replies to nobody before `many` have asked, turn by turn."""

    def __init__(self, many: int) -> None:
        self.many, self.waiting, self.most = many, 0, 0
        self._inner = ScriptedModel(_reply)
        self._full = asyncio.Condition()
        self._round = 0

    @property
    def identity(self) -> Identity:
        return self._inner.identity

    async def complete(
        self, messages: Sequence[Message], **options: Unpack[Options]
    ) -> AsyncGenerator[Event, None]:
        async with self._full:
            mine = self._round
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            if self.waiting == self.many:
                self.waiting, self._round = 0, mine + 1
                self._full.notify_all()
            await self._full.wait_for(lambda: self._round > mine)
        async with aclosing(self._inner.complete(messages, **options)) as stream:
            async for event in stream:
                yield event

    async def close(self) -> None:
        await self._inner.close()


def _reply(request: Request) -> ScriptedReply:
    if not any(isinstance(message, Assistant) for message in request.messages):
        return ToolCall("1", "execute", json.dumps({"query": ALL}))
    return ToolCall("2", "answer", json.dumps({"query": ALL, "columns": ["moon"]}))


async def test_a_hundred_questions_wait_for_their_model_together(moons: KnowledgeGraph) -> None:
    model = Together(100)
    method = Grasp(model, feedback="never")

    async with asyncio.timeout(120):
        traces = await asyncio.gather(
            *(trace_of(ASKED, method=method, name="grasp", graphs=[moons]) for _ in range(100))
        )

    assert model.most == 100
    answers = [trace.outcome for trace in traces if isinstance(trace.outcome, Answer)]
    assert [len(answer.result.rows) for answer in answers] == [2] * 100


@pytest.mark.parametrize("method", [Grasp, GrafVonData, Guided])
async def test_sixteen_cancelled_in_the_middle_leave_nothing_behind(
    method: type[Grasp] | type[GrafVonData] | type[Guided],
    moons: KnowledgeGraph,
    llm_server: LlmServer,
) -> None:
    model = OpenAIModel("m", base_url=f"{llm_server.base}/v1")
    await trace_of(ASKED, method=method(model, tokens=1), name="", graphs=[moons])
    tasks, before = asyncio.all_tasks(), held_open()
    llm_server.acts.extend([faults.slow_drip(0.01)] * 16)

    started = [
        asyncio.create_task(trace_of(ASKED, method=method(model), name="", graphs=[moons]))
        for _ in range(16)
    ]
    await becomes_true(lambda: len(llm_server.requests) >= 16)
    for task in started:
        task.cancel()
    ends = await asyncio.gather(*started, return_exceptions=True)
    await model.close()
    await becomes_true(lambda: not held_open() - before)  # the server's side of them closes

    assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    assert asyncio.all_tasks() == tasks
    assert held_open() - before == Counter(), (
        "what was open before may be closed, nothing new is open"
    )
    again = await trace_of(ASKED, method=method(model, tokens=1), name="", graphs=[moons])
    assert isinstance(again.outcome, Answer), "the graph's process is as it was"
