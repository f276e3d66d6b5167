"""Every node of a local graph can be found: by names, by local name, by what hangs on it."""

from collections.abc import Iterable
from pathlib import Path

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, RdfFormat, Store, Triple

from askgraph.graph.arrays import GraphArrays, build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.nodes import iterate_entities, iterate_literals, iterate_properties
from askgraph.graph.profile import Profile
from askgraph.index import Resource
from askgraph.index.keyword import KeywordIndex

EX = "http://example.org/"
HEAD = """
prefix : <http://example.org/> prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>
prefix owl: <http://www.w3.org/2002/07/owl#> prefix xsd: <http://www.w3.org/2001/XMLSchema#>
prefix skos: <http://www.w3.org/2004/02/skos/core#>
"""
SUPPLIES = (
    HEAD
    + "".join(
        f":supply-{at} a :Supply ; :part :p{at} ; :plant :q{at % 3} ; :year {2000 + at} .\n"
        f':p{at} a :Part ; rdfs:label "bolt {at}"@en, "Bolzen {at}"@de .\n'
        for at in range(30)
    )
    + "".join(
        f':q{at} a :Plant ; rdfs:label "{name}" .\n'
        for at, name in enumerate("Ulm Jena Kiel".split())
    )
)


def arrays(turtle: str) -> GraphArrays:
    quads = pyoxigraph.parse(turtle.encode(), format=RdfFormat.TURTLE)
    return build_arrays(quad.triple for quad in quads)


def entities(turtle: str, *languages: str) -> dict[str, Resource]:
    graph = arrays(turtle)
    found = iterate_entities(graph, build_profile(graph), languages=languages or ("en",))
    return {resource.iri.removeprefix(EX): resource for resource in found}


def test_a_node_has_all_its_names_and_its_triples() -> None:
    turtle = HEAD + (
        ':g a :Moon ; rdfs:label "Ganimed"@de, "Ganymede"@en ; skos:altLabel "Jupiter III" .'
        ":x :near :g ."
    )
    names = ("Ganimed", "Jupiter III")
    assert entities(turtle)["g"] == Resource(EX + "g", "Ganymede", names, 5.0, ("Moon",))
    assert entities(turtle, "de")["g"].label == "Ganimed"


def test_a_graph_may_name_its_things_by_a_predicate_of_its_own() -> None:
    turtle = HEAD + "".join(f':n{at} a :Ship ; :shipName "Ship {"ABCDE"[at]}" .' for at in range(5))
    assert entities(turtle)["n3"].label == "Ship D"


def test_a_node_without_a_name_is_called_by_its_local_name() -> None:
    assert entities(HEAD + ":PortOfKiel :within :Germany .")["PortOfKiel"] == Resource(
        EX + "PortOfKiel", "port of kiel", (), 1.0
    )


def test_a_node_that_links_two_things_is_found_by_both(tmp_path: Path) -> None:
    graph = arrays(SUPPLIES)
    index = KeywordIndex.build(iterate_entities(graph, build_profile(graph)), tmp_path / "index")
    best = index.search("bolt 7 Jena")[0].item
    assert (best.iri, best.label, best.infos) == (EX + "supply-7", "supply 7", ("Supply",))
    assert best.synonyms == ("Supply: bolt 7, Jena, 2007",)


def test_a_coded_node_is_found_by_a_few_words_of_what_points_to_it() -> None:
    found = entities(HEAD + ':acme rdfs:label "Acme" ; :observed :e4711 . :e4711 :revenue 12 .')
    assert found["e4711"].synonyms == ("Acme, 12",)
    spokes = "".join(f':s{at} rdfs:label "Spoke {at}" ; :of :h1 .' for at in range(500))
    assert entities(HEAD + spokes)["h1"].synonyms == ("Spoke 0, Spoke 100",)


def test_classes_are_entities_with_what_is_above_them_and_instances_name_their_classes() -> None:
    found = entities(
        HEAD + ':Moon a owl:Class ; rdfs:label "moon"@en ; rdfs:subClassOf :Body ;'
        ' rdfs:comment "Goes around a planet."@en .'
        ":io a :Moon, :Body . :mars a :Body ."
    )
    assert found["Moon"].infos == ("class", "subclass of Body", "Goes around a planet.")
    assert found["Body"].infos == ("class",)
    assert found["io"].infos == ("moon", "Body")


def test_predicates_in_use_are_properties_and_no_entities() -> None:
    turtle = (
        HEAD + ':orbits rdfs:label "orbits"@en ; rdfs:comment "Goes around it." . :io :orbits :j .'
    )
    graph = arrays(turtle)
    assert "orbits" not in entities(turtle)
    found = {r.iri: r for r in iterate_properties(graph, build_profile(graph))}
    assert found[EX + "orbits"].infos == ("range Resource", "Goes around it.")


def test_literals_are_short_texts_with_their_predicate_and_number_of_uses() -> None:
    graph = arrays(
        HEAD + ':a :code "JUP" . :b :code "JUP" ; rdfs:label "Jupiter" ; :size 12 ;'
        f' :about "{"long " * 50}" ; :unit "Euro"@en .'
    )
    assert sorted(iterate_literals(graph, build_profile(graph)), key=lambda r: r.iri) == [
        Resource('"Euro"@en', "Euro", (), 1.0, ("unit",)),
        Resource('"JUP"', "JUP", (), 2.0, ("code",)),
    ]


NODES = st.sampled_from([NamedNode(f"{EX}{name}") for name in "a b c1 c2 d-9 Thing p q".split()])
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
OBJECTS = st.one_of(
    NODES,
    TEXTS.map(Literal),
    TEXTS.map(lambda text: Literal(text, language="en")),
    st.integers().map(Literal),
)
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
TRIPLES = st.builds(Triple, NODES, st.one_of(st.sampled_from([LABEL, TYPE]), NODES), OBJECTS)


@given(st.lists(TRIPLES, max_size=30))
def test_every_iri_of_any_graph_comes_once_with_its_triples(triples: list[Triple]) -> None:
    graph = build_arrays(triples)
    found = list(iterate_entities(graph, build_profile(graph)))
    used = {triple.predicate.value for triple in triples}
    counted = {resource.iri: resource.score for resource in found}
    assert len(found) == len(counted)
    assert counted == {iri: n for iri, n in ends(set(triples)).items() if iri not in used}


def ends(triples: Iterable[Triple]) -> dict[str, float]:
    counts: dict[str, float] = {}
    for triple in triples:
        for node in (triple.subject, triple.object):
            if isinstance(node, NamedNode):
                counts[node.value] = counts.get(node.value, 0) + 1
    return counts


def test_no_node_of_the_sample_graph_is_left_out(store: Store, exact: Profile) -> None:
    space = build_arrays(store)
    found = {r.iri for r in iterate_entities(space, exact)}
    found |= {r.iri for r in iterate_properties(space, exact)}
    iris = range(space.terms.first_iri, space.terms.first_blank)
    assert {space.terms.get_value(at) for at in iris if space.get_degree(at)} <= found
