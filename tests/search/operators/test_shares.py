"""Shares in percent: of all of a class, and of the sum of a number."""

from collections.abc import Sequence

import pytest
from pyoxigraph import RdfFormat, Store
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.answers.verbalize import in_words
from askgraph.sample import graph_path
from askgraph.search.rank import clusters

SHOP = """
@prefix : <https://shop.example/> .
@prefix s: <https://shop.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

s:Company rdfs:label "company"@en, "Unternehmen"@de, "empresa"@es, "entreprise"@fr .
s:Sale rdfs:label "sale"@en, "Verkauf"@de, "venta"@es, "vente"@fr .
s:Product rdfs:label "product"@en, "Produkt"@de, "producto"@es, "produit"@fr .
s:revenue rdfs:label "revenue"@en, "Umsatz"@de, "ingresos"@es, "recettes"@fr .
s:seller rdfs:label "seller"@en, "Verkäufer"@de, "vendedor"@es, "vendeur"@fr .
s:amount rdfs:label "amount"@en, "Betrag"@de, "importe"@es, "montant"@fr .
s:item rdfs:label "item"@en, "Ware"@de, "artículo"@es, "article"@fr .
s:country rdfs:label "country"@en, "Land"@de, "país"@es, "pays"@fr .

:de a s:Country ; rdfs:label "Germany" . :fr a s:Country ; rdfs:label "France" .
:a a s:Company ; rdfs:label "Acme" ; s:revenue 100 ; s:country :de .
:b a s:Company ; rdfs:label "Bolt" ; s:revenue 300 ; s:country :de .
:c a s:Company ; rdfs:label "Cargo" ; s:revenue 600 ; s:country :fr .
:p a s:Product ; rdfs:label "Widget" . :q a s:Product ; rdfs:label "Gadget" .
:s1 a s:Sale ; s:seller :a ; s:item :p ; s:amount 30 .
:s2 a s:Sale ; s:seller :a ; s:item :q ; s:amount 70 .
:s3 a s:Sale ; s:seller :b ; s:item :p ; s:amount 100 .
:s4 a s:Sale ; s:seller :b ; s:item :q ; s:amount 200 .
:s5 a s:Sale ; s:seller :c ; s:item :p ; s:amount 100 .
"""


@pytest.fixture(scope="module")
def shop() -> Known:
    return Known(store_of(SHOP))


def best(known: Known, question: str, language: str) -> str:
    return known.query(clusters(known.proposal(question, language).candidates)[0].best.query)


def answer(known: Known, question: str, language: str = "en") -> list[float]:
    """The last column of the best candidate, sorted."""
    rows = known.rows(best(known, question, language))
    assert isinstance(rows, Sequence)
    return sorted(float((row[-1] or "").split("^^")[0].strip('"')) for row in rows)


@pytest.mark.parametrize(
    ("question", "language", "percent"),
    [
        ("What percentage of the companies are in Germany?", "en", 200 / 3),
        ("What share of the companies are in Germany?", "en", 200 / 3),
        ("Wie viel Prozent der Unternehmen sind in Germany?", "de", 200 / 3),
        ("¿Qué porcentaje de las empresas están en Germany?", "es", 200 / 3),
        ("Quel pourcentage des entreprises sont en Germany ?", "fr", 200 / 3),
        ("What percentage of companies have a revenue above 200?", "en", 200 / 3),
        ("What percentage of sales are Acme's?", "en", 40),
    ],
)
def test_a_share_of_a_class_is_in_percent_of_all(
    shop: Known, question: str, language: str, percent: float
) -> None:
    assert answer(shop, question, language) == [pytest.approx(percent)]


@pytest.mark.parametrize(
    ("question", "percent"),
    [
        ("What percentage of the companies in Germany have sold Widget?", 100),
        ("What percentage of companies with a revenue above 200 are in Germany?", 50),
    ],
)
def test_what_is_said_before_the_verb_restricts_the_whole_too(
    shop: Known, question: str, percent: float
) -> None:
    assert answer(shop, question) == [percent]


@pytest.mark.parametrize(
    ("question", "language", "percent"),
    [
        ("What share of the total revenue is Acme's?", "en", 10),
        ("What share of the revenue does Bolt have?", "en", 30),
        ("What is Acme's share of the total revenue?", "en", 10),
        ("What percentage of the total revenue comes from Germany?", "en", 40),
        ("What is the share of Germany in the total revenue of companies?", "en", 40),
        ("What share of Acme's sales amount comes from Widget?", "en", 30),
        ("What percentage of the amount of the sales of Acme is from Gadget?", "en", 70),
        ("Wie viel Prozent des Umsatzes kommen von Acme?", "de", 10),
        ("Welchen Anteil hat Acme am gesamten Umsatz?", "de", 10),
        ("Welchen Anteil am Umsatz hat Acme?", "de", 10),
        ("Welcher Anteil des Betrags der Verkäufe von Acme stammt von Widget?", "de", 30),
        ("¿Qué porcentaje de los ingresos totales es de Acme?", "es", 10),
        ("¿Qué parte del importe de las ventas de Acme corresponde a Widget?", "es", 30),
        ("Quelle part des recettes totales vient de Acme ?", "fr", 10),
        ("Quelle part du montant des ventes de Acme vient de Widget ?", "fr", 30),
    ],
)
def test_a_share_of_a_sum_is_in_percent_of_what_is_said_of_the_whole(
    shop: Known, question: str, language: str, percent: float
) -> None:
    assert answer(shop, question, language) == [percent]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What share of the total revenue does each company have?", "en"),
        ("Welchen Anteil am gesamten Umsatz hat jedes Unternehmen?", "de"),
        ("¿Qué porcentaje de los ingresos totales tiene cada empresa?", "es"),
        ("Quelle part des recettes totales a chaque entreprise ?", "fr"),
    ],
)
def test_each_has_its_share_of_the_sum_of_all(shop: Known, question: str, language: str) -> None:
    assert answer(shop, question, language) == [10, 30, 60]


def test_a_share_may_be_that_of_a_class_below() -> None:
    store = Store()
    store.bulk_load(graph_path().read_bytes(), RdfFormat.TURTLE)
    space = Known(store)
    query = best(space, "What percentage of the missions are crewed missions?", "en")
    assert "#CrewedMission>" in query and "#MissionType>" not in query
    assert space.rows(query) != []
    mass = best(space, "What share of the total mass of all planets is Jupiter's?", "en")
    assert "#Planet>" in mass and "Jupiter>" in mass and mass.count("SUM(") == 2


@pytest.mark.parametrize(
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
