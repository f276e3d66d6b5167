"""Survey the classes of a graph and their numbers of instances.

If the endpoint cannot count, some instances of each class are read and their rows counted here. A
class is known exactly if all of its instances came; the numbers of others come from a sample.

A Wikibase lists the property of each predicate. A sample of its entities shows which two properties
serve as `rdf:type` and `rdfs:subClassOf`; see `askgraph.graph.local_profile`.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode

from askgraph.graph import survey
from askgraph.graph.bounded_queries import QuerySession
from askgraph.graph.profile import (
    CLASSES,
    COUNTS,
    ENDS,
    LABELS,
    PARTITIONS,
    Part,
    Partition,
    sort_counts,
)
from askgraph.index.name_search import format_iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, Term, to_plain_value

_MAX_CLASSES = 10_000
_SAMPLE_TRIPLES_COUNT = 100_000


async def collect_classes(session: QuerySession, facts: survey.SurveyFacts) -> None:
    """Query all classes with their sizes at once, else a list, else the classes of a sample.

    The classes are not complete if their instances do not add up to the typed ones.
    """
    typed_count = facts.triples.get(v.RDF_TYPE, 0)
    query = (
        f"SELECT ?c (COUNT(*) AS ?n) {{ ?s a ?c }} GROUP BY ?c ORDER BY DESC(?n) LIMIT "
        f"{_MAX_CLASSES}"
    )
    reply = await session.select("classes", query, costly=True)
    rows = reply.rows if reply else ()
    _record_sizes(facts, rows)
    instance_sum = sum(survey.parse_count(row[1]) for row in rows)
    if (
        reply
        and (rows or v.RDF_TYPE not in facts.triples)
        and not reply.cut
        and len(rows) < _MAX_CLASSES
    ):
        if instance_sum < survey.MIN_SUM_SHARE * typed_count:
            facts.cuts.append(f"classes of {typed_count - instance_sum:,} instances")
            note = f"their instances add up to {instance_sum:,} of {typed_count:,}"
            part = Part(CLASSES, len(facts.classes), None, note)
        else:
            part = Part(CLASSES, len(facts.classes), len(facts.classes))
    else:
        part = await _list_classes(session, facts) or await _sample_classes(session, facts)
    facts.parts[CLASSES] = part


async def _list_classes(session: QuerySession, facts: survey.SurveyFacts) -> Part | None:
    listing = await survey.select_pages(
        session, "classes", "SELECT DISTINCT ?c { ?s a ?c }", max_rows=_MAX_CLASSES
    )
    if listing is None or not listing.rows:
        return None
    names = listing.iris
    for batch in survey.split_into_batches([iri for iri in names if iri not in facts.classes], 100):
        values = f"VALUES ?c {{ {format_iris(batch)} }}"
        query = f"SELECT ?c (COUNT(*) AS ?n) {{ {values} ?s a ?c }} GROUP BY ?c"
        reply = (
            await session.select("sizes of classes", query)
            if session.get_remaining_share() > 0.75
            else None
        )
        _record_sizes(facts, reply.rows if reply else ())
        for iri in batch:
            facts.classes.setdefault(iri, 0)
        if reply is None:
            facts.cuts.append("how many instances some classes have")
            break
    for iri in names:
        facts.classes.setdefault(iri, 0)
    if listing.is_complete:
        return Part(CLASSES, len(facts.classes), len(facts.classes))
    facts.cuts.append(f"classes beyond the {len(facts.classes):,} that the endpoint returns")
    return Part(CLASSES, len(facts.classes), None, "as many as the endpoint gives")


async def _sample_classes(session: QuerySession, facts: survey.SurveyFacts) -> Part:
    sample = f"{{ SELECT ?c {{ ?s a ?c }} LIMIT {_SAMPLE_TRIPLES_COUNT} }}"
    reply = await session.select(
        "classes in a sample", f"SELECT ?c (COUNT(*) AS ?n) {{ {sample} }} GROUP BY ?c"
    )
    if reply is None:
        return Part(CLASSES, 0, None, "the endpoint gave no answer")
    _record_sizes(facts, reply.rows)
    is_complete = sum(
        survey.parse_count(row[1]) for row in reply.rows
    ) < _SAMPLE_TRIPLES_COUNT and bool(reply.rows)
    if is_complete and not reply.cut:
        return Part(CLASSES, len(facts.classes), len(facts.classes))
    facts.cuts.append(
        f"classes and their sizes are those of a sample of {_SAMPLE_TRIPLES_COUNT:,} things"
    )
    return Part(CLASSES, len(facts.classes), None, "those of a sample")


def _record_sizes(facts: survey.SurveyFacts, rows: Iterable[Row]) -> None:
    for cls, number in rows:
        if isinstance(cls, NamedNode):
            facts.classes[cls.value] = survey.parse_count(number)


_SAMPLE_TEXTS_COUNT = 100
_MIN_LABEL_BATCH_SIZE, _MAX_LABEL_BATCH_SIZE = 100, 500  # terms per query
_LABEL_QUERIES_COUNT = 40  # queries for the labels of a schema of ordinary size


async def collect_descriptions(session: QuerySession, facts: survey.SurveyFacts) -> None:
    """Query labels, parents, inverses and declared transitivity of classes and predicates."""
    # Sources of names: a predicate may take the name of its property.
    iris_by_holder = defaultdict[str, list[str]](list)
    for iri in (*facts.classes, *facts.list_predicates()):
        iris_by_holder[facts.properties.get(iri, iri)].append(iri)
    schema = list(iris_by_holder)
    standard_predicates = {own_predicate: iri for iri, own_predicate in facts.types.items()}
    properties = format_iris((*_DESCRIPTION_PREDICATES, *standard_predicates))
    size = max(
        _MIN_LABEL_BATCH_SIZE, min(_MAX_LABEL_BATCH_SIZE, len(schema) // _LABEL_QUERIES_COUNT)
    )
    queue = deque(survey.split_into_batches(schema, size))
    answered_count = 0
    while queue and session.get_remaining_share() >= 0.25:
        batch = queue.popleft()
        inverse = f"?o <{v.OWL_INVERSE_OF}> ?s BIND(<{v.OWL_INVERSE_OF}> AS ?p)"
        query = (
            f"SELECT ?s ?p ?o {{ VALUES ?s {{ {format_iris(batch)} }} "
            f"{{ VALUES ?p {{ {properties} }} ?s ?p ?o }} UNION {{ {inverse} }} }}"
        )
        reply = await session.select("labels of classes and predicates", query)
        if reply and reply.cut and len(batch) > 1:
            queue.extendleft((batch[len(batch) // 2 :], batch[: len(batch) // 2]))
            continue
        answered_count += len(batch) if reply and not reply.cut else 0
        for subject, predicate, value in reply.rows if reply else ():
            predicate_iri = to_plain_value(predicate) or ""
            if value is not None:
                for iri in iris_by_holder[to_plain_value(subject) or ""]:
                    facts.descriptions[iri].append(
                        (standard_predicates.get(predicate_iri, predicate_iri), value)
                    )
    if remaining_count := sum(map(len, queue)):
        facts.cuts.append(f"labels of {remaining_count:,} classes and predicates")
    facts.parts[LABELS] = Part(LABELS, answered_count, len(schema))


async def collect_texts(session: QuerySession, facts: survey.SurveyFacts) -> None:
    """Query sample texts of each textual predicate, to detect name predicates."""
    textual = [
        iri
        for iri in facts.list_predicates()
        if facts.datatypes[iri].keys() & {v.XSD_STRING, v.RDF_LANG_STRING}
        and iri not in facts.texts
    ]
    for batch in survey.split_into_batches(textual):
        if session.get_remaining_share() < 0.25:
            facts.cuts.append("which of the less frequent predicates carry names")
            return
        parts = (
            f"{{ SELECT ?p ?o {{ VALUES ?p {{ <{iri}> }} ?s ?p ?o }} LIMIT {_SAMPLE_TEXTS_COUNT} }}"
            for iri in batch
        )
        reply = await session.select("sample texts", f"SELECT ?p ?o {{ {' UNION '.join(parts)} }}")
        for predicate, text in reply.rows if reply else ():
            if isinstance(text, Literal):
                facts.texts[to_plain_value(predicate) or ""].append(text.value)


_DESCRIPTION_PREDICATES = (
    *v.LABEL_PREDICATES,
    *v.ALTERNATIVE_LABEL_PREDICATES,
    v.RDFS_SUB_CLASS_OF,
    v.OWL_INVERSE_OF,
    v.RDF_TYPE,
)

_MAX_SAMPLED_CLASSES = 2_000  # classes
_INSTANCES_PER_CLASS = 30  # of each class
_SAMPLE_BATCH_SIZE = 5  # classes in one query
_MAX_ROWS = 10_000


async def collect_without_counting(session: QuerySession, facts: survey.SurveyFacts) -> None:
    """Query classes and the statements of some instances, without any aggregate."""
    listing = await survey.select_pages(
        session, "classes", "SELECT DISTINCT ?c { ?s a ?c }", max_rows=_MAX_SAMPLED_CLASSES
    )
    classes = listing.iris if listing else []
    facts.classes.update(dict.fromkeys(classes, 0))
    is_complete = listing is not None and listing.is_complete
    facts.parts[CLASSES] = Part(CLASSES, len(classes), len(classes) if is_complete else None)
    complete_count = 0
    pairs_by_predicate: Pairs = defaultdict(set)
    for batch in survey.split_into_batches(classes, _SAMPLE_BATCH_SIZE):
        if session.get_remaining_share() < 0.3:
            facts.cuts.append("predicates of the classes that come last")
            break
        for cls, rows, cut in await _fetch_instances(session, batch):
            complete_count += _count_rows(facts, cls, rows, pairs_by_predicate, cut=cut)
    for predicate, pairs in pairs_by_predicate.items():
        facts.triples[predicate] = max(len(pairs), facts.triples.get(predicate, 0))
        facts.subjects[predicate] = len({s for s, _ in pairs})
        facts.objects[predicate] = len({o for _, o in pairs})
    note = f"classes of more than {_INSTANCES_PER_CLASS} instances are profiled from that many"
    facts.parts[PARTITIONS] = Part(PARTITIONS, complete_count, len(classes), note)
    facts.parts[COUNTS] = Part(COUNTS, 0, len(facts.triples), "the endpoint does not count")
    exact_count = sum(not partition.sampled for partition in facts.partitions.values())
    facts.parts[ENDS] = Part(ENDS, exact_count, len(facts.partitions))
    facts.cuts.append("the endpoint does not count: all numbers are those of samples")


Pairs = dict[str, set[tuple[Term, Term]]]
"""The (subject, object) pairs of predicates."""


async def _fetch_instances(
    session: QuerySession, classes: Sequence[str]
) -> list[tuple[str, list[Row], bool]]:
    """Return the statements of some instances by class, and whether they were cut off."""
    # Rows hold a class, an instance, a predicate, an object and perhaps a class of the object.
    parts = " UNION ".join(
        f"{{ SELECT ?c ?s {{ VALUES ?c {{ <{iri}> }} ?s a ?c }} LIMIT {_INSTANCES_PER_CLASS} }}"
        for iri in classes
    )
    query = f"SELECT ?c ?s ?p ?o ?t {{ {{ {parts} }} ?s ?p ?o OPTIONAL {{ ?o a ?t }} }} LIMIT "
    reply = await session.select("some instances of classes", f"{query}{_MAX_ROWS}")
    if reply is None:
        return []
    if reply.cut and len(classes) > 1:
        return [entry for cls in classes for entry in await _fetch_instances(session, [cls])]
    rows: dict[str, list[Row]] = {iri: [] for iri in classes}
    for row in reply.rows:
        if isinstance(row[0], NamedNode) and row[0].value in rows:
            rows[row[0].value].append(row)
    cut = reply.cut or len(reply.rows) >= _MAX_ROWS
    return [(cls, class_rows, cut) for cls, class_rows in rows.items()]


def _count_rows(
    facts: survey.SurveyFacts, cls: str, rows: Sequence[Row], all_pairs: Pairs, *, cut: bool
) -> bool:
    """Record the partitions of a class; return whether all of its instances came."""
    class_pairs: Pairs = defaultdict(set)
    types: dict[Term, set[str]] = defaultdict(set)
    for _, subject, predicate_term, value, kind in rows:
        if subject is not None and value is not None and isinstance(predicate_term, NamedNode):
            class_pairs[predicate_term.value].add((subject, value))
            if isinstance(kind, NamedNode):
                types[value].add(kind.value)
    instances = {subject for pairs in class_pairs.values() for subject, _ in pairs}
    is_complete = len(instances) < _INSTANCES_PER_CLASS and not cut and bool(class_pairs)
    if is_complete:
        facts.classes[cls] = len(instances)
    for predicate, pairs in class_pairs.items():
        all_pairs[predicate] |= pairs
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
            sort_counts(targets),
            sort_counts(datatypes),
            sampled=not is_complete,
        )
        facts.subject_classes[predicate][cls] += len(subjects)
        facts.object_classes[predicate].update(targets)
        facts.datatypes[predicate].update(datatypes)
        facts.languages[predicate].update(languages)
    return is_complete


_SAMPLE_ENTITIES_COUNT, _MAX_ENTITIES = 300, 500
# Share of things with a class property, and of its values that are in a hierarchy.
_MIN_TYPED_SHARE = 0.5

_FORMS_QUERY = (
    f"SELECT ?a ?form ?p {{ VALUES ?form {{ {format_iris(v.WIKIBASE_FORMS)} }} ?a ?form ?p }}"
)
_ENTITIES_QUERY = (
    f"SELECT ?s {{ ?s <{v.WIKIBASE_SITELINKS}> ?links }} LIMIT {_SAMPLE_ENTITIES_COUNT}"
)
_DIRECT_PATTERN = f"?property <{v.WIKIBASE_DIRECT}> ?p"


async def collect_wikibase_types(session: QuerySession, facts: survey.SurveyFacts) -> None:
    """Query the properties behind predicates, and which ones stand for `rdf:type` here.

    Later queries use the graph's own predicates in place of the standard ones.
    """
    if v.WIKIBASE_DIRECT not in facts.triples:
        return
    forms = await session.select("the properties behind predicates", _FORMS_QUERY)
    for property_, _, direct in forms.rows if forms else ():
        facts.properties[to_plain_value(direct) or ""] = to_plain_value(property_) or ""
    sample = await session.select("some things", _ENTITIES_QUERY)
    statements = await _fetch_direct_statements(session, sample.rows if sample else ())
    starts, ends = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for entity, predicate, end in statements:
        starts[predicate].add(entity)
        ends[predicate].add(end)
    size = len({entity for entity, _, _ in statements})
    common = [
        predicate_iri
        for predicate_iri in starts
        if len(starts[predicate_iri]) >= _MIN_TYPED_SHARE * size
    ]
    class_statements = await _fetch_direct_statements(
        session, {end for predicate_iri in common for end in ends[predicate_iri]}
    )
    parent_statements = await _fetch_direct_statements(
        session, {end for _, _, end in class_statements}
    )
    extended_pairs = {(end, predicate) for end, predicate, _ in parent_statements}
    ordered_classes = defaultdict[str, set[str]](set)
    for cls, predicate, end in class_statements:
        if (end, predicate) in extended_pairs:
            ordered_classes[predicate].add(cls)
    candidates = [
        (len(starts[kind]), len(ordered_classes[order] & ends[kind]), kind, order)
        for kind in common
        for order in ordered_classes
        if order != kind
        and len(ordered_classes[order] & ends[kind]) >= _MIN_TYPED_SHARE * len(ends[kind])
    ]
    if not candidates:
        return
    facts.types = dict(zip((v.RDF_TYPE, v.RDFS_SUB_CLASS_OF), max(candidates)[2:], strict=True))
    session.own_types = facts.types
    facts.count_own_types()


async def _fetch_direct_statements(
    session: QuerySession, nodes: Iterable[Row | str]
) -> list[tuple[str, str, str]]:
    names = sorted(
        {node if isinstance(node, str) else to_plain_value(node[0]) or "" for node in nodes}
    )
    values = format_iris(names[:_MAX_ENTITIES])
    query = (
        "SELECT ?s ?p ?o "
        f"{{ VALUES ?s {{ {values} }} ?s ?p ?o . {_DIRECT_PATTERN} FILTER(isIRI(?o)) }}"
    )
    reply = await session.select("what some things have", query) if values else None
    return [
        (to_plain_value(s) or "", to_plain_value(p) or "", to_plain_value(o) or "")
        for s, p, o in (reply.rows if reply else ())
    ]
