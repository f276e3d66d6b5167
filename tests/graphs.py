"""Small graphs that several tests use."""

from pyoxigraph import RdfFormat, Store

MOONS = """
@prefix : <http://example.org/> .
@prefix onto: <http://example.org/onto#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Io a onto:Moon ; rdfs:label "Io"@en, "Io"@de ; onto:orbits :Jupiter ; onto:radius 1821.6 .
:Europa a onto:Moon ; rdfs:label "Europa"@en ; onto:orbits :Jupiter ; onto:radius 1560.8 .
:Phobos a onto:Moon ; rdfs:label "Phobos"@en ; onto:orbits :Mars ; onto:radius 11.2667 .
:Jupiter a onto:Planet ; rdfs:label "Jupiter"@en ; onto:code "JUP" .
:Mars a onto:Planet ; rdfs:label "Mars"@en ; onto:code "MAR" .
onto:Moon rdfs:label "moon"@en, "Mond"@de .
onto:Planet rdfs:label "planet"@en .
onto:orbits rdfs:label "orbits"@en .
"""
EXTRA = """
@prefix : <http://example.org/> .
@prefix onto: <http://example.org/onto#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Deimos a onto:Moon ; rdfs:label "Deimos"@en ; onto:orbits :Mars .
"""
PETS = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Rex a :Dog ; rdfs:label "Rex" ; :owner :Ann .
:Ann a :Person ; rdfs:label "Ann" .
"""


def store_of(turtle: str) -> Store:
    """Return a store with a graph."""
    store = Store()
    store.bulk_load(turtle.encode(), RdfFormat.TURTLE)
    return store
