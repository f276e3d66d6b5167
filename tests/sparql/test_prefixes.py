"""Prefixed names are valid, lead back to their IRI, and read well."""

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st
from rdflib.plugins.sparql import prepareQuery
from tests.each import for_each

from askgraph.sparql.prefixes import WELL_KNOWN_PREFIXES, PrefixMap

EX = PrefixMap({"ex": "http://example.org/"})


@for_each(
    ("iri", "name"),
    ("http://example.org/Moon", "ex:Moon"),
    ("http://example.org/ship#name", r"ex:ship\#name"),
    ("http://example.org/a/b", "<http://example.org/a/b>"),
    ("http://example.org/1.1.1.353", r"ex:1\.1\.1\.353"),
    ("http://example.org/a(b)", r"ex:a\(b\)"),
    ("http://example.org/-a", r"ex:\-a"),
    ("http://example.org/", "ex:"),
    ("http://example.org/東京", "ex:東京"),
    ("http://www.w3.org/2000/01/rdf-schema#label", "rdfs:label"),
    ("http://unknown.org/x", "<http://unknown.org/x>"),
)
def test_an_iri_is_shortened(iri: str, name: str) -> None:
    assert EX.shorten(iri) == name


@given(st.text(st.characters(exclude_characters='<>"{}|^`\\', exclude_categories=("C", "Z"))))
def test_every_short_name_is_valid_for_both_parsers_and_leads_back(local: str) -> None:
    iri = "http://example.org/" + local
    name = EX.shorten(iri)
    assert EX.expand(name) == iri
    if name.startswith("<"):
        return
    query = EX.build_header(name) + f"SELECT (STR({name}) AS ?iri) {{}}"
    solutions = pyoxigraph.Store().query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    text = next(solutions)[0]
    assert isinstance(text, pyoxigraph.Literal)
    assert text.value == iri
    prepareQuery(query)


def test_a_graphs_own_prefixes_hide_well_known_ones_if_sparql_allows_them() -> None:
    prefixes = PrefixMap({"dc": "http://example.org/dc#", "title": "http://purl.org/dc/terms/"})
    assert prefixes.shorten("http://example.org/dc#x") == "dc:x"
    assert prefixes.shorten("http://purl.org/dc/terms/x") == "title:x"
    assert PrefixMap({"a b": "http://a/", "1": "http://b/"}).namespaces == dict(WELL_KNOWN_PREFIXES)
    more = {"ex": "http://two/", "two": "http://example.org/", "three": "http://three/"}
    assert EX.add_prefixes(more).own_prefixes == {
        "ex": "http://example.org/",
        "three": "http://three/",
    }


def test_the_header_declares_what_is_used_and_nothing_else() -> None:
    body = """SELECT ?x { ?x a ex:Moon ; rdfs:label "owl:fake", 'sh:"fake' .  # dc:fake
    ?x <http://foaf:fake/> _:skos . FILTER(?x = "skos:x"^^xsd:string || lang(?l) = "en") }"""
    assert EX.build_header(body).splitlines() == [
        "PREFIX ex: <http://example.org/>",
        "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>",
        "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>",
    ]


def test_prefixes_are_derived_from_the_last_telling_part() -> None:
    iris = [
        "http://valuenet/ontop/ship#name",
        "http://valuenet/ontop/ship#id",
        "http://other/ship#name",
        "http://other/ship#id",
        "https://github.com/a/tree/main/space-kg/tbox.ttl#size",
        "https://github.com/a/tree/main/space-kg/tbox.ttl#mass",
        "http://www.example.org/ontology/v1.0#a",
        "http://www.example.org/ontology/v1.0#b",
        "http://single.org/thing",
    ]
    prefixes = PrefixMap().derive_prefixes(iris)
    assert prefixes.own_prefixes == {
        "ship": "http://other/ship#",
        "ontop-ship": "http://valuenet/ontop/ship#",
        "space-kg": "https://github.com/a/tree/main/space-kg/tbox.ttl#",
        "example": "http://www.example.org/ontology/v1.0#",
    }


@given(st.permutations([f"http://h{n}/ns/x{n % 3}#{m}" for n in range(4) for m in "ab"]))
def test_derived_prefixes_do_not_depend_on_the_order(iris: list[str]) -> None:
    assert (
        PrefixMap().derive_prefixes(iris).own_prefixes
        == PrefixMap().derive_prefixes(sorted(iris)).own_prefixes
    )


@given(st.lists(st.text("abc/#:. 12日", max_size=12), max_size=12))
def test_derived_prefixes_are_valid_and_never_collide(tails: list[str]) -> None:
    prefixes = PrefixMap().derive_prefixes(["http://x/" + tail for tail in tails], min_count=1)
    assert len(set(prefixes.own_prefixes.values())) == len(prefixes.own_prefixes)
    assert set(prefixes.own_prefixes) <= set(prefixes.namespaces)
    assert not set(prefixes.own_prefixes) & set(WELL_KNOWN_PREFIXES)
