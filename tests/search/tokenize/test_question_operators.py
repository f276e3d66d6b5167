"""An answer says which columns answer and if it is ordered; a text is told from a thing."""

from tests.each import for_each

from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.methods.graph_search import GraphSearch
from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.question_operators import detect_operators, find_matched_text
from askgraph.trace import Answer, Question
from askgraph.workspace.run_sync import run_coroutine


@for_each(
    ("question", "ordered"),
    ("How many animals live in each enclosure?", False),
    ("List all birds ordered by weight.", True),
)
def test_an_answer_tells_its_form(question: str, ordered: bool, open_zoo: KnowledgeGraph) -> None:
    trace = trace_of(Question(question), method=GraphSearch(), name="", graphs=[open_zoo])
    answer = run_coroutine(trace).outcome
    assert isinstance(answer, Answer), answer
    assert answer.answer_columns and {*answer.answer_columns} <= {*answer.result.variables}
    assert answer.ordered == ordered


def held(question: str) -> str | None:
    reading = tokenize(question)
    for operator in detect_operators(reading).get_operators("containing", "starting", "ending"):
        at = find_matched_text(reading, operator.positions)
        if at is not None:
            return reading.text[reading.tokens[at.start].start : reading.tokens[at.stop - 1].end]
    return None


@for_each(
    ("question", "text"),
    ("Which films have the word 'Dark' in their titles?", "Dark"),
    ("Which films have 'Dark Star' in their titles?", "Dark Star"),
    ("Which keepers have names containing the letter a?", "a"),
    ("Which keepers' first name contains ROY?", "ROY"),
    ("Which cities have a post code starting with 4?", "4"),
    ("Which towns start with San Diego?", "San Diego"),
    ('Welche Filme, deren Titel "Dark" enthält, gibt es?', "Dark"),
    ("¿Qué películas tienen la palabra 'Luna' en su título?", "Luna"),
    ("Quels films contiennent le mot « Lune » dans leur titre ?", "Lune"),
)
def test_a_text_is_quoted_or_named_after_its_kind(question: str, text: str) -> None:
    assert held(question) == text


@for_each(
    "question",
    "Which countries contain Berlin?",
    "Which boxes have 'Widgets'?",
    "Which parks include a lake?",
    "Which animals live with Kito?",
)
def test_to_contain_or_to_have_a_thing_is_no_condition_on_a_text(question: str) -> None:
    assert held(question) is None
