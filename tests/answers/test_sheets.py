"""Results as sheets: names beside IRIs, and texts that no spreadsheet computes."""

import csv
import io
import zipfile
from xml.etree import ElementTree

from pyoxigraph import Literal, NamedNode

from askgraph.answers.export import as_csv, as_workbook, matching, sheet_of
from askgraph.sparql.results import SelectResult
from askgraph.sparql.vocabulary import XSD_INTEGER

IO = NamedNode("http://x/Io")
SIZE = Literal("3643", datatype=NamedNode(XSD_INTEGER))
LABELS = {"http://x/Io": "Ió"}
RESULT = SelectResult(("moon", "size", "note"), ((IO, SIZE, Literal("=1+1")), (None, None, None)))


def test_things_have_their_names_and_their_iris_beside_them() -> None:
    head, first, second = sheet_of(RESULT, LABELS)
    assert head == ["moon", "moon IRI", "size", "note"]
    assert first == ["Ió", "http://x/Io", 3643, "=1+1"]
    assert second == [None, None, None, None]


def test_csv_computes_nothing() -> None:
    text = as_csv(sheet_of(RESULT, LABELS)).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text)))[1] == ["Ió", "http://x/Io", "3643", "'=1+1"]
    for text in ("\t=1+1", "\r=1+1", "＝1+1", "@SUM(1)"):
        row = (IO, SIZE, Literal(text))
        sheet = as_csv(sheet_of(SelectResult(RESULT.variables, (row,)), LABELS)).decode("utf-8-sig")
        assert f"'{text}" in sheet


def test_a_workbook_has_numbers_as_numbers_and_texts_as_they_are() -> None:
    with zipfile.ZipFile(io.BytesIO(as_workbook(sheet_of(RESULT, LABELS)))) as package:
        assert package.testzip() is None
        for name in package.namelist():
            ElementTree.fromstring(package.read(name))
        sheet = package.read("xl/worksheets/sheet1.xml").decode()
        texts = package.read("xl/sharedStrings.xml").decode()
    assert '<c r="C2"><v>3643</v></c>' in sheet
    assert "<f>" not in sheet
    assert "<t>=1+1</t>" in texts


def test_rows_are_found_by_name_and_value_whatever_the_accents() -> None:
    assert len(matching(RESULT, LABELS, "io 3643")) == 1
    assert matching(RESULT, LABELS, "europa") == ()
    assert matching(RESULT, LABELS, "") == RESULT.rows
