"""Profile a graph behind an endpoint within a budget of queries and seconds, resumably.

A small graph is downloaded and profiled exactly. In a big one the endpoint counts: for all
predicates in one query if it answers in time, else for some at a time, else in a sample.
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
from askgraph.graph.bounded_queries import QuerySession, download_triples
from askgraph.graph.local_profile import build_profile, detect_own_types
from askgraph.graph.names import (
    build_acronym,
    collect_schema_iris,
    is_short_value,
    iterate_names,
    iterate_schema_names,
)
from askgraph.graph.profile import (
    CLASSES,
    EMPTY_DEFAULT_NOTE,
    ENTITY_NAMES,
    GRAPHS,
    PARTITIONS,
    PREDICATES,
    TRIPLES,
    Part,
    PredicateProfile,
    Profile,
    get_standard_role,
    merge_profiles,
    replace_parts,
    unite_profiles,
)
from askgraph.graph.survey import GraphSizes, SurveyFacts, can_count, count_triples, list_graphs
from askgraph.graph.survey.classes import (
    collect_classes,
    collect_descriptions,
    collect_texts,
    collect_wikibase_types,
    collect_without_counting,
)
from askgraph.graph.survey.partitions import collect_partitions
from askgraph.graph.survey.predicates import (
    collect_chains,
    collect_distinct_ends,
    collect_end_samples,
    collect_ends,
    collect_inverses,
    collect_predicates,
    fill_ends,
)
from askgraph.index.name_search import PLAIN
from askgraph.index.names import IndexedName, ItemKind
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import add_standard_triples
from askgraph.sparql.results import Row

MAX_DOWNLOAD_TRIPLES = 50_000
"""Graphs of up to this size are downloaded completely."""

ProgressCallback = Callable[[str, int, int | None], None]
NameSearchDetector = Callable[[Profile], Awaitable[str]]
"""Returns the name of the name search that an endpoint supports."""


async def profile_endpoint(
    endpoint: Endpoint,
    *,
    max_queries: int = 200,
    max_seconds: float = 120.0,
    progress: ProgressCallback | None = None,
    resume: Path | None = None,
    one_by_one: bool = False,
    later: Path | None = None,
    known: Profile | None = None,
    search: NameSearchDetector | None = None,
    vocabulary_files: Sequence[Path] = (),
) -> tuple[Profile, list[IndexedName]]:
    """Return the profile of an endpoint's graph, and the names in it.

    `Profile.cuts` lists omissions due to the budget or failed queries, `Profile.completeness` gives
    numbers. If the default graph is empty, the union of all named graphs is profiled.

    Args:
        progress: Called with a description, the number of queries done, and their maximum.
        resume: Journal that keeps replies until the profile is complete, so that a later call can
            resume; replies from it are free.
        one_by_one: Profile each named graph alone, within its share of the budget, and merge.
        later: Where to move the journal if a bigger budget could give more.
        known: Another profile of the graph; its content is not queried again.
        search: Called if there are too many names to read page by page. Names of
            entities are then read only if it finds no name search.
        vocabulary_files: Vocabularies besides those in the package.

    Raises:
        ServiceError: The endpoint does not answer at all.
    """

    def open_session(
        max_queries: int, max_seconds: float, graphs: Sequence[str] = ()
    ) -> QuerySession:
        return QuerySession(
            endpoint,
            max_queries=max_queries,
            max_seconds=max_seconds,
            journal=resume,
            progress=progress,
            graphs=graphs,
        )

    source = endpoint.address
    if one_by_one:
        later = None
        profile_and_names = await _profile_each_graph(
            open_session, max_queries, max_seconds, source, vocabulary_files
        )
    else:
        with open_session(max_queries, max_seconds) as session:
            profile_and_names = await _profile_session(
                session, source, vocabulary_files, known, search
            )
        if not (session.is_limited_by_budget and profile_and_names[0].cuts):
            later = None
    if resume is not None:
        _finish_journal(resume, later)
    return profile_and_names


def _finish_journal(journal: Path, retry_journal: Path | None) -> None:
    if retry_journal is not None:
        journal.replace(retry_journal)
    else:
        journal.unlink(missing_ok=True)


async def _profile_each_graph(
    open_session: Callable[..., QuerySession],
    queries: int,
    seconds: float,
    source: str,
    vocabulary_files: Sequence[Path],
) -> tuple[Profile, list[IndexedName]]:
    end = time.monotonic() + seconds
    with open_session(queries, seconds) as session:
        graphs, part = await list_graphs(session)
        queries -= session.query_count
    if not graphs:
        raise ServiceError(f"{source} lists no named graph that can be profiled on its own")
    profiles, names = [], list[IndexedName]()
    for remaining_graphs, (graph, _) in zip(range(len(graphs), 0, -1), graphs, strict=True):
        share = max(1.0, (end - time.monotonic()) / remaining_graphs)
        with open_session(max(1, queries // remaining_graphs), share, (graph,)) as session:
            profile, graph_names = await _profile_session(session, source, vocabulary_files)
            queries -= session.query_count
        profiles.append(replace(profile, graphs=((graph, profile.triples),)))
        names += graph_names
    union = unite_profiles(profiles)
    parts = replace_parts(union.completeness, {GRAPHS: part})
    return replace(union, completeness=parts), list(dict.fromkeys(names))


async def _profile_session(
    session: QuerySession,
    source: str,
    vocabulary_files: Sequence[Path],
    known_profile: Profile | None = None,
    detect_search: NameSearchDetector | None = None,
) -> tuple[Profile, list[IndexedName]]:
    total = await count_triples(session, max_rows=MAX_DOWNLOAD_TRIPLES)
    cuts: tuple[str, ...] = ()
    graphs: GraphSizes | None = () if session.graphs else None
    part: Part | None = None
    if graphs is None and (total == 0 or (total is None and await _is_empty(session))):
        graphs, part = await list_graphs(session)
        if graphs:
            session.graphs = tuple(graph for graph, _ in graphs)
            total = await count_triples(session, max_rows=MAX_DOWNLOAD_TRIPLES)
            number = "its only named graph" if len(graphs) == 1 else f"{len(graphs):,} named graphs"
            cuts = (f"{EMPTY_DEFAULT_NOTE}: questions go to the union of {number}",)
    profile, names = await _build_profile(
        session, total, source, vocabulary_files, known_profile, detect_search
    )
    if cuts and part and part.total is None:
        profile = _mark_incomplete(
            profile, f"of {len(graphs or ()):,} named graphs; there are more"
        )
    if graphs is None:
        graphs, part = await list_graphs(session)
    parts = replace_parts(profile.completeness, {GRAPHS: part} if part else {})
    return (replace(profile, graphs=graphs, completeness=parts, cuts=(*cuts, *profile.cuts)), names)


async def _is_empty(session: QuerySession) -> bool:
    """Return whether the default graph is empty, as far as the endpoint reports."""
    reply = await session.select("any triple", "SELECT ?s { ?s ?p ?o } LIMIT 1")
    return reply is not None and not reply.rows


def _mark_incomplete(profile: Profile, note: str) -> Profile:
    """Return the profile with unknown totals: it covers only a part of the graph."""
    part_names = {TRIPLES, CLASSES, PREDICATES, PARTITIONS}
    parts = {
        part.name: replace(part, total=None, note=note)
        for part in profile.completeness
        if part.name in part_names
    }
    return replace(profile, completeness=replace_parts(profile.completeness, parts))


async def _build_profile(
    session: QuerySession,
    total: int | None,
    source: str,
    vocabulary_files: Sequence[Path],
    known_profile: Profile | None,
    detect_search: NameSearchDetector | None,
) -> tuple[Profile, list[IndexedName]]:
    pages = (
        await download_triples(session, total)
        if total is not None and total <= MAX_DOWNLOAD_TRIPLES
        else None
    )
    if pages is not None:
        arrays = build_arrays(pages.triples)
        if types := detect_own_types(arrays):
            arrays = build_arrays(add_standard_triples(pages.triples, types))
        profile = build_profile(arrays, source=source, vocabulary_files=vocabulary_files)
        profile = replace(profile, cuts=pages.cuts)
        if total is not None and len(pages.triples) < total:
            profile = _mark_incomplete(profile, "some triples did not come")
            triples = Part(TRIPLES, len(pages.triples), total, "some did not come")
            parts = replace_parts(profile.completeness, {TRIPLES: triples})
            profile = replace(profile, completeness=parts)
        return profile, list(iterate_names(arrays, profile, vocabulary_files))
    created = datetime.now(UTC).isoformat(timespec="seconds")
    total = total or (known_profile.triples if known_profile else None)
    facts = await (
        _complete_known_profile(session, known_profile)
        if known_profile
        else _collect_facts(session, total)
    )
    profile = facts.build_profile(
        total, source=source, timestamp=created, vocabulary_files=vocabulary_files
    )
    if known_profile:
        profile = merge_profiles(replace(known_profile, source=source, created=created), profile)
    if not profile.predicates:
        budget_reason = (
            "the limit of queries or seconds was reached"
            if session.is_exhausted
            else "it shows no triples; is the address right, and may you read its graphs?"
        )
        reason = session.sole_failure_reason or "; ".join(session.failures[:2]) or budget_reason
        if reason.startswith(source):
            raise ServiceError(reason)
        raise ServiceError(f"{source} cannot be profiled: {reason}")
    if (
        detect_search
        and sum(p.triples for p in _select_naming_predicates(profile)) > _MAX_NAMES_COUNT
    ):
        profile = replace(profile, name_search=await detect_search(profile))
    names, cuts, part = await fetch_names(session, profile, facts.properties.values())
    parts = replace_parts(profile.completeness, {part.name: part} if part else {})
    profile = replace(profile, completeness=parts)
    failure_texts = (f"the endpoint gave no answer: {failure}" for failure in session.failures)
    return replace(profile, cuts=(*profile.cuts, *cuts, *failure_texts)), names


async def _collect_facts(session: QuerySession, total: int | None) -> SurveyFacts:
    """Collect the facts of a profile, the cheapest first, so that any prefix is usable."""
    facts = SurveyFacts()
    session.should_find_cap = True
    await collect_predicates(session, facts, total)
    await collect_wikibase_types(session, facts)
    can_aggregate = (
        any(facts.triples.values()) or not facts.list_predicates() or await can_count(session)
    )
    await (collect_classes if can_aggregate else collect_without_counting)(session, facts)
    await collect_descriptions(session, facts)
    if can_aggregate:
        await collect_end_samples(session, facts)
    await collect_texts(session, facts)
    if can_aggregate:
        await collect_distinct_ends(session, facts)
        await collect_ends(session, facts)
        await collect_partitions(session, facts)
        fill_ends(facts)
        await collect_texts(session, facts)
    await collect_chains(session, facts)
    await collect_inverses(session, facts)
    if session.is_exhausted:
        facts.cuts.append(
            "the limit of queries or seconds was reached before the profile was complete"
        )
    triple_count = total if total is not None else sum(facts.triples.values())
    facts.parts[TRIPLES] = Part(TRIPLES, triple_count, total)
    return facts


async def _complete_known_profile(session: QuerySession, known_profile: Profile) -> SurveyFacts:
    """Collect only what another profile may lack: labels, some ends, sample texts."""
    facts = SurveyFacts({item.iri: item.instances for item in known_profile.classes})
    for item in known_profile.predicates:
        facts.triples[item.iri], facts.subjects[item.iri] = item.triples, item.subjects
        facts.objects[item.iri] = item.objects
    await collect_descriptions(session, facts)
    await collect_end_samples(session, facts)
    await collect_texts(session, facts)
    return facts


_COMPLETE_SHARE = 0.98  # share of the expected number that counts as complete
_MAX_NAMES_COUNT = 100_000  # names, if the endpoint can look for them itself
_PAGE_ROWS = 50_000
_MAX_ORDERED_ROWS = 100_000
_TEXT_DATATYPES = frozenset({v.XSD_STRING, v.RDF_LANG_STRING})


async def fetch_names(
    session: QuerySession, profile: Profile, properties: Iterable[str] = ()
) -> tuple[list[IndexedName], list[str], Part | None]:
    """Return the names of classes, predicates, entities and short values, and the omissions.

    Names of `properties` belong to their predicates, not to entities.

    Returns:
        The names, descriptions of omissions, and the share of entity names that were read, or
        None if all were.
    """
    names = list(iterate_schema_names(profile))
    schema = collect_schema_iris(profile) | {*properties}
    pager, read_count, total = _NamePager(session), 0, 0
    has_search = profile.name_search not in ("", PLAIN)
    for predicate in _select_naming_predicates(profile):
        if has_search:
            total += predicate.triples
            continue
        rows = await pager.read_rows(predicate, "names", predicate.triples, reserved_share=0.1)
        names += _iterate_entity_names(rows, schema, is_preferred=predicate.naming == "name")
        read_count, total = read_count + len(rows), total + predicate.triples
    # The predicates with short values: own name predicates, then few values first.
    value_predicates = [
        p
        for p in profile.predicates
        if not get_standard_role(p.iri)
        and p.iri not in v.DESCRIPTION_PREDICATES
        and dict(p.datatypes).keys() & _TEXT_DATATYPES
    ]
    for predicate in sorted(value_predicates, key=lambda p: (not p.naming, p.objects)):
        rows = await pager.read_rows(predicate, "values", predicate.objects)
        names += (
            IndexedName(text.value, str(text), ItemKind.VALUE)
            for text in (row[-1] for row in rows)
            if isinstance(text, Literal) and is_short_value(text.value)
        )
        if predicate.naming:
            read_count, total = read_count + len(rows), total + predicate.objects
    is_complete = total and read_count >= _COMPLETE_SHARE * total
    note = f"the endpoint is asked by the search {profile.name_search!r}" if has_search else ""
    return (
        names,
        pager.cuts,
        None if is_complete else Part(ENTITY_NAMES, read_count, total or None, note),
    )


def _select_naming_predicates(profile: Profile) -> list[PredicateProfile]:
    """Return the standard name predicates, preferred names before alternative ones."""
    # In a Wikibase, `schema:name` names pages or repeats a label, and is left out.
    naming_predicates = [p for p in profile.predicates if p.naming and get_standard_role(p.iri)]
    if any(p.iri == v.WIKIBASE_DIRECT for p in profile.predicates):
        naming_predicates = [p for p in naming_predicates if p.iri != v.SCHEMA_NAME]
    return sorted(naming_predicates, key=lambda p: (p.naming != "name", p.triples))


class _NamePager:
    """Reads rows page by page and adapts to the endpoint's cap."""

    def __init__(self, session: QuerySession) -> None:
        self.cuts: list[str] = []
        self._session = session
        self._page_rows = _PAGE_ROWS

    async def read_rows(
        self,
        predicate: PredicateProfile,
        noun: str,
        expected_rows: int,
        *,
        reserved_share: float = 0.0,
    ) -> list[Row]:
        """Read names (`?s ?o`) or values (`?o`), ordered if that is not too expensive.

        Stops at the last row, or when only `reserved_share` of the budget remains.
        """
        variables, distinct = ("?s ?o", "") if noun == "names" else ("?o", "DISTINCT ")
        body = f"SELECT {distinct}{variables} {{ ?s <{predicate.iri}> ?o }}"
        if predicate.triples <= _MAX_ORDERED_ROWS:
            body = f"SELECT {variables} {{ {{ {body} ORDER BY {variables} }} }}"
        rows: list[Row] = []
        size = self._page_rows
        while self._session.get_remaining_share() > reserved_share:
            words = f"{noun} by <{predicate.iri}>, {len(rows):,} of about {expected_rows:,}"
            page = await self._session.select(words, f"{body} LIMIT {size} OFFSET {len(rows)}")
            if page is None or not page.rows:
                break
            self._page_rows = size
            rows += page.rows
            if len(page.rows) < size:
                if not page.cut and len(rows) >= _COMPLETE_SHARE * expected_rows:
                    break
                size = len(page.rows)
        if len(rows) < _COMPLETE_SHARE * expected_rows:
            omission = f"{len(rows):,} of about {expected_rows:,} were read"
            self.cuts.append(f"{noun} by <{predicate.iri}>: {omission}")
        return rows


def _iterate_entity_names(
    rows: list[Row], schema: set[str], *, is_preferred: bool
) -> Iterator[IndexedName]:
    for subject, text in rows:
        if not isinstance(subject, NamedNode) or not isinstance(text, Literal):
            continue
        if subject.value in schema:
            continue
        yield IndexedName(text.value, subject.value, ItemKind.ENTITY, is_preferred)
        if initials := build_acronym(text.value):
            yield IndexedName(initials, subject.value, ItemKind.ENTITY, preferred=False)
