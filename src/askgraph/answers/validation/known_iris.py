"""The check that a graph holds the things a query names, as far as is known without asking."""

from collections.abc import Iterator

from pyoxigraph import NamedNode

from askgraph.answers.validation import Finding, Kind, Proposal, Subject, place_of_term, written
from askgraph.answers.validation._blocks import Block, block_of, walk
from askgraph.answers.validation._inference import may_be_empty
from askgraph.sparql import Path, Pattern
from askgraph.sparql.prefixes import WELL_KNOWN
from askgraph.sparql.vocabulary import RDF_TYPE

__all__ = ["known_iris"]

_STANDARD = tuple(WELL_KNOWN[name] for name in ("rdf", "rdfs", "owl", "xsd"))


def known_iris(subject: Subject, /) -> Iterator[Finding]:
    """Give the subjects and objects of patterns that are in no triple of a graph that lies here."""
    if subject.tree is None:
        return
    seen: set[str] = set()
    for block, _, _ in walk(block_of(subject.tree, subject.services)):
        for pattern in block.patterns:
            if may_be_empty(pattern.predicate):
                continue  # the path leads from anything to itself, known or not
            ends = (pattern.subject, pattern.object)
            for term, span in zip(ends, pattern.spans[::2], strict=False):
                if isinstance(term, NamedNode) and term.value not in seen:
                    seen.add(term.value)
                    if not (term is pattern.object and _asks_class(pattern)):
                        yield from _finding(term, span, block, subject.text)


def _asks_class(pattern: Pattern) -> bool:
    """Whether the object is a class, which the check of the schema looks at."""
    match pattern.predicate:
        case NamedNode(value=iri):
            return bool(iri == RDF_TYPE)
        case Path(operator="/", parts=(NamedNode(value=iri), *_)):
            return bool(iri == RDF_TYPE)
        case _:
            return False


def _finding(term: NamedNode, span: tuple[int, int], block: Block, text: str) -> Iterator[Finding]:
    known = block.known
    if known is None or known.entities is None or term.value.startswith(_STANDARD):
        return
    if term.value in known.classes or term.value in known.predicates:
        return
    if known.entities.sorts(term.value) is not None:
        return
    prefixes = known.prefixes
    near = known.entities.alike(term.value)
    yield Finding(
        Kind.ENTITY,
        f"the graph has nothing named {written(term.value, text, prefixes)}",
        place_of_term(text, term, span, prefixes),
        term.value,
        tuple(Proposal(written(iri, text, prefixes), known.label(iri), iri) for iri in near),
    )
