"""Whatever makes a graph work waits for a turn on it, besides questions and queries too."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from askgraph.server.auth import Principal, TooMany
from askgraph.server.hub import Hub, open_hub
from askgraph.server.rest.queries import PartsBody, parts
from askgraph.server.rest.questions import download
from askgraph.server.runs import AskBody, RunView
from askgraph.server.runs.replies import chosen, confirmed
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

ANN = Principal("user:ann", "ann", frozenset({"ask", "query", "confirm"}))
ASKED = AskBody(question="How many missions are there to Jupiter?", settings={"answer_from": 1.0})

Work = Callable[[Hub, RunView], Awaitable[object]]


@pytest.fixture
async def hub(sample_place: Workspace, tmp_path: Path) -> AsyncIterator[Hub]:
    settings = ServeSettings(database=str(tmp_path / "serve.db"), per_graph=1, queue=0, grace=0)
    async with open_hub(settings, sample_place) as hub:
        yield hub


def read_back(hub: Hub, run: RunView) -> Awaitable[object]:
    assert run.answer
    assert run.answer.sparql
    return parts("space", PartsBody(query=run.answer.sparql, language="en"), hub, ANN)


@pytest.mark.parametrize(
    "work",
    [
        read_back,
        lambda hub, run: confirmed(hub, run.id, None, ANN),
        lambda hub, run: chosen(hub, run.id, 0, ANN),
        lambda hub, run: download(hub, run.id, "nt", ANN),
    ],
    ids=["parts", "confirm", "choose", "triples"],
)
async def test_work_on_a_graph_waits_for_its_turn(hub: Hub, work: Work) -> None:
    run = await hub.runs.outcome(await hub.ask(ASKED, ANN))
    async with hub.queries.turn("space"):
        with pytest.raises(TooMany):
            await work(hub, run)
    await work(hub, run)
