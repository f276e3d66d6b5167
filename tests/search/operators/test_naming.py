"""Names that are asked for are those of the thing that the words say."""

from functools import cache

import pytest
from pyoxigraph import QuerySolutions, RdfFormat, Store
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.answers.verbalize import in_words
from askgraph.search.rank import clusters

GRAPH = """
@prefix : <https://games.example/> .
@prefix g: <https://games.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

g:Stadium rdfs:label "stadium" . g:Game rdfs:label "game" . g:Coach rdfs:label "coach" .
g:Player rdfs:label "player" . g:at rdfs:label "played at" . g:seats rdfs:label "seats" .
g:coach rdfs:label "coach" . g:number rdfs:label "code" . g:season rdfs:label "season" .
g:owner rdfs:label "owner name" . g:coachName rdfs:label "name" . g:first rdfs:label "first name" .
g:last rdfs:label "last name" . g:team rdfs:label "team" .

:north a g:Stadium ; rdfs:label "Northgate" ; g:seats 800 ; g:number 7 ; g:owner "Ms Rich" .
:south a g:Stadium ; rdfs:label "Southgate" ; g:seats 500 ; g:number 9 ; g:owner "Mr Poor" .
:g1 a g:Game ; rdfs:label "G1" ; g:at :north ; g:number 1 ; g:season 2001 ; g:coach :kim .
:g2 a g:Game ; rdfs:label "G2" ; g:at :south ; g:number 2 ; g:season 2002 ; g:coach :lee .
:kim a g:Coach ; g:coachName "Kim" . :lee a g:Coach ; g:coachName "Lee" .
:p1 a g:Player ; g:first "Ada" ; g:last "Byron" ; g:team "Reds" .
:p2 a g:Player ; g:first "Bo" ; g:last "Chan" ; g:team "Blues" .
"""

ASKED = [
    # question, rows, the columns of each
    ("What are the names and seats of all stadiums?", {"north 800", "south 500"}),
    ("List the seats and the name of each stadium.", {"north 800", "south 500"}),
    ("Give the stadium names and their seats.", {"north 800", "south 500"}),
    ("What is the owner name of the stadium Northgate?", {"Ms Rich"}),
    ("What are the names of the coaches?", {"Kim", "Lee"}),
    ("What are the names of the players?", {"Ada Byron", "Bo Chan"}),
    ("What is the code of the stadium of the game with season 2001?", {"7"}),
]


@pytest.fixture(scope="module")
def games() -> Known:
    """Stadiums with labels, coaches with names of their own, players with names in two parts."""
    store = Store()
    store.load(GRAPH.encode(), RdfFormat.TURTLE)
    return Known(store)


def answer(known: Known, question: str) -> set[str]:
    best = clusters(known.proposal(question).candidates)[0].best
    shown = best.columns
    given = known.store.query(known.query(best.query))
    assert isinstance(given, QuerySolutions)
    cells = (" ".join(text(str(row[name])) for name in shown) for row in given)
    return {" ".join(sorted(row.split())) for row in cells}


def text(term: str) -> str:
    return term[1:-1].rpartition("/")[2] if term.startswith("<") else term.split('"')[1]


@pytest.mark.parametrize(("question", "rows"), ASKED)
def test_a_name_is_that_of_the_thing_it_is_asked_of(
    question: str, rows: set[str], games: Known
) -> None:
    assert answer(games, question) == {" ".join(sorted(row.split())) for row in rows}


ROLES = """
@prefix : <https://race.example/> .
@prefix g: <https://race.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

g:Swimmer rdfs:label "swimmer" . g:Person rdfs:label "person" .
g:person rdfs:label "person" . g:laps rdfs:label "laps" .
:s1 a g:Swimmer ; rdfs:label "swimmer 1" ; g:person :ann ; g:laps 30 .
:s2 a g:Swimmer ; rdfs:label "swimmer 2" ; g:person :bob ; g:laps 20 .
:ann a g:Person ; rdfs:label "Ann" . :bob a g:Person ; rdfs:label "Bob" .
"""


def test_a_label_that_only_numbers_a_thing_is_no_name() -> None:
    store = Store()
    store.load(ROLES.encode(), RdfFormat.TURTLE)
    asked = "What are the names and laps of the swimmers?"
    assert answer(Known(store), asked) == {"30 ann", "20 bob"}


BIRTHS = """
@prefix : <https://lives.example/> .
@prefix l: <https://lives.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

l:Painter rdfs:label "painter" . l:Town a rdfs:Class ; rdfs:label "town" .
l:birthDate rdfs:label "date of birth" . l:birthPlace rdfs:label "place of birth" .
l:deathDate rdfs:label "date of death" .
:ann a l:Painter ; rdfs:label "Ann Ash" ; l:birthPlace :york ;
  l:birthDate "1901-02-03"^^xsd:date ; l:deathDate "1980-01-01"^^xsd:date .
:bo a l:Painter ; rdfs:label "Bo Birch" ; l:birthPlace :lyon ;
  l:birthDate "1911-02-03"^^xsd:date ; l:deathDate "1990-01-01"^^xsd:date .
:york a l:Town ; rdfs:label "York" . :lyon a l:Town ; rdfs:label "Lyon" .
"""


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("When and where was Ann Ash born?", {"1901-02-03", "york"}),
        ("When was Ann Ash born and where?", {"1901-02-03", "york"}),
        ("Where and when was Ann Ash born?", {"1901-02-03", "york"}),
        ("When was Ann Ash born?", {"1901-02-03"}),
        ("Where was Ann Ash born?", {"york"}),
    ],
)
def test_two_question_words_ask_for_two_values_of_one_thing(question: str, row: set[str]) -> None:
    store = Store()
    store.load(BIRTHS.encode(), RdfFormat.TURTLE)
    assert answer(Known(store), question) == {" ".join(sorted(row))}


CREWS = """
@prefix : <https://crews.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

:Person rdfs:label "person" . :Agency rdfs:label "agency" . :Island rdfs:label "island" .
:Voyage rdfs:label "voyage" . :Crew rdfs:label "crew membership" .
:of rdfs:label "voyage" . :who rdfs:label "crew member" . :agency rdfs:label "agency" .
:from rdfs:label "from" . :to rdfs:label "to" . :goal rdfs:label "sailed to" .
:North a :Agency ; rdfs:label "North" . :South a :Agency ; rdfs:label "South" .
:Ann a :Person ; rdfs:label "Ann Bell" . :Bob a :Person ; rdfs:label "Bob Cole" .
:Cyd a :Person ; rdfs:label "Cyd Dorn" . :Iona a :Island ; rdfs:label "Iona" .
:Skye a :Island ; rdfs:label "Skye" .
:v1 a :Voyage ; rdfs:label "Aurora 1" ; :agency :North ; :goal :Iona .
:v2 a :Voyage ; rdfs:label "Aurora 2" ; :agency :North ; :goal :Skye .
:v3 a :Voyage ; rdfs:label "Boreas 1" ; :agency :South ; :goal :Skye .
:c1 a :Crew ; :of :v1 ; :who :Ann ; :from "1990-01-01"^^xsd:date ; :to "1990-02-01"^^xsd:date .
:c2 a :Crew ; :of :v2 ; :who :Ann ; :from "1991-01-01"^^xsd:date ; :to "1991-03-01"^^xsd:date .
:c3 a :Crew ; :of :v2 ; :who :Bob ; :from "1991-01-01"^^xsd:date ; :to "1991-02-15"^^xsd:date .
:c4 a :Crew ; :of :v3 ; :who :Cyd ; :from "1992-01-01"^^xsd:date ; :to "1992-02-16"^^xsd:date .
"""


@pytest.mark.parametrize(
    ("question", "language", "row"),
    [
        ("When did Bob Cole return from Aurora 2?", "en", "1991-02-15"),
        ("When did Ann Bell leave Aurora 2?", "en", "1991-03-01"),
        ("When was Cyd Dorn on Boreas 1?", "en", "1992-01-01"),
        ("Wann ist Bob Cole von Aurora 2 zurückgekehrt?", "de", "1991-02-15"),
        ("¿Cuándo volvió Bob Cole de Aurora 2?", "es", "1991-02-15"),
        ("Quand Bob Cole est-il revenu de Aurora 2 ?", "fr", "1991-02-15"),
    ],
)
def test_a_verb_of_ending_asks_for_the_end_of_a_span(
    question: str, language: str, row: str
) -> None:
    best = clusters(crews().proposal(question, language).candidates)[0].best
    rows = crews().rows(crews().query(best.query))
    assert not isinstance(rows, bool)
    assert [str(one[-1]).split('"')[1] for one in rows] == [row]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many people sailed on Aurora 2?", {"2"}),
        ("Which voyages sailed to Skye?", {"v2", "v3"}),
        ("What are the voyages of the agency with the most voyages?", {"v1", "v2"}),
        ("How many voyages has the agency with the most voyages?", {"2"}),
        ("Who was the first person on a voyage?", {"Ann"}),
    ],
)
def test_a_verb_is_not_taken_for_one_with_another_preposition(
    question: str, rows: set[str]
) -> None:
    assert answer(crews(), question) == rows


@cache
def crews() -> Known:
    """Voyages with crews: who sailed on which of them, from when to when."""
    store = Store()
    store.load(CREWS.encode(), RdfFormat.TURTLE)
    return Known(store)


def test_names_in_a_row_need_no_comma() -> None:
    staff = """
    @prefix : <https://staff.example/> .
    :a a :Clerk ; :firstName "Ann" ; :middleName "B" ; :lastName "Cole" .
    :b a :Clerk ; :firstName "Eve" ; :middleName "F" ; :lastName "Gray" .
    """
    known = Known(store_of(staff))
    question = "List the first name middle name and last name of all clerks."
    best = clusters(known.proposal(question).candidates)[0].best
    assert len(best.columns) == 3


FIRMS = """
@prefix : <https://firm.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:City rdfs:label "city"@en, "Stadt"@de, "ciudad"@es, "ville"@fr .
:Country rdfs:label "country"@en, "Land"@de, "país"@es, "pays"@fr .
:seat rdfs:label "based in"@en, "Sitz"@de, "sede"@es, "siège"@fr .
:f a :Firm ; rdfs:label "Acme" ; :seat :ulm . :g a :Firm ; rdfs:label "Bolt" ; :seat :lyon .
:ulm a :City ; rdfs:label "Ulm" ; :within :de . :lyon a :City ; rdfs:label "Lyon" ; :within :fr .
:de a :Country ; rdfs:label "Germany" . :fr a :Country ; rdfs:label "France" .
"""
VALUES = """
@prefix : <https://firm.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:city rdfs:label "city"@en, "Stadt"@de, "ciudad"@es, "ville"@fr .
:country rdfs:label "country"@en, "Land"@de, "país"@es, "pays"@fr .
:f a :Firm ; rdfs:label "Acme" ; :city "Ulm" ; :country "Germany" .
:g a :Firm ; rdfs:label "Bolt" ; :city "Lyon" ; :country "France" .
"""


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("In which city and in which country is Acme based?", "en"),
        ("Which city and which country is Acme based in?", "en"),
        ("In welcher Stadt und in welchem Land hat Acme den Sitz?", "de"),
        ("¿En qué ciudad y en qué país está la sede de Acme?", "es"),
        ("Dans quelle ville et dans quel pays se trouve le siège de Acme ?", "fr"),
    ],
)
@pytest.mark.parametrize("turtle", [FIRMS, VALUES])
def test_what_is_asked_again_in_the_same_way_is_shown_beside_the_first(
    question: str, language: str, turtle: str
) -> None:
    known = Known(store_of(turtle))
    best = clusters(known.proposal(question, language).candidates)[0].best
    rows = known.rows(known.query(best.query))
    assert not isinstance(rows, bool)
    [(city, country)] = rows
    assert "ulm" in str(city).lower()
    assert str(country).endswith(("/de>", '"Germany"'))


@pytest.mark.parametrize(
    ("question", "language", "columns"),
    [
        ("List all missions before 1960 with their launch vehicle", "en", "mission launch_vehicle"),
        (
            "Astronauts born before 1930 with their birth date and nationality",
            "en",
            "astronaut birth_date nationality",
        ),
        ("Liste alle Missionen zur Venus mit ihrer Trägerrakete", "de", "mission launch_vehicle"),
    ],
)
def test_with_their_asks_for_more_columns(
    question: str, language: str, columns: str, space: Known
) -> None:
    best = clusters(space.proposal(question, language).candidates)[0].best
    names = [name.value for name, _ in best.query.columns]
    assert names == columns.split()


SHELVES = """
@prefix : <https://books.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Book rdfs:label "book"@en, "Buch"@de .
:b1 a :Book ; rdfs:label "Sea"@en, "Aal"@de .
:b2 a :Book ; rdfs:label "Ash"@en, "Ufer"@de .
:b3 a :Book ; rdfs:label "Fog"@en, "Nebel"@de .
:b4 a :Book .
"""


@pytest.mark.parametrize(
    ("question", "language", "ends"),
    [
        ("List the books in alphabetical order.", "en", ["b2", "b3", "b1"]),
        ("List the books in reverse alphabetical order.", "en", ["b1", "b3", "b2"]),
        ("alle Bücher in alphabetischer Reihenfolge", "de", ["b1", "b3", "b2"]),
        ("list the books sorted by name", "en", ["b2", "b3", "b1"]),
    ],
)
def test_things_are_sorted_by_their_labels_in_one_language(
    question: str, language: str, ends: list[str]
) -> None:
    known = Known(store_of(SHELVES))
    query = known.query(clusters(known.proposal(question, language).candidates)[0].best.query)
    rows = known.rows(query)
    assert not isinstance(rows, bool)
    named = [text(str(row[0])) for row in rows]
    assert [one for one in named if one != "b4"] == ends and "b4" in named
    assert "sorted by label" in in_words(query, {}, language="en")
