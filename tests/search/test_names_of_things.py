"""What a name is: told apart, read as a code, held in both directions, or no name at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.each import for_each
from tests.search.asking import Known
from tests.search.question_files import turtle_of

import askgraph
from askgraph.search.rank import cluster_candidates
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine


def test_a_property_named_in_full_is_meant_however_its_other_names_go_on(space: Known) -> None:
    [best, *_] = cluster_candidates(space.proposal("What is the discoverer of Titan?").candidates)
    query = space.query(best.best.query)
    assert "#discoverer>" in query and "discoveryYear" not in query


def test_a_plural_is_no_name_of_a_thing(space: Known) -> None:
    for question, language in (
        ("Welche Planeten haben keine Monde?", "de"),
        ("Which planets have no moons?", "en"),
    ):
        assert "/Moon>" not in space.best_query(question, language)


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


@for_each(
    ("question", "said"),
    ("Who is the founder of Jaguar?", "The founder of Jaguar."),
    ("Which jaguar has the highest weight?", "The heaviest jaguar."),
    ("How many jaguars are there?", "The number of jaguars."),
    (
        "tell me about Jaguar",
        "What the graph says about Jaguar: type, number of employees, founder.",
    ),
    ("jaguars", "Jaguars."),
)
def test_things_and_classes_of_a_name_differ(question: str, said: str, tmp_path: Path) -> None:
    assert asked(question, tmp_path)["words"] == said


def test_a_thing_and_class_of_one_name_are_both_offered_if_no_more_is_said(tmp_path: Path) -> None:
    found = asked("Jaguar", tmp_path)
    assert found["status"] == "clarification"
    assert {one["words"] for one in found["options"]} >= {
        "Jaguars.",
        "What the graph says about Jaguar: type, number of employees, founder.",
    }


def asked(question: str, folder: Path, turtle: str = JAGUARS) -> Mapping[str, Any]:
    """What graph search says to a question over a graph, of cats and firms if none is given."""
    file = folder / "graph.ttl"
    file.write_text(turtle, encoding="utf-8")
    graph = Workspace(folder / "workspace").open(file)
    found = askgraph.ask(question, graph, language="en").json()
    run_coroutine(graph.endpoint.close())
    return found


def test_pronouns_name_nothing_and_names_of_blank_nodes_stand_for_them(tmp_path: Path) -> None:
    for graph, question, part in (
        ("ballads", "Is there anything by Ann Fox?", "Yes, there is something whose singer"),
        ("works", "Who is the illustrator of Ghost of Chance?", "whose role is illustrator is Ann"),
    ):
        (tmp_path / graph).mkdir()
        assert part in asked(question, tmp_path / graph, turtle_of(graph))["sentence"]


def test_a_thing_that_is_compared_with_is_not_shown_by_its_other_meaning(space: Known) -> None:
    proposal = space.proposal("Which moons are larger than the Moon?")
    query = space.query(cluster_candidates(proposal.candidates)[0].best.query)
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


@for_each(
    ("question", "rows", "said"),
    ("What is the population of Mutzopolis?", ["134000"], ("Mutzopolis", "Bern")),
    ("What is the population of Berna?", ["134000"], ("Berna", "Bern")),
    ("Who is the mayor of Baslerstadt?", ["https://land.example/bea"], ("Baslerstadt", "Basel")),
    ("Who is the mayor of Basel?", ["https://land.example/bea"], None),
    ("What is the population of Muri?", ["13000"], None),
    ("Who was Joe replaced by?", ["https://land.example/kim"], None),
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


PAPERS = "\n".join(
    [
        "@prefix : <https://papers.example/> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        ":s a :Scheme ; :title 'All' . :b1 a :Binding ; :title 'Cloth' .",
        ":t0 a :Topic ; rdfs:label 'Tides' . :t1 a :Topic ; rdfs:label 'Winds' .",
        *(f":r{n} a :Report ; :inScheme :s ; :binding :b1 ; :topic :t{n % 2} ." for n in range(24)),
        *(f":r{n} :review :v{n} . :v{n} a :Review ." for n in range(20)),
        *(f":r{n} :scan <https://scans.example/{n}> ." for n in range(24)),
    ]
)


@for_each(
    ("question", "count"),
    ("Which reports are there?", 24),
    ("Which reports have the topic Tides?", 12),
    ("Which reports have no review?", 4),
)
def test_nameless_things_are_listed_unjoined(question: str, count: int, tmp_path: Path) -> None:
    found = asked(question, tmp_path, PAPERS)
    assert found["status"] == "answer"
    assert len(found["rows"]) == count
    assert "cheme" not in found["sparql"] and "scan" not in found["sparql"]


@for_each(
    ("question", "status"),
    ("What is the most common material among them?", "answer"),
    ("Which maker has the most of these works?", "answer"),
    ("largest of them all", "answer"),
    ("which of them is the largest?", "refusal"),
)
def test_an_own_first_question_needs_no_result(question: str, status: str, tmp_path: Path) -> None:
    found = asked(question, tmp_path, turtle_of("museum"))
    assert ("no result before" in str(found.get("reason", ""))) is (status == "refusal")


@for_each(
    ("question", "said"),
    ("Which barges are there?", "Barges."),
    ("Which barges have the port Riga?", "Barges whose port is “Riga”."),
)
def test_names_shown_beside_things_are_not_said(question: str, said: str, tmp_path: Path) -> None:
    assert asked(question, tmp_path, turtle_of("freight"))["words"] == said
