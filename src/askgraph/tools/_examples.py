"""Questions with their queries as a model reads them; the IRIs in them count as seen."""

from collections.abc import Sequence

from askgraph.explanation import iris_of
from askgraph.metadata.examples import QueryExample
from askgraph.rdf.vocabulary import RDF_TYPE
from askgraph.sparql.layout import formatted
from askgraph.tools import Context
from askgraph.tools.shown import Writer
from askgraph.trace import Observation


async def shown_examples(context: Context, examples: Sequence[QueryExample]) -> Observation:
    """Show examples, each with its question and its query, without the known prefixes."""
    if not examples:
        return Observation("there are no examples for this graph", failed=True)
    iris = list(dict.fromkeys(iri for one in examples for iri in iris_of(one.query)))
    writer = await Writer.knowing(context, iris)
    parts = [f"{_asked(one, writer)}\n{_plain(one.query, context, writer)}" for one in examples]
    return Observation("\n\n".join(parts), (*iris, RDF_TYPE))


def _asked(example: QueryExample, writer: Writer) -> str:
    veil = writer.context.veil
    return writer.text(example.question) if veil is None else veil.checked(example.question)


def _plain(query: str, context: Context, writer: Writer) -> str:
    """A query laid out, labels as comments, without the PREFIX lines that nobody needs."""
    prefixes = context.graph.prefixes
    lines = formatted(query, prefixes, writer.labels).splitlines()
    known = {f"PREFIX {prefix}: <{iri}>" for prefix, iri in prefixes.namespaces.items()}
    body = "\n".join(line for line in lines if line not in known)
    return body if context.veil is None else context.veil.query(body)
