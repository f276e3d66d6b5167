"""Of several queries the first with a result, the largest, or what most give is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode
from tests.each import for_each

from askgraph.llm import Choice, TokenLogprob
from askgraph.methods import dfsl
from askgraph.sparql.results import SelectResult

ONE, OTHER = "SELECT ?a { ?a :p :x }", "SELECT ?a { :x :p ?a }"


def gives(*things: str, weight: float = 1.0, name: str = "x") -> dfsl.QueryHypothesis:
    rows = tuple((NamedNode(f"http://example.org/{thing}"),) for thing in things)
    return dfsl.QueryHypothesis("SELECT …", SelectResult((name,), rows), weight)


def reply(*queries: str, logprobs: tuple[float, ...] = ()) -> Choice:
    text = " ".join(f"<sparql>{query}</sparql>" for query in queries)
    return Choice(text, logprobs=tuple(TokenLogprob("t", value) for value in logprobs))


def taken(hypotheses: list[dfsl.QueryHypothesis], by: str) -> int:
    found = dfsl.choose_hypothesis(hypotheses, by)
    assert found is not None
    return hypotheses.index(found[0])


def test_the_vote_goes_to_the_result_that_most_come_to_whatever_its_column_is_called() -> None:
    hypotheses = [gives("a"), gives("b", "c"), gives("c", "b", name="y")]
    found = dfsl.choose_hypothesis(hypotheses, "vote")
    assert found is not None
    assert found[0] is hypotheses[1] and found[1] == pytest.approx(2 / 3)


@for_each(
    ("hypotheses", "by", "place"),
    ([gives(), gives("a"), gives("b", "c")], "first", 1),
    ([dfsl.QueryHypothesis("ASK …", False), gives("a")], "first", 0),  # a yes or no is never empty
    ([gives("a"), gives("b", "c"), gives("d", "e")], "largest", 1),
    ([gives("a", "b"), gives("c", "c", "c")], "largest", 0),  # rows that come again
    ([gives("a", weight=0.7), gives("b", weight=0.2), gives("b", weight=0.2)], "vote", 0),
    ([gives(), gives()], "vote", 0),
)
def test_the_first_the_largest_or_the_heaviest_is_chosen(
    hypotheses: list[dfsl.QueryHypothesis], by: str, place: int
) -> None:
    assert taken(hypotheses, by) == place
    assert dfsl.choose_hypothesis([], by) is None


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=3, unique=True), min_size=1, max_size=6),
    st.sampled_from(dfsl.CHOICE_RULES),
)
def test_an_empty_result_is_taken_only_where_all_are(results: list[list[str]], by: str) -> None:
    hypotheses = [gives(*one) for one in results]
    found = dfsl.choose_hypothesis(hypotheses, by)
    assert found is not None
    assert (found[0].size == 0) is all(one.size == 0 for one in hypotheses)
    assert 0 < found[1] <= 1


def test_replies_are_ranked_by_the_token_if_all_tell_their_log_probability() -> None:
    long, short = reply(ONE, logprobs=(-0.1,) * 20), reply(OTHER, logprobs=(-0.5, -0.5))
    silent = reply(OTHER)
    assert dfsl.sort_by_probability([short, long]) == [long, short]
    assert dfsl.sort_by_probability([short, silent]) == [short, silent]


def test_queries_that_differ_in_names_and_layout_are_one_and_weigh_together() -> None:
    same = "SELECT  ?thing\nWHERE { ?thing :p :x . }"
    found = dfsl.weigh_queries([reply(OTHER), reply(ONE), reply(same)], prefixes={"": "http://e/"})
    assert found == {ONE: 2.0, OTHER: 1.0}
    assert list(found) == [ONE, OTHER]


def test_with_log_probabilities_the_order_of_the_replies_stays() -> None:
    replies = [reply(OTHER, logprobs=(-0.1,)), *[reply(ONE, logprobs=(-0.5,))] * 2]
    assert list(dfsl.weigh_queries(replies)) == [OTHER, ONE]


@for_each(
    ("text", "queries"),
    (f"<sparql>{ONE}</sparql> or <SPARQL>{OTHER}</SPARQL>", [ONE, OTHER]),
    (f"<sparql>{ONE}</sparql><sparql>{ONE}</sparql>", [ONE]),
    (f"<sparql>\n{ONE}", [ONE]),
    (f"Here:\n```sparql\n{ONE}\n```", [ONE]),
    (ONE, [ONE]),
    ("I cannot say.", []),
)
def test_queries_are_found_between_tags_in_a_fence_or_bare(text: str, queries: list[str]) -> None:
    assert dfsl.parse_queries(text) == queries
