"""Words of IRIs and the choice among labels."""

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.sparql.prefixes import build_language_chain, choose_label, split_local_name


@for_each(
    ("iri", "words"),
    ("http://x/ship#disposition_of_ship", "disposition of ship"),
    ("http://x/parentFeature", "parent feature"),
    ("http://x/HTTPServer2", "HTTP server 2"),
    ("http://x/Q42", "Q42"),
    ("http://x/p2", "p2"),
    ("http://x/New_York", "New York"),
    ("http://x/Dr.%20Curie", "Dr. Curie"),
    ("http://x/Berlin", "Berlin"),
    ("http://x/singer/singer_id=8", "singer id 8"),
    ("http://x/company/we42.ttl#this", "we 42"),
    ("http://x/東京駅", "東京駅"),
    ("http://x/%E6%9D%B1%E4%BA%AC", "東京"),
    ("http://x/großeStraße", "große straße"),
    ("http://x/2ndPlace", "2nd place"),
    ("http://x/3DModel", "3D model"),
    ("http://x/URIs", "URIs"),
    ("http://x/iPhone", "iPhone"),
    ("urn:isbn:123", "123"),
    ("http://x/", "x"),
    ("", ""),
)
def test_an_iri_is_split_into_words(iri: str, words: str) -> None:
    assert split_local_name(iri) == words


@given(st.text())
def test_any_text_gives_words_without_leading_or_trailing_space(text: str) -> None:
    assert split_local_name("http://x/" + text)


LABELS = [("Moon", "en"), ("Mond", "de"), ("Måne", "da"), ("Mond AT", "de-at"), ("Luna", None)]


@for_each(
    ("labels", "languages", "label"),
    (LABELS, ["de"], "Mond"),
    (LABELS, ["de-AT"], "Mond AT"),
    (LABELS, ["de-CH"], "Mond"),
    (LABELS, ["fr", "da"], "Måne"),
    (LABELS, ["fr"], "Luna"),
    (LABELS, [], "Luna"),
    ([("Colour", "en-GB"), ("Farbe", "de")], ["en"], "Colour"),
    ([("b", None), ("a", "mul")], ["fr"], "a"),
    ([("c", "it"), ("d", "en")], ["fr"], "d"),
    ([("c", "it"), ("d", "es")], ["fr"], "c"),
    ([("  ", "en")], ["en"], None),
)
def test_the_label_in_the_best_language_is_taken(
    labels: list[tuple[str, str | None]], languages: list[str], label: str | None
) -> None:
    assert choose_label(labels, languages) == label


def test_the_chain_names_each_language_once() -> None:
    assert build_language_chain(["de-AT", "de"]) == ("de-at", "de", "mul", "", "en")
