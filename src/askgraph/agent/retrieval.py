"""What a prompt of retrieved metadata holds: shapes of the classes a question is about, in room."""

from collections.abc import Sequence

from askgraph.explanation.labels import labels_of
from askgraph.linking.link import Linked
from askgraph.llm.estimate import estimated_tokens
from askgraph.metadata.shapes import Shape, shape_at
from askgraph.metadata.shex import shex_of
from askgraph.tools import Context
from askgraph.tools.slice import Slice

__all__ = ["shapes_for", "within_tokens"]

_LINES = 25  # of one shape


async def shapes_for(
    context: Context, linked: Linked, *, most: int, more: Sequence[str] = ()
) -> list[str]:
    """Return the ShEx texts of at most so many classes, those nearest to the question first.

    `more` are classes that come before all others. Raises `ServiceError` where a remote graph does
    not answer.
    """
    graph = context.graph
    near = [cls.iri for cls in Slice(graph, linked).classes]
    chosen = list(dict.fromkeys([*more, *near]))[:most]
    shapes = [await _shape(context, cls) for cls in chosen]
    texts = [await _text(context, shape) for shape in shapes if shape.lines]
    return texts


async def _shape(context: Context, cls: str) -> Shape:
    graph = context.graph
    return await shape_at(
        cls,
        graph.profile,
        graph.endpoint,
        arrays=graph.arrays,
        timeout=context.limits.timeout,
    )


async def _text(context: Context, shape: Shape) -> str:
    iris = [shape.cls, *(line.predicate for line in shape.lines)]
    iris += [kind for line in shape.lines for kind in line.kinds]
    languages = [context.language, "en"]
    labels = await labels_of(iris, context.graph, languages, timeout=context.limits.timeout)
    return shex_of(shape, context.graph.prefixes, labels=labels, lines=_LINES)


def within_tokens(texts: Sequence[str], most: int) -> list[str]:
    """Return the first texts that have room in so many tokens together."""
    kept: list[str] = []
    left = most
    for text in texts:
        left -= estimated_tokens(text)
        if left < 0:
            break
        kept.append(text)
    return kept
