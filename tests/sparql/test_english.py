"""English inflection: plurals, verb forms and articles."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.sparql import english

PLURALS = """moon moons, agency agencies, launch launches, person people, spacecraft spacecraft,
cars cars, axis axes, thesis theses, child children, bus buses, analysis analyses, matrix matrices,
woman women, human humans, shelf shelves, radius radii, mother-in-law mothers-in-law, quiz quizzes,
hero heroes, photo photos, lens lenses, status statuses, criterion criteria, day days,
series series, Wife Wives"""


@for_each(("word", "plural"), [tuple(pair.split()) for pair in PLURALS.split(",")])
def test_a_noun_has_its_plural(word: str, plural: str) -> None:
    assert english.pluralize(word) == plural


def test_the_noun_before_a_preposition_has_the_plural() -> None:
    assert english.pluralize("point of departure") == "points of departure"


@for_each(
    ("change", "word", "changed"),
    (english.singularize, "moons", "moon"),
    (english.singularize, "cities", "city"),
    (english.singularize, "bus", "bus"),
    (english.singularize, "axes", "axis"),
    (english.singularize, "hypotheses", "hypothesis"),
    (english.singularize, "Children", "Child"),
    (english.add_article, "age", "an age"),
    (english.add_article, "radius", "a radius"),
    (english.add_article, "university", "a university"),
    (english.lower_first_letter, "Launch site", "launch site"),
    (english.lower_first_letter, "GDP", "GDP"),
    (english.to_infinitive, "carries", "carry"),
    (english.to_infinitive, "teaches", "teach"),
    (english.to_infinitive, "causes", "cause"),
    (english.to_participle, "ship", "shipped"),
    (english.to_participle, "write", "written"),
    (english.to_participle, "transfer", "transferred"),
    (english.to_past, "written", "wrote"),
    (english.to_past, "founded", "founded"),
    (english.past_to_participle, "wrote", "written"),
)
def test_words_have_other_forms(change: Callable[[str], str], word: str, changed: str) -> None:
    assert change(word) == changed


def test_nouns_that_end_like_participles_are_none() -> None:
    assert [
        w
        for w in "founded built speed bed located seed red".split()
        if english.is_past_participle(w)
    ] == ["founded", "built", "located"]


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=12))
def test_a_plural_stays_as_it_is(word: str) -> None:
    assert english.pluralize(english.pluralize(word)) == english.pluralize(
        word
    ) or not english.is_plural(english.pluralize(word))
