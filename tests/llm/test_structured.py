"""Replies that shall be JSON: read with what is around them, or answered with what is wrong."""

from tests.each import for_each

from askgraph.llm import Choice
from askgraph.llm.structured import Structured, Unfit, read_structured

SCHEMA = {
    "type": "object",
    "properties": {"status": {"enum": ["done", "retry"]}, "rows": {"$ref": "#/$defs/count"}},
    "required": ["status"],
    "$defs": {"count": {"type": "integer"}},
}


@for_each(
    "text",
    [
        '{"status": "done", "rows": 3}',
        '```json\n{"status": "done", "rows": 3}\n```',
        'Here it is:\n```\n{"status": "done", "rows": "3"}\n```\nAs you wished.',
        'I think {"status": "done", "rows": 3} is right.',
    ],
)
def test_the_object_is_found(text: str) -> None:
    assert read_structured(Choice(text), SCHEMA) == Structured({"status": "done", "rows": 3})


@for_each(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("done", "no JSON object"),
        ('{"status": "don', "no JSON object"),
        ("{}", "'status' is missing"),
        ('{"status": "perhaps"}', '"done", "retry"'),
        ('{"status": "done", "rows": 1.5}', "'rows' must be integer"),
    ],
)
def test_what_does_not_fit_is_said(text: str, said: str) -> None:
    read = read_structured(Choice(text), SCHEMA)

    assert isinstance(read, Unfit)
    assert said in read.feedback
