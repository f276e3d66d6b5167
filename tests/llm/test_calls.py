"""Tool calls as models write them: what can be run is run, the rest becomes words for the model."""

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.llm import Assistant, Choice, Finish, ToolCall, ToolSchema, structured

SEARCH = ToolSchema(
    "search_entity",
    "Find entities by name.",
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "exact": {"type": "boolean"},
            "kind": {"enum": ["class", "individual"]},
            "within": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        },
        "required": ["text"],
    },
)
CANCEL = ToolSchema("cancel", "Give up.", {"type": "object", "properties": {}})
TOOLS = [SEARCH, CANCEL]


def _checked(
    arguments: str, name: str = "search_entity"
) -> structured.ValidCall | structured.InvalidCall:
    return structured.check_call(ToolCall("c1", name, arguments), TOOLS)


@for_each(
    ("written", "read"),
    ('{"text": "Moon", "limit": 3}', {"text": "Moon", "limit": 3}),
    ('```json\n{"text": "Moon"}\n```', {"text": "Moon"}),
    (json.dumps('{"text": "Moon"}'), {"text": "Moon"}),
    ("{'text': 'Moon', 'exact': True}", {"text": "Moon", "exact": True}),
    ('{"text": "Moon", "limit": "3"}', {"text": "Moon", "limit": 3}),
    ('{"text": "Moon", "exact": "true"}', {"text": "Moon", "exact": True}),
    ('{"text": "Moon", "within": "None"}', {"text": "Moon", "within": None}),
    ('{"text": "Moon", "within": "[\\"a\\"]"}', {"text": "Moon", "within": ["a"]}),
    ('{"text": "405"}', {"text": "405"}),
)
def test_what_is_meant_is_read(written: str, read: dict[str, object]) -> None:
    checked = _checked(written)

    assert isinstance(checked, structured.ValidCall)
    assert checked.arguments == read


@for_each("name", ["search_entity", "Search-Entity", "functions.search_entity", "search_entity()"])
def test_the_tool_is_found_in_other_spellings(name: str) -> None:
    checked = _checked('{"text": "Moon"}', name)

    assert isinstance(checked, structured.ValidCall)
    assert checked.tool is SEARCH


@for_each(
    ("written", "said"),
    ('{"text": "Mo', "no JSON object"),
    ("[1]", "list, not an object"),
    ("[" * 100_000, "no JSON object"),
    ("{}", "'text' is missing"),
    ("", "'text' is missing"),
    ('{"text": 5}', "must be string, not 5"),
    ('{"text": "Moon", "limt": 3}', "did you mean 'limit'?"),
    ('{"text": "Moon", "limit": 0}', "must be 1 or more"),
    ('{"text": "Moon", "limit": true}', "must be integer"),
    ('{"text": "Moon", "kind": "thing"}', '"class", "individual"'),
    ('{"text": "Moon", "within": [1]}', "'within[0]' must be string"),
)
def test_what_cannot_be_run_is_said_in_words(written: str, said: str) -> None:
    checked = _checked(written)

    assert isinstance(checked, structured.InvalidCall)
    assert said in checked.feedback
    assert len(checked.feedback) < 500


def test_an_unknown_tool_is_answered_with_the_near_ones_and_all() -> None:
    checked = _checked("{}", "serch_entity")

    assert isinstance(checked, structured.InvalidCall)
    assert checked.feedback == (
        "There is no tool 'serch_entity', so nothing was run."
        " Did you mean search_entity? The tools are search_entity, cancel."
    )


def test_a_tool_without_arguments_needs_none() -> None:
    assert isinstance(_checked("", "cancel"), structured.ValidCall)


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_no_text_is_too_odd(written: str) -> None:
    assert isinstance(_checked(written), structured.ValidCall | structured.InvalidCall)


@given(st.dictionaries(st.sampled_from(["text", "limit", "exact", "x"]), st.text() | st.integers()))
def test_what_is_run_has_what_it_needs(arguments: dict[str, object]) -> None:
    checked = _checked(json.dumps(arguments))

    if isinstance(checked, structured.ValidCall):
        assert isinstance(checked.arguments["text"], str)
        assert isinstance(checked.arguments.get("limit", 1), int)
        assert "x" not in checked.arguments


CALL = ToolCall("c1", "search", "{}")


@for_each(
    ("choice", "said"),
    (Choice(""), "was empty"),
    (Choice(" \n", reasoning="Hm."), "was empty"),
    (Choice("", finish=Finish.OTHER), "was empty"),
    (Choice("I ca", finish=Finish.LENGTH), "is cut off"),
    (Choice("", (CALL,), Finish.LENGTH), "is cut off"),
    (Choice("", finish=Finish.REFUSED), "was a refusal"),
    (Choice("No.", refusal="No.", finish=Finish.REFUSED), "was a refusal"),
    (Choice("The Moon."), None),
    (Choice("", (CALL,), Finish.CALLS), None),
)
def test_each_trouble_is_said(choice: Choice, said: str | None) -> None:
    found = structured.find_reply_problem(choice)

    assert found is None if said is None else found and said in found


def _turn(letter: str, number: int = 0) -> Choice:
    call = ToolCall(f"c{number}", "search", f'{{"text": "{letter}",  "limit": 3}}')
    return Choice("Let me see.", (call,), reasoning=f"thought {number}")


@for_each(
    ("turns", "message"),
    ("", None),
    ("A", None),
    ("AB", None),
    ("ABA", None),
    ("ABCAB", None),
    ("AAB", None),
    ("AA", "turn is the one before it"),
    ("BAA", "turn is the one before it"),
    ("ABAB", "2 turns"),
    ("CABAB", "2 turns"),
    ("ABCABC", "3 turns"),
)
def test_a_round_is_found_when_it_is_done_twice(turns: str, message: str | None) -> None:
    said = structured.detect_loop([_turn(letter, number) for number, letter in enumerate(turns)])

    assert said is None if message is None else said and message in said


def test_turns_are_the_same_whatever_their_ids_spaces_and_order_of_calls() -> None:
    one, two = ToolCall("1", "a", '{"x": 1, "y": 2}'), ToolCall("2", "b", "{}")
    again = (ToolCall("9", "b", "{ }"), ToolCall("8", "a", '{"y":2,"x":1}'))
    bad = ToolCall("1", "a", '{"x": ')

    assert structured.detect_loop([Choice("So:", (one, two)), Assistant(" so: ", again)])
    assert structured.detect_loop([Choice("", (bad,)), Choice("", (bad,))])
    assert not structured.detect_loop(
        [Choice("", (bad,)), Choice("", (ToolCall("1", "a", '{"y": '),))]
    )


SCHEMA = {
    "type": "object",
    "properties": {"status": {"enum": ["done", "retry"]}, "rows": {"$ref": "#/$defs/count"}},
    "required": ["status"],
    "$defs": {"count": {"type": "integer"}},
}


@for_each(
    "text",
    '{"status": "done", "rows": 3}',
    '```json\n{"status": "done", "rows": 3}\n```',
    'Here it is:\n```\n{"status": "done", "rows": "3"}\n```\nAs you wished.',
    'I think {"status": "done", "rows": 3} is right.',
)
def test_the_object_is_found(text: str) -> None:
    assert structured.parse_structured(Choice(text), SCHEMA) == structured.StructuredReply(
        {"status": "done", "rows": 3}
    )


@for_each(
    ("text", "said"),
    ("", "no JSON object"),
    ("done", "no JSON object"),
    ('{"status": "don', "no JSON object"),
    ("{}", "'status' is missing"),
    ('{"status": "perhaps"}', '"done", "retry"'),
    ('{"status": "done", "rows": 1.5}', "'rows' must be integer"),
)
def test_what_does_not_fit_is_said(text: str, said: str) -> None:
    read = structured.parse_structured(Choice(text), SCHEMA)

    assert isinstance(read, structured.InvalidReply)
    assert said in read.feedback
