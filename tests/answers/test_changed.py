"""Follow-ups that change the query of the last result, over the sample graph."""

from tests.each import for_each

from askgraph.answers.changed_query import answer_changed_query
from askgraph.graph import KnowledgeGraph
from askgraph.sparql.results import to_plain_value
from askgraph.trace import Answer, PreviousQuestion, Question, Refusal, build_follow_up
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import ask_method

PREFIX = "PREFIX s: <https://example.org/space/> PREFIX o: <https://example.org/space/ontology#> "
MOONS = PREFIX + "SELECT DISTINCT ?moon { ?moon o:orbits s:Jupiter }"
LARGEST = PREFIX + (
    "SELECT ?moon {{ ?moon o:orbits s:Jupiter ; o:diameter ?diameter }} "
    "ORDER BY DESC(?diameter) LIMIT {}"
)
AGENCIES = PREFIX + (
    "SELECT ?agency (COUNT(?m) AS ?n) { ?m a o:Mission ; o:operator ?agency } GROUP BY ?agency"
)


async def change(
    graph: KnowledgeGraph, text: str, query: str = MOONS, language: str | None = None
) -> Answer | None:
    outcome = await answer_changed_query(
        Question(text, language, (PreviousQuestion("Moons?", query),)), [graph]
    )
    assert not isinstance(outcome, Refusal)
    return outcome


async def after(
    graph: KnowledgeGraph, text: str, query: str = MOONS, language: str | None = None
) -> Answer:
    answer = await change(graph, text, query, language)
    assert answer is not None
    return answer


def names(answer: Answer) -> list[str]:
    return [answer.labels[str(to_plain_value(row[0]))] for row in answer.result.rows]


@for_each(
    ("text", "language"),
    ("only the first two", "en"),
    ("just 2", "en"),
    ("nur die ersten zwei", "de"),
    ("solo las dos primeras", "es"),
    ("seulement les deux premières", "fr"),
)
async def test_the_first_are_those_that_were_shown_first(
    space: KnowledgeGraph, text: str, language: str
) -> None:
    assert names(await after(space, text, language=language)) in (
        ["Adrastea", "Amalthea"],
        ["Adrastea", "Amaltea"],
    )


async def test_groups_are_counted_and_the_first_are_the_greatest(space: KnowledgeGraph) -> None:
    answer = await after(space, "only the first two", AGENCIES)
    assert [to_plain_value(row[1]) for row in answer.result.rows] == ["94", "28"]
    answer = await after(space, "how many are these?", AGENCIES)
    assert "11" in str(answer.result.rows)


@for_each(
    ("text", "first"),
    ("sort by diameter", "Adrastea"),
    ("and now sorted by diameter descending", "Ganymede"),
    ("order them by mass", "Amalthea"),
    ("top 3 by diameter", "Ganymede"),
)
async def test_a_result_is_sorted_by_what_its_things_have(
    space: KnowledgeGraph, text: str, first: str
) -> None:
    answer = await after(space, text)
    assert answer.ordered
    assert names(answer)[0] == first


LARGER = "SELECT ?m { ?m a o:Moon ; o:diameter ?d . s:Mercury o:diameter ?e FILTER(?d > ?e) }"


@for_each(
    ("text", "language", "picked"),
    ("Which of them has the longest orbital period?", "en", "Titan"),
    ("Which of these has the lowest mass?", "en", "Titan"),
    ("Which of them has the greatest diameter?", "en", "Ganymede"),
    ("Welcher von ihnen hat den größten Durchmesser?", "de", "Ganymed"),
)
async def test_the_first_by_a_property_is_one_of_those_that_were_found(
    space: KnowledgeGraph, text: str, language: str, picked: str
) -> None:
    answer = await after(space, text, PREFIX + LARGER, language=language)
    assert names(answer) == [picked]
    assert len(answer.result.variables) == 1


@for_each(
    ("text", "language"),
    ("how many are these?", "en"),
    ("how many?", "en"),
    ("wie viele sind das?", "de"),
    ("¿cuántas son?", "es"),
)
async def test_a_result_is_counted(space: KnowledgeGraph, text: str, language: str) -> None:
    answer = await after(space, text, language=language)
    assert [[to_plain_value(one) for one in row] for row in answer.result.rows] == [["13"]]


@for_each(
    ("text", "query"),
    ("Who discovered Titan?", MOONS),
    ("How many planets are there?", MOONS),
    ("and in 1990?", MOONS),
    ("sort by charisma", MOONS),
    ("Who was the first person in space?", MOONS),
    ("a map of Mars", MOONS),
    ("only the first two", PREFIX + "SELECT ?x { ?x o:orbits ?x }"),
    ("how many are these?", "DELETE WHERE { ?s ?p ?o }"),
)
async def test_other_questions_and_queries_without_a_row_or_that_write_are_not_changed(
    space: KnowledgeGraph, text: str, query: str
) -> None:
    assert await change(space, text, query) is None


@for_each(
    ("text", "language", "said"),
    ("only the first two", None, "There is no result before this"),
    ("sort by diameter", None, "There is no result before this"),
    ("which of them is the largest?", None, "There is no result before this"),
    ("welcher davon ist der größte?", "de", "Davor gibt es kein Ergebnis"),
    ("lequel d'entre eux est le plus grand ?", "fr", "Il n’y a avant cela aucun"),
    ("¿cuál de ellas es la más grande?", "es", "No hay antes ningún resultado"),
    ("nur die ersten zwei", "de", "Davor gibt es kein Ergebnis"),
    ("muéstralos en un mapa", "es", "No hay antes ningún resultado"),
    ("seulement les deux premières", "fr", "Il n’y a avant cela aucun résultat"),
)
async def test_without_a_result_before_there_is_nothing_to_change(
    space: KnowledgeGraph, text: str, language: str | None, said: str
) -> None:
    outcome = await ask_method(Question(text, language), Workspace().method(), [space])

    assert isinstance(outcome, Refusal) and outcome.reason.startswith(said)
    assert outcome.best is None


async def test_a_question_of_its_own_needs_none_before(space: KnowledgeGraph) -> None:
    for text in ("What are the three largest planets?", "List the planets by their diameter."):
        outcome = await ask_method(Question(text), Workspace().method(), [space])
        assert isinstance(outcome, Answer)


@for_each(
    ("language", "first", "wish", "said"),
    ("en", "Which moons does Jupiter have?", "show them on a map", "None of these has coord"),
    ("de", "Welche Monde hat Jupiter?", "zeige sie auf einer Karte", "Davon hat nichts Koord"),
    ("es", "¿Qué lunas tiene Júpiter?", "muéstralas en un mapa", "Nada de esto tiene coord"),
    ("fr", "Combien de moons ?", "montre-les sur une carte", "Rien de cela n’a de coord"),
)
async def test_a_map_of_what_has_no_coordinates_is_refused_with_the_reason(
    space: KnowledgeGraph, language: str, first: str, wish: str, said: str
) -> None:
    query = PREFIX + "SELECT ?moon { ?moon o:orbits s:Jupiter }"
    outcome = await answer_changed_query(
        Question(wish, language, (PreviousQuestion(first, query),)), [space]
    )
    assert isinstance(outcome, Refusal) and outcome.reason.startswith(said)


FOLLOWING = {
    "en": ("which of them is the largest?", "sort them by diameter", "only the first five",
           "how many are these?", "And Saturn?", "and in 1990?"),
    "de": ("welcher davon ist der größte?", "sortiere sie nach Durchmesser", "nur die ersten fünf",
           "wie viele sind das?", "Und Saturn?", "und 1990?"),
    "fr": ("lequel d'entre eux est le plus grand ?", "trie-les par diameter",
           "seulement les cinq premiers", "combien sont-ils ?", "Et Saturn ?", "et en 1990 ?"),
    "es": ("¿cuál de ellas es la más grande?", "ordénalas por diámetro", "solo las cinco primeras",
           "¿cuántas son?", "¿Y Saturno?", "¿y en 1990?"),
}  # fmt: skip
FIRST = {
    "en": "Which moons does Jupiter have?",
    "de": "Welche Monde hat Jupiter?",
    "fr": "Quelles moons orbits Jupiter ?",
    "es": "¿Qué lunas tiene Júpiter?",
}


@for_each("language", FOLLOWING)
async def test_talks_go_on_in_four_languages(space: KnowledgeGraph, language: str) -> None:
    method = Workspace().method()
    first = Question(FIRST[language], language)
    before = await ask_method(first, method, [space])
    assert isinstance(before, Answer)
    found = []
    for text in FOLLOWING[language]:
        outcome = await ask_method(
            build_follow_up(text, first, before, language=language), method, [space]
        )
        assert isinstance(outcome, Answer), (text, outcome)
        found.append(outcome)
    largest, by_size, five, number, saturn, year = found
    assert "Ganymed" in largest.sentence or "Ganimedes" in largest.sentence
    assert by_size.ordered and len(five.result.rows) == 5
    assert to_plain_value(number.result.rows[0][0]) == str(len(before.result.rows))
    assert len(saturn.result.rows) == 18 and "Pan" in year.sentence


SATURN = PREFIX + "SELECT DISTINCT ?moon { ?moon a o:Moon ; o:orbits s:Saturn }"


async def test_the_largest_of_the_first_ones_is_one_of_these(space: KnowledgeGraph) -> None:
    first = await after(space, "only the first five", SATURN)
    talk = (
        PreviousQuestion("Which moons orbit Saturn?", SATURN),
        PreviousQuestion("only the first five", first.query),
    )
    text = "which of them is the largest?"

    answer = await answer_changed_query(Question(text, "en", talk), [space])

    assert isinstance(answer, Answer)
    assert names(answer) == ["Dione"]
    number = await answer_changed_query(Question("how many are these?", "en", talk), [space])
    assert isinstance(number, Answer)
    counted = (*talk, PreviousQuestion("how many are these?", number.query))
    again = await answer_changed_query(Question(text, "en", counted), [space])
    assert isinstance(again, Answer)
    assert again.result.rows == answer.result.rows


async def test_the_first_ones_and_their_number_are_said_in_words(space: KnowledgeGraph) -> None:
    answers = [
        await after(space, "how many are these?", LARGEST.format(5), "en"),
        await after(space, "wie viele sind das?", LARGEST.format(5), "de"),
        await after(space, "only the first two"),
        await after(space, "welcher davon hat den größten Durchmesser?", language="de"),
    ]
    assert [answer.sentence for answer in answers] == [
        "The number of the 5 largest things by diameter that orbit Jupiter is 5.",
        "Anzahl (5 Dinge, die Jupiter umkreisen, mit dem höchsten Wert für Durchmesser): 5.",
        "2 of the things that orbit Jupiter: Adrastea and Amalthea.",
        "Ding (umkreist Jupiter) mit dem höchsten Wert für Durchmesser: Ganymed (5.268,2 km).",
    ]


async def test_after_the_largest_one_the_first_three_are_the_largest_three(
    space: KnowledgeGraph,
) -> None:
    answer = await after(space, "only the first three", LARGEST.format(1))
    assert names(answer) == ["Ganymede", "Callisto", "Io"]
    answer = await after(space, "nur die ersten zwei", language="de")
    assert answer.labels["https://example.org/space/ontology#Moon"] == "Mond"  # of a column ?moon


async def test_rows_that_name_things_by_texts_are_sorted_by_what_these_have(
    space: KnowledgeGraph,
) -> None:
    named = PREFIX + (
        "SELECT DISTINCT ?name { ?moon o:orbits s:Mars ; "
        '<http://www.w3.org/2000/01/rdf-schema#label> ?name FILTER(LANG(?name) = "en") }'
    )
    answer = await after(space, "sort by diameter", named)
    assert [to_plain_value(row[0]) for row in answer.result.rows] == ["Deimos", "Phobos"]
    largest = await after(space, "which of them has the highest diameter?", named)
    assert [to_plain_value(row[0]) for row in largest.result.rows] == ["Phobos"]
