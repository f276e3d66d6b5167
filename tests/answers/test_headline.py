"""The headline of an answer: the result as a sentence, by hand-written queries and by questions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from tests.each import for_each
from tests.readings import read_readings

from askgraph import api, sample
from askgraph.answers import AnswerBuilder, arrange_rows
from askgraph.answers.verbalize.phrases import ValueWriter, load_phrases
from askgraph.graph import KnowledgeGraph
from askgraph.graph.measures import parse_unit
from askgraph.sparql.results import SelectResult
from askgraph.sparql.vocabulary import XSD_DATE, XSD_DATE_TIME, XSD_DECIMAL, XSD_DOUBLE, XSD_G_YEAR
from askgraph.workspace import Workspace

FOLDER = Path(__file__).parent
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
    result = await getattr(graph.endpoint, query.partition(" ")[0].lower())(text)
    return (await AnswerBuilder(graph, [language]).build_user_answer(text, result)).sentence


@for_each(("query", "language", "sentence"), read_readings(FOLDER / "headlines.txt"))
async def test_a_result_is_a_sentence_with_the_values_that_decided(
    towns: KnowledgeGraph, query: str, language: str, sentence: str
) -> None:
    assert await said(towns, query, language) == sentence


@for_each(("question", "_", "sentence"), read_readings(FOLDER / "headlines_of_questions.txt"))
def test_a_question_is_answered_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, question: str, _: str, sentence: str
) -> None:
    place = tmp_path_factory.getbasetemp() / "asked"
    assert api.ask(question, sample.graph_path(), workspace=place).json()["sentence"] == sentence


@for_each(
    ("language", "sentence"),
    ("en", "iTown (1,200 m), Aix 9 (90.5 m) and Aix 10 (90 m)"),
    ("de", "iTown (1.200 m), Aix 9 (90,5 m) und Aix 10 (90 m)"),
    ("es", "iTown (1200 m), Aix 9 (90,5 m) y Aix 10 (90 m)"),
    ("fr", "iTown (1 200 m), Aix 9 (90,5 m) et Aix 10 (90 m)"),
)
async def test_numbers_are_written_as_in_the_language(
    towns: KnowledgeGraph, language: str, sentence: str
) -> None:
    query = "SELECT ?t { ?t a :Town ; :heightInMetres ?h } ORDER BY DESC(?h) LIMIT 3"
    assert sentence in await said(towns, query, language)


@for_each(
    ("language", "sentence"),
    ("en", "(1 May 1900) is the only town founded after 1 January 1850."),
    ("de", "„Town“ mit „founded“ nach dem 1. Januar 1850: nur Aix 10 (1. Mai 1900)."),
    (
        "es",
        "«Town» con «founded» posterior al 1 de enero de 1850: solo Aix 10 (1 de mayo de 1900).",
    ),
    (
        "fr",
        "« Town » avec « founded » après le 1er janvier 1850 : seulement Aix 10 (1er mai 1900).",
    ),
)
async def test_what_things_are_compared_with_is_written_as_in_the_language(
    towns: KnowledgeGraph, language: str, sentence: str
) -> None:
    day = f'"1850-01-01"^^<{XSD_DATE}>'
    query = f"SELECT ?t {{ ?t a :Town ; :founded ?d . FILTER(?d > {day}) }}"
    assert sentence in await said(towns, query, language)


@for_each(
    ("text", "datatype", "language", "written"),
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
)
def test_a_value_is_written_as_people_do(
    text: str, datatype: str, language: str, written: str
) -> None:
    writer = ValueWriter(load_phrases(language))
    assert writer.write_literal(Literal(text, datatype=NamedNode(datatype))) == written


def test_a_unit_of_many_has_its_number_in_words_and_one_that_is_not_known_is_left_out() -> None:
    writer = ValueWriter(load_phrases("en"))
    kilometre = parse_unit("km")
    assert kilometre is not None
    assert writer.add_unit("57.9", kilometre.scale_by(1e6)) == "57.9 million km"
    assert writer.add_unit("57.9", kilometre.scale_by(7.0)) == "57.9"


@given(st.lists(st.tuples(st.integers(0, 99), st.text("ab é", max_size=3)), max_size=12))
def test_rows_are_arranged_by_the_numbers_in_their_labels(names: list[tuple[int, str]]) -> None:
    labels = {f"http://x/{at}": f"{text} {n}" for at, (n, text) in enumerate(names)}
    rows = tuple((NamedNode(iri),) for iri in labels)
    found = arrange_rows(SelectResult(("x",), rows), None, labels).rows
    assert sorted(found, key=str) == sorted(rows, key=str)
    for text in {text for _, text in names}:
        own = [n for row in found if (n := _number(labels[str(row[0])[1:-1]], text)) is not None]
        assert own == sorted(own)


def _number(label: str, text: str) -> int | None:
    before, _, number = label.rpartition(" ")
    return int(number) if before == text else None
