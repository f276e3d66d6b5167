"""What a question asks for, as far as its words tell it."""

from tests.each import for_each
from tests.search.asking import Known

from askgraph.search.pipeline import link_text
from askgraph.search.rank.expected_answer_type import ExpectedAnswer, derive_expected_answer

ONTOLOGY = "https://example.org/space/ontology#"


def asked(space: Known, question: str) -> ExpectedAnswer:
    return derive_expected_answer(link_text(question, None, space.names))


@for_each(
    ("question", "kind"),
    ("Is Titan a moon of Saturn?", "yes_no"),
    ("Wurde Sputnik 1 von der Sowjetunion gestartet?", "yes_no"),
    ("Can you list the moons of Mars?", "things"),
    ("How many moons does Neptune have?", "count"),
    ("Wie viele Monde hat Jupiter?", "count"),
    ("¿Cuántas misiones tuvieron como destino Venus?", "count"),
    ("Combien de lunes possède Saturne ?", "count"),
    ("What is the number of moons of Mars?", "count"),
    ("How heavy is the Red Planet?", "number"),
    ("When was Pluto discovered?", "when"),
    ("In which year was Pluto discovered?", "when"),
    ("¿Cuándo nació Valentina Tereshkova?", "when"),
    ("Who discovered Titan?", "who"),
    ("Wer entdeckte Uranus?", "who"),
    ("Where is the headquarters of JAXA?", "where"),
    ("Which moons does Neptune have?", "things"),
    ("The people who discovered a moon", "things"),
    ("The year when Pluto was discovered", "things"),
    ("Could someone tell me the diameter of Titan?", "things"),
    ("Kann mir jemand die Monde des Mars nennen?", "things"),
    ("Did anyone walk on the Moon?", "yes_no"),
    ("Is there any moon? Which ones?", "things"),
    ("Gibt es Monde, und welche?", "things"),
    ("Is Titan a moon, and of Saturn?", "yes_no"),
)
def test_the_question_word_tells_the_kind(space: Known, question: str, kind: str) -> None:
    assert asked(space, question).kind == kind


def test_the_head_noun_is_linked(space: Known) -> None:
    assert asked(space, "Which moons are larger than Mercury?").classes == (ONTOLOGY + "Moon",)
    assert ONTOLOGY + "diameter" in asked(space, "What is the diameter of Mars?").predicates
    assert ONTOLOGY + "mass" in asked(space, "Jupiter's mass").predicates


@for_each(
    ("question", "columns"),
    ("What are the mass, diameter and orbital period of Mars?", 3),
    ("List the name and the mass of each planet.", 2),
    ("What is the minimum and maximum diameter of the moons?", 2),
    ("For the moons of Mars, what is the diameter?", 1),
    ("Which moons and planets were discovered by Galileo?", None),
    ("Which planets are there? List their mass and diameter.", 2),
    ("What is the height of the rockets and the name of the maker?", 2),
    ("For each agency that has two missions, find the name and the number of missions.", 2),
    ("Pour chaque agence qui a deux missions, montre le nom et le nombre de missions.", 2),
    ("Show the mass and the diameter of each planet, as well as the number of moons.", 3),
)
def test_listed_properties_are_columns(space: Known, question: str, columns: int | None) -> None:
    assert asked(space, question).columns == columns


@for_each(
    ("question", "limit"),
    ("What is the tallest rocket?", 1),
    ("What are the three largest moons?", 3),
    ("List the top 5 moons by diameter.", 5),
    ("Welcher Planet hat die höchste mittlere Temperatur?", 1),
    ("Which agency has operated the most missions?", 1),
    ("Which is the second largest moon?", None),
    ("Which rockets flew for the first time before 1960?", None),
    ("List the planets from the smallest to the largest.", None),
    ("Which moons are larger than Mercury?", None),
    ("What moons were discovered in the last century, and by whom?", None),
    ("Welche Monde wurden im letzten Jahrhundert entdeckt?", None),
    ("In which country was the last rocket launched?", 1),
)
def test_a_superlative_limits_the_rows(space: Known, question: str, limit: int | None) -> None:
    assert asked(space, question).limit == limit


def test_the_last_question_may_ask_for_a_property_of_a_class(space: Known) -> None:
    found = asked(space, "Which planets have a moon? Give me the planet diameters.")
    assert ONTOLOGY + "diameter" in found.predicates


def test_names_order_and_groups_are_noticed(space: Known) -> None:
    assert asked(space, "What are the names of the moons of Mars?").is_name_request
    assert not asked(space, "What are the moons of Mars?").is_name_request
    assert asked(space, "List the planets sorted by mass.").is_ordered
    grouped = asked(space, "How many moons are listed for each planet?")
    assert grouped.is_grouped and grouped.is_counted
    assert asked(
        space, "Which agency launched Rosetta and how many missions has it?"
    ).has_second_question


def test_nouns_in_one_run_of_words_may_all_be_meant(space: Known) -> None:
    listed = asked(space, "Space stations orbiting planets").noun_iris
    assert {ONTOLOGY + "SpaceStation", ONTOLOGY + "Planet"} <= set(listed)
