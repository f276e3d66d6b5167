"""A graph behind SPARQL over HTTP gives the answers that the same graph gives embedded.

The servers are one of ours on loopback, an Oxigraph with an empty default graph and, where
ASKGRAPH_TEST_VIRTUOSO names it, a Virtuoso that holds many other graphs too. The graphs are added
as people add them: with `askgraph add`.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, RdfFormat, Store
from tests.servers.oxigraph import oxigraph_server
from tests.servers.sparql import SparqlServer

from askgraph.answers.codec import get_status, to_json_value
from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import AskgraphError, ErrorReply
from askgraph.graph import KnowledgeGraph
from askgraph.graph.profile import Profile
from askgraph.methods import Method
from askgraph.sample import graph_path, questions_path
from askgraph.sparql.results import Term
from askgraph.trace import Answer, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

MUSEUM = Path(__file__).with_name("museum.ttl")


@dataclass(frozen=True)
class Case:
    """A graph, its questions with their languages, and the IRI that it has on a shared server."""

    name: str
    file: str
    questions: tuple[tuple[str, str | None], ...]

    @property
    def iri(self) -> str:
        return f"https://askgraph.example/{self.name}"

    def path(self, folder: Path) -> Path:
        path = folder / f"{self.name}.ttl"
        path.write_text(self.file, encoding="utf-8")
        return path


@dataclass(frozen=True)
class Given:
    """What came of a question, in what can be compared between servers."""

    status: str
    columns: tuple[str, ...]
    answer_columns: tuple[str, ...]
    boolean: bool | None
    rows: frozenset[tuple[object, ...]]
    number_of_rows: int


def sample_questions() -> tuple[tuple[str, str | None], ...]:
    lines = questions_path().with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    return tuple((line["question"], line["lang"]) for line in map(json.loads, lines))


SAMPLE = Case("space", graph_path().read_text(encoding="utf-8"), sample_questions())
MUSEUM_QUESTIONS = MUSEUM.with_suffix(".txt").read_text("utf-8").splitlines()
OWN = Case("museum", MUSEUM.read_text("utf-8"), tuple((text, None) for text in MUSEUM_QUESTIONS))
CASES = {case.name: case for case in (SAMPLE, OWN)}

Answers = Mapping[tuple[str, str], Given]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def embedded(folder: Path) -> Workspace:
    workspace = Workspace(folder / "embedded")
    for case in CASES.values():
        workspace.add(case.name, [case.path(folder)])
    return workspace


@pytest.fixture(scope="module")
def expected(embedded: Workspace) -> Answers:
    return answers_of(embedded)


@pytest.fixture(
    scope="module",
    params=["loopback", "oxigraph", pytest.param("virtuoso", marks=pytest.mark.virtuoso)],
)
def served(request: pytest.FixtureRequest, folder: Path) -> Iterator[Workspace]:
    """The graphs behind a server: one of ours, an Oxigraph, or a Virtuoso."""
    workspace = Workspace(folder / request.param)
    with ExitStack() as stack:
        for case in CASES.values():
            if request.param == "oxigraph":
                add(workspace, case.name, stack.enter_context(oxigraph_server(case.iri, case.file)))
            elif request.param == "virtuoso":
                url = os.environ.get("ASKGRAPH_TEST_VIRTUOSO")
                if not url:
                    pytest.skip("ASKGRAPH_TEST_VIRTUOSO names no Virtuoso server")
                load = [str(ROOT / "tools/virtuoso.sh"), "load", str(case.path(folder)), case.iri]
                subprocess.run(load, check=True, timeout=600)
                add(workspace, case.name, url, "--named-graph", case.iri)
            else:
                store = Store()
                store.bulk_load(case.file.encode(), RdfFormat.TURTLE)
                add(workspace, case.name, stack.enter_context(SparqlServer(store)).url)
        yield workspace


def add(workspace: Workspace, name: str, *arguments: str) -> None:
    command = [sys.executable, "-m", "askgraph", "add", name, *arguments]
    done = subprocess.run(
        [*command, "--workspace", str(workspace.folder)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def answers_of(workspace: Workspace) -> Answers:
    return {
        (case.name, text): given
        for case in CASES.values()
        for (text, _), given in zip(
            case.questions, asyncio.run(_asked(workspace, case)), strict=True
        )
    }


async def _asked(workspace: Workspace, case: Case) -> Sequence[Given]:
    graph = workspace.graph(case.name)
    method = workspace.method()
    try:
        return [
            await _given(Question(text, language), method, graph)
            for text, language in case.questions
        ]
    finally:
        await graph.endpoint.close()


async def _given(question: Question, method: Method, graph: KnowledgeGraph) -> Given:
    try:
        outcome = await ask_method(question, method, [graph])
    except AskgraphError as error:  # one question's failure must not hide the others' answers
        return _comparable_answer(f"{type(error).__name__}: {error}", None)
    best = outcome if isinstance(outcome, Answer) else outcome.best
    return _comparable_answer(get_status(outcome), best)


def _comparable_answer(status: str, best: Answer | None) -> Given:
    if best is None:
        return Given(status, (), (), None, frozenset(), 0)
    rows = best.result.rows
    return Given(
        status,
        best.result.variables,
        best.answer_columns,
        best.boolean,
        frozenset(tuple(map(_comparable, row)) for row in rows),
        len(rows),
    )


def _comparable(term: Term | None) -> object:
    """A value; numbers as far as two engines agree on an average, blank nodes without names."""
    if isinstance(term, BlankNode):
        return "a blank node"
    value = to_json_value(term)
    return float(f"{value:.9g}") if isinstance(value, float) else value


def test_a_server_gives_the_answers_and_the_profile_of_the_embedded_graph(
    served: Workspace, embedded: Workspace, expected: Answers
) -> None:
    found = answers_of(served)
    differences = {
        key: (found[key], given) for key, given in expected.items() if found[key] != given
    }
    assert differences == {}
    for graph in CASES:
        assert facts(served.load_profile(graph)) == facts(embedded.load_profile(graph))


async def test_an_oxigraph_server_is_known_by_its_replies() -> None:
    with oxigraph_server(OWN.iri, OWN.file) as url:
        endpoint = HttpEndpoint(url, graphs=[OWN.iri])
        assert await endpoint.ask("ASK { ?s ?p 80.5 }") and endpoint.dialect == "oxigraph"
        with pytest.raises(ErrorReply, match="The custom function is not supported"):
            await endpoint.ask("ASK { FILTER(<http://e.org/unknown>(1)) }")
        await endpoint.close()


def test_most_questions_are_answered(expected: Answers) -> None:
    """Else the comparison above would compare refusals."""
    for name, least in (("space", 80), ("museum", 14)):
        given = [answer for (graph, _), answer in expected.items() if graph == name]
        assert sum(one.status == "answer" for one in given) >= least
        assert sum(bool(one.rows) or one.boolean is not None for one in given) >= least


def facts(profile: Profile) -> tuple[object, ...]:
    return (
        profile.triples,
        {(c.iri, c.instances) for c in profile.classes},
        {(p.iri, p.triples, p.subjects, p.objects, p.naming) for p in profile.predicates},
        [cut for cut in profile.cuts if not cut.startswith("the default graph is empty")],
    )
