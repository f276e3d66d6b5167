"""The tree of a candidate's query is that of its text."""

import pytest

from askgraph.rdf.prefixes import PrefixMap
from askgraph.rdf.vocabulary import RDF_TYPE, XSD_DATE
from askgraph.search.form import (
    Aggregate,
    Average,
    Column,
    Computed,
    Filter,
    Form,
    Given,
    Having,
    Key,
    Pattern,
)
from askgraph.search.query import answer_columns, query_of
from askgraph.sparql.read import read
from askgraph.sparql.write import by_subject, laid_out, plain_text

EX = "http://example.org/"
PREFIXES = PrefixMap({"ex": EX})
BORN, MOON = Pattern(0, EX + "born", 1), Pattern(0, RDF_TYPE, f"<{EX}Moon>")
DAY = f'"2024-06-30"^^<{XSD_DATE}>'
HINTS = {0: "moon", 1: "date of birth", 2: "moon", 3: "2 m²"}

FORMS = [
    Form((BORN, MOON), (Column(0), Column(1, answer=False)), hints=HINTS),
    Form((MOON,), ask=True, filters=(Filter(0, "=", (f"<{EX}Io>",)),), hints=HINTS),
    Form(
        (Pattern(0, RDF_TYPE, f"<{EX}Moon>", plus=True), Pattern(0, EX + "partOf", 2, plus=True)),
        (Column(2), Column(Aggregate("COUNT", 0, distinct=True))),
        group=(2,),
        having=(Having(Aggregate("COUNT", 0), ">", "2"),),
        order=(Key(Aggregate("COUNT", 0), descending=True), Key(2), Key(0, as_number=True)),
        limit=3,
        offset=1,
        hints=HINTS,
    ),
    Form(
        (BORN,),
        (Column(3),),
        filters=(
            Filter(1, ">=", (DAY,)),
            Filter(1, "YEAR", ("1900",)),
            Filter(1, "IN", ('"a \\"b\\""@en', "true", "1.5")),
            Filter(0, "CONTAINS", ('"x"',)),
            Filter(0, "TEXT", ('"x"',)),
            Filter(1, "<", (Average(2, (Pattern(2, EX + "mass", 3),)),), as_number=True),
            Filter(1, "<", ("5",), as_integer=True),
        ),
        without=(((Pattern(0, EX + "of", 2),), (Filter(2, "!=", (f"<{EX}Io>",)),)),),
        either=(((BORN,), ()), ((MOON,), ())),
        optional=(Pattern(0, EX + "died", 2),),
        given=(Given((2, 3), (("1", f"<{EX}Io>"), ("2", '"x"'))),),
        computed=(
            Computed(3, "else", (2, DAY)),
            Computed(4, "scaled", (2, "3", 1)),
            *(Computed(at, unit, (1, DAY)) for at, unit in enumerate(("years", "days"), 5)),
        ),
        hints=HINTS,
    ),
]


@pytest.mark.parametrize("form", FORMS)
def test_the_tree_is_that_of_its_text(form: Form) -> None:
    query = query_of(form)

    assert read(plain_text(query, PREFIXES)) == query
    assert read(laid_out(query, PREFIXES)) == by_subject(query)


def test_a_query_is_written_with_one_pattern_a_line() -> None:
    assert plain_text(query_of(FORMS[0]), PREFIXES) == (
        "PREFIX ex: <http://example.org/>\n\n"
        "SELECT DISTINCT ?moon ?date_of_birth WHERE {\n"
        "  ?moon ex:born ?date_of_birth .\n"
        "  ?moon a ex:Moon .\n"
        "}"
    )


def test_columns_are_named_after_what_they_hold() -> None:
    assert answer_columns(FORMS[0]) == ("moon",)
    assert answer_columns(FORMS[2]) == ("moon_2", "number_of_moon")
