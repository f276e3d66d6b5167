"""English inflection: plurals, verb forms and articles."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.sparql.english import (
    add_article,
    is_past_participle,
    is_plural,
    lower_first_letter,
    past_to_participle,
    pluralize,
    singularize,
    to_infinitive,
    to_participle,
    to_past,
)

PLURALS = """moon moons, agency agencies, launch launches, person people, spacecraft spacecraft,
cars cars, axis axes, thesis theses, child children, bus buses, analysis analyses, matrix matrices,
woman women, human humans, shelf shelves, radius radii, mother-in-law mothers-in-law, quiz quizzes,
hero heroes, photo photos, lens lenses, status statuses, criterion criteria, day days,
series series, Wife Wives"""


@for_each(("word", "plural"), [tuple(pair.split()) for pair in PLURALS.split(",")])
def test_a_noun_has_its_plural(word: str, plural: str) -> None:
    assert pluralize(word) == plural


def test_the_noun_before_a_preposition_has_the_plural() -> None:
    assert pluralize("point of departure") == "points of departure"


@for_each(
    ("change", "word", "changed"),
    [
        (singularize, "moons", "moon"),
        (singularize, "cities", "city"),
        (singularize, "bus", "bus"),
        (singularize, "axes", "axis"),
        (singularize, "hypotheses", "hypothesis"),
        (singularize, "Children", "Child"),
        (add_article, "age", "an age"),
        (add_article, "radius", "a radius"),
        (add_article, "university", "a university"),
        (lower_first_letter, "Launch site", "launch site"),
        (lower_first_letter, "GDP", "GDP"),
        (to_infinitive, "carries", "carry"),
        (to_infinitive, "teaches", "teach"),
        (to_infinitive, "causes", "cause"),
        (to_participle, "ship", "shipped"),
        (to_participle, "write", "written"),
        (to_participle, "transfer", "transferred"),
        (to_past, "written", "wrote"),
        (to_past, "founded", "founded"),
        (past_to_participle, "wrote", "written"),
    ],
)
def test_words_have_other_forms(change: Callable[[str], str], word: str, changed: str) -> None:
    assert change(word) == changed


def test_nouns_that_end_like_participles_are_none() -> None:
    assert [
        w for w in "founded built speed bed located seed red".split() if is_past_participle(w)
    ] == ["founded", "built", "located"]


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=12))
def test_a_plural_stays_as_it_is(word: str) -> None:
    assert pluralize(pluralize(word)) == pluralize(word) or not is_plural(pluralize(word))
