"""A graph of a few cars, lorries and ships, whose users have words of their own."""

__all__ = ["FLEET", "ONTO"]

ONTO = "http://fleet.example/onto#"

FLEET = """
@prefix : <http://fleet.example/> .
@prefix o: <http://fleet.example/onto#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

o:Car a rdfs:Class ; rdfs:label "car"@en .
o:Lorry a rdfs:Class ; rdfs:label "lorry"@en .
o:Ship a rdfs:Class ; rdfs:label "ship"@en .
o:weight rdfs:label "weight"@en .
o:service rdfs:label "service"@en .
o:Service a rdfs:Class ; rdfs:label "service"@en .
o:depot rdfs:label "depot"@en .

:c1 a o:Car ; rdfs:label "Comet" ; o:weight 1200 ; o:depot :north .
:c2 a o:Car ; rdfs:label "Dart" ; o:weight 900 ; o:depot :south .
:l1 a o:Lorry ; rdfs:label "Mule" ; o:weight 8000 ; o:depot :north ; o:service :s1 .
:b1 a o:Car , o:Lorry ; rdfs:label "Pickup" ; o:weight 2000 ; o:depot :south .
:w1 a o:Ship ; rdfs:label "Albatross" ; o:weight 90000 ; o:depot :harbour .
:s1 a o:Service ; rdfs:label "Inspection 7" .
:north rdfs:label "North Yard" .
:south rdfs:label "South Yard" .
:harbour rdfs:label "Old Harbour" .
"""
