"""An overview of a graph, shapes of classes and examples: what a model reads before it queries."""

import asyncio
from typing import Annotated

from pyoxigraph import NamedNode

from askgraph.errors import QueryError
from askgraph.graph.examples import random_examples, similar_examples
from askgraph.graph.shapes import Shape, ShapeLine, shape_at
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import entity_lines
from askgraph.methods.tools.mentions import mentioned
from askgraph.methods.tools.rendering import Writer, shown_examples
from askgraph.methods.tools.schema_lines import (
    HEADING,
    SchemaLines,
    Slice,
    naming,
    terms_of,
    whole_schema,
)
from askgraph.methods.tools.terms import named_node
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.trace import Observation

__all__ = ["find_examples", "find_similar_examples", "overview", "shape_of"]

_WHOLE = 500  # tokens of a schema that is shown whole


async def overview(
    context: Context, question: Annotated[str, "what the overview is for"]
) -> Observation:
    """Get what a question names in the graph, and the classes and properties near that.

    Of a large schema the part that the question calls for, of a small one all.
    """
    linked = await link_to_graph(tokenize(question, context.question.language), context.graph)
    part = Slice(context.graph, linked)
    near = await asyncio.to_thread(lambda: [predicate.iri for predicate in part.near])
    named = await entity_lines(context, await mentioned(context, linked), near=near)
    writer = await Writer.knowing(context, await asyncio.to_thread(terms_of, part))
    whole = await whole_schema(context, most=_WHOLE)
    schema = await asyncio.to_thread(
        lambda: list(SchemaLines(part, writer).lines(beside=whole is not None))
    )
    profile = context.graph.profile
    cuts = f"; not everything is known: {'; '.join(profile.cuts[:2])}" if profile.cuts else ""

    lines = [
        f"graph {context.graph.name}: {profile.triples:,} triples{naming(context)}{cuts}",
        *([f"{HEADING}.", whole.text] if whole else []),
        *(["perhaps named in the question:"] if named.lines else []),
        *named.lines,
        *schema,
    ]
    seen = [*(whole.seen if whole else ()), *named.seen, *writer.seen]
    return Observation("\n".join(lines), tuple(dict.fromkeys(seen)))


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
    example = f", e.g. {writer.term(line.example)}" if line.example is not None else ""
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


_SHOWN = 3


async def find_examples(
    context: Context, *, number: int = _SHOWN, question: str | None = None
) -> Observation:
    """Get some questions with the SPARQL queries that answer them.

    Chosen by chance, the same ones for the same question.
    """
    wanted = (question or "").strip() or context.question.text
    chosen = random_examples(wanted, context.graph.examples, limit=number)
    return await shown_examples(context, chosen)


async def find_similar_examples(
    context: Context,
    question: Annotated[str | None, "default: the user's"] = None,
    *,
    number: int = _SHOWN,
    embedder: str = "",
) -> Observation:
    """Get the questions most similar to one, with the SPARQL queries that answer them.

    Similar in letters and words, or in meaning with an `embedder`. Raises `ServiceError` if its
    server fails.
    """
    wanted = (question or "").strip() or context.question.text
    found = await asyncio.to_thread(
        similar_examples, wanted, context.graph.examples, limit=number, embedder=embedder
    )
    return await shown_examples(context, [example for example, _ in found])
