"""Build queries for the triples that describe a resource (Henselmann et al. 2025, section 4.1).

- outgoing: triples that leave the resource.
- neighbourhood: incoming triples as well.
- specific, for classes and properties: outgoing triples, the terms below, and for a class the
  properties whose domain or range it is, with the class at their other end.

Each query has a limit. `build_boundary_query` builds one query for a complete boundary, with the
terms around a class or property as in the paper (appendices B and C).
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from askgraph.graph.profile import Profile
from askgraph.index.name_search import format_iris
from askgraph.sparql import vocabulary as v

Boundary = Literal["outgoing", "neighbourhood", "specific", "auto"]
Kind = Literal["class", "property", "individual"]

INDIVIDUAL_BOUNDARIES = ("outgoing", "neighbourhood")
SCHEMA_BOUNDARIES = ("outgoing", "neighbourhood", "specific")
"""The boundaries that a study compares, for individuals and for classes and properties."""


def classify_resource(iri: str, types: Iterable[str], profile: Profile) -> Kind:
    """Return the kind of a resource, from its classes and its use in the graph."""
    type_set = frozenset(types)
    if type_set & v.CLASS_TYPES or any(cls.iri == iri for cls in profile.classes):
        return "class"
    if type_set & v.PROPERTY_TYPES or any(p.iri == iri for p in profile.predicates):
        return "property"
    return "individual"


def build_edges_query(iri: str, *, inverse: bool, limit: int) -> str:
    """Return a query for the statements at a resource in one direction: `?p` and the end `?x`."""
    return f"SELECT ?p ?x WHERE {{ {_build_edge(iri, '?p', inverse=inverse)} }} LIMIT {limit}"


def build_counts_query(iri: str, *, inverse: bool, limit: int) -> str:
    """Return a query for predicate counts in the first `limit` statements: `?p`, `?n`."""
    inner = f"SELECT ?p WHERE {{ {_build_edge(iri, '?p', inverse=inverse)} }} LIMIT {limit}"
    return f"SELECT ?p (COUNT(*) AS ?n) WHERE {{ {{ {inner} }} }} GROUP BY ?p LIMIT {limit}"


def build_samples_query(
    iri: str, predicates: Sequence[str], *, inverse: bool, rows_per_predicate: int
) -> str:
    """Return a query for a few statements of each predicate: `?p` and the other end `?x`."""
    parts = [
        f"{{ SELECT (<{predicate}> AS ?p) ?x "
        f"WHERE {{ {_build_edge(iri, f'<{predicate}>', inverse=inverse)} }} "
        f"LIMIT {rows_per_predicate} }}"
        for predicate in predicates
    ]
    return (
        f"SELECT ?p ?x WHERE {{ {' UNION '.join(parts)} }} LIMIT {rows_per_predicate * len(parts)}"
    )


def build_nodes_query(nodes: Sequence[str], *, limit: int) -> str:
    """Return a query for the statements about a few nodes: `?s`, `?p`, `?o`."""
    return (
        f"SELECT ?s ?p ?o WHERE {{ VALUES ?s {{ {format_iris(nodes)} }} ?s ?p ?o }} LIMIT {limit}"
    )


def build_children_query(iri: str, predicate: str, *, limit: int) -> str:
    """Return a query for the terms below a class or property by a predicate: `?x`."""
    return (
        f"SELECT DISTINCT ?x WHERE {{ ?x <{predicate}> <{iri}> FILTER(isIRI(?x) && "
        f"?x != <{iri}>) }} LIMIT {limit}"
    )


def build_properties_query(iri: str, *, limit: int) -> str:
    """Return a query for a class's properties: `?p`, `?from` (true: domain), the `?other` end."""
    domain, range_ = f"<{v.RDFS_DOMAIN}>", f"<{v.RDFS_RANGE}>"
    return (
        "SELECT DISTINCT ?p ?from ?other WHERE { "
        f"{{ ?p {domain} <{iri}> OPTIONAL {{ ?p {range_} ?other }} BIND(true AS ?from) }} UNION "
        f"{{ ?p {range_} <{iri}> OPTIONAL {{ ?p {domain} ?other }} BIND(false AS ?from) }} "
        f"}} LIMIT {limit}"
    )


def build_boundary_query(iri: str, kind: Kind, boundary: Boundary, *, limit: int) -> str:
    """Return a query for all triples of a resource within a boundary: `?s`, `?p`, `?o`.

    For a class, `specific` adds its direct subclasses and superclasses, with type and label; the
    properties with the class as domain or range, with both ends, type and label; and the other ends
    of these. For a property it adds the domain and range; the direct subproperties and
    superproperties, with type, label, domain and range; and the other ends of these. For an
    individual it equals `outgoing`.
    """
    resource = f"<{iri}>"
    parts = [f"BIND({resource} AS ?s) {resource} ?p ?o"]
    if boundary == "neighbourhood":
        parts.append(f"BIND({resource} AS ?o) ?s ?p {resource}")
    elif boundary == "specific" and kind == "class":
        parent_predicate = f"<{v.RDFS_SUB_CLASS_OF}>"
        ends = f"FILTER(?end IN ({_DOMAIN_RANGE})) ?x ?end {resource} ."
        parts += [
            f"?s {parent_predicate} {resource} ; ?p ?o FILTER(?p IN ({_TYPE_AND_LABEL}) || "
            f"(?p = {parent_predicate} && ?o = {resource}))",
            f"{resource} {parent_predicate} ?s . ?s ?p ?o FILTER(?p IN ({_TYPE_AND_LABEL}))",
            f"{ends} ?x ?p ?o FILTER(?p IN ({_TYPE_AND_LABEL}, {_DOMAIN_RANGE})) BIND(?x AS ?s)",
            f"{ends} ?x ?to ?s FILTER(?to IN ({_TYPE_AND_LABEL}, {_DOMAIN_RANGE})) "
            f"?s <{v.RDFS_LABEL}> ?a ; <{v.RDF_TYPE}> ?b ; ?p ?o FILTER(?p IN ({_TYPE_AND_LABEL}))",
        ]
    elif boundary == "specific" and kind == "property":
        parent_predicate = f"<{v.RDFS_SUB_PROPERTY_OF}>"
        related = (
            f"{{ ?x {parent_predicate} {resource} }} UNION {{ {resource} {parent_predicate} ?x }}"
        )
        parts += [
            f"{resource} ?end ?s FILTER(?end IN ({_DOMAIN_RANGE})) ?s ?p ?o FILTER(?p IN "
            f"({_TYPE_AND_LABEL}))",
            f"?s {parent_predicate} {resource} BIND({parent_predicate} AS ?p) BIND({resource} "
            "AS ?o)",
            f"{related} ?x ?p ?o FILTER(?p IN ({_TYPE_AND_LABEL}, {_DOMAIN_RANGE})) BIND(?x AS ?s)",
            f"{related} ?x ?to ?s FILTER(?to IN ({_TYPE_AND_LABEL}, {_DOMAIN_RANGE})) "
            f"?s ?p ?o FILTER(?p IN ({_TYPE_AND_LABEL}))",
        ]
    union = " UNION ".join(f"{{ {part} }}" for part in parts)
    return f"SELECT DISTINCT ?s ?p ?o WHERE {{ {union} }} LIMIT {limit}"


_TYPE_AND_LABEL = f"<{v.RDF_TYPE}>, <{v.RDFS_LABEL}>"
_DOMAIN_RANGE = f"<{v.RDFS_DOMAIN}>, <{v.RDFS_RANGE}>"


def _build_edge(iri: str, predicate: str, *, inverse: bool) -> str:
    return f"?x {predicate} <{iri}>" if inverse else f"<{iri}> {predicate} ?x"
