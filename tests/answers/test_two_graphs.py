"""Questions that two graphs answer together, and those that one answers or none."""

from pathlib import Path

import pytest
from tests.each import for_each
from typer.testing import CliRunner

import askgraph
from askgraph.answers.two_graphs import JOIN_CONFIDENCE_FACTOR
from askgraph.cli import app
from askgraph.trace import Answer
from askgraph.workspace import Workspace

PREFIXES = """@prefix : <http://firms.example/> . @prefix c: <http://cities.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
FIRMS = """
:Company rdfs:label "company"@en . :Site rdfs:label "site"@en . :City rdfs:label "city"@en .
:operator rdfs:label "operator"@en . :city rdfs:label "city"@en .
:Acme a :Company ; rdfs:label "Acme"@en . :Bolt a :Company ; rdfs:label "Bolt"@en .
:s1 a :Site ; rdfs:label "Acme North"@en ; :operator :Acme ; :city {0}:Oslo .
:s2 a :Site ; rdfs:label "Acme West"@en ; :operator :Acme ; :city {0}:Bergen .
:s3 a :Site ; rdfs:label "Bolt Works"@en ; :operator :Bolt ; :city {0}:Rome .
:s4 a :Site ; rdfs:label "Acme Yard"@en ; :operator :Acme ; :city {0}:Oslo .
{0}:Oslo a :City ; rdfs:label "Oslo"@en . {0}:Bergen a :City ; rdfs:label "Bergen"@en .
{0}:Rome a :City ; rdfs:label "Rome"@en .
"""
TOWNS = """
c:Town rdfs:label "city"@en . c:population rdfs:label "population"@en .
c:mayor rdfs:label "mayor"@en . c:Person rdfs:label "person"@en .
c:Oslo a c:Town ; rdfs:label "Oslo"@en ; c:population 700000 ; c:mayor c:Ann .
c:Bergen a c:Town ; rdfs:label "Bergen"@en ; c:population 290000 ; c:mayor c:Ben .
c:Rome a c:Town ; rdfs:label "Rome"@en ; c:population 2800000 ; c:mayor c:Cleo .
c:Paris a c:Town ; rdfs:label "Paris"@en ; c:population 2100000 ; c:mayor c:Dora .
c:Ann a c:Person ; rdfs:label "Ann Lie"@en . c:Ben a c:Person ; rdfs:label "Ben Dahl"@en .
c:Cleo a c:Person ; rdfs:label "Cleo Neri"@en . c:Dora a c:Person ; rdfs:label "Dora Petit"@en .
"""
SHARED = FIRMS.format("c")
APART = FIRMS.format("")
SAME = ":Oslo {0} c:Oslo . :Bergen {0} c:Bergen . c:Rome {0} :Rome ."
POPULATION = "What is the population of the cities where Acme has sites?"
MAYOR = "Who is the mayor of the city of Acme North?"
TOTAL = "What is the total population of the cities where Acme has sites?"
HIGHEST = "Which city where Acme has a site has the highest population?"
ALL = [(SHARED, TOWNS), (APART + SAME.format("owl:sameAs"), TOWNS)]
ALL += [(APART, TOWNS + SAME.format("skos:exactMatch")), (APART, TOWNS + SAME.format("owl:sameAs"))]


def place(folder: Path, firms: str = SHARED, towns: str = TOWNS) -> Path:
    """A workspace with both graphs."""
    for name, text in (("firms", firms), ("towns", towns)):
        (folder / f"{name}.ttl").write_text(PREFIXES + text, encoding="utf-8")
        Workspace(folder / "ws").add(name, [folder / f"{name}.ttl"])
    return folder / "ws"


def asked(question: str, workspace: Path, *graphs: str) -> askgraph.Result:
    return askgraph.ask(question, graphs or ("firms", "towns"), workspace=workspace)


def texts(result: askgraph.Result) -> set[str]:
    answer = result.outcome
    assert isinstance(answer, Answer), result
    found = {
        row[answer.result.variables.index(answer.answer_columns[0])] for row in answer.result.rows
    }
    return {answer.labels.get(one.value, one.value) for one in found if one is not None}  # type: ignore[union-attr]


@for_each(("firms", "towns"), ALL)
def test_what_the_cities_of_one_graph_have_is_found_in_the_other(
    tmp_path: Path, firms: str, towns: str
) -> None:
    workspace = place(tmp_path, firms, towns)
    for graphs in (("firms", "towns"), ("towns", "firms")):
        assert texts(asked(POPULATION, workspace, *graphs)) == {"700000", "290000"}
    assert texts(asked(MAYOR, workspace)) == {"Ann Lie"}
    assert texts(asked(HIGHEST, workspace)) == {"Oslo"}
    assert texts(asked(TOTAL, workspace)) == {"990000"}  # two sites in Oslo, which counts once


def test_a_joined_answer_says_which_graph_gives_what(tmp_path: Path) -> None:
    answer = asked(MAYOR, place(tmp_path)).outcome
    assert isinstance(answer, Answer)
    assert answer.graph == "towns"
    assert "SERVICE <askgraph:firms> {" in answer.query
    assert answer.words.startswith("“towns” gives: The mayor of the cities. “firms”")
    assert answer.words.endswith("The city of Acme North.")
    assert answer.sentence == "The mayor of the city of Acme North: Ann Lie."
    assert answer.unused_words == ()
    assert 0.5 <= answer.confidence <= JOIN_CONFIDENCE_FACTOR


def test_the_query_of_a_joined_answer_runs_alone(tmp_path: Path) -> None:
    workspace = place(tmp_path)
    answer = asked(POPULATION, workspace).outcome
    assert isinstance(answer, Answer)
    command = ["query", answer.query, "-g", answer.graph, "--workspace", str(workspace)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "700000" in done.output and "290000" in done.output and "2100000" not in done.output


def test_a_question_that_one_graph_answers_is_left_to_it(tmp_path: Path) -> None:
    workspace = place(tmp_path)
    for question, graph in (
        ("What is the population of Rome?", "towns"),
        ("Sites of Acme", "firms"),
    ):
        alone, both = asked(question, workspace, graph).outcome, asked(question, workspace).outcome
        assert isinstance(alone, Answer) and isinstance(both, Answer)
        assert (both.query, both.words) == (alone.query, alone.words)
        assert both.result.rows == alone.result.rows
        assert both.confidence == alone.confidence


@pytest.mark.parametrize(
    ("firms", "towns"),
    [
        (APART, TOWNS),
        (SHARED, TOWNS.replace(":Oslo", ":O").replace(":Bergen", ":B").replace(":Rome", ":R")),
        (
            SHARED,
            "\n".join(
                line for line in TOWNS.splitlines() if "Oslo" not in line and "Berg" not in line
            ),
        ),
    ],
    ids=["no same things", "other IRIs", "the property is of other things"],
)
def test_graphs_without_a_link_are_not_joined(tmp_path: Path, firms: str, towns: str) -> None:
    workspace = place(tmp_path, firms, towns)
    for question in (POPULATION, MAYOR):
        result = asked(question, workspace)
        assert not result.answered
        assert "SERVICE" not in str(result)
