"""The classes of a graph, and how many instances each of them has."""

from collections import deque
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode

from askgraph.metadata import CLASSES, LABELS, Part
from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import TOLD, batches, listed, number_in
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Row, value_of

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
        part = _counted(facts, told, typed)
    else:
        part = await _listed(inquiry, facts) or await _sampled(inquiry, facts)
    facts.parts[CLASSES] = part


def _counted(facts: Facts, told: int, typed: int) -> Part:
    if told < TOLD * typed:
        facts.cuts.append(f"classes of {typed - told:,} instances")
        note = f"their instances add up to {told:,} of {typed:,}"
        return Part(CLASSES, len(facts.classes), None, note)
    return Part(CLASSES, len(facts.classes), len(facts.classes))


async def _listed(inquiry: Inquiry, facts: Facts) -> Part | None:
    """Return all classes without their sizes, which are then asked for; None if none came."""
    found = await listed(inquiry, "classes", "SELECT DISTINCT ?c { ?s a ?c }", most=_MOST)
    if found is None or not found.rows:
        return None
    names = [row[0].value for row in found.rows if isinstance(row[0], NamedNode)]
    for some in batches([iri for iri in names if iri not in facts.classes], 100):
        values = f"VALUES ?c {{ {' '.join(f'<{iri}>' for iri in some)} }}"
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
    schema = [*facts.classes, *facts.predicates()]
    size = max(_LEAST, min(_MOST_WORDS, len(schema) // _QUERIES))
    waiting = deque(batches(schema, size))
    asked = 0
    while waiting and inquiry.share_left() >= 0.25:
        some = waiting.popleft()
        reply = await inquiry.rows("labels of classes and predicates", _describing(some))
        if reply and reply.cut and len(some) > 1:
            waiting.extendleft((some[len(some) // 2 :], some[: len(some) // 2]))
            continue
        asked += len(some) if reply and not reply.cut else 0
        for subject, predicate, value in reply.rows if reply else ():
            if value is not None:
                facts.described[value_of(subject) or ""].append((value_of(predicate) or "", value))
    if rest := sum(map(len, waiting)):
        facts.cuts.append(f"labels of {rest:,} classes and predicates")
    facts.parts[LABELS] = Part(LABELS, asked, len(schema))


def _describing(some: Sequence[str]) -> str:
    subjects = " ".join(f"<{iri}>" for iri in some)
    properties = " ".join(f"<{iri}>" for iri in _DESCRIBING)
    return f"SELECT ?s ?p ?o {{ VALUES ?s {{ {subjects} }} VALUES ?p {{ {properties} }} ?s ?p ?o }}"


async def ask_texts(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for some texts of each predicate that has any, to see whether they are names."""
    textual = [
        iri
        for iri in facts.predicates()
        if facts.datatypes[iri].keys() & {v.XSD_STRING, v.RDF_LANG_STRING}
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
