"""Which columns of a query answer, and which are context."""

import pytest
from pyoxigraph import QuerySolutions
from tests.each import for_each
from tests.graphs import store_of
from tests.readings import read_table
from tests.search.asking import Known

from askgraph.search.pipeline import link_text
from askgraph.search.rank.expected_answer_type import choose_answer_columns, derive_expected_answer
from askgraph.sparql.results import SelectResult

PREFIXES = """\
PREFIX : <https://example.org/space/>
PREFIX ont: <https://example.org/space/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX shop: <https://example.org/shop/>
"""

SHOPS = """\
@prefix shop: <https://example.org/shop/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
shop:North a shop:Shop ; rdfs:label "North Shop" .
shop:South a shop:Shop ; rdfs:label "South Shop" .
shop:a a shop:Report ; shop:ofShop shop:North ; shop:inYear shop:y1 ; shop:sales 12 .
shop:b a shop:Report ; shop:ofShop shop:South ; shop:inYear shop:y1 ; shop:sales 15 .
shop:c a shop:Report ; shop:ofShop shop:South ; shop:inYear shop:y2 ; shop:sales 17 .
shop:y1 a shop:Year ; rdfs:label "first year" .
shop:y2 a shop:Year ; rdfs:label "last year" .
"""


@pytest.fixture(scope="module")
def shops() -> Known:
    return Known(store_of(SHOPS))


def chosen(graph: Known, question: str, query: str) -> tuple[str, ...]:
    expected = derive_expected_answer(link_text(question, None, graph.names))
    result = graph.store.query(PREFIXES + query)
    assert isinstance(result, QuerySolutions)
    names = tuple(variable.value for variable in result.variables)
    rows = tuple(tuple(row) for row in result)
    return choose_answer_columns(
        expected, PREFIXES + query, SelectResult(names, rows), graph.profile
    )


@for_each(("question", "query", "columns"), read_table(__file__, "expected_columns.txt"))
def test_columns_asked_for_answer(space: Known, question: str, query: str, columns: str) -> None:
    assert chosen(space, question, query) == tuple(columns.split())


ALL = "SELECT ?shop ?node ?sales { ?node shop:ofShop ?shop ; shop:sales ?sales }"


def test_of_the_sales_of_the_shops_the_values_answer(shops: Known) -> None:
    assert chosen(shops, "What are the sales of the shops?", ALL) == ("sales",)


def test_a_node_between_answers_where_it_is_asked_for(shops: Known) -> None:
    assert "node" in chosen(shops, "Which reports are there?", ALL)
    assert chosen(shops, "Which shops have sales?", ALL) == ("shop",)


def test_all_columns_of_a_query_that_cannot_be_read_answer(space: Known) -> None:
    expected = derive_expected_answer(link_text("Which moons are there?", None, space.names))
    result = SelectResult(("m", "n"), ())
    assert choose_answer_columns(expected, "SELECT {", result, space.profile) == ("m", "n")


def test_the_columns_of_a_long_chain_of_expressions_are_chosen(space: Known) -> None:
    steps = " ".join(f"BIND(CONCAT(?b{at}, ?b{at}) AS ?b{at + 1})" for at in range(60))
    query = PREFIXES + f"SELECT ?m ?b60 {{ ?m a ont:Moon ; rdfs:label ?b0 . {steps} }}"
    expected = derive_expected_answer(link_text("Which moons are there?", None, space.names))

    result = SelectResult(("m", "b60"), ())

    assert choose_answer_columns(expected, query, result, space.profile) == ("m",)
