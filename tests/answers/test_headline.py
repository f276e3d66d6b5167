"""The headline of an answer: the result as a sentence, by hand-written queries and by questions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from askgraph import api, sample
from askgraph.answers import AnswerBuilder, arranged
from askgraph.answers.headline import Values
from askgraph.answers.verbalize.phrases import Names, phrases_in
from askgraph.graph import KnowledgeGraph
from askgraph.graph.measures import unit_of_text
from askgraph.sparql.results import SelectResult
from askgraph.sparql.vocabulary import XSD_DATE, XSD_DATE_TIME, XSD_DECIMAL, XSD_DOUBLE, XSD_G_YEAR
from askgraph.workspace import Workspace

TOWNS = """
@prefix : <http://t.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Town rdfs:label "town" .
:heightInMetres rdfs:label "height" .
:founded rdfs:label "founded" .
:mayor rdfs:label "mayor" .
:a a :Town ; rdfs:label "iTown" ; :heightInMetres 1200 ; :founded "0794"^^xsd:gYear ; :mayor :m1 .
:b a :Town ; rdfs:label "Aix 10" ; :heightInMetres 90 ; :founded "1900-05-01"^^xsd:date .
:c a :Town ; rdfs:label "Aix 9" ; :heightInMetres 90.5 ; :mayor [] .
:m1 rdfs:label "Ann <script>" .
"""


@pytest_asyncio.fixture
async def towns(tmp_path: Path) -> AsyncIterator[KnowledgeGraph]:
    file = tmp_path / "towns.ttl"
    file.write_text(TOWNS, encoding="utf-8")
    place = Workspace(tmp_path / "workspace")
    place.add("towns", [file])
    graph = place.graph("towns")
    yield graph
    await graph.endpoint.close()


async def said(graph: KnowledgeGraph, query: str, language: str = "en") -> str:
    text = f"PREFIX : <http://t.example/>\n{query}"
    kind = query.partition(" ")[0].lower()
    result = await getattr(graph.endpoint, kind)(text)
    return (await AnswerBuilder(graph, [language]).written(text, result)).sentence


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "SELECT ?t { ?t a :Town ; :heightInMetres ?h . FILTER(?h < 100) }",
            "Aix 9 (90.5 m) and Aix 10 (90 m) are the towns whose height is less than 100.",
        ),
        (
            "SELECT ?t { ?t a :Town ; :heightInMetres ?h } ORDER BY DESC(?h) LIMIT 1",
            "The town with the highest height is iTown (1,200 m).",
        ),
        (
            "SELECT ?t { ?t a :Town ; :mayor :m1 }",
            "iTown is the only one of the towns whose mayor is Ann <script>.",
        ),
        ("SELECT ?x { :a :mayor ?x }", "The mayor of iTown is Ann <script>."),
        (
            "SELECT (AVG(?h) AS ?x) { :b :heightInMetres ?h }",
            "The average height of Aix 10 is 90 m.",
        ),
        ("SELECT (COUNT(?t) AS ?n) { ?t a :Town }", "There are 3 towns."),
        (
            "SELECT ?t (SUM(?m) AS ?n) { ?t :mayor ?m } GROUP BY ?t ORDER BY ?t",
            "iTown and Aix 9.",
        ),
        (
            "SELECT (COUNT(?t) AS ?n) { ?t a :Town ; :mayor :b }",
            "There are no towns whose mayor is Aix 10.",
        ),
        (
            "SELECT ?t { ?t :mayor :c }",
            "Nothing in the graph fits: the things whose mayor is Aix 9.",
        ),
        ("SELECT ?x { :b :founded ?x }", "The “founded” of Aix 10 is 1 May 1900."),
        ("ASK { :a :mayor :m1 }", "Yes, the mayor of iTown is Ann <script>."),
        (
            "ASK { :b :mayor :m1 }",
            "No, the graph does not say that the mayor of Aix 10 is Ann <script>.",
        ),
        (
            "ASK { :b :heightInMetres ?x . :a :heightInMetres ?y . FILTER(?x > ?y) }",
            "No, it is not so that the height of Aix 10 (90 m) is more than the height of iTown "
            "(1,200 m).",
        ),
        (
            "SELECT ?t { ?t a :Town . VALUES ?t { :a :b } }",
            "2 of the towns: Aix 10 and iTown.",
        ),
        ("SELECT ?x { :c :mayor ?x }", ""),
        ("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", ""),
    ],
)
async def test_a_result_is_a_sentence_with_the_values_that_decided(
    towns: KnowledgeGraph, query: str, sentence: str
) -> None:
    assert await said(towns, query) == sentence


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "iTown (1,200 m), Aix 9 (90.5 m) and Aix 10 (90 m)"),
        ("de", "iTown (1.200 m), Aix 9 (90,5 m) und Aix 10 (90 m)"),
        ("es", "iTown (1200 m), Aix 9 (90,5 m) y Aix 10 (90 m)"),
        ("fr", "iTown (1 200 m), Aix 9 (90,5 m) et Aix 10 (90 m)"),
    ],
)
async def test_numbers_are_written_as_in_the_language(
    towns: KnowledgeGraph, language: str, sentence: str
) -> None:
    query = "SELECT ?t { ?t a :Town ; :heightInMetres ?h } ORDER BY DESC(?h) LIMIT 3"
    assert sentence in await said(towns, query, language)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (
            "en",
            "(1 May 1900) is the only one of the towns whose “founded” is after 1 January 1850.",
        ),
        ("de", "Town mit founded nach 1. Januar 1850: nur Aix 10 (1. Mai 1900)."),
        (
            "es",
            "Town con founded posterior a 1 de enero de 1850: solo Aix 10 (1 de mayo de 1900).",
        ),
        ("fr", "Town avec founded après 1er janvier 1850 : seulement Aix 10 (1er mai 1900)."),
    ],
)
async def test_what_things_are_compared_with_is_written_as_in_the_language(
    towns: KnowledgeGraph, language: str, sentence: str
) -> None:
    day = f'"1850-01-01"^^<{XSD_DATE}>'
    query = f"SELECT ?t {{ ?t a :Town ; :founded ?d . FILTER(?d > {day}) }}"
    assert sentence in await said(towns, query, language)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            "Which moons are larger than Mercury?",
            "Ganymede (5,268.2 km) and Titan (5,149.5 km) are the moons whose diameter is "
            "more than the diameter of Mercury (4,879 km).",
        ),
        (
            "Welche Monde sind größer als Merkur?",
            "Monde mit Durchmesser über Durchmesser von Merkur (4.879 km): "
            "Ganymed (5.268,2 km) und Titan (5.149,5 km).",
        ),
        (
            "How many missions does each agency have?",
            "Most: National Aeronautics and Space Administration (94), then Soviet space program "
            "(28), European Space Agency (12), China National Space Administration (6), Japan "
            "Aerospace Exploration Agency (6), Indian Space Research Organisation (4) and 5 more.",
        ),
        (
            "Which missions were launched in 1969?",
            "Apollo 9 (3 March 1969), Apollo 10 (18 May 1969), Apollo 11 (16 July 1969) and Apollo "
            "12 (14 November 1969) are the missions whose launch date is in 1969.",
        ),
        ("¿Cuántas misiones tripuladas hay?", "Hay 66 misiones tripuladas."),
        (
            "tell me about Neil Armstrong",
            "Neil Armstrong: astronaut, person; agency: National Aeronautics and Space "
            "Administration; birth date: 5 August 1930; death date: 25 August 2012; nationality: "
            "United States.",
        ),
        (
            "tell me about Saturn",
            "Saturn: celestial body, planet; diameter: 120,536 km; distance from the Sun: 1,432 "
            "million km; mass: 5.683 × 10²⁶ kg; mean temperature: -140 °C; orbital period: "
            "10,759.2 days; orbits: Sun; rotation period: 10.7 h; surface gravity: 10.44 m/s².",
        ),
        (
            "average height of rockets per country",
            "Highest: Soviet Union (64.6 m), then United States (62.25 m), China (59.5 m), Russia "
            "(51.33 m), Japan (50.825 m), India (43.75 m) and Italy (30 m).",
        ),
        (
            "Which moons does Jupiter have?",
            "Adrastea, Amalthea, Callisto, Elara, Europa, Ganymede, Himalia, Io and 5 more are the "
            "things that orbit Jupiter.",
        ),
    ],
)
def test_a_question_is_answered_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, question: str, sentence: str
) -> None:
    place = tmp_path_factory.getbasetemp() / "asked"
    answer = api.ask(question, sample.graph_path(), workspace=place).json()
    assert answer["sentence"] == sentence


@pytest.mark.parametrize(
    ("text", "datatype", "language", "written"),
    [
        ("6.417e23", XSD_DOUBLE, "en", "6.417 × 10²³"),
        ("-0.0000001", XSD_DECIMAL, "de", "-1 × 10⁻⁷"),
        ("1234567.123456", XSD_DECIMAL, "fr", "1 234 567,1235"),
        ("0.25", XSD_DECIMAL, "es", "0,25"),
        ("NaN", XSD_DOUBLE, "en", "NaN"),
        ("1969-07-16", XSD_DATE, "de", "16. Juli 1969"),
        ("1969-07-16T13:32:00Z", XSD_DATE_TIME, "es", "16 de julio de 1969, 13:32"),
        ("1969", XSD_G_YEAR, "fr", "1969"),
        ("-0044-03-15", XSD_DATE, "en", "-0044-03-15"),
        ("soon", XSD_DATE, "en", "soon"),
        ("12", "http://dbpedia.org/datatype/squareKilometre", "en", "12 km²"),
    ],
)
def test_a_value_is_written_as_people_do(
    text: str, datatype: str, language: str, written: str
) -> None:
    values = Values(Names({}, phrases_in(language)), {})
    assert values.text(Literal(text, datatype=NamedNode(datatype))) == written


def test_a_unit_of_many_has_its_number_in_words_and_one_that_is_not_known_is_left_out() -> None:
    values = Values(Names({}, phrases_in("en")), {})
    kilometre = unit_of_text("km")
    assert kilometre is not None
    assert values.with_unit("57.9", kilometre.times(1e6)) == "57.9 million km"
    assert values.with_unit("57.9", kilometre.times(7.0)) == "57.9"


@given(st.lists(st.tuples(st.integers(0, 99), st.text("ab é", max_size=3)), max_size=12))
def test_rows_are_arranged_by_the_numbers_in_their_labels(names: list[tuple[int, str]]) -> None:
    labels = {f"http://x/{at}": f"{text} {n}" for at, (n, text) in enumerate(names)}
    rows = tuple((NamedNode(iri),) for iri in labels)
    found = arranged(SelectResult(("x",), rows), None, labels).rows
    assert sorted(found, key=str) == sorted(rows, key=str)
    for text in {text for _, text in names}:
        own = [n for row in found if (n := _number(labels[str(row[0])[1:-1]], text)) is not None]
        assert own == sorted(own)


def _number(label: str, text: str) -> int | None:
    before, _, number = label.rpartition(" ")
    return int(number) if before == text else None


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            "Who was the commander of Apollo 11?",
            "The crew member where the mission is Apollo 11 and the role is commander: "
            "Neil Armstrong.",
        ),
    ],
)
def test_one_member_of_a_relation_is_told_in_the_singular(
    tmp_path_factory: pytest.TempPathFactory, question: str, sentence: str
) -> None:
    place = tmp_path_factory.getbasetemp() / "asked"
    assert api.ask(question, sample.graph_path(), workspace=place).json()["sentence"] == sentence
