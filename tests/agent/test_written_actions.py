"""Actions are read from a model's text, whatever quotes they stand in and whatever follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.agent.written_actions import Action, actions_in

NAMES = ("search", "deref", "query", "success", "fail", "chat")


def read(text: str) -> list[tuple[str, str]]:
    return [(action.name, action.argument) for action in actions_in(text, NAMES)]


def test_several_actions_are_read_in_order() -> None:
    text = "Think: two names.\nAct: search('Io') | deref(\"http://example.org/Jupiter\")"

    assert read(text) == [("search", "Io"), ("deref", "http://example.org/Jupiter")]


@pytest.mark.parametrize(
    ("written", "argument"),
    [
        ("query('ASK { ?x :p|:q ?y }')", "ASK { ?x :p|:q ?y }"),
        ("query('ASK { ?x :name 'Io')' }')", "ASK { ?x :name 'Io')' }"),
        ('query("""ASK { ?x :name "Io" }""")', 'ASK { ?x :name "Io" }'),
        ("```\nquery('ASK { ?x a :Moon }')\n```", "ASK { ?x a :Moon }"),
        ("query(“ASK { ?x a :Moon }”)", "ASK { ?x a :Moon }"),
        ("query(SELECT (COUNT(?x) AS ?n) { ?x a :M })", "SELECT (COUNT(?x) AS ?n) { ?x a :M }"),
        ("QUERY ( 'ASK {}' )", "ASK {}"),
        ("query('ASK {}'", "'ASK {}'"),
    ],
)
def test_an_argument_may_hold_quotes_bars_and_brackets(written: str, argument: str) -> None:
    assert read(f"Think: so.\n**Act:** {written}") == [("query", argument)]


def test_what_a_model_makes_up_as_observation_is_left_out() -> None:
    text = "Act: search('Io')\nObserve: ex:Io\nAct is done. search('Europa')"

    assert read(text) == [("search", "Io")]


def test_actions_before_the_last_act_are_only_talk() -> None:
    text = "Act: I could search('Io') again.\nThink: no.\nAct: fail('nothing found')"

    assert read(text) == [("fail", "nothing found")]


def test_an_action_given_twice_is_done_once() -> None:
    assert read("Act: search('Io') | search('Io')") == [("search", "Io")]


def test_words_that_only_end_like_an_action_are_none() -> None:
    assert read("Act: research('Io') and subquery('x')") == []


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(action.name in NAMES for action in actions_in(text, NAMES))


@given(st.text(st.characters(exclude_characters="'\"`“”‘’„«»)("), max_size=80))
def test_an_argument_in_quotes_comes_as_it_was_written(argument: str) -> None:
    found = actions_in(f"Act: search('{argument}')", ("search",))

    made_up = "observ" in argument.lower() or "system" in argument.lower()
    assert made_up or "act" in argument.lower() or found == (Action("search", argument.strip()),)
