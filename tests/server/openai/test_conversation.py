"""A conversation becomes a question; what clients send back of ours is not believed."""

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.server.openai.answers import Talk, code_block, talk_of
from askgraph.server.openai.views import ChatMessage
from askgraph.trace import Earlier

QUERY = "SELECT ?m { ?m a <http://example.org/Moon> }"


def said(*texts: str) -> list[ChatMessage]:
    """A conversation, the user first."""
    return [
        ChatMessage(role="assistant" if at % 2 else "user", content=text)
        for at, text in enumerate(texts)
    ]


def test_how_a_conversation_is_read() -> None:
    # The last message is the question.
    assert talk_of(said("  Which moons\n are there? ")) == Talk("Which moons are there?")
    # Parts of a message are read as text.
    body = {"role": "user", "content": [{"type": "text", "text": "Which"}, {"type": "image_url"}]}
    assert talk_of([ChatMessage.model_validate(body)]).question == "Which"
    # The query of an earlier answer goes with the question.
    answer = f"Io\n\n{code_block(QUERY, 'sparql')}"
    talk = talk_of(said("Which moons?", answer, "And the largest?"))
    assert talk.before == (Earlier("Which moons?", QUERY),)
    assert (talk.question, talk.asked) == ("And the largest?", "Which moons?")
    assert talk.said.startswith("Io ```sparql SELECT")
    # A longer fence holds a query with backticks.
    query = f'{QUERY} # "```\n```"'
    talk = talk_of(said("Which?", code_block(query, "sparql"), "And?"))
    assert talk.before == (Earlier("Which?", query),)
    # Messages of the system are passed over.
    system = ChatMessage(role="system", content="You are a pirate.")
    assert talk_of([system, *said("Which moons?")]) == Talk("Which moons?")
    # Only the latest questions are kept.
    answer = code_block(QUERY, "sparql")
    many = [text for at in range(30) for text in (f"question {at}", answer)]
    talk = talk_of(said(*many, "And?"))
    assert [one.question for one in talk.before] == [f"question {at}" for at in range(20, 30)]


@for_each(
    "query",
    [
        "DELETE WHERE { ?s ?p ?o }",
        "SELECT ?m { SERVICE <http://localhost:1/> { ?m ?p ?o } }",
        "no query at all",
        f"{QUERY} # {'x' * 20_000}",
        "",
    ],
)
def test_a_query_that_does_more_than_read_or_is_overlong_is_passed_over(query: str) -> None:
    talk = talk_of(said("Which?", code_block(query, "sparql"), "And?"))

    assert talk.before == ()


@for_each(("text", "choice"), [("2", 2), (" #3. ", 3), ("2 moons", None)])
def test_a_number_alone_is_a_choice(text: str, choice: int | None) -> None:
    assert talk_of(said("Which?", "1. Io. (1 row)", text)).choice == choice


@for_each("messages", [said("Which?", "These."), said("  "), []])
def test_without_a_question_it_says_what_is_missing(messages: list[ChatMessage]) -> None:
    with pytest.raises(SetupError, match="the last message has to be the user's question"):
        talk_of(messages)
