"""The profile of a graph behind an endpoint, within a bound of queries and seconds, resumably.

A small graph is fetched and profiled exactly. Of a big one the endpoint counts what it can: for
all predicates in one query if it answers in time, else for some at a time, else in a sample.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from askgraph.endpoint import Endpoint
from askgraph.errors import ServiceError
from askgraph.graph.arrays import build_arrays
from askgraph.graph.bounded_queries import Inquiry, all_triples
from askgraph.graph.local_profile import own_types, profile_of
from askgraph.graph.names import acronym, names_in, schema_names, short_value
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
    standard_naming,
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
from askgraph.sparql.results import Row

SMALL = 50_000
"""A graph of at most so many triples is fetched as a whole."""

Told = Callable[[str, int, int | None], None]
Search = Callable[[Profile], Awaitable[str]]
"""Finds the name of the search for names that a graph's endpoint has."""


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

    What the bound, or a query that the endpoint could not answer, left out is said in
    `Profile.cuts`, and in numbers in `Profile.completeness`. An endpoint whose default graph is
    empty is asked of all its named graphs together.

    Args:
        endpoint: What is asked.
        max_queries: The most queries.
        max_seconds: The most seconds in all.
        progress: Is told what is asked for, and how many queries are done of how many.
        resume: A file that keeps the replies until all is done, so that a later call goes on where
            this one was stopped; those replies cost nothing of the bound.
        one_by_one: Ask of each named graph alone, within its share of the bound, and unite.
        later: Where replies are kept for a call with a higher bound, if that might bring more.
        known: An account of the graph made elsewhere: what it holds is not asked for.
        search: If there are more names than can be read page by page, those of things are read
            only if it finds no search for names.

    Raises:
        ServiceError: The endpoint does not answer at all.
    """

    def inquire(queries: int, seconds: float, graphs: Sequence[str] = ()) -> Inquiry:
        return Inquiry(
            endpoint,
            max_queries=queries,
            max_seconds=seconds,
            journal=resume,
            progress=progress,
            graphs=graphs,
        )

    source = endpoint.address
    if one_by_one:
        later, found = None, await _one_by_one(inquire, max_queries, max_seconds, source)
    else:
        with inquire(max_queries, max_seconds) as asked:
            found = await _profiled(asked, source, known, search)
        if not (asked.hurried and found[0].cuts):
            later = None
    if resume is not None:
        _put_aside(resume, later)
    return found


def _put_aside(journal: Path, later: Path | None) -> None:
    if later is not None:
        journal.replace(later)
    else:
        journal.unlink(missing_ok=True)


async def _one_by_one(
    inquire: Callable[..., Inquiry], queries: int, seconds: float, source: str
) -> tuple[Profile, list[Name]]:
    end = time.monotonic() + seconds
    with inquire(queries, seconds) as asked:
        graphs, part = await ask_graphs(asked)
        queries -= asked.asked
    if not graphs:
        raise ServiceError(f"{source} names no graph that could be asked of alone")
    profiles, names = [], list[Name]()
    for rest, (graph, _) in zip(range(len(graphs), 0, -1), graphs, strict=True):
        share = max(1.0, (end - time.monotonic()) / rest)
        with inquire(max(1, queries // rest), share, (graph,)) as asked:
            profile, some = await _profiled(asked, source)
            queries -= asked.asked
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
    if graphs is None and (total == 0 or (total is None and await _is_empty(inquiry))):
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


async def _is_empty(inquiry: Inquiry) -> bool:
    """Return whether the default graph holds no triple, as far as the endpoint says."""
    reply = await inquiry.rows("any triple", "SELECT ?s { ?s ?p ?o } LIMIT 1")
    return reply is not None and not reply.rows


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
    pager, read, total = _Pager(inquiry), 0, 0
    searched = profile.name_search not in ("", PLAIN)
    for predicate in _naming(profile):
        if searched:
            total += predicate.triples
            continue
        rows = await pager.read(predicate, "names", predicate.triples, keep=0.1)
        names += _entity_names(rows, schema, preferred=predicate.naming == "name")
        read, total = read + len(rows), total + predicate.triples
    for predicate in _valued(profile):
        rows = await pager.read(predicate, "values", predicate.objects)
        texts = (row[-1] for row in rows)
        names += (
            Name(text.value, str(text), Kind.VALUE)
            for text in texts
            if isinstance(text, Literal) and short_value(text.value)
        )
        if predicate.naming:
            read, total = read + len(rows), total + predicate.objects
    known = total and read >= _ALL * total
    why = f"the endpoint is asked by the search {profile.name_search!r}" if searched else ""
    return names, pager.cuts, None if known else Part(ENTITY_NAMES, read, total or None, why)


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


class _Pager:
    """Reads rows page by page; learns the endpoint's cap from what comes."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.cuts: list[str] = []
        self._inquiry = inquiry
        self._page = _PAGE

    async def read(
        self, predicate: PredicateProfile, what: str, expected: int, *, keep: float = 0.0
    ) -> list[Row]:
        """Read names (`?s ?o`) or values (`?o`), in order if that is not too much to ask.

        It ends when they do, or when only `keep` of the bound is left.
        """
        variables, distinct = ("?s ?o", "") if what == "names" else ("?o", "DISTINCT ")
        body = f"SELECT {distinct}{variables} {{ ?s <{predicate.iri}> ?o }}"
        if predicate.triples <= _ORDERED:
            body = f"SELECT {variables} {{ {{ {body} ORDER BY {variables} }} }}"
        rows: list[Row] = []
        size = self._page
        while self._inquiry.share_left() > keep:
            words = f"{what} by <{predicate.iri}>, {len(rows):,} of about {expected:,}"
            page = await self._inquiry.rows(words, f"{body} LIMIT {size} OFFSET {len(rows)}")
            if page is None or not page.rows:
                break
            self._page = size
            rows += page.rows
            if len(page.rows) < size:
                if not page.cut and len(rows) >= _ALL * expected:
                    break
                size = len(page.rows)
        if len(rows) < _ALL * expected:
            missing = f"{len(rows):,} of about {expected:,} were read"
            self.cuts.append(f"{what} by <{predicate.iri}>: {missing}")
        return rows


def _entity_names(rows: list[Row], schema: set[str], *, preferred: bool) -> Iterator[Name]:
    for subject, text in rows:
        if not isinstance(subject, NamedNode) or not isinstance(text, Literal):
            continue
        if subject.value in schema:
            continue
        yield Name(text.value, subject.value, Kind.ENTITY, preferred)
        if initials := acronym(text.value):
            yield Name(initials, subject.value, Kind.ENTITY, preferred=False)
