"""The namespaces of the public graphs that benchmarks are about, and which one a query is about."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from askgraph.rdf import TABLES

_STANDARD = TABLES["standard"]

WIKIDATA = {**_STANDARD, **TABLES["wikidata"]}
"""What the public query service of Wikidata declares for every query."""

DBPEDIA = {**_STANDARD, **TABLES["dbpedia"]}
"""What the public endpoint of DBpedia knows without declaration, and QALD's own short names."""

FREEBASE = {**_STANDARD, **TABLES["freebase"]}
"""The last dump of Freebase."""

PREFIXES: Mapping[str, Mapping[str, str]] = {
    "wikidata": WIKIDATA,
    "dbpedia": DBPEDIA,
    "orkg": {**_STANDARD, **TABLES["orkg"]},
    "dblp": TABLES["dblp"],
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
