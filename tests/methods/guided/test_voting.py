"""Opinions agree by what their answers give; the agreement that weighs most is believed."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from askgraph.methods.guided import voting
from askgraph.methods.guided.verdict import Signs, estimate_answer_confidence
from askgraph.sparql.results import SelectResult, Term
from askgraph.trace import Answer

Rows = tuple[tuple[Term | None, ...], ...]


def things(names: str) -> Rows:
    return tuple((NamedNode(f"http://example.org/{name}"),) for name in names)


def opinion(source: str, given: Rows | bool, weight: float = 0.6) -> voting.Opinion:
    """What a source gives: rows whose first column is the answer, or yes or no."""
    boolean = given if isinstance(given, bool) else None
    rows = () if isinstance(given, bool) else given
    variables = ("x", *(f"context{at}" for at in range(1, len(rows[0]) if rows else 1)))
    answer = Answer(
        query=f"# {given}",
        graph="g",
        result=SelectResult(variables, rows),
        answer_columns=("x",),
        words="",
        confidence=0.5,
        boolean=boolean,
    )
    return voting.Opinion(source, answer, weight)


OPINIONS = st.lists(
    st.builds(
        opinion,
        source=st.sampled_from(["one", "two", "three"]),
        given=st.booleans() | st.sampled_from([things(""), things("a"), things("ab"), things("c")]),
        weight=st.floats(0, 1),
    ),
    min_size=1,
    max_size=8,
)


def shown(agreement: voting.AnswerGroup) -> tuple[object, ...]:
    answer = agreement.answer
    return frozenset(answer.result.rows), answer.boolean, agreement.sources, agreement.weight


def test_rows_that_differ_in_context_alone_agree() -> None:
    with_label = tuple((row[0], Literal("A")) for row in things("ab"))
    found = voting.group_opinions([opinion("one", things("ba")), opinion("two", with_label)])
    assert [one.sources for one in found] == [("one", "two")]


def test_two_that_agree_outweigh_a_better_one() -> None:
    vote = voting.count_votes(
        [
            opinion("best", things("a"), 0.7),
            opinion("two", things("b"), 0.6),
            opinion("three", things("b"), 0.6),
        ]
    )

    assert vote is not None
    assert vote.winner.sources == ("three", "two")
    assert vote.runner_up is not None and vote.runner_up.sources == ("best",)
    assert vote.confidence > 0.6 > 1 - vote.confidence > sum(vote.chances[1:]) > 0


def test_samples_of_one_source_weigh_less_than_as_many_sources() -> None:
    samples = [opinion("model", things("a")) for _ in range(3)]
    others = [opinion(source, things("b")) for source in ("one", "two")]
    vote = voting.count_votes([*samples, *others])
    assert vote is not None and vote.winner.sources == ("one", "two")


@pytest.mark.parametrize("empties", [1, 2, 3])
def test_an_empty_result_does_not_win_against_rows_of_similar_weight(empties: int) -> None:
    nothing = [opinion(f"empty {at}", things(""), 0.6) for at in range(empties)]
    vote = voting.count_votes([*nothing, opinion("one", things("a"), 0.5)])
    assert vote is not None and vote.winner.sources == ("one",)


def test_an_empty_result_is_what_is_left_where_nobody_gives_rows() -> None:
    vote = voting.count_votes([opinion("one", things("")), opinion("two", things(""))])
    assert vote is not None and vote.winner.is_empty and len(vote.chances) == 1
    assert voting.count_votes([]) is None


@given(st.floats(0.01, 0.96))
def test_a_lone_opinion_is_believed_as_its_weight_says(weight: float) -> None:
    vote = voting.count_votes([opinion("one", things("a"), weight)])
    assert vote is not None and vote.confidence == pytest.approx(weight)


@given(OPINIONS, st.data())
def test_the_opinions_order_is_free(opinions: list[voting.Opinion], data: st.DataObject) -> None:
    moved = data.draw(st.permutations(opinions))
    assert [shown(one) for one in voting.group_opinions(moved)] == [
        shown(one) for one in voting.group_opinions(opinions)
    ]


@given(OPINIONS)
def test_opinions_agree_once_and_chances_are_of_one_truth(opinions: list[voting.Opinion]) -> None:
    vote, found = voting.count_votes(opinions), voting.group_opinions(opinions)
    assert vote is not None and vote.winner.answer == found[0].answer
    assert sum(len(one.opinions) for one in found) == len(opinions)
    assert 0 < sum(vote.chances) <= 1 + 1e-9
    assert list(vote.chances) == sorted(vote.chances, reverse=True)


@given(st.lists(st.floats(0.2, 1), min_size=1, max_size=6))
def test_another_source_that_agrees_makes_surer(weights: list[float]) -> None:
    opinions = [opinion(str(at), things("a"), weight) for at, weight in enumerate(weights)]

    before, after = (
        voting.count_votes(opinions),
        voting.count_votes([*opinions, opinion("more", things("a"), 0.5)]),
    )

    assert before is not None and after is not None
    assert before.confidence < after.confidence <= 1 or before.confidence > 0.999


def test_the_same_query_with_other_answer_columns_is_ranked_by_these() -> None:
    rows: Rows = ((Literal("a"), Literal("b")),)
    both = SelectResult(("x", "y"), rows)
    opinions = [
        voting.Opinion("one", Answer("Q", "g", both, (name,), "", 0.5)) for name in both.variables
    ]

    votes = [voting.count_votes(opinions), voting.count_votes(opinions[::-1])]

    assert [vote and vote.answer.answer_columns for vote in votes] == [("x",), ("x",)]


share = st.floats(0, 1)
signs = st.builds(
    Signs,
    searched=share,
    against=share,
    said=st.none() | share,
    findings=st.integers(0, 5),
    empty=st.booleans(),
    truncated=st.booleans(),
    misfit=st.booleans(),
    revised=st.booleans(),
)


@given(signs)
def test_a_belief_lies_between_nothing_and_certainty(known: Signs) -> None:
    assert 0 < estimate_answer_confidence(known) < 1


@given(signs, share, share)
def test_more_agreement_never_lowers_a_belief(known: Signs, some: float, other: float) -> None:
    less, more = sorted((some, other))
    for better, worse in (
        ({"searched": more}, {"searched": less}),
        ({"against": less}, {"against": more}),
        ({"said": more}, {"said": less}),
    ):
        believed = estimate_answer_confidence(replace(known, **better))  # type: ignore[arg-type]
        assert estimate_answer_confidence(replace(known, **worse)) <= believed  # type: ignore[arg-type]


@given(signs)
def test_nothing_that_speaks_against_an_answer_raises_its_belief(known: Signs) -> None:
    fine = replace(known, empty=False, truncated=False, misfit=False, revised=False, findings=0)
    for flaw in ("empty", "truncated", "misfit", "revised"):
        assert estimate_answer_confidence(
            replace(fine, **{flaw: True})
        ) < estimate_answer_confidence(fine)
    assert estimate_answer_confidence(replace(fine, findings=1)) < estimate_answer_confidence(fine)
    assert estimate_answer_confidence(
        replace(known, findings=known.findings + 1)
    ) <= estimate_answer_confidence(known)


def test_what_graph_search_is_sure_of_and_the_model_gives_too_is_believed() -> None:
    agreed, alone = (
        estimate_answer_confidence(Signs(searched=0.93)),
        estimate_answer_confidence(Signs()),
    )
    contested = estimate_answer_confidence(Signs(against=0.93))

    assert agreed > 0.9
    assert contested < alone < agreed
    assert contested == pytest.approx(0.5, abs=0.1)


async def counted(
    name: str, number: int, closed: list[str], *, wait: float = 0.0, fail: bool = False
) -> AsyncGenerator[str, None]:
    try:
        for at in range(number):
            await asyncio.sleep(wait)
            yield f"{name}{at}"
        if fail:
            raise ValueError(name)
    finally:
        closed.append(name)


async def test_all_items_come_in_the_order_of_each_stream() -> None:
    closed: list[str] = []
    streams = counted("a", 3, closed), counted("b", 2, closed), counted("c", 0, closed)
    found = [item async for item in voting.merge_streams(*streams)]
    assert sorted(found) == ["a0", "a1", "a2", "b0", "b1"]
    assert [item for item in found if item[0] == "a"] == ["a0", "a1", "a2"]
    assert sorted(closed) == ["a", "b", "c"]


async def test_the_first_error_is_raised_and_ends_the_others() -> None:
    closed: list[str] = []
    streams = counted("a", 1, closed, fail=True), counted("b", 1000, closed, wait=1.0)
    with pytest.raises(ValueError, match="a"):
        [item async for item in voting.merge_streams(*streams)]
    assert sorted(closed) == ["a", "b"]


async def test_closing_early_closes_all_streams() -> None:
    closed: list[str] = []
    stream = voting.merge_streams(counted("a", 5, closed), counted("b", 1000, closed, wait=1.0))
    assert await anext(stream) == "a0"
    await stream.aclose()
    assert sorted(closed) == ["a", "b"]
