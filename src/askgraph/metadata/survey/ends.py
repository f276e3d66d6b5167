"""What the predicates of a graph lead from and to: classes, datatypes, languages."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Literal

from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import SAMPLE, batches, number_in, together
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Row, value_of

__all__ = ["ask_ends", "fill_ends"]

_COUNTABLE = 2_000_000


@dataclass(frozen=True)
class _End:
    """Something to tally by predicate: in words, its pattern, what is counted.

    `kept` of the bound stays for what is asked after it.
    """

    words: str
    pattern: str
    counted: str
    kept: float
    variables: str = "?c"


_SUBJECTS = _End("classes of subjects", "?s a ?c", "DISTINCT ?s", 0.65)
_OBJECTS = _End("classes of objects", "?o a ?c", "DISTINCT ?o", 0.6)
_LITERALS = _End(
    "datatypes and languages",
    "FILTER(isLiteral(?o)) BIND(DATATYPE(?o) AS ?d) BIND(LANG(?o) AS ?l)",
    "?o",
    0.7,
    "?d ?l",
)


async def ask_ends(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for the datatypes and languages of all predicates, and for the classes at their ends."""
    for predicate, row in await _tallied(inquiry, facts, _LITERALS):
        datatype, language, number = value_of(row[0]), value_of(row[1]), number_in(row[2])
        kind = v.RDF_LANG_STRING if language else datatype or v.XSD_STRING
        facts.datatypes[predicate][kind] += number
        if language:
            facts.languages[predicate][language] += number
    for end, tally in ((_SUBJECTS, facts.subject_classes), (_OBJECTS, facts.object_classes)):
        for predicate, row in await _tallied(inquiry, facts, end):
            if not isinstance(row[0], Literal) and (cls := value_of(row[0])):
                tally[predicate][cls] += number_in(row[1])


def fill_ends(facts: Facts) -> None:
    """Take over from the partitions what was not asked, or not answered, by predicate.

    Things of several classes are counted several times then.
    """
    told = {
        iri
        for tally in (facts.subject_classes, facts.object_classes, facts.datatypes)
        for iri, counts in tally.items()
        if counts
    }
    for one in facts.partitions.values():
        if one.predicate not in told:
            facts.subject_classes[one.predicate][one.cls] += one.subjects
            facts.object_classes[one.predicate].update(dict(one.targets))
            facts.datatypes[one.predicate].update(dict(one.datatypes))


async def _tallied(inquiry: Inquiry, facts: Facts, end: _End) -> list[tuple[str, Row]]:
    """Count for all predicates at once, else for some at a time, else in samples of these."""
    select = f"SELECT ?p {end.variables} (COUNT({end.counted}) AS ?n)"
    group = f"GROUP BY ?p {end.variables}"
    query = f"{select} {{ ?s ?p ?o . {end.pattern} }} {group}"
    whole = await inquiry.rows(end.words, query, costly=True)
    if whole and not whole.cut:
        return [_keyed(row) for row in whole.rows]
    found: list[tuple[str, Row]] = []
    sampled = 0
    for some in batches(facts.predicates(), together(len(facts.triples))):
        if inquiry.share_left() < end.kept:
            facts.cuts.append(f"{end.words} of the predicates that are not frequent")
            break
        values = f"VALUES ?p {{ {' '.join(f'<{iri}>' for iri in some)} }}"
        reply = None
        if sum(facts.triples[iri] for iri in some) <= _COUNTABLE:
            body = f"{values} ?s ?p ?o . {end.pattern}"
            reply = await inquiry.rows(end.words, f"{select} {{ {body} }} {group}")
        if reply is None or reply.cut:
            reply = await inquiry.rows(f"{end.words} in samples", _sampling(end, some))
            sampled += len(some)
        found += [_keyed(row) for row in reply.rows] if reply else []
    if sampled:
        facts.cuts.append(f"{end.words} of {sampled:,} predicates are those of samples")
    return found


def _keyed(row: Row) -> tuple[str, Row]:
    return value_of(row[0]) or "", row[1:]


def _sampling(end: _End, predicates: Sequence[str]) -> str:
    """Count in the first so many triples of each predicate."""
    parts = (
        f"{{ SELECT ?p {end.variables} (COUNT({end.counted}) AS ?n) {{ "
        f"{{ SELECT ?s ?p ?o {{ VALUES ?p {{ <{iri}> }} ?s ?p ?o }} LIMIT {SAMPLE} }} "
        f"{end.pattern} }} GROUP BY ?p {end.variables} }}"
        for iri in predicates
    )
    return f"SELECT ?p {end.variables} ?n {{ {' UNION '.join(parts)} }}"
