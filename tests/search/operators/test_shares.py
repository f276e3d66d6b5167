"""Shares in percent: of all of a class, and of the sum of a number."""

import pytest
from pyoxigraph import RdfFormat, Store
from tests.each import for_each
from tests.search.asking import Known
from tests.search.question_files import graph_named

from askgraph.explanation import in_words
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


@for_each(
    ("question", "language", "text"),
    [
        (
            "What percentage of the companies are in Germany?",
            "en",
            "The number of companies whose country is Germany "
            "as a percentage of the number of companies.",
        ),
        (
            "What share of the total revenue is Acme's?",
            "en",
            "The total revenue of Acme as a percentage of the total revenue of the companies.",
        ),
        (
            "What share of the total revenue does each company have?",
            "en",
            "The total revenue for each company as a percentage of "
            "the total revenue of the companies.",
        ),
        (
            "Welchen Anteil am Umsatz hat Acme?",
            "de",
            "Summe für revenue von Acme, in Prozent von: Summe für revenue der Companys.",
        ),
        (
            "¿Qué porcentaje de los ingresos totales es de Acme?",
            "es",
            "Suma de revenue de Acme como porcentaje de suma de revenue de companyes.",
        ),
        (
            "Quelle part des recettes totales vient de Acme ?",
            "fr",
            "Total de revenue d’Acme en pourcentage de total de revenue de companys.",
        ),
    ],
)
def test_a_share_is_read_as_such(shop: Known, question: str, language: str, text: str) -> None:
    labels = {f"https://shop.example/{key}": name for key, name in _NAMES.items()}
    assert in_words(best(shop, question, language), labels, language=language) == text


_NAMES = {"a": "Acme", "de": "Germany"}
