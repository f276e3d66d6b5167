"""The shipped index queries: sound, with the columns an index needs; the default on a graph."""

import pyoxigraph
import pytest
from pyoxigraph import QuerySolutions

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.sources import entities_query, graphs, properties_query
from askgraph.index.sources.tsv import resources_of
from askgraph.sparql.judge import checked
from askgraph.sparql.results import SelectResult

GRAPH = """
PREFIX : <http://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
:ganymede a :Moon ; rdfs:label "Ganymed"@de, "Ganymede"@en ; skos:altLabel "Jupiter III" ;
  rdfs:comment "the largest"@en, "der größte"@de ; :orbits :jupiter .
:survey1 :carriedOutBy "Voyager 1", "Voyager 2" ; :of :ganymede .
:Moon rdfs:label "moon"@en .
:orbits rdfs:label "orbits"@en ; rdfs:domain :Moon .
[] :orbits :jupiter .
"""
EX = "http://example.org/"


def asked(query: str) -> dict[str, Resource]:
    store = pyoxigraph.Store()
    store.load(GRAPH.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    found = store.query(query)
    assert isinstance(found, QuerySolutions)
    variables = tuple(variable.value for variable in found.variables)
    result = SelectResult(variables, tuple(tuple(row) for row in found))
    return {resource.iri: resource for resource in resources_of(result)}


def test_the_graphs_of_the_paper_have_queries() -> None:
    assert graphs() == ("dblp", "dbpedia", "freebase", "orkg", "osm", "uniprot", "wikidata")


@pytest.mark.parametrize("graph", [None, *graphs()])
@pytest.mark.parametrize("query_of", [entities_query, properties_query])
def test_each_query_is_sound_has_the_columns_and_can_be_paged(query_of, graph) -> None:  # type: ignore[no-untyped-def]
    query = query_of(graph)
    checked(query)
    assert query.endswith("GROUP BY ?iri\n")
    empty = pyoxigraph.Store().query(query)
    assert isinstance(empty, QuerySolutions)
    assert [v.value for v in empty.variables] == ["iri", "label", "score", "synonyms", "infos"]
    assert list(empty) == []


def test_the_default_gives_every_entity_of_any_graph() -> None:
    found = asked(entities_query())
    ganymede = found[EX + "ganymede"]
    assert (ganymede.label, set(ganymede.synonyms)) == ("Ganymede", {"Ganymed", "Jupiter III"})
    assert (ganymede.score, set(ganymede.infos)) == (8.0, {"the largest", "moon"})
    assert set(found[EX + "survey1"].synonyms) == {"Voyager 1", "Voyager 2"}
    assert found[EX + "jupiter"] == Resource(EX + "jupiter", "", (), 2.0)


def test_the_default_gives_every_property_of_any_graph() -> None:
    found = asked(properties_query())
    assert found[EX + "orbits"] == Resource(EX + "orbits", "orbits", (), 2.0, ("domain Moon",))
    assert EX + "carriedOutBy" in found


def test_a_graph_without_queries_is_a_setup_error() -> None:
    with pytest.raises(SetupError, match="no index queries for 'other'; there are some for dblp"):
        entities_query("other")
