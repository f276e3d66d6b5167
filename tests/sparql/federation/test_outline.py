"""Where the groups and elements of a query stand, and what they bind."""

import os
from pathlib import Path

import pytest
from pyoxigraph import QuerySolutions, Store

from askgraph.graph.examples.shacl import read_shacl
from askgraph.sparql.federation.outline import outline
from askgraph.sparql.judge import admitted

DATA = Path(os.environ.get("ASKGRAPH_DATA", Path(__file__).parents[3] / "shared" / "data"))
EXAMPLES = DATA / "sib-examples" / "examples.tar.gz"

QUERY = """PREFIX : <http://example.org/> SELECT ?a (COUNT(?b) AS ?n) FROM <a:g> FROM NAMED <a:h> {
  ?a :p ?b ; :q [ :r 5. ] . ?c ?d "}" . FILTER(?b > 1 && EXISTS { ?x :p ?a })
  OPTIONAL { ?b :s ?e } MINUS { ?b :t ?f } { ?g :p ?h } UNION { ?g :q ?i }
  VALUES (?j ?k) { (1 UNDEF) } VALUES ?l { 2 } BIND(?b + 1 AS ?m)
  GRAPH ?o { ?q :p ?r } SERVICE SILENT <a:b> { ?s :p ?t }
  { SELECT ?u (MAX(?v) AS ?w) { ?u :p ?v } GROUP BY ?u HAVING(EXISTS { ?u :p 1 }) LIMIT 3 }
} GROUP BY ?a ORDER BY ?n"""


def test_each_element_is_told_with_its_place() -> None:
    found = outline(QUERY)
    written = [(e.kind, QUERY[e.start : e.end].split()[0]) for e in found.where.elements]
    assert written == [
        ("triples", "?a"),
        ("triples", "?c"),
        ("filter", "FILTER(?b"),
        ("optional", "OPTIONAL"),
        ("minus", "MINUS"),
        ("groups", "{"),
        ("values", "VALUES"),
        ("values", "VALUES"),
        ("bind", "BIND(?b"),
        ("graph", "GRAPH"),
        ("service", "SERVICE"),
        ("groups", "{"),
    ]
    assert QUERY[found.where.end :] == " GROUP BY ?a ORDER BY ?n"
    assert found.datasets == "FROM <a:g> FROM NAMED <a:h>"


def test_what_is_bound_for_sure_is_told_from_what_may_be() -> None:
    where = outline(QUERY).where
    assert "".join(sorted(where.certain)) == "abcdgloqru"
    assert "".join(where.possible) == "abcdeghijklmoqrstuw"


@pytest.mark.data
@pytest.mark.skipif(not EXAMPLES.is_file(), reason=f"needs the benchmark data: {EXAMPLES}")
def test_the_variables_of_published_queries_are_those_that_oxigraph_sees() -> None:
    store, compared = Store(), 0
    for example in read_shacl(EXAMPLES).examples:
        if "SERVICE" in example.query.upper():
            continue  # Oxigraph would call it
        text = admitted(example.query).text
        found = outline(text)
        where = text[found.where.start : found.where.end]
        try:
            solutions = store.query(f"{text[: found.start]} SELECT * WHERE {where} LIMIT 0")
        except (SyntaxError, RuntimeError, ValueError):
            continue  # names and functions that Oxigraph does not know
        assert isinstance(solutions, QuerySolutions)
        assert {one.value for one in solutions.variables} == set(found.where.possible), text
        compared += 1
    assert compared > 1_000
