"""Complete partial matches to queries: each operator takes its words, what is left is shown.

Words that no match used name predicates to show, to order or filter by. Each operator looks for
its argument among the words around it; what it takes up counts as used.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.deadline import in_time
from askgraph.graph.literals import Sort
from askgraph.index.names import Kind
from askgraph.search.expand import Doubt, Node, PartialMatch, Worth
from askgraph.search.expand.beam_search import BeamSearch, Expansion
from askgraph.search.expand.schema import truths_of
from askgraph.search.link import Description, Link
from askgraph.search.operators import aggregates, conditions, extremes, shared_value, times
from askgraph.search.operators.columns import (
    also_asked,
    owner_of,
    show_names,
    sorting_key,
    value_asked,
)
from askgraph.search.operators.extremes_with_ties import keep_ties
from askgraph.search.operators.pairs import compare_pairs
from askgraph.search.operators.query_builder import (
    DATED,
    NUMERIC,
    Candidate,
    Draft,
    Lookups,
    Place,
    QueryBuilder,
    Slot,
    Spot,
    is_sound,
    unnamed_spot,
)
from askgraph.search.query_pieces import (
    condition,
    denied,
    function_of,
    pattern,
    patterns_in,
    place_of,
    predicate_of,
    term_of,
    variable_of,
)
from askgraph.search.tokenize import bits
from askgraph.search.tokenize.question_operators import COMPARING, Operator, QuestionOperators
from askgraph.sparql import Call, Expression, Path, Pattern, Values
from askgraph.sparql.vocabulary import (
    DESCRIPTION_PREDICATES,
    WIKIBASE_DEPRECATED,
    WIKIBASE_PREFERRED,
)

_BEHIND = 0.5  # a partial match is given up if it can only come so far behind the best candidate
_LUCK = 0.3  # what finishing may add to a score besides words: about two doubts fewer
_LINKED = 0.6  # a predicate named so well stands for its subjects if nothing else does
_ASK_VALUES = ("date", "year", "place", "person")
"""Question words for which a value is shown that no other word names."""
_AFAR = 20  # so many of the best states may have predicates that lie afar


@dataclass(frozen=True)
class OperatorRule:
    """How an operator completes a query.

    `handle` says whether the operator found what it is about. One that is `timed` may share its
    words with names of predicates; one that is `cut` leaves its end to a name that begins there.
    """

    handle: Callable[[QueryBuilder, Operator], bool]
    timed: bool = False
    cut: bool = False


OPERATORS: Mapping[str, OperatorRule] = {
    "each": OperatorRule(aggregates.each),
    "yearly": OperatorRule(aggregates.yearly, timed=True),
    "count": OperatorRule(aggregates.count, cut=True),
    "average": OperatorRule(partial(aggregates.aggregated, function="AVG"), cut=True),
    "sum": OperatorRule(partial(aggregates.aggregated, function="SUM"), cut=True),
    "share": OperatorRule(aggregates.share),
    "minimum": OperatorRule(partial(extremes.limiting, up=False), cut=True),
    "maximum": OperatorRule(partial(extremes.limiting, up=True), cut=True),
    "superlative": OperatorRule(extremes.superlative),
    "most": OperatorRule(partial(extremes.extreme, descending=True), cut=True),
    "fewest": OperatorRule(partial(extremes.extreme, descending=False), cut=True),
    "measure": OperatorRule(extremes.measure),
    "top": OperatorRule(extremes.top),
    "order": OperatorRule(extremes.order),
    "ascending": OperatorRule(partial(extremes.directed, descending=False)),
    "descending": OperatorRule(partial(extremes.directed, descending=True)),
    **dict.fromkeys(COMPARING, OperatorRule(conditions.comparison)),
    "comparative": OperatorRule(conditions.comparative),
    "between": OperatorRule(conditions.between),
    "exists": OperatorRule(conditions.exists),
    "not": OperatorRule(conditions.without),
    "called": OperatorRule(conditions.called),
    "containing": OperatorRule(partial(conditions.quoting, function="CONTAINS")),
    "starting": OperatorRule(partial(conditions.quoting, function="STRSTARTS")),
    "ending": OperatorRule(partial(conditions.quoting, function="STRENDS")),
    "same": OperatorRule(partial(shared_value.likened, same=True)),
    "different": OperatorRule(partial(shared_value.likened, same=False)),
    "other": OperatorRule(shared_value.other),
    "at": OperatorRule(times.at, timed=True),
    "during": OperatorRule(times.during, timed=True),
    "now": OperatorRule(times.now, timed=True),
    "past": OperatorRule(times.past, timed=True),
    "ongoing": OperatorRule(times.ongoing, timed=True),
    "lasting": OperatorRule(times.lasting, timed=True),
    "lasted": OperatorRule(times.lasted, timed=True),
}
"""The operators that complete queries; the others only say how a question is grown or ranked."""


_AGGREGATING = ("average", "sum", "minimum", "maximum")


_OF_TWO = ("comparative", "superlative", "difference", "ratio", "sum", "count")
"""Operators that may compare two things or reckon with them, beside "or"."""


def complete(expansion: Expansion, description: Description | None = None) -> list[Candidate]:
    """Complete the partial matches of a question to queries, and build those that need no match."""
    search = expansion.search
    candidates = list(QueryCompleter(search, search.frame).candidates(expansion.matches))
    if description is not None:
        candidates += describe_things(search, search.frame, description.links, description.lead)
    if search.frame.of("or", *_OF_TWO):
        candidates += compare_pairs(search, search.frame)
    return candidates


class QueryCompleter:
    """Finishes the states of one question."""

    def __init__(self, search: BeamSearch, frame: QuestionOperators) -> None:
        self.search, self.frame = search, frame
        self.lookups = Lookups(search, frame)
        self.operated = frame.mask | frame.quantified
        for operator in frame.of("during"):
            for one in search.linked.of(Kind.ENTITY, Kind.VALUE):
                if one.positions[0] > operator.last:
                    self.operated |= one.mask
        self.usable = self.operated
        for links in search.by_predicate.values():
            for one in links:
                self.usable |= one.mask

    def candidates(self, states: Sequence[PartialMatch]) -> Iterator[Candidate]:
        """Finish each state; one that cannot be an answer, or not a good one, gives none."""
        best = float("-inf")
        for place, state in enumerate(in_time([*states, *self._domains()])):
            afar, least = place < _AFAR or place >= len(states), best - _BEHIND
            if self._hope(state, self.usable) < least:
                continue
            if not afar and self._hope(state, self._usable_near(state)) < least:
                continue
            for candidate in self.finish(state, afar=afar):
                reached = candidate.gain, candidate.patterns, candidate.unknown
                best = max(best, self.search.worth(*reached))
                yield candidate

    def finish(self, state: PartialMatch, *, afar: bool = True) -> Iterator[Candidate]:
        """Build the queries of one state: without the predicates that lie afar, and with them."""
        is_thing = self.lookups.is_resource(state.ids) or state.hops or state.node.edges
        if not (len(state.ids) and is_thing):
            return  # a literal that the question names is no answer to it
        slots = list(self.lookups.slots(state))
        for far in (False, True) if afar else (False,):
            query = QueryBuilder(self.lookups, state, slots, afar=far)
            _operate(query, self.frame.operators)
            if query.made and self.frame.of("or"):
                shared_value.join_by_or(query)
            show_names(query)
            show_rest(query)
            if self.frame.of("in_unit"):
                times.converted(query)
            best_ranked(query)
            choose_columns(query)
            if query.draft.limit == 1:
                keep_ties(query)
            if self._holds_together(query):
                yield from _closed(query)
            if not query.missed:
                return

    def _holds_together(self, query: QueryBuilder) -> bool:
        """Whether nothing contradicts itself, if need be by splitting it between two things."""
        negated = query.made and self.frame.of("not")
        several = self.frame.of("both") or len(query.draft.filters) > 1
        if not (several or query.draft.denied or negated):
            return True
        if negated:
            shared_value.deny_conditions(query)
        shared_value.deny_values(query)
        return shared_value.twinned(query)

    def _hope(self, state: PartialMatch, usable: int) -> float:
        """The score of a state if all words that may be of use were used for nothing."""
        left = self.search.weight_of(usable & ~state.used)
        return self.search.score(state) + self.search.worth(left) + _LUCK

    def _usable_near(self, state: PartialMatch) -> int:
        """The words that may be of use without the predicates that lie afar."""
        present = self.lookups.present
        places = [one.ids for one in state.node.walk() if len(one.ids)]
        near = [present(ids, inverse=inverse) for ids in places for inverse in (False, True)]
        usable = self.operated
        for number, links in self.search.left_links(state.used).items():
            if any(number in one for one in near):
                for link in links:
                    usable |= link.mask
        return usable

    def _domains(self) -> Iterator[PartialMatch]:
        """The subjects of linked predicates: the members if no class or thing is named.

        If a property of theirs is compared, what these lead to, too: "the youngest director".
        """
        for number, links in self.search.by_predicate.items():
            if max(link.score for link in links) >= _LINKED:
                subjects = PartialMatch(
                    Node(self.search.graph.ends(number)), 0, 0.0, unknown=Doubt.CLASS_GUESSED
                )
                yield subjects
                if self.frame.of(*_OF_OWN) and number in self.search.schema.leading:
                    yield from self.search.hops(subjects, linked=True)


def _operate(query: QueryBuilder, operators: Sequence[Operator]) -> None:
    """Let each operator take its words, in the order of the question."""
    named = 0
    for slot in query.slots:
        named |= slot.mask
    for operator in operators:
        rule = OPERATORS.get(operator.name)
        if rule is None:
            continue
        taken = query.used if rule.timed else query.used | named
        if operator.name == "exists":
            taken = query.used & query.search.content
        operator = _cut(operator, taken, query) if rule.cut else operator
        if operator.mask & taken:
            continue
        before = len(query.draft.filters)
        if rule.handle(query, operator):
            if len(query.draft.filters) > before:
                query.made[operator] = tuple(query.draft.filters[before:])
            query.take(operator.mask, query.search.weight_of(operator.mask))
            query.done |= {slot for slot in query.slots if not slot.mask & ~operator.mask}
            query.gain += Worth.OPERATOR
            query.notes.append(operator.name)


def _cut(operator: Operator, taken: int, query: QueryBuilder) -> Operator:
    """Leave the end of an operator to the name that begins there: "the most | number of shops"."""
    first, last = operator.first, operator.last
    if not taken >> first + 1 & (1 << last - first) - 1:
        return operator
    end, reading = next(at for at in operator.positions if taken >> at & 1), query.reading
    while first < end:
        for phrase, name in reading.words.phrases.get(reading.folded[first], ()):
            is_cut = name in OPERATORS and OPERATORS[name].cut
            if is_cut and first + len(phrase) == end and reading.says(phrase, first):
                return replace(operator, name=name, last=end - 1)
        if not reading.is_stop(first):
            break
        first += 1  # "the highest | number of shops"
    return operator


_OF_OWN = ("superlative", "comparative")
"""Operators that are about a property of what is named right beside them."""
_SPAN_WORDS = frozenset(
    "at now past during between before after superlative minimum maximum most fewest top order "
    "ascending descending each lasting lasted elapsed".split()
)
_PREFERRED, _DEPRECATED = NamedNode(WIKIBASE_PREFERRED), NamedNode(WIKIBASE_DEPRECATED)


def best_ranked(query: QueryBuilder) -> None:
    """Keep the best statements; if a time is asked for, or all of them, those not deprecated."""
    rank = query.schema.rank
    if rank is None:
        return
    every = bool(_SPAN_WORDS & set(query.notes)) or _all_asked(query)
    iri = query.graph.iri_of(rank)
    said = list(query.draft.patterns)
    for one in said:
        statement = one.object
        number = query.schema.number(predicate_of(one))
        if number is None or isinstance(one.predicate, Path):
            ids = np.zeros(0, dtype=np.int32)
        elif isinstance(one.subject, Variable):
            ids = query.graph.ends(number, inverse=True)
        else:
            subject = query.graph.terms.find(str(one.subject))
            if subject is None:
                ids = np.zeros(0, dtype=np.int32)
            else:
                ids = query.graph.step(np.array([subject], dtype=np.int32), number)
        if not isinstance(statement, Variable) or not query.lookups.is_resource(ids):
            continue
        ranks = {query.graph.terms.term(int(at)) for at in query.graph.step(ids, rank)}
        told = any(p.subject == statement and not isinstance(p.object, Variable) for p in said)
        if _PREFERRED in ranks and not (every or told):
            draft = query.draft
            if not isinstance(one.subject, Variable):
                draft.patterns.append(pattern(statement, iri, _PREFERRED))
                continue
            own, other = draft.variable("rank"), draft.variable("other statement")
            draft.patterns.append(pattern(statement, iri, own))
            draft.filters.append(condition(own, "!=", _DEPRECATED))
            better = (replace(one, object=other), pattern(other, iri, _PREFERRED))
            draft.denied.append(denied(*better, condition(own, "!=", _PREFERRED)))
        elif _DEPRECATED in ranks:
            query.draft.denied.append(denied(pattern(statement, iri, _DEPRECATED)))


def _all_asked(query: QueryBuilder) -> bool:
    """Whether a date of the question is used, or a word asks for all there ever were."""
    words = {token.folded for token in query.reading.tokens}
    every = {phrase[0] for phrase in query.reading.words.times["all_of_them"]}
    dated = any(query.used >> q.first & 1 for q in query.reading.quantities if q.days is not None)
    return dated or bool(words & every)


def show_rest(query: QueryBuilder) -> None:
    """Slots that no operator took: shown if they are asked for, else required."""
    shown: set[int] = set()
    for slot in sorted(query.slots, key=lambda s: s.first):
        if slot in query.done:
            continue
        is_asked = query.zones.is_head(slot.first) or _goes_on(query, slot.first, shown)
        owner = owner_of(query, slot.first, slot.last)
        spot = query.spot(slot, prefer=is_asked, owner=owner)
        if spot is None:
            continue
        variable = query.take_spot(spot)
        relates = query.schema.sort(spot.predicate) is Sort.NONE
        is_asked = is_asked and not (relates and _is_verb(query, slot))
        if spot.path:
            query.unknown += Doubt.PATH * len(spot.path)
        truths = truths_of(query.schema, spot.predicate)
        if truths is not None and not _is_shown(query, slot, spot):
            query.draft.filters.append(condition(variable, "=", term_of(truths[0])))
            continue
        if is_asked and not _restricts_aggregate(query, slot.first):
            shown.add(slot.last)
            query.shown_words |= slot.mask
            query.projected.append((slot.first, query.shown(variable, spot)))
        else:
            query.notes.append("required")


def _is_verb(query: QueryBuilder, slot: Slot) -> bool:
    """Whether a bare word right after a plural is what these do: "which doctors work in …"."""
    at, tokens = slot.first, query.reading.tokens
    if not at or at != slot.last or tokens[at].stem != tokens[at].folded:
        return False
    plural = tokens[at - 1].stem != tokens[at - 1].folded and tokens[at - 1].quote is None
    links = (place.node.cls_link for place in query.draft.places)
    return plural and any(link is not None and at - 1 in link.positions for link in links)


def _goes_on(query: QueryBuilder, at: int, shown: set[int]) -> bool:
    """Whether a conjunction or a comma alone parts a noun from one that is shown."""
    if not query.zones.is_listed(at):
        return False
    before = at - 1
    while before >= 0 and before not in shown and query.reading.is_stop(before):
        before -= 1
    return before in shown


def _is_shown(query: QueryBuilder, slot: Slot, spot: Spot) -> bool:
    """Whether codes for yes and no are asked for: "name and approval", not "is approved"."""
    if query.schema.sort(spot.predicate) is Sort.BOOLEAN:
        return False
    return query.zones.is_head(slot.first) and query.zones.is_listed(slot.first)


def _restricts_aggregate(query: QueryBuilder, at: int) -> bool:
    """ "How many X have Y": Y says which are counted; a row for each Y needs a word for it.

    So it does in "the average X of Y".
    """
    frame = query.frame
    if frame.of("each") or query.zones.is_listed(at):
        return False
    functions = {function_of(one) for one in query.draft.columns if isinstance(one, Call)}
    said = [] if functions == {"COUNT"} else list(frame.of(*_AGGREGATING, "share"))
    said += frame.of("count") if "COUNT" in functions else ()
    return bool(functions and said) and at > min(one.last for one in said)


def choose_columns(query: QueryBuilder) -> None:
    """Decide which variables are shown, in which order, and by which the rows are grouped."""
    draft = query.draft
    if "rate" in query.notes:
        aggregates.counted_rate(query)
    totals = list(draft.columns)
    projected = sorted(query.projected, key=lambda one: (one[0], place_of(one[1])))
    shown = [variable for _, variable in projected]
    asked = [place for place in draft.places if _is_asked(query, place)]
    shown += [query.named(place) for place in asked]
    beside = [at for at, _ in projected] + [min(place.words) for place in asked]
    start = min(query.root.words, default=0)
    again = [
        one
        for one in query.draft.places
        if query.draft.limit == 1
        and any(query.zones.is_head(at) and at < start for at in one.words)
        and one.end in _counted(query)
        and any(True for _ in query.said_again(one))
    ]
    for one in again:
        shown.append(query.named(one))
        query.shown_words |= 1 << min(one.words)
    # "When …" that names no date: that of what was found is shown. So with places and persons.
    if query.frame.asks not in _ASK_VALUES or shown or totals or query.draft.ask:
        dated = False
    else:
        spot = value_asked(query)
        if spot is None:
            dated = False
        else:
            query.unknown += Doubt.DATE_SHOWN
            shown.append(query.hang(spot))
            dated = True
    keys = [key for key, _ in draft.order]  # "how many moons has the planet with the most moons"
    most = keys == totals and draft.limit == 1 and query.frame.asks == "number" and not shown
    root_shown = not (dated or again or most) and _root_is_shown(
        query, beside, bool(shown), bool(totals)
    )
    if root_shown and isinstance(query.root.end, Variable):
        shown.insert(0, _itself(query))
    also = also_asked(query) if query.frame.also_asked and not totals else ()
    shown = list(dict.fromkeys((*shown, *also)))
    context = [] if totals else _context(query, shown)
    draft.columns = [*context, *shown, *totals]
    if (totals and shown) or (query.grouped and not totals):
        draft.group += [variable for variable in shown if variable not in draft.group]
    _ordered_by_column(query)
    for at in query.lookups.naming:
        if not query.used >> at & 1:
            query.take(1 << at, query.weights[at] * Worth.NAMING)


def _itself(query: QueryBuilder) -> Variable:
    """What is asked for: the root, or what a statement there says."""
    root = query.root
    known = [edge.predicate for edge, _ in root.node.edges] if query.is_statement(root) else []
    for number in query.predicates_at(root) if known else ():
        says = (query.schema.is_one_relation(one, number, root.node.ids) for one in known)
        if number not in known and any(says):
            return query.hang(unnamed_spot(root, number))
    return query.named(root)


def _context(query: QueryBuilder, shown: Sequence[Variable]) -> list[Variable]:
    """The things that shown values hang on, if a value alone would say nothing.

    That is so for things without a name, which stand beside the things that words name at their
    other ends, and for numbers and dates of several things. A thing without a name that tells the
    unit of a number is the answer with it: the number alone is half.
    """
    counted = _counted(query)
    hung = [
        (place, query.schema.sort(predicate))
        for (end, predicate, inverse), variable in query.draft.attached.items()
        if variable in shown and not inverse and query.schema.sort(predicate) is not Sort.NONE
        for place in query.draft.places
        if place.end == end and isinstance(end, Variable) and end not in shown
        if end not in counted and (end in query.draft.group or not query.grouped)
    ]
    bare = len(hung) == len(shown) and all(sort in NUMERIC + DATED for _, sort in hung)
    bare = bare and query.draft.limit != 1 and not query.frame.of("distinct")
    found: dict[Variable, bool] = {}
    for place, sort in hung:
        ids = query.ids_at(place)
        if isinstance(place.end, Variable) and query.schema.is_nameless(ids):
            found |= {query.named(one): False for one in _linked_by(query, place.end, shown)}
            if not query.is_statement(place):
                found[place.end] = sort in NUMERIC and query.schema.is_measured(ids)
        elif bare and len(ids) > 1:
            found[query.named(place)] = False
    query.draft.context = [one for one, answers in found.items() if not answers]
    return list(found)


def _linked_by(query: QueryBuilder, node: Variable, shown: Sequence[Variable]) -> Iterator[Place]:
    """The things with a name, of a class that words name, which a thing without one links."""
    for one in query.draft.places:
        linked = any({node, one.end} == {p.subject, p.object} for p in query.draft.patterns)
        named = linked and one.node.cls_link is not None and one.end not in shown
        if named and not query.schema.is_nameless(query.ids_at(one)):
            yield one


def _is_asked(query: QueryBuilder, place: Place) -> bool:
    """Whether a thing in the pattern is asked for beside the root."""
    if place is query.root or not isinstance(place.end, Variable):
        return False
    link = place.node.cls_link
    if link is None or not query.zones.is_head(link.positions[0]):
        return False
    if any(p == link.positions[0] - 1 for p, _ in query.projected):
        return False
    values = (*query.draft.columns, *(key for key, _ in query.draft.order))
    if place.end in [variable_of(one) for one in values if _is_aggregate(one)]:
        return False
    return query.zones.is_listed(link.positions[0])


def _root_is_shown(
    query: QueryBuilder, others: Sequence[int], shown: bool, aggregates: bool
) -> bool:
    if query.draft.ask or (shown and query.root.end in _counted(query)):
        return False
    if query.root.end in query.draft.group:
        attached, root = query.draft.attached, query.root.end
        at_root = {value for key, value in attached.items() if key[0] == root}
        at_root |= {  # keys of what is at the root
            value for key, value in attached.items() if attached.get((root, *key[1:])) == key[0]
        }
        return not (shown and any(value in at_root for _, value in query.projected))
    if aggregates:
        return False
    if not shown:
        return True
    link = query.root.node.cls_link
    if link is None or not others or not query.zones.is_head(link.positions[0]):
        return False
    at = link.positions[0]
    if at > max(others):  # "the names of members and their parties"
        return query.zones.is_listed(at)
    opens = all(query.reading.is_stop(before) for before in range(at))
    listed = opens or query.zones.is_listed(at)
    return listed and at < min(others) and query.zones.is_listed(min(others))


def _counted(query: QueryBuilder) -> set[Variable]:
    """What is counted, to be shown or to order or choose rows: a row for each of it counts one."""
    values = (
        *query.draft.columns,
        *(key for key, _ in query.draft.order),
        *(one.arguments[0] for one in query.draft.having),
    )
    counts = (one for one in values if isinstance(one, Call) and function_of(one) == "COUNT")
    return set(map(variable_of, counts))


def _ordered_by_column(query: QueryBuilder) -> None:
    draft = query.draft
    if draft.order or not draft.columns:
        return
    if "order_shown" in query.notes or "order_shown_desc" in query.notes:
        answers = [one for one in draft.columns if one not in draft.context]
        key = sorting_key(query, answers[0])
        draft.order.append((key, "order_shown_desc" in query.notes))


def _break_ties(query: QueryBuilder) -> None:
    """Cut a tie at a limit by what is shown, so that every engine keeps the same rows."""
    draft = query.draft
    if draft.limit is None or not draft.order:
        return
    keys = [variable_of(key) for key, _ in draft.order if not _is_aggregate(key)]
    shown = [one for one in draft.columns if isinstance(one, Variable) and one not in draft.context]
    draft.order += [(variable, False) for variable in shown[:1] if variable not in keys]


def _is_aggregate(value: Expression) -> bool:
    return isinstance(value, Call) and value.is_aggregate


def _closed(query: QueryBuilder) -> Iterator[Candidate]:
    """Close a candidate; of groups that have few of a thing there are two: with those of none."""
    groups = None
    if query.draft.having:
        groups = aggregates.group_count(query)
    candidate = closed(query)
    if candidate is None:
        return
    if "share" in query.notes:
        yield from filter(None, (aggregates.as_share(query, candidate, _operate),))
        return
    if query.frame.of("difference", "ratio") or query.frame.mean_count is not None:
        candidate = aggregates.reckoned(query, candidate)
    if not query.draft.having:
        yield candidate
        return
    with_those = aggregates.with_none(query, candidate) if aggregates.FEW in query.notes else None
    for one in filter(None, (with_those, candidate)):
        yield one if groups is None else aggregates.counting_groups(one, groups)


def closed(query: QueryBuilder) -> Candidate | None:
    """Close a candidate; None if there is nothing to show."""
    draft = query.draft
    if (
        not (draft.patterns or draft.either)
        or not (draft.columns or draft.ask)
        or (draft.ask and draft.having)
    ):
        return None
    if (query.state.denied and not draft.ask) or not is_sound(draft):
        return None
    ids = query.ids_at(query.root)
    if not len(ids):
        return None  # what was hung on the pattern does not go together
    if query.grouped and len(draft.columns) == 1 and not draft.order and not draft.having:
        draft.group = []
    values = () if draft.ask else (*draft.columns, *(key for key, _ in draft.order))
    if not draft.having and not any(map(_is_aggregate, values)):
        draft.group = []
    else:
        plain = [one for one in draft.columns if isinstance(one, Variable)]
        draft.group += [variable for variable in plain if variable not in draft.group]
        keys = [variable_of(key) for key, _ in draft.order if not _is_aggregate(key)]
        draft.group += [k for k in keys if draft.group and k not in draft.group]
    if not _counted(query).isdisjoint(draft.group):
        return None  # one of each is counted
    _break_ties(query)
    for one in query.frame.of("distinct"):
        query.take_tokens(one.positions)  # no row is twice in a result
    return Candidate(
        draft.query(),
        tuple(dict.fromkeys(one for one in draft.columns if one not in draft.context)),
        draft.hints,
        query.state,
        query.root.end,
        ids,
        query.used,
        query.gain,
        query.unknown,
        len(draft.patterns)
        + sum(len(patterns_in(group)) for one in draft.either for group in one.groups),
        tuple(query.notes),
        query.shown_words,
        tuple(query.links),
    )


_VALUES = 12
"""A predicate with more values than this of a thing lists its links rather than describe it."""


def describe_things(
    search: BeamSearch, frame: QuestionOperators, links: Sequence[Link], lead: int
) -> Iterator[Candidate]:
    """Build the descriptions of the things that links name: a row for each property and value.

    So many words say before their name that a description is asked for.
    """
    lookups = Lookups(search, frame)
    for link in links:
        thing = lookups.thing_of(link)
        predicates = _telling(search, thing) if thing is not None else []
        if thing is not None and predicates:
            yield _description(search, link, thing, predicates, lead)


def _telling(search: BeamSearch, thing: int) -> list[int]:
    """The predicates that describe a thing, without names and without long lists of links."""
    schema = search.schema
    numbers, counts = search.graph.predicates_of(np.array([thing], dtype=np.int32))
    found = [
        number
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        if count <= _VALUES
        and (
            number in schema.open
            or number == schema.kind
            or (count == 1 and search.graph.iri_of(number) in DESCRIPTION_PREDICATES)
        )
    ]
    return found if any(number != schema.kind for number in found) else []


def _description(
    search: BeamSearch, link: Link, thing: int, predicates: list[int], lead: int
) -> Candidate:
    ids = np.array([thing], dtype=np.int32)
    node = Node(ids, terms=(thing,), link=link)
    asking = bits(range(lead))
    known = 1 + Worth.KNOWN * math.log10(1 + search.graph.degree(thing))
    gain = search.gain(link, 0) * known + search.weight_of(asking)
    gain += Worth.OPERATOR if lead else 0.0
    state = PartialMatch(node, link.mask | asking, gain, anchored=True)
    draft = Draft(search.schema)
    end = draft.grow(node).end
    name, value = draft.variable("property"), draft.variable("value")
    rows = tuple((NamedNode(search.graph.iri_of(number)),) for number in predicates)
    draft.given.append(Values((name,), rows))
    draft.patterns.append(Pattern(end, name, value))
    draft.columns = [name, value]
    return Candidate(
        draft.query(),
        (name, value),
        draft.hints,
        state,
        end,
        ids,
        state.used,
        gain,
        0.0,
        1,
        ("describe",),
        link.mask,
    )
