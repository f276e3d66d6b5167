"""Results: an order that does not depend on the engine, and all formats, read again."""

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, RdfFormat, Triple

from askgraph.sparql import results
from askgraph.sparql.vocabulary import XSD_INTEGER

ANY_TERMS = st.sampled_from(
    [
        None,
        BlankNode("a"),
        NamedNode("http://example.org/a"),
        NamedNode("http://example.org/b"),
        Literal(9),
        Literal(10),
        Literal(9.5),
        Literal("NaN", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#double")),
        Literal("oops", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
        Literal("a"),
        Literal("a", language="de"),
    ]
)
ANY_ROWS = st.lists(st.tuples(ANY_TERMS, ANY_TERMS), max_size=8)


@given(ANY_ROWS, st.randoms())
def test_the_same_rows_come_in_the_same_order(rows: list[results.Row], chance: object) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (
        results.SelectResult(("a", "b"), tuple(given)).sort_rows() for given in (rows, shuffled)
    )
    assert one.rows == other.rows
    assert sorted(map(str, one.rows)) == sorted(map(str, rows))


def test_numbers_come_by_value_and_unbound_first() -> None:
    rows = tuple((term,) for term in (Literal("x"), Literal(10), Literal(9), None))
    found = results.SelectResult(("n",), rows).sort_rows().get_column("n")
    assert found == (None, Literal(9), Literal(10), Literal("x"))


MARS, MASS = NamedNode("http://example.org/Mars"), NamedNode("http://example.org/mass")
ROWS = results.SelectResult(
    ("thing", "value"),
    (
        (MARS, Literal("6.4", datatype=NamedNode(XSD_INTEGER))),
        (BlankNode("b1"), Literal('a, "b"\r\n\tc', language="en")),
        (None, Triple(MARS, MASS, Literal("x"))),
    ),
)
TRIPLES = results.GraphResult((Triple(MARS, MASS, Literal("heavy", language="en")),))
EXACT = {"json": QueryResultsFormat.JSON, "xml": QueryResultsFormat.XML}


def form(name: str) -> results.ResultFormat:
    return next(one for one in (*results.ROW_FORMATS, *results.GRAPH_FORMATS) if one.name == name)


def rows_in(document: bytes, name: str) -> list[list[results.Term | None]]:
    found = pyoxigraph.parse_query_results(document, format=EXACT[name])
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return [list(row) for row in found]


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
)


@given(TEXTS, st.sampled_from(sorted(EXACT)))
def test_any_text_is_the_same_when_read_again(text: str, name: str) -> None:
    result = results.SelectResult(("t",), ((Literal(text),),))
    assert rows_in(results.serialize_result(result, form(name)), name) == [[Literal(text)]]
    assert rows_in(results.serialize_result(ROWS, form(name)), name) == [
        list(row) for row in ROWS.rows
    ]


def test_csv_has_plain_values_and_tsv_has_terms() -> None:
    csv = results.serialize_result(ROWS, form("csv")).decode()
    tsv = results.serialize_result(ROWS, form("tsv")).decode()

    assert csv.startswith('thing,value\r\nhttp://example.org/Mars,6.4\r\n_:b1,"a, ""b""')
    assert tsv.startswith("?thing\t?value\n<http://example.org/Mars>\t")
    assert '"a, \\"b\\"\\r\\n\\tc"@en' in tsv


def test_a_boolean_has_all_formats_of_rows() -> None:
    texts = {one.name: results.serialize_result(True, one).decode() for one in results.ROW_FORMATS}

    assert texts["json"] == '{"head":{},"boolean":true}'
    assert "<boolean>true</boolean>" in texts["xml"]
    assert (texts["csv"], texts["tsv"]) == ("true", "true")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ttl", RdfFormat.TURTLE), ("nt", RdfFormat.N_TRIPLES), ("rdf", RdfFormat.RDF_XML)],
)
def test_triples_are_the_same_when_read_again(name: str, kind: RdfFormat) -> None:
    prefixes = {"ex": "http://example.org/", "other": "http://other.org/"}
    document = results.serialize_result(TRIPLES, form(name), prefixes=prefixes)
    assert b"other" not in document
    assert [quad.triple for quad in pyoxigraph.parse(document, format=kind)] == [*TRIPLES.triples]


def test_what_a_format_cannot_say_is_refused() -> None:
    with pytest.raises(
        ValueError, match="a table cannot be written as 'ttl': choose one of json, xml"
    ):
        results.get_result_format("ttl", ROWS)
    with pytest.raises(
        ValueError, match="triples cannot be written as 'csv': choose one of ttl, nt"
    ):
        results.serialize_result(TRIPLES, form("csv"))
    nameless = results.GraphResult((Triple(MARS, NamedNode("http://example.org/1"), MARS),))
    nested = results.GraphResult((Triple(MARS, MASS, Triple(MARS, MASS, MARS)),))

    with pytest.raises(ValueError, match="RDF/XML cannot express the predicate"):
        results.serialize_result(nameless, form("rdf"))
    with pytest.raises(ValueError, match="choose ttl or nt"):
        results.serialize_result(nested, form("jsonld"))
