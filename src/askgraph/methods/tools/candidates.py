"""Candidates of graph search with their results, and their text for a model.

A candidate that only returns the nodes of its pattern has its result in the arrays already; the
others are run, best first, while there is time.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.verbalize import list_query_iris
from askgraph.errors import QueryError, ServiceError
from askgraph.graph.arrays import GraphArrays, Ids, intersect
from askgraph.graph.literals import parse_resource_term
from askgraph.graph.profile import PredicateProfile
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import USUAL_PREDICATES
from askgraph.methods.tools.mentions import select_links
from askgraph.methods.tools.rendering import TermWriter
from askgraph.search.decide import estimate_confidence, find_omitted_words
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import QueryCandidate
from askgraph.search.optional_names import drop_optional_columns
from askgraph.search.pipeline import propose
from askgraph.search.query_pieces import (
    get_predicate,
    list_column_values,
    list_conditions,
    list_patterns,
)
from askgraph.search.rank import Cluster, RankedCandidates, cluster_candidates
from askgraph.sparql import Filter, Path, Pattern, Union, transform
from askgraph.sparql.results import SelectResult, Term, Truncation
from askgraph.sparql.serializer import render_query
from askgraph.sparql.vocabulary import RDF_TYPE, SCHEMA_NAMESPACES

_MAX_CANDIDATES = 5
_MAX_CLUSTERS = 10
_MAX_SCORE_GAP = 0.4  # candidates further below the best score are not shown
_PARTIAL_MATCH_WEIGHT = 0.7  # confidence factor if words of the question are unused
_MAX_CELL_CHARACTERS = 24  # characters of an IRI without a prefix in a row
_MAX_ROWS = 1000  # that are fetched of each candidate
_MIN_RUN_COUNT = 3  # candidates that are run in any case
_MAX_QUERY_SOLUTIONS, _MAX_TOTAL_SOLUTIONS = (
    1_000,
    1_200,
)  # solutions that one query, less down the list, and all may look at
_QUERY_COST_SOLUTIONS, _PATH_COST_SOLUTIONS, _FILTER_COST_RATIO = (
    150,
    1_000,
    10,
)  # cost of a query, of a path, and factor of a filter
_BATCH_SIZE = 8  # queries to a graph that is elsewhere
_COMPLETION_NOTE = (
    "completed"  # the note of a candidate with a condition more than it was grown with
)
_MIN_LINK_SCORE = 0.5  # minimum score of a link to complete a candidate with
_MAX_BASE_CANDIDATES, _MAX_COMPLETIONS, _MAX_TRIED_COMPLETIONS = (
    6,
    2,
    12,
)  # candidates to complete, completions to try
_MAX_SUBJECTS = 20_000  # nodes that have a property with the value, at most
_COMPLETION_PENALTY = 1e-3  # score gap between a completed candidate and the first one
_ROW_TRUNCATION = Truncation("askgraph", f"only the first {_MAX_ROWS:,} rows are looked at")


@dataclass(frozen=True)
class CandidateResult:
    """The best candidate of a cluster with its result, truncated to 1,000 rows."""

    cluster: Cluster
    query: str
    columns: tuple[str, ...]
    boolean: bool | None
    result: SelectResult
    is_tied: bool | None = None  # whether a limit of 1 cuts off equals; None if there is none

    @property
    def rows_or_boolean(self) -> SelectResult | bool:
        """The rows, or the boolean of an ASK query."""
        return self.result if self.boolean is None else self.boolean

    @property
    def is_empty(self) -> bool:
        """Whether there are no rows; a boolean is never empty."""
        return self.boolean is None and not self.result.rows

    @property
    def complete_result(self) -> SelectResult | bool | None:
        """The complete result in row order; None if it was truncated."""
        if self.boolean is not None:
            return self.boolean
        return self.result if self.result.truncated is None else None

    @cached_property
    def result_key(self) -> object:
        """A key that equal results share, whatever the order of their columns."""
        at = [self.result.variables.index(column) for column in self.columns if self.result.rows]
        rows = (tuple(row[n] for n in at) for row in self.result.rows)
        if len(at) > 1:
            return self.boolean, frozenset(tuple(sorted(map(str, row))) for row in rows)
        return self.boolean, frozenset(rows)


@dataclass(frozen=True)
class BestCandidates:
    """Candidates for a question, best first, and the probability that the first one is right."""

    proposal: RankedCandidates
    candidates: tuple[CandidateResult, ...]
    confidence: float


async def find_best_candidates(context: Context, question: str) -> BestCandidates:
    """Return the best candidates for a question or a part of it: at most five, none empty."""
    proposal = await propose(replace(context.question, text=question), context.graph)
    ranked_clusters = cluster_candidates(proposal.candidates)
    near_clusters = [
        cluster
        for cluster in ranked_clusters[:_MAX_CLUSTERS]
        if cluster.score >= ranked_clusters[0].score - _MAX_SCORE_GAP
    ]
    distinct = await run_distinct(
        context, drop_extensions(near_clusters), max_results=_MAX_CANDIDATES
    )
    completions = await complete_candidates(context, proposal, distinct)
    distinct = [*distinct[:1], *completions, *distinct[1:]][:_MAX_CANDIDATES]
    if not distinct:
        return BestCandidates(proposal, (), 0.0)
    confidence = estimate_confidence(proposal, ranked_clusters)
    confidence *= (
        _PARTIAL_MATCH_WEIGHT if find_omitted_words(proposal, distinct[0].cluster.best) else 1.0
    )
    return BestCandidates(proposal, tuple(distinct), confidence)


def drop_extensions(ranked: Sequence[Cluster]) -> list[Cluster]:
    """Return the clusters without those that extend a better one by parts that no word asks for.

    Such parts are patterns and, compared with the best cluster, columns. Classes that other
    patterns imply do not count.
    """
    clusters: list[Cluster] = []
    for cluster in ranked:
        column_count = len(cluster.best.shown)
        comparable = (c for c in clusters if c is clusters[0] or len(c.best.shown) == column_count)
        if not any(_is_extension(cluster.best, better.best) for better in comparable):
            clusters.append(cluster)
    return clusters


def _is_extension(extension: QueryCandidate, base: QueryCandidate) -> bool:
    """Return whether a candidate is another one plus patterns, without using more words."""
    if (extension.used | extension.shown_words) & ~(base.used | base.shown_words):
        return False
    base_patterns, extension_patterns = (
        Counter(map(get_predicate, _list_patterns(part_sets))) for part_sets in (base, extension)
    )
    is_grouped = bool(base.tree.group_by)  # an extra column says nothing about an aggregated row
    if not (
        base_patterns < extension_patterns or (is_grouped and base_patterns == extension_patterns)
    ):
        return False
    modifiers, elements, columns = _split_candidate(extension, {})
    parts = (
        _split_candidate(base, bindings)
        for bindings in _match_patterns(_list_patterns(base), _list_patterns(extension), {})
    )
    return any(
        part_sets[0] == modifiers and part_sets[1] == elements and part_sets[2] <= columns
        for part_sets in parts
    )


def _list_patterns(candidate: QueryCandidate) -> list[Pattern]:
    """Return the patterns of a candidate without classes that other patterns imply."""
    patterns = list_patterns(candidate.tree.where)
    return [part for part in patterns if get_predicate(part) != RDF_TYPE] or patterns


def _split_candidate(
    candidate: QueryCandidate, bindings: Mapping[Variable, object]
) -> list[set[object]]:
    """Return a candidate's modifiers, further elements and columns, with variables renamed."""
    tree = candidate.tree
    modifiers = (tree.form, *tree.having, *tree.order, tree.limit)
    elements = [part for part in tree.where.elements if not isinstance(part, Pattern)]
    return [
        {_rename_variables(part, bindings) for part in items}
        for items in (modifiers, elements, candidate.shown)
    ]


def _rename_variables(part: object, bindings: Mapping[Variable, object]) -> object:
    return transform(
        part, lambda node: bindings.get(node, node) if isinstance(node, Variable) else node
    )


def _match_patterns(
    patterns: Sequence[Pattern], targets: Sequence[Pattern], bindings: Mapping[Variable, object]
) -> Iterator[Mapping[Variable, object]]:
    """Yield the ways to match patterns with others: bindings of variables to variables."""
    if not patterns:
        yield bindings
        return
    first = patterns[0]
    for target in targets:
        pairs = ((first.subject, target.subject), (first.object, target.object))
        new_bindings = {**bindings, **{a: b for a, b in pairs if isinstance(a, Variable)}}
        if _rename_variables(first, new_bindings) == target and len(
            {*new_bindings.values()}
        ) == len(new_bindings):
            yield from _match_patterns(
                patterns[1:],
                [candidate for candidate in targets if candidate is not target],
                new_bindings,
            )


async def complete_candidates(
    context: Context, proposal: RankedCandidates, candidates: Sequence[CandidateResult]
) -> list[CandidateResult]:
    """Return at most two candidates that leave out fewer words than the first candidate.

    Beam search keeps few readings with many steps: in "medium suppliers of large companies" the
    best one may use "large" alone. Each candidate returned is a given one plus a condition: a
    property that leads from one of its variables to a linked term, whose subjects fit all other
    patterns of that variable. Each has a result that no given candidate has.
    """
    arrays = context.graph.arrays
    if arrays is None or not candidates:
        return []
    first = candidates[0].cluster
    left_out_count = len(find_omitted_words(proposal, first.best, is_query_shown=True))
    if not left_out_count:
        return []
    links = [item for item in select_links(proposal.linked) if item.score >= _MIN_LINK_SCORE]
    links = [item for item in links if not item.mask & first.best.used]
    ways = [
        way
        for base in candidates[:_MAX_BASE_CANDIDATES]
        if not base.is_empty and base.boolean is None
        for link in links
        if not link.mask & base.cluster.best.used
        for way in _add_link_condition(base.cluster.best, link, arrays)
    ]
    counted_ways = [
        (len(find_omitted_words(proposal, item, is_query_shown=True)), item)
        for item in ways[:_MAX_TRIED_COMPLETIONS]
    ]
    better = sorted(
        (pair for pair in counted_ways if pair[0] < left_out_count), key=lambda pair: pair[0]
    )
    score = first.score - _COMPLETION_PENALTY
    ranked = [Cluster((replace(item, score=score),)) for _, item in better]
    results = await run_distinct(context, ranked, max_results=_MAX_COMPLETIONS, quick_only=True)
    result_keys = {item.result_key for item in candidates}
    return [item for item in results if item.result_key not in result_keys]


def _add_link_condition(
    base: QueryCandidate, link: Link, arrays: GraphArrays
) -> Iterator[QueryCandidate]:
    """Yield a candidate with a linked term as the value of a property of one of its variables."""
    where, patterns = base.tree.where, list_patterns(base.tree.where)
    if any(not isinstance(pattern, Pattern | Filter) for pattern in where.elements):
        return
    target = parse_resource_term(link.target)
    node = arrays.terms.find(str(target))
    if node is None or not isinstance(target, NamedNode | Literal):
        return
    ends = (end for pattern in patterns for end in (pattern.subject, pattern.object))
    variables = dict.fromkeys(end for end in ends if isinstance(end, Variable))
    node_ids = np.array([node], dtype=np.int32)
    for number in arrays.count_predicates(node_ids, inverse=True)[0].tolist():
        iri = arrays.get_predicate_iri(number)
        subjects = arrays.step(node_ids, number, inverse=True)
        if (
            iri in USUAL_PREDICATES
            or iri.startswith(SCHEMA_NAMESPACES)
            or len(subjects) > _MAX_SUBJECTS
        ):
            continue
        for variable in variables:
            condition = Pattern(variable, NamedNode(iri), target)
            is_present = any(
                (pattern.subject, pattern.predicate) == (variable, condition.predicate)
                for pattern in patterns
            )
            ids = intersect(base.ids, subjects) if variable == base.root else base.ids
            narrower = variable != base.root or 0 < len(ids) < len(base.ids)
            if not is_present and narrower and _can_bind(variable, base, subjects, arrays):
                tree = replace(
                    base.tree, where=replace(where, elements=(*where.elements, condition))
                )
                used_words, notes = base.used | link.mask, (*base.notes, _COMPLETION_NOTE)
                yield replace(base, tree=tree, ids=ids, used=used_words, notes=notes)


def _can_bind(variable: Variable, base: QueryCandidate, subjects: Ids, arrays: GraphArrays) -> bool:
    for pattern in list_patterns(base.tree.where):
        iri = pattern.predicate.value if isinstance(pattern.predicate, NamedNode) else ""
        number = arrays.get_predicate_number(iri) if iri else None
        sides = [
            inverse
            for inverse, end in enumerate((pattern.subject, pattern.object))
            if end == variable
        ]
        for inverse in sides if number is not None else ():
            if number not in arrays.get_predicates(subjects, inverse=bool(inverse)):
                return False
    return True


async def run_distinct(
    context: Context,
    ranked: Sequence[Cluster],
    *,
    max_results: int,
    quick_only: bool = False,
    seconds: float | None = None,
    keep_empty: bool = False,
) -> list[CandidateResult]:
    """Run clusters, best first, and return their distinct results; skip those that fail.

    Args:
        max_results: results at most.
        quick_only: run only the first few clusters and as many more as are expected to be quick
            together, estimated by their numbers of solutions. The choice is deterministic.
        seconds: the time limit of all queries together.
        keep_empty: whether to include empty results.
    """
    if quick_only:
        # Drop lower clusters whose queries are expected to take too long together.
        profiles = {item.iri: item for item in context.graph.profile.predicates}
        affordable, work = [], 0.0
        for rank, cluster in enumerate(ranked):
            if not _is_node_set(cluster.best):
                cost = _QUERY_COST_SOLUTIONS + _estimate_solutions(cluster.best, profiles)
                too_many = (
                    cost > _MAX_QUERY_SOLUTIONS / (1 + rank / 4)
                    or work + cost > _MAX_TOTAL_SOLUTIONS
                )
                if rank >= _MIN_RUN_COUNT and too_many:
                    continue
                work += cost
            affordable.append(cluster)
        ranked = affordable
    end_time = None if seconds is None else time.perf_counter() + seconds
    results_by_key: dict[object, CandidateResult] = {}
    row_sets = set[object]()
    size = 1 if context.graph.arrays is not None else _BATCH_SIZE  # one by one on a local graph
    for at in range(0, len(ranked), size):
        batch = (_run_cluster(context, cluster, end_time) for cluster in ranked[at : at + size])
        for item in await asyncio.gather(*batch):
            if item is None or (item.is_empty and not keep_empty):
                continue
            rows = frozenset(item.result.rows)
            if not rows or rows not in row_sets:
                results_by_key.setdefault(item.result_key, item)
            row_sets.add(rows)
        if len(results_by_key) >= max_results:
            break
    return list(results_by_key.values())[:max_results]


def _estimate_solutions(
    candidate: QueryCandidate, profiles: Mapping[str, PredicateProfile]
) -> float:
    """Estimate how many solutions an engine may look at."""
    # These are the solutions of the pattern, starting from the nodes that it was expanded with;
    # more if a filter keeps few of them or a path must be traversed.
    reached_terms = {candidate.root}
    solutions = float(max(1, len(candidate.ids)))
    patterns = list_patterns(candidate.tree.where)
    remaining = list(patterns)
    while pattern := next((p for p in remaining if {p.subject, p.object} & reached_terms), None):
        remaining.remove(pattern)
        profile = profiles.get(get_predicate(pattern))
        is_forward = pattern.subject in reached_terms
        next_term = pattern.object if is_forward else pattern.subject
        if (
            profile is not None
            and isinstance(next_term, Variable)
            and next_term not in reached_terms
        ):
            ends = profile.subjects if is_forward else profile.objects
            solutions *= max(1.0, profile.triples / max(1, ends))
        reached_terms.add(next_term)
    path_cost = _PATH_COST_SOLUTIONS * any(isinstance(step.predicate, Path) for step in patterns)
    return (
        solutions * (_FILTER_COST_RATIO if list_conditions(candidate.tree.where) else 1) + path_cost
    )


def list_shown_iris(candidate: CandidateResult, rows: int) -> list[str]:
    """Return the IRIs of a candidate's query and of its first `rows` rows."""
    terms = (term for row in candidate.result.rows[:rows] for term in row)
    return [
        *list_query_iris(candidate.query),
        *(term.value for term in terms if isinstance(term, NamedNode)),
    ]


def preview_result(candidate: CandidateResult, writer: TermWriter, rows: int) -> str:
    """Return the result of a candidate: yes or no, or the number of its rows and the first ones."""
    if candidate.boolean is not None:
        return "yes" if candidate.boolean else "no"
    if candidate.is_empty:
        return "no rows"
    number = len(candidate.result.rows)
    count = f"{number}{'+' if candidate.result.truncated else ''} row{'s' * (number > 1)}"
    row_texts = []
    for row in candidate.result.rows[:rows]:
        texts = {term.value for term in row if isinstance(term, Literal)}
        row_texts.append(", ".join(_write_cell(term, writer, texts) for term in row))
    return f"{count}: {'; '.join(row_texts)}{'; …' if number > rows else ''}"


def _write_cell(term: Term | None, writer: TermWriter, texts: set[str]) -> str:
    """Write a term; omit the label of an entity whose name is among the `texts` beside it."""
    if not isinstance(term, NamedNode):
        return writer.write_term(term)
    is_named = writer.labels.get(term.value, "") in texts
    short = writer.write_short(term.value)
    text = short if is_named else writer.write_iri(term.value)
    is_long = short.startswith("<") and len(short) > _MAX_CELL_CHARACTERS
    return text.replace(short, f"<…{short[-_MAX_CELL_CHARACTERS:]}") if is_long else text


async def _run_cluster(
    context: Context, cluster: Cluster, end_time: float | None
) -> CandidateResult | None:
    """Return the result of the best candidate; None if there is no time or the query fails."""
    best, graph = cluster.best, context.graph
    query, columns = render_query(best.query, graph.prefixes, graph.profile.types), best.columns
    arrays = graph.arrays
    if arrays is not None and _is_node_set(best):
        rows = tuple((arrays.terms.get_term(int(at)),) for at in best.ids[:_MAX_ROWS])
        truncation = _ROW_TRUNCATION if len(best.ids) > _MAX_ROWS else None
        return CandidateResult(
            cluster, query, columns, None, SelectResult(columns, rows, truncation).sort_rows()
        )
    seconds_left = context.limits.timeout
    if end_time is not None:
        seconds_left = min(seconds_left, end_time - time.perf_counter())
    if seconds_left <= 0:
        return None
    try:
        if best.is_ask:
            holds = await graph.endpoint.ask(query, timeout=seconds_left)
            return CandidateResult(cluster, query, columns, holds, SelectResult((), ()))
        result = await graph.endpoint.select(query, timeout=seconds_left, limit=_MAX_ROWS)
    except (QueryError, ServiceError):
        return None
    is_tied = await _check_tie(context, best, seconds_left) if result.rows else None
    ordered = result if best.tree.order else result.sort_rows()
    return CandidateResult(cluster, query, columns, None, ordered, is_tied)


async def _check_tie(context: Context, best: QueryCandidate, seconds: float) -> bool | None:
    """Return whether the next row has the value of the only one; None if unknown."""
    tree = drop_optional_columns(best.query, best.columns)
    if not tree.order or tree.limit != 1 or tree.offset:
        return None
    key = Variable("compared")
    longer = replace(tree, columns=(*tree.columns, (key, tree.order[0][0])), limit=2)
    query = render_query(longer, context.graph.prefixes, context.graph.profile.types)
    try:
        values = (await context.graph.endpoint.select(query, timeout=seconds)).get_column(key.value)
    except (QueryError, ServiceError):
        return None
    return len(values) > 1 and values[0] == values[1]


def _is_node_set(candidate: QueryCandidate) -> bool:
    """Return whether the result is the set of nodes that the pattern was expanded with."""
    tree = candidate.tree
    has_filters = any(isinstance(element, Filter | Union) for element in tree.where.elements)
    is_cut = tree.limit is not None or tree.offset
    has_modifiers = has_filters or tree.group_by or tree.having or tree.order or is_cut
    # An operator or a condition has added patterns, or a blank node is shown by its values.
    is_more = bool(candidate.notes) or len(candidate.columns) != 1
    return not (has_modifiers or is_more) and list_column_values(tree) == [candidate.root]
