"""Readings about numbers: several aggregates at once, groups by their aggregates, extremes."""

from collections.abc import Sequence

import pytest
from pyoxigraph import RdfFormat, Store
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.answers.verbalize import in_words
from askgraph.search.rank import clusters

CLUBS = """
@prefix : <https://clubs.example/> .
@prefix c: <https://clubs.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

c:Player rdfs:label "player"@en, "Spieler"@de, "jugador"@es, "joueur"@fr .
c:Club rdfs:label "club"@en, "Verein"@de, "club"@es, "club"@fr .
c:salary rdfs:label "salary"@en, "Gehalt"@de, "salario"@es, "salaire"@fr .
c:height rdfs:label "height"@en, "Größe"@de, "altura"@es, "taille"@fr .
c:age rdfs:label "age"@en, "Alter"@de, "edad"@es, "âge"@fr .
c:position rdfs:label "position"@en, "Position"@de, "posición"@es, "poste"@fr .
c:plays_for rdfs:label "plays for"@en, "spielt für"@de, "juega en"@es, "joue pour"@fr .

:Lions a c:Club ; rdfs:label "Lions" . :Bears a c:Club ; rdfs:label "Bears" .
:Hawks a c:Club ; rdfs:label "Hawks" .
:ann a c:Player ; rdfs:label "Ann" ; c:salary 100 ; c:height 180 ; c:age 20 ;
    c:position "keeper" ; c:plays_for :Lions .
:bea a c:Player ; rdfs:label "Bea" ; c:salary 300 ; c:height 170 ; c:age 30 ;
    c:position "striker" ; c:plays_for :Lions .
:cho a c:Player ; rdfs:label "Cho" ; c:salary 500 ; c:height 190 ; c:age 25 ;
    c:position "keeper" ; c:plays_for :Bears .
:dia a c:Player ; rdfs:label "Dia" ; c:salary 50 ; c:height 160 ; c:age 40 ;
    c:position "keeper" ; c:plays_for :Hawks .
:eve a c:Player ; rdfs:label "Eve" ; c:salary 60 ; c:height 165 ; c:age 35 ;
    c:position "winger" ; c:plays_for :Hawks .
:fay a c:Player ; rdfs:label "Fay" ; c:salary 70 ; c:height 175 ; c:age 28 ;
    c:position "striker" ; c:plays_for :Hawks .
"""


@pytest.fixture(scope="module")
def known() -> Known:
    return Known(store_of(CLUBS))


def answer(known: Known, question: str, language: str = "en") -> set[tuple[str, ...]]:
    """The rows of the best candidate, without prefixes, quotation marks and datatypes."""
    best = clusters(known.proposal(question, language).candidates)[0].best
    rows = known.rows(known.query(best.query))
    assert isinstance(rows, Sequence)
    return {tuple(sorted(plain(cell) for cell in row)) for row in rows}


def plain(cell: str | None) -> str:
    text = (cell or "").split("^^")[0].strip('"<>').removeprefix("https://clubs.example/")
    return f"{float(text):g}" if text.replace(".", "", 1).isdigit() else text


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("What is the average and maximum age of the players?", "en", {("29.6667", "40")}),
        ("What are the minimum, average and maximum salary?", "en", {("180", "50", "500")}),
        ("What is the average and largest salary of all players?", "en", {("180", "500")}),
        ("What is the maximum salary and height of the players?", "en", {("190", "500")}),
        (
            "What is the highest and lowest salary for each position?",
            "en",
            {("50", "500", "keeper"), ("300", "70", "striker"), ("60", "60", "winger")},
        ),
        (
            "Show each position and the maximum age.",
            "en",
            {("40", "keeper"), ("30", "striker"), ("35", "winger")},
        ),
        ("Was ist das durchschnittliche und maximale Gehalt?", "de", {("180", "500")}),
        ("¿Cuál es el salario máximo y mínimo?", "es", {("50", "500")}),
        ("Quel est le salaire moyen et maximal ?", "fr", {("180", "500")}),
    ],
)
def test_several_aggregates_come_in_one_row(
    known: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question, language) == rows


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which club has the highest average salary?", {("Bears",)}),
        ("Which club has the lowest total salary?", {("Hawks",)}),
        ("Which position has the lowest average age?", {("keeper",)}),
        ("Which clubs have an average salary above 150?", {("Bears",), ("Lions",)}),
        ("Clubs with a total salary of more than 450", {("Bears",)}),
    ],
)
def test_groups_are_compared_by_an_aggregate(
    known: Known, question: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question) == rows


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is the number of players in different positions?", "en"),
        ("Wie viele Spieler gibt es in verschiedenen Positionen?", "de"),
    ],
)
def test_different_ones_part_what_is_counted(known: Known, question: str, language: str) -> None:
    assert answer(known, question, language) == {
        ("3", "keeper"),
        ("2", "striker"),
        ("1", "winger"),
    }


def test_the_value_that_most_share_needs_no_noun_behind_it(known: Known) -> None:
    assert answer(known, "Which position is most common?") == {("keeper",)}


def test_what_is_usual_is_an_average_wherever_it_is_said(known: Known) -> None:
    assert answer(known, "How old are players on average?") == {("29.6667",)}


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        (
            "Who is the oldest player of each club?",
            "en",
            {("Lions", "bea"), ("Bears", "cho"), ("Hawks", "dia")},
        ),
        (
            "Welcher Spieler hat das höchste Gehalt in jeder Position?",
            "de",
            {("cho", "keeper"), ("bea", "striker"), ("eve", "winger")},
        ),
    ],
)
def test_each_group_has_its_extreme(
    known: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question, language) == rows


TIES = """
@prefix : <https://clubs.example/> .
@prefix c: <https://clubs.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

c:Lake rdfs:label "lake"@en . c:depth rdfs:label "depth"@en . c:area rdfs:label "area"@en .
c:Town rdfs:label "town"@en . c:lies_at rdfs:label "lies at"@en .
:a a c:Lake ; rdfs:label "Alder" ; c:depth 90 ; c:area 5 .
:b a c:Lake ; rdfs:label "Birch" ; c:depth 90 ; c:area 7 .
:c a c:Lake ; rdfs:label "Cedar" ; c:depth 10 ; c:area 9 .
:t a c:Town ; rdfs:label "Toft" ; c:lies_at :c .
:u a c:Town ; rdfs:label "Ulm" ; c:lies_at :c .
:v a c:Town ; rdfs:label "Vik" ; c:lies_at :a .
"""


@pytest.fixture(scope="module")
def lakes() -> Known:
    return Known(store_of(TIES))


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which is the deepest lake?", {("a",), ("b",)}),
        ("Which is the largest lake?", {("c",)}),
        ("What are the towns that lie at the largest lake?", {("t",), ("u",)}),
    ],
)
def test_all_that_tie_are_the_answer(
    lakes: Known, question: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(lakes, question) == rows


def test_one_that_leads_alone_is_the_first_of_an_order(lakes: Known) -> None:
    best = clusters(lakes.proposal("Which is the largest lake?").candidates)[0].best
    assert best.tree.limit == 1


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What are the top 2 highest salaries?", {("500", "cho"), ("300", "bea")}),
        ("What are the top 2 salaries?", {("500", "cho"), ("300", "bea")}),
        (
            "Which players have a salary below the maximum salary?",
            {("ann",), ("bea",), ("dia",), ("eve",), ("fay",)},
        ),
    ],
)
def test_several_of_an_order_and_all_but_the_first(
    known: Known, question: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question) == rows


def test_numbers_that_are_stored_as_text_are_cast() -> None:
    text = CLUBS.replace("c:salary 100", 'c:salary "100"').replace("c:salary 300", 'c:salary "300"')
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


@pytest.mark.parametrize(
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
    query = known.query(clusters(known.proposal(question, language).candidates)[0].best.query)
    assert "ORDER BY DESC(?age)" in query and query.endswith("LIMIT 3\nOFFSET 1")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The 3 players with the second- to fourth-highest age."),
        ("de", "3 Player mit dem zweit- bis vierthöchsten Wert für age."),
        ("es", "3 playeres con el segundo a cuarto mayor valor de age."),
        ("fr", "3 players avec la deuxième à quatrième plus grande valeur d’age."),
    ],
)
def test_the_nth_to_mth_are_read_as_such(known: Known, language: str, text: str) -> None:
    proposal = known.proposal("Who are the second to fourth oldest players?")
    query = known.query(clusters(proposal.candidates)[0].best.query)
    assert in_words(query, {}, language=language) == text


def test_the_place_of_an_order_may_be_joined_to_it(known: Known) -> None:
    query = known.query(
        clusters(known.proposal("Wer ist der zweitälteste Spieler?", "de").candidates)[0].best.query
    )
    assert "ORDER BY DESC(?age)" in query and "OFFSET 1" in query


def test_a_superlative_is_of_the_thing_named_right_before_it(space: Known) -> None:
    proposal = space.proposal("Which moons orbit the planet with the highest mass?")
    rows = space.rows(space.query(clusters(proposal.candidates)[0].best.query))
    assert isinstance(rows, list)
    assert {row[0] and row[0].rpartition("/")[2] for row in rows} >= {"Io>", "Ganymede>"}


def test_the_most_of_several_things_are_the_things(space: Known) -> None:
    for question in ("the 5 largest moons", "What are the three tallest rockets?"):
        query = space.query(clusters(space.proposal(question).candidates)[0].best.query)
        assert query.startswith("SELECT DISTINCT ?moon WHERE") or "?launch_vehicle WHERE" in query


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Who are the oldest and the youngest player?", "en"),
        ("Wer sind der älteste und der jüngste Spieler?", "de"),
        ("¿Quiénes son el jugador más viejo y el jugador más joven?", "es"),
        ("Quels sont le plus vieux et le plus jeune joueur ?", "fr"),
    ],
)
def test_both_extremes_are_the_answer(known: Known, question: str, language: str) -> None:
    assert answer(known, question, language) == {("ann",), ("dia",)}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The players with the highest or the lowest age."),
        ("de", "Player mit dem höchsten oder dem niedrigsten Wert für age."),
        ("es", "Playeres con el mayor o el menor valor de age."),
        ("fr", "Players avec la plus grande ou la plus petite valeur d’age."),
    ],
)
def test_both_extremes_are_read_as_such(known: Known, language: str, text: str) -> None:
    proposal = known.proposal("Who are the oldest and the youngest player?")
    query = known.query(clusters(proposal.candidates)[0].best.query)
    assert in_words(query, {}, language=language) == text


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Quel est le plus grand joueur ?", "fr"),
        ("Quel est le joueur le plus grand ?", "fr"),
        ("Wer ist der größte Spieler?", "de"),
    ],
)
def test_an_article_before_a_superlative_changes_nothing(
    known: Known, question: str, language: str
) -> None:
    assert answer(known, question, language) == {("cho",)}


STAFF = """
@prefix : <https://clubs.example/> .
@prefix c: <https://clubs.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

c:Order rdfs:label "order"@en . c:Method rdfs:label "method"@en .
c:order_id rdfs:label "order id"@en . c:year rdfs:label "year"@en .
c:city rdfs:label "city"@en . c:paid_by rdfs:label "paid by"@en .
:cash a c:Method ; rdfs:label "cash" . :card a c:Method ; rdfs:label "card" .
:o1 a c:Order ; c:order_id 1 ; c:year 2001 ; c:city "Ulm" ; c:paid_by :cash .
:o2 a c:Order ; c:order_id 2 ; c:year 2001 ; c:city "Ulm" ; c:paid_by :card .
:o3 a c:Order ; c:order_id 9 ; c:year 2009 ; c:city "Bern" ; c:paid_by :card .
:o4 a c:Order ; c:order_id 4 ; c:year 2001 ; c:city "Ulm" ; c:paid_by :card .
"""


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What is the most common year of orders?", {("2001",)}),
        ("Which year has the most orders?", {("2001",)}),
        ("Which city has the most orders?", {("Ulm",)}),
        ("What is the most common method in all orders?", {("card",)}),
        ("What is the least common method in all orders?", {("cash",)}),
    ],
)
def test_how_often_something_comes_is_counted_and_no_number_of_it_is_taken(
    question: str, rows: set[tuple[str, ...]]
) -> None:
    store = store_of(STAFF)
    assert answer(Known(store), question) == rows


GROUPS = """
@prefix : <https://clubs.example/> .
@prefix c: <https://clubs.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

c:Group rdfs:label "group"@en, "Gruppe"@de, "grupo"@es, "groupe"@fr .
c:Member rdfs:label "member"@en, "Mitglied"@de, "miembro"@es, "membre"@fr .
c:plays_in rdfs:label "plays in"@en, "spielt in"@de, "toca en"@es, "joue dans"@fr .
c:instrument rdfs:label "instrument"@en . c:town rdfs:label "town"@en .
:A a c:Group ; rdfs:label "Aulos" ; c:town "Ulm" . :B a c:Group ; rdfs:label "Bombarde" ;
    c:town "Bern" . :C a c:Group ; rdfs:label "Cornett" ; c:town "Graz" .
:a1 a c:Member ; rdfs:label "Ann" ; c:plays_in :A ; c:instrument "lute" .
:a2 a c:Member ; rdfs:label "Abe" ; c:plays_in :A ; c:instrument "harp" .
:b1 a c:Member ; rdfs:label "Bea" ; c:plays_in :B ; c:instrument "lute" .
:b2 a c:Member ; rdfs:label "Ben" ; c:plays_in :B ; c:instrument "harp" .
:c1 a c:Member ; rdfs:label "Cho" ; c:plays_in :C ; c:instrument "viol" .
"""


@pytest.fixture(scope="module")
def groups() -> Known:
    return Known(store_of(GROUPS))


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("Which group has the most members?", "en", {("A",), ("B",)}),
        ("Which group has the fewest members?", "en", {("C",)}),
        ("What is the town of the group with the most members?", "en", {("Ulm",), ("Bern",)}),
        ("Which instrument is most common?", "en", {("lute",), ("harp",)}),
        ("Welche Gruppe hat die meisten Mitglieder?", "de", {("A",), ("B",)}),
        ("¿Qué grupo tiene más miembros?", "es", {("A",), ("B",)}),
        ("Quel groupe a le plus de membres ?", "fr", {("A",), ("B",)}),
        (
            "What are the names of the members with the most common instrument?",
            "en",
            {("a1",), ("a2",), ("b1",), ("b2",)},
        ),
    ],
)
def test_all_groups_that_have_the_most_are_the_answer(
    groups: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(groups, question, language) == rows


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        (
            "Which group has the most members?",
            "en",
            "The group with the most members that play in that group.",
        ),
        (
            "What are the names of the members with the most common instrument?",
            "en",
            "The members that have an instrument, only for the instrument with the most members.",
        ),
        (
            "Which group has the most members?",
            "de",
            "Group mit der größten Anzahl Member („plays in“).",
        ),
        ("Which group has the most members?", "es", "Group con más memberes («plays in»)."),
        (
            "Which group has the most members?",
            "fr",
            "Group avec le plus de members (« plays in »).",
        ),
    ],
)
def test_what_several_share_is_read_as_what_one_has(
    groups: Known, question: str, language: str, text: str
) -> None:
    query = groups.query(clusters(groups.proposal(question).candidates)[0].best.query)
    assert in_words(query, {}, language=language) == text


FEW = """
:D a c:Group ; rdfs:label "Dulcian" ; c:town "Ulm" .
"""


@pytest.fixture(scope="module")
def few() -> Known:
    return Known(store_of(GROUPS + FEW))


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("Which groups have at most one member?", "en", {("C",), ("D",)}),
        ("Which groups have fewer than 2 members?", "en", {("C",), ("D",)}),
        ("Which groups have no more than 1 member?", "en", {("C",), ("D",)}),
        ("Which groups have exactly one member?", "en", {("C",)}),
        ("Which groups have only one member?", "en", {("C",)}),
        ("Which groups have no members?", "en", {("D",)}),
        ("Which groups have more than 1 member?", "en", {("A",), ("B",)}),
        ("Welche Gruppen haben höchstens 1 Mitglied?", "de", {("C",), ("D",)}),
        ("¿Qué grupos tienen menos de 2 miembros?", "es", {("C",), ("D",)}),
        ("Quels groupes ont moins de 2 membres ?", "fr", {("C",), ("D",)}),
    ],
)
def test_few_of_a_thing_may_be_none(
    few: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(few, question, language) == rows


HOW_MANY = [
    ("How many groups have at least 2 members?", "en", "The number of groups with at least 2"),
    ("How many groups have fewer than 2 members?", "en", "The number of groups with less"),
    ("Wie viele Gruppen haben mindestens 2 Mitglieder?", "de", "Anzahl der Groupe"),
    ("¿Cuántos grupos tienen al menos 2 miembros?", "es", "Número de"),
    ("Combien de groupes ont au moins 2 membres ?", "fr", "Nombre de"),
]


@pytest.mark.parametrize(("question", "language", "words"), HOW_MANY)
def test_the_groups_that_have_so_many_are_counted(
    few: Known, question: str, language: str, words: str
) -> None:
    assert answer(few, question, language) == {("2",)}
    query = few.query(clusters(few.proposal(question, language).candidates)[0].best.query)
    assert in_words(query, {}, language=language).startswith(words)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "question",
    [
        "What are the names of the groups and the number of members?",
        "names of groups and how many members they have",
        "Show the names of groups and the number of members in each.",
    ],
)
def test_names_and_a_number_are_two_columns(groups: Known, question: str) -> None:
    assert answer(groups, question) == {("2", "A"), ("2", "B"), ("1", "C")}


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("Which players have a salary greater than their height?", "en", {("bea",), ("cho",)}),
        ("players whose height is lower than their salary", "en", {("bea",), ("cho",)}),
        ("Which players have a higher salary than height?", "en", {("bea",), ("cho",)}),
        ("Welche Spieler haben ein Gehalt größer als ihre Größe?", "de", {("bea",), ("cho",)}),
    ],
)
def test_two_properties_of_one_thing_are_compared(
    known: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question, language) == rows


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("the top 50 % of players by salary", "en", {("cho",), ("bea",), ("ann",)}),
        ("top 10 percent of the players by height", "en", {("cho",)}),
        ("the tallest 30 percent of the players", "en", {("cho",), ("ann",)}),
        ("die größten 30 Prozent der Spieler", "de", {("cho",), ("ann",)}),
        ("top 2 players by age", "en", {("dia",), ("eve",)}),
        ("die obersten 2 Spieler nach Alter", "de", {("dia",), ("eve",)}),
    ],
)
def test_the_top_ones_by_a_number_are_so_many_or_a_share_of_all(
    known: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question, language) == rows


@pytest.mark.parametrize(
    "question",
    [
        "Which players are 30 or older?",
        "Which players are 30 years old or older?",
        "Which players are at least 30 years old?",
    ],
)
def test_a_number_and_more_is_at_least_that(question: str, known: Known) -> None:
    assert answer(known, question) == {("bea",), ("dia",), ("eve",)}


def test_a_number_and_less_is_at_most_that(known: Known) -> None:
    assert answer(known, "Which players are 25 or younger?") == {("ann",), ("cho",)}


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is the total number of caps of the keepers?", "en"),
        ("Was ist die Gesamtzahl der Einsätze aller Keeper?", "de"),
        ("¿Cuál es el número total de partidos de los porteros?", "es"),
    ],
)
def test_a_total_number_of_what_is_a_number_is_added_up(question: str, language: str) -> None:
    store = Store()
    keepers = """
        @prefix : <https://clubs.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Keeper rdfs:label "keeper"@en, "Keeper"@de, "portero"@es .
        :caps rdfs:label "number of caps"@en, "Einsätze"@de, "partidos"@es .
        :ann a :Keeper ; rdfs:label "Ann" ; :caps 7 . :bea a :Keeper ; rdfs:label "Bea" ; :caps 5 .
    """
    store.bulk_load(keepers.encode(), RdfFormat.TURTLE)
    assert answer(Known(store), question, language) == {("12",)}


def test_what_each_thing_has_one_of_is_counted_by_the_value_that_is_asked_for(
    known: Known,
) -> None:
    question = "Which positions are played by at least 3 players?"
    assert answer(known, question) == {("keeper",)}


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("What is the difference between the highest and the lowest salary?", "en", {("450",)}),
        ("What is the difference between the lowest and highest age?", "en", {("20",)}),
        ("What is the ratio of the salary to the age of Ann?", "en", {("5",)}),
        (
            "What is the difference between the maximum and minimum salary for each position?",
            "en",
            {("450", "keeper"), ("230", "striker"), ("0", "winger")},
        ),
        (
            "Was ist der Unterschied zwischen dem höchsten und dem niedrigsten Gehalt?",
            "de",
            {("450",)},
        ),
        ("¿Cuál es la diferencia entre el salario máximo y mínimo?", "es", {("450",)}),
        ("Quelle est la différence entre le salaire maximal et minimal ?", "fr", {("450",)}),
    ],
)
def test_two_numbers_that_are_asked_for_are_reckoned_with(
    known: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question, language) == rows


@pytest.mark.parametrize(
    ("question", "language", "rows"),
    [
        ("Which player has the highest and the lowest salary?", "en", {("cho",), ("dia",)}),
        ("Which player has the largest and which the smallest salary?", "en", {("cho",), ("dia",)}),
        ("Which players have the highest and lowest height?", "en", {("cho",), ("dia",)}),
        ("Welcher Spieler hat das höchste und das niedrigste Alter?", "de", {("ann",), ("dia",)}),
        ("Players with their highest and lowest salary", "en", {("50", "500")}),
    ],
)
def test_what_has_both_extremes_is_told_and_not_how_much_they_are(
    known: Known, question: str, language: str, rows: set[tuple[str, ...]]
) -> None:
    assert answer(known, question, language) == rows
