"""The facts of a profile, each on a graph small enough to count by hand."""

import time
from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, Store, Triple
from tests.each import for_each
from tests.graphs import store_of

from askgraph.graph import profile as parts
from askgraph.graph.arrays import GraphArrays, build_arrays
from askgraph.graph.local_profile import build_partitions, build_profile
from askgraph.graph.names import build_acronym, is_short_value, iterate_names
from askgraph.index.names import ItemKind
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import get_local_name

PLACE = "http://example.org/"
HEAD = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def arrays(turtle: str) -> GraphArrays:
    return build_arrays(store_of(HEAD + turtle))


def profile(turtle: str) -> parts.Profile:
    return build_profile(arrays(turtle))


def predicate(turtle: str, name: str) -> parts.PredicateProfile:
    (found,) = (p for p in profile(turtle).predicates if p.iri == PLACE + name)
    return found


def cls(turtle: str, name: str) -> parts.ClassProfile:
    (found,) = (c for c in profile(turtle).classes if c.iri == PLACE + name)
    return found


def names(turtle: str) -> set[tuple[str, str]]:
    graph = arrays(turtle)
    return {
        (n.text, n.target.removeprefix(PLACE)) for n in iterate_names(graph, build_profile(graph))
    }


def test_a_graph_says_of_itself_what_its_one_data_set_or_ontology_says() -> None:
    ontology = ':o a owl:Ontology ; rdfs:comment "Pets"@en, "Haustiere"@de . '
    dataset = f':d a <{v.VOID_DATASET}> ; <{v.DCTERMS_DESCRIPTION}> "All pets" . '
    assert set(profile(ontology).described) == {("Pets", "en"), ("Haustiere", "de")}
    assert profile(ontology + dataset).described == (("All pets", ""),)
    assert profile(dataset + dataset.replace(":d ", ":e ")).described == ()
    assert profile(":a a :Cat ; rdfs:comment 'A cat' .").described == ()


def test_classes_and_predicates_are_counted_most_frequent_first() -> None:
    found = profile(":a a :Cat ; :likes :b, :c . :b a :Cat . :c a :Dog ; :age 3 .")
    assert found.triples == 6
    assert [(c.iri, c.instances) for c in found.classes] == [(PLACE + "Cat", 2), (PLACE + "Dog", 1)]
    counts = [
        (p.iri.removeprefix(PLACE), p.triples, p.subjects, p.objects) for p in found.predicates
    ]
    assert counts[1:] == [("likes", 2, 1, 2), ("age", 1, 1, 1)]


def test_what_a_predicate_links_is_counted() -> None:
    graph = ":a a :Cat ; :likes :b, :c . :b a :Cat . :c a :Dog ; :age 3, 3.5 ; :note 'x'@de, 'y' ."
    likes, age, note = (predicate(graph, name) for name in ("likes", "age", "note"))
    assert likes.subject_classes == ((PLACE + "Cat", 1),)
    assert dict(likes.object_classes) == {PLACE + "Cat": 1, PLACE + "Dog": 1}
    assert not likes.literal and age.literal
    assert {iri.rpartition("#")[2] for iri, _ in age.datatypes} == {"integer", "decimal"}
    assert note.languages == (("de", 1),)
    languages = profile(":a rdfs:label 'Mond'@de, 'moon'@en ; :note 'x'@de .").languages
    assert languages == (("de", 2), ("en", 1))


def test_a_subject_with_one_object_each_makes_a_predicate_functional() -> None:
    one = " ".join(f":s{n} :p :o{n} ." for n in range(100))
    assert predicate(one, "p").functional
    assert predicate(one + " :s0 :p :other .", "p").functional  # one in fifty may have more
    assert not predicate(one + " ".join(f":s{n} :p :x{n} ." for n in range(3)), "p").functional


@for_each(
    ("turtle", "transitive"),
    (":a :in :b . :b :in :c . :c :in :d .", True),
    (":a :in :b . :b :in :c . :x :in :c .", False),  # too short
    (":a :in :b . :b :in :c . :c :in :d . :d :in :a .", False),  # peers
    (":a :in :b . :b :in :a, :c . :c :in :b, :d . :d :in :c .", False),
    (":a :in 'b' . :b :in 'c' . :c :in 'd' .", False),
    (":in a owl:TransitiveProperty . :a :in :b .", True),
)
def test_a_chain_deeper_than_two_is_transitive(turtle: str, transitive: bool) -> None:
    assert predicate(turtle, "in").transitive is transitive


def test_a_chain_of_twenty_thousand_is_followed_some_way_only() -> None:
    chain = " ".join(f":a{at} :in :a{at + 1} ." for at in range(20_000))
    began = time.process_time()
    assert predicate(chain, "in").transitive
    assert time.process_time() - began < 8  # of which reading it takes one


NARY = """
:Person rdfs:label "person" . :mara a :Person ; rdfs:label "Mara" . :film a :Film ; rdfs:label "F" .
:r1 a :Role ; :actor :mara ; :film :film ; :as "Queen" .
:r2 a :Role ; :actor :mara ; :film :film ; :as "Nurse" .
:r3 a :Role ; :actor :mara ; :film :film ; :as "Queen" .
"""


BLANK = "[] a :Role ; :actor :a ; :film :f . [] a :Role ; :actor :b ; :film :f ."


@for_each(
    ("turtle", "name", "nary"),
    (NARY, "Role", True),
    (NARY, "Person", False),
    (NARY, "Film", False),
    (NARY.replace("a :Role ;", "a :Role ; rdfs:label 'role' ;"), "Role", False),
    (":r1 a :Role ; :actor :mara . :r2 a :Role ; :actor :mara .", "Role", False),
    (BLANK, "Role", True),
)
def test_nameless_nodes_that_link_two_things_are_n_ary(turtle: str, name: str, nary: bool) -> None:
    assert cls(turtle, name).nary is nary


@for_each("name", ["name", "title", "fullName", "companyName", "Bezeichnung", "called"])
def test_a_name_predicate_is_found_by_its_own_name_or_its_texts(name: str) -> None:
    last = "Green" if name == "called" else "Blue"
    graph = f":a :{name} 'Red Bus' . :b :{name} 'Blue Bus' . :c :{name} '{last} Bus' ."
    assert predicate(graph, name).naming == "name"


@for_each(
    "graph",
    ":a :p 'red' . :b :p 'red' . :c :p 'blue' . :d :p 'red' .",
    ":a :p 'a@b.example' . :b :p 'c@d.example' . :c :p 'e@f.example' .",
    ":a :p '12' . :b :p '13' . :c :p '14' .",
    ":a :p 12 . :b :p 13 . :c :p 14 .",
    ":a :p 'one', 'two', 'three' . :b :p 'four', 'five', 'six' .",
    ":a :p '" + "long text " * 20 + "' . :b :p '" + "other text " * 20 + "' .",
    ":a :p :b . :b :p :c .",
)
def test_what_is_not_like_names_is_no_name_predicate(graph: str) -> None:
    assert predicate(graph, "p").naming == ""


def test_standard_label_predicates_are_names_or_alternative_names() -> None:
    found = profile(":a rdfs:label 'A'@en ; skos:prefLabel 'B' ; skos:altLabel 'C', 'D', 'E' .")
    roles = {p.iri.rpartition("#")[2]: p.naming for p in found.predicates}
    assert roles == {"label": "name", "prefLabel": "name", "altLabel": "alternative"}
    assert parts.get_standard_role(PLACE + "name") == ""


def test_a_class_knows_which_predicate_names_its_instances() -> None:
    graph = ":a a :Bus ; :name 'Red' ; :owner 'Ann' . :b a :Bus ; :name 'Blue' ; :owner 'Bob' ."
    assert cls(graph, "Bus").name_predicate == PLACE + "name"
    assert cls(":a a :Bus ; :seats 3 .", "Bus").name_predicate is None


def test_inverse_pairs_are_found_by_declaration_and_by_their_triples() -> None:
    declared = ":has owl:inverseOf :of . :a :has :b . :c :of :d ."
    assert predicate(declared, "has").inverse_of == (PLACE + "of",)
    assert predicate(declared, "of").inverse_of == (PLACE + "has",)
    mirrored = ":a :has :b, :c . :b :of :a . :c :of :a ."
    assert predicate(mirrored, "has").inverse_of == (PLACE + "of",)
    assert predicate(mirrored.replace(":c :of", ":d :of"), "has").inverse_of == ()


def test_classes_know_their_names_and_parents() -> None:
    found = cls(":Cat rdfs:label 'cat'@en, 'Katze'@de ; rdfs:subClassOf :Pet . :a a :Cat .", "Cat")
    assert set(found.names) == {("cat", "en"), ("Katze", "de")}
    assert found.parents == (PLACE + "Pet",)


TRIPLES = st.lists(
    st.builds(
        Triple,
        st.sampled_from([NamedNode(PLACE + name) for name in "abc"]),
        st.sampled_from(
            [
                NamedNode(PLACE + "p"),
                NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
                NamedNode("http://www.w3.org/2000/01/rdf-schema#label"),
                NamedNode("http://www.w3.org/2002/07/owl#inverseOf"),
            ]
        ),
        st.sampled_from(
            [NamedNode(PLACE + "a"), NamedNode(PLACE + "C"), Literal("x y"), Literal(1)]
        ),
    ),
    max_size=12,
)


@given(triples=TRIPLES)
@example([])
@settings(deadline=None)
def test_any_graph_has_a_profile_whose_counts_add_up(triples: list[Triple]) -> None:
    graph = build_arrays(triples)
    found = build_profile(graph)
    assert found.triples == len(set(triples)) == sum(p.triples for p in found.predicates)
    for p in found.predicates:
        assert 0 < p.subjects <= p.triples and 0 < p.objects <= p.triples
        assert sum(count for _, count in p.datatypes) <= p.triples
    for name in iterate_names(graph, found):
        assert name.text
        assert (name.kind is ItemKind.VALUE) == name.target.startswith('"')


def test_names_are_those_of_labels_in_all_languages_and_of_alternative_labels() -> None:
    graph = ":a rdfs:label 'Moon'@en, 'Mond'@de ; skos:altLabel 'Luna' ; :orbits :b ."
    assert {("Moon", "a"), ("Mond", "a"), ("Luna", "a")} <= names(graph)


def test_what_has_no_label_is_named_by_the_end_of_its_iri() -> None:
    graph = ":GoldenGate_Bridge :p :Caf%C3%A9-Central . :a rdfs:label 'Named' ."
    texts = {text.casefold(): target for text, target in names(graph)}
    assert texts["golden gate bridge"] == "GoldenGate_Bridge"
    assert texts["café central"] == "Caf%C3%A9-Central"
    assert "a" not in texts
    assert get_local_name(PLACE + "Q937") == get_local_name(PLACE + "123-456") == ""
    assert get_local_name(PLACE + "OpenHouse2") != ""


def test_short_values_can_be_mentioned_and_long_ones_not() -> None:
    assert ("in progress", '"in progress"') in names(":a :state 'in progress' .")
    assert is_short_value("in progress")
    assert not is_short_value("word " * 40)
    assert not is_short_value("")


@for_each(
    ("text", "initials"),
    ("European Space Agency", "ESA"),
    ("United States of America", "USA"),
    ("Marie Curie", ""),
    ("a list of words", ""),
    ("", ""),
)
def test_initials_are_names_of_names_of_three_words(text: str, initials: str) -> None:
    assert build_acronym(text) == initials


COUNTS = """SELECT ?c ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to)
{ ?s a ?c ; ?p ?o FILTER(isIRI(?c)) } GROUP BY ?c ?p"""
TARGETS = """SELECT ?c ?p ?t (COUNT(*) AS ?n)
{ ?s a ?c ; ?p ?o FILTER(isIRI(?c) && isIRI(?o)) OPTIONAL { ?o a ?t } } GROUP BY ?c ?p ?t"""
DATATYPES = """SELECT ?c ?p ?t (COUNT(*) AS ?n)
{ ?s a ?c ; ?p ?o FILTER(isLiteral(?o)) BIND(DATATYPE(?o) AS ?t) } GROUP BY ?c ?p ?t"""


def counted(store: Store) -> list[parts.Partition]:
    """The partitions as SPARQL counts them."""
    ends: dict[str, dict[tuple[str, str], Counter[str]]] = {TARGETS: {}, DATATYPES: {}}
    for query, found in ends.items():
        for cls, predicate, end, number in store.query(query):  # type: ignore[union-attr]
            counts = found.setdefault((cls.value, predicate.value), Counter())
            counts[end.value if end else v.RDFS_RESOURCE] += int(number.value)
    partitions = []
    for cls, predicate, *numbers in store.query(COUNTS):  # type: ignore[union-attr]
        key = (cls.value, predicate.value)
        sides = (
            sorted(ends[q].get(key, {}).items(), key=lambda one: (-one[1], one[0]))
            for q in (TARGETS, DATATYPES)
        )
        targets, datatypes = map(tuple, sides)
        triples, subjects, objects = (int(number.value) for number in numbers)
        partitions.append(parts.Partition(*key, triples, subjects, objects, targets, datatypes))
    return sorted(partitions, key=lambda one: (one.cls, one.predicate))


NODES = st.integers(0, 5).map(lambda n: NamedNode(f"http://x/{n}"))
CLASSES = st.integers(0, 3).map(lambda n: NamedNode(f"http://c/{n}"))
PREDICATES = st.integers(0, 2).map(lambda n: NamedNode(f"http://p/{n}"))
VALUES = st.sampled_from([Literal(1), Literal("a"), Literal("a", language="en"), Literal(1.5)])
TYPES = st.builds(lambda s, c: Quad(s, NamedNode(v.RDF_TYPE), c), NODES, CLASSES)


@given(st.lists(TYPES | st.builds(Quad, NODES, PREDICATES, NODES | VALUES), max_size=40))
@example([])
def test_things_of_several_classes_count_for_each(quads: list[Quad]) -> None:
    store = Store()
    store.extend(quads)
    assert list(build_partitions(build_arrays(store))) == counted(store)


def test_the_sample_s_partitions_are_as_sparql_counts(store: Store, exact: parts.Profile) -> None:
    assert list(exact.partitions) == counted(store)
