"""Sheets of a result for people: names beside IRIs, as CSV and as a workbook (Office Open XML).

A text never becomes a formula: in CSV an apostrophe stands before what a spreadsheet would compute.
"""

import csv
import io
import math
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from pyoxigraph import NamedNode

from askgraph.answers.codec import plain_value
from askgraph.sparql.results import Row, SelectResult, value_of

Value = str | int | float | bool | None
Sheet = list[list[Value]]
"""Rows of values, the first of which are the headings."""

_COMPUTED = tuple("=+-@\t\r\n＝＋－＠")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


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
    """Return a sheet as a workbook, numbers as numbers."""
    rows = "".join(
        f'<row r="{at}">{"".join(map(_cell, row))}</row>' for at, row in enumerate(sheet, start=1)
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": _relation("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>'
        '<sheet name="Result" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relation("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in files.items():
            package.writestr(name, _HEAD + text)
    return content.getvalue()


def _relation(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELATIONS}/{kind}" Target="{target}"/></Relationships>'
    )


def _cell(value: Value) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and math.isfinite(value):
        return f"<c><v>{value!r}</v></c>"
    shown = "".join(one for one in str(value) if one >= " " or one in "\t\n\r")
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(shown)}</t></is></c>'


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
