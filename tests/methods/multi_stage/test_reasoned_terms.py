"""What a model picked is read from its last marker line, whatever is around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.methods.multi_stage.staged_terms import parse_picked_numbers
from askgraph.methods.shared.index_cache import parse_bm25


@for_each(
    ("text", "expected"),
    ("They mean Io.\nPICK: 2, 3", (2, 3)),
    ("PICK: 1\nOn second thoughts the other one.\nPICK: 2", (2,)),
    ("**PICK: 4 and 1**", (4, 1)),
    ("> Picked: [3, 3, 9]", (3,)),
    ("`PICK` 5", (5,)),
    ("PICK: none", ()),
    ("PICK: none of 1 to 3", ()),
    ("I would pick 2.", ()),
    ("PICK the best. 2", ()),
    ("PICK: 0, 6, 99999999999999999999", ()),
    ("", ()),
)
def test_the_last_marker_line_counts(text: str, expected: tuple[int, ...]) -> None:
    assert parse_picked_numbers(text, 5) == expected


@given(st.text(), st.lists(st.integers(1, 20), min_size=1, unique=True))
def test_the_last_line_is_read_after_any_thoughts(thought: str, numbers: list[int]) -> None:
    said = f"{thought}\nPICK: {', '.join(map(str, numbers))}"
    assert parse_picked_numbers(said, 20) == tuple(numbers)


@given(st.text(), st.integers(0, 50))
def test_only_numbers_of_candidates_come_each_once(text: str, most: int) -> None:
    found = parse_picked_numbers(text, most)
    assert len(set(found)) == len(found) and all(1 <= number <= most for number in found)


@for_each("text", ["", "1.2", "1.2/2", "-1/0.5", "a/b", "1.2/nan"])
def test_numbers_that_bm25_cannot_take_are_refused(text: str) -> None:
    with pytest.raises(SetupError, match="K1/B"):
        parse_bm25(text)
