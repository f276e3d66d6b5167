"""Values as public bug reports of similar tools have them (docs/bug-reports.md lists all 39)."""

from pathlib import Path

import pytest
from tests.graphs import store_of
from tests.servers.sparql import Habits, SparqlServer

from askgraph import ask

HEAD = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:River rdfs:label "river"@en . :length rdfs:label "length"@en .
:Church rdfs:label "church"@en . :built rdfs:label "built"@en . :opened rdfs:label "opened"@en .
:Film rdfs:label "film"@en . :runtime rdfs:label "runtime"@en . :address rdfs:label "address"@en .
"""
TEXT_AMONG_NUMBERS = """
:Mur a :River ; rdfs:label "Mur"@en ; :length 464 .
:Drava a :River ; rdfs:label "Drava"@en ; :length 749 .
:Laba a :River ; rdfs:label "Laba"@en ; :length "unknown" .
"""
FUNCTION_WORDS = """
:director rdfs:label "director"@en .
:Her a :Film ; rdfs:label "Her"@en ; :director :Jonze .
:Now a :Film ; rdfs:label "Now and Then"@en ; :director :Glatter .
:Jonze rdfs:label "Spike Jonze"@en . :Glatter rdfs:label "Lesli Glatter"@en .
"""
UNSPACED = """
:director rdfs:label "監督"@ja . :Seven a :Film ; rdfs:label "七人の侍"@ja ; :director :Kurosawa .
:Ran a :Film ; rdfs:label "乱世"@ja ; :director :Other . :Other rdfs:label "別人"@ja .
:Kurosawa rdfs:label "黒澤明"@ja .
"""
BLANK_NODES = """
:Ada a :Person ; rdfs:label "Ada Moor"@en ; :address [ :street "Main Street 1" ; :city "Graz" ] .
:Cy a :Person ; rdfs:label "Cy Ford"@en ; :address [ :street "Side Street 2" ; :city "Linz" ] .
"""
MIXED_YEARS = """
:Anna a :Church ; rdfs:label "Anna"@en ; :built "1450"^^xsd:gYear .
:Otto a :Church ; rdfs:label "Otto"@en ; :built 1520 .
:Vitus a :Church ; rdfs:label "Vitus"@en ; :built "1610" .
:Ruth a :Church ; rdfs:label "Ruth"@en ; :built "1700"^^xsd:gYear .
"""
ZONES = """
:Anna a :Church ; rdfs:label "Anna"@en ; :opened "2020-01-01T23:30:00-05:00"^^xsd:dateTime .
:Otto a :Church ; rdfs:label "Otto"@en ; :opened "2020-01-02T01:00:00Z"^^xsd:dateTime .
:Vitus a :Church ; rdfs:label "Vitus"@en ; :opened "2020-01-02T03:00:00+09:00"^^xsd:dateTime .
"""
OTHER_SCRIPT = FUNCTION_WORDS.replace('"director"@en', '"במאי"@he, "監督"@ja')
DIGITS = """
:Mur a :River ; rdfs:label "Mur"@en ; :length 1234567890123456.78 .
:Drava a :River ; rdfs:label "Drava"@en ; :length 9999999999999999999 .
"""
DURATIONS = """
:duration rdfs:label "duration"@en . :days rdfs:label "flight length in days"@en .
:Mur a :Film ; rdfs:label "Mur"@en ; :runtime "PT128M"^^xsd:duration .
:Ran a :Film ; rdfs:label "Ran"@en ; :runtime "PT1H20M"^^xsd:duration .
:Anna a :River ; rdfs:label "Anna"@en ; :length "P1M"^^xsd:duration .
:Otto a :River ; rdfs:label "Otto"@en ; :length "P30D"^^xsd:duration .
:Her a :Church ; rdfs:label "Her"@en ; :opened "08:30:00"^^xsd:time ; :duration "long" ; :days 9 .
"""


@pytest.mark.parametrize(
    ("graph", "question", "expected"),
    [
        (TEXT_AMONG_NUMBERS, "Which river is the longest?", "longest river whose length is a num"),
        (TEXT_AMONG_NUMBERS, "What is the total length of rivers?", "1,213"),
        (TEXT_AMONG_NUMBERS, "Which rivers are longer than average?", "Drava (749) is the only"),
        (FUNCTION_WORDS, "Who directed Her?", "The director of Her is Spike Jonze."),
        (FUNCTION_WORDS, "Who directed Now and Then?", "Lesli Glatter."),
        (OTHER_SCRIPT, "Who directed Her?", "The director of Her is Spike Jonze."),
        (UNSPACED, "七人の侍の監督は誰ですか", "黒澤明"),
        (BLANK_NODES, "What is the address of Ada Moor?", "Graz and Main Street 1"),
        (MIXED_YEARS, "Which churches were built before 1600?", "Anna (1450) and Otto (1,520)"),
        (MIXED_YEARS, "Which church was built last?", "Ruth (1700)"),
        (MIXED_YEARS, "How many churches are there for each century?", "Most: 17 (2), then 15 (1)"),
        (ZONES, "Which churches were opened before 2 January 2020?", "Vitus"),
        (ZONES, "Which church was opened last?", "Anna"),
        (DURATIONS, "films longer than 90 minutes", "Mur (2 h 8 min) is the only film whose ru"),
        (DURATIONS, "Which churches opened before 9 am?", "Her (08:30) is the only church opened"),
    ],
)  # fmt: skip
def test_values_in_the_wild_are_answered_right(
    tmp_path: Path, graph: str, question: str, expected: str
) -> None:
    (tmp_path / "graph.ttl").write_text(HEAD + graph)
    answer = ask(question, tmp_path / "graph.ttl", workspace=tmp_path / "workspace").json()

    assert (answer["status"], expected in str(answer["sentence"])) == ("answer", True), answer


def test_numbers_keep_their_digits_and_an_unbound_value_is_never_sure(tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(HEAD + DIGITS)
    questions = ("length of Mur", "length of Drava", "What is the total length of rivers?")
    answers = [ask(asked, path, workspace=tmp_path / "work").json() for asked in questions]

    numbers = ["1234567890123456.78", "9999999999999999999"]
    assert [answer["rows"] for answer in answers[:2]] == [[[number]] for number in numbers]
    assert answers[2]["rows"] != [[None]] or float(str(answers[2]["confidence"])) < 0.5


def test_durations_that_have_no_order_make_an_answer_unsure(tmp_path: Path) -> None:
    (tmp_path / "graph.ttl").write_text(HEAD + DURATIONS)
    rows = (
        ("films longer than 90 minutes", True, 1.0, ""),
        ("films longer than 90 minutes", False, 0.5, "The endpoint cannot compare durations"),
        ("Which river has the longest length?", True, 0.5, "depends on the calendar"),
        ("churches with a duration of more than 5 days", True, 0.5, "another number is compared"),
    )
    with SparqlServer(store_of(HEAD + DURATIONS)) as server:
        for question, is_ordered, limit, words in rows:
            server.habits = Habits(orders_durations=is_ordered)
            graph = server.url if not is_ordered else tmp_path / "graph.ttl"
            answer = ask(question, graph, workspace=tmp_path / "workspace").json()
            assert limit - 0.5 < float(str(answer["confidence"])) < limit, answer
            assert words in str(answer["words"]), answer
