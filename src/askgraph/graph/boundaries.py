"""Entity boundaries: the triples that describe a resource (Henselmann et al. 2025, section 4.1).

- outgoing: what leaves the resource.
- neighbourhood: what comes in as well.
- specific, for classes and properties: what leaves it, the terms below it, and for a class the
  properties whose domain or range it is, with the class at their other end.

Here they are the queries that ask for it, each bounded; `within_boundary` is one query for all of
it, with the terms around a class or property as the paper has them (appendices B and C).
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from askgraph.graph.profile import Profile
from askgraph.index.name_search import iris
from askgraph.sparql import vocabulary as v

Boundary = Literal["outgoing", "neighbourhood", "specific", "auto"]
Kind = Literal["class", "property", "individual"]

INDIVIDUALS = ("outgoing", "neighbourhood")
SCHEMA = ("outgoing", "neighbourhood", "specific")
"""The boundaries that a study varies, of individuals and of classes and properties."""


def kind_of(iri: str, types: Iterable[str], profile: Profile) -> Kind:
    """Return the kind of a resource, by its classes and by its use in the graph."""
    given = frozenset(types)
    if given & v.CLASS_TYPES or any(cls.iri == iri for cls in profile.classes):
        return "class"
    if given & v.PROPERTY_TYPES or any(p.iri == iri for p in profile.predicates):
        return "property"
    return "individual"


def edges(iri: str, *, inverse: bool, limit: int) -> str:
    """Return the query for the statements at a resource, one way: `?p` and the other end `?x`."""
    return f"SELECT ?p ?x WHERE {{ {_edge(iri, '?p', inverse=inverse)} }} LIMIT {limit}"


def counts_by_predicate(iri: str, *, inverse: bool, limit: int) -> str:
    """Return the query for each predicate's number among the first `limit`: `?p` and `?n`."""
    inner = f"SELECT ?p WHERE {{ {_edge(iri, '?p', inverse=inverse)} }} LIMIT {limit}"
    return f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {{ {inner} }} }} GROUP BY ?p LIMIT {limit}"


def some_of_each(iri: str, predicates: Sequence[str], *, inverse: bool, each: int) -> str:
    """Return the query for a few statements of each predicate: `?p` and the other end `?x`."""
    parts = [
        f"{{ SELECT (<{one}> AS ?p) ?x WHERE {{ {_edge(iri, f'<{one}>', inverse=inverse)} }} "
        f"LIMIT {each} }}"
        for one in predicates
    ]
    return f"SELECT ?p ?x WHERE {{ {' UNION '.join(parts)} }} LIMIT {each * len(parts)}"


def of_nodes(nodes: Sequence[str], *, limit: int) -> str:
    """Return the query for the statements about a few nodes: `?s`, `?p`, `?o`."""
    return f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {iris(nodes)} }} ?s ?p ?o }} LIMIT {limit}"


def below(iri: str, predicate: str, *, limit: int) -> str:
    """Return the query for the terms below a class or property by such a predicate: `?x`."""
    return (
        f"SELECT DISTINCT ?x WHERE {{ ?x <{predicate}> <{iri}> FILTER(isIRI(?x) && "
        f"?x != <{iri}>) }} LIMIT {limit}"
    )


def declared_at(iri: str, *, limit: int) -> str:
    """Return the query for a class's properties: `?p`, `?from` (it is the domain), `?other` end."""
    domain, range_ = f"<{v.RDFS_DOMAIN}>", f"<{v.RDFS_RANGE}>"
    return (
        "SELECT DISTINCT ?p ?from ?other WHERE { "
        f"{{ ?p {domain} <{iri}> OPTIONAL {{ ?p {range_} ?other }} BIND(true AS ?from) }} UNION "
        f"{{ ?p {range_} <{iri}> OPTIONAL {{ ?p {domain} ?other }} BIND(false AS ?from) }} "
        f"}} LIMIT {limit}"
    )


def within_boundary(iri: str, kind: Kind, boundary: Boundary, *, limit: int) -> str:
    """Return the query for all triples of a resource within a boundary: `?s`, `?p`, `?o`.

    Specific is, besides what leaves a class: the classes next below and above it, with type and
    label; the properties of which it is domain or range, with these, type and label; and what those
    lead to. Of a property it is what leaves it; its domain and range; the properties next below and
    above it, with type, label, domain and range; and what those lead to. For an individual,
    specific is outgoing.
    """
    here = f"<{iri}>"
    parts = [f"BIND({here} AS ?s) {here} ?p ?o"]
    if boundary == "neighbourhood":
        parts.append(f"BIND({here} AS ?o) ?s ?p {here}")
    elif boundary == "specific" and kind == "class":
        up = f"<{v.RDFS_SUB_CLASS_OF}>"
        ends = f"FILTER(?end IN ({_DOMAIN_RANGE})) ?x ?end {here} ."
        parts += [
            f"?s {up} {here} ; ?p ?o FILTER(?p IN ({_NAMED}) || (?p = {up} && ?o = {here}))",
            f"{here} {up} ?s . ?s ?p ?o FILTER(?p IN ({_NAMED}))",
            f"{ends} ?x ?p ?o FILTER(?p IN ({_NAMED}, {_DOMAIN_RANGE})) BIND(?x AS ?s)",
            f"{ends} ?x ?to ?s FILTER(?to IN ({_NAMED}, {_DOMAIN_RANGE})) "
            f"?s <{v.RDFS_LABEL}> ?a ; <{v.RDF_TYPE}> ?b ; ?p ?o FILTER(?p IN ({_NAMED}))",
        ]
    elif boundary == "specific" and kind == "property":
        up = f"<{v.RDFS_SUB_PROPERTY_OF}>"
        near = f"{{ ?x {up} {here} }} UNION {{ {here} {up} ?x }}"
        parts += [
            f"{here} ?end ?s FILTER(?end IN ({_DOMAIN_RANGE})) ?s ?p ?o FILTER(?p IN ({_NAMED}))",
            f"?s {up} {here} BIND({up} AS ?p) BIND({here} AS ?o)",
            f"{near} ?x ?p ?o FILTER(?p IN ({_NAMED}, {_DOMAIN_RANGE})) BIND(?x AS ?s)",
            f"{near} ?x ?to ?s FILTER(?to IN ({_NAMED}, {_DOMAIN_RANGE})) "
            f"?s ?p ?o FILTER(?p IN ({_NAMED}))",
        ]
    union = " UNION ".join(f"{{ {part} }}" for part in parts)
    return f"SELECT DISTINCT ?s ?p ?o WHERE {{ {union} }} LIMIT {limit}"


_NAMED = f"<{v.RDF_TYPE}>, <{v.RDFS_LABEL}>"
_DOMAIN_RANGE = f"<{v.RDFS_DOMAIN}>, <{v.RDFS_RANGE}>"


def _edge(iri: str, predicate: str, *, inverse: bool) -> str:
    return f"?x {predicate} <{iri}>" if inverse else f"<{iri}> {predicate} ?x"
