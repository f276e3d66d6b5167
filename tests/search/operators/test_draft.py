"""Days as literals, also where no calendar reaches."""

from hypothesis import example, given
from hypothesis import strategies as st

from askgraph.rdf.vocabulary import XSD_DATE
from askgraph.search.operators.draft import day_literal, year_of
from askgraph.traversal.literals import day_number


@given(year=st.integers(-20_000, 120_000))
@example(year=0)
@example(year=1)
@example(year=9999)
@example(year=10_000)
def test_the_first_day_of_any_year_lies_in_that_year(year: int) -> None:
    assert year_of(day_number(year)) == year
    assert day_literal(day_number(year), XSD_DATE).startswith(f'"{year:0{5 if year < 0 else 4}}-')
