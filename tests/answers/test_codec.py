"""Plain values of terms, as the answer object has them; its form is in `wire/json.txt`."""

from pyoxigraph import BlankNode, Literal, NamedNode
from tests.each import for_each

from askgraph.answers.codec import to_json_value
from askgraph.sparql import vocabulary as voc

IO = NamedNode("http://example.org/Io")


@for_each(
    ("text", "datatype", "value"),
    ("7", voc.XSD_INTEGER, 7),
    ("007", voc.XSD_BYTE, 7),
    ("1.10", voc.XSD_DECIMAL, 1.1),
    ("1E3", voc.XSD_DOUBLE, 1000.0),
    ("INF", voc.XSD_DOUBLE, "INF"),
    ("NaN", voc.XSD_DOUBLE, "NaN"),
    ("many", voc.XSD_INTEGER, "many"),
    ("1" * 5000, voc.XSD_INTEGER, "1" * 5000),
    ("true", voc.XSD_BOOLEAN, True),
    ("0", voc.XSD_BOOLEAN, False),
    ("maybe", voc.XSD_BOOLEAN, "maybe"),
    ("7", voc.XSD_STRING, "7"),
    ("2020-01-01", voc.XSD_DATE, "2020-01-01"),
)
def test_plain_values_of_literals(text: str, datatype: str, value: object) -> None:
    found = to_json_value(Literal(text, datatype=NamedNode(datatype)))
    assert (found, type(found)) == (value, type(value))


def test_plain_values_of_other_terms() -> None:
    assert to_json_value(IO) == "http://example.org/Io"
    assert to_json_value(BlankNode("b")) == "_:b"
    assert to_json_value(Literal("Mond", language="de")) == "Mond"
    assert to_json_value(None) is None
