"""The tool that tells what the instances of classes have."""

from typing import Annotated

from pydantic import Field
from pyoxigraph import Literal, NamedNode

from askgraph.metadata.shapes import Shape, ShapeLine, shape_at
from askgraph.serve.protocols.mcp.looking import GraphName, Language, classes_told, looking
from askgraph.serve.protocols.mcp.results import Property, ShapeOfClass, Shapes
from askgraph.tools import Context
from askgraph.tools.shape_of import shape_of
from askgraph.tools.shown import Writer

__all__ = ["shapes"]

_LINES = 40
Classes = Annotated[
    list[str] | None,
    Field(description="IRIs of classes, as prefix:name; without, they are listed.", max_length=5),
]


async def shapes(
    classes: Classes = None, graph: GraphName = None, language: Language = None
) -> Shapes:
    """Get what the instances of classes have: properties, what these lead to, how many have them.

    Without classes, the classes of the graph are listed with their numbers of instances.
    """
    async with looking(graph, language=language) as context:
        told = [await _shape(context, name) for name in classes or ()]
        listed = [] if told else classes_told(context.graph, context.language)
        return Shapes(graph=context.graph.name, shapes=told, classes=listed)


async def _shape(context: Context, name: str) -> ShapeOfClass:
    graph = context.graph
    iri = (await shape_of(context, name)).seen[0]  # says what is wrong with a name
    shape = await shape_at(
        iri, graph.profile, graph.endpoint, arrays=graph.arrays, timeout=context.limits.timeout
    )
    lines = shape.lines[:_LINES]
    predicates = [line.predicate for line in lines]
    examples = [line.example.value for line in lines if isinstance(line.example, NamedNode)]
    writer = await Writer.knowing(context, [iri, *predicates, *examples])
    return ShapeOfClass(
        cls=writer.short(iri),
        label=writer.labels.get(iri),
        instances=shape.instances,
        properties=[_property(line, shape, writer) for line in lines],
    )


def _property(line: ShapeLine, shape: Shape, writer: Writer) -> Property:
    share = shape.share(line)
    known = isinstance(line.example, NamedNode | Literal)
    return Property(
        predicate=writer.short(line.predicate),
        label=writer.labels.get(line.predicate),
        inverse=line.inverse,
        share=None if share is None else round(share, 3),
        triples=line.triples,
        kinds=[writer.short(kind) for kind in line.kinds],
        example=writer.term(line.example) if known else None,
    )
