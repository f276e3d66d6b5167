"""Faults of a query: right ones have none, and each is found where a right one is spoilt."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from pyoxigraph import NamedNode, Variable
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.index.names import ItemKind
from askgraph.search import query_pieces as pieces
from askgraph.search.rank import cluster_candidates
from askgraph.search.rank.faults import FaultContext, demote_faulty, find_faults
from askgraph.sparql import Bind, Call, Element, Filter, Group, Query

ONT = "https://example.org/space/ontology#"
LONG = "Which moons have a diameter of more than 3000 km?"
LARGEST = "Which is the largest moon?"
LISTED = "Show the height and the mass of each launch vehicle."
COUNTED = "How many moons has each planet?"
ORBITING = "Which moons orbit Jupiter?"
UNORBITED = "Which planets have no moons?"


Spoil = Callable[[Query], Query]


def subject(space: Known, question: str, spoil: Spoil = lambda tree: tree) -> FaultContext:
    proposal = space.proposal(question, "en")
    best = cluster_candidates(proposal.candidates)[0].best
    tree = spoil(best.tree)
    own = [one for one in best.shown if one in pieces.list_column_values(tree)]
    return FaultContext(
        proposal, replace(best, tree=tree, shown=tuple(own or pieces.list_column_values(tree)))
    )


def with_elements(tree: Query, *more: Element) -> Query:
    return replace(tree, where=Group((*tree.where.elements, *more)))


def keeping(tree: Query, keeps: Callable[[Element], bool]) -> Query:
    return replace(tree, where=Group(tuple(filter(keeps, tree.where.elements))))


def bounded(tree: Query, sign: str, value: str | None = None) -> Query:
    """The query with another bound on what its first condition is about."""
    first = pieces.list_conditions(tree.where)[0]
    values = first.values if value is None else (pieces.parse_term(value),)
    return with_elements(tree, pieces.build_filter(first.variable, sign, *values))


@for_each("question", [LONG, LARGEST, COUNTED, UNORBITED])
def test_a_right_query_has_no_fault(question: str, space: Known) -> None:
    assert find_faults(subject(space, question)) == ()


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("How heavy is the International Space Station?", "measured_apart"),  # only rockets are
        ("Which asteroids were visited by a spacecraft?", "indefinite"),  # by Galileo
    ],
)
def test_what_is_said_of_other_things_is_a_fault(question: str, fault: str, space: Known) -> None:
    assert fault in find_faults(subject(space, question))


def test_a_word_that_an_operator_takes_names_no_thing_that_is_missing() -> None:
    """The speed of a ship is "average"; in the question it is the mean that is asked for."""
    known = Known(
        store_of(
            """@prefix : <https://e.example/> .
            :A a :Ship ; :speed "average" ; :length 10 .
            :B a :Ship ; :speed "high" ; :length 20 ."""
        )
    )
    question = "What is the average length of the ships?"
    assert find_faults(subject(known, question)) == ()
    assert "average" in {
        one.name for one in known.proposal(question, "en").linked.get_links(ItemKind.VALUE)
    }


def test_things_of_a_thing_are_not_shown_beside_what_is_asked_of_them(space: Known) -> None:
    best = space.best("Who discovered the moons of Uranus?", "en")
    [whole] = {one.subject for one in pieces.list_patterns(best.tree.where)}
    assert whole not in best.shown
    assert len(best.shown) == 1


def test_things_are_compared_with_a_thing_whose_name_ends_with_a_number(space: Known) -> None:
    best = cluster_candidates(
        space.proposal("Was Apollo 11 launched before Apollo 12?", "en").candidates
    )
    other = cluster_candidates(
        space.proposal("Was Apollo 13 launched before Apollo 12?", "en").candidates
    )
    assert space.rows(space.query(best[0].best.query)) is True
    assert space.rows(space.query(other[0].best.query)) is False


def test_a_faulty_candidate_makes_room_for_one_near_it(space: Known) -> None:
    proposal = space.proposal(LARGEST, "en")
    right = proposal.candidates[0]
    spoilt = replace(right, tree=replace(right.tree, limit=None), score=right.score + 0.01)
    found = demote_faulty(replace(proposal, candidates=(spoilt, right)), -0.1).candidates
    assert found[0].tree == right.tree
    assert found[0].features["faulty"] == 0
    faults = len(find_faults(FaultContext(proposal, spoilt)))
    assert found[1].features["faulty"] == faults > 0
    assert found[1].score == pytest.approx(spoilt.score - 0.1 * faults)


def test_without_faults_in_the_best_no_place_changes(space: Known) -> None:
    proposal = space.proposal(LARGEST, "en")
    assert demote_faulty(proposal, -0.1) is proposal


def counted(tree: Query) -> list[tuple[Variable, None]]:
    return [(pieces.get_value_variable(one), None) for one in pieces.find_aggregates(tree)]


APART, OTHER = pieces.get_variable(90), pieces.get_variable(91)
JUPITER = NamedNode("https://example.org/space/Jupiter")
SPOILT: list[tuple[str, str, Spoil]] = [
    ("number_missing", LONG, lambda tree: keeping(tree, lambda one: not isinstance(one, Filter))),
    (
        "idle_condition",
        LONG,
        lambda tree: with_elements(
            tree,
            pieces.build_pattern(NamedNode("http://e/1"), f"{ONT}mass", APART),
            pieces.build_filter(APART, ">", pieces.parse_term("3")),
        ),
    ),
    (
        "crossed",
        ORBITING,
        lambda _: pieces.build_query(
            [
                pieces.build_pattern(OTHER, f"{ONT}orbits", JUPITER),
                pieces.build_pattern(JUPITER, f"{ONT}mass", APART),
            ],
            [OTHER, APART],
        ),
    ),
    ("limit_missing", LARGEST, lambda tree: replace(tree, limit=None)),
    ("extreme_missing", LARGEST, lambda tree: replace(tree, limit=None, order=())),
    ("thing_missing", ORBITING, lambda tree: keeping(tree, lambda one: "Jupiter" not in str(one))),
    ("contradicts", LONG, lambda tree: bounded(tree, "<", "10")),
    (
        "contradicts",
        ORBITING,
        lambda tree: with_elements(
            tree, pieces.build_not_exists(pieces.list_patterns(tree.where)[0])
        ),
    ),
    (
        "counts_group",
        COUNTED,
        lambda tree: replace(tree, group_by=tuple(counted(tree)), limit=None),
    ),
    (
        "single_values",
        ORBITING,
        lambda _: pieces.build_query(
            [
                pieces.build_pattern(
                    pieces.get_variable(0), f"{ONT}diameter", pieces.get_variable(1)
                )
            ],
            [pieces.get_variable(0), pieces.build_aggregate("AVG", pieces.get_variable(1))],
            group=[pieces.get_variable(0)],
        ),
    ),
    (
        "denied_apart",
        UNORBITED,
        lambda tree: with_elements(
            keeping(tree, lambda one: not isinstance(one, Filter)),
            pieces.build_pattern(APART, f"{ONT}orbits", pieces.get_variable(0)),
            pieces.build_not_exists(pieces.build_pattern(APART, f"{ONT}discoverer", OTHER)),
        ),
    ),
    ("columns_missing", LISTED, lambda tree: replace(tree, columns=tree.columns[:1], order=())),
]


@pytest.mark.parametrize(
    "joins",
    [
        pieces.build_filter(APART, "<", OTHER),
        Bind(Call("YEAR", (OTHER,)), APART),
        pieces.build_query([pieces.build_pattern(OTHER, f"{ONT}mass", APART)], [OTHER, APART]),
    ],
    ids=["compared", "computed", "in a sub-query"],
)
def test_columns_joined_by_more_than_a_thing_are_not_crossed(joins: Element, space: Known) -> None:
    elements = [pieces.build_pattern(OTHER, f"{ONT}orbits", JUPITER), joins]
    crossed = pieces.build_query(elements, [OTHER, APART])
    assert "crossed" not in find_faults(subject(space, ORBITING, lambda _: crossed))


@for_each(("fault", "question", "spoil"), SPOILT)
def test_spoilt_queries_have_faults(fault: str, question: str, spoil: Spoil, space: Known) -> None:
    assert fault not in find_faults(subject(space, question))
    assert fault in find_faults(subject(space, question, spoil))


def test_a_number_turned_into_another_unit_is_not_missing(space: Known) -> None:
    def in_metres(tree: Query) -> Query:
        turned = bounded(tree, pieces.list_conditions(tree.where)[0].operator, "3000000")
        first = next(one for one in tree.where.elements if isinstance(one, Filter))
        return keeping(turned, lambda one: one is not first)

    assert find_faults(subject(space, LONG, in_metres)) == ()


def test_a_count_in_a_condition_is_a_number_held(space: Known) -> None:
    def counting(tree: Query) -> Query:
        count, key = pieces.build_aggregate("COUNT", pieces.get_variable(7)), pieces.get_variable(0)
        return pieces.build_query(
            pieces.list_patterns(tree.where), pieces.list_column_values(tree), group=[key],
            having=[Call(">", (count, pieces.parse_term("3000")))], order=[(key, False)],
        )  # fmt: skip

    assert "number_missing" not in find_faults(subject(space, LONG, counting))


RATED = """
@prefix : <https://example.org/films#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Film rdfs:label "film"@en . :rating rdfs:label "rating"@en .
:one a :Film ; rdfs:label "Blue Harbour"@en ; :rating 1, 2, 3, 4, 5 .
:two a :Film ; rdfs:label "Red Hill"@en ; :rating 2, 3, 4, 5, 6 .
"""


def test_the_average_of_many_values_of_a_thing_is_no_fault() -> None:
    store = store_of(RATED)

    found = subject(Known(store), "What is the average rating of each film?")

    assert found.tree.group_by
    assert "single_values" not in find_faults(found)
