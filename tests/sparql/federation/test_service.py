"""The services that a query calls."""

from askgraph.sparql.federation.service import called_services


def test_addresses_are_named_in_order_and_none_twice() -> None:
    query = """PREFIX ex: <http://example.org/> # SERVICE <http://no/>
        SELECT * { SERVICE <http://b/> { ?s ?p "SERVICE <http://no/>" }
        SERVICE SILENT ex:a { ?s ?p ?o } SERVICE <http://b/> { ?a ?b ?c } SERVICE ?any { } }"""
    assert called_services(query) == ("http://b/", "http://example.org/a")


def test_a_query_without_services_calls_none() -> None:
    assert called_services("SELECT * { ?s ?p ?o }") == ()
