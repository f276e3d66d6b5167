"""Survey the predicates of a graph and their numbers of triples, subjects and objects."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import Literal

from askgraph.graph.bounded_queries import QuerySession
from askgraph.graph.profile import COUNTS, PREDICATES, Part
from askgraph.graph.survey import (
    MIN_SUM_SHARE,
    SAMPLE_SIZE,
    SurveyFacts,
    Tally,
    choose_batch_size,
    parse_count,
    select_pages,
    split_into_batches,
)
from askgraph.index.name_search import format_iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, to_plain_value

_MAX_PREDICATES = 25_000
_RESERVED_SHARE = 0.8  # part of the bound reserved for later queries
_MAX_FAILURES = 3  # consecutive failures after which counting stops
_COUNT_TRIPLES = "(COUNT(*) AS ?n)"
_COUNT_ALL = f"{_COUNT_TRIPLES} (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to)"
_DISTINCT_RESERVED_SHARE = 0.6


async def collect_predicates(session: QuerySession, facts: SurveyFacts, total: int | None) -> None:
    """Query all predicates with their triples at once, else a list, then the numbers.

    A list is not complete if its triples do not add up to the `total`.
    """
    part = await _count_all(session, facts, total) or await _list_predicates(session, facts)
    facts.parts[PREDICATES] = part
    uncounted = [iri for iri in facts.list_predicates() if not facts.triples[iri]]
    await _count_in_batches(
        session, facts, uncounted, _COUNT_TRIPLES, reserved_share=_RESERVED_SHARE
    )
    known_count = sum(number > 0 for number in facts.triples.values())
    facts.parts[COUNTS] = Part(COUNTS, known_count, len(facts.triples))


async def collect_distinct_ends(session: QuerySession, facts: SurveyFacts) -> None:
    """Query the distinct subjects and objects of predicates: 100 times as slow as triples."""
    query = f"SELECT ?p {_COUNT_ALL} {{ ?s ?p ?o }} GROUP BY ?p LIMIT {_MAX_PREDICATES}"
    reply = await session.select("subjects and objects of predicates", query, costly=True)
    for row in reply.rows if reply and not reply.cut else ():
        _record_numbers(facts, row)
    uncounted = [iri for iri in facts.list_predicates() if iri not in facts.subjects]
    await _count_in_batches(
        session, facts, uncounted, _COUNT_ALL, reserved_share=_DISTINCT_RESERVED_SHARE
    )
    facts.count_own_types()


async def _count_all(session: QuerySession, facts: SurveyFacts, total: int | None) -> Part | None:
    """Count for all predicates at once; None if that failed or was cut off."""
    query = f"SELECT ?p {_COUNT_TRIPLES} {{ ?s ?p ?o }} GROUP BY ?p LIMIT {_MAX_PREDICATES}"
    reply = await session.select("predicates", query, costly=True)
    for row in reply.rows if reply else ():
        _record_numbers(facts, row)
    if reply is None or not reply.rows or reply.cut or len(reply.rows) >= _MAX_PREDICATES:
        return None
    triple_sum = sum(facts.triples.values())
    if total is not None and triple_sum < MIN_SUM_SHARE * total:
        facts.cuts.append(f"predicates of {total - triple_sum:,} triples")
        note = f"their triples add up to {triple_sum:,} of {total:,}"
        return Part(PREDICATES, len(facts.triples), None, note)
    return Part(PREDICATES, len(facts.triples), len(facts.triples))


async def _list_predicates(session: QuerySession, facts: SurveyFacts) -> Part:
    listing = await select_pages(
        session, "predicates", "SELECT DISTINCT ?p { ?s ?p ?o }", max_rows=_MAX_PREDICATES
    )
    rows: Sequence[Row] = listing.rows if listing else ()
    if not rows:
        sample = "SELECT DISTINCT ?p { { SELECT ?p { ?s ?p ?o } LIMIT 100000 } }"
        reply = await session.select("predicates", sample)
        rows = reply.rows if reply else ()
    for row in rows:
        facts.triples.setdefault(to_plain_value(row[0]) or "", 0)
    if listing and listing.is_complete:
        return Part(PREDICATES, len(facts.triples), len(facts.triples))
    facts.cuts.append(f"predicates beyond the {len(facts.triples):,} that the endpoint returns")
    note = "as many as the endpoint returns" if facts.triples else "it gave no answer"
    return Part(PREDICATES, len(facts.triples), None, note)


async def _count_in_batches(
    session: QuerySession,
    facts: SurveyFacts,
    predicates: Sequence[str],
    numbers: str,
    *,
    reserved_share: float,
) -> None:
    """Count some predicates at a time where they could not be counted together."""
    failure_count = 0
    for batch in split_into_batches(predicates, choose_batch_size(len(predicates))):
        values = format_iris(batch)
        queries = [f"SELECT ?p {numbers} {{ VALUES ?p {{ {values} }} ?s ?p ?o }} GROUP BY ?p"]
        queries += [f"SELECT (<{iri}> AS ?p) {numbers} {{ ?s <{iri}> ?o }}" for iri in batch]
        for query in queries:
            if failure_count >= _MAX_FAILURES or session.get_remaining_share() < reserved_share:
                facts.cuts.append(
                    "the numbers of some predicates, counted one by one or not at all"
                )
                return
            reply = await session.select("the numbers of predicates", query)
            failure_count = 0 if reply and reply.rows else failure_count + 1
            for row in reply.rows if reply else ():
                _record_numbers(facts, row)
            if reply and not reply.cut and query == queries[0]:
                break


def _record_numbers(facts: SurveyFacts, row: Row) -> None:
    iri, numbers = to_plain_value(row[0]) or "", [parse_count(term) for term in row[1:]]
    facts.triples[iri] = numbers[0]
    if len(numbers) == 3:
        facts.subjects[iri], facts.objects[iri] = numbers[1:]


_START_NODES_COUNT = 20
_MAX_STEPS = 12
_MAX_REACHED_PER_NODE = 60


async def collect_chains(session: QuerySession, facts: SurveyFacts) -> None:
    """Find predicates that lead on without cycles: those may be transitive."""
    linking = [
        iri
        for iri in facts.list_predicates()
        if iri not in (v.RDF_TYPE, v.OWL_SAME_AS)
        and facts.object_classes[iri].keys() & facts.subject_classes[iri].keys()
    ]
    for batch in split_into_batches(linking):
        if session.get_remaining_share() < 0.2:
            facts.cuts.append("which of the less frequent predicates are transitive")
            return
        parts = (
            f"{{ SELECT (<{p}> AS ?p) ?d {{ "
            f"{{ SELECT ?a ?b {{ ?a <{p}> ?b }} LIMIT {SAMPLE_SIZE} }} "
            f"?b <{p}> ?c . ?c <{p}> ?d FILTER(?a != ?c && ?b != ?d && ?a != ?d) }} LIMIT 1 }}"
            for p in batch
        )
        reply = await session.select("chains", f"SELECT ?p {{ {' UNION '.join(parts)} }}")
        facts.chains |= {to_plain_value(row[0]) or "" for row in reply.rows} if reply else set()
    for predicate in sorted(facts.chains):
        if await _has_cycles(session, predicate):
            facts.chains.discard(predicate)


async def _has_cycles(session: QuerySession, predicate: str) -> bool:
    """Return whether nodes often reach themselves, or very many others: not a hierarchy."""
    # Walks step by step from a few nodes, because not every endpoint supports `?x p+ ?x`.
    reply_nodes = await session.select(
        "cycles",
        f"SELECT DISTINCT ?x {{ ?a <{predicate}> ?x FILTER(isIRI(?x)) }} LIMIT "
        f"{_START_NODES_COUNT}",
    )
    nodes = [to_plain_value(row[0]) or "" for row in reply_nodes.rows] if reply_nodes else []
    frontier = {(node, node) for node in nodes}
    reached: set[tuple[str, str]] = set()
    for _ in range(_MAX_STEPS):
        values = " ".join(sorted(f"(<{start}> <{node}>)" for start, node in frontier))
        reply = await session.select(
            "cycles",
            f"SELECT DISTINCT ?s ?y {{ VALUES (?s ?x) {{ {values} }} ?x <{predicate}> ?y "
            "FILTER(isIRI(?y)) }",
        )
        if reply is None:
            return True
        frontier = {
            (to_plain_value(row[0]) or "", to_plain_value(row[1]) or "") for row in reply.rows
        } - reached
        reached |= frontier
        if len(reached) > _MAX_REACHED_PER_NODE * len(nodes):
            return True
        if not frontier:
            break
    return sum(start == node for start, node in reached) > 0.2 * len(nodes)


async def collect_inverses(session: QuerySession, facts: SurveyFacts) -> None:
    """Find pairs of small predicates with matching numbers that are inverse to each other."""
    sizes: dict[tuple[int, int, int], list[str]] = defaultdict(list)
    linking = [iri for iri in facts.subjects if facts.object_classes[iri]]
    for iri in linking:
        sizes[facts.triples[iri], facts.objects[iri], facts.subjects[iri]].append(iri)
    for p in linking:
        if not 1 < facts.triples[p] <= 100_000:
            continue
        for q in sizes[facts.triples[p], facts.subjects[p], facts.objects[p]]:
            if p >= q or session.get_remaining_share() < 0.2:
                continue
            reply = await session.select(
                "inverse pairs",
                f"SELECT ?a {{ ?a <{p}> ?b FILTER NOT EXISTS {{ ?b <{q}> ?a }} }} LIMIT 1",
            )
            if reply and not reply.rows:
                facts.inverse_pairs |= {(p, q), (q, p)}


_MAX_COUNTED_TRIPLES = 2_000_000


@dataclass(frozen=True)
class _EndKind:
    words: str  # description for progress
    pattern: str  # pattern that binds the `variables`
    expression: str  # expression to count
    reserved_share: float  # share of the budget to leave for later queries
    variables: str = "?c"  # variables to group by, besides the predicate


_SUBJECTS = _EndKind("classes of subjects", "?s a ?c", "DISTINCT ?s", 0.65)
_OBJECTS = _EndKind("classes of objects", "?o a ?c", "DISTINCT ?o", 0.6)

_LITERALS = _EndKind(
    "datatypes and languages",
    "FILTER(isLiteral(?o)) BIND(DATATYPE(?o) AS ?d) BIND(LANG(?o) AS ?l)",
    "?o",
    0.7,
    "?d ?l",
)
_ENDS = (_LITERALS, _SUBJECTS, _OBJECTS)
_SAMPLE_BATCH_SIZE = 60  # predicates in one query
_SAMPLE_RESERVED_SHARE = 0.3


async def collect_end_samples(session: QuerySession, facts: SurveyFacts) -> None:
    """Read the ends of some triples of each predicate: cheap, and enough for a start."""
    predicate_batches = split_into_batches(facts.list_predicates(), _SAMPLE_BATCH_SIZE)
    queue = deque((batch, end) for batch in predicate_batches for end in _ENDS)
    while queue and session.get_remaining_share() >= _SAMPLE_RESERVED_SHARE:
        batch, end = queue.popleft()
        has_reply = await _sample_end(session, facts, end, batch)
        if not has_reply and len(batch) > 1:  # too long: the frequent half now, the rest at the end
            half = (len(batch) + 1) // 2
            queue.appendleft((batch[:half], end))
            queue.append((batch[half:], end))


async def collect_ends(session: QuerySession, facts: SurveyFacts) -> None:
    """Count datatypes, languages, and classes of subjects and objects of all predicates."""
    for end in _ENDS:
        # Count for all predicates at once, else in batches, else in samples.
        select = f"SELECT ?p {end.variables} (COUNT({end.expression}) AS ?n)"
        group = f"GROUP BY ?p {end.variables}"
        query = f"{select} {{ ?s ?p ?o . {end.pattern} }} {group}"
        full_reply = await session.select(end.words, query, costly=True)
        if full_reply and not full_reply.cut:
            _record_ends(facts, end, full_reply.rows, facts.list_predicates())
            continue
        for batch in split_into_batches(
            facts.list_predicates(), choose_batch_size(len(facts.triples))
        ):
            if session.get_remaining_share() < end.reserved_share:
                facts.cuts.append(f"{end.words} of the predicates that are not frequent")
                break
            values = f"VALUES ?p {{ {format_iris(batch)} }}"
            reply = None
            if sum(facts.triples[iri] for iri in batch) <= _MAX_COUNTED_TRIPLES:
                body = f"{values} ?s ?p ?o . {end.pattern}"
                reply = await session.select(end.words, f"{select} {{ {body} }} {group}")
            if reply and not reply.cut:
                _record_ends(facts, end, reply.rows, batch)
                continue
            for sample_batch in split_into_batches(batch, _SAMPLE_BATCH_SIZE):
                await _sample_end(session, facts, end, sample_batch)
        if sampled_count := len(facts.sampled[end.words]):
            facts.cuts.append(f"{end.words} of {sampled_count:,} predicates are those of samples")


def fill_ends(facts: SurveyFacts) -> None:
    """Derive missing ends of predicates from the partitions.

    Resources of several classes are counted several times.
    """
    known_predicates = {
        iri
        for tally in (facts.subject_classes, facts.object_classes, facts.datatypes)
        for iri, counts in tally.items()
        if counts
    }
    for partition in facts.partitions.values():
        if partition.predicate not in known_predicates:
            facts.subject_classes[partition.predicate][partition.cls] += partition.subjects
            facts.object_classes[partition.predicate].update(dict(partition.targets))
            facts.datatypes[partition.predicate].update(dict(partition.datatypes))


async def _sample_end(
    session: QuerySession, facts: SurveyFacts, end: _EndKind, batch: Sequence[str]
) -> bool:
    """Count ends in the first triples of some predicates; return whether the reply came."""
    # A single group: groups inside each part of a UNION sometimes crash Virtuoso 7.2.
    parts = (
        f"{{ SELECT ?s ?p ?o {{ VALUES ?p {{ <{iri}> }} ?s ?p ?o }} LIMIT {SAMPLE_SIZE} }}"
        for iri in batch
    )
    query = (
        f"SELECT ?p {end.variables} (COUNT({end.expression}) AS ?n) "
        f"{{ {{ {' UNION '.join(parts)} }} {end.pattern} }} GROUP BY ?p {end.variables}"
    )
    reply = await session.select(f"{end.words} in samples", query)
    if reply:
        _record_ends(facts, end, reply.rows, batch, is_sampled=True)
    return reply is not None


def _record_ends(
    facts: SurveyFacts,
    end: _EndKind,
    rows: Sequence[Row],
    queried: Sequence[str],
    *,
    is_sampled: bool = False,
) -> None:
    if end == _LITERALS:
        tallies: tuple[Tally, ...] = facts.datatypes, facts.languages
    else:
        tallies = (facts.subject_classes if end == _SUBJECTS else facts.object_classes,)
    for iri in queried:
        facts.sampled[end.words].discard(iri)
        if is_sampled and not 0 < facts.triples[iri] <= SAMPLE_SIZE:
            facts.sampled[end.words].add(iri)
        for tally in tallies:
            tally.pop(iri, None)
    for first, *ends, last in rows:
        predicate, number = to_plain_value(first) or "", parse_count(last)
        if is_sampled:
            number = number * max(facts.triples.get(predicate, 0), SAMPLE_SIZE) // SAMPLE_SIZE
        names: tuple[str | None, ...]
        if end == _LITERALS:
            datatype, language = map(to_plain_value, ends)
            names = (v.RDF_LANG_STRING if language else datatype or v.XSD_STRING, language)
        else:
            names = (None if isinstance(ends[0], Literal) else to_plain_value(ends[0]),)
        for tally, name in zip(tallies, names, strict=True):
            if name:
                tally[predicate][name] += number
