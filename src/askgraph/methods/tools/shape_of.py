"""`shape_of`: what the instances of a class have, and what leads to them."""

from typing import Annotated

from pyoxigraph import NamedNode

from askgraph.errors import QueryError
from askgraph.graph.shapes import Shape, ShapeLine, shape_at
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import Writer
from askgraph.methods.tools.terms import named_node
from askgraph.trace import Observation

__all__ = ["shape_of"]

_LINES = 25


async def shape_of(context: Context, cls: Annotated[str, "IRI of a class"]) -> Observation:
    """Get what instances of a class have: properties, values, share of instances; ^ leads to them.

    By the share of instances that have it, then what comes in. Raises `QueryError` for what is no
    class of the graph.
    """
    iri = await named_node(context, cls, sort="entities")
    graph = context.graph
    shape = await shape_at(
        iri, graph.profile, graph.endpoint, arrays=graph.arrays, timeout=context.limits.timeout
    )
    shown, rest = shape.lines[:_LINES], shape.lines[_LINES:]
    if not shown:
        raise QueryError(
            f"nothing in the graph is of the class {context.graph.prefixes.shorten(iri)}; "
            "describe it to see what it is, or search for a class"
        )
    examples = [line.example.value for line in shown if isinstance(line.example, NamedNode)]
    kinds = [kind for line in shown for kind in line.kinds]
    predicates = [line.predicate for line in shape.lines]
    writer = await Writer.knowing(context, [iri, *predicates, *kinds, *examples])
    head = f"{writer.iri(iri)}: {shape.instances:,} instances"
    if shape.sampled:
        head += f", {shape.sampled:,} of them looked at"
    lines = [head, *(_line(line, shape, writer) for line in shown)]
    if rest:
        lines.append(f"also: {', '.join(_short(line, writer) for line in rest)}")
    return Observation("\n".join(lines), tuple(writer.seen))


def _line(line: ShapeLine, shape: Shape, writer: Writer) -> str:
    arrow = "←" if line.inverse else "→"
    kinds = " or ".join(writer.iri(kind) for kind in line.kinds)
    name = f"{'^' if line.inverse else ''}{writer.iri(line.predicate)}"
    shown = line.example is not None and writer.context.veil is None
    example = f", e.g. {writer.term(line.example)}" if shown else ""
    known = f" {arrow} {kinds}" if kinds else ""
    return f"{name} {_share(line, shape)}{known}{example}"


def _share(line: ShapeLine, shape: Shape) -> str:
    """How many instances have it, and how often if some have it several times."""
    share = shape.share(line)
    if share is None:
        return f"{line.triples:,} times" if line.triples else "some"
    told = "all" if share >= 1 else f"{max(1, round(100 * share))}%"
    if line.triples is None or not line.having:
        return f"{told} (some several)"
    each = line.triples / line.having
    return f"{told} ({each:.1f} each)" if each >= 1.05 else told


def _short(line: ShapeLine, writer: Writer) -> str:
    return f"{'^' if line.inverse else ''}{writer.short(line.predicate)}"
