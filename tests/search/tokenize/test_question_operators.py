"""Every operator gives the right rows on a small graph; the query's text is left free."""

import pytest
from tests.each import for_each
from tests.search.zoo import QUESTIONS

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.methods.graph_search import GraphSearch
from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.question_operators import detect_operators, held_text
from askgraph.sparql.comparison import cell_of_json
from askgraph.sparql.results import value_of
from askgraph.trace import Answer, Outcome, Question
from askgraph.workspace.run_sync import result_of

ZOO = "https://zoo.example/"
ORDERED = ("order", "top n")

Rows = list[tuple[object, ...]]


def outcome(question: str, graph: KnowledgeGraph) -> Outcome:
    asked = Question(question)
    return result_of(trace_of(asked, method=GraphSearch(), name="", graphs=[graph])).outcome


def rows_of(answer: Answer) -> Rows:
    """The rows of the answer columns, entities by local name, numbers by value."""
    if answer.boolean is not None:
        return [(cell_of_json(answer.boolean),)]
    columns = [answer.result.variables.index(name) for name in answer.answer_columns]
    texts = [
        [(value_of(row[at]) or "").removeprefix(ZOO) for at in columns]
        for row in answer.result.rows
    ]
    return [tuple(map(cell_of_json, row)) for row in texts]


def expected(text: str) -> Rows:
    return [tuple(map(cell_of_json, row.split())) for row in text.split(", ")]


@for_each(("operator", "question", "rows"), QUESTIONS)
def test_the_operator_gives_the_right_rows(
    operator: str, question: str, rows: str, open_zoo: KnowledgeGraph
) -> None:
    answer = outcome(question, open_zoo)
    assert isinstance(answer, Answer), answer
    found, wanted = rows_of(answer), expected(rows)
    if operator in ORDERED:
        assert found == wanted, answer.query
        assert answer.ordered
    else:
        assert sorted(found, key=str) == sorted(wanted, key=str), answer.query


VALUES_OF_MANY = (
    "What is the weight of each bird?",
    "What are the weights of the birds?",
    "List the birds with their weights.",
)


@pytest.mark.parametrize("question", VALUES_OF_MANY)
def test_values_of_many_things_come_with_the_things(
    question: str, open_zoo: KnowledgeGraph
) -> None:
    answer = outcome(question, open_zoo)
    assert isinstance(answer, Answer), answer
    rows = [
        [(value_of(term) or "").removeprefix(ZOO) for term in row] for row in answer.result.rows
    ]
    assert sorted(map(sorted, rows)) == [["4.5", "Pip"], ["5.5", "Pep"], ["6.5", "Pup"]], (
        answer.query
    )


def test_a_value_of_one_thing_that_is_named_comes_alone(open_zoo: KnowledgeGraph) -> None:
    answer = outcome("What is the weight of Kito?", open_zoo)
    assert isinstance(answer, Answer), answer
    assert len(answer.result.variables) == 1


def test_the_answer_columns_are_told_from_the_context(open_zoo: KnowledgeGraph) -> None:
    answer = outcome("How many animals live in each enclosure?", open_zoo)
    assert isinstance(answer, Answer), answer
    assert set(answer.answer_columns) <= set(answer.result.variables)
    assert answer.answer_columns


def held(question: str) -> str | None:
    reading = tokenize(question)
    for operator in detect_operators(reading).of("containing", "starting", "ending"):
        at = held_text(reading, operator.positions)
        if at is not None:
            return reading.text[reading.tokens[at.start].start : reading.tokens[at.stop - 1].end]
    return None


@for_each(
    ("question", "text"),
    [
        ("Which films have the word 'Dark' in their titles?", "Dark"),
        ("Which films have 'Dark Star' in their titles?", "Dark Star"),
        ("Which keepers have names containing the letter a?", "a"),
        ("Which keepers' first name contains ROY?", "ROY"),
        ("Which cities have a post code starting with 4?", "4"),
        ("Which towns start with San Diego?", "San Diego"),
        ('Welche Filme, deren Titel "Dark" enthält, gibt es?', "Dark"),
        ("¿Qué películas tienen la palabra 'Luna' en su título?", "Luna"),
        ("Quels films contiennent le mot « Lune » dans leur titre ?", "Lune"),
    ],
)
def test_a_text_is_quoted_or_named_after_its_kind(question: str, text: str) -> None:
    assert held(question) == text


@for_each(
    "question",
    [
        "Which countries contain Berlin?",
        "Which boxes have 'Widgets'?",
        "Which parks include a lake?",
        "Which animals live with Kito?",
    ],
)
def test_to_contain_or_to_have_a_thing_is_no_condition_on_a_text(question: str) -> None:
    assert held(question) is None
