"""The profile of a graph behind an endpoint, within a bound of queries and seconds, resumably.

A small graph is fetched and profiled exactly. Of a big one the endpoint counts what it can: for
all predicates in one query if it answers in time, else for some at a time, else in a sample.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from askgraph.endpoint import Endpoint
from askgraph.errors import ServiceError
from askgraph.graph.arrays import build_arrays
from askgraph.graph.bounded_queries import Inquiry, all_triples
from askgraph.graph.local_profile import own_types, profile_of
from askgraph.graph.names import acronym, names_in, schema_names, short_value, standard_naming
from askgraph.graph.profile import (
    CLASSES,
    ENTITY_NAMES,
    GRAPHS,
    PARTITIONS,
    PREDICATES,
    TRIPLES,
    Part,
    PredicateProfile,
    Profile,
    merged,
    united,
    with_parts,
)
from askgraph.graph.survey import Facts, Graphs, ask_graphs, ask_size, can_count
from askgraph.graph.survey.classes import (
    ask_classes,
    ask_descriptions,
    ask_texts,
    ask_uncounted,
    ask_wikibase,
)
from askgraph.graph.survey.partitions import ask_partitions
from askgraph.graph.survey.predicates import (
    ask_chains,
    ask_distinct,
    ask_ends,
    ask_mirrors,
    ask_predicates,
    ask_samples,
    fill_ends,
)
from askgraph.index.name_search import PLAIN
from askgraph.index.names import Kind, Name
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import with_types
from askgraph.sparql.results import Row, Term

SMALL = 50_000
"""A graph of at most so many triples is fetched as a whole."""

Told = Callable[[str, int, int | None], None]
Search = Callable[[Profile], Awaitable[str]]
"""Finds the name of the search for names that a graph's endpoint has."""


@dataclass(frozen=True)
class Bounds:
    """The most that profiling an endpoint may cost, in queries and in seconds."""

    queries: int = 200
    seconds: float = 120.0


async def profile_endpoint(
    endpoint: Endpoint,
    *,
    max_queries: int = 200,
    max_seconds: float = 120.0,
    progress: Told | None = None,
    resume: Path | None = None,
    one_by_one: bool = False,
    later: Path | None = None,
    known: Profile | None = None,
    search: Search | None = None,
) -> tuple[Profile, list[Name]]:
    """Return the profile of an endpoint's graph, and the names in it.

    `resume` is a file that keeps the replies until all is done, so that a later call goes on where
    this one was stopped; those replies cost nothing of the bound. If a higher bound might bring
    more, they are kept as `later`, for a call with that. `known` is an account of the graph that
    was made elsewhere: what it holds is not asked for. If there are more names than can be read
    page by page, those of things are read only if `search` finds no search for names. What the
    bound, or a query that the endpoint could not answer, left out is said in `Profile.cuts`, and in
    numbers in `Profile.completeness`. With `one_by_one` each named graph is asked of alone, within
    its share of the bound, and the profiles are united. An endpoint whose default graph is empty is
    asked of all its named graphs together. Raises `ServiceError` if the endpoint does not answer at
    all.
    """

    def inquiry(bounds: Bounds, graphs: Sequence[str] = ()) -> Inquiry:
        return Inquiry(
            endpoint,
            max_queries=bounds.queries,
            max_seconds=bounds.seconds,
            journal=resume,
            progress=progress,
            graphs=graphs,
        )

    bounds = Bounds(max_queries, max_seconds)
    if one_by_one:
        later, found = None, await _one_by_one(inquiry, bounds, endpoint.address)
    else:
        with inquiry(bounds) as asked:
            found = await _profiled(asked, endpoint.address, known, search)
        if not (asked.hurried and found[0].cuts):
            later = None
    _forget(resume, later)
    return found


def _forget(journal: Path | None, later: Path | None) -> None:
    if journal is not None and later is not None:
        journal.replace(later)
    elif journal is not None:
        journal.unlink(missing_ok=True)


async def _one_by_one(
    inquiry: Callable[[Bounds, Sequence[str]], Inquiry], bounds: Bounds, source: str
) -> tuple[Profile, list[Name]]:
    began = time.monotonic()
    with inquiry(bounds, ()) as asked:
        graphs, part = await ask_graphs(asked)
        used = asked.asked
    if not graphs:
        raise ServiceError(f"{source} names no graph that could be asked of alone")
    profiles, names = [], list[Name]()
    for at, (graph, _) in enumerate(graphs):
        rest = len(graphs) - at
        seconds = (bounds.seconds - (time.monotonic() - began)) / rest
        share = Bounds(max(1, (bounds.queries - used) // rest), max(1.0, seconds))
        with inquiry(share, (graph,)) as asked:
            profile, some = await _profiled(asked, source)
            used += asked.asked
        profiles.append(replace(profile, graphs=((graph, profile.triples),)))
        names += some
    whole = united(profiles)
    parts = with_parts(whole.completeness, {GRAPHS: part})
    return replace(whole, completeness=parts), list(dict.fromkeys(names))


async def _profiled(
    inquiry: Inquiry, source: str, known: Profile | None = None, search: Search | None = None
) -> tuple[Profile, list[Name]]:
    total = await ask_size(inquiry, small=SMALL)
    cuts: tuple[str, ...] = ()
    graphs: Graphs | None = () if inquiry.graphs else None
    part: Part | None = None
    if graphs is None and (total == 0 or (total is None and not await _any(inquiry))):
        graphs, part = await ask_graphs(inquiry)
        if graphs:
            inquiry.over([graph for graph, _ in graphs])
            total = await ask_size(inquiry, small=SMALL)
            union = f"this is the union of {len(graphs):,} named graphs"
            cuts = (f"the default graph is empty: {union}",)
    profile, names = await _told(inquiry, total, source, known, search)
    if cuts and part and part.total is None:
        profile = _of_some(profile, f"of {len(graphs or ()):,} named graphs; there are more")
    if graphs is None:
        graphs, part = await ask_graphs(inquiry)
    parts = with_parts(profile.completeness, {GRAPHS: part} if part else {})
    return (replace(profile, graphs=graphs, completeness=parts, cuts=(*cuts, *profile.cuts)), names)


async def _any(inquiry: Inquiry) -> bool:
    """Return whether the default graph holds a triple, or might."""
    reply = await inquiry.rows("any triple", "SELECT ?s { ?s ?p ?o } LIMIT 1")
    return reply is None or bool(reply.rows)


def _of_some(profile: Profile, note: str) -> Profile:
    """Return the profile of a part of a graph: how much there is in all is not known."""
    wholes = {TRIPLES, CLASSES, PREDICATES, PARTITIONS}
    parts = {
        part.name: replace(part, total=None, note=note)
        for part in profile.completeness
        if part.name in wholes
    }
    return replace(profile, completeness=with_parts(profile.completeness, parts))


async def _told(
    inquiry: Inquiry,
    total: int | None,
    source: str,
    known: Profile | None,
    search: Search | None,
) -> tuple[Profile, list[Name]]:
    pages = await all_triples(inquiry, total) if total is not None and total <= SMALL else None
    if pages is not None:
        arrays = build_arrays(pages.triples)
        if own := own_types(arrays):
            arrays = build_arrays(with_types(pages.triples, own))
        profile = replace(profile_of(arrays, source=source), cuts=pages.cuts)
        if total is not None and len(pages.triples) < total:
            profile = _of_some(profile, "some triples did not come")
            triples = Part(TRIPLES, len(pages.triples), total, "some did not come")
            parts = with_parts(profile.completeness, {TRIPLES: triples})
            profile = replace(profile, completeness=parts)
        return profile, list(names_in(arrays, profile))
    created = datetime.now(UTC).isoformat(timespec="seconds")
    total = total or (known.triples if known else None)
    facts = await (_described(inquiry, known) if known else _surveyed(inquiry, total))
    profile = facts.profile(total, source=source, created=created)
    if known:
        profile = merged(replace(known, source=source, created=created), profile)
    if not profile.predicates:
        bound = "the bound was reached before it could" if inquiry.exhausted else "no triples"
        why = inquiry.only_reason or "; ".join(inquiry.failed) or bound
        if why.startswith(source):
            raise ServiceError(why)
        raise ServiceError(f"{source} did not tell what it holds: {why}")
    if search and sum(p.triples for p in _naming(profile)) > _READ_AT_MOST:
        profile = replace(profile, name_search=await search(profile))
    names, cuts, part = await remote_names(inquiry, profile, facts.properties.values())
    parts = with_parts(profile.completeness, {part.name: part} if part else {})
    profile = replace(profile, completeness=parts)
    failed = (f"the endpoint could not say: {failure}" for failure in inquiry.failed)
    return replace(profile, cuts=(*profile.cuts, *cuts, *failed)), names


async def _surveyed(inquiry: Inquiry, total: int | None) -> Facts:
    """Ask what a profile holds, the cheapest first: one can be made of it at any time."""
    facts = Facts()
    inquiry.wary = True
    await ask_predicates(inquiry, facts, total)
    await ask_wikibase(inquiry, facts)
    counts = any(facts.triples.values()) or not facts.predicates() or await can_count(inquiry)
    await (ask_classes if counts else ask_uncounted)(inquiry, facts)
    await ask_descriptions(inquiry, facts)
    if counts:
        await ask_samples(inquiry, facts)
    await ask_texts(inquiry, facts)
    if counts:
        await ask_distinct(inquiry, facts)
        await ask_ends(inquiry, facts)
        await ask_partitions(inquiry, facts)
        fill_ends(facts)
        await ask_texts(inquiry, facts)
    await ask_chains(inquiry, facts)
    await ask_mirrors(inquiry, facts)
    if inquiry.exhausted:
        facts.cuts.append("the bound of queries or seconds was reached before all was known")
    counted = total if total is not None else sum(facts.triples.values())
    facts.parts[TRIPLES] = Part(TRIPLES, counted, total)
    return facts


async def _described(inquiry: Inquiry, known: Profile) -> Facts:
    """Ask only for what an account made elsewhere may lack: labels, some ends, sample texts."""
    facts = Facts({one.iri: one.instances for one in known.classes})
    for one in known.predicates:
        facts.triples[one.iri], facts.subjects[one.iri] = one.triples, one.subjects
        facts.objects[one.iri] = one.objects
    await ask_descriptions(inquiry, facts)
    await ask_samples(inquiry, facts)
    await ask_texts(inquiry, facts)
    return facts


_ALL = 0.98  # of what is expected, from which on nothing is missed
_READ_AT_MOST = 100_000  # names, if the endpoint can look for them itself
_PAGE = 50_000
_ORDERED = 100_000
_TEXTUAL = frozenset({v.XSD_STRING, v.RDF_LANG_STRING})


async def remote_names(
    inquiry: Inquiry, profile: Profile, properties: Iterable[str] = ()
) -> tuple[list[Name], list[str], Part | None]:
    """Return the names of classes, predicates, entities and short values; and what is missing.

    Those of `properties` are their predicates', and no entities'.
    The part is how many names of entities were read, if these are not all.
    """
    names = list(schema_names(profile))
    schema = {c.iri for c in profile.classes} | {p.iri for p in profile.predicates}
    schema.update(properties)
    cuts: list[str] = []
    read = total = 0
    pager = _Pager(inquiry)
    searched = profile.name_search not in ("", PLAIN)
    for predicate in _naming(profile):
        if searched:
            total += predicate.triples
            continue
        preferred = predicate.naming == "name"
        wanted = _Wanted(predicate, "SELECT ?s ?o", "names", predicate.triples)
        rows = await pager.all_of(wanted, keep=0.1)
        names += _entity_names(rows, schema, preferred=preferred)
        cuts += _missing(wanted, len(rows))
        read, total = read + len(rows), total + wanted.expected
    for predicate in _valued(profile):
        wanted = _Wanted(predicate, "SELECT DISTINCT ?o", "values", predicate.objects)
        rows = await pager.all_of(wanted)
        names += _value_names(row[-1] for row in rows)
        cuts += _missing(wanted, len(rows))
        if predicate.naming:
            read, total = read + len(rows), total + wanted.expected
    known = total and read >= _ALL * total
    why = f"the endpoint is asked by the search {profile.name_search!r}" if searched else ""
    return names, cuts, None if known else Part(ENTITY_NAMES, read, total or None, why)


def _naming(profile: Profile) -> list[PredicateProfile]:
    """Standard name predicates: preferred names before alternative ones.

    In a Wikibase, `schema:name` is what pages are called, or repeats a label.
    """
    found = [p for p in profile.predicates if p.naming and standard_naming(p.iri)]
    if any(p.iri == v.WIKIBASE_DIRECT for p in profile.predicates):
        found = [p for p in found if p.iri != v.SCHEMA_NAME]
    return sorted(found, key=lambda p: (p.naming != "name", p.triples))


def _valued(profile: Profile) -> list[PredicateProfile]:
    """Predicates whose values may be mentioned: the graph's own names, then few values first."""
    found = [
        p
        for p in profile.predicates
        if not standard_naming(p.iri)
        and p.iri not in v.DESCRIPTION_PREDICATES
        and dict(p.datatypes).keys() & _TEXTUAL
    ]
    return sorted(found, key=lambda p: (not p.naming, p.objects))


@dataclass(frozen=True)
class _Wanted:
    """Rows of a predicate: what to select, what that is in words, how many are expected."""

    predicate: PredicateProfile
    select: str
    what: str
    expected: int

    def page(self, size: int, offset: int) -> str:
        """Return the query for one page, in order if ordering is not too much to ask."""
        body = f"{self.select} {{ ?s <{self.predicate.iri}> ?o }}"
        if self.predicate.triples <= _ORDERED:
            variables = self.select.removeprefix("SELECT ").removeprefix("DISTINCT ")
            body = f"SELECT {variables} {{ {{ {body} ORDER BY {variables} }} }}"
        return f"{body} LIMIT {size} OFFSET {offset}"


class _Pager:
    """Fetches rows page by page; learns the endpoint's cap from what comes."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry
        self._page = _PAGE

    async def all_of(self, wanted: _Wanted, *, keep: float = 0.0) -> list[Row]:
        """Return the rows until they end, or until only `keep` of the bound is left."""
        found: list[Row] = []
        size = self._page
        while self._inquiry.share_left() > keep:
            words = f"{wanted.what} by <{wanted.predicate.iri}>, {len(found):,} of about "
            query = wanted.page(size, len(found))
            page = await self._inquiry.rows(f"{words}{wanted.expected:,}", query)
            if page is None or not page.rows:
                break
            self._page = size
            found += page.rows
            short = len(page.rows) < size
            if short and not page.cut and len(found) >= _ALL * wanted.expected:
                break
            if short:
                size = len(page.rows)
        return found


def _missing(wanted: _Wanted, found: int) -> Iterator[str]:
    if found < _ALL * wanted.expected:
        yield (
            f"{wanted.what} by <{wanted.predicate.iri}>: {found:,} of about "
            f"{wanted.expected:,} were read"
        )


def _entity_names(rows: list[Row], schema: set[str], *, preferred: bool) -> Iterator[Name]:
    for subject, text in rows:
        if not isinstance(subject, NamedNode) or not isinstance(text, Literal):
            continue
        if subject.value in schema:
            continue
        yield Name(text.value, subject.value, Kind.ENTITY, preferred)
        if initials := acronym(text.value):
            yield Name(initials, subject.value, Kind.ENTITY, preferred=False)


def _value_names(terms: Iterator[Term | None]) -> Iterator[Name]:
    for term in terms:
        if isinstance(term, Literal) and short_value(term.value):
            yield Name(term.value, str(term), Kind.VALUE)
