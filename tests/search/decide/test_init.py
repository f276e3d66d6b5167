"""Which readings are asked about, and in which words."""

from pyoxigraph import Literal, NamedNode

from askgraph.search.decide import choose_options
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer

MARS, VENUS, DEIMOS = (
    NamedNode(f"https://example.org/{name}") for name in ("Mars", "Venus", "Deimos")
)


def reading(words: str, *rows: tuple[NamedNode | Literal, ...], answers: str = "x") -> Answer:
    result = SelectResult(tuple("xyz"[: len(rows[0]) if rows else 1]), rows)
    return Answer(f"SELECT {words}", "space", result, tuple(answers), words, 0.4)


def yes_or_no(words: str, holds: bool) -> Answer:
    return Answer(f"ASK {words}", "space", SelectResult((), ()), (), words, 0.4, boolean=holds)


def test_each_option_starts_with_what_tells_it_apart_and_counts_its_rows() -> None:
    found = choose_options(
        [
            reading("the planets that were discovered by Galle", (MARS,)),
            reading("the planets that were seen by Galle", (MARS,), (VENUS,)),
        ]
    )
    assert [(one.words, one.count) for one in found] == [
        ("discovered: the planets that were discovered by Galle", 1),
        ("seen: the planets that were seen by Galle", 2),
    ]


def test_words_that_share_nothing_stay_as_they_are() -> None:
    found = choose_options([reading("moons of Mars", (DEIMOS,)), reading("planets", (VENUS,))])
    assert [one.words for one in found] == ["moons of Mars", "planets"]


def test_readings_that_differ_only_in_context_columns_are_not_asked_about() -> None:
    alone = reading("the moons", (DEIMOS,))
    assert choose_options([alone, reading("the moons and their planets", (DEIMOS, MARS))]) == ()


def test_readings_that_differ_only_in_order_are_not_asked_about() -> None:
    up = reading("the planets by mass", (MARS, VENUS), (VENUS, MARS), answers="xy")
    down = reading("the planets, the heaviest first", (VENUS, MARS), (MARS, VENUS), answers="xy")
    assert choose_options([up, down]) == ()


def test_readings_with_the_same_words_are_not_asked_about() -> None:
    one = reading("the mass of Mars", (Literal("1"),))
    assert choose_options([one, reading("The mass of Mars.", (Literal("2"),))]) == ()


def test_the_two_directions_of_a_relation_are_asked_about() -> None:
    one = reading("what Mars orbits", (DEIMOS,))
    other = reading("what orbits Mars", (VENUS,))
    assert [one.words for one in choose_options([one, other])] == [
        "what Mars orbits",
        "what orbits Mars",
    ]


def test_a_reading_without_rows_is_no_option() -> None:
    assert choose_options([reading("moons"), reading("planets", (MARS,))]) == ()


def test_yes_and_no_are_two_options_and_yes_twice_is_none() -> None:
    yes, no = yes_or_no("Mars has a moon", True), yes_or_no("Mars has a ring", False)
    again = yes_or_no("Mars has a satellite", True)
    assert [one.count for one in choose_options([yes, no])] == [1, 1]
    assert choose_options([yes, again]) == ()


def test_there_are_at_most_four_options() -> None:
    every = [reading(f"number {n}", (Literal(str(n)),)) for n in range(6)]
    assert [one.query for one in choose_options(every)] == [one.query for one in every[:4]]
