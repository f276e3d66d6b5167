"""Words that no name spells are linked by meaning, in four languages."""

import pytest
from tests.each import for_each

from askgraph.index.names import IndexedName, ItemKind, NameIndex
from askgraph.plugins import explain_removal
from askgraph.search.pipeline import link_text

NAMES = NameIndex.from_names(
    [
        IndexedName("salary", "http://x/salary", ItemKind.PREDICATE),
        IndexedName("date of birth", "http://x/birth", ItemKind.PREDICATE),
        IndexedName("Physician", "http://x/Physician", ItemKind.CLASS),
        IndexedName("Orla Quinn", "http://x/Orla", ItemKind.ENTITY),
        IndexedName("Cuban iced drink", "http://x/CubanDrink", ItemKind.CLASS),
        IndexedName("Nobel peace prize", "http://x/peace", ItemKind.CLASS),
        IndexedName("Norway", '"Norway"', ItemKind.VALUE),
    ]
)


@for_each(
    ("question", "language", "target"),
    ("What is the remuneration of Orla Quinn?", "en", "http://x/salary"),
    ("Was ist die Vergütung von Orla Quinn?", "de", "http://x/salary"),
    ("¿Cuál es la remuneración de Orla Quinn?", "es", "http://x/salary"),
    ("Quelle est la rémunération de Orla Quinn ?", "fr", "http://x/salary"),
    ("Welche Mediziner gibt es?", "de", "http://x/Physician"),
)
def test_words_link_to_names_of_like_meaning(question: str, language: str, target: str) -> None:
    links = [link for link in link_text(question, language, NAMES).links if link.target == target]

    assert links
    assert all(0.5 < link.score <= 0.75 for link in links)


@for_each(
    ("question", "language", "target"),
    ("Welche kubanischen Getränke gibt es?", "de", "http://x/CubanDrink"),
    ("Quelles boissons cubaines y a-t-il ?", "fr", "http://x/CubanDrink"),
    ("Wann wurde der Friedensnobelpreis vergeben?", "de", "http://x/peace"),
    ("¿Qué puertos hay en Noruega?", "es", '"Norway"'),
)
def test_other_languages_find_english_names(question: str, language: str, target: str) -> None:
    linked = link_text(question, language, NAMES, without=["vectors"])

    assert target in {link.target for link in linked.links if link.quality > 0.8}


def test_spelled_words_and_words_without_a_meaning_here_get_no_link() -> None:
    linked = link_text("What is the salary of Orla Quinn in Qwertzia?", "en", NAMES)
    assert {link.target for link in linked.links} == {"http://x/salary", "http://x/Orla"}
    assert not link_text("Which recipes use basil?", "en", NAMES).links


def test_links_by_meaning_can_be_left_out() -> None:
    question = "Welche Mediziner gibt es?"
    assert link_text(question, "de", NAMES).links
    assert not link_text(question, "de", NAMES, without=["vectors"]).links


@for_each(("text", "is_linked"), ("Sopa", True), ("Sopa de la abuela con arroz", False))
def test_of_many_values_the_short_ones_are_linked(text: str, is_linked: bool) -> None:
    texts = [text, *(f"{n} eggs, beaten well" for n in range(2_001))]
    names = NameIndex.from_names(IndexedName(x, f'"{x}"', ItemKind.VALUE) for x in texts)
    links = link_text("How many soups are there?", "en", names).links
    assert [link.name for link in links] == ([text] if is_linked else [])


@pytest.mark.parametrize("method", ["graph-search", "guided"])
def test_the_setting_of_an_embedding_model_names_its_last_version(method: str) -> None:
    text = explain_removal(f"setting of method '{method}'", "meanings")
    assert "askgraph 0.2 was the last version" in text
