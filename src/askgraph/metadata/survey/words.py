"""What the classes and predicates of a graph are called, and which predicates carry names."""

from collections import deque
from collections.abc import Sequence

from pyoxigraph import Literal

from askgraph.metadata import Part
from askgraph.metadata.completeness import LABELS
from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import batches
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import value_of

__all__ = ["ask_descriptions", "ask_texts"]

_TEXTS = 100
_LEAST, _MOST = 100, 500  # terms that are asked about together
_QUERIES = 40  # that labels may cost, of schemas that are not too big


async def ask_descriptions(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for labels, parents, inverses and declared transitivity of classes and predicates."""
    schema = [*facts.classes, *facts.predicates()]
    size = max(_LEAST, min(_MOST, len(schema) // _QUERIES))
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
