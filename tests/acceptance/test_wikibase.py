"""A Wikibase types and names its things by properties of its own; it is asked like any graph."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.servers.sparql import SparqlServer
from tests.wikibase import WIKIBASE

from askgraph.graph import KnowledgeGraph
from askgraph.index.names import ItemKind
from askgraph.methods.graph_search import GraphSearch
from askgraph.sparql.vocabulary import RDFS_SUB_CLASS_OF
from askgraph.trace import Answer, Draft, Question
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method, run_coroutine

BASE = "http://base.test/"


@pytest.fixture(scope="module", params=["file", "endpoint"])
def graph(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """The graph as a file, and behind an endpoint that nobody takes for small."""
    folder: Path = tmp_path_factory.mktemp("wikibase")
    (folder / "base.ttl").write_text(WIKIBASE)
    workspace = Workspace(folder / "workspace")
    with SparqlServer(store_of(WIKIBASE)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("askgraph.graph.remote_profile.MAX_DOWNLOAD_TRIPLES", 0)
        patch.setattr("askgraph.graph.remote_arrays._MAX_COMPLETE_TRIPLES", 0)
        workspace.add("base", [folder / "base.ttl"] if request.param == "file" else [server.url])
        graph = workspace.graph("base")
        yield graph
        run_coroutine(graph.endpoint.close())


def asked(graph: KnowledgeGraph, question: str) -> Answer:
    found = run_coroutine(ask_method(Question(question), GraphSearch(), [graph]))
    assert isinstance(found, Answer), found
    return found


def told(answer: Answer) -> set[str]:
    at = answer.result.variables.index(answer.answer_columns[0])
    terms = (row[at] for row in answer.result.rows)
    return {str(getattr(term, "value", term)).removeprefix(f"{BASE}entity/") for term in terms}


def selected(graph: KnowledgeGraph, query: str) -> set[str]:
    rows = run_coroutine(graph.endpoint.select(query)).rows
    return {str(getattr(row[0], "value", row[0])) for row in rows}


def test_predicates_have_the_names_of_their_properties(graph: KnowledgeGraph) -> None:
    names = {p.iri: p.names for p in graph.profile.predicates}

    own = {("population", "en"), ("Einwohnerzahl", "de"), ("inhabitants", "en")}
    assert set(names[f"{BASE}prop/direct/P4"]) == own
    assert names[f"{BASE}prop/P5"] == names[f"{BASE}prop/statement/P5"]


def test_its_own_property_says_what_things_are(graph: KnowledgeGraph) -> None:
    classes = {c.iri.removeprefix(f"{BASE}entity/"): c.instances for c in graph.profile.classes}

    assert classes == {"Q2": 4, "Q5": 3, "Q3": 6, "Q4": 1}


def test_the_query_of_an_answer_has_its_own_property(graph: KnowledgeGraph) -> None:
    answer = asked(graph, "Which rivers flow into Veska?")

    assert told(answer) == {"Q20", "Q22"}
    assert re.search(r"\?river \w+:P1 \w+:Q2 ;  # instance of, river\n", answer.query)
    assert answer.words.startswith("Rivers")


def test_instances_of_classes_below_are_instances(graph: KnowledgeGraph) -> None:
    answer = asked(graph, "How many cities are there?")

    assert told(answer) == {"7"}
    assert "/" in answer.query


def test_a_number_that_is_stated_is_not_counted(graph: KnowledgeGraph) -> None:
    assert told(asked(graph, "How many inhabitants does Belmar have?")) == {"70000"}


def test_pages_are_no_things(graph: KnowledgeGraph) -> None:
    named = {graph.names.read_name(at).target for at in range(len(graph.names))}

    assert not any(target.startswith("http://pages.test/") for target in named)
    tarn = [
        one for one in map(graph.names.read_name, range(len(graph.names))) if one.text == "Tarn"
    ]
    assert {one.target for one in tarn if one.kind is ItemKind.ENTITY} == {
        f"{BASE}entity/Q22",
        f"{BASE}entity/Q32",
    }


def test_whoever_writes_the_standard_type_finds_things_too(graph: KnowledgeGraph) -> None:
    cities = f"SELECT ?x {{ ?x a/<{RDFS_SUB_CLASS_OF}>* <{BASE}entity/Q3> }}"
    assert len(selected(graph, cities)) == 7

    kinds = "SELECT ?x { ?x a <http://wikiba.se/ontology#Property> }"
    assert len(selected(graph, kinds)) == 9


def test_a_variable_predicate_finds_only_what_is_there(graph: KnowledgeGraph) -> None:
    found = selected(graph, f"SELECT ?p {{ <{BASE}entity/Q20> ?p <{BASE}entity/Q2> }}")

    assert found == {f"{BASE}prop/direct/P1"}


def test_considered_queries_have_its_own_property(graph: KnowledgeGraph) -> None:
    async def considered() -> list[str]:
        steps = GraphSearch().answer(Question("Which rivers flow into Veska?"), [graph])
        return [step.query async for step in steps if isinstance(step, Draft)]

    drafts = run_coroutine(considered())
    assert any(re.search(r"\?river \w+:P1 \w+:Q2 ", query) for query in drafts), drafts
    assert not any("rdf:type" in query or " a " in query for query in drafts)


@for_each(
    ("question", "expected"),
    ("Since when has Ben Corvo been the mayor of Norwick?", {"1990-01-02"}),
    ("When did Ada Lindt become the mayor of Norwick?", {"1980-01-01"}),
    ("Until when was Ada Lindt the mayor of Norwick?", {"1990-01-01"}),
    ("Wer war 1986 Leiter der Regierung von Norwick?", {"Q40"}),
    ("Who was the mayor of Norwick in 1986?", {"Q40"}),  # that it was Cleo Marsh is deprecated
    ("Who is the mayor of Norwick?", {"Q41"}),
    ("What was the population of Norwick in 1990?", {"4000"}),
)
def test_statements_with_their_qualifiers_are_asked(
    graph: KnowledgeGraph, question: str, expected: set[str]
) -> None:
    assert told(asked(graph, question)) == expected


@for_each(
    ("question", "expected", "words"),
    ("Who is the mayor of Orlen?", {"Q40"}, "of Orlen."),  # that of which more pages tell
    ("What is the population of Milden?", {"500", "700"}, "Milden (city in the north)"),
)
def test_things_of_one_name_are_told_by_sitelinks_and_descriptions(
    graph: KnowledgeGraph, question: str, expected: set[str], words: str
) -> None:
    answer = asked(graph, question)

    cells = {str(getattr(term, "value", term)) for row in answer.result.rows for term in row}
    assert {cell.rsplit("/", 1)[-1] for cell in cells} >= expected
    assert words in answer.words
