"""Transcripts stay within their tokens by shortening old results, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from askgraph.agent.conversation import shortened, tokens_of
from askgraph.llm import Assistant, Message, System, ToolCall, ToolResult, User

LONG = "a row of the graph; " * 200


def conversation(turns: int) -> list[Message]:
    messages: list[Message] = [System("rules " * 50), User("Which moons orbit Jupiter?")]
    for number in range(turns):
        messages.append(Assistant(calls=(ToolCall(str(number), "execute", "{}"),)))
        messages.append(ToolResult(str(number), "execute", f"{number} {LONG}"))
    return messages


def test_a_short_conversation_is_left_as_it_is() -> None:
    assert shortened(conversation(2), 100_000) == conversation(2)


def test_the_oldest_results_are_shortened_first_and_the_last_stays_whole() -> None:
    messages = conversation(6)

    kept = shortened(messages, tokens_of(messages) - 1)

    lengths = [len(m.text) for m in kept if isinstance(m, ToolResult)]
    assert lengths[0] < 400 and lengths[-1] == len(LONG) + 2
    assert lengths == sorted(lengths)


def test_results_that_are_plain_text_are_shortened_where_their_places_are_given() -> None:
    turns: list[Message] = [
        Assistant("Act: query('…')"),
        User(LONG),
        Assistant("Act: query('…')"),
        User(LONG),
    ]
    messages: list[Message] = [System("rules"), User(LONG), *turns]

    kept = shortened(messages, 10, results={3, 5})

    assert [one == old for one, old in zip(kept, messages, strict=True)] == [
        True, True, True, False, True, True,
    ]  # fmt: skip


@given(turns=st.integers(0, 8), most=st.integers(1, 10_000))
def test_what_is_no_result_is_never_touched(turns: int, most: int) -> None:
    messages = conversation(turns)

    kept = shortened(messages, most)

    assert len(kept) == len(messages)
    for old, new in zip(messages, kept, strict=True):
        assert new == old or isinstance(old, ToolResult)
    assert tokens_of(kept) <= tokens_of(messages)
