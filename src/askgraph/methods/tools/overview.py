"""`overview`: what a graph knows that may matter to a question, before anything is asked of it."""

import asyncio
from typing import Annotated

from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import entity_lines
from askgraph.methods.tools.mentions import mentioned
from askgraph.methods.tools.rendering import Writer
from askgraph.methods.tools.schema_lines import SchemaLines, Slice, terms_of
from askgraph.methods.tools.schema_names import HEADING, naming, whole_schema
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.trace import Observation

__all__ = ["overview"]

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
    counted = context.veil is None or context.veil.rows
    size = f"{profile.triples:,} triples" if counted else "triples"
    lines = [
        f"graph {context.graph.name}: {size}{naming(context)}{cuts}",
        *([f"{HEADING}.", whole.text] if whole else []),
        *(["perhaps named in the question:"] if named.lines else []),
        *named.lines,
        *schema,
    ]
    seen = [*(whole.seen if whole else ()), *named.seen, *writer.seen]
    return Observation("\n".join(lines), tuple(dict.fromkeys(seen)))
