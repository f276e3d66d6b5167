"""Questions that lean on the one before them, over the sample graph."""

from tests.each import for_each

from askgraph.graph import KnowledgeGraph
from askgraph.methods.shared.follow_up import make_standalone
from askgraph.trace import PreviousQuestion, Question

PREFIX = "PREFIX s: <https://example.org/space/> PREFIX o: <https://example.org/space/ontology#> "
LARGEST = PREFIX + "SELECT ?m { ?m a o:Moon ; o:diameter ?d } ORDER BY DESC(?d) LIMIT 1"
ALL = PREFIX + "SELECT ?m { ?m a o:Moon }"


@for_each(
    ("before", "text", "whole"),
    (["Which moons does Jupiter have?"], "And Saturn?", "Which moons does Saturn have?"),
    (["Which moons does Jupiter have?"], "saturn", "Which moons does saturn have?"),
    (
        ["Which moons does Jupiter have?", "And Saturn?"],
        "What about Mars?",
        "Which moons does Mars have?",
    ),
    (["What is the diameter of Mars?"], "And the mass?", "What is the mass of Mars?"),
    (["Which moons orbit Jupiter?"], "And which orbit Saturn?", "Which moons orbit Saturn?"),
    (["Which moons orbit Jupiter?"], "And who discovered Titan?", "who discovered Titan?"),
    (
        ["Which moons does Jupiter have?"],
        "And which planets have no moons?",
        "which planets have no moons?",
    ),
    (
        ["Which moons are larger than Mercury?"],
        "And planets?",
        "Which planets are larger than Mercury?",
    ),
    (
        ["Which missions were operated by NASA?"],
        "and the European Space Agency?",
        "Which missions were operated by European Space Agency?",
    ),
    (["Welche Monde hat der Jupiter?"], "Und Saturn?", "Welche Monde hat der Saturn?"),
    (["Quelles lunes a Jupiter ?"], "Et Saturne ?", "Quelles lunes a Saturne ?"),
)
async def test_a_few_words_take_the_place_of_those_of_their_kind(
    space: KnowledgeGraph, before: list[str], text: str, whole: str
) -> None:
    earlier = tuple(PreviousQuestion(one, ALL) for one in before)
    found = await make_standalone(Question(text, before=earlier), [space])
    assert found.text == whole
    assert found.before == ()


@for_each(
    ("text", "whole"),
    ("Who discovered it?", "Who discovered Ganymede?"),
    ("What is its mass?", "What is mass of Ganymede?"),
    ("Wer hat ihn entdeckt?", "Wer hat Ganymed entdeckt?"),
    ("Wie groß ist sein Durchmesser?", "Wie groß ist Durchmesser von Ganymed?"),
)
async def test_pronouns_stand_for_one_thing(space: KnowledgeGraph, text: str, whole: str) -> None:
    language = "de" if text.startswith("W") and "Who" not in text and "What" not in text else None
    question = Question(text, language, (PreviousQuestion("Which is the largest moon?", LARGEST),))
    assert (await make_standalone(question, [space])).text == whole


@for_each(
    ("columns", "text", "whole"),
    ("?moon", "What is its mass?", "What is mass of Saturn?"),
    ("(COUNT(?moon) AS ?number)", "How far is it?", "How far is Saturn?"),
)
async def test_a_pronoun_stands_for_the_one_thing_asked_about_before(
    space: KnowledgeGraph, columns: str, text: str, whole: str
) -> None:
    query = f"SELECT {columns} WHERE {{ ?moon a ont:Moon ; ont:orbits space:Saturn }}"
    question = Question(text, "en", (PreviousQuestion("Which moons does Saturn have?", query),))
    assert (await make_standalone(question, [space])).text == whole


@for_each(
    ("before", "query", "text"),
    ("Which moons does Jupiter have?", ALL, "Which planets have no moons?"),
    ("Which moons are there?", ALL, "Who discovered it?"),
    ("Which moons are there?", "SELECT nonsense", "Who discovered it?"),
    ("Which is the largest moon?", LARGEST, "Does Titan orbit Saturn?"),
    ("Which moons does Jupiter have?", ALL, "And blorbs?"),
    ("Which moons does Jupiter have?", ALL, "And?"),
    ("Which planets are there?", ALL, "And Neil Armstrong?"),
)
async def test_what_is_whole_or_cannot_be_completed_stays(
    space: KnowledgeGraph, before: str, query: str, text: str
) -> None:
    question = Question(text, before=(PreviousQuestion(before, query),))
    assert await make_standalone(question, [space]) is question


@for_each(
    ("before", "text", "whole"),
    (
        ["moons of uranus"],
        "And which of them is the largest?",
        "which of moons of uranus is the largest?",
    ),
    (["moons of uranus"], "and the smallest?", "the smallest of moons of uranus"),
    (
        ["Which is the largest moon of Saturn?"],
        "and the smallest?",
        "Which is the smallest moon of Saturn?",
    ),
    (
        ["missions launched from Baikonur"],
        "how many of them had a crew?",
        "how many of missions launched from Baikonur had a crew?",
    ),
    (["Which moons does Jupiter have?"], "how many?", "how many moons does Jupiter have"),
    (
        ["Which moons does Jupiter have?", "And Saturn?"],
        "which of those is the largest",
        "which of moons does Saturn have is the largest",
    ),
    (
        ["Who flew to the Moon?"],
        "how many of them are German?",
        "how many of Who flew to the Moon are German?",
    ),
    (
        ["Welche Monde hat Uranus?"],
        "Und welcher davon ist der größte?",
        "welcher von Monde hat Uranus ist der größte?",
    ),
    (
        ["¿Qué lunas tiene Urano?"],
        "¿Y cuál de ellas es la más grande?",
        "cuál de lunas tiene Urano es la más grande?",
    ),
    (
        ["Quelles lunes a Uranus ?"],
        "Laquelle d'entre elles est la plus grande ?",
        "Laquelle de lunes a Uranus est la plus grande ?",
    ),
)
async def test_a_word_for_several_things_stands_for_what_was_asked_for(
    space: KnowledgeGraph, before: list[str], text: str, whole: str
) -> None:
    earlier = tuple(PreviousQuestion(one, ALL) for one in before)
    assert (await make_standalone(Question(text, before=earlier), [space])).text == whole


async def test_a_pronoun_for_what_the_question_names_itself_stays(space: KnowledgeGraph) -> None:
    earlier = (PreviousQuestion("moons of uranus", ALL),)
    question = Question("Which astronauts died before they were 50?", before=earlier)
    assert (await make_standalone(question, [space])).text == question.text


async def test_a_question_of_its_own_stays(space: KnowledgeGraph) -> None:
    question = Question("And Saturn?")
    assert await make_standalone(question, [space]) is question
