"""Shares in percent: of all of a class, and of the sum of a number."""

import pytest
from pyoxigraph import RdfFormat, Store
from tests.each import for_each
from tests.readings import read_table
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.answers.verbalize import in_words
from askgraph.sample import graph_path


@pytest.fixture(scope="module")
def shop() -> Known:
    return graph_named("shop")


def best(known: Known, question: str, language: str) -> str:
    return known.best_query(question, language)


def test_a_share_may_be_that_of_a_class_below() -> None:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    space = Known(store)
    query = best(space, "What percentage of the missions are crewed missions?", "en")
    assert "#CrewedMission>" in query and "#MissionType>" not in query
    assert space.rows(query) != []
    mass = best(space, "What share of the total mass of all planets is Jupiter's?", "en")
    assert "#Planet>" in mass and "Jupiter>" in mass and mass.count("SUM(") == 2


@for_each(("question", "language", "text"), read_table(__file__, "shares_in_words.txt"))
def test_a_share_is_read_as_such(shop: Known, question: str, language: str, text: str) -> None:
    labels = {f"https://shop.example/{key}": name for key, name in _NAMES.items()}
    assert in_words(best(shop, question, language), labels, language=language) == text


_NAMES = {"a": "Acme", "de": "Germany"}
