"""The survey of partitions: class, predicate, target; counted for all, for some, or in samples."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyoxigraph import BlankNode, Literal

from askgraph.graph.bounded_queries import Inquiry
from askgraph.graph.profile import CLASSES, ENDS, PARTITIONS, Part, Partition, sorted_counts
from askgraph.graph.survey import SAMPLE, TOLD, Facts, number_in, together
from askgraph.index.name_search import iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, value_of

_COUNTABLE = 100_000  # instances that are counted together; a bigger class is sampled
_SAMPLED_TOGETHER = 5
_KEPT = 0.3  # of the bound, for what is asked after this

Key = tuple[str, str]


async def ask_partitions(inquiry: Inquiry, facts: Facts) -> None:
    """Ask for the partitions of all classes at once, else of some at a time, big ones in samples.

    A class whose predicates are those of a sample is not counted as known.
    """
    classes = sorted(facts.classes, key=lambda iri: (-facts.classes[iri], iri))
    if not classes:
        known = facts.parts[CLASSES].total if CLASSES in facts.parts else None
        facts.parts[PARTITIONS] = Part(PARTITIONS, 0, known)
        return
    survey = _Survey(inquiry, facts)
    if not await survey.counted("?s a ?c .", costly=True):
        for scope in _scopes(classes, facts):
            if inquiry.share_left() < _KEPT:
                break
            await survey.ask(scope)
    survey.close(len(classes))


@dataclass(frozen=True)
class _Scope:
    """Classes asked of together; `sampled` if only some of their instances are looked at."""

    classes: tuple[str, ...]
    sampled: bool = False

    @property
    def pattern(self) -> str:
        """The pattern that binds `?s` to instances and `?c` to their class."""
        if not self.sampled:
            return f"VALUES ?c {{ {iris(self.classes)} }} ?s a ?c ."
        parts = (
            f"{{ SELECT ?s ?c {{ VALUES ?c {{ <{iri}> }} ?s a ?c }} LIMIT {SAMPLE} }}"
            for iri in self.classes
        )
        return f"{{ {' UNION '.join(parts)} }}"


def _scopes(classes: Sequence[str], facts: Facts) -> Iterator[_Scope]:
    """Yield the classes in groups, in their order: big ones to sample, others to count."""
    group: list[str] = []
    most = together(len(classes))
    size, sampling = 0, False
    for iri in classes:
        big = facts.classes[iri] > _COUNTABLE
        full = len(group) >= (_SAMPLED_TOGETHER if sampling else most)
        heavy = not big and size + facts.classes[iri] > _COUNTABLE
        if group and (big is not sampling or full or heavy):
            yield _Scope(tuple(group), sampling)
            group, size = [], 0
        sampling = big
        group.append(iri)
        size += facts.classes[iri]
    if group:
        yield _Scope(tuple(group), sampling)


_COUNTS = (
    "SELECT ?c ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to) "
    "{ %s ?s ?p ?o } GROUP BY ?c ?p"
)
_TARGETS = "SELECT ?c ?p ?t (COUNT(*) AS ?n) { %s ?s ?p ?o . ?o a ?t } GROUP BY ?c ?p ?t"
# Not one query with OPTIONAL: Virtuoso 7 loses solutions of that one, and does not say so.
_UNTYPED = (
    f"SELECT ?c ?p (<{v.RDFS_RESOURCE}> AS ?t) (COUNT(*) AS ?n) {{ %s ?s ?p ?o . "
    "FILTER(!isLiteral(?o)) FILTER NOT EXISTS { ?o a ?any } } GROUP BY ?c ?p"
)
_DATATYPES = (
    "SELECT ?c ?p ?t (COUNT(*) AS ?n) "
    f'{{ %s ?s ?p ?o . FILTER(isLiteral(?o)) BIND(IF(LANG(?o) != "", <{v.RDF_LANG_STRING}>, '
    "DATATYPE(?o)) AS ?t) } GROUP BY ?c ?p ?t"
)


@dataclass
class _Survey:
    """Asks of one group of classes after the other, and keeps what comes."""

    inquiry: Inquiry
    facts: Facts
    known: set[str] = field(default_factory=set)
    sampled: set[str] = field(default_factory=set)
    unended: set[Key] = field(default_factory=set)
    cut: bool = False

    @property
    def typing(self) -> str:
        """The predicate that tells what things are."""
        return self.facts.types.get(v.RDF_TYPE, v.RDF_TYPE)

    async def ask(self, scope: _Scope) -> None:
        """Count in the instances of some classes; if that fails, in samples of them."""
        if not scope.sampled:
            if await self.counted(scope.pattern):
                return
            if self.cut and len(scope.classes) > 1:
                half = len(scope.classes) // 2
                for part in (scope.classes[:half], scope.classes[half:]):
                    if self.inquiry.share_left() >= _KEPT:
                        await self.ask(_Scope(part))
                return
        for at in range(0, len(scope.classes), _SAMPLED_TOGETHER):
            some = replace(scope, classes=scope.classes[at : at + _SAMPLED_TOGETHER], sampled=True)
            if await self.counted(some.pattern, sampled=True):
                self.sampled |= set(some.classes)

    async def counted(self, pattern: str, *, costly: bool = False, sampled: bool = False) -> bool:
        """Return whether the partitions of the classes in a pattern came."""
        words = "predicates of classes"
        counts = await self.inquiry.rows(words, _COUNTS % pattern, costly=costly)
        self.cut = counts is not None and counts.cut
        if counts is None or counts.cut or not counts.rows:
            return False
        ends: dict[str, dict[Key, Counter[str]]] = {"classes": {}, "datatypes": {}}
        missing = []
        for what, query in (
            ("classes", _TARGETS),
            ("classes", _UNTYPED),
            ("datatypes", _DATATYPES),
        ):
            reply = await self.inquiry.rows(f"{what} of objects", query % pattern, costly=costly)
            for key, tally in (_ends(reply.rows) if reply else {}).items():
                ends[what].setdefault(key, Counter()).update(tally)
            if reply is None or reply.cut:
                missing.append(what)
        if not sampled:
            for cls, predicate, _, subjects, _ in counts.rows:
                name = value_of(cls) or ""
                if value_of(predicate) == self.typing and self.facts.classes.get(name) == 0:
                    self.facts.classes[name] = number_in(subjects)
        for row in counts.rows:
            self._keep(row, ends, sampled=sampled, ended=not missing)
        return True

    def close(self, classes: int) -> None:
        """Record how much is known, and why not more."""
        facts = self.facts
        notes = []
        lost = {cls for cls in self.known if self._lost(cls)}
        if lost:
            self.known -= lost
            notes.append(f"{len(lost):,} classes lack predicates that their instances have")
            facts.cuts.append(f"some predicates of {len(lost):,} classes")
        if sampled := len(self.sampled - self.known):
            notes.append(
                f"{sampled:,} classes in samples of {SAMPLE:,} instances: what fewer than"
                f" 3 in {SAMPLE:,} have may be missing"
            )
            facts.cuts.append(f"predicates of {sampled:,} classes are those of samples")
        rest = classes - len(self.known | self.sampled | lost)
        if rest:
            notes.append(f"{rest:,} classes were not asked about, or the endpoint could not say")
            facts.cuts.append(f"predicates of {rest:,} classes")
        facts.parts[PARTITIONS] = Part(PARTITIONS, len(self.known), classes, "; ".join(notes))
        ended = len(facts.partitions) - len(self.unended)
        facts.parts[ENDS] = Part(ENDS, ended, len(facts.partitions))

    def _lost(self, cls: str) -> bool:
        """Return whether predicates of a class did not come, by what is known from elsewhere."""
        facts = self.facts
        typed = facts.partitions.get((cls, self.typing))
        if typed is None or typed.subjects < TOLD * facts.classes[cls]:
            return True
        return any((cls, iri) not in facts.partitions for iri in self._used[cls])

    @cached_property
    def _used(self) -> dict[str, list[str]]:
        """The predicates that are known to leave from each class."""
        used: dict[str, list[str]] = defaultdict(list)
        for iri, classes in self.facts.subject_classes.items():
            for cls in classes:
                used[cls].append(iri)
        return used

    def _keep(
        self, row: Row, ends: dict[str, dict[Key, Counter[str]]], *, sampled: bool, ended: bool
    ) -> None:
        cls, predicate = value_of(row[0]) or "", value_of(row[1]) or ""
        if isinstance(row[0], BlankNode | Literal) or cls not in self.facts.classes:
            return
        key = (cls, predicate)
        size = self.facts.classes[cls]
        some = sampled and not 0 < size < SAMPLE
        scale = max(1.0, size / SAMPLE) if sampled else 1.0
        triples, subjects, objects = (round(scale * number_in(term)) for term in row[2:])
        targets, datatypes = (
            tuple((name, round(scale * n)) for name, n in sorted_counts(ends[what][key]))
            if key in ends[what]
            else ()
            for what in ("classes", "datatypes")
        )
        self.facts.partitions[key] = Partition(
            cls, predicate, triples, subjects, objects, targets, datatypes, sampled=some
        )
        if not some:
            self.known.add(cls)
        told = sum(number for _, number in (*targets, *datatypes))
        if not ended or told < TOLD * triples:
            self.unended.add(key)


def _ends(rows: Sequence[Row]) -> dict[Key, Counter[str]]:
    found: dict[Key, Counter[str]] = {}
    for cls, predicate, end, number in rows:
        if isinstance(end, BlankNode | Literal):
            continue
        name = value_of(end) or v.XSD_STRING
        key = (value_of(cls) or "", value_of(predicate) or "")
        found.setdefault(key, Counter())[name] += number_in(number)
    return found
