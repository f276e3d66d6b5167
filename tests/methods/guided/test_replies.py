"""Replies of the guided method's model, read whatever they look like."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.guiding import reply

from askgraph.llm import Choice
from askgraph.methods.guided.prompt import parse_reply

QUERY = "SELECT ?x WHERE { ?x ?p ?o }"


def test_a_candidate_is_taken_by_its_number() -> None:
    found = parse_reply(Choice(reply(choose=2, answer=["?a", "$b", "c"], sure=0.8)), 3)
    assert (found.chosen, found.written, found.problem) == (2, None, "")
    assert found.columns == ("a", "b", "c") and found.sure == 0.8


def test_a_query_goes_before_the_number_of_what_it_is_an_edit_of() -> None:
    found = parse_reply(Choice(reply(choose=2, query=QUERY)), 3)
    assert found.chosen == 2 and found.written is not None and found.written.query == QUERY


@pytest.mark.parametrize("sure", [80, 0.8, "0.8"])
def test_how_sure_may_be_said_in_percent(sure: object) -> None:
    assert parse_reply(Choice(json.dumps({"choose": 1, "sure": sure})), 1).sure == 0.8


@pytest.mark.parametrize(
    "said",
    [
        {"choose": 1.0, "sure": None, "ask": None, "between": None, "answer": "x"},
        {"choose": "1", "sure": 10**400},
        {"choose": 1, "between": [0, 9]},
    ],
)
def test_odd_ways_to_say_it_are_understood(said: dict[str, object]) -> None:
    found = parse_reply(Choice(json.dumps(said)), 2)
    assert (found.chosen, found.problem, found.between) == (1, "", ())
    assert found.sure in (None, 1.0)


def test_what_is_left_out_is_as_if_it_were_empty() -> None:
    found = parse_reply(Choice('Sure: {"choose": 1} and that is it.'), 1)
    assert found.chosen == 1 and found.sure is None and found.columns == ()


@pytest.mark.parametrize("said", [{"choose": 4}, {"choose": -1}])
def test_a_candidate_that_does_not_exist_is_told(said: dict[str, object]) -> None:
    assert "There is no candidate" in parse_reply(Choice(json.dumps(said)), 3).problem


def test_a_query_in_plain_text_says_its_columns_in_its_first_line() -> None:
    text = f"I think:\n```sparql\n# answer: ?x\n{QUERY}\n```"
    found = parse_reply(Choice(text), 0)
    assert found.written is not None and found.columns == ("x",)


def test_a_thought_alone_says_that_there_is_no_answer() -> None:
    found = parse_reply(Choice(reply(thought="It is not in the graph.")), 3)
    assert not found.problem and found.written is None and not found.chosen


def test_a_query_that_is_none_is_told() -> None:
    assert parse_reply(Choice(reply(query="What a pity")), 3).problem


@given(st.text(max_size=200), st.integers(0, 12))
def test_no_reply_is_an_error(text: str, candidates: int) -> None:
    found = parse_reply(Choice(text), candidates)
    assert found.problem or found.written or found.chosen or found.ask or found.thought


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "thought": st.text(max_size=20),
            "choose": st.one_of(st.integers(), st.text(max_size=5), st.none()),
            "query": st.one_of(st.just(QUERY), st.text(max_size=20)),
            "answer": st.one_of(st.lists(st.text(max_size=5)), st.text(max_size=5)),
            "sure": st.one_of(st.floats(allow_nan=False), st.text(max_size=5)),
            "between": st.lists(st.integers()),
        },
    )
)
def test_whatever_the_object_holds_it_is_read_or_told(value: dict[str, object]) -> None:
    found = parse_reply(Choice(json.dumps(value)), 5)
    assert found.problem or found.written or found.chosen or found.ask or found.thought
    assert found.sure is None or 0 <= found.sure <= 1
    assert 0 <= found.chosen <= 5 and all(1 <= one <= 5 for one in found.between)
