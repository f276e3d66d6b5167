"""The profile of a big graph, counted by the endpoint that holds it."""

from collections.abc import Sequence

from pyoxigraph import Literal

from askgraph.metadata import Part, Profile
from askgraph.metadata.completeness import CLASSES, COUNTS, PREDICATES, TRIPLES
from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import number_in
from askgraph.metadata.survey.ends import ask_ends
from askgraph.metadata.survey.partitions import ask_partitions
from askgraph.metadata.survey.relations import ask_chains, ask_mirrors
from askgraph.metadata.survey.words import ask_descriptions, ask_texts
from askgraph.sparql.results import value_of

__all__ = ["surveyed"]

_MOST_CLASSES = 2_000
_MOST_PREDICATES = 5_000
_TYPED = 100_000


async def surveyed(inquiry: Inquiry, total: int | None, *, source: str, created: str) -> Profile:
    """Ask for the profile of a graph; what could not be had is said in `cuts`.

    `completeness` says of each part how much of it is known.
    """
    facts = Facts()
    await _ask_predicates(inquiry, facts)
    await _ask_classes(inquiry, facts)
    await ask_ends(inquiry, facts)
    await ask_partitions(inquiry, facts)
    await ask_descriptions(inquiry, facts)
    await ask_texts(inquiry, facts)
    await ask_chains(inquiry, facts)
    await ask_mirrors(inquiry, facts)
    if inquiry.exhausted:
        facts.cuts.append("the bound of queries or seconds was reached before all was known")
    facts.parts[TRIPLES] = Part(
        TRIPLES, total if total is not None else sum(facts.triples.values()), total
    )
    return facts.profile(total, source=source, created=created)


async def _ask_predicates(inquiry: Inquiry, facts: Facts) -> None:
    full = (
        "SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to) "
        f"{{ ?s ?p ?o }} GROUP BY ?p ORDER BY DESC(?n) LIMIT {_MOST_PREDICATES}"
    )
    counts = f"SELECT ?p (COUNT(*) AS ?n) {{ ?s ?p ?o }} GROUP BY ?p LIMIT {_MOST_PREDICATES}"
    names = f"SELECT DISTINCT ?p {{ ?s ?p ?o }} LIMIT {_MOST_PREDICATES}"
    sample = "SELECT DISTINCT ?p { { SELECT ?p { ?s ?p ?o } LIMIT 100000 } }"
    for query, missing in (
        (full, ""),
        (counts, "how many things a predicate has and gives is estimated"),
        (names, "the triples of the predicates are counted one by one, or not at all"),
        (sample, "predicates are those of a sample of 100,000 triples"),
    ):
        reply = await inquiry.rows("predicates", query, costly=query != sample)
        if reply is None or not reply.rows:
            continue
        for row in reply.rows:
            iri, *numbers = row
            _count_predicate(facts, value_of(iri) or "", [number_in(n) for n in numbers])
        if missing:
            facts.cuts.append(missing)
        if cut := reply.cut or len(reply.rows) >= _MOST_PREDICATES:
            facts.cuts.append(f"predicates beyond the first {len(reply.rows):,}")
        facts.parts[PREDICATES] = _listed(
            PREDICATES, len(facts.triples), whole=not cut and query != sample
        )
        break
    await _ask_counts(inquiry, facts)
    counted = sum(number > 0 for number in facts.triples.values())
    facts.parts[COUNTS] = Part(COUNTS, counted, len(facts.triples))


def _listed(name: str, seen: int, *, whole: bool) -> Part:
    if whole:
        return Part(name, seen, seen)
    note = "those of a sample, or as many as the endpoint gives" if seen else "it could not say"
    return Part(name, seen, None, note)


def _count_predicate(facts: Facts, iri: str, numbers: Sequence[int]) -> None:
    facts.triples[iri] = numbers[0] if numbers else 0
    if len(numbers) == 3:
        facts.subjects[iri], facts.objects[iri] = numbers[1:]


async def _ask_counts(inquiry: Inquiry, facts: Facts) -> None:
    """Count one predicate at a time where they could not be counted together."""
    for iri in [iri for iri in facts.predicates() if iri not in facts.subjects]:
        if inquiry.share_left() < 0.6:
            return
        query = (
            "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to) "
            f"{{ ?s <{iri}> ?o }}"
        )
        reply = await inquiry.rows(f"the number of <{iri}>", query)
        if reply and reply.rows:
            _count_predicate(facts, iri, [number_in(term) for term in reply.rows[0]])


async def _ask_classes(inquiry: Inquiry, facts: Facts) -> None:
    whole = "SELECT ?c (COUNT(*) AS ?n) { ?s a ?c } GROUP BY ?c ORDER BY DESC(?n) LIMIT "
    some = f"{{ SELECT ?c {{ ?s a ?c }} LIMIT {_TYPED} }}"
    sample = f"SELECT ?c (COUNT(*) AS ?n) {{ {some} }} GROUP BY ?c"
    reply = await inquiry.rows("classes", whole + str(_MOST_CLASSES), costly=True)
    sampled = False
    if reply is None:
        reply = await inquiry.rows("classes in a sample", sample)
        sampled = reply is None or sum(number_in(row[1]) for row in reply.rows) >= _TYPED
    if sampled:
        facts.cuts.append(f"classes and their sizes are those of a sample of {_TYPED:,} things")
    for row in reply.rows if reply else ():
        if not isinstance(row[0], Literal) and (iri := value_of(row[0])):
            facts.classes[iri] = number_in(row[1])
    cut = reply is None or reply.cut or len(reply.rows) >= _MOST_CLASSES
    if reply and cut:
        facts.cuts.append(f"classes beyond the {len(reply.rows):,} biggest")
    facts.parts[CLASSES] = _listed(CLASSES, len(facts.classes), whole=not (cut or sampled))
