"""Texts of several kinds share the room of a prompt."""

from hypothesis import given
from hypothesis import strategies as st

from askgraph.agent.room import Piece, fitted
from askgraph.llm.estimate import estimated_tokens

SHARES = {"a": 0.5, "b": 0.5}


def piece(*lengths: int) -> Piece:
    return Piece(tuple("x" * 4 * length for length in lengths))


def tokens(texts: list[str]) -> list[int]:
    return [estimated_tokens(text) for text in texts]


def test_what_fits_is_whole() -> None:
    shown = fitted({"a": [piece(10, 5)], "b": [piece(10), piece(7)]}, SHARES, room=100)

    assert {kind: tokens(texts) for kind, texts in shown.items()} == {"a": [10], "b": [10, 7]}


def test_what_one_kind_leaves_another_may_use() -> None:
    shown = fitted({"a": [], "b": [piece(40), piece(40)]}, SHARES, room=100)

    assert tokens(shown["b"]) == [40, 40]


def test_no_kind_takes_the_share_of_another() -> None:
    shown = fitted({"a": [piece(30)] * 9, "b": [piece(40)]}, SHARES, room=100)

    assert tokens(shown["a"]) == [30] and tokens(shown["b"]) == [40]


def test_a_text_is_shortened_before_another_is_left_out() -> None:
    shown = fitted({"a": [piece(90, 20)] * 3, "b": []}, SHARES, room=100)

    assert tokens(shown["a"]) == [20, 20, 20]


def test_the_first_texts_are_lengthened_first() -> None:
    shown = fitted({"a": [piece(50, 20)] * 2, "b": []}, SHARES, room=100)

    assert tokens(shown["a"]) == [50, 20]


def test_one_that_is_too_long_does_not_keep_the_next_ones_out() -> None:
    shown = fitted({"a": [piece(900), piece(10)], "b": []}, SHARES, room=100)

    assert tokens(shown["a"]) == [10]


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

    shown = fitted(kinds, SHARES, room=room)

    assert sum(sum(tokens(texts)) for texts in shown.values()) <= max(0, room)
