"""A question becomes tokens that lie where its words lie."""

import time

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.search.tokenize import tokenize

LANGUAGES = {
    "Which moons does the planet have?": "en",
    "Welche Monde hat der Planet?": "de",
    "¿Qué lunas tiene el planeta?": "es",
    "Quelles sont les lunes de la planète ?": "fr",
}


def words(text: str, language: str | None = None) -> list[str]:
    return [token.text for token in tokenize(text, language).tokens]


@settings(deadline=None)
@given(text=st.text(), language=st.none() | st.text(max_size=5))
@example(text="Curie's O’Brien's 's ’s", language=None)
@example(text="İstanbul's ß ŉ ﬁ", language=None)
@example(text="3.5.7,,8 1,000.50 ½ ² 1st 1990s", language="en")
@example(text="\ud800 'a \"b «c", language=None)
def test_any_text_is_read_and_its_tokens_cut_it_exactly(text: str, language: str | None) -> None:
    reading = tokenize(text, language)
    assert reading.text == text
    last = 0
    for token in reading.tokens:
        assert text[token.start : token.end] == token.text != ""
        assert token.start >= last
        last = token.end
        assert token.folded and token.stem
    assert all(0 <= at < len(reading.tokens) for at in reading.genitives)


@settings(deadline=None)
@given(text=st.text())
def test_quantities_never_overlap_and_lie_among_the_tokens(text: str) -> None:
    reading = tokenize(text)
    taken = [at for quantity in reading.quantities for at in quantity.positions]
    assert taken == sorted(set(taken))
    assert all(0 <= at < len(reading.tokens) for at in taken)


DATED = "1 2 15 31 1990 2021-05-06 1,000 3.5 million May März mayo of de the two zwei second 90s"


@settings(deadline=None)
@given(pieces=st.lists(st.sampled_from(DATED.split()), max_size=10))
def test_quantities_of_any_mixture_of_numbers_never_overlap(pieces: list[str]) -> None:
    reading = tokenize(" ".join(pieces))
    taken = [at for quantity in reading.quantities for at in quantity.positions]
    assert taken == sorted(set(taken))
    assert all(0 <= at < len(reading.tokens) for at in taken)
    for quantity in reading.quantities:
        assert quantity.value is not None or quantity.days is not None
        assert quantity.days is None or quantity.days[0] <= quantity.days[1]


@for_each("text", LANGUAGES)
def test_the_language_is_told_by_the_function_words(text: str) -> None:
    assert tokenize(text).language == LANGUAGES[text]


@for_each(
    ("given", "used"), [("de", "de"), ("de-AT", "de"), ("FR", "fr"), ("ja", "en"), ("", "en")]
)
def test_a_given_language_is_used_english_where_there_is_no_list(given: str, used: str) -> None:
    assert tokenize("Which moons are there?", given).language == used


def test_words_and_numbers_are_parted_but_not_ordinals_and_decades() -> None:
    assert words("A380 in the 3rd hall since the 1990s, 1,000 or 3.5km") == [
        *("A", "380", "in", "the", "3rd", "hall", "since", "the", "1990s", "1,000", "or"),
        *("3.5", "km"),
    ]


@for_each("quoted", ['"the end"', "“the end”", "„the end“", "«the end»", "'the end'", "‘the end’"])
def test_words_in_quotation_marks_are_no_function_words(quoted: str) -> None:
    reading = tokenize(f"Is {quoted} the end?")
    assert [token.text for token in reading.tokens] == ["Is", "the", "end", "the", "end"]
    assert [token.quote for token in reading.tokens] == [None, 0, 0, None, None]
    assert [reading.is_stop(at) for at in range(5)] == [True, False, False, True, False]


def test_an_apostrophe_is_no_quotation_mark() -> None:
    reading = tokenize("Is O'Brien's house near Mary's?")
    assert all(token.quote is None for token in reading.tokens)


def test_who_owns_something_is_marked() -> None:
    reading = tokenize("Is Anna's house Mary’s?")
    assert {reading.tokens[at].text for at in reading.genitives} == {"Anna", "Mary"}


def test_a_very_long_text_is_cut_and_says_so() -> None:
    assert not tokenize("moon " * 120).is_truncated
    assert len(tokenize("moon " * 120).tokens) == 120
    assert tokenize("moon " * 121).is_truncated
    assert len(tokenize("moon " * 10_000).tokens) == 120


@for_each(
    "text",
    ["1e" * 50_000, "abc1" * 25_000, "a" * 100_000, '"' * 100_000, "1969-07-20 " * 9_000]
    + [mark * 100_000 for mark in "«“„‘"],
)
def test_of_a_monstrous_question_only_the_first_words_are_read(text: str) -> None:
    began = time.process_time()
    reading = tokenize(text)

    assert len(reading.tokens) <= 120
    assert time.process_time() - began < 5


def test_a_minus_belongs_to_the_number_right_behind_it() -> None:
    values = [x.value for x in tokenize("from -10 to 20-30, below -5 or 3 -2").quantities]
    assert values == [-10, 20, 30, -5, 3, 2]


@for_each(
    ("text", "said"),
    ("Show the launch sites on a map", "show launch sites"),
    ("Zeige die Startplätze auf einer Karte", "Zeige Startplätze"),
    ("Montrez les sites de lancement sur une carte", "Montrez sites lancement"),
    ("Muestra los sitios de lanzamiento en un mapa", "Muestra sitios lanzamiento"),
    ("What is the scale of the map?", "scale map"),
    ("On a map", "map"),
)
def test_last_words_that_want_a_map_say_nothing_of_what_is_asked(text: str, said: str) -> None:
    reading = tokenize(text)
    kept = [word.text for at, word in enumerate(reading.tokens) if not reading.is_stop(at)]
    assert set(said.casefold().split()[1:]) <= {word.casefold() for word in kept}
    assert ("map" in said) == any(word in ("map", "Karte", "carte", "mapa") for word in kept)
    assert reading.is_map_request == ("map" not in said)
