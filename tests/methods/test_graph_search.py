"""Graph search ends with one outcome, whatever is asked of whatever graph; failures have names."""

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Store
from tests.each import for_each
from tests.graphs import MOONS, store_of
from tests.methods.strange import SOURCES, STRANGE
from tests.servers import faults
from tests.servers.sparql import Fault, SparqlServer
from tests.temporal.asked import HERE

from askgraph.answers.verbalize import verbalize_query
from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import ServiceError, SetupError, TimedOut, Unreachable
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.names import iterate_names
from askgraph.index.names import NameIndex
from askgraph.methods.graph_search import GraphSearch
from askgraph.sample import graph_path
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.results import to_plain_value
from askgraph.trace import Answer, Clarification, Draft, Findings, Question, Refusal, Trace
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method, run_coroutine


def kept(source: str, folder: Path, name: str) -> KnowledgeGraph:
    path = folder / f"{name}.ttl"
    path.write_text(source, encoding="utf-8")
    return Workspace(folder / "workspace").open(path)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, KnowledgeGraph]]:
    folder = tmp_path_factory.mktemp("graphs")
    opened = {name: kept(source, folder, name) for name, source in SOURCES.items()}
    yield opened
    for graph in opened.values():
        run_coroutine(graph.endpoint.close())


def asked(
    text: str, *graphs: KnowledgeGraph, language: str | None = None, **chosen: object
) -> Trace:
    method = GraphSearch(**chosen)  # type: ignore[arg-type]
    question = Question(text, language)
    return run_coroutine(trace_of(question, method=method, name="graph-search", graphs=graphs))


def check(trace: Trace) -> None:
    """What is true of every run."""
    outcomes = [s for s in trace.steps if isinstance(s, Answer | Clarification | Refusal)]
    assert outcomes == [trace.steps[-1]]
    match outcomes[0]:
        case Answer() as answer:
            assert 0 <= answer.confidence <= 1
            assert answer.query and answer.words
            assert set(answer.answer_columns) <= set(answer.result.variables)
        case Clarification(question, options):
            assert question and len(options) > 1
            assert len({option.query for option in options}) == len(options)
        case Refusal(reason):
            assert reason.strip()


def test_a_longer_name_is_no_meaning_of_words_that_are_all_of_another_one(tmp_path: Path) -> None:
    place = Workspace(tmp_path)
    place.add("space", [graph_path()])
    found = asked("Who discovered Titan?", place.graph("space")).steps[0]
    assert isinstance(found, Findings)
    assert [one.label for one in found.mentions if one.words == "Titan"] == ["Titan"]


def test_steps_are_findings_drafts_then_one_outcome(graphs: Mapping[str, KnowledgeGraph]) -> None:
    steps = asked("Which moons orbit Jupiter?", graphs["moons"]).steps
    assert isinstance(steps[0], Findings)
    assert len(steps) > 2 and all(isinstance(step, Draft) for step in steps[1:-1])
    scores = [step.score for step in steps if isinstance(step, Draft)]
    assert scores == sorted(scores, reverse=True)
    assert isinstance(steps[-1], Answer)
    assert {str(row[0]) for row in steps[-1].result.rows} == {
        "<http://example.org/Io>",
        "<http://example.org/Europa>",
    }
    assert "Jupiter" in {mention.label for mention in steps[0].mentions}
    unread = asked("Which moons orbit Jupiter with a tambourine?", graphs["moons"]).steps[0]
    assert isinstance(unread, Findings) and "tambourine" in unread.unused_words
    assert "Jupiter" not in unread.unused_words
    assert steps[-1].usage.seconds > 0 and steps[-1].usage.requests > 0
    assert steps[-1].usage.llm_calls == 0


def test_no_two_drafts_read_the_same(tmp_path: Path) -> None:
    space = Workspace(tmp_path).open(graph_path())
    for question in ("When was Armstrong born?", "Which moons orbit Mars?"):
        steps = asked(question, space).steps
        told = [verbalize_query(step.query, {}) for step in steps if isinstance(step, Draft)]
        assert len(told) == len(set(told)) == 5
    run_coroutine(space.endpoint.close())


@for_each("name", SOURCES)
@for_each("strange", STRANGE)
def test_a_strange_question_ends_with_one_outcome(
    strange: str, name: str, graphs: Mapping[str, KnowledgeGraph]
) -> None:
    began = time.process_time()
    check(asked(STRANGE[strange], graphs[name]))
    assert time.process_time() - began < 15


@for_each("language", ["en", "de", "es", "fr", "ja", "zz", "", "en-GB"])
def test_any_language_tag_will_do(language: str, graphs: Mapping[str, KnowledgeGraph]) -> None:
    check(asked("moons Jupiter", graphs["moons"], language=language))


@given(text=st.text(max_size=80))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_text_breaks_it(text: str, graphs: Mapping[str, KnowledgeGraph]) -> None:
    check(asked(text, graphs["moons"]))


WORDS = "which moons planets orbit orbits Jupiter Mars radius more than less most not without and "
WORDS += "or both how many average total each per before after 1990 2 10 two top first in of the"


@given(words=st.lists(st.sampled_from([*WORDS.split(), ",", "?", "'"]), max_size=14))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_word_salad_breaks_it(words: list[str], graphs: Mapping[str, KnowledgeGraph]) -> None:
    check(asked(" ".join(words), graphs["moons"]))


@for_each(
    "strange", ["nothing", "spaces", "emoji", "stop words", "only punctuation", "one character"]
)
def test_a_question_that_names_nothing_is_refused_with_a_reason(
    strange: str, graphs: Mapping[str, KnowledgeGraph]
) -> None:
    outcome = asked(STRANGE[strange], graphs["moons"]).outcome
    assert isinstance(outcome, Refusal) and outcome.best is None
    for question in ("Who won the football match?", "Was kostet ein Kilo Äpfel?"):
        assert not isinstance(asked(question, graphs["moons"]).outcome, Answer)


def values(trace: Trace) -> set[str]:
    outcome = trace.outcome
    assert isinstance(outcome, Answer), outcome
    return {str(to_plain_value(term)) for row in outcome.result.rows for term in row}


@for_each(
    ("graph", "question", "expected"),
    ("no-labels", "Which products are sold by Anna's shop?", "http://shop.example/Bike"),
    ("no-types", "What is the weight of Leo?", "190"),
    ("no-types", "Who is the keeper of Nala?", "http://zoo.example/mia"),
    ("blanks", "How many minutes does Cooking take?", "30"),
    ("other-script", "富士山 高さ", "3776"),
)
def test_a_graph_is_asked_by_whatever_names_it_has(
    graphs: Mapping[str, KnowledgeGraph], graph: str, question: str, expected: str
) -> None:
    assert expected in values(asked(question, graphs[graph]))


def test_of_several_graphs_the_one_that_knows_answers(graphs: Mapping[str, KnowledgeGraph]) -> None:
    some = [graphs["pets"], graphs["moons"], graphs["empty"]]
    for question, name in (("Who is the owner of Rex?", "pets"), ("What orbits Mars?", "moons")):
        outcome = asked(question, *some).outcome
        assert isinstance(outcome, Answer)
        assert outcome.graph == name
        assert asked(question, *reversed(some)).outcome.query == outcome.query  # type: ignore[union-attr]


def test_no_graph_at_all_or_a_day_that_is_none_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no graph"):
        asked("Which moons orbit Jupiter?")
    with pytest.raises(SetupError, match="today='soon' is not a date"):
        GraphSearch(today="soon")


async def test_a_stream_left_early_can_be_closed(graphs: Mapping[str, KnowledgeGraph]) -> None:
    stream = GraphSearch().answer(Question("Which moons orbit Jupiter?"), [graphs["moons"]])
    async with aclosing(stream) as steps:  # type: ignore[type-var]
        async for step in steps:
            assert isinstance(step, Findings)
            break


def test_two_questions_at_a_time_do_not_meet(graphs: Mapping[str, KnowledgeGraph]) -> None:
    async def both() -> list[set[str]]:
        questions = [Question("What orbits Mars?"), Question("What orbits Jupiter?")] * 4
        outcomes = await asyncio.gather(
            *(ask_method(question, GraphSearch(), [graphs["moons"]]) for question in questions)
        )
        return [{str(row[0]) for row in o.result.rows} for o in outcomes if isinstance(o, Answer)]

    answers = run_coroutine(both())
    assert answers[0::2] == [{"<http://example.org/Phobos>"}] * 4
    assert len(answers) == 8 and all(len(answer) == 2 for answer in answers[1::2])


def test_what_was_counted_is_named_by_its_label_in_the_evidence(tmp_path: Path) -> None:
    graph = kept(MOONS.replace(":Io ", ":m1 ").replace(":Europa ", ":m2 "), tmp_path, "opaque")
    step = asked("How many moons orbit Jupiter?", graph).steps[-1]
    run_coroutine(graph.endpoint.close())
    assert isinstance(step, Answer)
    said = {line for line in step.evidence[0].words if "orbits" in line}
    assert said == {"Io · orbits · Jupiter", "Europa · orbits · Jupiter"}
    assert step.labels["http://example.org/m1"] == "Io"


def test_settings_bound_rows_and_evidence_and_decide(graphs: Mapping[str, KnowledgeGraph]) -> None:
    question, moons = "Which moons orbit Jupiter?", graphs["moons"]
    capped = asked("Which moons are there?", moons, rows=2).outcome
    with_it, without = (asked(question, moons, evidence_rows=rows).outcome for rows in (1, 0))
    refused = asked(question, moons, answer_from=1.1, ask_from=1.1).outcome
    assert isinstance(capped, Answer) and len(capped.result.rows) == 2
    assert capped.result.truncated and capped.result.truncated.by == "askgraph"
    assert isinstance(with_it, Answer) and isinstance(without, Answer)
    assert [piece.row for piece in with_it.evidence] == [0]
    assert without.evidence == ()
    assert without.usage.requests < with_it.usage.requests
    assert isinstance(refused, Refusal)
    assert refused.best is not None and refused.best.result.rows
    assert isinstance(asked("Jupiter", moons, answer_from=0.0).outcome, Answer)


def remote(url: str, *, local: bool = False, timeout: float = 60.0) -> KnowledgeGraph:
    """The moons behind a URL; `local` where the arrays are here all the same."""
    arrays = build_arrays(store_of(MOONS))
    profile = build_profile(arrays)
    names = NameIndex.from_names(iterate_names(arrays, profile))
    endpoint = HttpEndpoint(url, timeout=timeout, connect_timeout=1.0, retries=0)
    prefixes = PrefixMap({"": "http://example.org/"})
    return KnowledgeGraph(
        name="moons",
        endpoint=endpoint,
        profile=profile,
        names=names,
        prefixes=prefixes,
        arrays=arrays if local else None,
    )


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with SparqlServer(store_of(MOONS)) as running:
        yield running


async def over(graph: KnowledgeGraph, **chosen: object) -> Trace:
    method = GraphSearch(**chosen)  # type: ignore[arg-type]
    question = Question("Which moons orbit Jupiter?")
    try:
        return await trace_of(question, method=method, name="graph-search", graphs=[graph])
    finally:
        await graph.endpoint.close()


async def test_remote_graphs_answer_as_local_ones_each_request_counts(server: SparqlServer) -> None:
    trace = await over(remote(server.url))
    check(trace)
    assert values(trace) == {"http://example.org/Io", "http://example.org/Europa"}
    assert isinstance(trace.outcome, Answer)
    assert 40 >= trace.outcome.usage.requests == len(server.requests) >= 3


async def test_a_small_remote_graph_is_fetched_once_for_all_questions(server: SparqlServer) -> None:
    graph = remote(server.url)
    method = GraphSearch()
    counts = []
    for text in ("Which moons orbit Jupiter?", "Which moons orbit Mars?"):
        server.requests.clear()
        trace = await trace_of(Question(text), method=method, name="graph-search", graphs=[graph])
        assert isinstance(trace.outcome, Answer)
        assert trace.outcome.usage.requests == len(server.requests)
        counts.append(len(server.requests))
    await graph.endpoint.close()
    assert counts[1] == counts[0] - 1


@pytest.mark.parametrize("local", [True, False])
async def test_an_endpoint_that_is_down_is_an_error_and_no_refusal(local: bool) -> None:
    with SparqlServer(Store()) as gone:
        url = gone.url
    with pytest.raises(Unreachable):
        await over(remote(url, local=local))


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(401),
        faults.status(503),
        faults.status(500, "out of memory"),
        faults.body("<html>Login</html>", kind="text/html"),
        faults.cut(),
    ],
    ids=["401", "503", "500", "html", "cut"],
)
@pytest.mark.parametrize("local", [True, False])
async def test_an_endpoint_that_fails_is_an_error_and_no_refusal(
    local: bool, fault: Fault, server: SparqlServer
) -> None:
    server.always = fault
    with pytest.raises(ServiceError):
        await over(remote(server.url, local=local))


async def test_what_is_behind_an_answer_is_left_out_if_time_is_over(server: SparqlServer) -> None:
    server.always = faults.slow_where("ask_row", 300)
    trace = await over(remote(server.url), seconds=4.0)
    check(trace)
    assert values(trace) == {"http://example.org/Io", "http://example.org/Europa"}
    assert isinstance(trace.outcome, Answer) and not trace.outcome.evidence


@for_each(
    ("bounds", "why"),
    [({"timeout": 0.3}, "time"), ({"seconds": 1.0}, "in time|time limit of 1 seconds")],
)
async def test_a_silent_endpoint_is_refused_when_the_time_for_it_is_over(
    server: SparqlServer, bounds: dict[str, float], why: str
) -> None:
    server.always = faults.silence()
    began = time.perf_counter()
    trace = await over(remote(server.url, local=True), **bounds)
    assert isinstance(trace.outcome, Refusal) and re.search(why, trace.outcome.reason)
    with pytest.raises(TimedOut):
        await ask_method(
            Question("Which moons orbit Jupiter?"), GraphSearch(), [remote(server.url)], timeout=1
        )
    assert time.perf_counter() - began < 60


def test_what_is_current_is_so_on_the_day_that_a_setting_names(tmp_path: Path) -> None:
    office = kept((HERE / "office.ttl").read_text(encoding="utf-8"), tmp_path, "office")
    answers = {}
    for today in ("2003-06-01", "2031-01-01"):
        outcome = asked("Which projects are currently running?", office, today=today).steps[-1]
        assert isinstance(outcome, Answer)
        answers[today] = {to_plain_value(row[0]) for row in outcome.result.rows}
    run_coroutine(office.endpoint.close())

    space = "https://office.example/"
    assert answers == {
        "2003-06-01": {f"{space}Orion", f"{space}Lyra"},
        "2031-01-01": {f"{space}Altair"},
    }
