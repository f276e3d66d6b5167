"""An overview of a graph, shapes of classes and examples, for a model before it writes queries."""

import asyncio
from typing import Annotated

from pyoxigraph import NamedNode

from askgraph.errors import QueryError
from askgraph.graph.examples import exclude_question, rank_examples, sample_examples
from askgraph.graph.shapes import Shape, ShapeLine, load_shape
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import format_entities
from askgraph.methods.tools.mentions import find_mentions
from askgraph.methods.tools.rendering import TermWriter, render_examples
from askgraph.methods.tools.schema_lines import (
    HEADING,
    SchemaLines,
    SchemaSlice,
    describe_naming,
    list_terms,
    render_full_schema,
)
from askgraph.methods.tools.terms import resolve_iri
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.trace import Observation

__all__ = ["find_examples", "find_similar_examples", "overview", "shape_of"]

_MAX_FULL_SCHEMA_TOKENS = 500  # tokens of a schema that is shown in full


async def overview(
    context: Context, question: Annotated[str, "what the overview is for"]
) -> Observation:
    """Get what a question names in the graph, and the classes and properties near that.

    Shows the relevant part of a large schema, and all of a small one.
    """
    linked = await link_to_graph(tokenize(question, context.question.language), context.graph)
    schema_slice = SchemaSlice(context.graph, linked)
    near_iris = await asyncio.to_thread(lambda: [predicate.iri for predicate in schema_slice.near])
    mentions = await format_entities(context, await find_mentions(context, linked), near=near_iris)
    writer = await TermWriter.from_iris(context, await asyncio.to_thread(list_terms, schema_slice))
    full_schema = await render_full_schema(context, max_tokens=_MAX_FULL_SCHEMA_TOKENS)
    schema = await asyncio.to_thread(
        lambda: list(
            SchemaLines(schema_slice, writer).write_lines(
                beside_full_schema=full_schema is not None
            )
        )
    )
    profile = context.graph.profile
    cuts = f"; not everything is known: {'; '.join(profile.cuts[:2])}" if profile.cuts else ""
    lines = [
        f"graph {context.graph.name}: {profile.triples:,} triples{cuts}",
        *([f"{HEADING}{describe_naming(context)}.", full_schema.text] if full_schema else []),
        *(["perhaps named in the question:"] if mentions.lines else []),
        *mentions.lines,
        *schema,
    ]
    iris = [*(full_schema.iris if full_schema else ()), *mentions.iris, *writer.written_iris]
    return Observation("\n".join(lines), tuple(dict.fromkeys(iris)))


_MAX_LINES = 25


async def shape_of(context: Context, cls: Annotated[str, "IRI of a class"]) -> Observation:
    """Get what instances of a class have: properties, values, share of instances; ^ leads to them.

    Sorted by the share of instances that have the property; incoming properties come last.

    Raises:
        QueryError: the graph has no instances of the class.
    """
    iri = await resolve_iri(context, cls, sort="entities")
    graph = context.graph
    shape = await load_shape(
        iri, graph.profile, graph.endpoint, arrays=graph.arrays, timeout=context.limits.timeout
    )
    shown_lines, omitted_lines = shape.lines[:_MAX_LINES], shape.lines[_MAX_LINES:]
    if not shown_lines:
        raise QueryError(
            f"nothing in the graph is of the class {context.graph.prefixes.shorten(iri)}; "
            "describe it to see what it is, or search for a class"
        )
    examples = [line.example.value for line in shown_lines if isinstance(line.example, NamedNode)]
    kinds = [kind for line in shown_lines for kind in line.kinds]
    predicates = [line.predicate for line in shape.lines]
    writer = await TermWriter.from_iris(context, [iri, *predicates, *kinds, *examples])
    head = f"{writer.write_iri(iri)}: {shape.instances:,} instances"
    if shape.sampled:
        head += f", {shape.sampled:,} of them looked at"
    lines = [head, *(_format_line(line, shape, writer) for line in shown_lines)]
    if omitted_lines:
        terms = (
            f"{'^' if line.inverse else ''}{writer.write_short(line.predicate)}"
            for line in omitted_lines
        )
        lines.append(f"also: {', '.join(terms)}")
    return Observation("\n".join(lines), tuple(writer.written_iris))


def _format_line(line: ShapeLine, shape: Shape, writer: TermWriter) -> str:
    arrow = "←" if line.inverse else "→"
    kinds = " or ".join(writer.write_iri(kind) for kind in line.kinds)
    name = f"{'^' if line.inverse else ''}{writer.write_iri(line.predicate)}"
    example = f", e.g. {writer.write_term(line.example)}" if line.example is not None else ""
    target = f" {arrow} {kinds}" if kinds else ""
    return f"{name} {_format_share(line, shape)}{target}{example}"


def _format_share(line: ShapeLine, shape: Shape) -> str:
    """Return the share of instances that have a property, and how often on average."""
    share = shape.get_share(line)
    if share is None:
        return f"{line.triples:,} times" if line.triples else "some"
    share_text = "all" if share >= 1 else f"{max(1, round(100 * share))}%"
    if line.triples is None or not line.having:
        return f"{share_text} (some several)"
    average = line.triples / line.having
    return f"{share_text} ({average:.1f} each)" if average >= 1.05 else share_text


_DEFAULT_EXAMPLE_COUNT = 3


async def find_examples(
    context: Context, *, number: int = _DEFAULT_EXAMPLE_COUNT, question: str | None = None
) -> Observation:
    """Get some questions with the SPARQL queries that answer them.

    They are random, but always the same for the same question.
    """
    seed_text = (question or "").strip() or context.question.text
    examples = await asyncio.to_thread(
        exclude_question, context.question.text, context.graph.examples
    )
    return await render_examples(context, sample_examples(seed_text, examples, limit=number))


async def find_similar_examples(
    context: Context,
    question: Annotated[str | None, "default: the user's"] = None,
    *,
    number: int = _DEFAULT_EXAMPLE_COUNT,
    embedder: str = "",
) -> Observation:
    """Get the questions most similar to one, with the SPARQL queries that answer them.

    They are similar in letters and words, or in meaning with an `embedder`.

    Raises:
        ServiceError: the server of the embedder fails.
    """
    search_text = (question or "").strip() or context.question.text
    examples = await asyncio.to_thread(
        exclude_question, context.question.text, context.graph.examples
    )
    matches = await asyncio.to_thread(
        rank_examples, search_text, examples, limit=number, embedder=embedder
    )
    return await render_examples(context, [example for example, _ in matches])
