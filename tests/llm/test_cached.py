"""The disk cache: the same request costs once, another one is asked, damage costs only speed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph import llm
from askgraph.llm.cached import CachedModel
from askgraph.llm.scripted import ScriptedModel

ASKED: list[llm.Message] = [llm.User("What orbits the Earth?")]
SEARCH = llm.ToolSchema("search", "Search.", {"type": "object", "properties": {}})
RICH = llm.Choice(
    "The Moon.",
    (llm.ToolCall("c1", "search", "{}"),),
    llm.Finish.CALLS,
    "Hm.",
    "",
    (llm.TokenLogprob("The", -0.5),),
    '{"kept": 1}',
)


async def test_the_same_request_costs_once_and_gives_the_same(tmp_path: Path) -> None:
    script = ScriptedModel([RICH])
    model = CachedModel(script, tmp_path)
    first = [event async for event in model.complete(ASKED, tools=[SEARCH])]

    again = [event async for event in model.complete(ASKED, tools=[SEARCH])]

    assert len(script.requests) == 1
    assert again[-1].choices == (RICH,)  # type: ignore[union-attr]
    assert again[-1].stored and not first[-1].stored  # type: ignore[union-attr]
    assert [type(event) for event in again] == [type(event) for event in first]


CHANGES: dict[str, llm.Options] = {
    "seed": {"seed": 2},
    "n": {"n": 2},
    "tools": {"tools": [SEARCH]},
    "schema": {"schema": {"type": "object"}},
    "temperature": {"temperature": 0.1},
    "length": {"max_tokens": 5},
    "stop": {"stop": ["."]},
    "logprobs": {"logprobs": True},
}


@for_each("change", CHANGES)
async def test_every_option_makes_another_request(change: str, tmp_path: Path) -> None:
    script = ScriptedModel(lambda request: "The Moon.")
    model = CachedModel(script, tmp_path)

    await llm.read_completion(model.complete(ASKED))
    await llm.read_completion(model.complete(ASKED, **CHANGES[change]))

    assert len(script.requests) == 2


async def test_another_role_or_another_model_makes_another_request(tmp_path: Path) -> None:
    script = ScriptedModel(lambda request: "The Moon.")
    other = ScriptedModel(lambda request: "The Moon.", model="other")

    await llm.read_completion(CachedModel(script, tmp_path).complete([llm.User("Moon")]))
    await llm.read_completion(CachedModel(script, tmp_path).complete([llm.System("Moon")]))
    await llm.read_completion(CachedModel(other, tmp_path).complete([llm.User("Moon")]))

    assert (len(script.requests), len(other.requests)) == (2, 1)
    assert other.identity == llm.Identity("scripted", "other")


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "another text": lambda data: data.replace(b"The Moon.", b"The Sun.."),
    "no JSON": lambda data: b"\xff\xfe",
}


def _damage(folder: Path, change: Callable[[bytes], bytes]) -> None:
    [file] = folder.glob("*/*.json")
    file.write_bytes(change(file.read_bytes()))


@for_each("damage", DAMAGE)
async def test_a_damaged_file_counts_as_absent(damage: str, tmp_path: Path) -> None:
    script = ScriptedModel(["The Moon.", "The Moon."])
    model = CachedModel(script, tmp_path)
    await llm.read_completion(model.complete(ASKED))
    _damage(tmp_path, DAMAGE[damage])

    done = await llm.read_completion(model.complete(ASKED))

    assert (done.stored, done.first.text, len(script.requests)) == (False, "The Moon.", 2)


@pytest.mark.parametrize("choice", [llm.Choice(""), llm.Choice("The M", finish=llm.Finish.LENGTH)])
async def test_what_is_empty_or_cut_off_is_not_kept(choice: llm.Choice, tmp_path: Path) -> None:
    model = CachedModel(ScriptedModel([choice, "The Moon."]), tmp_path)
    await llm.read_completion(model.complete(ASKED))

    assert (await llm.read_completion(model.complete(ASKED))).first.text == "The Moon."
