"""The query of a confirmed question answers its rewordings, with other names and numbers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.each import for_each
from tests.methods.tools.exploring import served

from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample
from askgraph.methods import ConfirmedAnswerMethod
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.shared.similar_examples import find_similar_example
from askgraph.trace import Answer, Clarification, Outcome, Question, Refusal

# Properties whose names say nothing: only the examples tell what they mean.
GOODS = """
@prefix : <https://goods.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Good rdfs:label "good" .
:anvil a :Good ; rdfs:label "anvil" ; :c1 40 ; :c2 90 ; :c3 "Smith" .
:hammer a :Good ; rdfs:label "hammer" ; :c1 15 ; :c2 2 ; :c3 "Miller" .
:ladder a :Good ; rdfs:label "ladder" ; :c1 75 ; :c2 12 ; :c3 "Smith" ; :c9 "n" .
:Box rdfs:label "box" . :crate a :Box ; rdfs:label "crate" ; :c9 "n" .
"""
START = "PREFIX : <https://goods.example/> SELECT"
EXAMPLES = tuple(
    QueryExample(question, f"{START} {query}", "en", origin="confirmed")
    for question, query in [
        ("How much does the anvil cost?", "?price { :anvil :c1 ?price }"),
        ("How heavy is the anvil?", "?weight { :anvil :c2 ?weight }"),
        ("Which goods cost more than 30?", "?good { ?good :c1 ?c FILTER(?c > 30) }"),
        ("How many goods does Smith sell?", '(COUNT(?good) AS ?n) { ?good :c3 "Smith" }'),
        ("Which 2 goods cost the most?", "?good { ?good :c1 ?c } ORDER BY DESC(?c) LIMIT 2"),
        ("Which goods are brand new?", '?good { ?good a :Good ; :c9 "n" }'),
    ]
)


@pytest.fixture
def goods(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    with served(GOODS, tmp_path, examples=EXAMPLES) as (graph, _):
        yield graph


async def ask(question: str, graph: KnowledgeGraph) -> Outcome:
    steps = ConfirmedAnswerMethod(GraphSearch()).answer(Question(question), [graph])
    outcome = [step async for step in steps][-1]
    assert isinstance(outcome, Answer | Clarification | Refusal)
    return outcome


@for_each(
    ("question", "values"),
    ("What is the price of the anvil?", {"40"}),
    ("What is the price of the hammer?", {"15"}),
    ("How heavy is the ladder?", {"12"}),
    ("Wie viel kostet der Hammer?", {"15"}),
    ("Which goods cost more than 50?", {"ladder"}),
    ("How many goods does Miller sell?", {"1"}),
    ("Which 3 goods cost the most?", {"anvil", "hammer", "ladder"}),
    ("Which 2 goods cost the least?", {"anvil", "hammer"}),
    ("Which goods cost less than 30?", {"hammer"}),
    ("How many goods cost more than 30?", {"2"}),
    ("Which goods does Miller sell?", {"hammer"}),
    ("Which boxes are brand new?", {"crate"}),
)
async def test_an_example_answers_other_wordings_and_names(
    question: str, values: set[str], goods: KnowledgeGraph
) -> None:
    outcome = await ask(question, goods)
    assert isinstance(outcome, Answer)
    terms = {term for row in outcome.result.rows for term in row if term is not None}
    names = {str(getattr(term, "value", term)).rpartition("/")[2] for term in terms}
    assert values <= names
    assert not {"anvil", "hammer", "ladder", "crate"} & names - values
    without = await ask(question, replace(goods, examples=()))
    if isinstance(without, Answer):  # it finds the value "Miller" by itself
        assert without.confidence < outcome.confidence
    else:
        assert "As in the question" in outcome.words or "Wie bei der Frage" in outcome.words


@for_each(
    "question", ["Who invented the hammer?", "Which goods does nobody sell?", "How old is it?"]
)
async def test_an_example_of_other_meaning_is_unsure(question: str, goods: KnowledgeGraph) -> None:
    outcome = await ask(question, goods)
    best = outcome if isinstance(outcome, Answer) else outcome.best
    assert best is None or best.confidence < 0.5


def test_the_names_of_the_question_go_into_the_query(goods: KnowledgeGraph) -> None:
    similar = find_similar_example(Question("How much does the ladder cost?"), goods)
    assert similar is not None
    assert similar.wording == "How much does the anvil cost?"
    assert "ladder" in similar.query
    assert "anvil" not in similar.query
    assert find_similar_example(Question("x"), replace(goods, examples=())) is None
    assert find_similar_example(Question("Which goods are brand new?"), goods) is not None
    assert find_similar_example(Question("Which goods in room R798 are brand new?"), goods) is None


def test_an_example_says_nothing_of_a_name_that_the_graph_lacks(goods: KnowledgeGraph) -> None:
    scientists = QueryExample(
        "Which scientists worked at Stanford?",
        f"{START} ?x {{ ?x :c4 :Stanford_University }}",
        "en",
    )
    women = QueryExample(
        "How many women are there?", f'{START} (COUNT(?x) AS ?n) {{ ?x :c5 "female" }}', "en"
    )
    graph = replace(goods, examples=(scientists, women))

    def find(question: str) -> float:
        similar = find_similar_example(Question(question, "en"), graph)
        return similar.chance if similar else 0.0

    assert find("Who worked at Stanford?") > 0.5 < find("How many women do we have?")
    assert find("Which scientists worked at Princeton?") == 0
    assert find("Which scientists worked at Princeton University?") == 0
    assert find("How many men are there?") <= 0.5
    unknown = find_similar_example(Question("How many men are there?"), graph)
    assert unknown is None or unknown.chance <= 0.5


def test_a_value_is_the_same_in_another_language(goods: KnowledgeGraph) -> None:
    query = f'{START} ?x {{ ?x :c6 "North" }}'
    example = QueryExample("Which towns are not located in the North?", query, "en")
    examples = {
        side: find_similar_example(Question(question), replace(goods, examples=(example,)))
        for side, question in (
            ("north", "Welche Städte liegen nicht im Norden?"),
            ("coast", "Welche Städte liegen nicht am Meer?"),
        )
    }
    assert examples["north"] is not None and examples["north"].chance > 0.3
    assert examples["coast"] is None


def test_a_query_without_the_class_that_is_asked_for_is_doubted(goods: KnowledgeGraph) -> None:
    example = QueryExample("When did Abbey Road come out?", f"{START} ?d {{ :road :c7 ?d }}", "en")
    graph = replace(goods, examples=(example,))
    similar = find_similar_example(Question("Which goods are on Abbey Road?"), graph)
    assert similar is None or similar.chance <= 0.5


async def test_a_query_that_cannot_be_read_is_passed_over(goods: KnowledgeGraph) -> None:
    broken = QueryExample("How much does the anvil cost?", "SELECT ?x { ", "en")
    outcome = await ask("What is the price of the anvil?", replace(goods, examples=(broken,)))
    assert not isinstance(outcome, Answer) or "As in the question" not in outcome.words
