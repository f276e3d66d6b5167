"""One term of a query in the place of another: the text around it stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from tests.each import for_each

from askgraph.errors import QueryError
from askgraph.sparql import Call, Filter
from askgraph.sparql import vocabulary as v
from askgraph.sparql.judge import check_query
from askgraph.sparql.parser import parse_query, parse_tree
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite.swapped import replace_term

PREFIXES = PrefixMap({"ex": "http://example.org/"})
SATURN, JUPITER = "http://example.org/Saturn", "http://example.org/Jupiter"


def value(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(datatype))


def swap(query: str, old: NamedNode | Literal, new: str) -> str:
    return replace_term(query, old, new, prefixes=PREFIXES)


def test_a_thing_is_swapped_and_the_layout_stays() -> None:
    query = (
        "PREFIX ex: <http://example.org/>\n"
        "SELECT ?m  WHERE {\n  ?m ex:orbits ex:Saturn ; # Saturn, the planet\n     a ex:Moon\n}"
    )
    labels = {SATURN: "Saturn", JUPITER: "Jupiter"}
    changed = replace_term(query, NamedNode(SATURN), JUPITER, prefixes=PREFIXES, labels=labels)

    assert changed == (
        "PREFIX ex: <http://example.org/>\n"
        "SELECT ?m  WHERE {\n  ?m ex:orbits ex:Jupiter ; # Jupiter, the planet\n     a ex:Moon\n}"
    )


SIMILAR = f'SELECT * {{ ?m ?p <{SATURN}>, "<{SATURN}>", <{SATURN}/moons> }} # <{SATURN}>'
OTHER_PREFIX = f"PREFIX ex: <http://other.org/> SELECT * {{ ?m ex:p <{SATURN}> }}"


@for_each(
    ("query", "new", "changed"),
    (
        f"SELECT * {{ ?a ex:near <{SATURN}> . ?b ex:near ex:Saturn FILTER(?b != ex:Saturn) }}",
        JUPITER,
        "PREFIX ex: <http://example.org/>\n"
        "SELECT * { ?a ex:near ex:Jupiter . ?b ex:near ex:Jupiter FILTER(?b != ex:Jupiter) }",
    ),
    (OTHER_PREFIX, JUPITER, OTHER_PREFIX.replace("Saturn", "Jupiter")),
    (SIMILAR, "http://else.where/x", SIMILAR.replace(f"?p <{SATURN}>", "?p <http://else.where/x>")),
)
def test_all_places_of_a_thing_alone_are_swapped(query: str, new: str, changed: str) -> None:
    assert swap(query, NamedNode(SATURN), new) == changed


@for_each(
    ("before", "old", "new", "after"),
    ("5", value("5", v.XSD_INTEGER), "12", "12"),
    ("5", value("5", v.XSD_INTEGER), "2.5", "2.5"),
    ("5", value("5", v.XSD_INTEGER), " -3 ", "-3"),
    ("-5", value("-5", v.XSD_INTEGER), "7", "7"),
    ("1.50", value("1.50", v.XSD_DECIMAL), "3.", "3.0"),
    ("true", value("true", v.XSD_BOOLEAN), "false", "false"),
    ('"Mars"', Literal("Mars"), 'a "b"\\', '"a \\"b\\"\\\\"'),
    ("'''Mars'''", Literal("Mars"), "two\nlines", "'''two\\nlines'''"),
    ('"Mond"@de', Literal("Mond", language="de"), "Stern", '"Stern"@de'),
    (
        '"1969-07-20"^^xsd:date',
        value("1969-07-20", v.XSD_DATE),
        "1970-01-01",
        '"1970-01-01"^^xsd:date',
    ),
    (
        '"1969-07-20T20:17:00"^^xsd:dateTime',
        value("1969-07-20T20:17:00", v.XSD_DATE_TIME),
        "1970-01-01",
        '"1970-01-01T00:00:00"^^xsd:dateTime',
    ),
    ('"1969"^^xsd:gYear', value("1969", v.XSD_G_YEAR), "1970", '"1970"^^xsd:gYear'),
)
def test_a_value_is_written_as_before(before: str, old: Literal, new: str, after: str) -> None:
    query = "SELECT * {{ ?s ex:p ?v FILTER(?v > {0}) }} LIMIT 5"
    assert swap(query.format(before), old, new) == query.format(after)


@for_each(
    ("old", "new", "message"),
    (value("5", v.XSD_INTEGER), "many", "'many' is not a whole number"),
    (value("1969-07-20", v.XSD_DATE), "yesterday", "give a date, like 1969-07-20"),
    (value("1969", v.XSD_G_YEAR), "69", "give a year, like 1969"),
    (NamedNode(SATURN), "Jupiter", "'Jupiter' is not an IRI"),
    (NamedNode(SATURN), "http://x/> . ?s ?p <http://y", "is not an IRI"),
    (NamedNode(JUPITER), SATURN, "the query does not contain"),
)
def test_what_does_not_fit_is_refused(old: NamedNode | Literal, new: str, message: str) -> None:
    query = 'SELECT * { ?s ex:p ex:Saturn, 5, "1969-07-20"^^xsd:date, "1969"^^xsd:gYear }'
    with pytest.raises(QueryError, match=message):
        swap(query, old, new)


@given(
    st.text(st.characters(codec="utf-8")),
    st.sampled_from(['"old"', "'old'", "'''old'''", '"""old"""']),
)
def test_any_text_can_be_put_in_and_is_nothing_but_a_text(text: str, old: str) -> None:
    changed = swap(f"SELECT * {{ ?s ?p ?v FILTER(?v = {old}) }}", Literal("old"), text)
    condition = parse_tree(check_query(changed).text).where.elements[1]

    assert isinstance(condition, Filter) and isinstance(condition.condition, Call)
    assert condition.condition.arguments[1] == Literal(text)


def test_terms_are_found_where_they_stand() -> None:
    query = (
        "BASE <http://base.org/> PREFIX ex: <http://example.org/> SELECT (?v - 5 AS ?w) { "
        "?s ex:p -7, <here>, 'x'^^ex:type ; a ex:Moon FILTER(?v -3 > 2) VALUES ?n { 1 -2 } } "
        'GROUP BY ?s HAVING(GROUP_CONCAT(?v ; SEPARATOR = ", ") = "y") LIMIT 10 OFFSET 20'
    )
    found = [(str(one.term), query[one.start : one.end]) for one in parse_query(query, {}).terms]

    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    assert found == [
        (f'"5"{integer}', "5"), ("<http://example.org/p>", "ex:p"), (f'"-7"{integer}', "-7"),
        ("<http://base.org/here>", "<here>"), ('"x"^^<http://example.org/type>', "'x'^^ex:type"),
        ("<http://example.org/Moon>", "ex:Moon"), (f'"3"{integer}', "3"), (f'"2"{integer}', "2"),
        (f'"1"{integer}', "1"), (f'"-2"{integer}', "-2"), ('"y"', '"y"'),
    ]  # fmt: skip
