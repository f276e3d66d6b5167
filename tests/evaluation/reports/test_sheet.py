"""Tables in every form, whatever stands in their cells."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.each import for_each

from askgraph.answers.console import render_plain_text
from askgraph.evaluation.reports.sheet import (
    Cell,
    Sheet,
    SheetColumn,
    fit_columns,
    format_cell,
    to_blocks,
    to_csv,
    to_latex,
    to_markdown,
    wrap_text,
)

SHEET = Sheet(
    "Scores of a_b",
    (
        SheetColumn("run", context=True),
        SheetColumn("method"),
        SheetColumn("F1", "share"),
        SheetColumn("p", "p"),
    ),
    (("first", "x|y & z", 0.12345678, 0.0004), ("first", "50 %\n", 1.0, None)),
    ("a note with 5 %",),
)

texts = st.text(st.sampled_from("a|&%$#_{}~^\\<>[]*`\"',;\n\r\t\u2028 –é"), max_size=12)
cells = st.one_of(st.none(), st.integers(), st.floats(0, 1), texts)


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    width = draw(st.integers(1, 4))
    columns = tuple(
        SheetColumn(draw(texts), draw(st.sampled_from(["text", "count", "share", "number", "p"])))
        for _ in range(width)
    )
    rows = draw(st.lists(st.tuples(*[cells] * width), max_size=4))
    return Sheet(draw(texts), columns, tuple(rows), tuple(draw(st.lists(texts, max_size=2))))


@for_each(
    ("cell", "kind", "expected"),
    (0.6666, "share", "66.7"),
    (0.6666, "number", "0.667"),
    (0.0004, "p", "<0.001"),
    (0.04, "p", "0.040"),
    (12000, "count", "12000"),
    (None, "share", "–"),
    ("as it is", "share", "as it is"),
)
def test_a_cell_for_people(cell: Cell, kind: str, expected: str) -> None:
    assert format_cell(cell, kind) == expected  # type: ignore[arg-type]


def test_forms_of_a_sheet() -> None:
    # A row of another length is refused.
    with pytest.raises(ValueError, match="2 cells for 1 columns"):
        Sheet("", (SheetColumn("a"),), ((1, 2),))
    # Context that is the same in all rows moves into the title.
    found = SHEET.move_context_to_title()
    assert found.title == "Scores of a_b, run first"
    assert [column.head for column in found.columns] == ["method", "F1", "p"]
    assert Sheet("t", SHEET.columns, ()).move_context_to_title().columns == SHEET.columns
    # Markdown.
    assert to_markdown(SHEET.move_context_to_title()) == (
        "### Scores of a\\_b, run first\n"
        "\n"
        "| method | F1 | p |\n"
        "| --- | ---: | ---: |\n"
        "| x\\|y \\& z | 12.3 | \\<0.001 |\n"
        "| 50 % | 100.0 | – |\n"
        "\n"
        "- a note with 5 %\n"
    )
    # Latex.
    assert to_latex(SHEET.move_context_to_title()).splitlines() == [
        r"\begin{table}", r"\centering", r"\caption{Scores of a\_b, run first}",
        r"\begin{tabular}{lrr}", r"\toprule", r"method & F1 & p \\", r"\midrule",
        r"x\textbar{}y \& z & 12.3 & \textless{}0.001 \\", r"50 \% & 100.0 & -- \\", r"\bottomrule",
        r"\end{tabular}", r"\par\footnotesize a note with 5 \%", r"\end{table}",
    ]  # fmt: skip
    # Csv has numbers in full.
    assert to_csv(SHEET) == (
        'run,method,F1,p\r\nfirst,x|y & z,0.123457,0.0004\r\nfirst,"50 %\n",1.0,\r\n'
    )


def test_sheets_as_json_and_on_terminals() -> None:
    # Json has a row as an object.
    assert SHEET.to_json()["rows"] == [
        {"run": "first", "method": "x|y & z", "F1": 0.123457, "p": 0.0004},
        {"run": "first", "method": "50 %\n", "F1": 1.0, "p": None},
    ]
    # The terminal shows what looks like markup as it is.
    sheet = Sheet("[bold]t", (SheetColumn("[red]a"),), (("[/x] [link=y]",),), ("[b]",))
    assert render_plain_text(to_blocks(sheet, width=80), width=80).split() == [
        *("[bold]t", "[red]a", "─" * 13),
        *("[/x]", "[link=y]", "[b]"),
    ]
    # Where there is room nothing is broken.
    lines = render_plain_text(to_blocks(FITTED, width=120), width=120).splitlines()
    assert lines[2].split() == ["method", *HEADS] and lines[4].split() == [METHOD, *FIGURES]
    # The room goes to the longest text.
    sheet = Sheet("", (SheetColumn("id"), SheetColumn("query")), (("q1", "SELECT " * 20),))
    [widths], gap = fit_columns(sheet, 60)
    assert widths == {0: 2, 1: 60 - 2 - gap}


@given(sheets())
def test_markdown_keeps_its_rows_and_columns(sheet: Sheet) -> None:
    lines = to_markdown(sheet).split("\n\n", 1)[1].split("\n")[: 2 + len(sheet.rows)]
    for line in lines:
        assert re.findall(r"\\.|(\|)", line).count("|") == len(sheet.columns) + 1
    assert not any(line.splitlines()[1:] for line in lines)


@given(sheets())
def test_latex_keeps_its_rows_and_columns(sheet: Sheet) -> None:
    lines = to_latex(sheet).split("\n")
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == len(sheet.rows)
    for row in [lines[5], *rows]:
        bare = re.sub(r"\\(textbackslash|text\w+)\{\}|\\[{}$&#_%]", "", row)
        assert bare.count("&") == len(sheet.columns) - 1 and bare.endswith(r" \\")
        assert not re.search(r"[$#_%~^<>|\"]", bare) and not re.match(r"\s*[\[*]", row)


@given(sheets())
def test_csv_comes_back_as_it_was(sheet: Sheet) -> None:
    head, *rows = csv.reader(io.StringIO(to_csv(sheet), newline=""))
    assert head == [column.head for column in sheet.columns]
    assert [len(row) for row in rows] == [len(sheet.columns)] * len(sheet.rows)
    for read, row in zip(rows, sheet.rows, strict=True):
        assert [cell for cell, known in zip(read, row, strict=True) if isinstance(known, str)] == [
            cell for cell in row if isinstance(cell, str)
        ]


@given(sheets())
def test_every_sheet_can_be_json_and_a_block(sheet: Sheet) -> None:
    assert json.loads(json.dumps(sheet.to_json()))["title"] == sheet.title
    assert (
        render_plain_text(to_blocks(sheet, width=100), width=100).strip() or not sheet.title.strip()
    )


METHOD = "graph-search:operators=false"
HEADS = ("questions", "answered", "failed", "best_column", "low", "high", "exact_match", "rows")
FITTED = Sheet(
    "Scores",
    (SheetColumn("method"), *(SheetColumn(head, "share") for head in HEADS)),
    ((METHOD, 0.26, 0.21, 0.0, 0.605, 0.471, 0.725, 0.231, 0.59),),
)
FIGURES = ["26.0", "21.0", "0.0", "60.5", "47.1", "72.5", "23.1", "59.0"]


@for_each(("width", "tables"), [(200, 1), (100, 1), (80, 1), (50, 2), (33, 5)])
def test_figures_stay_whole_at_every_width(width: int, tables: int) -> None:
    text = render_plain_text(to_blocks(FITTED, width=width), width=width)
    assert [word for word in text.split() if word in FIGURES] == FIGURES
    assert max(map(cell_len, text.splitlines())) <= width
    assert text.count("operators=false") == tables


@for_each(
    ("text", "lines"),
    ("wrong predicate", ["wrong", "predicate"]),
    ("best_column", ["best_", "column"]),
    ("a:b c", ["a:b c"]),
    ("0123456789abc", ["012345678", "9abc"]),
    ("日本語の質問", ["日本語の", "質問"]),
    ("  x\ny", ["  x", "y"]),
)
def test_where_a_text_is_broken(text: str, lines: list[str]) -> None:
    assert wrap_text(text, 9).split("\n") == lines


@given(st.text("ab :_日\n", max_size=40), st.integers(2, 20))
def test_what_is_broken_fits_and_keeps_its_letters(text: str, width: int) -> None:
    lines = wrap_text(text, width).split("\n")
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
