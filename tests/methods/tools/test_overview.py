"""The first look at a graph: what the question names, and the schema near that."""

from pathlib import Path

from tests.each import for_each
from tests.methods.tools.exploring import called, line_with, served

from askgraph.graph import KnowledgeGraph

STATEMENTS = """
@prefix : <http://example.org/thing/> .
@prefix d: <http://example.org/prop/direct/> .
@prefix p: <http://example.org/prop/> .
@prefix s: <http://example.org/prop/statement/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Q1 rdfs:label "Rome" ; d:P10 :Q2 ; p:P10 :s1 . :s1 s:P10 :Q2 .
:Q3 rdfs:label "Milan" ; d:P10 :Q2 ; p:P10 :s2 . :s2 s:P10 :Q2 .
:Q2 rdfs:label "Italy" .
d:P10 rdfs:label "country" . p:P10 rdfs:label "country" . s:P10 rdfs:label "country" .
"""
PREFIXES = {
    "d": "http://example.org/prop/direct/",
    "p": "http://example.org/prop/",
    "s": "http://example.org/prop/statement/",
    "": "http://example.org/thing/",
}


async def test_it_shows_what_is_named_and_the_schema_near_it(space: KnowledgeGraph) -> None:
    found = await called(space, "overview", question="Which moons orbit Saturn?")
    assert "for 'Saturn'" in line_with(found, "- space:Saturn")
    assert "ont:orbits → ont:CelestialBody" in line_with(found, "ont:CelestialBody 95: ")
    assert "ont:diameter xsd:decimal" in line_with(found, "types and values near")
    assert "https://example.org/space/ontology#orbits" in found.seen


async def test_a_property_takes_one_place_whatever_its_variants(tmp_path: Path) -> None:
    with served(STATEMENTS, tmp_path, prefixes=PREFIXES, local=True) as (graph, _):
        found = await called(graph, "overview", question="In which country is Rome?")
    assert 'd:P10 "country" (also s:, p:) →' in found.text
    assert found.text.count('"country"') <= 2, "once as a property, once as what Rome has"
    assert "has d:P10" in line_with(found, "- :Q1")


@for_each(
    ("question", "named", "not_named"),
    ("Which missions did Gagarim fly?", "space:Yuri_Gagarin", "space:JUICE"),
    ("Which rockets flew for the first time before 1960?", "ont:LaunchVehicle", "Tim_Peake"),
    ("Which role had 3 people?", "ont:role", "space:STS_3"),
)
async def test_a_word_is_searched_by_its_letters_and_a_number_tells_nothing(
    space: KnowledgeGraph, question: str, named: str, not_named: str
) -> None:
    found = await called(space, "overview", question=question)
    assert named in found.text
    assert not_named not in found.text.partition("perhaps named")[2].partition("properties near")[0]


CLUBS = """
@prefix : <http://clubs.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:p1 a :Player ; rdfs:label "Ada Moss" . :p2 a :Player ; rdfs:label "Ada Moss Junior" .
:p3 a :Player ; rdfs:label "Ben Wood" . :c1 a :Club ; rdfs:label "Rovers" .
:c2 a :Club ; rdfs:label "Rangers" .
:m1 a :Membership ; :player :p1 ; :club :c1 . :m2 a :Membership ; :player :p1 ; :club :c2 .
:m3 a :Membership ; :player :p3 ; :club :c1 . :m4 a :Membership ; :player :p2 ; :club :c1 .
"""


async def test_longer_names_nameless_nodes_and_class_names_are_told_apart(tmp_path: Path) -> None:
    numbered = "".join(f':v{n} a :Invoice ; rdfs:label "invoice {n}" . ' for n in range(9))
    with served(CLUBS + numbered, tmp_path, prefixes=PREFIXES, local=True) as (graph, _):
        texts = [
            (await called(graph, "overview", question=question)).text
            for question in (
                "Where does Ada Moss play?",
                "Did Ben Wood play for Rovers?",
                "What about Ben Wood?",
                "Which invoice sort is common?",
                "What about invoice 7?",
            )
        ]
    longer, linked, alone, invoices, seventh = texts

    line = next(one for one in longer.splitlines() if "p1" in one)
    assert "for 'Ada Moss' (also in 1 longer name)" in line
    [line] = [one for one in linked.splitlines() if "linked to" in one]
    assert "m3" in line and "p3" in line and "c1" in line and "linked to" not in alone
    assert "- :v" not in invoices.replace("<http://clubs.example/", "- :") and "v7" in seventh


TWO_CLASSES = """
@prefix : <http://papers.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Writer rdfs:label "Publication" . :Book rdfs:label "Publication" . :Prize rdfs:label "Award" .
:w1 a :Writer ; :wrote :b1 . :b1 a :Book ; :won :a1 . :a1 a :Prize .
"""


async def test_classes_of_one_label_are_told_by_their_local_names(tmp_path: Path) -> None:
    with served(TWO_CLASSES, tmp_path, prefixes=PREFIXES, local=True) as (graph, _):
        found = await called(graph, "overview", question="Which publications won an award?")
    assert 'Prize> "Award" 1' in found.text
    assert "Writer> 1: " in found.text and '"Publication"' not in found.text


PAPERS = """
@prefix : <http://a.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:de a :Country ; rdfs:label "Germany"@en ; :iso "DE" ; :ioc "GER" .
:fr a :Country ; rdfs:label "France"@en ; :iso "FR" ; :ioc "FRA" .
:p1 a :Person ; rdfs:label "Anna Adler"@en ; :nationality "German" ; :team "GER" ; :home :de .
:p2 a :Person ; rdfs:label "Chloe Chat"@en ; :nationality "French" ; :team "FRA" ; :home :fr .
:doc_Smith_2001 a :Paper ; :by :p1 . :doc_Smith_2004 a :Paper ; :by :p2 .
:doc_Miller_2004 a :Paper ; :by :p1 .
"""


async def test_a_word_in_iris_alone_and_a_people_come_in_each_stored_form(tmp_path: Path) -> None:
    with served(PAPERS, tmp_path, prefixes=PREFIXES, local=True) as (graph, _):
        papers = await called(graph, "overview", question="Papers by Smith")
        people = await called(graph, "overview", question="How many German persons are there?")
    assert "for 'Smith' (in 2 IRIs: CONTAINS(STR(?x), \"Smith\"))" in papers.text
    lines = "\n".join(line for line in people.text.splitlines() if "for 'German'" in line)
    assert all(form in lines for form in ('"German"', '"Germany"', '"DE"', '"GER"'))
