"""The answer as every door hands it out: each format is a file in `wire/`, byte for byte."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph import trace
from askgraph.answers.codec import to_json_object
from askgraph.answers.console import to_text
from askgraph.evaluation.runs.one_question import to_step_object
from askgraph.server.mcp.ask import format_outcome
from askgraph.server.openai.answers import format_message
from askgraph.server.rest.questions import build_sheet, filter_rows, to_csv, to_workbook
from askgraph.server.runs import to_answer_view
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.sparql.vocabulary import XSD_DATE, XSD_DECIMAL, XSD_INTEGER
from askgraph.trace.codec import parse_step, serialize_step

WIRE = Path(__file__).parent / "wire"
SPACE = "http://example.org/space/"
IO, TITAN = NamedNode(f"{SPACE}Io"), NamedNode(f"{SPACE}Titan")

ROWS = SelectResult(
    ("moon", "radius", "seen", "note"),
    (
        (
            IO,
            Literal("1821.6", datatype=NamedNode(XSD_DECIMAL)),
            None,
            Literal("hot", language="en"),
        ),
        (
            TITAN,
            Literal(2575),
            Literal("1655-03-25", datatype=NamedNode(XSD_DATE)),
            BlankNode("b0"),
        ),
        (TITAN, Literal(1e300 * 1e300), Literal(value=True), Literal("NaN")),
    ),
    Truncation("server", "no more than 3 rows"),
    0.125,
)
ANSWER = trace.Answer(
    query="PREFIX space: <http://example.org/space/>\nSELECT * WHERE { ?moon a … }\n",
    graph="moons",
    result=ROWS,
    answer_columns=("moon",),
    words="moons “of” a planet, with their radius",
    confidence=0.8125,
    ordered=True,
    labels={IO.value: "Io", TITAN.value: "Titan"},
    evidence=(
        trace.Evidence(
            0, ((str(IO), f"<{SPACE}orbits>", f"<{SPACE}Jupiter>"),), ("Io orbits Jupiter",)
        ),
        trace.Evidence(2, ((str(TITAN), f"<{SPACE}orbits>", f"<{SPACE}Saturn>"),)),
    ),
    usage=trace.Usage(0.2500004, 3, 2, 900, 400, 60, 0.0015),
    cut_short="no time was left",
    confirmed=trace.ConfirmedQuestion(
        "What moons?", "2026-01-02T03:04:05+00:00", "ann", f"{SPACE}q1", "1 row more"
    ),
    interpretation="Io and Titan.",
    unused_words=("more than", "tiny"),
    sentence="Io (1,821.6 km) and Titan are moons.",
    answered_by=trace.Answerer("guided", "m"),
    context=SelectResult(("mass",), ((Literal(893),), (Literal(1345),), (None,))),
    units={"radius": "km"},
)
NO = trace.Answer("ASK { … }", "moons", SelectResult((), ()), (), "is it so", 1.0, boolean=False)
EMPTY = trace.Answer(
    "SELECT ?moon WHERE { … }", "moons", SelectResult(("moon",), ()), ("moon",), "moons of Venus",
    0.3, why_empty="Nothing in the graph matches “moon orbits Venus”.",
)  # fmt: skip
OUTCOMES: dict[str, trace.Outcome] = {
    "answer": ANSWER,
    "no": NO,
    "empty": EMPTY,
    "clarification": trace.Clarification(
        "Which of these do you mean?",
        (
            trace.Option("moons of Saturn", 1, "SELECT 1"),
            trace.Option("moons of Jupiter", 1200, "SELECT 2"),
        ),
        ANSWER,
        trace.Usage(seconds=1.5, requests=7),
        answered_by=trace.Answerer("graph-search"),
    ),
    "chosen": replace(NO, chosen=True, confidence=1.0),
    "refusal": trace.Refusal("No reading is sure enough.", NO, trace.Usage(seconds=0.5)),
    "nothing": trace.Refusal("None.", answered_by=trace.Answerer("graph-search", "m", failed=True)),
    "missing": trace.Refusal(
        "Nothing matches 'moooon'.", missing=(trace.UnmatchedWords("moooon", ("moon",)),)
    ),
}


FORMATS: dict[str, Callable[[trace.Outcome], str]] = {
    "json": lambda outcome: json.dumps(to_json_object(outcome), ensure_ascii=False, indent=2),
    "batch": lambda outcome: json.dumps(to_json_object(outcome, limit=2), ensure_ascii=False),
    "trace": serialize_step,
    "record": lambda outcome: json.dumps(to_step_object(outcome, max_rows=2), ensure_ascii=False),
    "rest": lambda outcome: to_answer_view(outcome, limit=2).model_dump_json(indent=2),
    "mcp": lambda outcome: format_outcome(outcome, limit=2),
    "openai": lambda outcome: "\n\n".join(format_message(outcome)),
    "terminal": lambda outcome: to_text(outcome, PrefixMap({"space": SPACE})),
}


@for_each("name", FORMATS)
def test_each_format_is_what_its_file_says(name: str) -> None:
    parts = [f"=== {kind}\n{FORMATS[name](outcome)}\n" for kind, outcome in OUTCOMES.items()]
    assert "".join(parts) == (WIRE / f"{name}.txt").read_text(encoding="utf-8")


@for_each("kind", OUTCOMES)
def test_the_line_of_a_trace_is_read_back_as_the_same_outcome(kind: str) -> None:
    assert parse_step(serialize_step(OUTCOMES[kind])) == OUTCOMES[kind]


IO = NamedNode("http://x/Io")
SIZE = Literal("3643", datatype=NamedNode(XSD_INTEGER))
LABELS = {"http://x/Io": "Ió"}
RESULT = SelectResult(("moon", "size", "note"), ((IO, SIZE, Literal("=1+1")), (None, None, None)))


def test_things_have_their_names_and_their_iris_beside_them() -> None:
    head, first, second = build_sheet(RESULT, LABELS)
    assert head == ["moon", "moon IRI", "size", "note"]
    assert first == ["Ió", "http://x/Io", 3643, "=1+1"]
    assert second == [None, None, None, None]
    assert build_sheet(RESULT, LABELS, ["Mond", "größe", "x"])[0][:3] == [
        "Mond",
        "Mond IRI",
        "größe",
    ]
    counted = SelectResult(("number_of_moon",), ((SIZE,),))
    assert to_csv(build_sheet(counted, {}, [""]), "\t").startswith(b"\xef\xbb\xbfnumber of moon\r")


def test_csv_computes_nothing() -> None:
    text = to_csv(build_sheet(RESULT, LABELS)).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text)))[1] == ["Ió", "http://x/Io", "3643", "'=1+1"]
    for text in ("\t=1+1", "\r=1+1", "＝1+1", "@SUM(1)"):
        row = (IO, SIZE, Literal(text))
        sheet = to_csv(build_sheet(SelectResult(RESULT.variables, (row,)), LABELS)).decode(
            "utf-8-sig"
        )
        assert f"'{text}" in sheet


def test_a_workbook_has_numbers_as_numbers_and_texts_as_they_are() -> None:
    with zipfile.ZipFile(io.BytesIO(to_workbook(build_sheet(RESULT, LABELS)))) as package:
        assert package.testzip() is None
        for name in package.namelist():
            ElementTree.fromstring(package.read(name))
        sheet = package.read("xl/worksheets/sheet1.xml").decode()
        texts = package.read("xl/sharedStrings.xml").decode()
    assert '<c r="C2"><v>3643</v></c>' in sheet and "<f>" not in sheet
    assert "<t>=1+1</t>" in texts


def test_rows_are_found_by_name_and_value_whatever_the_accents() -> None:
    assert len(filter_rows(RESULT, LABELS, "io 3643")) == 1
    assert filter_rows(RESULT, LABELS, "europa") == ()
    assert filter_rows(RESULT, LABELS, "") == RESULT.rows
