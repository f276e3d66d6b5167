"""A graph whose names are hard to hide: long ones, many scripts, codes, parts, declared terms."""

__all__ = ["ODD"]

ODD = """
@prefix ex: <http://ex.org/schema/> .
@prefix r: <http://ex.org/res/> .
@prefix alice: <http://ex.org/people/AliceSecret/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:Person a rdfs:Class ; rdfs:label "person"@en .
ex:City a rdfs:Class ; rdfs:label "city"@en .
ex:Work a rdfs:Class ; rdfs:label "work"@en .
ex:Pension a owl:Class ; rdfs:label "pension scheme"@en .
ex:mentor a rdf:Property ; rdfs:label "mentored by"@en .
ex:lives rdfs:label "lives in"@en .
ex:author rdfs:label "author"@en .
ex:salary rdfs:label "salary"@en .
ex:code rdfs:label "code"@en .
ex:born rdfs:label "born"@en .
r:p1 a ex:Person ; rdfs:label "Jürgen Müller-Lüdenscheidt"@de ; ex:lives r:c1 ;
    ex:salary 87654.5 ; ex:born "1957-03-12"^^xsd:date .
r:p2 a ex:Person ; ex:lives r:c2 ; ex:salary -4200 ; ex:code "QX-774-b" ;
    rdfs:label "Ada King, Countess of Lovelace and Several Other Distant Foreign Places"@en .
r:p3 a ex:Person ; rdfs:label "R2-D2"@en , "Erzwo-Dezwo"@de ; ex:lives r:c1 ; ex:code "B747" .
r:p4 a ex:Person ; rdfs:label "李小龍"@zh, "Bruce Lee"@en, "Брюс Ли"@ru ; ex:lives r:c3 .
alice:a1 a ex:Person ; rdfs:label "Alicia Sekret"@en ; ex:lives r:c3 ; ex:code "ZZ9 Plural" .
r:c1 a ex:City ; rdfs:label "Köln"@de , "Cologne"@en .
r:c2 a ex:City ; rdfs:label "Stratford-upon-Avon"@en .
r:c3 a ex:City ; rdfs:label "香港"@zh, "Hong Kong"@en .
r:w1 a ex:Work ; ex:author r:p1 ; ex:code "12/2004" ;
    rdfs:label "How to Cook a Wolf Without Losing Your Patience or Your Favourite Pan"@en .
"""
