"""Two conditions with "or" between them are one: what fits either of them fits."""

import pytest
from tests.search.asking import Known

from askgraph.search import alternatives_in, conditions_in
from askgraph.search.rank import clusters


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (
            "Which enclosures have a surface area above 2000 or an opening year after 2010?",
            {"Hall", "Pool", "Cave"},
        ),
        ("Which animals were born before 2000 or after 2019?", {"Humbo", "Pep"}),
        ("Which animals have a weight below 5 or a weight above 4000?", {"Pip", "Humbo"}),
        ("Welche Tiere wurden vor 2000 oder nach 2019 geboren?", {"Humbo", "Pep"}),
    ],
)
def test_what_fits_one_of_two_conditions_is_found(
    question: str, found: set[str], zoo: Known
) -> None:
    best = clusters(zoo.proposal(question).candidates)[0].best
    rows = zoo.rows(zoo.query(best.query))

    assert not isinstance(rows, bool)
    assert {str(row[0]) for row in rows} == {f"<https://zoo.example/{one}>" for one in found}
    assert not conditions_in(best.tree.where)
    assert len(alternatives_in(best.tree.where)) == 2
