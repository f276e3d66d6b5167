"""Readings about numbers: several aggregates at once, groups by their aggregates, extremes."""

import pytest
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known
from tests.search.question_files import graph_named, turtle_of

from askgraph.answers.verbalize import in_words
from askgraph.search.rank import clusters


@pytest.fixture(scope="module")
def known() -> Known:
    return graph_named("clubs")


def answer(known: Known, question: str, language: str = "en") -> set[tuple[str, ...]]:
    return {tuple(sorted(row)) for row in known.best_rows(question, language)}


def test_one_that_leads_alone_is_the_first_of_an_order() -> None:
    assert graph_named("lakes").best("Which is the largest lake?").tree.limit == 1


def test_numbers_that_are_stored_as_text_are_cast() -> None:
    text = (
        turtle_of("clubs")
        .replace("c:salary 100", 'c:salary "100"')
        .replace("c:salary 300", 'c:salary "300"')
    )
    for number in (500, 50, 60, 70):
        text = text.replace(f"c:salary {number}", f'c:salary "{number}"')
    store = store_of(text)
    known = Known(store)
    assert answer(known, "What is the average and maximum salary?") == {("180", "500")}
    assert answer(known, "Which club has the highest total salary?") == {("Bears",)}
    assert answer(known, "Which player has the highest salary?") == {("cho",)}
    proposal = known.proposal("What is the average salary of the players?")
    query = known.query(clusters(proposal.candidates)[0].best.query)
    assert in_words(query, {}) == "The average salary of the players."


@pytest.mark.parametrize(
    "question",
    [
        "How old is the youngest player for each position?",
        "How old is the oldest player per age?",
        "The tallest player of each club by height?",
    ],
)
def test_an_extreme_in_each_group_is_read_whatever_the_group(known: Known, question: str) -> None:
    assert clusters(known.proposal(question).candidates)


@for_each(
    ("question", "language"),
    [
        ("Who are the second to fourth oldest players?", "en"),
        ("Who are the 2nd to 4th oldest players?", "en"),
        ("Wer sind die zweit- bis viertältesten Spieler?", "de"),
        ("¿Quiénes son los segundo a cuarto jugadores más viejos?", "es"),
        ("Qui sont les deuxième à quatrième plus vieux joueurs ?", "fr"),
    ],
)
def test_the_nth_to_mth_of_an_order(known: Known, question: str, language: str) -> None:
    query = known.best_query(question, language)
    assert "ORDER BY DESC(?age)" in query and query.endswith("LIMIT 3\nOFFSET 1")


def test_the_place_of_an_order_may_be_joined_to_it(known: Known) -> None:
    query = known.best_query("Wer ist der zweitälteste Spieler?", "de")
    assert "ORDER BY DESC(?age)" in query and "OFFSET 1" in query


def test_a_superlative_is_of_the_thing_named_right_before_it(space: Known) -> None:
    proposal = space.proposal("Which moons orbit the planet with the highest mass?")
    rows = space.rows(space.query(clusters(proposal.candidates)[0].best.query))
    assert isinstance(rows, list)
    assert {row[0] and row[0].rpartition("/")[2] for row in rows} >= {"Io>", "Ganymede>"}


def test_the_most_of_several_things_are_the_things(space: Known) -> None:
    for question in ("the 5 largest moons", "What are the three tallest rockets?"):
        query = space.best_query(question)
        assert query.startswith("SELECT DISTINCT ?moon WHERE") or "?launch_vehicle WHERE" in query


@pytest.fixture(scope="module")
def few() -> Known:
    return graph_named("few")


HOW_MANY = [
    ("How many groups have at least 2 members?", "en", "The number of groups with at least 2"),
    ("How many groups have fewer than 2 members?", "en", "The number of groups with less"),
    ("Wie viele Gruppen haben mindestens 2 Mitglieder?", "de", "Anzahl der Groupe"),
    ("¿Cuántos grupos tienen al menos 2 miembros?", "es", "Número de"),
    ("Combien de groupes ont au moins 2 membres ?", "fr", "Nombre de"),
]


@for_each(("question", "language", "words"), HOW_MANY)
def test_the_groups_that_have_so_many_are_counted(
    few: Known, question: str, language: str, words: str
) -> None:
    assert answer(few, question, language) == {("2",)}
    query = few.best_query(question, language)
    assert in_words(query, {}, language=language).startswith(words)


@for_each(
    ("language", "ending"),
    [
        ("en", ", or none."),
        ("de", ", oder nichts davon."),
        ("es", ", o ninguno."),
        ("fr", ", ou aucun."),
    ],
)
def test_that_it_may_be_none_is_said(few: Known, language: str, ending: str) -> None:
    proposal = few.proposal("Which groups have at most 2 members?")
    query = few.query(clusters(proposal.candidates)[0].best.query)
    assert in_words(query, {}, language=language).endswith(ending)
