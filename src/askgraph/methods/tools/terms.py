"""Terms that a language model means by what it writes: `a:Titan`, `<http://…>`, `"x"@en`.

Which IRIs a graph holds at all comes from its arrays or its profile, else from one request; beside
an unknown one stand the nearest names.
"""

import asyncio
import contextlib
import re
from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode
from rapidfuzz import fuzz

from askgraph.answers.validation.graph_knowledge import Sort, nearest_names
from askgraph.errors import QueryError, ServiceError
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import Writer, clipped
from askgraph.methods.tools.term_text import ABSOLUTE_IRI, expanded_name, unescaped_text
from askgraph.sparql import vocabulary as v
from askgraph.sparql.prefixes import PrefixMap

_WRITTEN = re.compile(
    r"""(?: <(?P<iri>[^<>"{}|^`\\\x00-\x20]+)>
          | (?P<name>[^<>"{}|^`\s]+?) )
        [,;.]?
        (?: \s+ ["'(].*)?  # the label behind it, as tools show it
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^(\S+))?', re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_LONGEST = 2000
_SHOWN = 80
_NEAR = 50
MOST = 20
"""So many IRIs a remote graph is asked for."""
_PLACES = ("{0} ?p ?o", "?s ?p {0}", "?s {0} ?o")


async def named_node(context: Context, text: str, *, sort: Sort = "") -> str:
    """Return, in full, the IRI that a text means: a prefixed name or an IRI, a label behind it.

    Raises `QueryError`, with the nearest names of the graph, for anything else and for an IRI that
    the graph does not hold; `ServiceError` as the endpoint does.
    """
    iri = _iri_in(text.strip(), context.graph.prefixes)
    if iri is None:
        raise QueryError(await _no_iri(context, text.strip(), sort))
    if await unknown_iris(context, [iri]):
        short = context.graph.prefixes.shorten(iri)

        raise QueryError(
            f"the graph has no {clipped(short, _SHOWN)}{await _near(context, iri, sort)}"
        )
    return iri


async def relations_among(context: Context, iris: Iterable[str]) -> frozenset[str]:
    """Return those of some IRIs that are relations: of the profile, in a triple, or named as such.

    Of those that the profile lacks a graph is asked if they lead anywhere; one that does not is
    named as a relation if all relations known in its namespace, and no class, are so. A graph that
    does not answer is none the wiser.
    """
    profile = context.graph.profile
    known = {predicate.iri for predicate in profile.predicates}
    asked = [iri for iri in dict.fromkeys(iris) if ABSOLUTE_IRI.fullmatch(iri)]
    missing = [iri for iri in asked if iri not in known]
    spaces = {_namespace(iri) for iri in known} - {_namespace(one.iri) for one in profile.classes}
    found = {iri for iri in missing if _namespace(iri) in spaces}
    left = [iri for iri in missing if iri not in found][:MOST]
    if left:
        each = (f"{{ SELECT (<{iri}> AS ?p) {{ ?s <{iri}> ?o }} LIMIT 1 }}" for iri in left)
        query = f"SELECT DISTINCT ?p WHERE {{ {' UNION '.join(each)} }}"
        with contextlib.suppress(QueryError, ServiceError):
            result = await context.graph.endpoint.select(query, timeout=context.limits.timeout)
            found |= {str(getattr(term, "value", "")) for (term,) in result.rows}
    return frozenset(found | (known & set(asked)))


def _namespace(iri: str) -> str:
    return re.split(r"[^/#]*\Z", iri)[0]


async def object_term(context: Context, text: str) -> NamedNode | Literal:
    """Return the object that a text means: an IRI, a literal in quotes, a plain number or boolean.

    Raises `QueryError` for anything else, and for an IRI that the graph does not hold.
    """
    plain = text.strip()
    if number := _NUMBER.fullmatch(plain):
        kind = v.XSD_DECIMAL if number[1] else v.XSD_INTEGER
        return Literal(plain, datatype=NamedNode(kind))
    if plain in ("true", "false"):
        return Literal(plain, datatype=NamedNode(v.XSD_BOOLEAN))
    if not plain.startswith('"'):
        return NamedNode(await named_node(context, plain))
    quoted = _QUOTED.fullmatch(plain)
    if quoted is None:
        raise QueryError(f"{plain[:80]!r} is no literal: write it as in SPARQL, quotes escaped")
    value, language, datatype = unescaped_text(quoted[1]), quoted[2], quoted[3]
    if language:
        try:
            return Literal(value, language=language)
        except ValueError as problem:
            raise QueryError(f"{language!r} is no language: write a tag such as en or pt-BR") from (
                problem
            )
    return _typed(value, datatype, context.graph.prefixes) if datatype else Literal(value)


def nearest_prefixes(prefix: str, prefixes: PrefixMap) -> tuple[str, ...]:
    """Return the at most three known prefixes most like one; the graph's own if none is."""
    alike = {known: fuzz.ratio(prefix, known) for known in prefixes.namespaces}
    near = [known for known, score in alike.items() if score >= _NEAR]
    return tuple(sorted(near, key=lambda known: -alike[known])[:3] or list(prefixes.own)[:3])


def _typed(value: str, datatype: str, prefixes: PrefixMap) -> Literal:
    try:
        return Literal(value, datatype=NamedNode(prefixes.expand(datatype)))
    except (KeyError, ValueError) as problem:
        raise QueryError(f"{datatype!r} is no datatype: write prefix:name or <http://…>") from (
            problem
        )


def _iri_in(text: str, prefixes: PrefixMap) -> str | None:
    found = _WRITTEN.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None or text.startswith(("_:", "?", "$")):
        return None
    written = found["iri"] or found["name"]
    if written == "a":
        return v.RDF_TYPE
    known = expanded_name(written, prefixes)
    if known is not None and not found["iri"]:
        return known
    is_whole = found["iri"] or "://" in written or written.startswith("urn:")
    return written if is_whole and ABSOLUTE_IRI.fullmatch(written) else None


async def _no_iri(context: Context, text: str, sort: Sort) -> str:
    shown = repr(clipped(" ".join(text.split()), _SHOWN))
    if not text:
        return "an IRI is missing: write it as prefix:name or <http://…>"
    if text.startswith("_:"):
        return (
            f"{shown} is a blank node, which cannot be asked for by name: start from the thing it "
            "hangs on, or use a variable in a query"
        )
    if text[0] in "?$":
        return f"{shown} is a variable; an IRI is wanted: prefix:name or <http://…>"
    prefix, colon, local = text.partition(":")
    is_name = colon and local and re.fullmatch(r"[\w.-]*", prefix) and local[:2] != "//"
    if is_name and prefix not in context.graph.prefixes.namespaces:
        near = nearest_prefixes(prefix, context.graph.prefixes)
        listed = ", ".join(f"{one}:" for one in near)
        hint = f" (known: {listed})" if near else ""
        return f"the prefix {prefix + ':'!r} is unknown{hint}{await _near(context, local, sort)}"
    return f"{shown} is no IRI: write prefix:name or <http://…>{await _near(context, text, sort)}"


async def _near(context: Context, name: str, sort: Sort) -> str:
    found = await in_nearest_words(context, name, sort=sort)
    return f"; nearest: {found}" if found else ""


async def nearest(context: Context, name: str, *, sort: Sort = "") -> tuple[str, ...]:
    """Return the at most three IRIs of the graph whose names come nearest to an IRI or a text."""
    return await asyncio.to_thread(nearest_names, context.graph, name, sort=sort)


async def in_nearest_words(context: Context, name: str, *, sort: Sort = "") -> str:
    """Return the nearest IRIs as a model reads them, commas between; they count as seen."""
    found = await nearest(context, name, sort=sort)
    writer = await Writer.knowing(context, found)
    text = ", ".join(writer.iri(iri) for iri in found)
    context.seen.update(writer.seen)
    return text


async def unknown_iris(context: Context, iris: Iterable[str]) -> tuple[str, ...]:
    """Return those of the IRIs that no triple of the graph holds, in the order given.

    A remote graph is asked about the first 20 that its profile does not tell; the others count as
    known. Raises `ServiceError` as the endpoint does.
    """
    wanted = tuple(dict.fromkeys(iris))
    graph = context.graph
    if graph.arrays is not None and graph.arrays.complete:
        terms = graph.arrays.terms
        return tuple(iri for iri in wanted if terms.iri(iri) is None)
    profile = {item.iri for item in graph.profile.classes}
    profile |= {item.iri for item in graph.profile.predicates}
    open_ones = [iri for iri in wanted if iri not in profile][:MOST]
    if not open_ones:
        return ()
    result = await graph.endpoint.select(
        _question(open_ones), timeout=context.limits.timeout, limit=len(_PLACES) * MOST
    )
    found = {int(n.value) for (n,) in result.rows if isinstance(n, Literal) and n.value.isdigit()}
    return tuple(iri for at, iri in enumerate(open_ones) if at not in found)


def _question(iris: Sequence[str]) -> str:
    """One query with the number of each IRI that is a subject, an object or a predicate."""
    parts = [
        f"{{ SELECT ({at} AS ?n) WHERE {{ {place.format(f'<{iri}>')} }} LIMIT 1 }}"
        for at, iri in enumerate(iris)
        for place in _PLACES
    ]
    return f"SELECT ?n WHERE {{ {' UNION '.join(parts)} }} LIMIT {len(parts)}"
