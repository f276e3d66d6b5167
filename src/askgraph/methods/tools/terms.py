"""Resolve terms that a language model writes: `a:Titan`, `<http://…>`, `"x"@en`.

Arrays, the profile or one request decide which IRIs a graph contains. Errors about unknown IRIs
name the nearest names.
"""

import asyncio
import contextlib
import re
from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode
from rapidfuzz import fuzz

from askgraph.answers.validation.graph_knowledge import NameScope, find_similar_names
from askgraph.errors import QueryError, ServiceError
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import TermWriter, clip_text
from askgraph.methods.tools.term_text import expand_name, is_absolute_iri
from askgraph.sparql import vocabulary as v
from askgraph.sparql.lexer import unescape_string
from askgraph.sparql.prefixes import PrefixMap

_IRI_TEXT = re.compile(
    r"""(?: <(?P<iri>[^<>"{}|^`\\\x00-\x20]+)>
          | (?P<name>[^<>"{}|^`\s]+?) )
        [,;.]?
        (?: \s+ ["'(].*)?  # the label behind it, as tools show it
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED_LITERAL = re.compile(
    r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(\S+))?', re.DOTALL
)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_MAX_TEXT_CHARACTERS = 2000
_MAX_SHOWN_CHARACTERS = 80
_MIN_PREFIX_SCORE = 50
MAX_REQUESTED_IRIS = 20
"""IRIs that a remote graph is asked about at most."""
_TRIPLE_PATTERNS = ("{0} ?p ?o", "?s ?p {0}", "?s {0} ?o")


async def resolve_iri(context: Context, text: str, *, sort: NameScope = "") -> str:
    """Return the full IRI of a text: a prefixed name or an IRI, with or without a label behind it.

    Raises:
        QueryError: the text is no IRI, or the graph does not contain it; with the nearest names.
        ServiceError: the endpoint fails.
    """
    iri = _parse_iri(text.strip(), context.graph.prefixes)
    if iri is None:
        raise QueryError(await _explain_missing_iri(context, text.strip(), sort))
    if await filter_unknown_iris(context, [iri]):
        short = context.graph.prefixes.shorten(iri)

        raise QueryError(
            "the graph has no "
            f"{clip_text(short, _MAX_SHOWN_CHARACTERS)}{await _suggest_nearest(context, iri, sort)}"
        )
    return iri


async def find_relations(context: Context, iris: Iterable[str]) -> frozenset[str]:
    """Return the IRIs that are relations: in the profile, in a triple, or by their namespace.

    A namespace counts if all its known terms are relations and none is a class. Other IRIs are
    looked up in the graph; if the graph does not answer, they are left out.
    """
    profile = context.graph.profile
    predicates = {predicate.iri for predicate in profile.predicates}
    valid_iris = [iri for iri in dict.fromkeys(iris) if is_absolute_iri(iri)]
    missing = [iri for iri in valid_iris if iri not in predicates]
    relation_namespaces = {_get_namespace(iri) for iri in predicates} - {
        _get_namespace(cls.iri) for cls in profile.classes
    }
    relations = {iri for iri in missing if _get_namespace(iri) in relation_namespaces}
    unresolved = [iri for iri in missing if iri not in relations][:MAX_REQUESTED_IRIS]
    if unresolved:
        subqueries = (
            f"{{ SELECT (<{iri}> AS ?p) {{ ?s <{iri}> ?o }} LIMIT 1 }}" for iri in unresolved
        )
        query = f"SELECT DISTINCT ?p WHERE {{ {' UNION '.join(subqueries)} }}"
        with contextlib.suppress(QueryError, ServiceError):
            result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
            relations |= {str(getattr(term, "value", "")) for (term,) in result.rows}
    return frozenset(relations | (predicates & set(valid_iris)))


def _get_namespace(iri: str) -> str:
    return re.split(r"[^/#]*\Z", iri)[0]


async def resolve_object(context: Context, text: str) -> NamedNode | Literal:
    """Return the object of a text: an IRI, a literal in quotes, a plain number or boolean.

    Raises:
        QueryError: the text is anything else, or an IRI that the graph does not contain.
    """
    plain = text.strip()
    if number := _NUMBER.fullmatch(plain):
        return Literal(plain, datatype=NamedNode(v.XSD_DECIMAL if number[1] else v.XSD_INTEGER))
    if plain in ("true", "false"):
        return Literal(plain, datatype=NamedNode(v.XSD_BOOLEAN))
    if not plain.startswith('"'):
        return NamedNode(await resolve_iri(context, plain))
    match = _QUOTED_LITERAL.fullmatch(plain)
    if match is None:
        raise QueryError(
            f"{plain[:80]!r} is not a literal: write it as in SPARQL, with escaped quotes"
        )
    value, language, datatype = unescape_string(match[1]), match[2], match[3]
    if language:
        try:
            return Literal(value, language=language)
        except ValueError as problem:
            raise QueryError(
                f"{language!r} is not a language tag: write one such as en or pt-BR"
            ) from problem
    if not datatype:
        return Literal(value)
    try:
        return Literal(value, datatype=NamedNode(context.graph.prefixes.expand(datatype)))
    except (KeyError, ValueError) as problem:
        raise QueryError(
            f"{datatype!r} is not a datatype: write prefix:name or <http://…>"
        ) from problem


def find_nearest_prefixes(prefix: str, prefixes: PrefixMap) -> tuple[str, ...]:
    """Return the at most three most similar known prefixes, else the graph's own."""
    scores = {name: fuzz.ratio(prefix, name) for name in prefixes.namespaces}
    similar = [name for name, score in scores.items() if score >= _MIN_PREFIX_SCORE]
    return tuple(
        sorted(similar, key=lambda name: -scores[name])[:3] or list(prefixes.own_prefixes)[:3]
    )


def _parse_iri(text: str, prefixes: PrefixMap) -> str | None:
    match = _IRI_TEXT.fullmatch(text) if len(text) <= _MAX_TEXT_CHARACTERS else None
    if match is None or text.startswith(("_:", "?", "$")):
        return None
    iri_text = match["iri"] or match["name"]
    if iri_text == "a":
        return v.RDF_TYPE
    expanded = expand_name(iri_text, prefixes)
    if expanded is not None and not match["iri"]:
        return expanded
    is_full = match["iri"] or "://" in iri_text or iri_text.startswith("urn:")
    return iri_text if is_full and is_absolute_iri(iri_text) else None


async def _explain_missing_iri(context: Context, text: str, sort: NameScope) -> str:
    quoted_text = repr(clip_text(" ".join(text.split()), _MAX_SHOWN_CHARACTERS))
    if not text:
        return "an IRI is missing: write it as prefix:name or <http://…>"
    if text.startswith("_:"):
        return (
            f"{quoted_text} is a blank node, which cannot be asked for by name: start from the "
            "thing it hangs on, or use a variable in a query"
        )
    if text[0] in "?$":
        return f"{quoted_text} is a variable; an IRI is wanted: prefix:name or <http://…>"
    prefix, colon, local = text.partition(":")
    is_name = colon and local and re.fullmatch(r"[\w.-]*", prefix) and local[:2] != "//"
    if is_name and prefix not in context.graph.prefixes.namespaces:
        similar = find_nearest_prefixes(prefix, context.graph.prefixes)
        prefix_list = ", ".join(f"{name}:" for name in similar)
        hint = f" (known: {prefix_list})" if similar else ""
        return (
            f"the prefix {prefix + ':'!r} is "
            f"unknown{hint}{await _suggest_nearest(context, local, sort)}"
        )
    return (
        f"{quoted_text} is not an IRI: write prefix:name or "
        f"<http://…>{await _suggest_nearest(context, text, sort)}"
    )


async def _suggest_nearest(context: Context, name: str, sort: NameScope) -> str:
    """Return the nearest IRIs as text for a model; they count as shown."""
    nearest_iris = await find_nearest(context, name, sort=sort)
    writer = await TermWriter.from_iris(context, nearest_iris)
    names = ", ".join(writer.write_iri(iri) for iri in nearest_iris)
    context.shown_iris.update(writer.written_iris)
    return f"; nearest: {names}" if names else ""


async def find_nearest(context: Context, name: str, *, sort: NameScope = "") -> tuple[str, ...]:
    """Return the at most three IRIs of the graph with the names nearest to an IRI or a text."""
    return await asyncio.to_thread(find_similar_names, context.graph, name, scope=sort)


async def filter_unknown_iris(context: Context, iris: Iterable[str]) -> tuple[str, ...]:
    """Return the IRIs that no triple of the graph contains, in the given order.

    A remote graph is asked about the first 20 that its profile lacks; the others count as known.

    Raises:
        ServiceError: the endpoint fails.
    """
    distinct_iris = tuple(dict.fromkeys(iris))
    graph = context.graph
    if graph.arrays is not None and graph.arrays.complete:
        terms = graph.arrays.terms
        return tuple(iri for iri in distinct_iris if terms.find_iri(iri) is None)
    profile_iris = {item.iri for item in graph.profile.classes}
    profile_iris |= {item.iri for item in graph.profile.predicates}
    unresolved = [iri for iri in distinct_iris if iri not in profile_iris][:MAX_REQUESTED_IRIS]
    if not unresolved:
        return ()
    parts = [
        f"{{ SELECT ({at} AS ?n) WHERE {{ {pattern.format(f'<{iri}>')} }} LIMIT 1 }}"
        for at, iri in enumerate(unresolved)
        for pattern in _TRIPLE_PATTERNS
    ]
    result = await graph.endpoint.select(
        f"SELECT ?n WHERE {{ {' UNION '.join(parts)} }} LIMIT {len(parts)}",
        timeout=context.limits.timeout,
        limit=len(_TRIPLE_PATTERNS) * MAX_REQUESTED_IRIS,
    )
    known_indices = {
        int(n.value) for (n,) in result.rows if isinstance(n, Literal) and n.value.isdigit()
    }
    return tuple(iri for at, iri in enumerate(unresolved) if at not in known_indices)
