"""The namespaces of the public graphs that benchmarks are about, and which one a query is about."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from askgraph.rdf import vocabulary as voc

_STANDARD = {
    "rdf": voc.RDF,
    "rdfs": voc.RDFS,
    "owl": voc.OWL,
    "xsd": voc.XSD,
    "skos": voc.SKOS,
    "schema": voc.SCHEMA,
    "geo": voc.GEO,
    "prov": voc.PROV,
}
_WD = "http://www.wikidata.org/"

WIKIDATA: Mapping[str, str] = {
    **_STANDARD,
    "wikibase": voc.WIKIBASE,
    "wd": f"{_WD}entity/",
    "wds": f"{_WD}entity/statement/",
    "wdv": f"{_WD}value/",
    "wdref": f"{_WD}reference/",
    "wdata": f"{_WD}wiki/Special:EntityData/",
    "wdt": f"{_WD}prop/direct/",
    "wdtn": f"{_WD}prop/direct-normalized/",
    "wdno": f"{_WD}prop/novalue/",
    "p": f"{_WD}prop/",
    "ps": f"{_WD}prop/statement/",
    "psv": f"{_WD}prop/statement/value/",
    "psn": f"{_WD}prop/statement/value-normalized/",
    "pq": f"{_WD}prop/qualifier/",
    "pqv": f"{_WD}prop/qualifier/value/",
    "pqn": f"{_WD}prop/qualifier/value-normalized/",
    "pr": f"{_WD}prop/reference/",
    "prv": f"{_WD}prop/reference/value/",
    "prn": f"{_WD}prop/reference/value-normalized/",
    "bd": "http://www.bigdata.com/rdf#",
    "hint": "http://www.bigdata.com/queryHints#",
    "geof": "http://www.opengis.net/def/function/geosparql/",
    "cc": "http://creativecommons.org/ns#",
    "dct": voc.DCTERMS,
    "ontolex": "http://www.w3.org/ns/lemon/ontolex#",
    "mwapi": "https://www.mediawiki.org/ontology#API/",
    "gas": "http://www.bigdata.com/rdf/gas#",
}
"""What the public query service of Wikidata declares for every query."""

DBPEDIA: Mapping[str, str] = {
    **_STANDARD,
    "dbo": "http://dbpedia.org/ontology/",
    "dbr": "http://dbpedia.org/resource/",
    "dbp": "http://dbpedia.org/property/",
    "dbc": "http://dbpedia.org/resource/Category:",
    "res": "http://dbpedia.org/resource/",
    "onto": "http://dbpedia.org/ontology/",
    "prop": "http://dbpedia.org/property/",
    "yago": "http://dbpedia.org/class/yago/",
    "foaf": voc.FOAF,
    "dc": voc.DC,
    "dct": voc.DCTERMS,
    "dcterms": voc.DCTERMS,
    "georss": "http://www.georss.org/georss/",
    "geo": voc.WGS84,
}
"""What the public endpoint of DBpedia knows without declaration, and QALD's own short names."""

ORKG: Mapping[str, str] = {
    **_STANDARD,
    "orkgp": "http://orkg.org/orkg/predicate/",
    "orkgc": "http://orkg.org/orkg/class/",
    "orkgr": "http://orkg.org/orkg/resource/",
}
"""The Open Research Knowledge Graph."""

FREEBASE: Mapping[str, str] = {**_STANDARD, "ns": "http://rdf.freebase.com/ns/"}
"""The last dump of Freebase."""

PREFIXES: Mapping[str, Mapping[str, str]] = {
    "wikidata": WIKIDATA,
    "dbpedia": DBPEDIA,
    "orkg": ORKG,
    "dblp": {"dblp": "https://dblp.org/rdf/schema#"},
}
"""What queries over a graph, by its name, may use without declaring it."""

_SIGNS = {
    "wikidata": re.compile(r"www\.wikidata\.org/|\b(?:wdt?|ps?|pq):[QP][0-9]"),
    "dbpedia": re.compile(r"dbpedia\.org/|\b(?:dbo|dbr|dbp|dbc|res):"),
}


def graph_of(queries: Iterable[str]) -> str | None:
    """Return `wikidata` or `dbpedia`, whichever more queries name; None if none names either."""
    named = Counter(
        graph for query in queries for graph, sign in _SIGNS.items() if sign.search(query)
    )
    return max(named, key=named.__getitem__) if named else None


def wikidata_iri(name: str) -> str:
    """Return the IRI of `Q42` or, for the statements of `P31`, `wdt:P31` or `R31`, the property."""
    prefix, _, local = name.rpartition(":")
    if prefix in WIKIDATA and local:
        return WIKIDATA[prefix] + local
    if re.fullmatch(r"[PR][0-9]+", name):
        return f"{WIKIDATA['wdt']}P{name[1:]}"
    if re.fullmatch(r"Q[0-9]+", name):
        return WIKIDATA["wd"] + name
    return name
