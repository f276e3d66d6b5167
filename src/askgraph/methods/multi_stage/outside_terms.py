"""Entities from a linker outside: its spans as listed terms, as far as the graph knows them."""

from pyoxigraph import NamedNode

from askgraph.index.linkers import EntityLinker, Span
from askgraph.index.names import Kind
from askgraph.methods.multi_stage.staged_terms import Ground
from askgraph.rdf.labels import words_of_local_name
from askgraph.tools.known import unknown_iris
from askgraph.tools.shown import labels_in
from askgraph.writing import Listed

__all__ = ["outside_things"]


async def outside_things(ground: Ground, linker: EntityLinker) -> tuple[Listed, ...]:
    """Return what a linker finds in the question, the surest reading of a thing once.

    What is in no triple of the graph, or is no IRI, is left out. Raises `ServiceError` where its
    server fails.
    """
    context = ground.context
    asked = context.question
    spans = await linker.spans(asked.text, asked.language)
    best: dict[str, Span] = {}
    for span in sorted(spans, key=lambda span: -span.score):
        if _is_iri(span.iri):
            best.setdefault(span.iri, span)
    unknown = set(await unknown_iris(context, best))
    best = {iri: span for iri, span in best.items() if iri not in unknown}
    labels = await labels_in(context, list(best))
    classes = {c.iri for c in context.graph.profile.classes}
    return tuple(
        Listed(
            Kind.CLASS if iri in classes else Kind.ENTITY,
            iri,
            labels.get(iri) or words_of_local_name(iri),
            positions=_positions(ground, span),
            score=span.score,
        )
        for iri, span in best.items()
    )


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


def _positions(ground: Ground, span: Span) -> tuple[int, ...]:
    """The tokens that a span holds, whole or in part."""
    tokens = ground.linked.reading.tokens
    return tuple(
        at for at, token in enumerate(tokens) if token.start < span.end and span.start < token.end
    )
