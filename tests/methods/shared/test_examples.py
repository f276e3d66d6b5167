"""Which examples are nearest: by how they ask, without the question itself."""

from dataclasses import replace

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import Origin, QueryExample, Wording
from askgraph.methods.shared.examples import (
    Demonstration,
    ExampleTerm,
    GraphExample,
    build_matched_text,
    exclude_question,
    find_nearby_examples,
    find_nearest,
    select_diverse,
)

MARS = Demonstration(QueryExample("Which moons orbit Mars?", "SELECT ?m { ?m :orbits :Mars }"), ())
COUNT = Demonstration(QueryExample("How many dogs has Ann?", "SELECT (COUNT(?d) AS ?n) { … }"), ())
RADIUS = Demonstration(
    QueryExample("What is the radius of Io?", "SELECT ?r { :Io :radius ?r }"),
    (ExampleTerm("http://e/Io", "Io"), ExampleTerm("http://e/radius", "radius", is_relation=True)),
)


def test_by_form_an_example_that_asks_alike_goes_before_one_with_the_same_words() -> None:
    question = "How many moons orbit Mars?"

    assert find_nearest(question, (), [COUNT, MARS], limit=1, match="question") == [MARS]
    assert find_nearest(question, (), [MARS, COUNT], limit=1, match="form") == [COUNT]


def test_the_nearest_wording_of_an_example_counts() -> None:
    asked = QueryExample(
        "Ann's dogs, in number?", "SELECT …", others=(Wording("How many dogs has Ann?"),)
    )

    assert (
        find_nearest("How many cats has Ann?", (), [MARS, Demonstration(asked, ())], limit=1)[
            0
        ].example
        == asked
    )


def test_the_question_itself_is_no_example_one_about_another_number_is() -> None:
    text = "Give me all those missions to the outer planets of the Solar System after {}"
    shot = Demonstration(QueryExample(text.format(1990), "SELECT …"), ())

    for question in ("Which moons orbit Mars?", "which moons orbit mars"):
        assert exclude_question(question, [MARS, COUNT]) == [COUNT]
    assert exclude_question(text.format(1991), [shot]) == [shot]
    assert exclude_question(text.format(1990), [shot]) == []


def test_only_whole_words_are_masked() -> None:
    masked = build_matched_text(
        "What is the position of Io?", (ExampleTerm("http://e/Io", "Io"),), "masked"
    )

    assert masked == "What is the position of <thing>?"


def test_masked_things_leave_what_is_asked_of_them() -> None:
    terms = (ExampleTerm("http://e/Mars", "Mars"),)

    [first] = find_nearest(
        "What is the radius of Mars?", terms, [MARS, RADIUS], limit=1, match="masked"
    )

    assert first == RADIUS


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


def test_a_confirmed_example_comes_before_a_nearer_one_unless_it_is_of_something_else(
    moons: KnowledgeGraph,
) -> None:
    confirmed = example("Which moons go round Mars?", "?x a onto:Moon", origin="confirmed")
    far = example("Who wrote this?", ":this :author ?x", origin="confirmed")
    asked = "Which moons orbit Jupiter?"

    assert shown(moons, asked, ORBITS_MARS, confirmed, limit=1) == [confirmed.question]
    assert shown(moons, asked, far, CODE_MARS, ORBITS_MARS)[0] == ORBITS_MARS.question


def test_of_equally_near_ones_what_is_written_goes_before_what_is_generated(
    moons: KnowledgeGraph,
) -> None:
    generated = example("Which moon is small?", "?x onto:small true", origin="generated")
    written = replace(generated, query=generated.query.replace("small", "tiny"), origin="written")
    stored = replace(moons, examples=(generated, written))

    found = find_nearby_examples(["Which moon is large?"], [stored], limit=1)

    assert [one.example.origin for one in found] == ["written"]


def test_every_wording_of_an_example_counts(moons: KnowledgeGraph) -> None:
    spanish = replace(
        example("How far is it?", ":Mars :distance ?x"),
        others=(Wording("¿Qué lunas giran alrededor de Marte?", "es"),),
    )

    found = shown(moons, "¿Qué lunas giran alrededor de Júpiter?", CODE_MARS, MOST, spanish)

    assert found[0] == spanish.question


def test_the_question_itself_is_no_example_but_a_part_of_it_is(moons: KnowledgeGraph) -> None:
    stored = replace(moons, examples=(ORBITS_MARS, CODE_MARS))
    text = "which moons orbit MARS"

    alone = find_nearby_examples([text], [stored], limit=5)
    split = find_nearby_examples(["Compare two planets", text], [stored], limit=5)

    assert [one.example for one in alone] == [CODE_MARS]
    assert split[0].example == ORBITS_MARS


def test_a_question_that_shares_no_word_still_gets_examples(moons: KnowledgeGraph) -> None:
    assert len(shown(moons, "Кто это?", CODE_MARS, MOST, ORBITS_MARS, limit=2)) == 2


def test_examples_of_all_graphs_are_ordered_together(moons: KnowledgeGraph) -> None:
    near, far = replace(moons, examples=(ORBITS_MARS,)), replace(moons, examples=(CODE_MARS,))

    found = find_nearby_examples(["Which moons orbit Jupiter?"], [far, near], limit=2)

    assert [one.graph for one in found] == [near, far]


def test_with_an_embedder_meaning_counts_besides_words(moons: KnowledgeGraph) -> None:
    found = shown(moons, "Which moons orbit Jupiter?", MOST, ORBITS_MARS, embedder="hashed")

    assert found[0] == ORBITS_MARS.question


def test_a_query_that_cannot_be_read_is_like_no_other(moons: KnowledgeGraph) -> None:
    broken = QueryExample("Which moons orbit Mars now?", "SELECT WHERE")
    found = [GraphExample(moons, one) for one in (broken, ORBITS_MARS)]

    assert select_diverse(found, limit=5) == found


def test_a_query_that_gives_triples_is_no_example_of_an_answer(moons: KnowledgeGraph) -> None:
    triples = QueryExample("Which moons orbit Mars?", "DESCRIBE <http://example.org/Mars>")

    assert shown(moons, "Which moons orbit Jupiter?", triples, CODE_MARS) == [CODE_MARS.question]


def test_no_example_is_wanted(moons: KnowledgeGraph) -> None:
    assert shown(moons, "Which moons orbit Jupiter?", ORBITS_MARS, limit=0) == []
