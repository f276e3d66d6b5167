"""`overview`: what a graph knows that may matter to a question, before anything is asked of it."""

import asyncio
from typing import Annotated

from askgraph.search.run import read_and_linked
from askgraph.tools import Context
from askgraph.tools.hits import entity_lines
from askgraph.tools.mentions import mentioned
from askgraph.tools.schema_lines import SchemaLines, Slice, terms_of
from askgraph.tools.shown import Writer
from askgraph.trace import Observation

__all__ = ["overview"]


async def overview(
    context: Context, question: Annotated[str, "what the overview is for"]
) -> Observation:
    """Get what a question names in the graph, and the classes and properties near that.

    Of a large schema the part that the question calls for, of a small one all.
    """
    reading = question, context.question.language, context.graph.names
    linked = await asyncio.to_thread(read_and_linked, *reading)
    part = Slice(context.graph, linked)
    near = await asyncio.to_thread(lambda: [predicate.iri for predicate in part.near])
    named = await entity_lines(context, await mentioned(context, linked), near=near)
    writer = await Writer.knowing(context, await asyncio.to_thread(terms_of, part))
    schema = await asyncio.to_thread(lambda: list(SchemaLines(part, writer).lines()))
    lines = [
        _graph_line(context),
        *(["perhaps named in the question:"] if named.lines else []),
        *named.lines,
        *schema,
    ]
    return Observation("\n".join(lines), tuple(dict.fromkeys([*named.seen, *writer.seen])))


def _graph_line(context: Context) -> str:
    profile = context.graph.profile
    languages = ", ".join(name for name, _ in profile.languages[:5])
    naming = [context.graph.prefixes.shorten(p.iri) for p in profile.predicates if p.naming][:4]
    named = f"; names by {', '.join(naming)}" if naming else ""
    tongues = f" in {languages}" if languages else ""
    cuts = f"; not everything is known: {'; '.join(profile.cuts[:2])}" if profile.cuts else ""
    counted = context.veil is None or context.veil.rows
    size = f"{profile.triples:,} triples" if counted else "triples"
    return f"graph {context.graph.name}: {size}{named}{tongues}{cuts}"
