"""The survey of a big graph: facts that its endpoint returned, until they make a profile."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pyoxigraph import Literal, NamedNode

from askgraph.graph.bounded_queries import ALL, Inquiry
from askgraph.graph.names import name_score, naming_role
from askgraph.graph.profile import (
    GRAPHS,
    ClassProfile,
    Part,
    Partition,
    PredicateProfile,
    Profile,
    standard_naming,
    with_parts,
)
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, Term, value_of

Tally = dict[str, Counter[str]]


@dataclass
class Facts:
    """The facts known so far, by IRI of classes and predicates.

    `sampled` are the predicates of which a kind of ends is that of a sample, scaled up.
    """

    classes: dict[str, int] = field(default_factory=dict)
    triples: dict[str, int] = field(default_factory=dict)
    subjects: dict[str, int] = field(default_factory=dict)
    objects: dict[str, int] = field(default_factory=dict)
    subject_classes: Tally = field(default_factory=lambda: defaultdict(Counter))
    object_classes: Tally = field(default_factory=lambda: defaultdict(Counter))
    datatypes: Tally = field(default_factory=lambda: defaultdict(Counter))
    languages: Tally = field(default_factory=lambda: defaultdict(Counter))
    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    described: dict[str, list[tuple[str, Term]]] = field(default_factory=lambda: defaultdict(list))
    sampled: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    chains: set[str] = field(default_factory=set)
    mirrored: set[tuple[str, str]] = field(default_factory=set)
    partitions: dict[tuple[str, str], Partition] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    cuts: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)  # that have a predicate's names
    types: dict[str, str] = field(default_factory=dict)  # own predicates by the standard ones

    def predicates(self) -> list[str]:
        """Predicates, the most frequent first."""
        return sorted(self.triples, key=lambda iri: (-self.triples[iri], iri))

    def count_own_types(self) -> None:
        """Give the standard predicates the numbers of those that stand for them."""
        for standard, own in self.types.items():
            for tally in (self.triples, self.subjects, self.objects):
                tally.pop(standard, None)
                if own in tally:
                    tally[standard] = tally[own]

    def profile(self, total: int | None, *, source: str, created: str) -> Profile:
        """Return all of it as a profile."""
        cuts = list(self.cuts)
        if total is None:
            total = sum(self.triples.values())
            cuts.append("the number of triples is the sum of what is known of its predicates")
        predicates = tuple(_predicate(self, iri) for iri in self.predicates())
        leaving: dict[str, list[tuple[PredicateProfile, int]]] = defaultdict(list)
        for predicate in predicates:
            for cls, number in predicate.subject_classes:
                leaving[cls].append((predicate, number))
        classes = [_class(self, iri, leaving[iri]) for iri in self.classes]
        languages: Counter[str] = Counter()
        for tally in self.languages.values():
            languages.update(tally)
        return Profile(
            triples=total,
            classes=tuple(sorted(classes, key=lambda c: (-c.instances, c.iri))),
            predicates=predicates,
            languages=tuple(languages.most_common()),
            cuts=tuple(cuts),
            source=source,
            created=created,
            partitions=tuple(self.partitions[key] for key in sorted(self.partitions)),
            completeness=with_parts((), self.parts),
            types=tuple(self.types.items()),
        )


def _predicate(facts: Facts, iri: str) -> PredicateProfile:
    triples = facts.triples[iri]
    objects = facts.object_classes[iri].most_common()
    resources = triples - sum(facts.datatypes[iri].values())
    lost = len(facts.datatypes[iri]) if any(iri in some for some in facts.sampled.values()) else 0
    if not objects and (resources > lost or not facts.datatypes[iri]):
        objects = [(v.RDFS_RESOURCE, max(1, resources))]
    described = facts.described[iri]
    declared = [value_of(term) or "" for p, term in described if p == v.OWL_INVERSE_OF]
    declared += [q for p, q in facts.mirrored if p == iri]
    transitive = any(value_of(term) == v.OWL_TRANSITIVE_PROPERTY for _, term in described)
    draft = PredicateProfile(
        iri=iri,
        triples=triples,
        subjects=facts.subjects.get(iri, triples),
        objects=facts.objects.get(iri, triples),
        names=_names(described),
        subject_classes=tuple(facts.subject_classes[iri].most_common()),
        object_classes=tuple(objects),
        datatypes=tuple(facts.datatypes[iri].most_common()),
        languages=tuple(facts.languages[iri].most_common()),
        transitive=transitive or iri in facts.chains,
        inverse_of=tuple(sorted(set(declared))),
    )
    if facts.properties:  # in a Wikibase things have labels, and pages `schema:name`
        role = standard_naming(iri) if iri != v.SCHEMA_NAME else ""
    else:
        role = naming_role(draft, facts.texts[iri]) if facts.texts[iri] else standard_naming(iri)
    things = facts.object_classes[iri] and not draft.datatypes
    return replace(draft, naming="" if things else role)


def _class(facts: Facts, iri: str, leaving: Sequence[tuple[PredicateProfile, int]]) -> ClassProfile:
    instances = facts.classes[iri]
    named = []
    for p, bearers in leaving:
        if p.naming == "name" and bearers >= 0.5 * instances > 0:
            distinct = min(1.0, p.objects / max(1, p.triples))
            coverage = min(1.0, bearers / instances)
            named.append((name_score(p.iri, iri, coverage, distinct), p.iri))
    name = max(named)[1] if named else None
    unsure = any(standard_naming(p) == "name" for some in facts.sampled.values() for p in some)
    links = sum(
        min(number, instances)
        for p, number in leaving
        if p.object_classes and p.iri not in (v.RDF_TYPE, v.OWL_SAME_AS)
    )
    described = facts.described[iri]
    return ClassProfile(
        iri=iri,
        instances=instances,
        names=_names(described),
        parents=tuple(value_of(t) or "" for p, t in described if p == v.RDFS_SUB_CLASS_OF),
        name_predicate=name,
        nary=name is None and not unsure and links >= 2 * instances > 0,
    )


def _names(described: Sequence[tuple[str, Term]]) -> tuple[tuple[str, str], ...]:
    order = {iri: at for at, iri in enumerate(_LABELLING)}
    labels = [
        (order[predicate], term)
        for predicate, term in described
        if predicate in order and isinstance(term, Literal)
    ]
    labels.sort(key=lambda item: item[0])
    return tuple(dict.fromkeys((term.value, term.language or "") for _, term in labels))


_LABELLING = v.LABEL_PREDICATES + v.ALTERNATIVE_LABEL_PREDICATES


TOGETHER = 20  # predicates or classes in one query, at least
_GROUPS = 20  # queries for all of a big schema
_MOST_TOGETHER = 250
SAMPLE = 1_000  # triples or instances looked at if all are too many
TOLD = 0.98  # of a sum, that its parts have to add up to: an endpoint may lose some in silence
_PAGES = 20


@dataclass(frozen=True)
class Listing:
    """Rows in the order in which they came, none twice; `whole` if there are no more."""

    rows: tuple[Row, ...]
    whole: bool

    @property
    def iris(self) -> list[str]:
        """The IRIs in the first column."""
        return [row[0].value for row in self.rows if isinstance(row[0], NamedNode)]


async def listed(
    inquiry: Inquiry, what: str, query: str, *, most: int, anywhere: bool = False
) -> Listing | None:
    """Return the rows of a query without a LIMIT, at most so many; None if it failed.

    What is cut off is asked for page by page, so that the list ends where the graph's does.
    """
    found: dict[Row, None] = {}
    for page in range(_PAGES):
        offset = f" OFFSET {len(found)}" if page else ""
        text = f"{query} LIMIT {most}{offset}"
        reply = await inquiry.rows(what, text, costly=not page, anywhere=anywhere)
        if reply is None:
            return Listing(tuple(found), whole=False) if found else None
        before = len(found)
        found |= dict.fromkeys(reply.rows)
        if len(found) >= most:
            break
        # A short page is the last one only if nothing cuts pages off.
        if not reply.rows or not reply.cut:
            return Listing(tuple(found), whole=True)
        if len(found) == before:
            break
    return Listing(tuple(found)[:most], whole=False)


def together(items: int) -> int:
    """Return how many of so many classes or predicates to ask of in one query."""
    return max(TOGETHER, min(_MOST_TOGETHER, items // _GROUPS))


def batches(items: Sequence[str], size: int = TOGETHER) -> Iterator[Sequence[str]]:
    """Return the items, so many at a time."""
    for at in range(0, len(items), size):
        yield items[at : at + size]


def number_in(term: Term | None) -> int:
    """Return the whole number that a literal is, 0 for anything else."""
    text = value_of(term) or ""
    return int(text) if text.isdigit() else 0


async def ask_size(inquiry: Inquiry, *, small: int) -> int | None:
    """Return the number of triples, None if it cannot be found out.

    If the endpoint cannot count, up to `small` triples are counted here; of more its cap on rows
    is found out.
    """
    query = f"SELECT (COUNT(*) AS ?n) {{ {ALL} }}"
    reply = await inquiry.rows("the number of triples", query, costly=True)
    text = value_of(reply.rows[0][0]) if reply and reply.rows else None
    if text is None or not text.isdigit():
        total = None
    elif int(text) == 0:
        one = await inquiry.rows("any triple", f"SELECT ?s {{ {ALL} }} LIMIT 1")
        total = None if one and one.rows else 0
    else:
        total = int(text)
    if total is None:
        came, whole = await inquiry.find_cap(rows=small + 1)
        if whole and came:
            return came
    return total


async def can_count(inquiry: Inquiry) -> bool:
    """Return whether the endpoint counts by groups at all: some refuse to, or give nothing."""
    some = f"{{ SELECT ?p {{ {ALL} }} LIMIT 10 }}"
    query = f"SELECT ?p (COUNT(*) AS ?n) {{ {some} }} GROUP BY ?p"
    reply = await inquiry.rows("whether it counts", query)
    return bool(reply and reply.rows and number_in(reply.rows[0][1]))


Graphs = tuple[tuple[str, int], ...]
_MOST = 1_000
_FEW = 10  # graphs that no endpoint cuts off
_QUADS = "GRAPH ?g { ?s ?p ?o }"


async def ask_graphs(inquiry: Inquiry) -> tuple[Graphs, Part]:
    """Return the named graphs with their sizes (0 if not counted), the biggest first."""
    counted = (
        f"SELECT ?g (COUNT(*) AS ?n) {{ {_QUADS} }} GROUP BY ?g ORDER BY DESC(?n) LIMIT {_MOST}"
    )
    reply = await inquiry.rows("named graphs", counted, costly=True, anywhere=True)
    rows = reply.rows if reply else ()
    if len(rows) > _FEW and inquiry.cap is None:
        await inquiry.find_cap(_QUADS)
    sizes = {row[0].value: number_in(row[1]) for row in rows if isinstance(row[0], NamedNode)}
    capped = inquiry.cap is not None and len(rows) >= inquiry.cap
    whole = reply is not None and not (reply.cut or capped) and len(rows) < _MOST
    if not whole:
        query = f"SELECT DISTINCT ?g {{ {_QUADS} }}"
        names = await listed(inquiry, "named graphs", query, most=_MOST, anywhere=True)
        if names is None and reply is None:
            return (), Part(GRAPHS, 0, None, "the endpoint could not list them")
        whole = names is not None and names.whole
        sizes = {iri: sizes.get(iri, 0) for iri in (*sizes, *(names.iris if names else ()))}
    graphs = tuple(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))
    note = "" if whole else "as many as the endpoint gives"
    return graphs, Part(GRAPHS, len(graphs), len(graphs) if whole else None, note)
