"""A conversation becomes a question; what clients send back of ours is not believed."""

from tests.each import for_each

from askgraph.server.openai import ChatMessage
from askgraph.server.openai.answers import ParsedConversation, format_code_block, parse_conversation
from askgraph.trace import PreviousQuestion

QUERY = "SELECT ?m { ?m a <http://example.org/Moon> }"


def said(*texts: str) -> list[ChatMessage]:
    """A conversation, the user first."""
    return [
        ChatMessage(role="assistant" if at % 2 else "user", content=text)
        for at, text in enumerate(texts)
    ]


def test_how_a_conversation_is_read() -> None:
    # The last message is the question.
    assert parse_conversation(said("  Which moons\n are there? ")) == ParsedConversation(
        "Which moons are there?"
    )
    # The query of an earlier answer goes with the question.
    answer = f"Io\n\n{format_code_block(QUERY, 'sparql')}"
    talk = parse_conversation(said("Which moons?", answer, "And the largest?"))
    assert talk.before == (PreviousQuestion("Which moons?", QUERY),)
    assert (talk.question, talk.previous_question) == ("And the largest?", "Which moons?")
    assert talk.previous_reply.startswith("Io ```sparql SELECT")
    # A longer fence holds a query with backticks.
    query = f'{QUERY} # "```\n```"'
    talk = parse_conversation(said("Which?", format_code_block(query, "sparql"), "And?"))
    assert talk.before == (PreviousQuestion("Which?", query),)
    # Only the latest questions are kept.
    answer = format_code_block(QUERY, "sparql")
    many = [text for at in range(30) for text in (f"question {at}", answer)]
    talk = parse_conversation(said(*many, "And?"))
    assert [one.question for one in talk.before] == [f"question {at}" for at in range(20, 30)]


@for_each(
    "query",
    "DELETE WHERE { ?s ?p ?o }",
    "SELECT ?m { SERVICE <http://localhost:1/> { ?m ?p ?o } }",
    "no query at all",
    f"{QUERY} # {'x' * 20_000}",
    "",
)
def test_a_query_that_does_more_than_read_or_is_overlong_is_passed_over(query: str) -> None:
    talk = parse_conversation(said("Which?", format_code_block(query, "sparql"), "And?"))

    assert talk.before == ()
