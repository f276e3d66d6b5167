"""The schema that a Wikibase tells of itself: the property of each predicate, the types of things.

A sample of its things tells which two properties say what things are and order their classes; see
`askgraph.graph.own_types`.
"""

from collections import defaultdict
from collections.abc import Iterable

from askgraph.graph.bounded_queries import Inquiry
from askgraph.graph.survey import Facts
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, value_of

_SAMPLE, _MOST_THINGS = 300, 500
_MOST = 0.5  # of the things have a property that says what they are, of its ends are in an order

_FORMS = "SELECT ?property ?form ?p {{ VALUES ?form {{ {} }} ?property ?form ?p }}".format(
    " ".join(f"<{form}>" for form in v.WIKIBASE_FORMS)
)
_THINGS = f"SELECT ?s {{ ?s <{v.WIKIBASE_SITELINKS}> ?links }} LIMIT {_SAMPLE}"
_DIRECT = f"?property <{v.WIKIBASE_DIRECT}> ?p"


async def ask_wikibase(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for the properties behind predicates, and for what stands for `rdf:type` here.

    All that is asked afterwards by the standard predicates is asked by the graph's own.
    """
    if v.WIKIBASE_DIRECT not in facts.triples:
        return
    forms = await inquiry.rows("the properties behind predicates", _FORMS)
    for property_, _, predicate in forms.rows if forms else ():
        facts.properties[value_of(predicate) or ""] = value_of(property_) or ""
    found = await _types(inquiry)
    if found is None:
        return
    facts.types = dict(zip((v.RDF_TYPE, v.RDFS_SUB_CLASS_OF), found, strict=True))
    inquiry.own_types = facts.types
    facts.count_own_types()


async def _types(inquiry: Inquiry) -> tuple[str, str] | None:
    """Return what most things of a sample have and what orders its ends; None if nothing does."""
    things = await inquiry.rows("some things", _THINGS)
    told = await _leaving(inquiry, things.rows if things else ())
    starts, ends = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for thing, predicate, end in told:
        starts[predicate].add(thing)
        ends[predicate].add(end)
    size = len({thing for thing, _, _ in told})
    common = [one for one in starts if len(starts[one]) >= _MOST * size]
    above = await _leaving(inquiry, {end for one in common for end in ends[one]})
    higher = await _leaving(inquiry, {end for _, _, end in above})
    walked = {(end, predicate) for end, predicate, _ in higher}
    ordered = defaultdict[str, set[str]](set)
    for cls, predicate, end in above:
        if (end, predicate) in walked:
            ordered[predicate].add(cls)
    fitting = [
        (len(starts[kind]), len(ordered[order] & ends[kind]), kind, order)
        for kind in common
        for order in ordered
        if order != kind and len(ordered[order] & ends[kind]) >= _MOST * len(ends[kind])
    ]
    return max(fitting)[2:] if fitting else None


async def _leaving(inquiry: Inquiry, nodes: Iterable[Row | str]) -> list[tuple[str, str, str]]:
    """Return what is said directly of some things, and leads to others."""
    iris = sorted({one if isinstance(one, str) else value_of(one[0]) or "" for one in nodes})
    values = " ".join(f"<{iri}>" for iri in iris[:_MOST_THINGS])
    query = f"SELECT ?s ?p ?o {{ VALUES ?s {{ {values} }} ?s ?p ?o . {_DIRECT} FILTER(isIRI(?o)) }}"
    reply = await inquiry.rows("what some things have", query) if values else None
    return [
        (value_of(s) or "", value_of(p) or "", value_of(o) or "")
        for s, p, o in (reply.rows if reply else ())
    ]
