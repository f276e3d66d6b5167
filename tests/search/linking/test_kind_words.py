"""What kind of thing the name of a class or predicate means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.search.linking.kind_words import (
    head_of,
    kind_words,
    kinds_of_names,
    signs_in,
)

KINDS = {"persons", "bodies", "places", "times"}


@pytest.mark.parametrize(
    ("name", "language", "kind"),
    [
        ("launch site", "en", "places"),
        ("place of birth", "en", "places"),
        ("located in", "en", "places"),
        ("city_name", "", "places"),
        ("homeCity", "", "places"),
        ("Startplatz", "de", "places"),
        ("Ort der Geburt", "de", "places"),
        ("sitio de lanzamiento", "es", "places"),
        ("lieu de naissance", "fr", "places"),
        ("head teacher", "en", "persons"),
        ("Besatzungsmitglied", "de", "persons"),
        ("autor principal", "es", "persons"),
        ("chanteuse", "fr", "persons"),
        ("space agency", "en", "bodies"),
        ("agencia espacial", "es", "bodies"),
        ("date of birth", "en", "times"),
        ("fecha de nacimiento", "es", "times"),
    ],
)
def test_a_name_tells_the_kind_by_its_head(name: str, language: str, kind: str) -> None:
    assert kind in kinds_of_names([(name, language)])


@pytest.mark.parametrize("name", ["weight", "rocket", "country club member fee", "orbit", ""])
def test_a_name_of_something_else_tells_no_person(name: str) -> None:
    assert "persons" not in kinds_of_names([(name, "en")])


def test_what_a_name_is_of_is_not_its_head() -> None:
    assert "places" not in kinds_of_names([("mayor of the city", "en")])


def test_predicates_that_only_persons_have_are_signs_of_them() -> None:
    assert signs_in(frozenset({"date", "birth"})) == {"persons"}
    assert signs_in(frozenset({"latitude"})) == {"places"}
    assert not signs_in(frozenset({"weight"}))


@given(st.text(max_size=30), st.sampled_from(["", "en", "de", "es", "fr"]))
def test_any_text_has_a_head_and_kinds_of_the_lists(text: str, language: str) -> None:
    assert isinstance(head_of(text, language), str)
    assert kinds_of_names([(text, language)]) <= KINDS


def test_each_list_has_words() -> None:
    words = kind_words()
    assert set().union(*words.stems.values()) == KINDS
    assert all(words.endings.values()) and all(words.signs.values())
