"""The entities and relations of a question with their labels: linked by us, or given with it."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from askgraph.agent.few_shot import Term
from askgraph.errors import SetupError
from askgraph.index.names import Kind
from askgraph.metadata import PredicateProfile
from askgraph.search.linking.link import Linked
from askgraph.search.run import read_and_linked
from askgraph.tools import Context
from askgraph.tools.hits import entity_lines
from askgraph.tools.mentions import mentioned
from askgraph.tools.schema_lines import SchemaLines
from askgraph.tools.shown import Writer, labels_in
from askgraph.tools.slice import Slice

__all__ = ["AskedTerms", "given_terms", "linked_terms"]

_SCHEMA = 15  # predicates and classes


@dataclass(frozen=True)
class AskedTerms:
    """What a question is about; `ends` are lines of what its relations lead from and to.

    Where there are no such lines, the relations are known by name alone. `values` are lines of
    literals that its words name, with what has them.
    """

    terms: tuple[Term, ...]
    ends: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


async def linked_terms(context: Context, *, ends: bool = False) -> AskedTerms:
    """Return what the words of the question are taken to mean, the things first.

    With `ends` all relations near the words and the things are told, and the values that words
    name: the relation that is needed is often not named in the question.
    """
    linked = await _linked(context)
    found = await mentioned(context, linked)
    things = [one.term.value for one in found if isinstance(one.term, NamedNode)]
    named = linked.of(Kind.PREDICATE, Kind.CLASS)[:_SCHEMA]
    schema = {link.target: link.kind is Kind.PREDICATE for link in named}
    labels = await labels_in(context, [*things, *schema])
    terms = (
        *(Term(iri, labels.get(iri, "")) for iri in things if iri not in schema),
        *(Term(iri, labels.get(iri, ""), relation) for iri, relation in schema.items()),
    )
    if not ends:
        return AskedTerms(terms)
    values = await entity_lines(context, [one for one in found if isinstance(one.term, Literal)])
    lines = await _lines(context, Slice(context.graph, linked))
    return AskedTerms(terms, lines, values.lines)


async def given_terms(context: Context, *, ends: bool = False) -> AskedTerms:
    """Return what came with the question, which may be nothing; with `ends` no relation besides.

    Raises `SetupError` where nobody said what it is about.
    """
    given = context.question.given
    if given is None:
        raise SetupError(
            "links are to be given, but none came with the question; links=linked finds them"
        )
    labels = await labels_in(context, given)
    relations = {predicate.iri: predicate for predicate in context.graph.profile.predicates}
    terms = tuple(Term(iri, labels.get(iri, ""), iri in relations) for iri in given)
    if not ends:
        return AskedTerms(terms)
    chosen = [relations[iri] for iri in given if iri in relations]
    part = Slice(context.graph, await _linked(context))
    return AskedTerms(terms, await _lines(context, part, chosen))


async def _linked(context: Context) -> Linked:
    asked, graph = context.question, context.graph
    return await asyncio.to_thread(read_and_linked, asked.text, asked.language, graph.names)


async def _lines(
    context: Context, part: Slice, chosen: Iterable[PredicateProfile] | None = None
) -> tuple[str, ...]:
    """Lines of predicates, those near the question if none are chosen."""
    told = list(await asyncio.to_thread(lambda: part.near) if chosen is None else chosen)
    classes = (iri for p in told for iri, _ in (*p.subject_classes, *p.object_classes))
    writer = await Writer.knowing(context, [*(p.iri for p in told), *classes])
    lines = SchemaLines(part, writer, kin=True)
    return await asyncio.to_thread(lambda: tuple(lines.properties(told)))
