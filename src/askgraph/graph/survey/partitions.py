"""Survey partitions: class, predicate, target; counted for all, for some, or in samples."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pyoxigraph import BlankNode, Literal

from askgraph.graph.bounded_queries import QuerySession
from askgraph.graph.profile import CLASSES, ENDS, PARTITIONS, Part, Partition, sort_counts
from askgraph.graph.survey import (
    MIN_SUM_SHARE,
    SAMPLE_SIZE,
    SurveyFacts,
    choose_batch_size,
    parse_count,
)
from askgraph.index.name_search import format_iris
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import Row, to_plain_value

_MAX_COUNTED_INSTANCES = 100_000  # instances that are counted together; a bigger class is sampled
_SAMPLE_BATCH_SIZE = 5
_RESERVED_SHARE = 0.3  # part of the bound reserved for later queries

Key = tuple[str, str]


async def collect_partitions(session: QuerySession, facts: SurveyFacts) -> None:
    """Query the partitions of all classes at once, else of some at a time, big ones in samples.

    A class whose predicates come from a sample does not count as known.
    """
    classes = sorted(facts.classes, key=lambda iri: (-facts.classes[iri], iri))
    if not classes:
        class_total = facts.parts[CLASSES].total if CLASSES in facts.parts else None
        facts.parts[PARTITIONS] = Part(PARTITIONS, 0, class_total)
        return
    survey = _PartitionSurvey(session, facts)
    if not await survey.record_partitions("?s a ?c .", costly=True):
        for scope in _split_classes(classes, facts):
            if session.get_remaining_share() < _RESERVED_SHARE:
                break
            await survey.collect_batch(scope)
    survey.record_completeness(len(classes))


@dataclass(frozen=True)
class _ClassBatch:
    """Classes to query together; `sampled` if only some of their instances are read."""

    classes: tuple[str, ...]
    sampled: bool = False

    @property
    def pattern(self) -> str:
        """The pattern that binds `?s` to instances and `?c` to their class."""
        if not self.sampled:
            return f"VALUES ?c {{ {format_iris(self.classes)} }} ?s a ?c ."
        parts = (
            f"{{ SELECT ?s ?c {{ VALUES ?c {{ <{iri}> }} ?s a ?c }} LIMIT {SAMPLE_SIZE} }}"
            for iri in self.classes
        )
        return f"{{ {' UNION '.join(parts)} }}"


def _split_classes(classes: Sequence[str], facts: SurveyFacts) -> Iterator[_ClassBatch]:
    """Yield the classes in batches, in their order: big ones to sample, others to count."""
    group: list[str] = []
    max_classes = choose_batch_size(len(classes))
    size, is_sampling = 0, False
    for iri in classes:
        is_big = facts.classes[iri] > _MAX_COUNTED_INSTANCES
        is_full = len(group) >= (_SAMPLE_BATCH_SIZE if is_sampling else max_classes)
        is_heavy = not is_big and size + facts.classes[iri] > _MAX_COUNTED_INSTANCES
        if group and (is_big is not is_sampling or is_full or is_heavy):
            yield _ClassBatch(tuple(group), is_sampling)
            group, size = [], 0
        is_sampling = is_big
        group.append(iri)
        size += facts.classes[iri]
    if group:
        yield _ClassBatch(tuple(group), is_sampling)


_COUNTS_QUERY = (
    "SELECT ?c ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?from) (COUNT(DISTINCT ?o) AS ?to) "
    "{ %s ?s ?p ?o } GROUP BY ?c ?p"
)
_TARGETS_QUERY = "SELECT ?c ?p ?t (COUNT(*) AS ?n) { %s ?s ?p ?o . ?o a ?t } GROUP BY ?c ?p ?t"
# Avoid a single query with OPTIONAL: Virtuoso 7 silently loses solutions of it.
_UNTYPED_QUERY = (
    f"SELECT ?c ?p (<{v.RDFS_RESOURCE}> AS ?t) (COUNT(*) AS ?n) {{ %s ?s ?p ?o . "
    "FILTER(!isLiteral(?o)) FILTER NOT EXISTS { ?o a ?any } } GROUP BY ?c ?p"
)
_DATATYPES_QUERY = (
    "SELECT ?c ?p ?t (COUNT(*) AS ?n) "
    f'{{ %s ?s ?p ?o . FILTER(isLiteral(?o)) BIND(IF(LANG(?o) != "", <{v.RDF_LANG_STRING}>, '
    "DATATYPE(?o)) AS ?t) } GROUP BY ?c ?p ?t"
)


@dataclass
class _PartitionSurvey:
    """Queries one batch of classes after another and records the partitions."""

    session: QuerySession
    facts: SurveyFacts
    counted_classes: set[str] = field(default_factory=set)  # classes whose partitions are counted
    sampled_classes: set[str] = field(default_factory=set)  # their partitions come from a sample
    incomplete: set[Key] = field(default_factory=set)  # without complete targets and datatypes
    cut: bool = False  # whether the last reply was cut off

    @property
    def type_predicate(self) -> str:
        """The predicate that leads from instances to classes."""
        return self.facts.types.get(v.RDF_TYPE, v.RDF_TYPE)

    async def collect_batch(self, batch: _ClassBatch) -> None:
        """Count the instances of some classes; if that fails, sample them."""
        if not batch.sampled:
            if await self.record_partitions(batch.pattern):
                return
            if self.cut and len(batch.classes) > 1:
                half = len(batch.classes) // 2
                for classes in (batch.classes[:half], batch.classes[half:]):
                    if self.session.get_remaining_share() >= _RESERVED_SHARE:
                        await self.collect_batch(_ClassBatch(classes))
                return
        for start in range(0, len(batch.classes), _SAMPLE_BATCH_SIZE):
            sample_batch = replace(
                batch, classes=batch.classes[start : start + _SAMPLE_BATCH_SIZE], sampled=True
            )
            if await self.record_partitions(sample_batch.pattern, is_sampled=True):
                self.sampled_classes |= set(sample_batch.classes)

    async def record_partitions(
        self, pattern: str, *, costly: bool = False, is_sampled: bool = False
    ) -> bool:
        """Query and record the partitions of the classes in a pattern; return whether they came."""
        words = "predicates of classes"
        counts = await self.session.select(words, _COUNTS_QUERY % pattern, costly=costly)
        self.cut = counts is not None and counts.cut
        if counts is None or counts.cut or not counts.rows:
            return False
        ends: dict[str, dict[Key, Counter[str]]] = {"classes": {}, "datatypes": {}}
        missing_ends = []
        for noun, query in (
            ("classes", _TARGETS_QUERY),
            ("classes", _UNTYPED_QUERY),
            ("datatypes", _DATATYPES_QUERY),
        ):
            reply = await self.session.select(f"{noun} of objects", query % pattern, costly=costly)
            for key, tally in (_count_ends(reply.rows) if reply else {}).items():
                ends[noun].setdefault(key, Counter()).update(tally)
            if reply is None or reply.cut:
                missing_ends.append(noun)
        if not is_sampled:
            for cls, predicate, _, subjects, _ in counts.rows:
                name = to_plain_value(cls) or ""
                if (
                    to_plain_value(predicate) == self.type_predicate
                    and self.facts.classes.get(name) == 0
                ):
                    self.facts.classes[name] = parse_count(subjects)
        for row in counts.rows:
            self._record_row(row, ends, is_sampled=is_sampled, has_ends=not missing_ends)
        return True

    def record_completeness(self, class_count: int) -> None:
        """Record the completeness of the partitions, with reasons."""
        facts = self.facts
        notes = []
        incomplete_classes = {cls for cls in self.counted_classes if self._is_incomplete(cls)}
        if incomplete_classes:
            self.counted_classes -= incomplete_classes
            notes.append(
                f"{len(incomplete_classes):,} classes lack predicates that their instances have"
            )
            facts.cuts.append(f"some predicates of {len(incomplete_classes):,} classes")
        if sampled_count := len(self.sampled_classes - self.counted_classes):
            notes.append(
                f"{sampled_count:,} classes in samples of {SAMPLE_SIZE:,} instances: "
                f"predicates of fewer than 3 in {SAMPLE_SIZE:,} may be missing"
            )
            facts.cuts.append(f"predicates of {sampled_count:,} classes are those of samples")
        unknown_count = class_count - len(
            self.counted_classes | self.sampled_classes | incomplete_classes
        )
        if unknown_count:
            notes.append(
                f"{unknown_count:,} classes were not queried, or the endpoint gave no answer"
            )
            facts.cuts.append(f"predicates of {unknown_count:,} classes")
        facts.parts[PARTITIONS] = Part(
            PARTITIONS, len(self.counted_classes), class_count, "; ".join(notes)
        )
        complete_count = len(facts.partitions) - len(self.incomplete)
        facts.parts[ENDS] = Part(ENDS, complete_count, len(facts.partitions))

    def _is_incomplete(self, cls: str) -> bool:
        """Return whether predicates of a class are missing, judged by other facts."""
        facts = self.facts
        type_partition = facts.partitions.get((cls, self.type_predicate))
        if type_partition is None or type_partition.subjects < MIN_SUM_SHARE * facts.classes[cls]:
            return True
        return any((cls, iri) not in facts.partitions for iri in self._predicates_by_class[cls])

    @cached_property
    def _predicates_by_class(self) -> dict[str, list[str]]:
        predicates: dict[str, list[str]] = defaultdict(list)
        for iri, classes in self.facts.subject_classes.items():
            for cls in classes:
                predicates[cls].append(iri)
        return predicates

    def _record_row(
        self,
        row: Row,
        ends: dict[str, dict[Key, Counter[str]]],
        *,
        is_sampled: bool,
        has_ends: bool,
    ) -> None:
        cls, predicate = to_plain_value(row[0]) or "", to_plain_value(row[1]) or ""
        if isinstance(row[0], BlankNode | Literal) or cls not in self.facts.classes:
            return
        key = (cls, predicate)
        size = self.facts.classes[cls]
        is_scaled = is_sampled and not 0 < size < SAMPLE_SIZE
        scale = max(1.0, size / SAMPLE_SIZE) if is_sampled else 1.0
        triples, subjects, objects = (round(scale * parse_count(term)) for term in row[2:])
        targets, datatypes = (
            tuple((name, round(scale * n)) for name, n in sort_counts(ends[noun][key]))
            if key in ends[noun]
            else ()
            for noun in ("classes", "datatypes")
        )
        self.facts.partitions[key] = Partition(
            cls, predicate, triples, subjects, objects, targets, datatypes, sampled=is_scaled
        )
        if not is_scaled:
            self.counted_classes.add(cls)
        target_sum = sum(number for _, number in (*targets, *datatypes))
        if not has_ends or target_sum < MIN_SUM_SHARE * triples:
            self.incomplete.add(key)


def _count_ends(rows: Sequence[Row]) -> dict[Key, Counter[str]]:
    counts: dict[Key, Counter[str]] = {}
    for cls, predicate, end, number in rows:
        if isinstance(end, BlankNode | Literal):
            continue
        name = to_plain_value(end) or v.XSD_STRING
        key = (to_plain_value(cls) or "", to_plain_value(predicate) or "")
        counts.setdefault(key, Counter())[name] += parse_count(number)
    return counts
