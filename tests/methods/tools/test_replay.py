"""A run from its trace alone: the same turns, the same results, and a word where it differs."""

import pytest

from askgraph.errors import BudgetSpent, SetupError
from askgraph.llm import Choice, Finish, System, ToolCall, ToolSchema, User, read_completion
from askgraph.llm.budget import BudgetAccount, BudgetedModel, ModelBudget
from askgraph.methods.tools.replay import ReplayedModel, ReplayedToolbox
from askgraph.trace import ModelTurn, Observation, Prompt, Question, Refusal, ToolUse, Trace, Usage

SEARCH = ToolSchema(
    "search",
    "Search.",
    {
        "type": "object",
        "properties": {
            "graph": {"type": "string", "enum": ["space", "cars"]},
            "text": {"type": "string"},
            "limit": {"type": "integer"},
        },
        "required": ["graph", "text"],
    },
)


def search(call: str, text: str) -> ToolCall:
    return ToolCall(call, "search", f'{{"graph": "space", "text": "{text}", "limit": "5"}}')


def use(call: str, text: str, found: str) -> ToolUse:
    arguments = {"graph": "space", "text": text, "limit": 5}
    return ToolUse("search", arguments, Observation(found), 0.5, call)


BOTH = Choice("I look.", (search("c1", "Io"), search("c2", "Titan")), Finish.CALLS, "Hm.")
AGAIN = Choice("", (search("c3", "Io"), ToolCall("c4", "search", "{")), Finish.CALLS)
OWN = ToolUse("overview", {"question": "?"}, Observation("2 graphs"))
BROKEN = ToolUse("search", {"text": "{"}, Observation("no JSON", failed=True), call="c4")
TRACE = Trace(
    Question("?"),
    "grasp",
    (
        OWN,
        Prompt("question", (System("Work."), User("?")), (SEARCH,)),
        ModelTurn(BOTH, Usage(0.0, 0, 1, 100, 40, 20), "m-2"),
        use("c1", "Io", "one moon"),
        use("c2", "Titan", "another moon"),
        ModelTurn(AGAIN, Usage(0.0, 0, 1, 200, 150, 10), "m-2"),
        use("c3", "Io", "the same moon"),
        BROKEN,
        Refusal("nothing", usage=Usage(2.0, 7, 2, 300, 190, 30)),
    ),
)


async def test_the_model_says_the_same_in_the_same_order_at_the_same_cost() -> None:
    account = BudgetAccount(ModelBudget())
    replayed = ReplayedModel(TRACE)
    model = BudgetedModel(replayed, account)

    said = [await read_completion(model.complete([User("?")])) for _ in range(2)]

    assert [one.first for one in said] == [BOTH, AGAIN]
    assert replayed.identity.model == said[0].model == "m-2"
    spent = (account.calls, account.usage.input, account.usage.cached, account.usage.output)
    assert spent == (2, 300, 190, 30)
    with pytest.raises(BudgetSpent, match="took 2 turns"):
        await read_completion(model.complete([User("?")]))


async def test_each_call_gives_what_it_gave_then() -> None:
    tools = ReplayedToolbox(TRACE)
    calls = [ToolCall("", "overview", '{"question": "?"}'), *BOTH.calls, *AGAIN.calls]
    assert [await tools.call(call) for call in calls] == [
        step for step in TRACE.steps if isinstance(step, ToolUse)
    ]


async def test_calls_of_one_turn_may_come_in_any_order() -> None:
    tools = ReplayedToolbox(TRACE)
    await tools.call(ToolCall("", "overview", '{"question": "?"}'))
    swapped = [await tools.call(search("c2", "Titan")), await tools.call(search("c1", "Io"))]
    assert [use.observation.text for use in swapped] == ["another moon", "one moon"]


async def test_a_call_that_was_not_made_then_is_told_with_its_step() -> None:
    tools = ReplayedToolbox(TRACE)
    with pytest.raises(SetupError, match="at step 1: overview"):
        await tools.call(search("c1", "Io"))
    await tools.call(ToolCall("", "overview", '{"question": "?"}'))

    with pytest.raises(SetupError, match=r"at step 4: search\(.*Io.* was called, now .*Europa"):
        await tools.call(search("c1", "Europa"))
    with pytest.raises(SetupError, match=r"all calls are made, and search\("):
        await ReplayedToolbox(Trace(Question("?"), "m", ())).call(search("c1", "Io"))


def test_tools_graphs_and_requests_are_those_of_the_run() -> None:
    tools = ReplayedToolbox(TRACE)
    own = [ToolUse("overview", {"graph": name}, Observation("")) for name in ("b", "a", "b")]
    assert (tools.schemas, tools.graph_names, tools.requests) == ((SEARCH,), ("space", "cars"), 7)
    assert ReplayedToolbox(Trace(Question("?"), "m", tuple(own))).graph_names == ("b", "a")
