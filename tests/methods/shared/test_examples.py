"""Which examples are nearest: by how they ask, without the question itself."""

from dataclasses import replace
from typing import Any

from tests.each import for_each

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import Origin, QueryExample, Wording, is_same_question
from askgraph.methods.shared.examples import (
    Demonstration,
    GraphExample,
    find_nearby_examples,
    find_nearest,
    select_diverse,
)

MARS = Demonstration(QueryExample("Which moons orbit Mars?", "SELECT ?m { ?m :orbits :Mars }"), ())
COUNT = Demonstration(QueryExample("How many dogs has Ann?", "SELECT (COUNT(?d) AS ?n) { … }"), ())


def test_by_form_an_example_that_asks_alike_goes_before_one_with_the_same_words() -> None:
    question = "How many moons orbit Mars?"
    assert find_nearest(question, (), [COUNT, MARS], limit=1, match="question") == [MARS]
    assert find_nearest(question, (), [MARS, COUNT], limit=1, match="form") == [COUNT]


def test_the_nearest_wording_of_an_example_counts() -> None:
    others = (Wording("How many dogs has Ann?"),)
    asked = Demonstration(QueryExample("Ann's dogs, in number?", "SELECT …", others=others), ())
    assert find_nearest("How many cats has Ann?", (), [MARS, asked], limit=1) == [asked]


def test_the_question_itself_is_no_example_one_about_another_number_is() -> None:
    text = "Give me all those missions to the outer planets of the Solar System after {}"
    shot = QueryExample(text.format(1990), "SELECT …")
    for question in ("Which moons orbit Mars?", "which moons orbit mars"):
        assert is_same_question(question, MARS.example)
        assert find_nearest(question, (), [MARS, COUNT], limit=2) == [COUNT]
    assert not is_same_question(text.format(1991), shot) and is_same_question(shot.question, shot)


PREFIXES = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "


def example(question: str, where: str, *, origin: Origin = "written") -> QueryExample:
    return QueryExample(question, f"{PREFIXES}SELECT ?x WHERE {{ {where} }}", origin=origin)


def shown(
    graph: KnowledgeGraph, text: str, *examples: QueryExample, limit: int = 5, **more: object
) -> list[str]:
    stored = replace(graph, examples=examples)
    found = find_nearby_examples([text], [stored], limit=limit, **more)  # type: ignore[arg-type]
    return [one.example.question for one in found]


ORBITS_MARS = example("Which moons orbit Mars?", "?x onto:orbits :Mars")
ORBITS_VENUS = example("Which moons orbit Venus?", "?x onto:orbits :Venus")
CODE_MARS = example("What is the code of Mars?", ":Mars onto:code ?x")
MOST = example("Which moon is the largest?", "?x onto:radius ?r } ORDER BY DESC(?r) LIMIT 1 #")


def test_of_two_that_differ_in_a_name_alone_the_nearest_is_shown(moons: KnowledgeGraph) -> None:
    found = shown(moons, "Which moons orbit Jupiter?", ORBITS_VENUS, CODE_MARS, ORBITS_MARS)
    assert len([question for question in found if "orbit" in question]) == 1


def test_of_one_skeleton_there_are_two_while_others_are_left(moons: KnowledgeGraph) -> None:
    alike = [example(f"Which {n} is there?", f"?x onto:{n} :Mars") for n in ("a", "b", "c", "d")]
    found = shown(moons, "Which a, b, c or d is there?", *alike, MOST, limit=3)
    every = shown(moons, "Which a, b, c or d is there?", *alike, limit=4)
    assert MOST.question in found and len(found) == 3
    assert len(every) == 4


CONFIRMED = example("Which moons go round Mars?", "?x a onto:Moon", origin="confirmed")
FAR = example("Who wrote this?", ":this :author ?x", origin="confirmed")
SPANISH = replace(
    example("How far is it?", ":Mars :distance ?x"),
    others=(Wording("¿Qué lunas giran alrededor de Marte?", "es"),),
)
TRIPLES = QueryExample("Which moons orbit Mars?", "DESCRIBE <http://example.org/Mars>")
JUPITER = "Which moons orbit Jupiter?"


@for_each(
    ("text", "examples", "settings", "first", "count"),
    # A confirmed example goes before a nearer one, unless it is of something else.
    (JUPITER, (ORBITS_MARS, CONFIRMED), {"limit": 1}, CONFIRMED, 1),
    (JUPITER, (FAR, CODE_MARS, ORBITS_MARS), {}, ORBITS_MARS, None),
    # Every wording counts, and with an embedder the meaning besides the words.
    ("¿Qué lunas giran alrededor de Júpiter?", (CODE_MARS, MOST, SPANISH), {}, SPANISH, None),
    (JUPITER, (MOST, ORBITS_MARS), {"embedder": "hashed"}, ORBITS_MARS, None),
    ("Кто это?", (CODE_MARS, MOST, ORBITS_MARS), {"limit": 2}, None, 2),  # no word is shared
    # A query that gives triples is no example of an answer.
    (JUPITER, (TRIPLES, CODE_MARS), {}, CODE_MARS, 1),
    (JUPITER, (ORBITS_MARS,), {"limit": 0}, None, 0),
)
def test_the_first_example_is_the_one_that_helps_most(
    moons: KnowledgeGraph,
    text: str,
    examples: tuple[QueryExample, ...],
    settings: dict[str, Any],
    first: QueryExample | None,
    count: int | None,
) -> None:
    questions = shown(moons, text, *examples, **settings)
    assert first is None or questions[0] == first.question
    assert count is None or len(questions) == count


def test_of_equally_near_ones_written_go_before_generated_ones(moons: KnowledgeGraph) -> None:
    generated = example("Which moon is small?", "?x onto:small true", origin="generated")
    written = replace(generated, query=generated.query.replace("small", "tiny"), origin="written")
    stored = replace(moons, examples=(generated, written))
    found = find_nearby_examples(["Which moon is large?"], [stored], limit=1)
    assert [one.example.origin for one in found] == ["written"]


def test_the_question_itself_is_no_example_but_a_part_of_it_is(moons: KnowledgeGraph) -> None:
    stored = replace(moons, examples=(ORBITS_MARS, CODE_MARS))
    text = "which moons orbit MARS"
    alone = find_nearby_examples([text], [stored], limit=5)
    split = find_nearby_examples(["Compare two planets", text], [stored], limit=5)
    assert [one.example for one in alone] == [CODE_MARS]
    assert split[0].example == ORBITS_MARS


def test_examples_of_all_graphs_are_ordered_together(moons: KnowledgeGraph) -> None:
    near, far = replace(moons, examples=(ORBITS_MARS,)), replace(moons, examples=(CODE_MARS,))
    found = find_nearby_examples(["Which moons orbit Jupiter?"], [far, near], limit=2)
    assert [one.graph for one in found] == [near, far]


def test_a_query_that_cannot_be_read_is_like_no_other(moons: KnowledgeGraph) -> None:
    broken = QueryExample("Which moons orbit Mars now?", "SELECT WHERE")
    found = [GraphExample(moons, one) for one in (broken, ORBITS_MARS)]
    assert select_diverse(found, limit=5) == found
