"""The searches in words: what was looked through, how many match, the best of them."""

from collections.abc import Sequence

from pyoxigraph import Variable

from askgraph.sparql.tree import Group
from askgraph.tools import Context
from askgraph.tools._candidates import (
    Candidates,
    Sort,
    candidates_of,
    found_anywhere,
    found_within,
)
from askgraph.tools.hits import Found, HitLines, entity_lines, property_lines
from askgraph.tools.shown import quoted
from askgraph.trace import Observation

__all__ = ["searched", "searched_within", "shown"]

_CLIP = 60
_LONGEST = 500
_INSTEAD = 5  # candidates shown where none matches


async def searched(context: Context, text: str, sort: Sort) -> Observation:
    """Search the whole graph for a text."""
    text = _clean(text)
    if not text:
        return Observation("search for what? The text is empty", failed=True)
    found = await found_anywhere(context, text, sort)
    if not found:
        return Observation(
            f"nothing found for {_quoted(text)}. Try other words, fewer words, the singular, "
            f"a synonym, or the name in another language{_missing(context, sort)}"
        )
    page = await shown(context, found, sort)
    return Observation("\n".join(page.lines), page.seen)


async def searched_within(
    context: Context, where: Group, variable: Variable, text: str, sort: Sort, *, what: str
) -> Observation:
    """Search what a variable of a pattern may be; `what` names that, as `objects of wdt:P31`."""
    text = _clean(text)
    candidates = await candidates_of(context, where, variable)
    if not candidates.terms and not candidates.trouble:
        return Observation(f"there are no {what}")
    found = await found_within(context, candidates, text, sort)
    head = _head(context, candidates, found, text, what)
    if not found and not candidates.trouble:
        found = (await found_within(context, candidates, "", sort))[:_INSTEAD]
    page = await shown(context, found, sort)
    return Observation("\n".join([head, *page.lines]), page.seen)


async def shown(context: Context, found: Sequence[Found], sort: Sort) -> HitLines:
    """Show hits as what they are."""
    if not found:
        return HitLines()
    return await (property_lines if sort == "properties" else entity_lines)(context, found)


def _clean(text: str) -> str:
    """A text as an index takes it: halves of characters out, nothing beyond what a name has."""
    return " ".join(text[:_LONGEST].encode(errors="replace").decode().split())


def _head(
    context: Context, candidates: Candidates, found: Sequence[Found], text: str, what: str
) -> str:
    every = f"{len(candidates.terms):,} {what}"
    if not text:
        few = len(found) < len(candidates.terms)
        most = f", the {len(found)} most frequent" if few else ""
        trouble = f"{candidates.trouble}: " if candidates.trouble else ""
        return f"{trouble}{every}{most}:" if found else f"{what}: {candidates.trouble}"
    if candidates.trouble:
        tried = f"{what}: {candidates.trouble}; so {_quoted(text)} was searched in the whole graph"
        fits = f"{len(found)} that fit were found:" if found else "none of the best hits fits"
        return f"{tried}, and {fits}"
    if not found:
        return f"none of the {every} matches {_quoted(text)}; the most frequent are:"
    more = " best matches" if len(found) >= context.limits.hits else " matching"
    return f"{every}, {len(found)}{more} for {_quoted(text)}:"


def _quoted(text: str) -> str:
    return quoted(text, _CLIP)


def _missing(context: Context, sort: Sort) -> str:
    return "" if sort in context.graph.indices else f" (this graph has no index of {sort})"
