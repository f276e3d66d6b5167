"""What is said of results that do not have the shape asked for, and of those that do."""

from pyoxigraph import QueryBoolean, QuerySolutions
from tests.each import for_each
from tests.readings import read_table
from tests.search.asking import Known

from askgraph.search.pipeline import link_text
from askgraph.search.rank.expected_answer_type import derive_expected_answer
from askgraph.search.rank.type_mismatches import find_type_mismatches
from askgraph.sparql.results import SelectResult

PREFIXES = """\
PREFIX : <https://example.org/space/>
PREFIX ont: <https://example.org/space/ontology#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""


def outcome_of(space: Known, query: str) -> SelectResult | bool:
    result = space.store.query(query)
    if isinstance(result, QueryBoolean):
        return bool(result)
    assert isinstance(result, QuerySolutions)
    names = tuple(variable.value for variable in result.variables)
    return SelectResult(names, tuple(tuple(row) for row in result))


def said(space: Known, question: str, query: str) -> str:
    """All that is said of a query's result."""
    expected = derive_expected_answer(link_text(question, None, space.names))
    outcome = outcome_of(space, PREFIXES + query)
    return " ".join(find_type_mismatches(expected, PREFIXES + query, outcome, space.profile))


@for_each(("question", "query", "words"), read_table(__file__, "misfits.txt"))
def test_what_does_not_fit_is_said(space: Known, question: str, query: str, words: str) -> None:
    assert words in said(space, question, query)


@for_each(("question", "query"), read_table(__file__, "fits.txt"))
def test_nothing_is_said_of_what_fits(space: Known, question: str, query: str) -> None:
    assert said(space, question, query) == ""


def test_nothing_is_said_of_a_query_that_cannot_be_read(space: Known) -> None:
    expected = derive_expected_answer(link_text("Which moons are there?", None, space.names))
    assert (
        find_type_mismatches(expected, "SELECT ?m {", SelectResult(("m",), ()), space.profile) == ()
    )
