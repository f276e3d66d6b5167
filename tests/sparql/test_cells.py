"""What counts as the same value."""

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.rdf import vocabulary as voc
from askgraph.sparql.cells import cell_of_json, cell_of_term


def typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(datatype))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Literal(1), Literal("1")),
        (Literal(1), typed("1.0", voc.XSD_DECIMAL)),
        (typed("1E0", voc.XSD_DOUBLE), typed("+1", voc.XSD_BYTE)),
        (typed("007", voc.XSD_INTEGER), Literal(7)),
        (typed("1", voc.XSD_BOOLEAN), Literal("true")),
        (Literal("Mond", language="de"), Literal("Mond")),
        (Literal("e\u0301"), Literal("\u00e9")),
        (NamedNode("http://example.org/Moon"), Literal("http://example.org/Moon")),
        (typed("2020-01-01", voc.XSD_DATE), typed("2020-01-01T00:00:00Z", voc.XSD_DATE_TIME)),
        (
            typed("2020-01-01T02:00:00+02:00", voc.XSD_DATE_TIME),
            typed("2020-01-01T00:00:00.000Z", voc.XSD_DATE_TIME),
        ),
        (
            typed("2020-01-01+02:00", voc.XSD_DATE),
            typed("2019-12-31T22:00:00", voc.XSD_DATE_TIME),
        ),
        (typed("-0044-03-15", voc.XSD_DATE), typed("-0044-03-15T00:00:00Z", voc.XSD_DATE_TIME)),
        (
            typed("0001-01-01T00:00:00+01:00", voc.XSD_DATE_TIME),
            typed("0000-12-31T23:00:00Z", voc.XSD_DATE_TIME),
        ),
        (typed("12000-02-29", voc.XSD_DATE), typed("12000-02-29T00:00:00Z", voc.XSD_DATE_TIME)),
        (typed("1E400", voc.XSD_DOUBLE), typed("INF", voc.XSD_DOUBLE)),
        (typed("1990", voc.XSD_G_YEAR), Literal(1990)),
        (typed("NaN", voc.XSD_DOUBLE), typed("NaN", voc.XSD_DOUBLE)),
    ],
)
def test_values_that_are_equal(one: Literal, other: Literal) -> None:
    assert cell_of_term(one) == cell_of_term(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Literal("007"), Literal(7)),
        (Literal("true"), Literal(1)),
        (Literal("moon"), Literal("Moon")),
        (typed("2020-02-30", voc.XSD_DATE), typed("2020-03-01", voc.XSD_DATE)),
        (Literal("1e"), Literal(1)),
        (typed("-0044-03-15", voc.XSD_DATE), typed("0044-03-15", voc.XSD_DATE)),
        (typed("P1D", voc.XSD + "dayTimeDuration"), typed("PT24H", voc.XSD + "dayTimeDuration")),
        (NamedNode("http://example.org/%C3%A9"), NamedNode("http://example.org/é")),
        (BlankNode("a"), BlankNode("b")),
        (Literal("٣"), Literal(3)),
    ],
)
def test_values_that_are_not_equal(one: Literal, other: Literal) -> None:
    assert cell_of_term(one) != cell_of_term(other)


@pytest.mark.parametrize("text", ["9" * 5000, "1e999", "-.5e-999", "9999-12-31T23:59:59+00:00"])
def test_extreme_values_have_a_form(text: str) -> None:
    assert cell_of_json(text) is not None


def test_a_stored_value_equals_the_term_it_was_taken_from() -> None:
    assert cell_of_json("2.50") == cell_of_term(typed("2.5", voc.XSD_DECIMAL))
    assert cell_of_json(2.5) == cell_of_json("2.5")
    assert cell_of_json(True) == cell_of_term(Literal(True))
    assert cell_of_json(None) is cell_of_term(None)


def test_an_iri_equals_its_text_in_whatever_form_its_letters_are() -> None:
    iri = NamedNode("http://example.org/e\u0301")
    assert cell_of_term(iri) == cell_of_json(iri.value) == cell_of_json("http://example.org/\u00e9")
