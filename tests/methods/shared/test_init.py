"""Transcripts stay within their tokens by shortening old results, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.llm import Assistant, Message, System, ToolCall, ToolResult, User, estimate_tokens
from askgraph.methods.shared import (
    TextVariants,
    estimate_message_tokens,
    fit_texts,
    shorten_results,
)

LONG = 'a "row" of the "graph"\n' * 200


def conversation(turns: int) -> list[Message]:
    messages: list[Message] = [System("rules " * 50), User("Which moons orbit Jupiter?")]
    for number in range(turns):
        messages.append(Assistant(calls=(ToolCall(str(number), "execute", "{}"),)))
        messages.append(ToolResult(str(number), "execute", f"{number} {LONG}"))
    return messages


def test_a_short_conversation_is_left_as_it_is() -> None:
    assert shorten_results(conversation(2), 100_000) == conversation(2)


def test_the_oldest_results_are_shortened_first_and_the_last_stays_whole() -> None:
    messages = conversation(6)
    kept = shorten_results(messages, estimate_message_tokens(messages) - 1)
    lengths = [len(m.text) for m in kept if isinstance(m, ToolResult)]
    assert lengths[0] < 400 and lengths[-1] == len(LONG) + 2
    assert lengths == sorted(lengths)
    assert all(m.text.count('"') % 4 == 0 for m in kept)  # of whole lines


def test_results_that_are_plain_text_are_shortened_where_their_places_are_given() -> None:
    turns: list[Message] = [
        Assistant("Act: query('…')"),
        User(LONG),
        Assistant("Act: query('…')"),
        User(LONG),
    ]
    messages: list[Message] = [System("rules"), User(LONG), *turns]

    kept = shorten_results(messages, 10, results={3, 5})

    assert [one == old for one, old in zip(kept, messages, strict=True)] == [
        True, True, True, False, True, True,
    ]  # fmt: skip


@given(turns=st.integers(0, 8), most=st.integers(1, 10_000))
def test_what_is_no_result_is_never_touched(turns: int, most: int) -> None:
    messages = conversation(turns)
    kept = shorten_results(messages, most)
    assert len(kept) == len(messages)
    for old, new in zip(messages, kept, strict=True):
        assert new == old or isinstance(old, ToolResult)
    assert estimate_message_tokens(kept) <= estimate_message_tokens(messages)


SHARES = {"a": 0.5, "b": 0.5}


def piece(*lengths: int) -> TextVariants:
    return TextVariants(tuple("x" * 8 * length for length in lengths))


def tokens(texts: list[str]) -> list[int]:
    return [estimate_tokens(text) for text in texts]


@for_each(
    ("first", "second", "shown"),
    ([piece(10, 5)], [piece(10), piece(7)], ([10], [10, 7])),  # what fits is whole
    ([], [piece(40), piece(40)], ([], [40, 40])),  # what one kind leaves another may use
    ([piece(30)] * 9, [piece(40)], ([30], [40])),  # its share is its own
    ([piece(90, 20)] * 3, [], ([20, 20, 20], [])),  # shortened before one is left out
    ([piece(50, 20)] * 2, [], ([50, 20], [])),  # the first are lengthened first
    ([piece(900), piece(10)], [], ([10], [])),  # one that is too long keeps none out
)
def test_kinds_of_texts_share_the_room(
    first: list[TextVariants], second: list[TextVariants], shown: tuple[list[int], list[int]]
) -> None:
    found = fit_texts({"a": first, "b": second}, SHARES, max_tokens=100)
    assert (tokens(found["a"]), tokens(found["b"])) == shown


def test_pieces_that_come_in_turn_have_no_gaps() -> None:
    kinds = {"a": [piece(10), piece(900), piece(10)], "b": []}
    assert len(fit_texts(kinds, SHARES, max_tokens=100)["a"]) == 2
    assert len(fit_texts(kinds, SHARES, max_tokens=100, prefix_kinds=("a",))["a"]) == 1


@given(
    st.dictionaries(
        st.sampled_from(["a", "b"]),
        st.lists(st.lists(st.integers(1, 60), max_size=4), max_size=6),
        min_size=2,
    ),
    st.integers(-5, 200),
)
def test_the_room_is_never_exceeded(lengths: dict[str, list[list[int]]], room: int) -> None:
    kinds = {
        kind: [piece(*sorted(several, reverse=True)) for several in listed]
        for kind, listed in lengths.items()
    }
    shown = fit_texts(kinds, SHARES, max_tokens=room)
    assert sum(sum(tokens(texts)) for texts in shown.values()) <= max(0, room)
