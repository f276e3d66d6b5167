"""What a question is about, as its benchmark knows it."""

from askgraph.evaluation.gold.links import gold_links
from askgraph.evaluation.questions import GoldQuestion

PREFIXES = {"": "http://e/"}
QUERY = "SELECT ?m { ?m :orbits :Mars ; a :Moon }"


def test_they_are_those_of_the_gold_query_things_first() -> None:
    found = gold_links(GoldQuestion("q", "Moons?", sparql=QUERY), prefixes=PREFIXES)

    assert found == ("http://e/Mars", "http://e/Moon", "http://e/orbits")


def test_what_the_benchmark_itself_names_goes_before_the_query() -> None:
    named = GoldQuestion("q", "Moons?", sparql=QUERY, entities=("e:Mars",), predicates=("e:o",))

    assert gold_links(named, prefixes=PREFIXES) == ("e:Mars", "e:o")


def test_without_gold_there_is_none() -> None:
    assert gold_links(GoldQuestion("q", "Moons?", unanswerable=True)) == ()
