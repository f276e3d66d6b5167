"""SHACL shapes are read as the shapes of classes that they declare."""

from pyoxigraph import Literal, RdfFormat

from askgraph.graph.shape_texts import parse_shacl
from askgraph.graph.shapes import Shape, ShapeLine
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import RdfStatements

X = "http://x/"
HEAD = """
@prefix : <http://x/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
"""


def read(text: str) -> tuple[Shape, ...]:
    return parse_shacl(
        RdfStatements.parse_document((HEAD + text).encode(), RdfFormat.TURTLE, base=X)
    )


def test_properties_have_kinds_and_cardinalities() -> None:
    (shape,) = read("""
    :MoonShape a sh:NodeShape ; sh:targetClass :Moon ;
      sh:property [ sh:path :name ; sh:datatype xsd:string ; sh:minCount 1 ] ,
        [ sh:path :orbits ; sh:class :Planet ; sh:minCount 1 ; sh:maxCount 1 ] ,
        [ sh:path [ sh:inversePath :target ] ; sh:class :Mission ] .""")
    assert shape == Shape(
        f"{X}Moon",
        0,
        (
            ShapeLine(f"{X}name", None, None, (v.XSD_STRING,), min_count=1),
            ShapeLine(f"{X}orbits", None, None, (f"{X}Planet",), min_count=1, max_count=1),
            ShapeLine(f"{X}target", None, None, (f"{X}Mission",), inverse=True, min_count=0),
        ),
    )


def test_a_class_may_be_its_own_shape() -> None:
    (shape,) = read(":Moon a sh:NodeShape , owl:Class ; sh:property [ sh:path :name ] .")
    assert shape.cls == f"{X}Moon"


def test_alternatives_of_kinds_and_paths_are_all_told() -> None:
    (shape,) = read("""
    :S sh:targetClass :A ; sh:property [ sh:path [ sh:alternativePath ( :p :q ) ] ;
      sh:or ( [ sh:datatype xsd:date ] [ sh:datatype xsd:gYear ] [ sh:node :T ] ) ] .
    :T sh:targetClass :B ; sh:property [ sh:path ( :a :b ) ] .""")
    kinds = (v.XSD_DATE, v.XSD_G_YEAR, f"{X}B")
    assert [(line.predicate, line.kinds) for line in shape.lines] == [
        (f"{X}p", kinds),
        (f"{X}q", kinds),
    ]


def test_what_a_shape_includes_holds_for_its_class_too() -> None:
    (shape,) = read("""
    :S sh:targetClass :A ; sh:node :Named ; sh:property [ sh:path :p ] .
    :Named sh:property [ sh:path :name ; sh:maxCount 2 ] .""")
    assert [line.predicate for line in shape.lines] == [f"{X}name", f"{X}p"]


def test_two_shapes_of_a_class_both_hold() -> None:
    (shape,) = read("""
    :S sh:targetClass :A ; sh:property [ sh:path :p ; sh:minCount 1 ; sh:maxCount 3 ] .
    :T sh:targetClass :A ; sh:property [ sh:path :p ; sh:maxCount 2 ; sh:datatype xsd:int ] .""")
    assert shape.lines == (ShapeLine(f"{X}p", None, None, (v.XSD_INT,), min_count=1, max_count=2),)


def test_a_value_that_fits_is_the_example() -> None:
    (shape,) = read(':S sh:targetClass :A ; sh:property [ sh:path :p ; sh:in ( "x" "y" ) ] .')
    assert shape.lines[0].example == Literal("x")


def test_shapes_that_include_each_other_are_read_to_an_end() -> None:
    shapes = read("""
    :S sh:targetClass :A ; sh:node :T ; sh:property [ sh:path :p ] .
    :T sh:targetClass :B ; sh:node :S ; sh:property [ sh:path :q ] .""")
    assert [[line.predicate for line in shape.lines] for shape in shapes] == [
        [f"{X}p", f"{X}q"]
    ] * 2
