"""Which predicates a graph has, and how many triples, subjects and objects each of them."""

from collections.abc import Sequence

from askgraph.metadata import Part
from askgraph.metadata.completeness import COUNTS, PREDICATES
from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import TOLD, batches, listed, number_in, together
from askgraph.sparql.results import Row, value_of

__all__ = ["ask_predicates"]

_MOST = 25_000
_KEPT = 0.8  # of the bound, for what is asked after this
_VAIN = 3  # failures in a row, after which counting is given up
_NUMBERS = "(COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to)"


async def ask_predicates(inquiry: Inquiry, facts: Facts, total: int | None) -> None:
    """Ask for all predicates with their numbers at once, else for a list, then for numbers.

    A list is not called whole where its triples do not add up to the `total`.
    """
    part = await _counted(inquiry, facts, total) or await _listed(inquiry, facts)
    facts.parts[PREDICATES] = part
    await _ask_counts(inquiry, facts)
    known = sum(number > 0 for number in facts.triples.values())
    facts.parts[COUNTS] = Part(COUNTS, known, len(facts.triples))


async def _counted(inquiry: Inquiry, facts: Facts, total: int | None) -> Part | None:
    """Count for all at once; None where that failed or was cut off."""
    for numbers in (_NUMBERS, "(COUNT(*) AS ?n)"):
        query = f"SELECT ?p {numbers} {{ ?s ?p ?o }} GROUP BY ?p LIMIT {_MOST}"
        reply = await inquiry.rows("predicates", query, costly=True)
        if reply is None or not reply.rows:
            continue
        for row in reply.rows:
            _keep(facts, row)
        if reply.cut or len(reply.rows) >= _MOST:
            return None
        told = sum(facts.triples.values())
        if total is not None and told < TOLD * total:
            facts.cuts.append(f"predicates of {total - told:,} triples")
            note = f"their triples add up to {told:,} of {total:,}"
            return Part(PREDICATES, len(facts.triples), None, note)
        return Part(PREDICATES, len(facts.triples), len(facts.triples))
    return None


async def _listed(inquiry: Inquiry, facts: Facts) -> Part:
    """List them, else those of a sample."""
    found = await listed(inquiry, "predicates", "SELECT DISTINCT ?p { ?s ?p ?o }", most=_MOST)
    rows: Sequence[Row] = found.rows if found else ()
    if not rows:
        sample = "SELECT DISTINCT ?p { { SELECT ?p { ?s ?p ?o } LIMIT 100000 } }"
        reply = await inquiry.rows("predicates", sample)
        rows = reply.rows if reply else ()
    for row in rows:
        facts.triples.setdefault(value_of(row[0]) or "", 0)
    if found and found.whole:
        return Part(PREDICATES, len(facts.triples), len(facts.triples))
    facts.cuts.append(f"predicates beyond the {len(facts.triples):,} that the endpoint gives")
    note = "as many as the endpoint gives" if facts.triples else "it could not say"
    return Part(PREDICATES, len(facts.triples), None, note)


async def _ask_counts(inquiry: Inquiry, facts: Facts) -> None:
    """Count some predicates at a time where they could not be counted together."""
    vain = 0
    rest = [iri for iri in facts.predicates() if iri not in facts.subjects]
    for some in batches(rest, together(len(rest))):
        values = " ".join(f"<{iri}>" for iri in some)
        queries = [f"SELECT ?p {_NUMBERS} {{ VALUES ?p {{ {values} }} ?s ?p ?o }} GROUP BY ?p"]
        queries += [f"SELECT (<{iri}> AS ?p) {_NUMBERS} {{ ?s <{iri}> ?o }}" for iri in some]
        for query in queries:
            if vain >= _VAIN or inquiry.share_left() < _KEPT:
                facts.cuts.append(
                    "the numbers of some predicates, counted one by one or not at all"
                )
                return
            reply = await inquiry.rows("the numbers of predicates", query)
            vain = 0 if reply and reply.rows else vain + 1
            for row in reply.rows if reply else ():
                _keep(facts, row)
            if reply and not reply.cut and query == queries[0]:
                break


def _keep(facts: Facts, row: Row) -> None:
    iri, numbers = value_of(row[0]) or "", [number_in(term) for term in row[1:]]
    facts.triples[iri] = numbers[0]
    if len(numbers) == 3:
        facts.subjects[iri], facts.objects[iri] = numbers[1:]
