"""Tables in a terminal of any width: no figure is broken, nothing is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from askgraph.cli.output import plain_text
from askgraph.evaluation.reports.sheet import Column, Sheet
from askgraph.evaluation.reports.terminal import as_blocks, broken, fitted

METHOD = "graph-search:operators=false"
HEADS = ("questions", "answered", "failed", "best_column", "low", "high", "exact_match", "rows")
SHEET = Sheet(
    "Scores",
    (Column("method"), *(Column(head, "share") for head in HEADS)),
    ((METHOD, 0.26, 0.21, 0.0, 0.605, 0.471, 0.725, 0.231, 0.59),),
)
FIGURES = ["26.0", "21.0", "0.0", "60.5", "47.1", "72.5", "23.1", "59.0"]


@pytest.mark.parametrize(("width", "tables"), [(200, 1), (100, 1), (80, 1), (50, 2), (33, 5)])
def test_figures_stay_whole_at_every_width(width: int, tables: int) -> None:
    text = plain_text(as_blocks(SHEET, width=width), width=width)
    assert [word for word in text.split() if word in FIGURES] == FIGURES
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.count("operators=false") == tables


def test_where_there_is_room_nothing_is_broken() -> None:
    lines = plain_text(as_blocks(SHEET, width=120), width=120).splitlines()
    assert lines[2].split() == ["method", *HEADS]
    assert lines[4].split() == [METHOD, *FIGURES]


def test_the_room_goes_to_the_longest_text() -> None:
    sheet = Sheet("", (Column("id"), Column("query")), (("q1", "SELECT " * 20),))
    [[identity, query]] = fitted(sheet, 60).tables
    assert (identity.width, query.width) == (2, 60 - 2 - fitted(sheet, 60).gap)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("wrong predicate", ["wrong", "predicate"]),
        ("best_column", ["best_", "column"]),
        ("a:b c", ["a:b c"]),
        ("0123456789abc", ["012345678", "9abc"]),
        ("日本語の質問", ["日本語の", "質問"]),
        ("  x\ny", ["  x", "y"]),
    ],
)
def test_where_a_text_is_broken(text: str, lines: list[str]) -> None:
    assert broken(text, 9).split("\n") == lines


@given(st.text("ab :_日\n", max_size=40), st.integers(2, 20))
def test_what_is_broken_fits_and_keeps_its_letters(text: str, width: int) -> None:
    lines = broken(text, width).split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
