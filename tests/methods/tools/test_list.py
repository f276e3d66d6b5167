"""Triples are listed a few of each kind, and no predicate is hidden."""

from tests.each import for_each
from tests.graphs import MOONS
from tests.servers.sparql import SparqlServer
from tests.tool_graphs import called, served, toolbox

from askgraph.graph import KnowledgeGraph

PREFIXES = {"": "http://example.org/", "onto": "http://example.org/onto#"}
WIDE = "@prefix : <http://example.org/> .\n" + "\n".join(
    f":hub :p{number} {', '.join(f':v{number}x{value}' for value in range(4))} ."
    for number in range(30)
)
STATEMENTS = """
@prefix direct: <http://example.org/direct/> .
@prefix own: <http://example.org/statement/> .
@prefix : <http://example.org/> .
:a direct:P1 :x ; own:P1 [ :value :x ] .
:b direct:P1 :x ; own:P1 [ :value :x ] .
"""


NONE = "no triple with subject space:Titan and predicate ont:operator"


def asked(server: SparqlServer) -> list[str]:
    return [request.parameters["query"][0] for request in server.requests]


def test_no_predicate_is_hidden() -> None:
    with served(WIDE, PREFIXES) as (_, graph):
        text = called(toolbox(graph), "list", subject=":hub").text
    assert text.startswith("120 triples with subject :hub:")
    assert text.count("→") == 10
    assert len(text.split("also: ")[1].split(", ")) == 20
    assert all(f":p{number}" in text for number in range(30))


def test_a_local_and_a_remote_graph_list_the_same_predicates(local: KnowledgeGraph) -> None:
    with served(MOONS, PREFIXES) as (server, graph):
        text = called(toolbox(graph), "list", subject=":Io").text
        queries = asked(server)
    assert text == (
        "5 triples with subject :Io:\n"
        'rdfs:label → "Io"@en, "Io"@de\n'
        "rdf:type → onto:Moon\n"
        "onto:orbits → :Jupiter\n"
        "onto:radius → 1821.6"
    )
    assert any("LIMIT" in query for query in queries)


def test_predicates_that_were_shown_come_last(local: KnowledgeGraph) -> None:
    box = toolbox(local)
    before = called(box, "list", subject="space:Io").text.split("\n")
    box = toolbox(local)
    called(box, "list", predicate="rdf:type")
    after = called(box, "list", subject="space:Io").text.split("\n")
    assert before[1].startswith("rdf:type") and after[-1].startswith("rdf:type")


def test_the_examples_of_one_predicate_are_diverse(local: KnowledgeGraph) -> None:
    text = called(toolbox(local), "list", predicate="ont:orbits").text
    ends = [pair.split(" → ")[1] for pair in text.split(": ", 2)[-1].split("; ")]
    assert len(ends) == 10 and len(set(ends)) > 6


@for_each(
    ("arguments", "head", "line"),
    ({"subject": "space:Titan"}, "13 triples with subject", "ont:orbits → space:Saturn"),
    ({"subject": "space:Titan"}, "13 triples with subject", 'rdfs:label → "Titan"@en (3)'),
    ({"subject": "space:Titan", "object": "space:Saturn"}, "1 triple with", "ont:orbits"),
    ({"subject": "space:Titan", "predicate": "ont:operator"}, NONE, NONE),
    ({"object": "Titan"}, "", 'rdfs:label: space:Titan → "Titan"@en'),
    ({"object": '"Titan"'}, "", 'rdfs:label: space:Titan → "Titan"@en'),
    ({"object": '"Titan"@en'}, "", 'rdfs:label: space:Titan → "Titan"@en'),
)
def test_triples_come_by_predicate(
    local: KnowledgeGraph, arguments: dict[str, str], head: str, line: str
) -> None:
    found = called(toolbox(local), "list", **arguments)
    assert found.text.startswith(head) and line in found.text and not found.failed
    assert "https://example.org/space/Titan" in found.seen


def test_a_text_is_found_in_a_remote_graph_whatever_its_language_or_type() -> None:
    with served(MOONS, PREFIXES) as (_, graph):
        box = toolbox(graph)
        assert ':Mars → "Mars"@en' in called(box, "list", object="Mars").text
        assert "onto:radius: :Io → 1821.6" in called(box, "list", object="1821.6").text


def test_escapes_in_a_text_are_read() -> None:
    lines = MOONS + ':Io :said "two\\nlines" .'
    with served(lines, PREFIXES) as (_, graph):
        found = called(toolbox(graph), "list", object='"two\\nlines"')
    assert found.rows == 1


def test_variants_of_one_property_take_one_line() -> None:
    prefixes = {
        **PREFIXES,
        "direct": "http://example.org/direct/",
        "own": "http://example.org/statement/",
    }
    with served(STATEMENTS, prefixes) as (_, graph):
        text = called(toolbox(graph), "list", subject=":a").text
    assert text == "2 triples with subject :a:\ndirect:P1 → :x (1; also own:P1)"


@for_each(
    ("arguments", "told"),
    ({}, "give a subject, a predicate or an object"),
    ({"subject": "_:b0"}, "blank node"),
    ({"object": "_:b0"}, "blank node"),
    ({"subject": "space:Titn"}, "nearest: space:Titan"),
    ({"predicate": "ont:orbit"}, "nearest: ont:orbits"),
)
def test_what_cannot_be_listed_is_told(
    local: KnowledgeGraph, arguments: dict[str, str], told: str
) -> None:
    found = called(toolbox(local), "list", **arguments)
    assert found.failed and told in found.text


def test_a_remote_hub_is_asked_for_few_rows() -> None:
    with served(WIDE, PREFIXES) as (server, graph):
        called(toolbox(graph), "list", subject=":hub")
        queries = [query for query in asked(server) if "?naming" not in query]
    limits = [int(query.rsplit("LIMIT ", 1)[1].split()[0]) for query in queries]
    assert len(queries) == 3 and max(limits) <= 300
