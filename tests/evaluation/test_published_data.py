"""Published benchmarks as they lie in the data folder: every question read, each score met."""

import gzip
import json
import os
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal
from tests.each import for_each
from typer.testing import CliRunner

from askgraph.cli import app
from askgraph.errors import QueryError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.metrics.sets import text2sparql
from askgraph.sparql.judge import check_query
from askgraph.sparql.results import SelectResult, to_plain_value

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[3] / "shared" / "data")
FOLDER = DATA / "questions"
EXAMPLES = DATA / "sib-examples" / "examples.tar.gz"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no {FOLDER}; ASKGRAPH_DATA names the data"),
]


def records(name: str) -> list[dict[str, Any]]:
    """The items of a file, by the json module alone."""
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as file:
        text = file.read()
    if "jsonl" in name:
        return [json.loads(line) for line in text.splitlines() if line]
    content = json.loads(text)
    items: list[dict[str, Any]] = content["questions"] if isinstance(content, dict) else content
    return items


@for_each(
    ("name", "format", "graph", "split", "count"),
    ("qald_10.json.gz", "qald", "wikidata", None, 394),
    ("qald_9_plus_test_dbpedia.json.gz", "qald", "dbpedia", "test", 150),
    ("spinach_dev.json.gz", "spinach", "wikidata", "dev", 155),
    ("lcquad2_test_grasp.jsonl.gz", "grasp_lines", "wikidata", "test", 5715),
)
def test_every_item_of_a_file_is_a_question(
    name: str, format: str, graph: str, split: str | None, count: int
) -> None:
    found, contents = read_benchmark(FOLDER / name)
    assert (found, contents.graph) == (format, graph)
    assert len(contents.questions) == len(records(name)) == count and not contents.unreadable
    assert [q.id for q in contents.questions] == [str(item["id"]) for item in records(name)]
    assert {(q.split, q.language) for q in contents.questions} == {(split, "en")}


@pytest.mark.parametrize("name", ["qald_10.json.gz", "qald_9_plus_test_dbpedia.json.gz"])
def test_every_string_of_every_language_is_a_question(name: str) -> None:
    _, contents = read_benchmark(FOLDER / name, language="*")
    strings = [wording["string"].strip() for item in records(name) for wording in item["question"]]
    assert [question.text for question in contents.questions] == [s for s in strings if s]
    assert len({question.id for question in contents.questions}) == len(contents.questions)


@pytest.mark.parametrize("name", ["qald_10.json.gz", "qald_9_plus_test_dbpedia.json.gz"])
def test_every_stored_answer_is_kept(name: str) -> None:
    _, contents = read_benchmark(FOLDER / name)
    for question, item in zip(contents.questions, records(name), strict=True):
        (stored,) = item["answers"]
        assert question.answers is not None
        if "boolean" in stored:
            assert question.answers == ResultTable.from_boolean(stored["boolean"])
        else:
            values = {
                value["value"] for row in stored["results"]["bindings"] for value in row.values()
            }
            terms = [term for row in question.answers.terms for term in row]
            assert {to_plain_value(term) for term in terms if term is not None} == values
            assert len(question.answers.rows) == len(stored["results"]["bindings"])


LABELS = "http://wikiba.se/ontology#label"


@pytest.mark.parametrize(
    ("name", "least"), [("qald_10.json.gz", 394), ("spinach_dev.json.gz", 137)]
)
def test_with_the_prefixes_of_the_contents_queries_parse(name: str, least: int) -> None:
    _, contents = read_benchmark(FOLDER / name)
    parsed = 0
    for question in contents.questions:
        try:
            check_query(
                str(question.sparql), allowed_services=(LABELS,), prefixes=contents.prefixes
            )
        except QueryError as error:
            # What is left is what only Wikidata's own query service understands.
            assert "prefix" not in str(error).lower(), question.id
        else:
            parsed += 1
    assert parsed >= least


@pytest.mark.slow
def test_published_files() -> None:
    # Every executable of the sib collection is read or listed.
    files, scanned = executables()
    name, contents = read_benchmark(EXAMPLES, language="*")
    assert name == "shacl_examples" and (files, len(scanned)) == (1236, 1227)
    # Several comments of an example are told apart by a number or a language at the end.
    read = {re.sub(r"(#\d|@\w+)$", "", question.id) for question in contents.questions}
    listed = {item.location.rpartition("<")[2].rstrip(">") for item in contents.unreadable}
    assert read | listed == scanned and not read & listed
    assert {item.reason for item in contents.unreadable} == {
        "a CONSTRUCT query returns triples, which cannot be scored as rows",
        "a DESCRIBE query returns triples, which cannot be scored as rows",
    }
    # The counts in the documentation are right.
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+/\S+)` \| (\w+) \| ([\d,]+) \| ([\d,]+) \| (\S+) \|$", page, re.M)
    assert len(rows) >= 7
    for file, format, questions, listed, graph in rows:
        name, contents = read_benchmark(DATA / file)
        counted = (f"{len(contents.questions):,}", f"{len(contents.unreadable):,}")
        assert (name, *counted, contents.graph or "–") == (format, questions, listed, graph), file


def executables() -> tuple[int, set[str]]:
    """The number of Turtle files, and the IRIs of what they say is executable, by text alone."""
    files = 0
    found = set()
    with tarfile.open(EXAMPLES) as archive:
        for entry in archive:
            content = archive.extractfile(entry) if entry.name.endswith(".ttl") else None
            if content is None:
                continue
            files += 1
            text = content.read().decode()
            prefixes = dict(
                re.findall(r"^@?prefix\s+(\S*):\s*<([^>]*)>", text, re.I | re.MULTILINE)
            )
            for name in re.findall(r"^(\S+)\s+(?:a|rdf:type)\s+sh:SPARQL\w*Executable", text, re.M):
                prefix, _, local = name.partition(":")
                found.add(name[1:-1] if name.startswith("<") else prefixes[prefix] + local)
    return files, found


FOLDER_OFFICIAL_SCORES = DATA / "db25-scoring"


def read(path: Path) -> dict[str, Any]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    return content


@pytest.mark.slow
def test_official_scores() -> None:
    # `text2sparql` gives the official scores exactly.
    truth, compared = read(FOLDER_OFFICIAL_SCORES / "truth.json.gz"), 0
    for system in sorted(path for path in FOLDER_OFFICIAL_SCORES.iterdir() if path.is_dir()):
        results, official = read(system / "result_set.json.gz"), read(system / "eval.json")
        for question, gold in truth.items():
            exact = text2sparql(stored(results.get(question)), stored(gold))
            theirs = official[question]
            official_score = (theirs["set_P"], theirs["set_recall"], theirs["set_F"])
            assert (exact.precision, exact.recall, exact.f1) == official_score, (system, question)
            compared += 1
    # One command computes the table again, and finds no difference.
    words = ("score", FOLDER_OFFICIAL_SCORES, FOLDER_OFFICIAL_SCORES / "truth.json.gz")
    done = CliRunner().invoke(app, [*map(str, words), "--metric", "text2sparql", "--json"])
    rows = json.loads(done.stdout)["published"]
    assert (compared, len(rows), sum(row["questions"] for row in rows)) == (1400, 14, 1400)
    assert not any(row["questions that differ"] or row["difference"] for row in rows)


def stored(values: dict[str, int] | None) -> ResultTable:
    """A stored result as the endpoint gave it: an ASK query's has its answer as a number."""
    if values and set(values) == {"true"}:
        return ResultTable.from_boolean(bool(values["true"]))
    return ResultTable.from_result(
        SelectResult(("value",), tuple((Literal(v),) for v in values or {}))
    )
