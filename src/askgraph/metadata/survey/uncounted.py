"""Instances of each class, looked at if the endpoint does not count anything.

Rows are fetched and counted here. A class all of whose instances came is known as well as one
that was counted; of the others the numbers are those of a sample.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode

from askgraph.metadata import CLASSES, COUNTS, ENDS, PARTITIONS, Part, Partition, sorted_counts
from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import batches, listed
from askgraph.rdf import vocabulary as v
from askgraph.sparql.results import Row, Term

_MOST = 2_000  # classes
_INSTANCES = 30  # of each class
_TOGETHER = 5  # classes in one query
_ROWS = 10_000
_TEXTS = 100


async def ask_uncounted(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for classes, and what some instances of each have, without a single aggregate."""
    found = await listed(inquiry, "classes", "SELECT DISTINCT ?c { ?s a ?c }", most=_MOST)
    rows = found.rows if found else ()
    classes = [row[0].value for row in rows if isinstance(row[0], NamedNode)]
    facts.classes.update(dict.fromkeys(classes, 0))
    whole = found is not None and found.whole
    facts.parts[CLASSES] = Part(CLASSES, len(classes), len(classes) if whole else None)
    known, tallies = 0, list[_Tally]()
    for some in batches(classes, _TOGETHER):
        if inquiry.share_left() < 0.3:
            facts.cuts.append("predicates of the classes that come last")
            break
        for tally in await _looked_at(inquiry, some):
            known += tally.keep(facts)
            tallies.append(tally)
    _add_up(facts, tallies)
    note = f"classes of more than {_INSTANCES} instances are known by so many of them"
    facts.parts[PARTITIONS] = Part(PARTITIONS, known, len(classes), note)
    facts.parts[COUNTS] = Part(COUNTS, 0, len(facts.triples), "the endpoint does not count")
    exact = sum(not one.sampled for one in facts.partitions.values())
    facts.parts[ENDS] = Part(ENDS, exact, len(facts.partitions))
    facts.cuts.append("the endpoint does not count: all numbers are those of samples")


async def _looked_at(inquiry: Inquiry, classes: Sequence[str]) -> "list[_Tally]":
    parts = " UNION ".join(
        f"{{ SELECT ?c ?s {{ VALUES ?c {{ <{iri}> }} ?s a ?c }} LIMIT {_INSTANCES} }}"
        for iri in classes
    )
    query = f"SELECT ?c ?s ?p ?o ?t {{ {{ {parts} }} ?s ?p ?o OPTIONAL {{ ?o a ?t }} }} LIMIT "
    reply = await inquiry.rows("some instances of classes", f"{query}{_ROWS}")
    if reply is None:
        return []
    if reply.cut and len(classes) > 1:
        return [one for cls in classes for one in await _looked_at(inquiry, [cls])]
    tallies = {iri: _Tally(iri) for iri in classes}
    for row in reply.rows:
        if isinstance(row[0], NamedNode) and row[0].value in tallies:
            tallies[row[0].value].add(row)
    cut = reply.cut or len(reply.rows) >= _ROWS
    for tally in tallies.values():
        tally.cut = cut
    return list(tallies.values())


@dataclass
class _Tally:
    """The properties of the instances of one class."""

    cls: str
    instances: set[Term] = field(default_factory=set)
    pairs: dict[str, set[tuple[Term, Term]]] = field(default_factory=lambda: defaultdict(set))
    types: dict[Term, set[str]] = field(default_factory=lambda: defaultdict(set))
    cut: bool = False

    def add(self, row: Row) -> None:
        """Keep a row: class, instance, predicate, object and perhaps a class of the object."""
        _, subject, predicate, value, kind = row
        if subject is None or value is None or not isinstance(predicate, NamedNode):
            return
        self.instances.add(subject)
        self.pairs[predicate.value].add((subject, value))
        if isinstance(kind, NamedNode):
            self.types[value].add(kind.value)

    def keep(self, facts: Facts) -> bool:
        """Put partitions among the facts, and say whether all instances came."""
        whole = len(self.instances) < _INSTANCES and not self.cut and bool(self.pairs)
        if whole:
            facts.classes[self.cls] = len(self.instances)
        for predicate, pairs in self.pairs.items():
            targets, datatypes, languages = self._ends(pairs)
            subjects, objects = {s for s, _ in pairs}, {o for _, o in pairs}
            facts.partitions[self.cls, predicate] = Partition(
                self.cls,
                predicate,
                len(pairs),
                len(subjects),
                len(objects),
                sorted_counts(targets),
                sorted_counts(datatypes),
                sampled=not whole,
            )
            facts.subject_classes[predicate][self.cls] += len(subjects)
            facts.object_classes[predicate].update(targets)
            facts.datatypes[predicate].update(datatypes)
            facts.languages[predicate].update(languages)
        return whole

    def _ends(
        self, pairs: Iterable[tuple[Term, Term]]
    ) -> tuple[Counter[str], Counter[str], Counter[str]]:
        targets, datatypes, languages = Counter[str](), Counter[str](), Counter[str]()
        for _, value in pairs:
            if not isinstance(value, Literal):
                targets.update(self.types.get(value) or (v.RDFS_RESOURCE,))
            elif value.language:
                datatypes[v.RDF_LANG_STRING] += 1
                languages[value.language] += 1
            else:
                datatypes[value.datatype.value] += 1
        return targets, datatypes, languages


def _add_up(facts: Facts, tallies: "Sequence[_Tally]") -> None:
    """Count the triples seen of each predicate over all classes, each once."""
    seen: dict[str, set[tuple[Term, Term]]] = defaultdict(set)
    for tally in tallies:
        for predicate, pairs in tally.pairs.items():
            seen[predicate] |= pairs
    for predicate, pairs in seen.items():
        facts.triples[predicate] = max(len(pairs), facts.triples.get(predicate, 0))
        facts.subjects[predicate] = len({s for s, _ in pairs})
        facts.objects[predicate] = len({o for _, o in pairs})
