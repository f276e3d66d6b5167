"""List the triples at given places: the telling ones first, every predicate at least by name."""

import asyncio
import re
from dataclasses import replace
from typing import Annotated

from pyoxigraph import Literal, NamedNode

from askgraph.errors import QueryError
from askgraph.rdf import vocabulary as v
from askgraph.sparql.lexer import lexed
from askgraph.tools import Context
from askgraph.tools._triples import (
    Fixed,
    asked_examples,
    asked_groups,
    chosen,
    lines_of,
    own_groups,
    told,
    where,
)
from askgraph.tools.named import expanded_name, unescaped_text
from askgraph.tools.terms import named_node
from askgraph.trace import Observation
from askgraph.validation.nearest import Sort

__all__ = ["list_triples"]

_LANGUAGES = 6
_NAME = re.compile(r"[A-Za-z][\w.-]*:[^\s/]\S*")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_DATE = re.compile(r"-?\d{4,}-\d\d-\d\d")


async def list_triples(
    context: Context,
    subject: Annotated[str | None, "IRI"] = None,
    predicate: Annotated[str | None, "IRI"] = None,
    object: Annotated[str | None, "IRI, or a literal's text"] = None,
) -> Observation:
    """List triples by subject, predicate or object; give at least one.

    At most `limits.triples` are shown, a few of each predicate: frequent ones first, what the run
    has shown before last, and all other predicates by name, unlike `LST` of the GRASP paper
    (section 3.2). Predicates that are one property take one line. Raises `QueryError` for a blank
    node and for an IRI that the graph does not hold.
    """
    if not any(text and text.strip() for text in (subject, predicate, object)):
        raise QueryError("give a subject, a predicate or an object: prefix:name or <http://…>")
    fixed = Fixed(
        await _node(context, subject, "entities"),
        await _node(context, predicate, "properties"),
        await _objects(context, (object or "").strip()),
    )
    arrays = context.graph.arrays
    if arrays is not None and arrays.complete:
        groups = await asyncio.to_thread(lambda: list(own_groups(arrays, fixed)))
    else:
        groups = await asked_groups(context, fixed)
    if not groups:
        said = await where(context, fixed)
        return Observation(f"no triple {said.text}", said.seen, rows=0)
    most = context.limits.triples
    lines = lines_of(context, groups)
    shown = lines[:most]
    if arrays is None or not arrays.complete:
        each = 2 * -(-most // len(shown))
        fetched = await asked_examples(context, fixed, [line.lead for line in shown], each=each)
        shown = [replace(line, lead=lead) for line, lead in zip(shown, fetched, strict=True)]
    said = await told(context, fixed, chosen(context, shown, most), lines)
    return Observation(said.text, said.seen, rows=sum(group.count for group in groups))


async def _node(context: Context, text: str | None, sort: Sort) -> NamedNode | None:
    if text is None or not text.strip():
        return None
    return NamedNode(await named_node(context, text, sort=sort))


async def _objects(context: Context, text: str) -> tuple[NamedNode | Literal, ...]:
    """The IRI that a text means, or the literals of the graph that it may stand for."""
    if not text:
        return ()
    first = next(iter(lexed(text).all), None)
    if first is not None and first.kind == "string":
        return _literals(context, unescaped_text(first.text.strip("\"'")))
    known = expanded_name(text.split()[0], context.graph.prefixes)
    if known or _NAME.fullmatch(text) or text.startswith("<") or "://" in text.split()[0]:
        return (NamedNode(await named_node(context, text)),)
    if text.startswith("_:"):
        await named_node(context, text)
    return _literals(context, text)


def _literals(context: Context, text: str) -> tuple[Literal, ...]:
    arrays = context.graph.arrays
    if arrays is not None and arrays.complete:
        there = arrays.terms.starting(str(Literal(text)))
        found = [arrays.terms.term(at) for at in there[: context.limits.candidates]]
        return tuple(one for one in found if isinstance(one, Literal)) or (Literal(text),)
    spoken = [language for language, _ in context.graph.profile.languages if language]
    tags = dict.fromkeys([context.language, "en", *spoken[:_LANGUAGES]])
    datatypes: list[str] = []
    if _NUMBER.fullmatch(text):
        datatypes += [v.XSD_DECIMAL if "." in text else v.XSD_INTEGER, v.XSD_DOUBLE, v.XSD_FLOAT]
        datatypes += [v.XSD_G_YEAR] if text.isdigit() and len(text) == 4 else []
    elif _DATE.fullmatch(text):
        datatypes.append(v.XSD_DATE)
    return (
        Literal(text),
        *(Literal(text, language=tag) for tag in tags),
        *(Literal(text, datatype=NamedNode(iri)) for iri in datatypes),
    )
