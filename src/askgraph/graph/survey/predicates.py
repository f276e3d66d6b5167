"""The predicates of a graph, and how many triples, subjects and objects each of them has."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Literal

from askgraph.graph.bounded_queries import Inquiry
from askgraph.graph.profile import COUNTS, PREDICATES, Part
from askgraph.graph.survey import (
    SAMPLE,
    TOLD,
    Facts,
    Tally,
    batches,
    listed,
    number_in,
    together,
)
from askgraph.index.name_search import iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, value_of

_MOST = 25_000
_KEPT = 0.8  # of the bound, for what is asked after this
_VAIN = 3  # failures in a row, after which counting is given up
_NUMBER = "(COUNT(*) AS ?n)"
_NUMBERS = f"{_NUMBER} (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to)"
_KEPT_AFTER_DISTINCT = 0.6


async def ask_predicates(inquiry: Inquiry, facts: Facts, total: int | None) -> None:
    """Ask for all predicates with their triples at once, else for a list, then for numbers.

    A list is not called whole if its triples do not add up to the `total`.
    """
    part = await _counted(inquiry, facts, total) or await _listed(inquiry, facts)
    facts.parts[PREDICATES] = part
    rest = [iri for iri in facts.predicates() if not facts.triples[iri]]
    await _ask_numbers(inquiry, facts, rest, _NUMBER, kept=_KEPT)
    known = sum(number > 0 for number in facts.triples.values())
    facts.parts[COUNTS] = Part(COUNTS, known, len(facts.triples))


async def ask_distinct(inquiry: Inquiry, facts: Facts) -> None:
    """Ask how many subjects and objects predicates have: a hundred times as dear as triples."""
    query = f"SELECT ?p {_NUMBERS} {{ ?s ?p ?o }} GROUP BY ?p LIMIT {_MOST}"
    reply = await inquiry.rows("subjects and objects of predicates", query, costly=True)
    for row in reply.rows if reply and not reply.cut else ():
        _keep(facts, row)
    rest = [iri for iri in facts.predicates() if iri not in facts.subjects]
    await _ask_numbers(inquiry, facts, rest, _NUMBERS, kept=_KEPT_AFTER_DISTINCT)
    facts.count_own_types()


async def _counted(inquiry: Inquiry, facts: Facts, total: int | None) -> Part | None:
    """Count for all at once; None if that failed or was cut off."""
    query = f"SELECT ?p {_NUMBER} {{ ?s ?p ?o }} GROUP BY ?p LIMIT {_MOST}"
    reply = await inquiry.rows("predicates", query, costly=True)
    for row in reply.rows if reply else ():
        _keep(facts, row)
    if reply is None or not reply.rows or reply.cut or len(reply.rows) >= _MOST:
        return None
    told = sum(facts.triples.values())
    if total is not None and told < TOLD * total:
        facts.cuts.append(f"predicates of {total - told:,} triples")
        note = f"their triples add up to {told:,} of {total:,}"
        return Part(PREDICATES, len(facts.triples), None, note)
    return Part(PREDICATES, len(facts.triples), len(facts.triples))


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


async def _ask_numbers(
    inquiry: Inquiry, facts: Facts, rest: Sequence[str], numbers: str, *, kept: float
) -> None:
    """Count some predicates at a time if they could not be counted together."""
    vain = 0
    for some in batches(rest, together(len(rest))):
        values = iris(some)
        queries = [f"SELECT ?p {numbers} {{ VALUES ?p {{ {values} }} ?s ?p ?o }} GROUP BY ?p"]
        queries += [f"SELECT (<{iri}> AS ?p) {numbers} {{ ?s <{iri}> ?o }}" for iri in some]
        for query in queries:
            if vain >= _VAIN or inquiry.share_left() < kept:
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
    """Return whether nodes often reach themselves, or very many others: peers, not a hierarchy.

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
_ENDS = (_LITERALS, _SUBJECTS, _OBJECTS)
_LOOKED_AT = 60  # predicates in one query
_KEPT_AFTER_SAMPLES = 0.3


async def ask_samples(inquiry: Inquiry, facts: Facts) -> None:
    """Look at the ends of some triples of each predicate: cheap, and enough to begin with."""
    some_at_a_time = batches(facts.predicates(), _LOOKED_AT)
    waiting = deque((some, end) for some in some_at_a_time for end in _ENDS)
    while waiting and inquiry.share_left() >= _KEPT_AFTER_SAMPLES:
        some, end = waiting.popleft()
        came = await _sample_end(inquiry, facts, end, some)
        if not came and len(some) > 1:  # too long: the frequent half now, the rest at the end
            half = (len(some) + 1) // 2
            waiting.appendleft((some[:half], end))
            waiting.append((some[half:], end))


async def ask_ends(inquiry: Inquiry, facts: Facts) -> None:
    """Count datatypes and languages of all predicates, and the classes at their ends."""
    for end in _ENDS:
        # Count for all predicates at once, else for some at a time, else in samples of these.
        select = f"SELECT ?p {end.variables} (COUNT({end.counted}) AS ?n)"
        group = f"GROUP BY ?p {end.variables}"
        query = f"{select} {{ ?s ?p ?o . {end.pattern} }} {group}"
        whole = await inquiry.rows(end.words, query, costly=True)
        if whole and not whole.cut:
            _tell(facts, end, whole.rows, facts.predicates())
            continue
        for some in batches(facts.predicates(), together(len(facts.triples))):
            if inquiry.share_left() < end.kept:
                facts.cuts.append(f"{end.words} of the predicates that are not frequent")
                break
            values = f"VALUES ?p {{ {iris(some)} }}"
            reply = None
            if sum(facts.triples[iri] for iri in some) <= _COUNTABLE:
                body = f"{values} ?s ?p ?o . {end.pattern}"
                reply = await inquiry.rows(end.words, f"{select} {{ {body} }} {group}")
            if reply and not reply.cut:
                _tell(facts, end, reply.rows, some)
                continue
            for few in batches(some, _LOOKED_AT):
                await _sample_end(inquiry, facts, end, few)
        if sampled := len(facts.sampled[end.words]):
            facts.cuts.append(f"{end.words} of {sampled:,} predicates are those of samples")


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


async def _sample_end(inquiry: Inquiry, facts: Facts, end: _End, some: Sequence[str]) -> bool:
    """Count in the first triples of some predicates; return whether they came.

    All in one group: groups in each part of a UNION end the process of Virtuoso 7.2 now and then.
    """
    parts = (
        f"{{ SELECT ?s ?p ?o {{ VALUES ?p {{ <{iri}> }} ?s ?p ?o }} LIMIT {SAMPLE} }}"
        for iri in some
    )
    query = (
        f"SELECT ?p {end.variables} (COUNT({end.counted}) AS ?n) "
        f"{{ {{ {' UNION '.join(parts)} }} {end.pattern} }} GROUP BY ?p {end.variables}"
    )
    reply = await inquiry.rows(f"{end.words} in samples", query)
    if reply:
        _tell(facts, end, reply.rows, some, sampled=True)
    return reply is not None


def _tell(
    facts: Facts, end: _End, rows: Sequence[Row], asked: Sequence[str], *, sampled: bool = False
) -> None:
    """Put what is at one end of the asked predicates in place of what was known of that."""
    tallies = _tallies(facts, end)
    for iri in asked:
        facts.sampled[end.words].discard(iri)
        if sampled and not 0 < facts.triples[iri] <= SAMPLE:
            facts.sampled[end.words].add(iri)
        for tally in tallies:
            tally.pop(iri, None)
    for first, *ends, last in rows:
        predicate, number = value_of(first) or "", number_in(last)
        if sampled:
            number = number * max(facts.triples.get(predicate, 0), SAMPLE) // SAMPLE
        names: tuple[str | None, ...]
        if end == _LITERALS:
            datatype, language = map(value_of, ends)
            names = (v.RDF_LANG_STRING if language else datatype or v.XSD_STRING, language)
        else:
            names = (None if isinstance(ends[0], Literal) else value_of(ends[0]),)
        for tally, name in zip(tallies, names, strict=True):
            if name:
                tally[predicate][name] += number


def _tallies(facts: Facts, end: _End) -> tuple[Tally, ...]:
    if end == _LITERALS:
        return facts.datatypes, facts.languages
    return (facts.subject_classes if end == _SUBJECTS else facts.object_classes,)
