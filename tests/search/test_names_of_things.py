"""What a name is: told apart, read as a code, held in both directions, or no name at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.graphs import store_of
from tests.search.asking import Known

import askgraph
from askgraph.search.rank import clusters
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import result_of

GRAPH = """
@prefix : <https://land.example/> .
@prefix g: <https://land.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .

g:River rdfs:label "river" . g:Country rdfs:label "country" . g:City rdfs:label "city" .
g:Vehicle rdfs:label "vehicle" . g:Car rdfs:label "car" ; rdfs:subClassOf g:Vehicle .
g:Bike rdfs:label "bike" ; rdfs:subClassOf g:Vehicle .
g:Person rdfs:label "person" . g:Hotel rdfs:label "hotel" . g:Firm rdfs:label "company" .
g:inhabitants rdfs:label "population" . g:locatedIn rdfs:label "located in" .
g:borders rdfs:label "borders" . g:sibling rdfs:label "sibling" . g:met rdfs:label "met" ;
    a owl:SymmetricProperty . g:sex rdfs:label "sex" . g:fullTime rdfs:label "full time" .
g:approved rdfs:label "approval status" . g:grade rdfs:label "grade" .
g:basedIn rdfs:label "based in" . g:Trip rdfs:label "trip" . g:start rdfs:label "origin" .
g:end rdfs:label "destination" . g:cost rdfs:label "cost" .
g:rating rdfs:label "rating" . g:founded rdfs:label "founder" .

:jordanRiver a g:River ; rdfs:label "Jordan" ; g:locatedIn :israel .
:jordan a g:Country ; rdfs:label "Jordan" ; g:inhabitants 11000000 ; g:locatedIn :asia ;
    g:borders :israel .
:israel a g:Country ; rdfs:label "Israel" ; g:inhabitants 9000000 .
:iraq a g:Country ; rdfs:label "Iraq" ; g:borders :jordan ; g:inhabitants 44000000 .
:asia rdfs:label "Asia" .
:france a g:Country ; rdfs:label "France" ; g:inhabitants 68000000 .
:us a g:Country ; rdfs:label "US" ; g:inhabitants 333000000 .
:texas rdfs:label "Texas" ; g:locatedIn :us .
:paris a g:City ; rdfs:label "Paris" ; g:inhabitants 2100000 ; g:locatedIn :france .
:parisTexas a g:City ; rdfs:label "Paris" ; g:inhabitants 25000 ; g:locatedIn :texas .
:acme a g:Firm ; rdfs:label "Acme" ; g:basedIn :us . :bolt a g:Firm ; rdfs:label "Bolt" ;
    g:basedIn :france .
:c1 a g:Car ; rdfs:label "Rover" . :c2 a g:Car ; rdfs:label "Beetle" .
:b1 a g:Bike ; rdfs:label "Comet" .
:ann a g:Person ; rdfs:label "Ann" ; g:sibling :bob ; g:sex "F" ; g:fullTime "Y" ; g:grade "F" ;
    g:met :cid .
:bob a g:Person ; rdfs:label "Bob" ; g:sex "M" ; g:fullTime "N" ; g:grade "A" .
:cid a g:Person ; rdfs:label "Cid" ; g:sex "M" ; g:fullTime "Y" ; g:grade "F" ; g:sibling :ann .
:eve a g:Person ; rdfs:label "Eve" ; g:sex "F" ; g:fullTime "N" ; g:grade "B" .
:t1 a g:Trip ; g:start "Ulm" ; g:end "Bonn" ; g:cost 20 .
:t2 a g:Trip ; g:start "Bonn" ; g:end "Ulm" ; g:cost 30 .
:h1 a g:Hotel ; rdfs:label "Best Western" ; g:rating 3 .
:h2 a g:Hotel ; rdfs:label "Hilltop" ; g:rating 5 .
"""


@pytest.fixture(scope="module")
def land() -> Known:
    """Lands, people and vehicles whose names are hard to read."""
    return Known(store_of(GRAPH))


ASKED = [
    # question, rows
    ("Where is the river Jordan located in?", "israel"),
    ("What is the population of Paris in Texas?", "25000"),
    ("What is the population of Paris, France?", "2100000"),
    ("Which companies are based in the US?", "acme"),
    ("Which companies are based in the U.S.?", "acme"),
    ("Which companies are based in the USA?", "acme"),
    ("What is the cost of the trip from Ulm to Bonn?", "20"),
    ("What is the cost of the trip from Bonn to Ulm?", "30"),
    ("Which countries border Jordan?", "iraq israel"),
    ("Who is a sibling of Ann?", "bob cid"),
    ("Who are the siblings of Bob?", "ann"),
    ("Whom has Cid met?", "ann"),
    ("How many vehicles are there?", "3"),
    ("Which vehicles are there?", "b1 c1 c2"),
    ("How many female persons are there?", "2"),
    ("List all women.", "ann eve"),
    ("Which persons are full time?", "ann cid"),
    ("Which persons are not full time?", "bob eve"),
    ("Which hotel has the best rating?", "h2"),
]


def rows(known: Known, question: str) -> str:
    best = clusters(known.proposal(question).candidates)[0].best
    given = known.rows(known.query(best.query))
    assert not isinstance(given, bool)
    return " ".join(sorted({cell(row[-1] or "") for row in given}))


def cell(term: str) -> str:
    """The local name of an IRI, the text of a literal."""
    return term[1:-1].rpartition("/")[2] if term.startswith("<") else term.split('"')[1]


@pytest.mark.parametrize(("question", "expected"), ASKED)
def test_a_name_is_read_for_what_it_names(question: str, expected: str, land: Known) -> None:
    assert rows(land, question) == expected


def test_a_property_that_is_named_in_full_is_meant_whatever_its_other_names_go_on_with(
    space: Known,
) -> None:
    [best, *_] = clusters(space.proposal("What is the discoverer of Titan?").candidates)
    query = space.query(best.best.query)
    assert "#discoverer>" in query and "discoveryYear" not in query


def test_a_plural_is_no_name_of_a_thing(space: Known) -> None:
    for question, language in (
        ("Welche Planeten haben keine Monde?", "de"),
        ("Which planets have no moons?", "en"),
    ):
        query = space.query(clusters(space.proposal(question, language).candidates)[0].best.query)
        assert "/Moon>" not in query


JAGUARS = """
@prefix : <https://cats.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:JaguarCat rdfs:label "jaguar" . :Firm rdfs:label "company" .
:Jaguar a :Firm ; rdfs:label "Jaguar" ; :founder :Lyons ; :employees 9000 .
:Puma a :Firm ; rdfs:label "Puma" ; :founder :Dassler ; :employees 14000 .
:Lyons a :Person ; rdfs:label "William Lyons" . :Dassler a :Person ; rdfs:label "Rudolf Dassler" .
:k a :JaguarCat ; rdfs:label "Kito" ; :weight 90 .
:t a :JaguarCat ; rdfs:label "Tara" ; :weight 80 .
"""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who is the founder of Jaguar?", "The founder of Jaguar."),
        ("Which jaguar has the highest weight?", "The jaguar with the highest weight."),
        ("How many jaguars are there?", "The number of jaguars."),
        ("tell me about Jaguar", "What the graph says about Jaguar: type, employees, founder."),
        ("jaguars", "The jaguars."),
    ],
)
def test_a_thing_and_a_class_of_one_name_are_told_apart_by_what_is_said(
    question: str, said: str, tmp_path: Path
) -> None:
    assert asked(question, tmp_path)["words"] == said


def test_a_thing_and_a_class_of_one_name_are_both_offered_if_nothing_else_is_said(
    tmp_path: Path,
) -> None:
    found = asked("Jaguar", tmp_path)
    assert found["status"] == "clarification"
    assert {one["words"] for one in found["options"]} >= {
        "The jaguars.",
        "What the graph says about Jaguar: type, employees, founder.",
    }


def asked(question: str, folder: Path, turtle: str = JAGUARS) -> Mapping[str, Any]:
    """What graph search says to a question over a graph, of cats and firms if none is given."""
    file = folder / "graph.ttl"
    file.write_text(turtle, encoding="utf-8")
    graph = Workspace(folder / "workspace").open(file)
    found = askgraph.ask(question, graph, language="en").json()
    result_of(graph.endpoint.close())
    return found


def test_a_thing_that_is_compared_with_is_not_shown_by_its_other_meaning(space: Known) -> None:
    proposal = space.proposal("Which moons are larger than the Moon?")
    query = space.query(clusters(proposal.candidates)[0].best.query)
    assert query.startswith("SELECT DISTINCT ?moon WHERE")


MERGED = """
@prefix : <https://land.example/> .
@prefix g: <https://land.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
g:population rdfs:label "population" . g:mayor rdfs:label "mayor" .
g:replacedBy rdfs:label "replaced by" . g:City rdfs:label "city" .

:bern a g:City ; rdfs:label "Bern" ; g:population 134000 ; g:mayor :ada .
:basel a g:City ; rdfs:label "Basel" ; g:population 173000 ; g:mayor :bea .
:ada rdfs:label "Ada" . :bea rdfs:label "Bea" .
:old1 rdfs:label "Mutzopolis" ; owl:sameAs :bern .
:old2 a g:City ; rdfs:label "Berna" ; dcterms:isReplacedBy :old1 .
:wiki rdfs:label "Baslerstadt" ; <https://pages.example/wikiPageRedirects> :basel .
:museum rdfs:label "Kunsthaus" ; g:mayor :bea .
:joe rdfs:label "Joe" ; g:replacedBy :kim . :kim rdfs:label "Kim" ; g:population 3 .
:village rdfs:label "Muri" ; owl:sameAs :bern ; g:population 13000 .
"""


@pytest.mark.parametrize(
    ("question", "rows", "said"),
    [
        ("What is the population of Mutzopolis?", ["134000"], ("Mutzopolis", "Bern")),
        ("What is the population of Berna?", ["134000"], ("Berna", "Bern")),
        (
            "Who is the mayor of Baslerstadt?",
            ["https://land.example/bea"],
            ("Baslerstadt", "Basel"),
        ),
        ("Who is the mayor of Basel?", ["https://land.example/bea"], None),
        ("What is the population of Muri?", ["13000"], None),
        ("Who was Joe replaced by?", ["https://land.example/kim"], None),
    ],
)
def test_what_has_only_a_name_left_is_what_it_was_merged_into(
    tmp_path: Path, question: str, rows: list[str], said: tuple[str, str] | None
) -> None:
    found = asked(question, tmp_path, MERGED)
    assert found["status"] == "answer", found
    assert [str(value) for (value,) in found["rows"]] == rows
    sentence = "“{}” was merged into “{}”.".format(*said) if said else "merged"
    assert (sentence in found["words"]) is (said is not None)


NAMESAKES = """
@prefix : <https://land.example/> .
@prefix g: <https://land.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
g:mayor rdfs:label "mayor" . g:in rdfs:label "located in" . g:City rdfs:label "city" .
:p1 a g:City ; rdfs:label "Paris" ; g:in :fr ; g:mayor :ann ; g:area 105 .
:p2 a g:City ; rdfs:label "Paris" ; g:in :tx ; g:mayor :ann2 ; g:area 9 .
:p3 a g:City ; rdfs:label "Lyon" ; g:in :fr ; g:mayor :eve .
:fr rdfs:label "France" . :tx rdfs:label "Texas" . :eve rdfs:label "Eve" .
:ann rdfs:label "Ann" ; g:born 1970 ; g:age 55 . :ann2 rdfs:label "Ann" ; g:born 1960 ; g:age 55 .
"""


def test_namesakes_of_one_class_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    named = asked("Who is the mayor of Paris?", tmp_path, NAMESAKES)["labels"]
    told = {iri.rsplit("/", 1)[-1]: label for iri, label in named.items()}
    assert (told["p1"], told["p2"]) == ("Paris (France)", "Paris (Texas)")
    assert (told["ann"], told["ann2"]) == ("Ann (1970)", "Ann (1960)")


def test_a_clarification_says_by_what_namesakes_differ(tmp_path: Path) -> None:
    found = asked("Paris", tmp_path, NAMESAKES)
    assert found["status"] == "clarification"
    offered = [one["words"] for one in found["options"]]
    assert [any(f"Paris ({place})" in words for words in offered) for place in ("France", "Texas")]
    assert all(("France" in words) != ("Texas" in words) for words in offered)
