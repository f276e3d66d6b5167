"""Export a result as CSV or as a workbook (Office Open XML), with names beside IRIs.

A text never becomes a formula: in CSV an apostrophe precedes what a spreadsheet would compute.
"""

import csv
import io
import math
import unicodedata
from collections.abc import Mapping, Sequence

from pyoxigraph import NamedNode

from askgraph.answers.codec import to_json_value
from askgraph.plugins import to_missing_extra_error
from askgraph.sparql.results import Row, SelectResult, to_plain_value

SheetValue = str | int | float | bool | None
Sheet = list[list[SheetValue]]
"""Rows of values; the first row holds the headings."""

_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


def filter_rows(result: SelectResult, labels: Mapping[str, str], search: str) -> tuple[Row, ...]:
    """Return the rows that contain every word in a name or a value, whatever the accents."""
    words = _fold_accents(search).split()

    def has_all_words(row: Row) -> bool:
        values = [value for term in row if (value := to_plain_value(term)) is not None]
        folded = _fold_accents("\n".join(f"{labels.get(value, '')}\n{value}" for value in values))
        return all(word in folded for word in words)

    return tuple(row for row in result.rows if has_all_words(row))


def build_sheet(result: SelectResult, labels: Mapping[str, str]) -> Sheet:
    """Build a sheet of a result; a column of resources becomes two, names and IRIs."""
    columns = range(len(result.variables))
    has_iris = [any(isinstance(row[at], NamedNode) for row in result.rows) for at in columns]
    head: list[SheetValue] = []
    for name, is_iri_column in zip(result.variables, has_iris, strict=True):
        head += [name, f"{name} IRI"] if is_iri_column else [name]
    return [head, *(_to_cell_values(row, has_iris, labels) for row in result.rows)]


def to_csv(sheet: Sheet) -> bytes:
    """Return a sheet as CSV in UTF-8, with the byte order mark that spreadsheets expect."""
    text = io.StringIO()
    csv.writer(text).writerows([_escape_formula(value) for value in row] for row in sheet)
    return text.getvalue().encode("utf-8-sig")


def to_workbook(sheet: Sheet) -> bytes:
    """Return a sheet as a workbook, with numbers as numbers and texts as texts.

    Raises:
        SetupError: the extra `serve` is missing.
    """
    try:
        from xlsxwriter import Workbook
    except ModuleNotFoundError as error:
        raise to_missing_extra_error(error, "a workbook") from error
    content = io.BytesIO()
    with Workbook(content, {"in_memory": True}) as workbook:
        page = workbook.add_worksheet("Result")
        for row, values in enumerate(sheet):
            for column, value in enumerate(values):
                if isinstance(value, bool):
                    page.write_boolean(row, column, value)
                elif isinstance(value, int | float) and math.isfinite(value):
                    page.write_number(row, column, value)
                elif value is not None:
                    page.write_string(row, column, str(value))
    return content.getvalue()


def _to_cell_values(
    row: Row, has_iris: Sequence[bool], labels: Mapping[str, str]
) -> list[SheetValue]:
    cells: list[SheetValue] = []
    for term, is_iri_column in zip(row, has_iris, strict=True):
        if is_iri_column and isinstance(term, NamedNode):
            cells += [labels.get(term.value, term.value), term.value]
        else:
            cells += [to_json_value(term), None] if is_iri_column else [to_json_value(term)]
    return cells


def _escape_formula(value: SheetValue) -> SheetValue:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def _fold_accents(text: str) -> str:
    plain = unicodedata.normalize("NFD", text)
    return "".join(
        character for character in plain if not unicodedata.combining(character)
    ).casefold()
