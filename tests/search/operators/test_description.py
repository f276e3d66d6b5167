"""A question about all of a thing is answered with its properties; any other question is not."""

from tests.each import for_each
from tests.search.asking import Known

KITO = {"endangered", "weight", "born", "livesIn", "caredBy", "eats"}


def described(zoo: Known, question: str, language: str | None = None) -> tuple[str, set[str]]:
    """The best query, and the properties in its rows if it describes."""
    best = zoo.best(question, language)
    query = zoo.query(best.query)
    rows = zoo.rows(query)
    assert not isinstance(rows, bool)
    is_one = "?property ?value" in query
    return query, {str(row[0]).rpartition("#")[2][:-1] for row in rows} if is_one else set()


@for_each(
    ("question", "language"),
    [
        ("tell me about Kito", None),
        ("What do you know about Kito?", None),
        ("who is Kito", None),
        ("kito", None),
        ("info on Kito please", None),
        ("Was weißt du über Kito?", "de"),
        ("Erzähl mir von Kito", "de"),
        ("¿Quién es Kito?", "es"),
        ("háblame de Kito", "es"),
        ("Qui est Kito ?", "fr"),
        ("parle-moi de Kito", "fr"),
    ],
)
def test_a_thing_is_described_by_its_properties(
    question: str, language: str | None, zoo: Known
) -> None:
    query, properties = described(zoo, question, language)
    assert properties >= KITO
    assert "zoo.example/Kito" in query


@for_each(
    "question",
    [
        "What is the weight of Kito?",
        "tell me about the food that Kito eats",
        "What is a bird?",
        "bird",
        "Who is the keeper of Kito?",
        "Where is Kito?",
        "How old is Kito?",
        "Kito weight",
    ],
)
def test_what_asks_for_one_property_or_a_kind_is_no_description(question: str, zoo: Known) -> None:
    assert described(zoo, question)[1] == set()


def test_names_and_long_lists_of_links_are_left_out(zoo: Known) -> None:
    query, _ = described(zoo, "tell me about Penguin Pool")
    assert "label" not in query
    assert "surface" in query and "opened" in query
