"""Gold results that were kept: read, compared, refused where the query changed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.each import for_each
from tests.evaluation.conftest import StoreEndpoint

from askgraph.errors import SetupError, Unreachable
from askgraph.evaluation import ResultTable
from askgraph.evaluation.gold.frozen import (
    HEADER,
    FrozenGold,
    GoldFreezer,
    find_drift,
    hash_query,
    read_frozen_gold,
    to_table_object,
)
from askgraph.evaluation.questions import GoldQuestion
from askgraph.sparql.results import SelectResult, Term

QUERY = "SELECT ?moon { ?moon <urn:orbits> <urn:Mars> }"
MOONS = GoldQuestion("q", "?", sparql=QUERY)


def table(*rows: Term | None) -> ResultTable:
    return ResultTable.from_result(SelectResult(("x",), tuple((row,) for row in rows)))


def write(path: Path, *lines: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *lines)))
    return path


def frozen(folder: Path, result: dict[str, object], query: str = QUERY) -> FrozenGold:
    return read_frozen_gold(
        write(folder / "gold.jsonl", {"id": "q", "query": hash_query(query), **result})
    )


TERMS = table(
    NamedNode("http://example.org/ä"),
    Literal('a\n"b"\\ c'),
    Literal("Mond", language="de"),
    Literal(2),
    None,
    BlankNode("b1"),
    Triple(NamedNode("urn:s"), NamedNode("urn:p"), Literal("o")),
)


@for_each("result", [TERMS, table(), ResultTable.from_boolean(False)])
def test_a_result_comes_back_with_all_its_terms(result: ResultTable, tmp_path: Path) -> None:
    known = frozen(tmp_path, to_table_object(result)).results["q"]
    assert (known, known.terms, known.boolean) == (result, result.terms, result.boolean)


def test_reading_frozen_results(tmp_path: Path) -> None:
    # A question gets its frozen result as stored answer.
    gold = table(NamedNode("urn:Phobos"))
    assert frozen(tmp_path, to_table_object(gold)).set_stored_answer(MOONS).answers == gold
    # A question whose query failed or that has none stays as it is.
    known = frozen(tmp_path, {"error": "TimedOut: too slow"})
    for question in (MOONS, GoldQuestion("other", "?", unanswerable=True)):
        assert known.set_stored_answer(question) == question
    # The result of another query is refused.
    known = frozen(tmp_path, to_table_object(table()))
    with pytest.raises(SetupError, match="gold query of question 'q' has changed"):
        known.set_stored_answer(replace(MOONS, sparql=QUERY + " LIMIT 1"))
    with pytest.raises(SetupError, match=r"gold\.jsonl has no result for question 'r'"):
        known.set_stored_answer(replace(MOONS, id="r"))
    # A missing file is named.
    with pytest.raises(SetupError, match=r"none\.jsonl: No such file"):
        read_frozen_gold(tmp_path / "none.jsonl")
    # A query that failed once and works now is drift.
    found = find_drift(frozen(tmp_path, {"error": "TimedOut: too slow"}), MOONS, table(IO))
    assert found is not None and "it failed when it was frozen: TimedOut: too slow" in found.seen


@for_each(
    ("text", "message"),
    ("", "contains no frozen gold results"),
    ('{"id": "q", "question": "?"}', "contains no frozen gold results"),
    ('{"frozen": "askgraph gold"}\nno', "line 2: not JSON"),
    ('{"frozen": "askgraph gold"}\n[]', "line 2: not an object"),
    ('{"frozen": "askgraph gold"}\n{"id": "q"}', "line 2: not a result of a gold query"),
    (
        '{"frozen": "askgraph gold"}\n{"id": "q", "query": "h", "vars": ["x"], "rows": [[]]}',
        "line 2: a row needs a term or null",
    ),
    (
        '{"frozen": "askgraph gold"}\n'
        '{"id": "q", "query": "h", "vars": ["x"], "rows": [["<urn:a>"]]}\n'
        '{"id": "r", "query": "h", "vars": ["x"], "rows": [["oh no"]]}',
        "line 3: not an N-Triples term",
    ),
)
def test_a_damaged_file_is_refused_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(text)
    with pytest.raises(SetupError, match=message):
        read_frozen_gold(tmp_path / "gold.jsonl")


IO, EUROPA = NamedNode("urn:Io"), NamedNode("urn:Europa")


@for_each(
    ("before", "now"),
    (table(IO, EUROPA), table(EUROPA, IO)),
    (table(Literal(1)), table(Literal("1.0"))),
    (table(BlankNode("a"), IO), table(BlankNode("b"), IO)),
    (ResultTable.from_boolean(True), ResultTable.from_boolean(True)),
)
def test_order_spelling_and_names_of_blank_nodes_are_no_drift(
    before: ResultTable, now: ResultTable, tmp_path: Path
) -> None:
    assert find_drift(frozen(tmp_path, to_table_object(before)), MOONS, now) is None


@for_each(
    ("before", "now", "seen"),
    (table(IO), table(IO, EUROPA), "0 rows are gone and 1 are new: frozen is 1 row (urn:Io)"),
    (table(IO, IO), table(IO), "1 rows are gone and 0 are new"),
    (
        ResultTable.from_boolean(True),
        ResultTable.from_boolean(False),
        "frozen is true, now it gives false",
    ),
)
def test_another_result_is_drift(
    before: ResultTable, now: ResultTable, seen: str, tmp_path: Path
) -> None:
    found = find_drift(frozen(tmp_path, to_table_object(before)), MOONS, now)
    assert found is not None and found.kind == "drift" and seen in found.seen


EX = {"": "http://example.org/"}
QUESTIONS = [
    GoldQuestion("mars", "?", sparql="SELECT ?m { ?m :orbits :Mars }"),
    GoldQuestion("bad", "?", sparql="SELECT ?m { ?m :orbits }"),
    GoldQuestion("none", "?", unanswerable=True),
    GoldQuestion("ask", "?", sparql="ASK { :Io :orbits :Jupiter }"),
]


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def run(
    out: Path, endpoint: StoreEndpoint, *, snapshot: str = "s1", finish: bool = True
) -> int:
    with GoldFreezer(out) as freezer:
        failed = await freezer.add(
            QUESTIONS, endpoint, graph="moons", engine="a store", snapshot=snapshot, prefixes=EX
        )
        if finish:
            freezer.finish(["ask", "mars"])
    return failed


async def test_results_are_in_the_file_in_order(endpoint: StoreEndpoint, tmp_path: Path) -> None:
    assert await run(tmp_path / "gold.jsonl", endpoint) == 1
    frozen = read_frozen_gold(tmp_path / "gold.jsonl")
    assert frozen.header["graphs"] == {"moons": {"engine": "a store", "snapshot": "s1"}}
    assert list(frozen.hashes) == ["ask", "mars", "bad"] and frozen.results["ask"].boolean is True
    assert len(frozen.results["mars"].terms) == 2
    assert frozen.errors["bad"].startswith("QuerySyntaxError") and names(tmp_path) == ["gold.jsonl"]


async def test_a_run_that_was_stopped_goes_on(endpoint: StoreEndpoint, tmp_path: Path) -> None:
    out = tmp_path / "gold.jsonl"
    await run(out, endpoint, finish=False)
    assert not out.exists()
    first = len(endpoint.asked)

    await run(out, endpoint)

    assert len(endpoint.asked) == first + 1  # what failed is tried again, the rest is kept
    assert len(read_frozen_gold(out).results) == 2


async def test_other_snapshots_are_not_used(endpoint: StoreEndpoint, tmp_path: Path) -> None:
    out = tmp_path / "gold.jsonl"
    await run(out, endpoint, finish=False)
    first = len(endpoint.asked)
    await run(out, endpoint, snapshot="s2")
    assert len(endpoint.asked) == 2 * first
    assert {json.loads(line)["snapshot"] for line in out.read_text().splitlines()[1:]} == {"s2"}


async def test_an_endpoint_that_is_down_leaves_the_part_and_no_file(tmp_path: Path) -> None:
    class Down(StoreEndpoint):
        async def select(
            self, query: str, *, timeout: float | None = None, limit: int | None = None
        ) -> SelectResult:
            raise Unreachable("down")

    with pytest.raises(Unreachable):
        await run(tmp_path / "gold.jsonl", Down())
    assert names(tmp_path) == ["gold.jsonl.part"]
