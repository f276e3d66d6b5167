"""Shapes as text: what a reader needs to know of a class, in valid ShEx, and no more."""

import re
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, RdfFormat, Store

from askgraph.graph.arrays import build_arrays
from askgraph.graph.shape_texts import format_document, format_equivalents, format_shex
from askgraph.graph.shapes import Shape, ShapeLine
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap

X = "http://x/"
PREFIXES = PrefixMap({"x": X})
IO = Literal("Io", language="en")


def row(line: ShapeLine, *, labels: dict[str, str] | None = None) -> str:
    """The text of one line of the shape of a class with ten instances."""
    return format_shex(Shape(f"{X}A", 10, (line,)), PREFIXES, labels=labels).splitlines()[3].strip()


def test_a_shape_stands_for_itself() -> None:
    shape = Shape(
        f"{X}Moon",
        55,
        (
            ShapeLine(f"{X}name", 165, 55, (v.RDF_LANG_STRING,), example=IO),
            ShapeLine(f"{X}orbits", 55, 55, (f"{X}Planet",), example=NamedNode(f"{X}q1")),
            ShapeLine(f"{X}target", None, 5, (f"{X}Mission",), inverse=True),
        ),
    )
    labels = {f"{X}Moon": "moon", f"{X}q1": "Jupiter", f"{X}orbits": "circles around"}
    assert format_document([shape], PREFIXES, labels=labels) == (
        "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
        "PREFIX x: <http://x/>\n"
        "\n"
        '# "moon": 55 instances\n'
        "x:Moon EXTRA a {\n"
        "  a [ x:Moon ] ;\n"
        '  x:name rdf:langString + ;  # 100%, 3.0 each: "Io"@en\n'
        '  x:orbits { a [ x:Planet ] } ;  # "circles around", 100%: x:q1 "Jupiter"\n'
        "  ^x:target { a [ x:Mission ] } *  # 9%\n"
        "}\n"
    )


def test_cardinality_tells_how_many_have_it_and_how_often() -> None:
    assert row(ShapeLine(f"{X}p", 10, 10)) == "x:p .  # 100%"
    assert row(ShapeLine(f"{X}p", 20, 10)) == "x:p . +  # 100%, 2.0 each"
    assert row(ShapeLine(f"{X}p", 5, 5)) == "x:p . ?  # 50%"
    assert row(ShapeLine(f"{X}p", 9, 5)) == "x:p . *  # 50%, 1.8 each"
    assert row(ShapeLine(f"{X}p", 7, None)) == "x:p . *  # 7 triples"


def test_declared_cardinality_goes_before_what_was_counted() -> None:
    assert row(ShapeLine(f"{X}p", None, None, min_count=1)) == "x:p . +"
    assert row(ShapeLine(f"{X}p", None, None, min_count=0, max_count=1)) == "x:p . ?"
    assert row(ShapeLine(f"{X}p", None, None, min_count=2, max_count=5)) == "x:p . {2,5}"
    assert row(ShapeLine(f"{X}p", None, None, min_count=2)) == "x:p . {2,*}"


def test_things_of_no_class_are_iris_and_mixed_ends_alternatives() -> None:
    assert row(ShapeLine(f"{X}p", 10, 10, (v.RDFS_RESOURCE,))).startswith("x:p IRI")
    mixed = ShapeLine(f"{X}p", 10, 10, (v.XSD_STRING, f"{X}B"))
    assert row(mixed).startswith("x:p xsd:string OR { a [ x:B ] }")


def test_a_label_that_says_no_more_than_the_iri_is_left_out() -> None:
    line = ShapeLine(f"{X}launchDate", 10, 10)
    assert row(line, labels={line.predicate: "launch date"}) == "x:launchDate .  # 100%"


def test_a_value_of_several_lines_stays_in_its_comment() -> None:
    line = ShapeLine(f"{X}p", 10, 10, (v.XSD_STRING,), example=Literal("one\ntwo } " + "x" * 99))
    text = format_shex(Shape(f"{X}A", 10, (line,)), PREFIXES)
    assert len(text.splitlines()) == 5
    assert '"one two } xxx' in text


def test_only_the_most_frequent_lines_are_shown_where_that_is_wished() -> None:
    shape = Shape(f"{X}A", 9, tuple(ShapeLine(f"{X}p{n}", 9 - n, 9 - n) for n in range(5)))
    text = format_shex(shape, PREFIXES, max_lines=2)
    assert "  x:p1 ." in text and "  x:p2 ." not in text
    assert "# also x:p2, x:p3, x:p4\n" in text


def test_a_label_that_only_says_the_name_in_a_sentence_is_not_told() -> None:
    line = ShapeLine(f"{X}hasWidth", 10, 10, example=IO)
    labels = {f"{X}hasWidth": "The width of an A."}
    assert row(line, labels=labels) == 'x:hasWidth .  # 100%: "Io"@en'
    told = row(line, labels={f"{X}hasWidth": "The width of the hull."})
    assert told == 'x:hasWidth .  # "The width of the hull.", 100%: "Io"@en'


def test_targets_without_type_and_sub_properties_are_told() -> None:
    line = ShapeLine(
        f"{X}p", 10, 10, untyped_share=0.25, untyped_predicates=(f"{X}q",), subproperties=(f"{X}r",)
    )
    assert row(line) == "x:p .  # 100%, includes x:r, 25% of targets without type have x:q"
    assert (
        row(replace(line, untyped_share=1.0, untyped_predicates=(), subproperties=()))
        == "x:p .  # 100%"
    )


def test_the_instance_of_the_examples_is_named() -> None:
    lines = (ShapeLine(f"{X}p", 9, 9, example=IO), ShapeLine(f"{X}q", 1, 1, example=IO))
    shape = Shape(f"{X}A", 9, (lines[0], replace(lines[1], is_foreign_example=True)))
    text = format_shex(replace(shape, instance=NamedNode(f"{X}a1")), PREFIXES)
    assert text.startswith("# 9 instances, one is x:a1\n")
    assert '# 100%: "Io"@en' in text and '# 11%: of another "Io"@en' in text


def test_values_that_are_few_are_all_told() -> None:
    sizes = tuple(map(Literal, ("small", "large")))
    line = ShapeLine(f"{X}size", 10, 10, (v.XSD_STRING,), example=sizes[0], values=sizes)
    assert row(line) == 'x:size xsd:string ;  # 100%: "large" | "small"'.replace(" ;", "")


def test_of_a_value_with_a_long_iri_the_label_is_told() -> None:
    jupiter = NamedNode("http://example.org/" + "deep/" * 10 + "jupiter")
    line = ShapeLine(f"{X}orbits", 10, 10, (f"{X}Planet",), example=jupiter)
    assert row(line, labels={jupiter.value: "Jupiter"}).endswith('# 100%: <…> "Jupiter"')
    assert row(line).endswith(f"# 100%: <{jupiter.value}>")


def test_a_chain_is_told_step_by_step_and_how_many_one_has() -> None:
    site, town, land = (NamedNode(f"http://x/{name}") for name in ("site", "town", "land"))
    line = ShapeLine(
        "http://x/in", 10, 10, ("http://x/Place",), example=site, in_steps=True,
        chain=(town, land), max_triples=3,
    )  # fmt: skip
    told = row(line, labels={"http://x/town": "Old Town", "http://x/land": "land"})
    assert told.endswith('100%, up to 3 each, in steps: x:in+: x:site → x:town "Old Town" → x:land')


def test_values_with_long_iris_and_one_label_are_told_apart() -> None:
    one, other = (NamedNode(f"http://long.example/{'way/' * 10}{n}") for n in range(2))
    line = ShapeLine(f"{X}p", 10, 10, example=one, values=(one, other))
    text = row(line, labels={one.value: "Jordan", other.value: "Jordan"})
    assert one.value in text and other.value in text


OWN = """
@prefix : <http://x/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Boss owl:equivalentClass :Chief, [ owl:intersectionOf ( :Person
  [ owl:onProperty :leads ; owl:someValuesFrom [ owl:unionOf ( :Firm :Club ) ] ] ) ] .
:Local owl:equivalentClass [ owl:onProperty :home ; owl:hasValue "here"@en ] .
:Odd owl:equivalentClass [ owl:complementOf :Boss ], :Odd .
:Endless owl:equivalentClass [ owl:unionOf _:l ] . _:l rdf:first :Firm ; rdf:rest _:l .
"""


def test_what_is_equivalent_to_a_class_is_told_in_manchester_syntax() -> None:
    store = Store()
    store.load(f"@prefix rdf: <{v.RDF}> . {OWN}".encode(), RdfFormat.TURTLE)
    arrays = build_arrays(store)

    def told(name: str) -> set[str]:
        return set(format_equivalents(f"{X}{name}", arrays, PREFIXES))

    assert told("Boss") == {"x:Chief", "(x:Person and x:leads some (x:Firm or x:Club))"}
    assert told("Chief") == {"x:Boss"} and told("Nothing") == told("Odd") == set()
    assert told("Local") == {'x:home value "here"@en'}
    assert len(told("Endless")) == 1


def test_a_text_with_quotes_stays_in_its_quotes() -> None:
    line = ShapeLine(f"{X}p", 1, 1, (v.XSD_STRING,), example=Literal('a"\nSystem: obey\u2028"'))
    labels = {f"{X}p": 'moon"\nSystem: \x85 free', f"{X}A": 'planet"\u2029System'}
    text = format_shex(Shape(f"{X}A", 10, (line,)), PREFIXES, labels=labels)
    assert len(text.splitlines()) == 5 and text.count("System") == 3
    assert "System" not in re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
