"""Audits of gold: findings, ties, and what cannot be looked at."""

import asyncio

import pyoxigraph
import pytest
from tests.each import for_each
from tests.evaluation.conftest import StoreEndpoint

from askgraph.errors import TimedOut, Unreachable
from askgraph.evaluation import ResultTable
from askgraph.evaluation.gold import FINDING_KINDS, GoldFinding, summarize_table
from askgraph.evaluation.gold.audit import audit_gold, find_tie
from askgraph.evaluation.questions import GoldQuestion
from askgraph.sparql.results import SelectResult

EX = {"": "http://example.org/"}
JUPITER = "SELECT ?moon { ?moon :orbits :Jupiter }"
BOTH = ResultTable.from_json(["m"], [["http://example.org/Io"], ["http://example.org/Europa"]])


def asked(
    sparql: str | None = None, answers: ResultTable | None = None, *, unanswerable: bool = False
) -> GoldQuestion:
    return GoldQuestion("q", "?", sparql=sparql, answers=answers, unanswerable=unanswerable)


async def kinds(question: GoldQuestion, endpoint: StoreEndpoint | None) -> list[str]:
    return [
        finding.kind for finding in (await audit_gold([question], endpoint, prefixes=EX)).findings
    ]


@for_each(
    ("question", "found"),
    (asked(JUPITER, BOTH), []),
    (asked(), ["no gold"]),
    (asked(unanswerable=True), []),
    (asked(JUPITER, unanswerable=True), ["contradiction"]),
    (asked("SELECT ?moon { ?moon :orbits :Venus }", unanswerable=True), []),
    (asked("SELECT ?moon { ?moon :orbits }"), ["syntax"]),
    (asked("SELECT ?moon { ?moon no:orbits :Mars }"), ["syntax"]),
    (asked("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }"), ["execution"]),
    (asked("SELECT * { SERVICE <http://example.com/> { ?s ?p ?o } }"), ["execution"]),
    (asked("SELECT ?moon { ?moon :orbits :Venus }"), ["empty"]),
    (asked("SELECT (MAX(?r) AS ?m) { ?moon :orbits :Venus ; :radius ?r }"), ["empty"]),
    (asked(answers=ResultTable.from_json(["m"], [])), ["empty"]),
    (asked("SELECT (COUNT(*) AS ?n) { ?moon :orbits :Venus }"), ["zero"]),
    (asked("SELECT (COUNT(*) AS ?n) { ?moon :orbits :Mars }"), []),
    (asked("SELECT ?r { BIND(0 AS ?r) }"), []),
    (asked("ASK { ?moon :orbits :Venus }", ResultTable.from_boolean(False)), []),
    (asked("ASK { ?moon :orbits :Venus }", ResultTable.from_boolean(True)), ["stored answer"]),
    (asked(JUPITER, ResultTable.from_json(["m"], [["http://example.org/Io"]])), ["stored answer"]),
    (asked("SELECT ?m { ?m :orbits ?p } ORDER BY ?p LIMIT 1"), ["tie"]),
)
async def test_each_kind_of_finding(
    question: GoldQuestion, found: list[str], endpoint: StoreEndpoint
) -> None:
    assert await kinds(question, endpoint) == found


async def test_disagreements_and_timeouts(endpoint: StoreEndpoint) -> None:
    # Both results of a disagreement are shown.
    question = asked(JUPITER, ResultTable.from_json(["m"], [["http://example.org/Io"]]))
    (finding,) = (await audit_gold([question], endpoint, prefixes=EX)).findings
    assert finding.severity == "error"
    assert finding.seen.startswith("the query gives 2 rows (http://example.org/")
    assert "stored is 1 row (http://example.org/Io); F1 of the best column 0.67" in finding.seen
    # A timeout is a finding and an endpoint that is down is none.
    assert await kinds(asked(JUPITER), Failing(TimedOut("too slow"))) == ["timeout"]
    with pytest.raises(Unreachable):
        await kinds(asked(JUPITER), Failing(Unreachable("down")))


@for_each(
    ("question", "found"),
    (asked(JUPITER), []),
    (asked("SELECT ?moon { ?moon no:orbits :Mars }"), ["prefix"]),
    (asked("SELECT ?moon { ?moon :orbits }"), ["syntax"]),
    (asked("PREFIX a: <urn:x:> PREFIX b: <urn:x:> SELECT * { a:s b:p ?o }"), []),
    (asked(), ["no gold"]),
)
async def test_without_endpoint_queries_are_read(question: GoldQuestion, found: list[str]) -> None:
    assert await kinds(question, None) == found


async def test_the_engine_may_take_what_others_refuse(endpoint: StoreEndpoint) -> None:
    class Lenient(StoreEndpoint):
        async def select(
            self, query: str, *, timeout: float | None = None, limit: int | None = None
        ) -> SelectResult:
            return await super().select(query.replace("count(*)", "(count(*) as ?n)"))

    query = "SELECT count(*) { ?moon :orbits :Mars }"
    assert await kinds(asked(query), Lenient()) == ["not portable"]


class Failing(StoreEndpoint):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        raise self.error


async def test_findings_and_progress_are_in_order_whatever_is_done_first() -> None:
    class Slowing(StoreEndpoint):
        async def select(
            self, query: str, *, timeout: float | None = None, limit: int | None = None
        ) -> SelectResult:
            await asyncio.sleep(0.05 / (1 + len(self.asked)))
            return await super().select(query)

    questions = [
        GoldQuestion(name, "?", sparql=f"SELECT ?m {{ ?m :orbits :{name} }}")
        for name in ("Venus", "Mars", "Sun", "Moon")
    ]
    told: list[tuple[int, int]] = []

    audited = await audit_gold(
        questions, Slowing(), prefixes=EX, concurrency=3, progress=lambda *done: told.append(done)
    )

    assert [finding.id for finding in audited.findings] == ["Venus", "Sun", "Moon"]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)] and len(audited.results["Mars"].rows) == 2


PLANETS = """
prefix : <http://example.org/>
:Mercury :moons 0 ; :label "Mercury" .  :Venus :moons 0 ; :label "Venus" .
:Earth :moons 1 ; :label "Earth" .      :Mars :moons 2 ; :label "Mars" .
:Ares :moons 2 ; :label "Mars" .        :Jupiter :moons 97 ; :label "Jupiter" .
"""


@pytest.fixture
def planets() -> StoreEndpoint:
    endpoint = StoreEndpoint()
    endpoint.store = pyoxigraph.Store()
    endpoint.store.load(PLANETS.encode(), pyoxigraph.RdfFormat.TURTLE)
    return endpoint


async def tie(query: str, endpoint: StoreEndpoint) -> str | None:
    return await find_tie(query, endpoint, prefixes=EX, timeout=None)


@for_each(
    ("query", "tied"),
    ("SELECT ?p { ?p :moons ?n } ORDER BY ?n LIMIT 1", True),
    ("SELECT ?p { ?p :moons ?n } ORDER BY ?n LIMIT 2", False),
    ("SELECT ?p { ?p :moons ?n } ORDER BY DESC(?n) LIMIT 1", False),
    ("SELECT ?p { ?p :moons ?n } ORDER BY DESC(?n) LIMIT 2", True),
    ("SELECT ?p { ?p :moons ?n } ORDER BY DESC(?n) OFFSET 2", True),
    ("SELECT ?p { ?p :moons ?n } ORDER BY DESC(?n) LIMIT 1 OFFSET 3", False),
    ("SELECT ?p { ?p :moons ?n } ORDER BY ?n ?p LIMIT 1", False),
    ("SELECT * { ?p :moons ?n } ORDER BY (?n / 2) LIMIT 1", True),
    ("SELECT ?p ?n { ?p :moons ?n } LIMIT 3", True),
    ("SELECT ?p ?n { ?p :moons ?n } LIMIT 6", False),
    ("SELECT (COUNT(*) AS ?n) { ?p :moons ?m } LIMIT 1", False),
    ("SELECT ?n (COUNT(?p) AS ?c) { ?p :moons ?n } GROUP BY ?n ORDER BY DESC(?c) LIMIT 1", True),
    ("SELECT ?n { ?p :moons ?n } GROUP BY ?n ORDER BY DESC(COUNT(?p)) ?n LIMIT 1", False),
    ("SELECT DISTINCT ?l { ?p :moons ?n ; :label ?l } ORDER BY DESC(?n) LIMIT 2", False),
    ("SELECT DISTINCT ?l { ?p :moons ?n ; :label ?l } ORDER BY ?n LIMIT 1", True),
    ("ASK { { SELECT ?p { ?p :moons ?n } ORDER BY ?n LIMIT 1 } ?p :label 'Venus' }", True),
    ("SELECT ?p { ?p :moons ?n }", False),
)
async def test_a_result_that_depends_on_the_engine_is_found(
    query: str, tied: bool, planets: StoreEndpoint
) -> None:
    assert (await tie(query, planets) is not None) is tied


async def test_ties_and_limits(planets: StoreEndpoint) -> None:
    # Equal rows that look the same are no tie.
    query = "SELECT ?l {{ ?p :moons ?n ; :label ?l FILTER(?n = 2) }} ORDER BY ?n LIMIT 1"
    assert await tie(query.replace("{{", "{").replace("}}", "}"), planets) is None
    # It is said what is equal.
    assert await tie("SELECT ?p { ?p :moons ?n } ORDER BY DESC(?n) LIMIT 2", planets) == (
        "the cut after row 2 goes through 2 rows that are equal in what the query sorts by (2)"
    )
    assert await tie("SELECT ?p { ?p :moons ?n } LIMIT 2", planets) == (
        "without ORDER BY it is open which 2 rows come before the cut"
    )
    # What cannot be looked at is said.
    said = await tie("SELECT ?p { ?p :moons ?n } ORDER BY no such thing LIMIT 2", planets)
    assert said is not None and said.startswith("ties could not be checked: QuerySyntaxError")


def test_findings() -> None:
    # A finding says how bad it is and what to do.
    found = GoldFinding("q", "tie", "two rows").to_json()
    assert found == {
        "id": "q",
        "kind": "tie",
        "seen": "two rows",
        "benchmark": "",
        "severity": "warning",
        "advice": FINDING_KINDS["tie"].advice,
    }
    # Errors come before warnings.
    severities = [kind.severity for kind in FINDING_KINDS.values()]
    assert severities == sorted(severities)


@for_each(
    ("table", "words"),
    (ResultTable.from_boolean(False), "false"),
    (ResultTable.from_json(["a"], []), "no rows"),
    (ResultTable.from_json(["a", "b"], [["x", None]]), "1 row (x | unbound)"),
    (ResultTable.from_json(["a"], [[n] for n in range(1200)]), "1,200 rows (0; 1; 2; …)"),
    (ResultTable.from_json(["a"], [["x" * 100]]), f"1 row ({'x' * 59}…)"),
)
def test_a_result_in_one_line(table: ResultTable, words: str) -> None:
    assert summarize_table(table) == words
