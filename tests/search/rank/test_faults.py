"""Faults of a query: right ones have none, and each is found where a right one is spoilt."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from pyoxigraph import RdfFormat, Store
from tests.search.asking import Known

from askgraph.search.form import Aggregate, Column, Filter, Form, Having, Key, Pattern
from askgraph.search.rank.clusters import clusters
from askgraph.search.rank.faults import FAULTS, Subject, faults_of

ONT = "https://example.org/space/ontology#"
LONG = "Which moons have a diameter of more than 3000 km?"
LARGEST = "Which is the largest moon?"
LISTED = "Show the height and the mass of each launch vehicle."
COUNTED = "How many moons has each planet?"
UNORBITED = "Which planets have no moons?"


def subject(
    space: Known, question: str, spoil: Callable[[Form], Form] = lambda form: form
) -> Subject:
    proposal = space.proposal(question, "en")
    best = clusters(proposal.candidates)[0].best
    return Subject(proposal, replace(best, form=spoil(best.form)))


@pytest.mark.parametrize("question", [LONG, LARGEST, COUNTED, UNORBITED])
def test_a_right_query_has_no_fault(question: str, space: Known) -> None:
    assert faults_of(subject(space, question)) == ()


def test_each_fault_is_told_in_words() -> None:
    assert all(reason and not reason.endswith(".") for reason in FAULTS.values())


SPOILT: list[tuple[str, str, Callable[[Form], Form]]] = [
    ("number_missing", LONG, lambda form: replace(form, filters=())),
    (
        "idle_condition",
        LONG,
        lambda form: replace(
            form,
            patterns=(*form.patterns, Pattern("<http://e/1>", f"{ONT}mass", 90)),
            filters=(*form.filters, Filter(90, ">", ("3",))),
        ),
    ),
    ("limit_missing", LARGEST, lambda form: replace(form, limit=None)),
    ("extreme_missing", LARGEST, lambda form: replace(form, limit=None, order=())),
    ("limit_extra", "Which moons orbit Jupiter?", lambda form: replace(form, limit=1)),
    (
        "thing_missing",
        "Which moons orbit Jupiter?",
        lambda form: replace(
            form, patterns=tuple(one for one in form.patterns if "Jupiter" not in str(one.object))
        ),
    ),
    (
        "bound_twice",
        LONG,
        lambda form: replace(
            form, filters=(*form.filters, replace(form.filters[0], operator=">="))
        ),
    ),
    (
        "contradicts",
        LONG,
        lambda form: replace(
            form, filters=(*form.filters, Filter(form.filters[0].variable, "<", ("10",)))
        ),
    ),
    (
        "contradicts",
        "Which moons orbit Jupiter?",
        lambda form: replace(form, without=((form.patterns[:1], ()),)),
    ),
    (
        "counts_group",
        COUNTED,
        lambda form: replace(form, group=tuple(_counted(form)), limit=None),
    ),
    (
        "single_values",
        "Which moons orbit Jupiter?",
        lambda form: Form(
            (Pattern(0, f"{ONT}diameter", 1),),
            (Column(0), Column(Aggregate("AVG", 1))),
            group=(0,),
        ),
    ),
    (
        "denied_apart",
        UNORBITED,
        lambda form: replace(
            form,
            patterns=(*form.patterns, Pattern(90, f"{ONT}orbits", 0)),
            without=(((Pattern(90, f"{ONT}discoverer", 91),), ()),),
        ),
    ),
    (
        "columns_missing",
        LISTED,
        lambda form: replace(form, columns=form.columns[:1], order=()),
    ),
]


def _counted(form: Form) -> list[int]:
    return [one.value.variable for one in form.columns if isinstance(one.value, Aggregate)]


@pytest.mark.parametrize(
    ("fault", "question", "spoil"),
    SPOILT,
    ids=[f"{name}-{at}" for at, (name, *_) in enumerate(SPOILT)],
)
def test_a_spoilt_query_has_the_fault(
    fault: str, question: str, spoil: Callable[[Form], Form], space: Known
) -> None:
    assert fault not in faults_of(subject(space, question))
    assert fault in faults_of(subject(space, question, spoil))


def test_a_number_turned_into_another_unit_is_not_missing(space: Known) -> None:
    def in_metres(form: Form) -> Form:
        return replace(form, filters=(replace(form.filters[0], values=("3000000",)),))

    assert faults_of(subject(space, LONG, in_metres)) == ()


def test_a_count_in_a_condition_is_a_number_held(space: Known) -> None:
    def counting(form: Form) -> Form:
        return Form(
            form.patterns, form.columns, group=(0,),
            having=(Having(Aggregate("COUNT", 7), ">", "3000"),), order=(Key(0),),
        )  # fmt: skip

    assert "number_missing" not in faults_of(subject(space, LONG, counting))


RATED = """
@prefix : <https://example.org/films#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Film rdfs:label "film"@en . :rating rdfs:label "rating"@en .
:one a :Film ; rdfs:label "Blue Harbour"@en ; :rating 1, 2, 3, 4, 5 .
:two a :Film ; rdfs:label "Red Hill"@en ; :rating 2, 3, 4, 5, 6 .
"""


def test_the_average_of_many_values_of_a_thing_is_no_fault() -> None:
    store = Store()
    store.bulk_load(RATED.encode(), RdfFormat.TURTLE)

    found = subject(Known(store), "What is the average rating of each film?")

    assert found.form.group
    assert "single_values" not in faults_of(found)
