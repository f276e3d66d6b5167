"""A small Wikibase: properties with names, opaque codes, statements with qualifiers and ranks."""

_PREFIXES = """
@prefix wd: <http://base.test/entity/> .
@prefix wds: <http://base.test/entity/statement/> .
@prefix wdt: <http://base.test/prop/direct/> .
@prefix p: <http://base.test/prop/> .
@prefix ps: <http://base.test/prop/statement/> .
@prefix pq: <http://base.test/prop/qualifier/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
@prefix schema: <http://schema.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
_PROPERTIES = {
    "P1": ("instance of", "ist ein(e)"), "P2": ("subclass of", "Unterklasse von"),
    "P3": ("mouth of the watercourse", "Mündung"), "P4": ("population", "Einwohnerzahl"),
    "P5": ("head of government", "Leiter der Regierung"), "P6": ("start time", "Startzeitpunkt"),
    "P7": ("end time", "Endzeitpunkt"), "P8": ("length", "Länge"),
    "P9": ("point in time", "Zeitpunkt"),
}  # fmt: skip
_ALIASES = {"P3": "flows into", "P4": "inhabitants", "P5": "mayor", "P6": "since"}
_ITEMS = {
    "Q1": "entity", "Q2": "river", "Q3": "city", "Q4": "port city", "Q5": "human", "Q6": "place",
    "Q20": "Lomira", "Q21": "Veska", "Q22": "Tarn", "Q23": "Ostra", "Q30": "Norwick",
    "Q31": "Belmar", "Q32": "Tarn", "Q33": "Milden", "Q34": "Milden", "Q35": "Orlen",
    "Q36": "Orlen", "Q40": "Ada Lindt", "Q41": "Ben Corvo", "Q42": "Cleo Marsh",
}  # fmt: skip
_CLAIMS = """
wd:Q2 wdt:P2 wd:Q6 . wd:Q6 wdt:P2 wd:Q1 . wd:Q3 wdt:P2 wd:Q6 . wd:Q4 wdt:P2 wd:Q3 .
wd:Q5 wdt:P2 wd:Q1 .
wd:Q20 wdt:P1 wd:Q2 ; wdt:P3 wd:Q21 ; wdt:P8 120 . wd:Q21 wdt:P1 wd:Q2 ; wdt:P8 340 .
wd:Q22 wdt:P1 wd:Q2 ; wdt:P3 wd:Q21 ; wdt:P8 80 . wd:Q23 wdt:P1 wd:Q2 ; wdt:P3 wd:Q20 ; wdt:P8 60 .
wd:Q30 wdt:P1 wd:Q3 ; wdt:P4 5000 . wd:Q31 wdt:P1 wd:Q4 ; wdt:P4 70000 .
wd:Q32 wdt:P1 wd:Q3 ; wdt:P4 300 .
wd:Q40 wdt:P1 wd:Q5 . wd:Q41 wdt:P1 wd:Q5 . wd:Q42 wdt:P1 wd:Q5 .
wd:Q30 wdt:P5 wd:Q41 .
wd:Q30 p:P5 wds:a, wds:b, wds:c .
wds:a a wikibase:Statement ; ps:P5 wd:Q40 ; pq:P6 "1980-01-01"^^xsd:date ;
    pq:P7 "1990-01-01"^^xsd:date ; wikibase:rank wikibase:NormalRank .
wds:b a wikibase:Statement, wikibase:BestRank ; ps:P5 wd:Q41 ; pq:P6 "1990-01-02"^^xsd:date ;
    wikibase:rank wikibase:PreferredRank .
wds:c a wikibase:Statement ; ps:P5 wd:Q42 ; pq:P6 "1985-01-01"^^xsd:date ;
    wikibase:rank wikibase:DeprecatedRank .
wd:Q30 p:P4 wds:d, wds:e .
wds:d a wikibase:Statement ; ps:P4 4000 ; pq:P9 "1990-06-01"^^xsd:date ;
    wikibase:rank wikibase:NormalRank .
wds:e a wikibase:Statement, wikibase:BestRank ; ps:P4 5000 ; pq:P9 "2020-06-01"^^xsd:date ;
    wikibase:rank wikibase:PreferredRank .
wd:Q33 wdt:P1 wd:Q3 ; wdt:P4 500 ; schema:description "city in the north"@en .
wd:Q34 wdt:P1 wd:Q3 ; wdt:P4 700 ; schema:description "city in the south"@en .
wd:Q35 wdt:P1 wd:Q3 ; wdt:P5 wd:Q40 . wd:Q36 wdt:P1 wd:Q3 ; wdt:P5 wd:Q42 .
wd:Q99 owl:sameAs wd:Q31 .
"""


_FORMS = {"directClaim": "wdt", "claim": "p", "statementProperty": "ps", "qualifier": "pq"}


def _property(code: str, names: tuple[str, str]) -> str:
    links = " ; ".join(f"wikibase:{form} {prefix}:{code}" for form, prefix in _FORMS.items())
    alias = f' ; skos:altLabel "{_ALIASES[code]}"@en' if code in _ALIASES else ""
    labels = f'rdfs:label "{names[0]}"@en, "{names[1]}"@de'
    return f"wd:{code} a wikibase:Property ; {labels}{alias} ; {links} .\n"


def _item(code: str, name: str) -> str:
    page = f"<http://pages.test/{name.replace(' ', '_')}_{code}>"
    links = 40 if code == "Q35" else len(name)
    return (
        f'wd:{code} rdfs:label "{name}"@en ; wikibase:sitelinks {links} .\n'
        f'{page} a schema:Article ; schema:about wd:{code} ; schema:name "{name}"@en .\n'
    )


_NAMED = [*(_property(*one) for one in _PROPERTIES.items()), *(_item(*o) for o in _ITEMS.items())]
WIKIBASE = "".join([_PREFIXES, *_NAMED, _CLAIMS])
