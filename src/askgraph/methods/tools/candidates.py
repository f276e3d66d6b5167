"""Graph search's candidates with their results, and how a model is shown them.

A candidate that only shows the nodes which its pattern can be has its result in the arrays already;
the others are run, best first, as long as there is time.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize import iris_of
from askgraph.errors import QueryError, ServiceError
from askgraph.graph.arrays import GraphArrays, Ids, in_both
from askgraph.graph.literals import resource_term
from askgraph.graph.profile import PredicateProfile
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import USUAL
from askgraph.methods.tools.mentions import named_links
from askgraph.methods.tools.rendering import Writer
from askgraph.search.decide import estimate_confidence, left_out
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.pipeline import propose
from askgraph.search.query_pieces import conditions_in, patterns_in, predicate_of, values_of
from askgraph.search.rank import Cluster, Proposal, clusters
from askgraph.sparql import Filter, Path, Pattern, Union, transform
from askgraph.sparql.results import SelectResult, Term, Truncation
from askgraph.sparql.serializer import plain_text
from askgraph.sparql.vocabulary import RDF_TYPE, SCHEMA_SPACES

_SHOWN = 5
_TRIED = 10
_WORSE = 0.4  # score below the best from which a candidate is not worth its tokens
_PARTIAL = 0.7  # of the confidence where words of the question are left over
_ROWS = 1000  # that are fetched of each candidate
_FIRST = 3  # candidates that are run in any case
_MANY, _WORK = 1_000, 1_200  # solutions that one query, less down the list, and all may look at
_EACH, _WALK, _FILTERED = 150, 1_000, 10  # what a query costs, and a path, and times a filter
_AT_ONCE = 8  # queries to a graph that is elsewhere
_COMPLETED = "completed"  # the note of a candidate with a condition more than it was grown with
_NAMED = 0.5  # the score of a link whose name is put into a candidate
_BASES, _ADDED, _WAYS = 6, 2, 12  # candidates that are completed, those that come of it, tried
_HOLDERS = 20_000  # nodes that have a property with the value, at most
_NEXT = 1e-3  # what the score of a completed candidate is below the first one's
_CUT = Truncation("askgraph", f"only the first {_ROWS:,} rows are looked at")


@dataclass(frozen=True)
class RunCandidate:
    """The best candidate of a cluster with its result, cut at 1,000 rows."""

    cluster: Cluster
    query: str
    columns: tuple[str, ...]
    boolean: bool | None
    result: SelectResult

    @property
    def given(self) -> SelectResult | bool:
        """The rows, or yes or no."""
        return self.result if self.boolean is None else self.boolean

    @property
    def is_empty(self) -> bool:
        """Whether it gives no row; a yes or no is one."""
        return self.boolean is None and not self.result.rows

    @property
    def whole(self) -> SelectResult | bool | None:
        """All that it gives, in the order of the rows; None if that is more."""
        if self.boolean is not None:
            return self.boolean
        return self.result if self.result.truncated is None else None

    @cached_property
    def outcome(self) -> object:
        """What tells different results apart: their terms, in whatever order the columns are."""
        at = [self.result.variables.index(column) for column in self.columns if self.result.rows]
        rows = (tuple(row[n] for n in at) for row in self.result.rows)
        if len(at) > 1:
            return self.boolean, frozenset(tuple(sorted(map(str, row))) for row in rows)
        return self.boolean, frozenset(rows)


@dataclass(frozen=True)
class BestCandidates:
    """The candidates for a question, best first, and how likely the first one is right."""

    proposal: Proposal
    candidates: tuple[RunCandidate, ...]
    confidence: float


async def best_candidates(context: Context, question: str) -> BestCandidates:
    """Return the best candidates for a question, or a part of one: five at most, none empty."""
    asked = replace(context.question, text=question)
    proposal = await propose(asked, context.graph)
    every = clusters(proposal.candidates)
    found = [one for one in every[:_TRIED] if one.score >= every[0].score - _WORSE]
    distinct = await distinct_results(context, distinct_readings(found), most=_SHOWN)
    more = await completed(context, proposal, distinct)
    distinct = [*distinct[:1], *more, *distinct[1:]][:_SHOWN]
    if not distinct:
        return BestCandidates(proposal, (), 0.0)
    sure = estimate_confidence(proposal, every)
    sure *= _PARTIAL if left_out(proposal, distinct[0].cluster.best) else 1.0
    return BestCandidates(proposal, tuple(distinct), sure)


def distinct_readings(ranked: Sequence[Cluster]) -> list[Cluster]:
    """Return the clusters without those that only add what no word asks for to a better one.

    What is added are patterns, and to the best one columns; classes that other patterns imply are
    none of these.
    """
    kept: list[Cluster] = []
    for one in ranked:
        wide = len(one.best.shown)
        alike = (c for c in kept if c is kept[0] or len(c.best.shown) == wide)
        if not any(_only_adds(one.best, better.best) for better in alike):
            kept.append(one)
    return kept


def _only_adds(more: Candidate, less: Candidate) -> bool:
    """Whether one candidate is another with further patterns, for which it needs no more words."""
    if (more.used | more.shown_words) & ~(less.used | less.shown_words):
        return False
    own, within = (Counter(map(predicate_of, _patterns(one))) for one in (less, more))
    grouped = bool(less.tree.group_by)  # a column more says nothing of a row that stands for many
    if not (own < within or (grouped and own == within)):
        return False
    does, rest, shown = _parts(more, {})
    parts = (_parts(less, known) for known in _places(_patterns(less), _patterns(more), {}))
    return any(one[0] == does and one[1] == rest and one[2] <= shown for one in parts)


def _patterns(one: Candidate) -> list[Pattern]:
    """The patterns of a candidate, but for classes that others imply."""
    every = patterns_in(one.tree.where)
    return [part for part in every if predicate_of(part) != RDF_TYPE] or every


def _parts(one: Candidate, known: Mapping[Variable, object]) -> list[set[object]]:
    """What a candidate does with what fits its patterns, and what it shows, with other names."""
    tree = one.tree
    does = (tree.form, *tree.having, *tree.order, tree.limit)
    every = [part for part in tree.where.elements if not isinstance(part, Pattern)]
    return [{_renamed(part, known) for part in some} for some in (does, every, one.shown)]


def _renamed(part: object, known: Mapping[Variable, object]) -> object:
    return transform(part, lambda one: known.get(one, one) if isinstance(one, Variable) else one)


def _places(
    patterns: Sequence[Pattern], within: Sequence[Pattern], known: Mapping[Variable, object]
) -> Iterator[Mapping[Variable, object]]:
    """The ways to find patterns among others: the variables there of those here."""
    if not patterns:
        yield known
        return
    first = patterns[0]
    for other in within:
        pairs = ((first.subject, other.subject), (first.object, other.object))
        told = {**known, **{a: b for a, b in pairs if isinstance(a, Variable)}}
        if _renamed(first, told) == other and len({*told.values()}) == len(told):
            yield from _places(patterns[1:], [one for one in within if one is not other], told)


async def completed(
    context: Context, proposal: Proposal, found: Sequence[RunCandidate]
) -> list[RunCandidate]:
    """Return at most two candidates that leave out fewer words than the first of those found.

    Growing keeps few readings with many steps: in "medium suppliers of large companies" the best
    may use "large" alone. Each of these is one of those found with one condition more, if a
    property leads from one of its things to what the words name and all else that it says fits what
    has that; each gives something that none of them does.
    """
    arrays = context.graph.arrays
    if arrays is None or not found:
        return []
    first = found[0].cluster
    least = len(left_out(proposal, first.best, read=True))
    if not least:
        return []
    links = [one for one in named_links(proposal.linked) if one.score >= _NAMED]
    links = [one for one in links if not one.mask & first.best.used]
    ways = [
        way
        for base in found[:_BASES]
        if not base.is_empty and base.boolean is None
        for link in links
        if not link.mask & base.cluster.best.used
        for way in _with(base.cluster.best, link, arrays)
    ]
    counted = [(len(left_out(proposal, one, read=True)), one) for one in ways[:_WAYS]]
    better = sorted((pair for pair in counted if pair[0] < least), key=lambda pair: pair[0])
    score = first.score - _NEXT
    ranked = [Cluster((replace(one, score=score),)) for _, one in better]
    ran = await distinct_results(context, ranked, most=_ADDED, quickly=True)
    known = {one.outcome for one in found}
    return [one for one in ran if one.outcome not in known]


def _with(base: Candidate, link: Link, arrays: GraphArrays) -> Iterator[Candidate]:
    """A candidate with what a link names as the value of a property of one of its things."""
    where, patterns = base.tree.where, patterns_in(base.tree.where)
    if any(not isinstance(one, Pattern | Filter) for one in where.elements):
        return
    target = resource_term(link.target)
    node = arrays.terms.find(str(target))
    if node is None or not isinstance(target, NamedNode | Literal):
        return
    ends = (end for one in patterns for end in (one.subject, one.object))
    things = dict.fromkeys(end for end in ends if isinstance(end, Variable))
    here = np.array([node], dtype=np.int32)
    for number in arrays.predicates_of(here, inverse=True)[0].tolist():
        iri = arrays.iri_of(number)
        holders = arrays.step(here, number, inverse=True)
        if iri in USUAL or iri.startswith(SCHEMA_SPACES) or len(holders) > _HOLDERS:
            continue
        for thing in things:
            has = Pattern(thing, NamedNode(iri), target)
            told = any((one.subject, one.predicate) == (thing, has.predicate) for one in patterns)
            ids = in_both(base.ids, holders) if thing == base.root else base.ids
            narrower = thing != base.root or 0 < len(ids) < len(base.ids)
            if not told and narrower and _fits(thing, base, holders, arrays):
                tree = replace(base.tree, where=replace(where, elements=(*where.elements, has)))
                used, notes = base.used | link.mask, (*base.notes, _COMPLETED)
                yield replace(base, tree=tree, ids=ids, used=used, notes=notes)


def _fits(thing: Variable, base: Candidate, holders: Ids, arrays: GraphArrays) -> bool:
    """Whether what has the property can stand in the place of a thing in all of its patterns."""
    for one in patterns_in(base.tree.where):
        iri = one.predicate.value if isinstance(one.predicate, NamedNode) else ""
        number = arrays.number(iri) if iri else None
        sides = [inverse for inverse, end in enumerate((one.subject, one.object)) if end == thing]
        for inverse in sides if number is not None else ():
            if number not in arrays.present(holders, inverse=bool(inverse)):
                return False
    return True


async def distinct_results(
    context: Context,
    ranked: Sequence[Cluster],
    *,
    most: int,
    quickly: bool = False,
    seconds: float | None = None,
    empty: bool = False,
) -> list[RunCandidate]:
    """Return at most so many of the clusters, best first: none twice, and none that is empty.

    With `empty` one that is stands among them as well. `quickly` only some are run: the first few,
    and after them as many as are expected to be quick together, by how many solutions they may
    have; so the same question always has the same candidates. `seconds` bound what is run
    altogether. A candidate that cannot be run is left out.
    """
    if quickly:
        # The clusters without those further down whose queries are expected to take long together.
        known = {one.iri: one for one in context.graph.profile.predicates}
        kept, work = [], 0.0
        for place, cluster in enumerate(ranked):
            if not _only_shows_its_nodes(cluster.best):
                more = _EACH + _work(cluster.best, known)
                too_many = more > _MANY / (1 + place / 4) or work + more > _WORK
                if place >= _FIRST and too_many:
                    continue
                work += more
            kept.append(cluster)
        ranked = kept
    until = None if seconds is None else time.perf_counter() + seconds
    found: dict[object, RunCandidate] = {}
    tables = set[object]()
    size = 1 if context.graph.arrays is not None else _AT_ONCE  # a graph here runs one at a time
    for at in range(0, len(ranked), size):
        batch = (_ran(context, cluster, until) for cluster in ranked[at : at + size])
        for one in await asyncio.gather(*batch):
            if one is None or (one.is_empty and not empty):
                continue
            table = frozenset(one.result.rows)
            if not table or table not in tables:
                found.setdefault(one.outcome, one)
            tables.add(table)
        if len(found) >= most:
            break
    return list(found.values())[:most]


def _work(candidate: Candidate, known: Mapping[str, PredicateProfile]) -> float:
    """How many solutions an engine may look at, a guess.

    Those that the pattern may have, on from the nodes that it was grown with; more if a filter
    keeps few of them, or if paths have to be walked.
    """
    reached = {candidate.root}
    number = float(max(1, len(candidate.ids)))
    patterns = patterns_in(candidate.tree.where)
    left = list(patterns)
    while found := next((p for p in left if {p.subject, p.object} & reached), None):
        left.remove(found)
        profile = known.get(predicate_of(found))
        onward = found.subject in reached
        new = found.object if onward else found.subject
        if profile is not None and isinstance(new, Variable) and new not in reached:
            ends = profile.subjects if onward else profile.objects
            number *= max(1.0, profile.triples / max(1, ends))
        reached.add(new)
    walked = _WALK * any(isinstance(one.predicate, Path) for one in patterns)
    return number * (_FILTERED if conditions_in(candidate.tree.where) else 1) + walked


def shown_iris(one: RunCandidate, rows: int) -> list[str]:
    """Return the IRIs of a candidate's query, and of so many of its rows."""
    terms = (term for row in one.result.rows[:rows] for term in row)
    return [*iris_of(one.query), *(term.value for term in terms if isinstance(term, NamedNode))]


def preview(one: RunCandidate, writer: Writer, rows: int) -> str:
    """Return what a candidate gives: yes or no, or the number of its rows and the first ones."""
    if one.boolean is not None:
        return "yes" if one.boolean else "no"
    if one.is_empty:
        return "no rows"
    number = len(one.result.rows)
    count = f"{number}{'+' if one.result.truncated else ''} row{'s' * (number > 1)}"
    shown = []
    for row in one.result.rows[:rows]:
        texts = {term.value for term in row if isinstance(term, Literal)}
        shown.append(", ".join(_cell(term, writer, texts) for term in row))
    return f"{count}: {'; '.join(shown)}{'; …' if number > rows else ''}"


def _cell(term: Term | None, writer: Writer, texts: set[str]) -> str:
    """A term; a thing whose name is among the `texts` beside it goes without its label."""
    if not isinstance(term, NamedNode):
        return writer.term(term)
    short, name = writer.short(term.value), writer.name(term.value)
    if writer.labels.get(term.value, "") in texts:
        return short
    return name if name != short else writer.iri(term.value)


async def _ran(context: Context, cluster: Cluster, until: float | None) -> RunCandidate | None:
    """The result of a best candidate; None if it cannot be had in time."""
    best, graph = cluster.best, context.graph
    query, columns = plain_text(best.query, graph.prefixes, graph.profile.types), best.columns
    arrays = graph.arrays
    if arrays is not None and _only_shows_its_nodes(best):
        rows = tuple((arrays.terms.term(int(at)),) for at in best.ids[:_ROWS])
        cut = _CUT if len(best.ids) > _ROWS else None
        return RunCandidate(
            cluster, query, columns, None, SelectResult(columns, rows, cut).sorted()
        )
    left = context.limits.timeout
    if until is not None:
        left = min(left, until - time.perf_counter())
    if left <= 0:
        return None
    try:
        if best.asks:
            holds = await graph.endpoint.ask(query, timeout=left)
            return RunCandidate(cluster, query, columns, holds, SelectResult((), ()))
        result = await graph.endpoint.select(query, timeout=left, limit=_ROWS)
    except (QueryError, ServiceError):
        return None
    ordered = result if best.tree.order else result.sorted()
    return RunCandidate(cluster, query, columns, None, ordered)


def _only_shows_its_nodes(candidate: Candidate) -> bool:
    """Whether the result is the set of nodes that the pattern was grown with."""
    tree = candidate.tree
    filtered = _COMPLETED in candidate.notes
    filtered = filtered or any(isinstance(one, Filter | Union) for one in tree.where.elements)
    cut = tree.limit is not None or tree.offset
    more = filtered or tree.group_by or tree.having or tree.order or cut
    return not more and values_of(tree) == [candidate.root]
