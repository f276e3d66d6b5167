"""Models on this machine: beams, grammars, samples, streams; from tiny models made on the spot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.late import local
from tests.tiny_models import tiny_qwen, tiny_t5

from askgraph import llm, plugins
from askgraph.errors import ErrorReply, SetupError
from askgraph.index.names import ItemKind
from askgraph.llm.structured import StructuredReply, parse_structured
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing.model_writer import build_query_grammar, parse_query
from askgraph.methods.writing.term_names import TermNames

ASKED: list[llm.Message] = [llm.System("You write queries."), llm.User("What orbits Jupiter?")]
TEXTS = [
    "SELECT ?v0 WHERE { ?v0 rdf:type <Moon> . ?v0 <orbits> <Jupiter> . }",
    "You write queries.",
]
COLOURS = 'root ::= "red" | "green" | "blue" | "grey"'
NAMED = TermNames(
    [
        ListedTerm(ItemKind.ENTITY, "http://example.org/Jupiter", "Jupiter"),
        ListedTerm(ItemKind.PREDICATE, "http://example.org/orbits", "orbits"),
    ]
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "causal": tiny_qwen(folder / "qwen", TEXTS),
        "encoder-decoder": tiny_t5(folder / "t5", TEXTS),
    }


@pytest.fixture(params=["causal", "encoder-decoder"])
async def model(
    request: pytest.FixtureRequest, folders: dict[str, Path]
) -> AsyncIterator[llm.LanguageModel]:
    made = local.TransformersModel(str(folders[request.param]), device="cpu")
    yield made
    await made.close()
    await made.close()


def test_it_is_a_language_model(folders: dict[str, Path]) -> None:
    made = plugins.load("llm", "transformers")(str(folders["causal"]))

    assert isinstance(made, llm.LanguageModel)
    assert made.identity.provider == "transformers"


async def test_the_parts_add_up_to_the_text(model: llm.LanguageModel) -> None:
    events = [event async for event in model.complete(ASKED, max_tokens=12)]

    *parts, last = events
    assert isinstance(last, llm.Completion)
    assert "".join(part.text for part in parts if isinstance(part, llm.TextPart)) == last.first.text
    assert last.usage.output <= 12
    assert last.usage.input > 0


async def test_beams_differ_and_the_likeliest_comes_first(model: llm.LanguageModel) -> None:
    whole = await llm.read_completion(model.complete(ASKED, n=4, beams=True, grammar=COLOURS))

    texts = [choice.text for choice in whole.choices]
    beliefs = [choice.logprob or 0.0 for choice in whole.choices]
    assert len(set(texts)) == len(texts) >= 2
    assert set(texts) <= {"red", "green", "blue", "grey"}
    assert beliefs == sorted(beliefs, reverse=True)
    assert all(choice.finish is llm.Finish.STOP for choice in whole.choices)
    whole = await llm.read_completion(
        model.complete(ASKED, n=3, beams=True, grammar='root ::= "red"')
    )
    assert [choice.text for choice in whole.choices] == ["red"]


async def test_samples_follow_the_grammar_and_repeat_by_seed(model: llm.LanguageModel) -> None:
    async def said(seed: int) -> list[str]:
        whole = await llm.read_completion(model.complete(ASKED, n=8, seed=seed, grammar=COLOURS))
        return [choice.text for choice in whole.choices]

    first = await said(1)

    assert len(first) == 8
    assert set(first) <= {"red", "green", "blue", "grey"}
    assert await said(1) == first


async def test_without_warmth_all_choices_are_the_same(model: llm.LanguageModel) -> None:
    whole = await llm.read_completion(
        model.complete(ASKED, n=3, temperature=0.0, max_tokens=5, logprobs=True)
    )

    assert len(whole.choices) == 3
    assert len({(choice.text, choice.logprob) for choice in whole.choices}) == 1
    assert whole.first.finish is llm.Finish.LENGTH


async def test_what_a_model_writes_under_the_grammar_is_a_query(model: llm.LanguageModel) -> None:
    grammar = build_query_grammar(NAMED)

    whole = await llm.read_completion(
        model.complete(ASKED, n=4, seed=3, max_tokens=400, grammar=grammar)
    )

    for choice in [choice for choice in whole.choices if choice.finish is llm.Finish.STOP]:
        assert parse_query(choice.text, NAMED).startswith(("SELECT", "ASK"))


async def test_a_schema_is_fulfilled(model: llm.LanguageModel) -> None:
    schema = {
        "type": "object",
        "properties": {"sure": {"type": "boolean"}},
        "required": ["sure"],
        "additionalProperties": False,
    }

    whole = await llm.read_completion(model.complete(ASKED, schema=schema, max_tokens=60))

    assert isinstance(parse_structured(whole.first, schema), StructuredReply)


async def test_a_stop_text_ends_the_reply_and_is_not_part_of_it(model: llm.LanguageModel) -> None:
    grammar = 'root ::= "one, two, three"'

    events = [e async for e in model.complete(ASKED, grammar=grammar, stop=[", th"])]

    last = events[-1]
    assert isinstance(last, llm.Completion)
    assert (last.first.text, last.first.finish) == ("one, two", llm.Finish.STOP)
    assert "".join(e.text for e in events if isinstance(e, llm.TextPart)) == "one, two"


async def test_a_stream_closed_early_leaves_the_model_free(model: llm.LanguageModel) -> None:
    async with aclosing(model.complete(ASKED, max_tokens=5_00)) as stream:
        async for _ in stream:
            break

    async with asyncio.timeout(20):
        await llm.read_completion(model.complete(ASKED, max_tokens=2))


async def test_a_grammar_that_is_none_is_told(model: llm.LanguageModel) -> None:
    with pytest.raises(SetupError, match="grammar cannot be read"):
        await llm.read_completion(model.complete(ASKED, grammar="root ::= ("))


async def test_tools_are_told_and_called_in_words(folders: dict[str, Path]) -> None:
    model = local.TransformersModel(str(folders["causal"]), device="cpu")
    tool = llm.ToolSchema("list", "List triples.", {"type": "object", "properties": {}})
    call = r'root ::= "<tool_call>{\"name\": \"list\", \"arguments\": {\"a\": 1}}</tool_call>"'

    whole = await llm.read_completion(model.complete(ASKED, tools=[tool], grammar=call))

    assert [(each.name, each.arguments) for each in whole.first.calls] == [("list", '{"a": 1}')]
    assert whole.first.finish is llm.Finish.CALLS
    await model.close()


async def test_a_model_that_is_not_there_and_a_template_that_fails_are_told(tmp_path: Path) -> None:
    model = local.TransformersModel("someone/no-such-model")
    with pytest.raises(SetupError, match="download = true"):
        await llm.read_completion(model.complete(ASKED))
    await model.close()
    folder = tiny_qwen(tmp_path / "m", TEXTS)
    (folder / "chat_template.jinja").write_text("{{ raise_exception('system is not known') }}")
    model = local.TransformersModel(str(folder), device="cpu")

    with pytest.raises(ErrorReply, match="system is not known"):
        await llm.read_completion(model.complete(ASKED))
    await model.close()
