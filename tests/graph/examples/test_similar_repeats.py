"""Only the same question is a repeat; a similar one is another question."""

import pytest

from askgraph.graph.examples import Confirmation, Origin, QueryExample, Wording, confirmed_repeat


def example(
    text: str,
    language: str | None = "en",
    *,
    origin: Origin = "confirmed",
    when: str = "2026-01-01",
) -> QueryExample:
    known = Confirmation(when, "g", "v", 1)
    return QueryExample(text, f"ASK {{ }} # {when}", language, origin=origin, confirmation=known)


MOONS = example("Which moons has Mars?")


@pytest.mark.parametrize(
    "text",
    [
        "Which moons has Mars?",
        "which  moons has MARS",
        "Which moons has Mars ?!",
        "Which moons has Mars？",
    ],
)
def test_letter_case_space_and_final_punctuation_do_not_count(text: str) -> None:
    assert confirmed_repeat(text, "en", [MOONS]) is MOONS


@pytest.mark.parametrize(
    "text", ["Which moon has Mars?", "Which moons has Mars today?", "Has Mars which moons?", "?"]
)
def test_other_words_are_another_question(text: str) -> None:
    assert confirmed_repeat(text, "en", [MOONS]) is None


@pytest.mark.parametrize(("asked", "found"), [("en-GB", True), (None, True), ("de", False)])
def test_the_language_has_to_be_the_same_where_it_is_known(asked: str | None, found: bool) -> None:
    assert (confirmed_repeat("Which moons has Mars?", asked, [MOONS]) is MOONS) is found


def test_every_wording_is_a_way_to_ask() -> None:
    other = QueryExample(
        "a", "ASK { }", "en", (Wording("Welche Monde?", "de"),), origin="confirmed"
    )
    assert confirmed_repeat("welche Monde", "de", [other]) is other


@pytest.mark.parametrize("origin", ["written", "generated"])
def test_what_nobody_confirmed_is_not_repeated(origin: Origin) -> None:
    assert confirmed_repeat("Why?", "en", [example("Why?", origin=origin)]) is None


def test_of_several_the_one_confirmed_last_counts() -> None:
    old, new = example("Why?", when="2025-01-01"), example("Why?", when="2026-06-01")
    assert confirmed_repeat("Why?", "en", [new, old]) is new
