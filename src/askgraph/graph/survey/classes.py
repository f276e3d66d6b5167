"""The classes of a graph, and how many instances each of them has.

If the endpoint does not count anything, some instances of each class are looked at, and their rows
counted here. A class all of whose instances came is known as well as one that was counted; of the
others the numbers are those of a sample.

A Wikibase tells the property of each predicate itself; a sample of its things tells which two
properties say what things are and order their classes; see `askgraph.graph.local_profile`.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode

from askgraph.graph.bounded_queries import Inquiry
from askgraph.graph.profile import (
    CLASSES,
    COUNTS,
    ENDS,
    LABELS,
    PARTITIONS,
    Part,
    Partition,
    sorted_counts,
)
from askgraph.graph.survey import TOLD, Facts, batches, listed, number_in
from askgraph.index.name_search import iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, Term, value_of

_MOST = 10_000
_TYPED = 100_000


async def ask_classes(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for all classes with their sizes at once, else for a list, else for those of a sample.

    Classes are not called all known if their instances do not add up to what is typed.
    """
    typed = facts.triples.get(v.RDF_TYPE, 0)
    query = f"SELECT ?c (COUNT(*) AS ?n) {{ ?s a ?c }} GROUP BY ?c ORDER BY DESC(?n) LIMIT {_MOST}"
    reply = await inquiry.rows("classes", query, costly=True)
    rows = reply.rows if reply else ()
    _keep(facts, rows)
    told = sum(number_in(row[1]) for row in rows)
    if reply and (rows or v.RDF_TYPE not in facts.triples) and not reply.cut and len(rows) < _MOST:
        if told < TOLD * typed:
            facts.cuts.append(f"classes of {typed - told:,} instances")
            note = f"their instances add up to {told:,} of {typed:,}"
            part = Part(CLASSES, len(facts.classes), None, note)
        else:
            part = Part(CLASSES, len(facts.classes), len(facts.classes))
    else:
        part = await _listed(inquiry, facts) or await _sampled(inquiry, facts)
    facts.parts[CLASSES] = part


async def _listed(inquiry: Inquiry, facts: Facts) -> Part | None:
    """Return all classes without their sizes, which are then asked for; None if none came."""
    found = await listed(inquiry, "classes", "SELECT DISTINCT ?c { ?s a ?c }", most=_MOST)
    if found is None or not found.rows:
        return None
    names = found.iris
    for some in batches([iri for iri in names if iri not in facts.classes], 100):
        values = f"VALUES ?c {{ {iris(some)} }}"
        query = f"SELECT ?c (COUNT(*) AS ?n) {{ {values} ?s a ?c }} GROUP BY ?c"
        reply = (
            await inquiry.rows("sizes of classes", query) if inquiry.share_left() > 0.75 else None
        )
        _keep(facts, reply.rows if reply else ())
        for iri in some:
            facts.classes.setdefault(iri, 0)
        if reply is None:
            facts.cuts.append("how many instances some classes have")
            break
    for iri in names:
        facts.classes.setdefault(iri, 0)
    if found.whole:
        return Part(CLASSES, len(facts.classes), len(facts.classes))
    facts.cuts.append(f"classes beyond the {len(facts.classes):,} that the endpoint gives")
    return Part(CLASSES, len(facts.classes), None, "as many as the endpoint gives")


async def _sampled(inquiry: Inquiry, facts: Facts) -> Part:
    some = f"{{ SELECT ?c {{ ?s a ?c }} LIMIT {_TYPED} }}"
    reply = await inquiry.rows(
        "classes in a sample", f"SELECT ?c (COUNT(*) AS ?n) {{ {some} }} GROUP BY ?c"
    )
    if reply is None:
        return Part(CLASSES, 0, None, "the endpoint could not say")
    _keep(facts, reply.rows)
    whole = sum(number_in(row[1]) for row in reply.rows) < _TYPED and bool(reply.rows)
    if whole and not reply.cut:
        return Part(CLASSES, len(facts.classes), len(facts.classes))
    facts.cuts.append(f"classes and their sizes are those of a sample of {_TYPED:,} things")
    return Part(CLASSES, len(facts.classes), None, "those of a sample")


def _keep(facts: Facts, rows: Iterable[Row]) -> None:
    for cls, number in rows:
        if isinstance(cls, NamedNode):
            facts.classes[cls.value] = number_in(number)


_TEXTS = 100
_LEAST, _MOST_WORDS = 100, 500  # terms that are asked about together
_QUERIES = 40  # that labels may cost, of schemas that are not too big


async def ask_descriptions(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for labels, parents, inverses and declared transitivity of classes and predicates."""
    bearers = defaultdict[str, list[str]](list)  # of names: a predicate's may be its property's
    for iri in (*facts.classes, *facts.predicates()):
        bearers[facts.properties.get(iri, iri)].append(iri)
    schema, standard = list(bearers), {own: iri for iri, own in facts.types.items()}
    properties = iris((*_DESCRIBING, *standard))
    size = max(_LEAST, min(_MOST_WORDS, len(schema) // _QUERIES))
    waiting = deque(batches(schema, size))
    asked = 0
    while waiting and inquiry.share_left() >= 0.25:
        some = waiting.popleft()
        values = f"VALUES ?s {{ {iris(some)} }} VALUES ?p {{ {properties} }}"
        query = f"SELECT ?s ?p ?o {{ {values} ?s ?p ?o }}"
        reply = await inquiry.rows("labels of classes and predicates", query)
        if reply and reply.cut and len(some) > 1:
            waiting.extendleft((some[len(some) // 2 :], some[: len(some) // 2]))
            continue
        asked += len(some) if reply and not reply.cut else 0
        for subject, predicate, value in reply.rows if reply else ():
            told = value_of(predicate) or ""
            if value is not None:
                for iri in bearers[value_of(subject) or ""]:
                    facts.described[iri].append((standard.get(told, told), value))
    if rest := sum(map(len, waiting)):
        facts.cuts.append(f"labels of {rest:,} classes and predicates")
    facts.parts[LABELS] = Part(LABELS, asked, len(schema))


async def ask_texts(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for some texts of each predicate that has any, to see whether they are names."""
    textual = [
        iri
        for iri in facts.predicates()
        if facts.datatypes[iri].keys() & {v.XSD_STRING, v.RDF_LANG_STRING}
        and iri not in facts.texts
    ]
    for some in batches(textual):
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


_DESCRIBING = (
    *v.LABEL_PREDICATES,
    *v.ALTERNATIVE_LABEL_PREDICATES,
    v.RDFS_SUB_CLASS_OF,
    v.OWL_INVERSE_OF,
    v.RDF_TYPE,
)

_MOST_LISTED = 2_000  # classes
_INSTANCES = 30  # of each class
_TOGETHER = 5  # classes in one query
_ROWS = 10_000


async def ask_uncounted(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for classes, and what some instances of each have, without a single aggregate."""
    found = await listed(inquiry, "classes", "SELECT DISTINCT ?c { ?s a ?c }", most=_MOST_LISTED)
    classes = found.iris if found else []
    facts.classes.update(dict.fromkeys(classes, 0))
    whole = found is not None and found.whole
    facts.parts[CLASSES] = Part(CLASSES, len(classes), len(classes) if whole else None)
    known = 0
    seen: Pairs = defaultdict(set)
    for some in batches(classes, _TOGETHER):
        if inquiry.share_left() < 0.3:
            facts.cuts.append("predicates of the classes that come last")
            break
        for cls, rows, cut in await _some_instances(inquiry, some):
            known += _count_rows(facts, cls, rows, seen, cut=cut)
    for predicate, pairs in seen.items():
        facts.triples[predicate] = max(len(pairs), facts.triples.get(predicate, 0))
        facts.subjects[predicate] = len({s for s, _ in pairs})
        facts.objects[predicate] = len({o for _, o in pairs})
    note = f"classes of more than {_INSTANCES} instances are known by so many of them"
    facts.parts[PARTITIONS] = Part(PARTITIONS, known, len(classes), note)
    facts.parts[COUNTS] = Part(COUNTS, 0, len(facts.triples), "the endpoint does not count")
    exact = sum(not one.sampled for one in facts.partitions.values())
    facts.parts[ENDS] = Part(ENDS, exact, len(facts.partitions))
    facts.cuts.append("the endpoint does not count: all numbers are those of samples")


Pairs = dict[str, set[tuple[Term, Term]]]
"""The (subject, object) pairs of predicates."""


async def _some_instances(
    inquiry: Inquiry, classes: Sequence[str]
) -> list[tuple[str, list[Row], bool]]:
    """Return what some instances of each class have, and whether some of it was cut off.

    Rows are of a class, an instance, a predicate, an object and perhaps a class of the object.
    """
    parts = " UNION ".join(
        f"{{ SELECT ?c ?s {{ VALUES ?c {{ <{iri}> }} ?s a ?c }} LIMIT {_INSTANCES} }}"
        for iri in classes
    )
    query = f"SELECT ?c ?s ?p ?o ?t {{ {{ {parts} }} ?s ?p ?o OPTIONAL {{ ?o a ?t }} }} LIMIT "
    reply = await inquiry.rows("some instances of classes", f"{query}{_ROWS}")
    if reply is None:
        return []
    if reply.cut and len(classes) > 1:
        return [one for cls in classes for one in await _some_instances(inquiry, [cls])]
    rows: dict[str, list[Row]] = {iri: [] for iri in classes}
    for row in reply.rows:
        if isinstance(row[0], NamedNode) and row[0].value in rows:
            rows[row[0].value].append(row)
    cut = reply.cut or len(reply.rows) >= _ROWS
    return [(cls, own, cut) for cls, own in rows.items()]


def _count_rows(facts: Facts, cls: str, rows: Sequence[Row], seen: Pairs, *, cut: bool) -> bool:
    """Put the partitions of a class among the facts; return whether all of its instances came."""
    own: Pairs = defaultdict(set)
    types: dict[Term, set[str]] = defaultdict(set)
    for _, subject, by, value, kind in rows:
        if subject is not None and value is not None and isinstance(by, NamedNode):
            own[by.value].add((subject, value))
            if isinstance(kind, NamedNode):
                types[value].add(kind.value)
    instances = {subject for pairs in own.values() for subject, _ in pairs}
    whole = len(instances) < _INSTANCES and not cut and bool(own)
    if whole:
        facts.classes[cls] = len(instances)
    for predicate, pairs in own.items():
        seen[predicate] |= pairs
        targets, datatypes, languages = Counter[str](), Counter[str](), Counter[str]()
        for _, value in pairs:
            if not isinstance(value, Literal):
                targets.update(types.get(value) or (v.RDFS_RESOURCE,))
            elif value.language:
                datatypes[v.RDF_LANG_STRING] += 1
                languages[value.language] += 1
            else:
                datatypes[value.datatype.value] += 1
        subjects, objects = {s for s, _ in pairs}, {o for _, o in pairs}
        facts.partitions[cls, predicate] = Partition(
            cls,
            predicate,
            len(pairs),
            len(subjects),
            len(objects),
            sorted_counts(targets),
            sorted_counts(datatypes),
            sampled=not whole,
        )
        facts.subject_classes[predicate][cls] += len(subjects)
        facts.object_classes[predicate].update(targets)
        facts.datatypes[predicate].update(datatypes)
        facts.languages[predicate].update(languages)
    return whole


_SAMPLE, _MOST_THINGS = 300, 500
_HALF = 0.5  # of the things have a property that says what they are, of its ends are in an order

_FORMS = f"SELECT ?a ?form ?p {{ VALUES ?form {{ {iris(v.WIKIBASE_FORMS)} }} ?a ?form ?p }}"
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
    common = [one for one in starts if len(starts[one]) >= _HALF * size]
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
        if order != kind and len(ordered[order] & ends[kind]) >= _HALF * len(ends[kind])
    ]
    return max(fitting)[2:] if fitting else None


async def _leaving(inquiry: Inquiry, nodes: Iterable[Row | str]) -> list[tuple[str, str, str]]:
    """Return what is said directly of some things, and leads to others."""
    names = sorted({one if isinstance(one, str) else value_of(one[0]) or "" for one in nodes})
    values = iris(names[:_MOST_THINGS])
    query = f"SELECT ?s ?p ?o {{ VALUES ?s {{ {values} }} ?s ?p ?o . {_DIRECT} FILTER(isIRI(?o)) }}"
    reply = await inquiry.rows("what some things have", query) if values else None
    rows = reply.rows if reply else ()
    return [(value_of(s) or "", value_of(p) or "", value_of(o) or "") for s, p, o in rows]
