"""Sheets of a result for people: names beside IRIs, as CSV and as a workbook (Office Open XML).

A text never becomes a formula: in CSV an apostrophe stands before what a spreadsheet would compute.
"""

import csv
import io
import math
import unicodedata
from collections.abc import Mapping, Sequence

from pyoxigraph import NamedNode

from askgraph.answers.codec import plain_value
from askgraph.plugins import to_missing_extra_error
from askgraph.sparql.results import Row, SelectResult, value_of

Value = str | int | float | bool | None
Sheet = list[list[Value]]
"""Rows of values, the first of which are the headings."""

_COMPUTED = tuple("=+-@\t\r\n＝＋－＠")


def matching(result: SelectResult, labels: Mapping[str, str], search: str) -> tuple[Row, ...]:
    """Return the rows in which every word occurs, in a name or a value, whatever its accents."""
    words = _folded(search).split()

    def holds(row: Row) -> bool:
        values = [value for term in row if (value := value_of(term)) is not None]
        folded = _folded("\n".join(f"{labels.get(value, '')}\n{value}" for value in values))
        return all(word in folded for word in words)

    return tuple(row for row in result.rows if holds(row))


def sheet_of(result: SelectResult, labels: Mapping[str, str]) -> Sheet:
    """Return a result as a sheet: of things their names, and beside them their IRIs."""
    columns = range(len(result.variables))
    things = [any(isinstance(row[at], NamedNode) for row in result.rows) for at in columns]
    head: list[Value] = []
    for name, is_thing in zip(result.variables, things, strict=True):
        head += [name, f"{name} IRI"] if is_thing else [name]
    return [head, *(_values(row, things, labels) for row in result.rows)]


def as_csv(sheet: Sheet) -> bytes:
    """Return a sheet as CSV, in UTF-8 with the mark that spreadsheets know it by."""
    text = io.StringIO()
    csv.writer(text).writerows([_harmless(value) for value in row] for row in sheet)
    return text.getvalue().encode("utf-8-sig")


def as_workbook(sheet: Sheet) -> bytes:
    """Return a sheet as a workbook, numbers as numbers and texts as texts.

    Raises `SetupError` if the extra `serve` is missing.
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


def _values(row: Row, things: Sequence[bool], labels: Mapping[str, str]) -> list[Value]:
    found: list[Value] = []
    for term, is_thing in zip(row, things, strict=True):
        if is_thing and isinstance(term, NamedNode):
            found += [labels.get(term.value, term.value), term.value]
        else:
            found += [plain_value(term), None] if is_thing else [plain_value(term)]
    return found


def _harmless(value: Value) -> Value:
    return f"'{value}" if isinstance(value, str) and value.startswith(_COMPUTED) else value


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFD", text)
    return "".join(one for one in plain if not unicodedata.combining(one)).casefold()
