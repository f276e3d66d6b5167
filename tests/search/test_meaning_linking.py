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
        IndexedName("married", '"married"', ItemKind.VALUE),
    ]
)


@for_each(
    ("question", "language", "target"),
    [
        ("What is the remuneration of Orla Quinn?", "en", "http://x/salary"),
        ("Was ist das Gehalt von Orla Quinn?", "de", "http://x/salary"),
        ("¿Cuál es la remuneración de Orla Quinn?", "es", "http://x/salary"),
        ("Quelle est la rémunération de Orla Quinn ?", "fr", "http://x/salary"),
        ("Welche Ärzte gibt es?", "de", "http://x/Physician"),
        ("¿Qué médicos hay?", "es", "http://x/Physician"),
        ("Welche Gäste sind verheiratet?", "de", '"married"'),
    ],
)
def test_words_are_linked_to_names_of_similar_meaning(
    question: str, language: str, target: str
) -> None:
    links = [link for link in link_text(question, language, NAMES).links if link.target == target]

    assert links
    assert all(0.5 < link.score < 0.75 for link in links)


def test_spelled_words_and_words_without_a_meaning_here_get_no_link() -> None:
    linked = link_text("What is the salary of Orla Quinn in Qwertzia?", "en", NAMES)

    assert {link.target for link in linked.links} == {"http://x/salary", "http://x/Orla"}
    assert not link_text("Which recipes use basil?", "en", NAMES).links


def test_links_by_meaning_can_be_left_out() -> None:
    question = "Welche Gäste sind verheiratet?"

    assert link_text(question, "de", NAMES).links
    assert not link_text(question, "de", NAMES, without=["vectors"]).links


@pytest.mark.parametrize("method", ["graph-search", "guided"])
def test_the_setting_of_an_embedding_model_names_its_last_version(method: str) -> None:
    text = explain_removal(f"setting of method '{method}'", "meanings")
    assert "askgraph 0.2 was the last version" in text
