"""The profile of a big graph, counted by the endpoint that holds it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal

from askgraph.metadata import Profile
from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Row, Term, value_of

__all__ = ["surveyed"]

_MOST_CLASSES = 2_000
_MOST_PREDICATES = 5_000
_SAMPLE = 1_000
_TEXTS = 100
_TOGETHER = 20
_COUNTABLE = 2_000_000
_WALKERS = 20
_STEPS = 12
_CROWD = 60


async def surveyed(inquiry: Inquiry, total: int | None, *, source: str, created: str) -> Profile:
    """Ask for the profile of a graph; what could not be had is said in `cuts`."""
    facts = Facts()
    await _ask_predicates(inquiry, facts)
    await _ask_classes(inquiry, facts)
    await _ask_ends(inquiry, facts)
    await _ask_descriptions(inquiry, facts)
    await _ask_texts(inquiry, facts)
    await _ask_chains(inquiry, facts)
    await _ask_mirrors(inquiry, facts)
    if inquiry.exhausted:
        facts.cuts.append("the bound of queries or seconds was reached before all was known")
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
        reply = await inquiry.rows("predicates", query)
        if reply is None or not reply.rows:
            continue
        for row in reply.rows:
            iri, *numbers = row
            _count_predicate(facts, value_of(iri) or "", [_number(n) for n in numbers])
        if missing:
            facts.cuts.append(missing)
        if reply.cut or len(reply.rows) >= _MOST_PREDICATES:
            facts.cuts.append(f"predicates beyond the first {len(reply.rows):,}")
        break
    await _ask_counts(inquiry, facts)


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
            _count_predicate(facts, iri, [_number(term) for term in reply.rows[0]])


async def _ask_classes(inquiry: Inquiry, facts: Facts) -> None:
    whole = "SELECT ?c (COUNT(*) AS ?n) { ?s a ?c } GROUP BY ?c ORDER BY DESC(?n) LIMIT "
    sample = "SELECT ?c (COUNT(*) AS ?n) { { SELECT ?c { ?s a ?c } LIMIT 100000 } } GROUP BY ?c"
    reply = await inquiry.rows("classes", whole + str(_MOST_CLASSES))
    if reply is None:
        reply = await inquiry.rows("classes in a sample", sample)
        facts.cuts.append("classes and their sizes are those of a sample of 100,000 things")
    for row in reply.rows if reply else ():
        if not isinstance(row[0], Literal) and (iri := value_of(row[0])):
            facts.classes[iri] = _number(row[1])
    if reply and (reply.cut or len(reply.rows) >= _MOST_CLASSES):
        facts.cuts.append(f"classes beyond the {len(reply.rows):,} biggest")


@dataclass(frozen=True)
class _End:
    """Something to tally by predicate: in words, its pattern, where it is sampled from."""

    words: str
    pattern: str
    counted: str
    variables: str = "?c"


_SUBJECTS = _End("classes of subjects", "?s a ?c", "DISTINCT ?s")
_OBJECTS = _End("classes of objects", "?o a ?c", "DISTINCT ?o")
_LITERALS = _End(
    "datatypes and languages",
    "FILTER(isLiteral(?o)) BIND(DATATYPE(?o) AS ?d) BIND(LANG(?o) AS ?l)",
    "?o",
    "?d ?l",
)


async def _ask_ends(inquiry: Inquiry, facts: Facts) -> None:
    for predicate, row in await _tallied(inquiry, facts, _LITERALS):
        datatype, language, number = value_of(row[0]), value_of(row[1]), _number(row[2])
        kind = v.RDF_LANG_STRING if language else datatype or v.XSD_STRING
        facts.datatypes[predicate][kind] += number
        if language:
            facts.languages[predicate][language] += number
    for end, tally in ((_SUBJECTS, facts.subject_classes), (_OBJECTS, facts.object_classes)):
        for predicate, row in await _tallied(inquiry, facts, end):
            if not isinstance(row[0], Literal) and (cls := value_of(row[0])):
                tally[predicate][cls] += _number(row[1])


async def _tallied(inquiry: Inquiry, facts: Facts, end: _End) -> list[tuple[str, Row]]:
    """Count for all predicates at once, else for some at a time, else in samples of these."""
    select = f"SELECT ?p {end.variables} (COUNT({end.counted}) AS ?n)"
    group = f"GROUP BY ?p {end.variables}"
    whole = await inquiry.rows(end.words, f"{select} {{ ?s ?p ?o . {end.pattern} }} {group}")
    if whole and not whole.cut:
        return [_keyed(row) for row in whole.rows]
    found: list[tuple[str, Row]] = []
    sampled = 0
    for some in _batches(facts.predicates()):
        if inquiry.share_left() < 0.3:
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
        f"{{ SELECT ?s ?p ?o {{ VALUES ?p {{ <{iri}> }} ?s ?p ?o }} LIMIT {_SAMPLE} }} "
        f"{end.pattern} }} GROUP BY ?p {end.variables} }}"
        for iri in predicates
    )
    return f"SELECT ?p {end.variables} ?n {{ {' UNION '.join(parts)} }}"


async def _ask_descriptions(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for labels, parents, inverses and declared transitivity of classes and predicates."""
    properties = " ".join(f"<{iri}>" for iri in _DESCRIBING)
    schema = [*facts.classes, *facts.predicates()]
    for number, some in enumerate(_batches(schema, 100)):
        if inquiry.share_left() < 0.25:
            facts.cuts.append(f"labels of {len(schema) - 100 * number:,} classes and predicates")
            return
        subjects = " ".join(f"<{iri}>" for iri in some)
        reply = await inquiry.rows(
            "labels of classes and predicates",
            "SELECT ?s ?p ?o { "
            f"VALUES ?s {{ {subjects} }} VALUES ?p {{ {properties} }} ?s ?p ?o }}",
        )
        for subject, predicate, value in reply.rows if reply else ():
            if value is not None:
                facts.described[value_of(subject) or ""].append((value_of(predicate) or "", value))


async def _ask_texts(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for some texts of each predicate that has any, to see whether they are names."""
    textual = [
        iri
        for iri in facts.predicates()
        if facts.datatypes[iri].keys() & {v.XSD_STRING, v.RDF_LANG_STRING}
    ]
    for some in _batches(textual):
        if inquiry.share_left() < 0.25:
            facts.cuts.append("which of the less frequent predicates carry names")
            return
        parts = (
            f"{{ SELECT ?p ?o {{ VALUES ?p {{ <{iri}> }} ?s ?p ?o }} LIMIT {_TEXTS} }}"
            for iri in some
        )
        reply = await inquiry.rows("sample texts", f"SELECT ?p ?o {{ {' UNION '.join(parts)} }}")
        for predicate, text in reply.rows if reply else ():
            if isinstance(text, Literal):
                facts.texts[value_of(predicate) or ""].append(text.value)


async def _ask_chains(inquiry: Inquiry, facts: Facts) -> None:
    """Ask which predicates lead on and on without leading back: those may be transitive."""
    linking = [
        iri
        for iri in facts.predicates()
        if iri not in (v.RDF_TYPE, v.OWL_SAME_AS)
        and facts.object_classes[iri].keys() & facts.subject_classes[iri].keys()
    ]
    for some in _batches(linking):
        if inquiry.share_left() < 0.2:
            facts.cuts.append("which of the less frequent predicates are transitive")
            return
        parts = (
            f"{{ SELECT (<{p}> AS ?p) ?d {{ {{ SELECT ?a ?b {{ ?a <{p}> ?b }} LIMIT {_SAMPLE} }} "
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


async def _ask_mirrors(inquiry: Inquiry, facts: Facts) -> None:
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


_DESCRIBING = (
    *v.LABEL_PREDICATES,
    *v.ALTERNATIVE_LABEL_PREDICATES,
    v.RDFS_SUB_CLASS_OF,
    v.OWL_INVERSE_OF,
    v.RDF_TYPE,
)


def _batches(items: Sequence[str], size: int = _TOGETHER) -> Iterator[Sequence[str]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _number(term: Term | None) -> int:
    text = value_of(term) or ""
    return int(text) if text.isdigit() else 0
