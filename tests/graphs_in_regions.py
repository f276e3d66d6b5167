"""A graph with all that can be advised: a hierarchy, a relation of its own, links one way only."""

__all__ = ["FIRMS"]

_FIRMS = "\n".join(
    f':f{n} a :Firm ; rdfs:label "Firm {n}" ; :hasSeat :seat{n} .'
    f" :f{n} :hasPlant :seat{n}, :seat{n % 3} ."
    f' :seat{n} a :Seat ; rdfs:label "Seat {n}" ; :partOf :town{n % 2} .'
    for n in range(6)
)
_DEALS = "\n".join(
    f":deal{n} a :Deal ; :seller :f{n} ; :buyer :f{(n + 1) % 6} ; :year {2000 + n} ."
    for n in range(6)
)
FIRMS = f"""
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
{_FIRMS}
{_DEALS}
:town0 a :Region ; rdfs:label "Aalen" ; :partOf :north .
:town1 a :Region ; rdfs:label "Bern" ; :partOf :south .
:north a :Region ; rdfs:label "Northland" ; :partOf :world .
:south a :Region ; rdfs:label "Southland" ; :partOf :world .
:world a :Region ; rdfs:label "World" .
:Firm rdfs:label "firm" . :Deal rdfs:label "deal" . :Region rdfs:comment "A place." .
:seller rdfs:label "seller"@en ; owl:inverseOf :sells . :sells rdfs:label "sells"@en .
:buyer rdfs:label "buyer"@en .
"""
