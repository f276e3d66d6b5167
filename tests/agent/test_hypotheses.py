"""Of several queries the first with a result, the largest, or what most give is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from askgraph.agent.hypotheses import CHOICES, Hypothesis, chosen
from askgraph.errors import SetupError
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer


def gives(*things: str, weight: float = 1.0, name: str = "x") -> Hypothesis:
    rows = tuple((NamedNode(f"http://example.org/{thing}"),) for thing in things)
    result = SelectResult((name,), rows)
    return Hypothesis(Answer("SELECT …", "g", result, (name,), "", 0.5), weight)


def says(value: bool) -> Hypothesis:
    return Hypothesis(Answer("ASK …", "g", SelectResult((), ()), (), "", 0.5, boolean=value))


def taken(hypotheses: list[Hypothesis], by: str) -> int:
    found = chosen(hypotheses, by)
    assert found is not None
    return hypotheses.index(found[0])


def test_the_first_set_is_the_first_that_is_not_empty() -> None:
    assert taken([gives(), gives("a"), gives("b", "c")], "first") == 1


def test_the_largest_set_has_most_rows_and_of_equals_is_the_first() -> None:
    assert taken([gives("a"), gives("b", "c"), gives("d", "e")], "largest") == 1


def test_the_vote_goes_to_the_result_that_most_come_to_whatever_its_column_is_called() -> None:
    hypotheses = [gives("a"), gives("b", "c"), gives("c", "b", name="y")]

    found = chosen(hypotheses, "vote")

    assert found is not None
    assert found[0] is hypotheses[1] and found[1] == pytest.approx(2 / 3)


def test_weights_count_in_the_vote() -> None:
    assert (
        taken([gives("a", weight=0.7), gives("b", weight=0.2), gives("b", weight=0.2)], "vote") == 0
    )


def test_a_yes_or_no_is_never_empty() -> None:
    assert taken([says(False), gives("a")], "first") == 0


def test_only_empty_results_leave_the_first_and_none_leaves_none() -> None:
    assert taken([gives(), gives()], "vote") == 0
    assert chosen([], "first") is None


def test_another_way_of_choosing_is_refused() -> None:
    with pytest.raises(SetupError, match="largest"):
        chosen([gives("a")], "best")


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=3, unique=True), min_size=1, max_size=6),
    st.sampled_from(CHOICES),
)
def test_an_empty_result_is_taken_only_where_all_are(results: list[list[str]], by: str) -> None:
    hypotheses = [gives(*one) for one in results]

    found = chosen(hypotheses, by)

    assert found is not None
    assert found[0].empty is all(one.empty for one in hypotheses)
    assert 0 < found[1] <= 1
