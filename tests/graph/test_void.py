"""VoID in a profile and a profile in VoID: what is published is what is read."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat
from tests.graphs import store_of

from askgraph.errors import SetupError
from askgraph.graph import profile as parts
from askgraph.graph.void import parse_void
from askgraph.graph.void_text import serialize_void
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import RdfStatements, read_statements

DATA = Path(os.environ.get("ASKGRAPH_DATA", Path(__file__).parents[3] / "shared" / "data"))
EX = "http://example.org/"
HEAD = """
@prefix : <http://example.org/> . @prefix void: <http://rdfs.org/ns/void#> .
@prefix ext: <http://ldf.fi/void-ext#> .
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
NESTED = """
:data void:triples 12 ; void:classes 3 ;
  void:classPartition [ void:class :Moon ; void:entities 4 ;
    void:propertyPartition [ void:property :orbits ; void:triples 4 ; void:distinctSubjects 4 ;
      void:classPartition [ void:class :Planet ; void:triples 3 ] ,
        [ void:class :Star ; void:triples 1 ] ] ,
    [ void:property :name ; void:triples 5 ;
      ext:datatypePartition [ ext:datatype xsd:string ; void:triples 5 ] ] ] ,
  [ void:class :Planet ; void:entities 2 ] ;
  void:propertyPartition [ void:property :orbits ; void:triples 5 ] ,
    [ void:property :name ; void:triples 7 ] .
:Moon rdfs:label "moon"@en .
"""
GRAPHS = """
:one sd:name :g1 ; sd:graph :d1 . :two sd:name :g2 ; sd:graph :d2 .
:d1 void:triples 10 ; void:classPartition [ void:class :Moon ; void:entities 4 ] .
:d2 void:triples 5 ; void:classPartition [ void:class :Moon ; void:entities 1 ] .
"""
LINKS = """
:moons void:class :Moon ; void:entities 4 . :planets void:class :Planet ; void:entities 2 .
:d void:classPartition :moons , :planets .
:link void:linkPredicate :orbits ;
  void:subjectsTarget :moons ; void:objectsTarget :planets ; void:triples 3 .
"""


def read(text: str) -> parts.Profile:
    described = RdfStatements.parse_document((HEAD + text).encode(), RdfFormat.TURTLE, base=EX)
    profile = parse_void(described)
    assert profile is not None
    return profile


def again(profile: parts.Profile) -> parts.Profile | None:
    text = serialize_void(profile).encode()
    return parse_void(RdfStatements.parse_document(text, RdfFormat.TURTLE, base=EX))


def part(profile: parts.Profile, name: str) -> parts.Part:
    return next(part for part in profile.completeness if part.name == name)


def test_divisions_nest_class_property_class() -> None:
    profile = read(NESTED)
    orbits, name = reversed(profile.partitions)
    assert orbits == parts.Partition(
        f"{EX}Moon", f"{EX}orbits", 4, 4, 0, targets=((f"{EX}Planet", 3), (f"{EX}Star", 1))
    )
    assert name.datatypes == ((v.XSD_STRING, 5),)
    assert profile.triples == 12
    assert profile.classes[0] == parts.ClassProfile(f"{EX}Moon", 4, (("moon", "en"),))
    assert {p.iri: (p.triples, p.subject_classes) for p in profile.predicates} == {
        f"{EX}orbits": (5, ((f"{EX}Moon", 4),)),
        f"{EX}name": (7, ((f"{EX}Moon", 5),)),
    }


def test_completeness_is_measured_by_what_the_void_declares() -> None:
    profile = read(NESTED)
    assert part(profile, parts.TRIPLES) == parts.Part(parts.TRIPLES, 12, 12)
    assert part(profile, parts.PREDICATES).share == 1.0
    assert part(profile, parts.CLASSES) == parts.Part(parts.CLASSES, 2, 3)
    assert profile.get_known_share("partitions") == 0.5


def test_named_graphs_are_added_up() -> None:
    profile = read(GRAPHS)
    assert profile.triples == 15
    assert profile.classes == (parts.ClassProfile(f"{EX}Moon", 5),)
    assert profile.graphs == ((f"{EX}g1", 10), (f"{EX}g2", 5))
    # What is no name and no number is passed over.
    text = ':three sd:name "three" ; sd:graph :d3 . :d3 void:triples "²" .'
    assert read(GRAPHS + text).graphs == profile.graphs
    # What is said of the whole is believed before the sum of its parts.
    whole = ":all a sd:Dataset ; sd:defaultGraph :u . :all void:triples 13 ."
    assert read(GRAPHS + whole).triples == 13


def test_linksets_lead_from_class_to_class() -> None:
    (link,) = read(LINKS).partitions
    assert link == parts.Partition(f"{EX}Moon", f"{EX}orbits", 3, targets=((f"{EX}Planet", 3),))


def test_class_partitions_without_a_dataset_are_read_too() -> None:
    text = """[] void:class :Moon ; void:entities 4 ;
      void:propertyPartition [ void:property :name ; void:triples 5 ] ."""
    assert [one.predicate for one in read(text).partitions] == [f"{EX}name"]


def test_what_divides_nothing_is_no_void() -> None:
    described = RdfStatements.parse_document(
        b"<http://x/a> <http://x/b> 1 .", RdfFormat.TURTLE, base=EX
    )
    assert parse_void(described) is None


@pytest.fixture(scope="module")
def sample(exact: parts.Profile) -> parts.Profile:
    prefixes = (("", EX), ("ont", f"{EX}onto#"))
    return replace(exact, source="http://localhost/sparql", prefixes=prefixes, cuts=("one", "two"))


def test_a_profile_written_and_read_again_is_the_same(sample: parts.Profile) -> None:
    assert again(sample) == parts.sort_profile(sample)
    turned = {name: getattr(sample, name)[::-1] for name in ("classes", "predicates", "partitions")}
    assert serialize_void(replace(sample, **turned)) == serialize_void(sample)


def test_others_find_in_it_what_they_ask_of_void(sample: parts.Profile) -> None:
    store = store_of(serialize_void(sample))
    query = """PREFIX void: <http://rdfs.org/ns/void#> PREFIX ext: <http://ldf.fi/void-ext#>
    SELECT ?c ?p ?t { ?cp void:class ?c ; void:propertyPartition ?pp . ?pp void:property ?p .
      { ?pp void:classPartition/void:class ?t }
      UNION { ?pp ext:datatypePartition/ext:datatype ?t } }"""
    found = {tuple(term.value for term in row) for row in store.query(query)}  # type: ignore[union-attr]
    assert found == {
        (one.cls, one.predicate, end)
        for one in sample.partitions
        for end, _ in (*one.targets, *one.datatypes)
    }


IRIS = st.integers(0, 4).map(lambda n: f"{EX}{n}")
COUNTS = st.integers(1, 10**12)
TALLIES = st.dictionaries(IRIS, COUNTS, max_size=3).map(lambda d: tuple(d.items()))
NAMES = st.lists(
    st.tuples(st.text('abc ü"\\\n', min_size=1, max_size=5), st.sampled_from(["", "en", "de"])),
    max_size=3,
    unique=True,
).map(tuple)

PARENTS = st.lists(IRIS, unique=True).map(tuple)


@st.composite
def profiles(draw: st.DrawFn) -> parts.Profile:
    classes = draw(st.lists(IRIS, unique=True, min_size=1, max_size=4))
    predicates = draw(st.lists(IRIS.map(lambda i: i + "p"), unique=True, min_size=1, max_size=4))
    pairs = st.tuples(st.sampled_from(classes), st.sampled_from(predicates))
    partitions = tuple(
        parts.Partition(
            cls,
            predicate,
            draw(COUNTS),
            draw(COUNTS),
            draw(st.integers(0, 9)),
            draw(TALLIES),
            draw(TALLIES),
            draw(st.booleans()),
        )
        for cls, predicate in draw(st.lists(pairs, unique=True, max_size=4))
    )
    return parts.Profile(
        draw(COUNTS),
        tuple(
            parts.ClassProfile(
                iri, draw(COUNTS), draw(NAMES), draw(st.lists(IRIS, unique=True).map(tuple))
            )
            for iri in classes
        ),
        tuple(
            parts.PredicateProfile(
                iri,
                draw(COUNTS),
                draw(COUNTS),
                draw(COUNTS),
                names=draw(NAMES),
                subject_classes=tuple(
                    (x.cls, x.subjects) for x in partitions if x.predicate == iri
                ),
                object_classes=draw(TALLIES.filter(bool)),
                datatypes=draw(TALLIES.filter(bool)),
                transitive=draw(st.booleans()),
            )
            for iri in predicates
        ),
        graphs=draw(TALLIES),
        partitions=partitions,
        completeness=(
            parts.Part("classes", draw(st.integers(0, 9)), draw(st.none() | COUNTS), "note"),
        ),
    )


@given(profiles())
def test_any_profile_keeps_what_void_can_say(profile: parts.Profile) -> None:
    found = again(profile)
    assert found is not None
    wanted = parts.sort_profile(profile)
    assert (found.triples, found.classes, found.predicates, found.partitions, found.graphs) == (
        wanted.triples,
        wanted.classes,
        wanted.predicates,
        wanted.partitions,
        wanted.graphs,
    )
    assert profile.completeness[0] in found.completeness


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("void.ttl", b"<a> <b>", "does not parse"),
        ("void.txt", b"", "unknown file type"),
        ("void.ttl.gz", b"not packed", "cannot be read"),
    ],
)
def test_an_unreadable_file_is_told(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SetupError, match=said):
        read_statements(tmp_path / name)


@pytest.mark.data
def test_the_void_of_uniprot_is_read() -> None:
    file = DATA / "sib-examples" / "void_uniprot.ttl.gz"
    if not file.exists():
        pytest.skip(f"no {file}; ASKGRAPH_DATA names the data")
    profile = parse_void(read_statements(file))
    assert profile is not None
    assert (len(profile.partitions), len(profile.graphs)) == (795, 21)
    assert len({one.cls for one in profile.partitions}) == 162
    assert again(profile) == profile
