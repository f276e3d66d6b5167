"""Which predicates of a graph lead on and on, and which say the same the other way round."""

from collections import defaultdict

from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import SAMPLE, batches
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import value_of

__all__ = ["ask_chains", "ask_mirrors"]

_WALKERS = 20
_STEPS = 12
_CROWD = 60


async def ask_chains(inquiry: Inquiry, facts: Facts) -> None:
    """Ask which predicates lead on and on without leading back: those may be transitive."""
    linking = [
        iri
        for iri in facts.predicates()
        if iri not in (v.RDF_TYPE, v.OWL_SAME_AS)
        and facts.object_classes[iri].keys() & facts.subject_classes[iri].keys()
    ]
    for some in batches(linking):
        if inquiry.share_left() < 0.2:
            facts.cuts.append("which of the less frequent predicates are transitive")
            return
        parts = (
            f"{{ SELECT (<{p}> AS ?p) ?d {{ {{ SELECT ?a ?b {{ ?a <{p}> ?b }} LIMIT {SAMPLE} }} "
            f"?b <{p}> ?c . ?c <{p}> ?d FILTER(?a != ?c && ?b != ?d && ?a != ?d) }} LIMIT 1 }}"
            for p in some
        )
        reply = await inquiry.rows("chains", f"SELECT ?p {{ {' UNION '.join(parts)} }}")
        facts.chains |= {value_of(row[0]) or "" for row in reply.rows} if reply else set()
    for predicate in sorted(facts.chains):
        if await _leads_back(inquiry, predicate):
            facts.chains.discard(predicate)


async def _leads_back(inquiry: Inquiry, predicate: str) -> bool:
    """Whether nodes can often reach themselves, or very many others: peers, not a hierarchy.

    Walked step by step from a few nodes at once: not every endpoint can do `?x p+ ?x`.
    """
    some = await inquiry.rows(
        "cycles", f"SELECT DISTINCT ?x {{ ?a <{predicate}> ?x FILTER(isIRI(?x)) }} LIMIT {_WALKERS}"
    )
    nodes = [value_of(row[0]) or "" for row in some.rows] if some else []
    frontier = {(node, node) for node in nodes}
    seen: set[tuple[str, str]] = set()
    for _ in range(_STEPS):
        values = " ".join(sorted(f"(<{start}> <{at}>)" for start, at in frontier))
        reply = await inquiry.rows(
            "cycles",
            f"SELECT DISTINCT ?s ?y {{ VALUES (?s ?x) {{ {values} }} ?x <{predicate}> ?y "
            "FILTER(isIRI(?y)) }",
        )
        if reply is None:
            return True
        frontier = {(value_of(row[0]) or "", value_of(row[1]) or "") for row in reply.rows} - seen
        seen |= frontier
        if len(seen) > _CROWD * len(nodes):
            return True
        if not frontier:
            break
    return sum(start == at for start, at in seen) > 0.2 * len(nodes)


async def ask_mirrors(inquiry: Inquiry, facts: Facts) -> None:
    """Ask which small predicates with fitting numbers say the same the other way round."""
    sizes: dict[tuple[int, int, int], list[str]] = defaultdict(list)
    linking = [iri for iri in facts.subjects if facts.object_classes[iri]]
    for iri in linking:
        sizes[facts.triples[iri], facts.objects[iri], facts.subjects[iri]].append(iri)
    for p in linking:
        if not 1 < facts.triples[p] <= 100_000:
            continue
        for q in sizes[facts.triples[p], facts.subjects[p], facts.objects[p]]:
            if p >= q or inquiry.share_left() < 0.2:
                continue
            reply = await inquiry.rows(
                "inverse pairs",
                f"SELECT ?a {{ ?a <{p}> ?b FILTER NOT EXISTS {{ ?b <{q}> ?a }} }} LIMIT 1",
            )
            if reply and not reply.rows:
                facts.mirrored |= {(p, q), (q, p)}
