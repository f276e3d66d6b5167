"""Finishing of partial matches to queries: each operator takes its words, what is left is shown.

Words that no state used name predicates to show, to order or filter by. Each operator looks for
its argument among the words around it; what it takes up counts as used.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.index.names import Kind
from askgraph.rdf.vocabulary import WIKIBASE_DEPRECATED, WIKIBASE_PREFERRED
from askgraph.search.grow.partial_match import Node, PartialMatch
from askgraph.search.grow.steps import Grower
from askgraph.search.grow.weights import (
    BEAM_COVERED,
    BEAM_PATTERN,
    BEAM_UNKNOWN,
    DOUBT_CLASS_GUESSED,
    WORTH_OPERATOR,
)
from askgraph.search.linking.operators import Frame, Operator
from askgraph.search.operators import ages, aggregates, comparisons, conditions, extremes, times
from askgraph.search.operators import extremes as ordering
from askgraph.search.operators.attachment import Places
from askgraph.search.operators.draft import Draft
from askgraph.search.operators.measures import converted
from askgraph.search.operators.query_builder import Candidate, QueryBuilder
from askgraph.search.operators.shape import choose_columns, closed, show_rest
from askgraph.search.query import condition, denied, pattern, predicate_of
from askgraph.sparql.tree import Path, Pattern
from askgraph.traversal.arrays import Ids

_BEHIND = 0.5
"""A partial match is given up if it can only come so far behind the best candidate."""
_LUCK = 0.3
"""What finishing may add to a score besides words: about two doubts fewer."""
_LINKED = 0.6
"""A predicate named so well stands for its subjects if nothing else does."""
_AFAR = 20

_Handler = Callable[[Places, QueryBuilder, Operator], bool]

_HANDLERS: Mapping[str, _Handler] = {
    "each": aggregates.each,
    "count": aggregates.count,
    "average": aggregates.average,
    "sum": aggregates.total,
    "minimum": extremes.minimum,
    "maximum": extremes.maximum,
    "superlative": extremes.superlative,
    "most": extremes.most,
    "fewest": extremes.fewest,
    "measure": extremes.measure,
    "top": ordering.top,
    "order": ordering.order,
    "ascending": ordering.ascending,
    "descending": ordering.descending,
    "more_than": comparisons.comparison,
    "less_than": comparisons.comparison,
    "at_least": comparisons.comparison,
    "at_most": comparisons.comparison,
    "before": comparisons.comparison,
    "after": comparisons.comparison,
    "comparative": comparisons.comparative,
    "between": comparisons.between,
    "containing": conditions.containing,
    "starting": conditions.starting,
    "ending": conditions.ending,
    "exists": conditions.exists,
    "not": conditions.without,
    "at": times.at,
    "during": times.during,
    "now": times.now,
    "past": times.past,
    "ongoing": times.ongoing,
    "lasting": ages.lasting,
    "lasted": times.lasted,
}

_TIMED = frozenset(("at", "during", "now", "past", "ongoing", "lasting", "lasted"))


class Finisher:
    """Finishes the states of one question."""

    def __init__(self, grower: Grower, frame: Frame) -> None:
        self.grower, self.frame = grower, frame
        self.places = Places(grower, frame)
        self.usable = frame.mask | frame.quantified
        for links in grower.by_predicate.values():
            for one in links:
                self.usable |= one.mask
        for operator in frame.of("during"):
            for one in grower.linked.of(Kind.ENTITY, Kind.VALUE):
                if one.positions[0] > operator.last:
                    self.usable |= one.mask

    def candidates(self, states: Sequence[PartialMatch]) -> Iterator[Candidate]:
        """Finish each state; one that cannot be an answer, or not a good one, gives none."""
        best = float("-inf")
        for place, state in enumerate([*states, *self._domains()]):
            if self._hope(state) < best - _BEHIND:
                continue
            for candidate in self.finish(state, afar=place < _AFAR or place >= len(states)):
                covered = BEAM_COVERED * candidate.gain / self.grower.total
                reached = covered - BEAM_PATTERN * candidate.patterns
                reached -= BEAM_UNKNOWN * candidate.unknown
                best = max(best, reached)
                yield candidate

    def finish(self, state: PartialMatch, *, afar: bool = True) -> Iterator[Candidate]:
        """Build the queries of one state: without the predicates that lie afar, and with them."""
        if not self._can_answer(state):
            return
        slots = list(self.places.slots(state))
        for far in (False, True) if afar else (False,):
            draft = Draft(self.places.schema)
            root = draft.grow(state.node)
            work = QueryBuilder(
                draft, state, root, slots, state.used, state.gain, state.unknown, afar=far
            )
            self._operate(work)
            show_rest(self.places, work)
            converted(self.places, work)
            best_ranked(self.places, work)
            choose_columns(self.places, work)
            candidate = closed(self.places, work)
            if candidate is not None:
                yield candidate
            if not work.missed:
                return

    def _can_answer(self, state: PartialMatch) -> bool:
        """A literal that the question names is no answer to it."""
        if not len(state.ids):
            return False
        return self.places.is_resource(state.ids) or bool(state.hops or state.node.edges)

    def _hope(self, state: PartialMatch) -> float:
        """The score of a state if all words that may be of use were used for nothing."""
        left = self.places.weight_of(self.usable & ~state.used)
        return self.grower.score(state) + BEAM_COVERED * left / self.grower.total + _LUCK

    def _domains(self) -> Iterator[PartialMatch]:
        """The subjects of linked predicates: the members if no class or thing is named."""
        for number, links in self.grower.by_predicate.items():
            if max(link.score for link in links) >= _LINKED:
                yield PartialMatch(
                    Node(self.grower.graph.ends(number)), 0, 0.0, unknown=DOUBT_CLASS_GUESSED
                )

    def _operate(self, work: QueryBuilder) -> None:
        """Let each operator take its words, in the order of the question."""
        named = 0
        for slot in work.slots:
            named |= slot.mask
        for operator in self.frame.operators:
            taken = work.used | named
            if operator.name == "exists":
                taken = work.used & self.grower.content
            elif operator.name in _TIMED:
                taken = work.used
            handler = _HANDLERS.get(operator.name)
            if operator.mask & taken or handler is None:
                continue
            if handler(self.places, work, operator):
                work.take(operator.mask, self.places.weight_of(operator.mask))
                work.done |= {slot for slot in work.slots if not slot.mask & ~operator.mask}
                work.gain += WORTH_OPERATOR
                work.notes.append(operator.name)


_SPAN_WORDS = frozenset(
    "at now past during between before after superlative minimum maximum most fewest top order "
    "ascending descending each lasting lasted elapsed".split()
)
_PREFERRED, _DEPRECATED = NamedNode(WIKIBASE_PREFERRED), NamedNode(WIKIBASE_DEPRECATED)


def best_ranked(places: Places, work: QueryBuilder) -> None:
    """Keep the best statements; if a time is asked for, or all of them, those not deprecated."""
    rank = places.schema.rank
    if rank is None:
        return
    every = bool(_SPAN_WORDS & set(work.notes)) or _all_asked(places, work)
    iri = places.graph.iri_of(rank)
    for one in list(work.draft.patterns):
        statement = one.object
        ids = _statements(places, one)
        if not isinstance(statement, Variable) or not places.is_resource(ids):
            continue
        ranks = {places.graph.terms.term(int(at)) for at in places.graph.step(ids, rank)}
        if _PREFERRED in ranks and not every:
            _best(work, one, statement, iri)
        elif _DEPRECATED in ranks:
            work.draft.denied.append(denied(pattern(statement, iri, _DEPRECATED)))


def _best(work: QueryBuilder, leading: Pattern, statement: Variable, iri: str) -> None:
    """Preferred, or not deprecated if the same thing has no preferred one."""
    draft = work.draft
    if not isinstance(leading.subject, Variable):
        draft.patterns.append(pattern(statement, iri, _PREFERRED))
        return
    own, other = draft.variable("rank"), draft.variable("other statement")
    draft.patterns.append(pattern(statement, iri, own))
    draft.filters.append(condition(own, "!=", _DEPRECATED))
    better = (replace(leading, object=other), pattern(other, iri, _PREFERRED))
    draft.denied.append(denied(*better, condition(own, "!=", _PREFERRED)))


def _statements(places: Places, leading: Pattern) -> Ids:
    """The statements that a pattern leads to."""
    number = places.schema.number(predicate_of(leading))
    if number is None or isinstance(leading.predicate, Path):
        return np.zeros(0, dtype=np.int32)
    if isinstance(leading.subject, Variable):
        return places.graph.ends(number, inverse=True)
    subject = places.graph.terms.find(str(leading.subject))
    if subject is None:
        return np.zeros(0, dtype=np.int32)
    return places.graph.step(np.array([subject], dtype=np.int32), number)


def _all_asked(places: Places, work: QueryBuilder) -> bool:
    """Whether a date of the question is used, or a word asks for all there ever were."""
    words = {token.folded for token in places.reading.tokens}
    every = {phrase[0] for phrase in places.reading.words.times["all_of_them"]}
    dated = any(work.used >> q.first & 1 for q in places.reading.quantities if q.days is not None)
    return dated or bool(words & every)
