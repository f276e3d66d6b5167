"""What a SPARQL endpoint says of itself (SPARQL 1.1 Service Description), with numbers in VoID."""

from collections.abc import Iterator

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph.graph import KnowledgeGraph
from askgraph.rdf.vocabulary import DCTERMS, RDF_TYPE, VOID, XSD_INTEGER
from askgraph.sparql.results import GraphResult

__all__ = ["service_description"]

_SD = "http://www.w3.org/ns/sparql-service-description#"
_FORMATS = "http://www.w3.org/ns/formats/"
_RESULT_FORMATS = (
    "SPARQL_Results_JSON",
    "SPARQL_Results_XML",
    "SPARQL_Results_CSV",
    "SPARQL_Results_TSV",
    "Turtle",
    "N-Triples",
    "RDF_XML",
    "JSON-LD",
)
_NAMED = 1000  # graphs that are listed

Node = NamedNode | BlankNode


def service_description(graph: KnowledgeGraph, address: str) -> GraphResult:
    """Return the description of the endpoint of a graph at an address, as triples."""
    return GraphResult(tuple(_described(graph, NamedNode(address))))


def _described(graph: KnowledgeGraph, endpoint: NamedNode) -> Iterator[Triple]:
    service, dataset, default = endpoint, BlankNode("dataset"), BlankNode("default")
    yield _is_a(service, "Service")
    yield _said(service, "endpoint", endpoint)
    yield _said(service, "supportedLanguage", NamedNode(_SD + "SPARQL11Query"))
    yield _said(service, "feature", NamedNode(_SD + "BasicFederatedQuery"))
    if graph.profile.graphs:
        yield _said(service, "feature", NamedNode(_SD + "UnionDefaultGraph"))
    for name in _RESULT_FORMATS:
        yield _said(service, "resultFormat", NamedNode(_FORMATS + name))
    yield _said(service, "defaultDataset", dataset)
    yield _is_a(dataset, "Dataset")
    yield Triple(dataset, NamedNode(DCTERMS + "title"), Literal(graph.name))
    yield _said(dataset, "defaultGraph", default)
    yield _is_a(default, "Graph")
    yield _number(default, "triples", graph.profile.triples)
    yield _number(default, "classes", len(graph.profile.classes))
    yield _number(default, "properties", len(graph.profile.predicates))
    for at, (iri, triples) in enumerate(graph.profile.graphs[:_NAMED]):
        named, content = BlankNode(f"named{at}"), BlankNode(f"graph{at}")
        yield _said(dataset, "namedGraph", named)
        yield _is_a(named, "NamedGraph")
        yield _said(named, "name", NamedNode(iri))
        yield _said(named, "graph", content)
        yield _is_a(content, "Graph")
        if triples:
            yield _number(content, "triples", triples)


def _is_a(subject: Node, name: str) -> Triple:
    return Triple(subject, NamedNode(RDF_TYPE), NamedNode(_SD + name))


def _said(subject: Node, name: str, value: Node) -> Triple:
    return Triple(subject, NamedNode(_SD + name), value)


def _number(subject: Node, name: str, value: int) -> Triple:
    number = Literal(str(value), datatype=NamedNode(XSD_INTEGER))
    return Triple(subject, NamedNode(VOID + name), number)
