"""Survey a big graph: collect facts from its endpoint until they make a profile."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from askgraph.graph.bounded_queries import ALL_TRIPLES, QuerySession
from askgraph.graph.names import detect_naming_role, score_name_predicate
from askgraph.graph.profile import (
    GRAPHS,
    ClassProfile,
    Part,
    Partition,
    PredicateProfile,
    Profile,
    get_standard_role,
    replace_parts,
)
from askgraph.graph.vocabularies import Vocabularies, add_vocabulary_names, load_vocabularies
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, Term, to_plain_value

Tally = dict[str, Counter[str]]


@dataclass
class SurveyFacts:
    """The facts collected so far, by IRI of classes and predicates.

    Attributes:
        texts: Sample texts by predicate.
        descriptions: (predicate, value) pairs by class or predicate: labels, parents, inverses.
        sampled: Predicates whose counts are scaled up from a sample, by kind of ends.
        inverse_pairs: Pairs of predicates that are inverse to each other.
        partitions: Partitions by class and predicate.
    """

    classes: dict[str, int] = field(default_factory=dict)  # number of instances by class
    triples: dict[str, int] = field(default_factory=dict)  # number of triples by predicate
    subjects: dict[str, int] = field(default_factory=dict)  # distinct ones by predicate
    objects: dict[str, int] = field(default_factory=dict)  # number of distinct objects by predicate
    subject_classes: Tally = field(default_factory=lambda: defaultdict(Counter))  # by predicate
    object_classes: Tally = field(default_factory=lambda: defaultdict(Counter))  # by predicate
    datatypes: Tally = field(default_factory=lambda: defaultdict(Counter))  # datatypes by predicate
    languages: Tally = field(default_factory=lambda: defaultdict(Counter))  # by predicate
    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    descriptions: dict[str, list[tuple[str, Term]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    sampled: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    chains: set[str] = field(default_factory=set)  # predicates that may be transitive
    inverse_pairs: set[tuple[str, str]] = field(default_factory=set)
    partitions: dict[tuple[str, str], Partition] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)  # completeness by name
    cuts: list[str] = field(default_factory=list)  # omissions, in words
    properties: dict[str, str] = field(default_factory=dict)  # that have a predicate's names
    types: dict[str, str] = field(default_factory=dict)  # replacements of standard predicates

    def list_predicates(self) -> list[str]:
        """Return the predicates, the most frequent first."""
        return sorted(self.triples, key=lambda iri: (-self.triples[iri], iri))

    def count_own_types(self) -> None:
        """Copy the counts of the graph's own predicates to the standard ones they stand for."""
        for standard, own_predicate in self.types.items():
            for tally in (self.triples, self.subjects, self.objects):
                tally.pop(standard, None)
                if own_predicate in tally:
                    tally[standard] = tally[own_predicate]

    def build_profile(
        self,
        total: int | None,
        *,
        source: str,
        timestamp: str,
        vocabulary_files: Sequence[Path] = (),
    ) -> Profile:
        """Build a profile from all facts and the vocabularies that the graph uses."""
        vocabularies = load_vocabularies([*self.triples, *self.classes], vocabulary_files)
        cuts = list(self.cuts)
        if total is None:
            total = sum(self.triples.values())
            cuts.append("the number of triples is the sum over the known predicates")
        predicates = tuple(
            _build_predicate(self, iri, vocabularies) for iri in self.list_predicates()
        )
        predicates_by_class: dict[str, list[tuple[PredicateProfile, int]]] = defaultdict(list)
        for predicate in predicates:
            for cls, number in predicate.subject_classes:
                predicates_by_class[cls].append((predicate, number))
        classes = [_build_class(self, iri, predicates_by_class[iri]) for iri in self.classes]
        languages: Counter[str] = Counter()
        for tally in self.languages.values():
            languages.update(tally)
        profile = Profile(
            triples=total,
            classes=tuple(sorted(classes, key=lambda c: (-c.instances, c.iri))),
            predicates=predicates,
            languages=tuple(languages.most_common()),
            cuts=tuple(cuts),
            source=source,
            created=timestamp,
            partitions=tuple(self.partitions[key] for key in sorted(self.partitions)),
            completeness=replace_parts((), self.parts),
            types=tuple(self.types.items()),
        )
        return add_vocabulary_names(profile, vocabularies)


def _build_predicate(facts: SurveyFacts, iri: str, vocabularies: Vocabularies) -> PredicateProfile:
    triples = facts.triples[iri]
    objects = facts.object_classes[iri].most_common()
    resources = triples - sum(facts.datatypes[iri].values())
    unknown_count = (
        len(facts.datatypes[iri]) if any(iri in iris for iris in facts.sampled.values()) else 0
    )
    if not objects and (resources > unknown_count or not facts.datatypes[iri]):
        objects = [(v.RDFS_RESOURCE, max(1, resources))]
    descriptions = facts.descriptions[iri]
    inverses = [to_plain_value(term) or "" for p, term in descriptions if p == v.OWL_INVERSE_OF]
    inverses += [q for p, q in facts.inverse_pairs if p == iri]
    transitive = any(to_plain_value(term) == v.OWL_TRANSITIVE_PROPERTY for _, term in descriptions)
    draft = PredicateProfile(
        iri=iri,
        triples=triples,
        subjects=facts.subjects.get(iri, triples),
        objects=facts.objects.get(iri, triples),
        names=_extract_names(descriptions),
        subject_classes=tuple(facts.subject_classes[iri].most_common()),
        object_classes=tuple(objects),
        datatypes=tuple(facts.datatypes[iri].most_common()),
        languages=tuple(facts.languages[iri].most_common()),
        transitive=transitive or iri in facts.chains,
        inverse_of=tuple(sorted(set(inverses))),
    )
    if facts.properties:  # in a Wikibase things have labels, and pages `schema:name`
        role = get_standard_role(iri) if iri != v.SCHEMA_NAME else ""
    else:
        role = (
            detect_naming_role(draft, facts.texts[iri], vocabularies.find_property(iri))
            if facts.texts[iri]
            else get_standard_role(iri)
        )
    return replace(draft, naming="" if facts.object_classes[iri] and not draft.datatypes else role)


def _build_class(
    facts: SurveyFacts, iri: str, predicates: Sequence[tuple[PredicateProfile, int]]
) -> ClassProfile:
    instances = facts.classes[iri]
    scored_names = []
    for p, bearers in predicates:
        if p.naming == "name" and bearers >= 0.5 * instances > 0:
            distinct = min(1.0, p.objects / max(1, p.triples))
            coverage = min(1.0, bearers / instances)
            scored_names.append((score_name_predicate(p.iri, iri, coverage, distinct), p.iri))
    name = max(scored_names)[1] if scored_names else None
    is_uncertain = any(
        get_standard_role(p) == "name" for iris in facts.sampled.values() for p in iris
    )
    links = sum(
        min(number, instances)
        for p, number in predicates
        if p.object_classes and p.iri not in (v.RDF_TYPE, v.OWL_SAME_AS)
    )
    descriptions = facts.descriptions[iri]
    return ClassProfile(
        iri=iri,
        instances=instances,
        names=_extract_names(descriptions),
        parents=tuple(to_plain_value(t) or "" for p, t in descriptions if p == v.RDFS_SUB_CLASS_OF),
        name_predicate=name,
        nary=name is None and not is_uncertain and links >= 2 * instances > 0,
    )


def _extract_names(descriptions: Sequence[tuple[str, Term]]) -> tuple[tuple[str, str], ...]:
    order = {iri: position for position, iri in enumerate(_NAME_PREDICATES)}
    labels = [
        (order[predicate], term)
        for predicate, term in descriptions
        if predicate in order and isinstance(term, Literal)
    ]
    labels.sort(key=lambda item: item[0])
    return tuple(dict.fromkeys((term.value, term.language or "") for _, term in labels))


_NAME_PREDICATES = v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES


MIN_BATCH_SIZE = 20  # predicates or classes in one query, at least
_BATCH_COUNT = 20  # queries for all of a big schema
_MAX_BATCH_SIZE = 250
SAMPLE_SIZE = 1_000  # triples or instances to sample if there are too many
# Share of a total that its parts must reach: an endpoint may silently lose some.
MIN_SUM_SHARE = 0.98
_MAX_PAGES = 20


@dataclass(frozen=True)
class PagedRows:
    """Distinct rows in the order of arrival."""

    rows: tuple[Row, ...]
    is_complete: bool  # whether there are no more

    @property
    def iris(self) -> list[str]:
        """The IRIs in the first column."""
        return [row[0].value for row in self.rows if isinstance(row[0], NamedNode)]


async def select_pages(
    session: QuerySession, words: str, query: str, *, max_rows: int, anywhere: bool = False
) -> PagedRows | None:
    """Return up to `max_rows` rows of a query without LIMIT; None if it failed.

    Results that the endpoint cuts off are fetched page by page.
    """
    rows: dict[Row, None] = {}
    for page in range(_MAX_PAGES):
        offset = f" OFFSET {len(rows)}" if page else ""
        text = f"{query} LIMIT {max_rows}{offset}"
        reply = await session.select(words, text, costly=not page, anywhere=anywhere)
        if reply is None:
            return PagedRows(tuple(rows), is_complete=False) if rows else None
        previous_count = len(rows)
        rows |= dict.fromkeys(reply.rows)
        if len(rows) >= max_rows:
            break
        # A short page is the last one only if the endpoint does not truncate pages.
        if not reply.rows or not reply.cut:
            return PagedRows(tuple(rows), is_complete=True)
        if len(rows) == previous_count:
            break
    return PagedRows(tuple(rows)[:max_rows], is_complete=False)


def choose_batch_size(item_count: int) -> int:
    """Return the number of classes or predicates to query together."""
    return max(MIN_BATCH_SIZE, min(_MAX_BATCH_SIZE, item_count // _BATCH_COUNT))


def split_into_batches(items: Sequence[str], size: int = MIN_BATCH_SIZE) -> Iterator[Sequence[str]]:
    """Yield the items in batches of `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def parse_count(term: Term | None) -> int:
    """Parse a literal as a whole number; 0 for anything else."""
    text = to_plain_value(term) or ""
    return int(text) if text.isdigit() else 0


async def count_triples(session: QuerySession, *, max_rows: int) -> int | None:
    """Return the number of triples, or None if it is unknown.

    If the endpoint cannot count, up to `max_rows` triples are fetched and counted here; with more,
    its row cap is detected.
    """
    query = f"SELECT (COUNT(*) AS ?n) {{ {ALL_TRIPLES} }}"
    reply = await session.select("the number of triples", query, costly=True)
    text = to_plain_value(reply.rows[0][0]) if reply and reply.rows else None
    if text is None or not text.isdigit():
        total = None
    elif int(text) == 0:
        any_triple = await session.select("any triple", f"SELECT ?s {{ {ALL_TRIPLES} }} LIMIT 1")
        total = None if any_triple and any_triple.rows else 0
    else:
        total = int(text)
    if total is None:
        row_count, is_complete = await session.find_cap(rows=max_rows + 1)
        if is_complete and row_count:
            return row_count
    return total


async def can_count(session: QuerySession) -> bool:
    """Return whether the endpoint supports counting by groups; some refuse or return nothing."""
    sample = f"{{ SELECT ?p {{ {ALL_TRIPLES} }} LIMIT 10 }}"
    query = f"SELECT ?p (COUNT(*) AS ?n) {{ {sample} }} GROUP BY ?p"
    reply = await session.select("whether it counts", query)
    return bool(reply and reply.rows and parse_count(reply.rows[0][1]))


GraphSizes = tuple[tuple[str, int], ...]
_MAX_GRAPHS = 1_000
_MIN_CAPPED_GRAPHS = 10  # graphs that no endpoint cuts off
_QUAD_PATTERN = "GRAPH ?g { ?s ?p ?o }"


async def list_graphs(session: QuerySession) -> tuple[GraphSizes, Part]:
    """Return the named graphs with their sizes (0 if not counted), the biggest first."""
    count_query = (
        f"SELECT ?g (COUNT(*) AS ?n) {{ {_QUAD_PATTERN} }} GROUP BY ?g ORDER BY "
        f"DESC(?n) LIMIT {_MAX_GRAPHS}"
    )
    reply = await session.select("named graphs", count_query, costly=True, anywhere=True)
    rows = reply.rows if reply else ()
    if len(rows) > _MIN_CAPPED_GRAPHS and session.cap is None:
        await session.find_cap(_QUAD_PATTERN)
    sizes = {row[0].value: parse_count(row[1]) for row in rows if isinstance(row[0], NamedNode)}
    is_capped = session.cap is not None and len(rows) >= session.cap
    is_complete = reply is not None and not (reply.cut or is_capped) and len(rows) < _MAX_GRAPHS
    if not is_complete:
        query = f"SELECT DISTINCT ?g {{ {_QUAD_PATTERN} }}"
        names = await select_pages(
            session, "named graphs", query, max_rows=_MAX_GRAPHS, anywhere=True
        )
        if names is None and reply is None:
            return (), Part(GRAPHS, 0, None, "the endpoint could not list them")
        is_complete = names is not None and names.is_complete
        sizes = {iri: sizes.get(iri, 0) for iri in (*sizes, *(names.iris if names else ()))}
    graphs = tuple(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))
    note = "" if is_complete else "as many as the endpoint returns"
    return graphs, Part(GRAPHS, len(graphs), len(graphs) if is_complete else None, note)
