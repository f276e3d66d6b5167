"""Questions over a graph with the raw names of a database, in which a key refers and is a value."""

import pytest
from pyoxigraph import RdfFormat, Store
from tests.search.asking import Known

from askgraph.search.rank import clusters

GRAPH = """
@prefix : <https://port.example/raw#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

:ships_1 a :ships ; :ship_id 11 ; :ship_name "Alba" ; :built_year 1990 ; :flag "Malta" .
:ships_2 a :ships ; :ship_id 12 ; :ship_name "Bora" ; :built_year 1990 ; :flag "Panama" .
:ships_3 a :ships ; :ship_id 13 ; :ship_name "Cora" ; :built_year 1995 ; :flag "Malta" .
:captains_1 a :captains ; :captain_id 1 ; :ship_id :ships_1 ; :first_name "Ann" ;
    :last_name "Ash" ; :rank "mate" ; :points 5 ; :date_joined "2001-01-01"^^xsd:date .
:captains_2 a :captains ; :captain_id 2 ; :ship_id :ships_1 ; :first_name "Ben" ;
    :last_name "Birk" ; :rank "mate" ; :points 7 ; :date_joined "2002-01-01"^^xsd:date .
:captains_3 a :captains ; :captain_id 3 ; :ship_id :ships_2 ; :first_name "Cid" ;
    :last_name "Clay" ; :rank "lord" ; :points 9 ; :date_joined "2003-01-01"^^xsd:date .
:ports_1 a :ports ; :port_id 11 ; :ship_id :ships_3 ; :tons 40 .
"""

ASKED = [
    ("How many captains does each ship have? List the number and ship id.", {"11 2", "12 1"}),
    ("Count the number of captains for each ship id.", {"11 2", "12 1"}),
    ("Which ships have no captain? Show the ship id.", {"13"}),
    ("How many ships are free of captains?", {"1"}),
    ("How many different captain ranks are there?", {"2"}),
    ("How many different kinds of flags are there?", {"2"}),
    ("What are the first and last names of all captains?", {"Ann Ash", "Ben Birk", "Cid Clay"}),
    ("Which rank has the most captains?", {"mate"}),
    ("Which ranks have more than one captain?", {"mate"}),
    ("In which year were most of the ships built?", {"1990"}),
    ("Return the maximum number of points of captains.", {"9"}),
    ("What are the flags that ships with captains of rank lord have?", {"Panama"}),
]


@pytest.fixture(scope="module")
def port() -> Known:
    store = Store()
    store.load(GRAPH, RdfFormat.TURTLE)
    return Known(store)


@pytest.mark.parametrize(("question", "rows"), ASKED)
def test_the_best_query_shows(port: Known, question: str, rows: set[str]) -> None:
    best = clusters(port.proposal(question, "en").candidates)[0].best
    found = port.rows(port.query(best.query))

    assert not isinstance(found, bool)
    values = [[str(cell).partition("^^")[0].strip('"') for cell in row] for row in found]
    told = {" ".join(value for value in row if not value.startswith("<")) for row in values}
    assert told == rows
