"""Models and servers with habits of their own: the text of a reply, and what a server refuses."""

import json
from collections.abc import AsyncIterator
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.servers.llm import LlmServer, Turn, refused

from askgraph import llm
from askgraph.errors import SetupError
from askgraph.llm import Choice, Finish, System, TextPart, ToolSchema, User, read_completion
from askgraph.llm.anthropic import AnthropicModel
from askgraph.llm.budget import BudgetAccount, ModelBudget
from askgraph.llm.google import GoogleModel
from askgraph.llm.model_habits import (
    StreamCleaner,
    TextCleaner,
    clean_choice,
    list_missing_features,
)
from askgraph.llm.openai import OpenAIModel
from askgraph.llm.structured import StructuredReply, describe_for_user, parse_structured
from askgraph.methods.shared import Conversation
from askgraph.sparql.rewrite import repair_query

QUERY = "SELECT ?x WHERE { ?x a <http://ex.test/A> }"
SEARCH = ToolSchema(
    "search",
    "Search.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
MARKS = """<think> </think> [THINK] [/THINK] <|channel|>analysis<|message|> <|im_end|> </s> < nk>
<|channel|>final<|message|> [ { ` ```json <tool_call> a {"a":1} {"name":"search"}""".split()
CALL = {"name": "search", "arguments": {"query": "two\nlines"}}
WRITTEN = json.dumps(CALL)


@pytest.fixture
async def model(llm_server: LlmServer) -> AsyncIterator[OpenAIModel]:
    made = OpenAIModel("m", base_url=llm_server.base + "/v1")
    yield made
    await made.close()


async def test_marks_in_the_text_are_taken_off(model: OpenAIModel, llm_server: LlmServer) -> None:
    replies = {
        f"<think>draft: ```SELECT ?t```</think>\n{QUERY}": (QUERY, "draft: ```SELECT ?t```"),
        f"so {{it}} is\n</think>\n\n{QUERY}": (QUERY, "so {it} is"),
        "<think>without an end": ("", "without an end"),
        f"Well. <think>hm</think> {QUERY}": (f"Well.  {QUERY}", "hm"),
        f"[THINK]a[/THINK]{QUERY}</s>": (QUERY, "a"),
        f"<|channel|>analysis<|message|>a<|channel|>final<|message|>{QUERY}": (QUERY, "a"),
        f"{QUERY}<|im_end|>\n<|im_start|>user\nMore": (QUERY, ""),
        f"{QUERY}<|eot_id|>": (QUERY, ""),
        f"  {QUERY} \n": (f"  {QUERY} \n", ""),
    }
    llm_server.turns.extend(Turn(text) for text in replies)

    for text, (cleaned, reasoning) in replies.items():
        *parts, last = [event async for event in model.complete([User("?")])]
        assert isinstance(last, llm.Completion), text
        assert (last.first.text, last.first.reasoning) == (cleaned, reasoning), text
        streamed = "".join(part.text for part in parts if isinstance(part, TextPart))
        assert streamed == cleaned or ("<think>" not in text and streamed.endswith(cleaned)), text


@given(st.lists(st.sampled_from([" ", "\n", *MARKS])), st.lists(st.integers(1, 9)), st.booleans())
def test_any_pieces_give_the_text(marks: list[str], sizes: list[int], has_tools: bool) -> None:
    text, tools = "".join(marks), [SEARCH] * has_tools
    choice, stream, cleaner = clean_choice(Choice(text), tools), StreamCleaner(tools), TextCleaner()
    ends = [*(end for end in accumulate(sizes) if end < len(text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise([0, *ends])]

    events = [event for piece in pieces for event in stream.clean(TextPart(piece))]
    events += stream.finish(0, choice)
    for piece in pieces:
        cleaner.add(piece)
    cleaned = cleaner.finish()

    streamed = "".join(event.text for event in events if isinstance(event, TextPart))
    assert choice.text == cleaned or choice.calls
    assert streamed == choice.text or (cleaner.restarts and streamed.endswith(choice.text))


async def test_calls_in_the_text_are_calls(model: OpenAIModel, llm_server: LlmServer) -> None:
    raw = WRITTEN.replace("\\n", "\n")
    texts = [
        WRITTEN, raw, f"```json\n{WRITTEN}\n```",
        f"I search.\n<tool_call>\n{WRITTEN}\n</tool_call>",
        f"<tool_call>{raw}", f"[TOOL_CALLS][{WRITTEN}]", f"<think>{{}}</think>{WRITTEN}<|im_end|>",
        json.dumps({"function": CALL}), json.dumps({"tool": "search", "args": CALL["arguments"]}),
        str(CALL), json.dumps(CALL | {"arguments": json.dumps(CALL["arguments"])}),
    ]  # fmt: skip
    others = ['{"name": "unknown", "arguments": {}}', f"No call: {QUERY}", '{"query": "search"}']
    llm_server.turns.extend(Turn(text) for text in [*texts, *others])

    for text in texts:
        choice = (await read_completion(model.complete([User("?")], tools=[SEARCH]))).first
        assert [(call.name, json.loads(call.arguments)) for call in choice.calls] == [
            ("search", CALL["arguments"])
        ], text
        assert choice.finish is Finish.CALLS
        assert choice.text in ("", "I search."), text
    for text in others:
        choice = (await read_completion(model.complete([User("?")], tools=[SEARCH]))).first
        assert (choice.calls, choice.text) == ((), text)


@pytest.mark.parametrize(
    ("habit", "message"),
    [
        ("system", "Unsupported value: 'messages[0].role' does not support 'system'"),
        ("system", "System role not supported"),
        ("stream", "Your organization must be verified to stream this model."),
        ("stream", "Streaming is not supported by this model"),
        ("tool_choice", "This model does not support tool choice."),
    ],
)
async def test_what_a_server_refuses_is_remembered(
    model: OpenAIModel, llm_server: LlmServer, habit: str, message: str
) -> None:
    llm_server.says.errors[habit] = message

    for _ in range(2):
        asked: list[llm.Message] = [System("Be brief."), User("Who?")]
        reply = await read_completion(model.complete(asked, tools=[SEARCH], tool_choice="search"))
        assert reply.first.text == "The Moon."

    assert len(llm_server.bodies) == 3
    sent = llm_server.bodies[-1]
    if habit == "system":
        assert sent["messages"] == [{"role": "user", "content": "Be brief.\n\nWho?"}]
    elif habit == "stream":
        assert sent["stream"] is False and "stream_options" not in sent
    assert sent["tools"] and ("tool_choice" in sent) is (habit != "tool_choice")


async def test_done_ends_a_reply_without_reason(model: OpenAIModel, llm_server: LlmServer) -> None:
    llm_server.says.ends = False

    choice = (await read_completion(model.complete([User("Who?")]))).first

    assert (choice.text, choice.finish) == ("The Moon.", Finish.STOP)


async def test_azure_takes_its_version_in_the_address(
    llm_server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{llm_server.base}/openai/deployments/x/chat/completions?api-version=2024-10-21"
    model = OpenAIModel("x", base_url=address)

    await read_completion(model.complete([User("Who?")]))
    await model.close()

    target = "/openai/deployments/x/chat/completions?api-version=2024-10-21"
    assert llm_server.requests[-1].target == target
    claude = AnthropicModel("x", base_url=f"{llm_server.base}?api-version=1", key_env=None)
    await read_completion(claude.complete([User("Who?")]))
    await claude.close()
    assert llm_server.requests[-1].target == "/v1/messages?api-version=1"
    with pytest.raises(SetupError, match="parameters"):
        GoogleModel("x", base_url=f"{llm_server.base}?api-version=1", key_env=None)
    monkeypatch.setenv("AZURE_KEY", "k")
    azure = OpenAIModel("x", base_url="https://a.openai.azure.com/openai/v1", key_env="AZURE_KEY")
    assert azure.get_library().default_headers["api-key"] == "k"
    await azure.close()


def test_the_table_knows_servers_and_families() -> None:
    known = {
        ("https://api.openai.com/v1", "gpt-4o"): {"max_tokens"},
        ("https://a.openai.azure.com/openai/v1", "x"): {"max_tokens"},
        ("http://127.0.0.1:8000/v1", "openai/o1-mini"): {"max_tokens", "system"},
        ("http://127.0.0.1:8000/v1", "gpt-5-nano"): {"max_tokens"},
        ("http://127.0.0.1:8000/v1", "qwen3-o4"): set(),
    }

    assert {key: list_missing_features(*key) for key in known} == known


def test_words_after_a_query_are_left_out() -> None:
    ordered = f"{QUERY}\nORDER BY DESC(?x)\nLIMIT 3"
    replies = {
        f"Here:\n{QUERY}\n\nExplanation: It's all of them.": QUERY,
        f"{QUERY} This query (of mine) works.": QUERY,
        f"{ordered}\nNote: three of them.": ordered,
        f"{QUERY}\n\n**Why**: no reason": QUERY,
        f"{QUERY} DROP ALL": f"{QUERY} DROP ALL",
    }

    assert {text: repair_query(text).query for text in replies} == replies


def test_sentences_for_the_model_are_not_for_the_user() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    broken = parse_structured(Choice('Sure: {"a": "two\nlines"} <- there'), schema)
    assert broken == StructuredReply({"a": "two\nlines"})
    feedback = parse_structured(Choice("no"), schema)
    assert not isinstance(feedback, StructuredReply)
    for sentence in (feedback.feedback, "There is no SELECT or ASK query in your reply."):
        shown = describe_for_user(sentence)
        assert "your" not in shown.lower() and "choose another model" in shown
    assert describe_for_user("the query has a fault") == "the query has a fault"


async def test_too_long_ones_are_sent_shorter(model: OpenAIModel, llm_server: LlmServer) -> None:
    llm_server.knows = lambda asked: (
        refused(400, "the maximum context length is 9 tokens")
        if len(str(asked["messages"])) > 15_000
        else [Turn("The Moon.")]
    )
    turns: list[llm.Message] = [User("Who?")]
    for id in ("a", "b"):
        turns += [
            llm.Assistant(calls=(llm.ToolCall(id, "search", "{}"),)),
            llm.ToolResult(id, "search", "the Moon\n" * 1_200),
        ]
    talk = Conversation(model, BudgetAccount(ModelBudget()), turns, (SEARCH,))

    assert (await talk.take_turn()).choice.text == "The Moon."
    first, second = (body["messages"] for body in llm_server.bodies)
    assert len(first[2]["content"]) > len(second[2]["content"]) and first[4] == second[4]
