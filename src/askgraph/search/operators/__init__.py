"""Complete partial matches to queries: apply the operators and show the remaining words.

Words that no match used name predicates to show, to sort or to filter by. Each operator looks for
its argument among the words around it and marks the words that it uses.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.deadline import limit_to_deadline
from askgraph.graph.arrays import Ids
from askgraph.graph.literals import ValueKind
from askgraph.index.names import ItemKind
from askgraph.search.expand import GainWeight, Node, PartialMatch, Penalty
from askgraph.search.expand.beam_search import BeamSearch, Expansion
from askgraph.search.expand.schema import get_truth_terms, is_asking_flag
from askgraph.search.link import DescriptionRequest, Link
from askgraph.search.operators import aggregates, conditions, extremes, shared_value, times
from askgraph.search.operators.columns import (
    build_label_key,
    find_asked_value,
    find_owner_vertex,
    iterate_further_values,
    show_names,
)
from askgraph.search.operators.extremes_with_ties import keep_ties
from askgraph.search.operators.labels import build_label_queries
from askgraph.search.operators.mentions import find_mentions, require_mentions
from askgraph.search.operators.pairs import (
    build_class_counts,
    build_none_query,
    compare_counts,
    compare_pairs,
)
from askgraph.search.operators.query_builder import (
    DATE_SORTS,
    NUMERIC_SORTS,
    Attachment,
    GraphLookup,
    QueryBuilder,
    QueryCandidate,
    QueryDraft,
    Slot,
    Vertex,
    build_unnamed_attachment,
    is_sound,
)
from askgraph.search.query_pieces import (
    build_filter,
    build_not_exists,
    build_pattern,
    get_function,
    get_predicate,
    get_value_variable,
    get_variable_number,
    is_aggregate,
    list_patterns,
    parse_term,
)
from askgraph.search.tokenize import to_bit_mask
from askgraph.search.tokenize.question_operators import (
    COMPARISON_SIGNS,
    Operator,
    QuestionOperators,
)
from askgraph.sparql import Call, Path, Pattern, Values, find_variables
from askgraph.sparql.vocabulary import (
    DESCRIPTION_PREDICATES,
    WIKIBASE_DEPRECATED,
    WIKIBASE_PREFERRED,
)

_MAX_SCORE_GAP = 0.5  # partial matches that stay further behind the best candidate are dropped
_COMPLETION_BONUS = 0.3  # score that completion may add besides words: about two penalties fewer
_MIN_DOMAIN_SCORE = 0.6  # minimum score of a predicate that stands for its subjects
_VALUE_QUESTION_WORDS = ("date", "year", "place", "person")
"""Question words that ask for a value even if no other word names it."""
_MAX_SHOWN_SLOTS = 20  # the slots of longer lists are not shown
_MAX_DISTANT_STATES = 20  # number of best states that may have distant predicates


@dataclass(frozen=True)
class OperatorRule:
    """How an operator completes a query.

    Attributes:
        handle: Applies the operator; returns whether it found its argument.
        shares_words: Whether the operator may share its words with names of predicates.
        can_shorten: Whether the operator leaves its last words to a name that begins there.
    """

    handle: Callable[[QueryBuilder, Operator], bool]
    shares_words: bool = False
    can_shorten: bool = False


OPERATOR_RULES: Mapping[str, OperatorRule] = {
    "each": OperatorRule(aggregates.apply_each),
    "monthly": OperatorRule(aggregates.apply_yearly, shares_words=True),
    "yearly": OperatorRule(aggregates.apply_yearly, shares_words=True),
    "decadal": OperatorRule(aggregates.apply_yearly, shares_words=True),
    "centennial": OperatorRule(aggregates.apply_yearly, shares_words=True),
    "count": OperatorRule(aggregates.apply_count, can_shorten=True),
    "average": OperatorRule(partial(aggregates.apply_aggregate, function="AVG"), can_shorten=True),
    "sum": OperatorRule(partial(aggregates.apply_aggregate, function="SUM"), can_shorten=True),
    "share": OperatorRule(aggregates.apply_share),
    "running": OperatorRule(aggregates.apply_series),
    "change": OperatorRule(aggregates.apply_series),
    "minimum": OperatorRule(
        partial(extremes.apply_extreme_value, is_maximum=False), can_shorten=True
    ),
    "maximum": OperatorRule(
        partial(extremes.apply_extreme_value, is_maximum=True), can_shorten=True
    ),
    "superlative": OperatorRule(extremes.apply_superlative),
    "most": OperatorRule(partial(extremes.apply_extreme, descending=True), can_shorten=True),
    "fewest": OperatorRule(partial(extremes.apply_extreme, descending=False), can_shorten=True),
    "measure": OperatorRule(extremes.apply_measure),
    "top": OperatorRule(extremes.apply_top),
    "order": OperatorRule(extremes.apply_order),
    "ascending": OperatorRule(partial(extremes.apply_direction, descending=False)),
    "descending": OperatorRule(partial(extremes.apply_direction, descending=True)),
    "most_first": OperatorRule(partial(extremes.apply_sorting, descending=True)),
    "least_first": OperatorRule(partial(extremes.apply_sorting, descending=False)),
    "sort_mark": OperatorRule(lambda query, mark: not query.used & mark.mask, shares_words=True),
    **dict.fromkeys(COMPARISON_SIGNS, OperatorRule(conditions.apply_comparison)),
    "comparative": OperatorRule(conditions.apply_comparative),
    "between": OperatorRule(conditions.apply_between),
    "exists": OperatorRule(conditions.apply_exists),
    "not": OperatorRule(conditions.apply_without),
    "called": OperatorRule(conditions.apply_name_condition),
    "containing": OperatorRule(partial(conditions.apply_text_condition, function="CONTAINS")),
    "starting": OperatorRule(partial(conditions.apply_text_condition, function="STRSTARTS")),
    "ending": OperatorRule(partial(conditions.apply_text_condition, function="STRENDS")),
    "same": OperatorRule(partial(shared_value.apply_same_value, same=True)),
    "different": OperatorRule(partial(shared_value.apply_same_value, same=False)),
    "other": OperatorRule(shared_value.exclude_named_things),
    "at": OperatorRule(times.apply_at, shares_words=True),
    "during": OperatorRule(times.apply_during, shares_words=True),
    "now": OperatorRule(times.apply_now, shares_words=True),
    "past": OperatorRule(times.apply_past, shares_words=True),
    "ongoing": OperatorRule(times.apply_ongoing, shares_words=True),
    "lasting": OperatorRule(times.apply_lasting, shares_words=True),
    "lasted": OperatorRule(
        lambda query, _: bool(times.DURATION_NOTES.intersection(query.notes)), shares_words=True
    ),
}
"""Rules of the operators that complete queries; the others only affect expansion or ranking."""


_PAIR_OPERATORS = ("comparative", "superlative", "difference", "ratio", "sum", "count")
"""Operators that may compare two things or calculate with them, beside "or"."""


def build_candidates(
    expansion: Expansion, description: DescriptionRequest | None = None
) -> list[QueryCandidate]:
    """Complete the partial matches of a question, and build the queries that need no match."""
    search = expansion.search
    candidates = list(QueryCompleter(search, search.frame).build_candidates(expansion.matches))
    if description is not None:
        candidates += describe_things(
            search, search.frame, description.links, description.lead_word_count
        )
    candidates += build_label_queries(search, search.frame)
    candidates += build_class_counts(search, search.frame)
    candidates += compare_counts(search, search.frame)
    candidates += build_none_query(search, search.frame)
    if search.frame.get_operators("or", *_PAIR_OPERATORS):
        candidates += compare_pairs(search, search.frame)
    return candidates


class QueryCompleter:
    """Completes the partial matches of one question to candidates."""

    def __init__(self, search: BeamSearch, operators: QuestionOperators) -> None:
        self.search, self.operators = search, operators
        self.lookups = GraphLookup(search, operators)
        self.operator_words = operators.mask | operators.quantity_mask
        for operator in operators.get_operators("during"):
            for link in search.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
                if link.positions[0] > operator.last:
                    self.operator_words |= link.mask
        self.usable_words = self.operator_words
        for links in search.links_by_predicate.values():
            for link in links:
                self.usable_words |= link.mask
        self.mentions = tuple(find_mentions(search.linked, operators, search.schema))
        for mention in self.mentions:
            self.operator_words |= mention.mask
        self.usable_words |= self.operator_words

    def build_candidates(self, states: Sequence[PartialMatch]) -> Iterator[QueryCandidate]:
        """Yield the candidates of each state, without those that cannot answer or score too low."""
        best = float("-inf")
        for index, state in enumerate(limit_to_deadline([*states, *self._iterate_domains()])):
            allow_distant = index < _MAX_DISTANT_STATES or index >= len(states)
            min_score = best - _MAX_SCORE_GAP
            if self._bound_score(state, self.usable_words) < min_score:
                continue
            if (
                not allow_distant
                and self._bound_score(state, self._find_nearby_usable_words(state)) < min_score
            ):
                continue
            for candidate in self.build_state_candidates(state, allow_distant=allow_distant):
                totals = candidate.gain, candidate.patterns, candidate.unknown
                best = max(best, self.search.score_evidence(*totals))
                yield candidate

    def build_state_candidates(
        self, state: PartialMatch, *, allow_distant: bool = True
    ) -> Iterator[QueryCandidate]:
        """Yield the candidates of one state: without distant predicates, and with them."""
        is_thing = self.lookups.is_resource(state.ids) or state.hops or state.node.edges
        if not (len(state.ids) and is_thing):
            return  # a literal that the question names is no answer to it
        slots = list(self.lookups.find_slots(state))
        for is_distant in (False, True) if allow_distant else (False,):
            query = QueryBuilder(self.lookups, state, slots, allow_distant=is_distant)
            _apply_operators(query, self.operators.operators)
            if query.filters_by_operator and self.operators.get_operators("or"):
                shared_value.join_by_or(query)
            show_names(query)
            show_remaining_slots(query)
            require_mentions(query, self.mentions)
            if self.operators.get_operators("in_unit"):
                times.convert_shown_numbers(query)
            filter_statement_ranks(query)
            choose_columns(query)
            if query.draft.limit is not None:
                keep_ties(query)
            if self._make_consistent(query):
                yield from _finalize_candidates(query)
            if not query.has_skipped_distant:
                return

    def _make_consistent(self, query: QueryBuilder) -> bool:
        """Return whether the conditions are consistent, if need be split between two things."""
        has_negated_filters = query.filters_by_operator and self.operators.get_operators("not")
        has_several_conditions = (
            self.operators.get_operators("both", "and") or len(query.draft.filters) > 1
        )
        if not (has_several_conditions or query.draft.negations or has_negated_filters):
            return True
        if has_negated_filters:
            shared_value.negate_conditions(query)
        shared_value.negate_values(query)
        return shared_value.split_between_two(query)

    def _bound_score(self, state: PartialMatch, usable: int) -> float:
        """Return the score of a state if it used all usable words without any penalty."""
        unused_weight = self.search.sum_weights(usable & ~state.used)
        unused_weight += GainWeight.OPERATOR * len(self.operators.get_operators("each"))
        return (
            self.search.score_state(state)
            + self.search.score_evidence(unused_weight)
            + _COMPLETION_BONUS
        )

    def _find_nearby_usable_words(self, state: PartialMatch) -> int:
        """Return the usable words as a bit mask, without those of distant predicates."""
        find_predicates = self.lookups.find_predicates
        node_sets = [node.ids for node in state.node.walk() if len(node.ids)]
        nearby_predicates = [
            find_predicates(ids, inverse=inverse) for ids in node_sets for inverse in (False, True)
        ]
        usable = self.operator_words
        for number, links in self.search.get_unused_links(state.used).items():
            if any(number in node for node in nearby_predicates):
                for link in links:
                    usable |= link.mask
        return usable

    def _iterate_domains(self) -> Iterator[PartialMatch]:
        """Yield the subjects of linked predicates, in case the question names no class or thing."""
        for number, links in self.search.links_by_predicate.items():
            if max(link.score for link in links) >= _MIN_DOMAIN_SCORE:
                subjects = PartialMatch(
                    Node(self.search.graph.get_ends(number)), 0, 0.0, unknown=Penalty.GUESSED_CLASS
                )
                yield subjects
                if (
                    self.operators.get_operators(*_PROPERTY_OPERATORS)
                    and number in self.search.schema.resource_predicates
                ):
                    yield from self.search.expand_state(subjects, named_only=True)


def _apply_operators(query: QueryBuilder, operators: Sequence[Operator]) -> None:
    """Let each operator use its words, in the order of the question."""
    slot_words = 0
    for slot in query.slots:
        slot_words |= slot.mask
    for operator in operators:
        rule = OPERATOR_RULES.get(operator.name)
        if rule is None:
            continue
        used_words = query.used if rule.shares_words else query.used | slot_words
        if operator.name == "exists":
            used_words = query.used & query.search.content_mask
        if operator.name in _PROPERTY_OPERATORS:  # "más alto", of a property "alto"
            own_slots = (slot.mask for slot in query.slots if not slot.mask & ~operator.mask)
            used_words &= query.used | ~sum(set(own_slots))
        operator = _shorten_operator(operator, used_words, query) if rule.can_shorten else operator
        if operator.mask & used_words:
            continue
        filter_count = len(query.draft.filters)
        if rule.handle(query, operator):
            if len(query.draft.filters) > filter_count:
                query.filters_by_operator[operator] = tuple(query.draft.filters[filter_count:])
            query.consume_words(operator.mask, query.search.sum_weights(operator.mask))
            query.used_slots |= {slot for slot in query.slots if not slot.mask & ~operator.mask}
            query.gain += GainWeight.OPERATOR
            query.notes.append(operator.name)


def _shorten_operator(operator: Operator, used_words: int, query: QueryBuilder) -> Operator:
    """Leave the end of an operator to the name that begins there: "the most | number of shops"."""
    first, last = operator.first, operator.last
    if last < first or not used_words >> first + 1 & (1 << last - first) - 1:
        return operator  # without words if it is implied
    end = next(position for position in operator.positions if used_words >> position & 1)
    question = query.question
    while first < end:
        for phrase, name in question.word_list.operators_by_first_word.get(
            question.folded_words[first], ()
        ):
            is_cut = name in OPERATOR_RULES and OPERATOR_RULES[name].can_shorten
            if is_cut and first + len(phrase) == end and question.has_phrase_at(phrase, first):
                return replace(operator, name=name, last=end - 1)
        if not question.is_stop(first):
            break
        first += 1  # "the highest | number of shops"
    return operator


_PROPERTY_OPERATORS = ("superlative", "comparative")
"""Operators on a property of the thing named right beside them."""
_TIME_NOTES = frozenset(
    "at now past during between before after superlative minimum maximum most fewest top order "
    "ascending descending most_first least_first each lasting lasted elapsed".split()
)
_PREFERRED_RANK, _DEPRECATED_RANK = NamedNode(WIKIBASE_PREFERRED), NamedNode(WIKIBASE_DEPRECATED)


def filter_statement_ranks(query: QueryBuilder) -> None:
    """Keep the statements of the best rank (Wikibase).

    If the question asks for a time or for all statements, only drop the deprecated ones.
    """
    rank = query.schema.rank_predicate
    if rank is None:
        return
    question = query.question
    all_words = {phrase[0] for phrase in question.word_list.time_phrases["all_of_them"]}
    keeps_all = (
        bool(_TIME_NOTES & set(query.notes))
        or not all_words.isdisjoint(question.folded_words)
        or any(query.used >> x.first & 1 for x in question.quantities if x.days is not None)
    )
    iri = query.graph.get_predicate_iri(rank)
    patterns = list(query.draft.patterns)
    for triple in patterns:
        statement = triple.object
        number = query.schema.get_predicate_number(get_predicate(triple))
        if number is None or isinstance(triple.predicate, Path):
            continue
        if isinstance(triple.subject, Variable):
            ids = query.graph.get_ends(number, inverse=True)
        else:
            subject = query.graph.terms.find(str(triple.subject))
            subjects = np.array([] if subject is None else [subject], dtype=np.int32)
            ids = query.graph.step(subjects, number)
        if not isinstance(statement, Variable) or not query.lookups.is_resource(ids):
            continue
        ranks = {query.graph.terms.get_term(int(node)) for node in query.graph.step(ids, rank)}
        is_value_given = any(
            value_triple.subject == statement and not isinstance(value_triple.object, Variable)
            for value_triple in patterns
        )
        if _PREFERRED_RANK in ranks and not (keeps_all or is_value_given):
            draft = query.draft
            if not isinstance(triple.subject, Variable):
                draft.patterns.append(build_pattern(statement, iri, _PREFERRED_RANK))
                continue
            own_rank = draft.create_variable("rank")
            other_statement = draft.create_variable("other statement")
            draft.patterns.append(build_pattern(statement, iri, own_rank))
            draft.filters.append(build_filter(own_rank, "!=", _DEPRECATED_RANK))
            better_statement = (
                replace(triple, object=other_statement),
                build_pattern(other_statement, iri, _PREFERRED_RANK),
            )
            draft.negations.append(
                build_not_exists(*better_statement, build_filter(own_rank, "!=", _PREFERRED_RANK))
            )
        elif _DEPRECATED_RANK in ranks:
            query.draft.negations.append(
                build_not_exists(build_pattern(statement, iri, _DEPRECATED_RANK))
            )


def show_remaining_slots(query: QueryBuilder) -> None:
    """Show the slots that no operator used if the question asks for them, else require them."""
    shown_positions: set[int] = set()
    for slot in sorted(query.slots, key=lambda slot: slot.first)[:_MAX_SHOWN_SLOTS]:
        if slot in query.used_slots:
            continue
        # A word only means what other words name: "published the most *releases*".
        link = slot.links[0]
        if "near" in link.how and any(
            link.target == used.links[0].target for used in query.used_slots
        ):
            query.consume_slot(slot, slot.links[0])
            continue
        is_asked = query.zones.is_head(slot.first) or _is_list_continuation(
            query, slot.first, shown_positions
        )
        owner = find_owner_vertex(query, slot.first, slot.last)
        attachment = query.find_attachment(slot, prefer=is_asked, owner=owner)
        if attachment is None:
            continue
        has_operator_as_object = bool(query.operators.mask >> slot.last + 1 & 1)
        if "near" in attachment.link.how and has_operator_as_object and not is_asked:
            continue  # "projects that use more than one language"
        variable = query.attach_and_consume(attachment)
        is_relation = query.schema.get_sort(attachment.predicate) is ValueKind.NONE
        is_asked = is_asked and not (is_relation and _is_verb(query, slot))
        if attachment.path:
            query.unknown += Penalty.DISTANT_STEP * len(attachment.path)
        truth_values = get_truth_terms(query.schema, attachment.predicate)
        if truth_values is not None and not _is_code_requested(query, slot, attachment):
            query.draft.filters.append(build_filter(variable, "=", parse_term(truth_values[0])))
            continue
        if is_asked and not _is_aggregate_restriction(query, slot.first):
            shown_positions.add(slot.last)
            query.shown_words |= slot.mask
            query.projections.append(
                (slot.first, query.choose_object_variable(variable, attachment))
            )
        else:
            query.notes.append("required")


def _is_verb(query: QueryBuilder, slot: Slot) -> bool:
    """Return whether a bare word right after a plural is its verb: "which doctors work in …"."""
    position, tokens = slot.first, query.question.tokens
    if not position or position != slot.last or tokens[position].stem != tokens[position].folded:
        return False
    follows_plural = (
        tokens[position - 1].stem != tokens[position - 1].folded
        and tokens[position - 1].quote is None
    )
    class_links = (vertex.node.cls_link for vertex in query.draft.vertices)
    return follows_plural and any(
        link is not None and position - 1 in link.positions for link in class_links
    )


def _is_list_continuation(query: QueryBuilder, position: int, shown_positions: set[int]) -> bool:
    """Return whether only a conjunction or a comma separates a noun from one that is shown."""
    if not query.zones.is_listed(position):
        return False
    previous = position - 1
    while previous >= 0 and previous not in shown_positions and query.question.is_stop(previous):
        previous -= 1
    return previous in shown_positions


def _is_code_requested(query: QueryBuilder, slot: Slot, attachment: Attachment) -> bool:
    """Return whether the question asks for a yes/no code itself: "name and approval"."""
    # It does not if the predicate's name is a question ("is approved"), or if a class follows
    # ("approved licenses").
    if query.schema.get_sort(attachment.predicate) is ValueKind.BOOLEAN or is_asking_flag(
        query.schema, attachment.predicate
    ):
        return False
    if any(slot.last + 1 in vertex.name_positions for vertex in query.draft.vertices):
        return False
    return query.zones.is_head(slot.first) and query.zones.is_listed(slot.first)


def _is_aggregate_restriction(query: QueryBuilder, position: int) -> bool:
    """Return whether a noun after an aggregate only restricts the aggregated values."""
    # "How many X have Y" and "the average X of Y" do not ask for a row for each Y.
    operators = query.operators
    if operators.get_operators("each") or query.zones.is_listed(position):
        return False
    functions = {get_function(column) for column in query.draft.columns if isinstance(column, Call)}
    names = [] if functions == {"COUNT"} else [*aggregates.AGGREGATE_FUNCTIONS, "share"]
    names += ["count"] if "COUNT" in functions else []
    return bool(functions) and any(position > item.last for item in operators.get_operators(*names))


def choose_columns(query: QueryBuilder) -> None:
    """Choose the columns, their order, and the variables to group by."""
    draft = query.draft
    if "rate" in query.notes:
        aggregates.count_rate(query)
    totals = list(draft.columns)
    projected = sorted(
        query.projections, key=lambda vertex: (vertex[0], get_variable_number(vertex[1]))
    )
    shown_variables = [variable for _, variable in projected]
    asked_vertices = [vertex for vertex in draft.vertices if _is_listed_beside_root(query, vertex)]
    shown_variables += [query.choose_name_variable(vertex) for vertex in asked_vertices]
    positions = [position for position, _ in projected] + [
        min(vertex.name_positions) for vertex in asked_vertices
    ]
    start = min(query.root.name_positions, default=0)
    repeated_vertices = [
        x
        for x in query.draft.vertices
        if query.draft.limit == 1
        and any(query.zones.is_head(position) and position < start for position in x.name_positions)
        and x.term in _find_counted_variables(query)
        and any(True for _ in query.iterate_repeated_mentions(x))
    ]
    for vertex in repeated_vertices:
        shown_variables.append(query.choose_name_variable(vertex))
        query.shown_words |= 1 << min(vertex.name_positions)
    # "When …" without a named date shows the date of the result; likewise places and persons.
    needs_value = query.operators.asks in _VALUE_QUESTION_WORDS and not query.draft.is_ask
    needs_value = needs_value and not (shown_variables or totals)
    attachment = find_asked_value(query) if needs_value else None
    if attachment is not None:
        if attachment.predicate not in query.schema.value_predicates:
            query.unknown += Penalty.UNNAMED_DATE
        shown_variables.append(query.attach(attachment))
    # "how many moons has the planet with the most moons".
    keys = [sort_key for sort_key, _ in draft.order]
    is_extreme_count = (
        keys == totals
        and draft.limit == 1
        and query.operators.asks == "number"
        and not shown_variables
    )
    shows_root = not (attachment or repeated_vertices or is_extreme_count) and _is_root_shown(
        query, positions, bool(shown_variables), bool(totals)
    )
    if shows_root and isinstance(query.root.term, Variable):
        shown_variables.insert(0, _choose_root_variable(query))
    further_variables = (
        iterate_further_values(query)
        if query.operators.further_question_words and not totals
        else ()
    )
    shown_variables = list(dict.fromkeys((*shown_variables, *further_variables)))
    context = [] if totals else _choose_context(query, shown_variables)
    draft.columns = [*context, *shown_variables, *totals]
    if (totals and shown_variables) or (query.is_grouped and not totals):
        # "Which boat is the fastest in each year": the boats are no groups.
        is_first = "each" in query.notes and draft.limit == 1 and not any(map(is_aggregate, keys))
        chosen = shown_variables[:1] if is_first and shows_root else []
        draft.group_keys += [x for x in shown_variables if x not in (*draft.group_keys, *chosen)]
    sorting_notes = {"order_shown", "order_shown_desc"} & set(query.notes)
    if sorting_notes and draft.columns and not draft.order:
        answers = [column for column in draft.columns if column not in draft.context]
        key = build_label_key(query, answers[0])
        draft.order.append((key, "order_shown_desc" in sorting_notes))
    for position in query.lookups.name_positions:
        if not query.used >> position & 1:
            query.consume_words(1 << position, query.weights[position] * GainWeight.NAME_WORD)


def _choose_root_variable(query: QueryBuilder) -> Variable:
    """Return the variable of the root, or of the value if the root is a statement."""
    root = query.root
    matched_predicates = (
        [edge.predicate for edge, _ in root.node.edges] if query.is_statement(root) else []
    )
    for number in query.list_predicates(root) if matched_predicates else ():
        is_same_relation = (
            query.schema.is_one_relation(matched, number, root.node.ids)
            for matched in matched_predicates
        )
        if number not in matched_predicates and any(is_same_relation):
            return query.attach(build_unnamed_attachment(root, number))
    return query.choose_name_variable(root)


def _choose_context(query: QueryBuilder, shown_variables: Sequence[Variable]) -> list[Variable]:
    """Return the context columns: the owners of shown values that mean nothing alone."""
    # These are the named neighbours of things without a name, and the owners of several numbers or
    # dates. A nameless thing that holds the unit of a number is part of the answer.
    counted_variables = _find_counted_variables(query)
    owners = [
        (vertex, query.schema.get_sort(p))
        for (term, p, inverse), x in query.draft.edge_variables.items()
        if x in shown_variables and not inverse and query.schema.get_sort(p) is not ValueKind.NONE
        for vertex in query.draft.vertices
        if vertex.term == term and isinstance(term, Variable) and term not in shown_variables
        if term not in counted_variables
        and (term in query.draft.group_keys or not query.is_grouped)
    ]
    only_values = len(owners) == len(shown_variables) and all(
        sort in NUMERIC_SORTS + DATE_SORTS for _, sort in owners
    )
    only_values = (
        only_values and query.draft.limit != 1 and not query.operators.get_operators("distinct")
    )
    context: dict[Variable, bool] = {}
    patterns = tuple(query.draft.patterns)
    for vertex, sort in owners:
        ids = query.get_vertex_ids(vertex)
        if isinstance(vertex.term, Variable) and query.schema.is_nameless(ids):
            context |= {
                query.choose_name_variable(linked): False
                for linked in query.draft.vertices
                if linked.node.cls_link is not None and linked.term not in shown_variables
                if any({vertex.term, linked.term} == {x.subject, x.object} for x in patterns)
                and not query.schema.is_nameless(query.get_vertex_ids(linked))
            }
            if not query.is_statement(vertex) and query.schema.find_stated_value(ids) is None:
                context[vertex.term] = sort in NUMERIC_SORTS and query.schema.has_unit(ids)
        elif only_values and len(ids) > 1:
            context[query.choose_name_variable(vertex)] = False
    query.draft.context = [x for x, is_answer in context.items() if not is_answer]
    return list(context)


def _is_listed_beside_root(query: QueryBuilder, vertex: Vertex) -> bool:
    if vertex is query.root or not isinstance(vertex.term, Variable):
        return False
    link = vertex.node.cls_link
    if link is None or not query.zones.is_head(link.positions[0]):
        return False
    if any(p == link.positions[0] - 1 for p, _ in query.projections):
        return False
    values = (*query.draft.columns, *(key for key, _ in query.draft.order))
    if vertex.term in [get_value_variable(x) for x in values if is_aggregate(x)]:
        return False
    return query.zones.is_listed(link.positions[0])


def _is_root_shown(
    query: QueryBuilder, positions: Sequence[int], has_shown: bool, has_aggregates: bool
) -> bool:
    if query.draft.is_ask or (has_shown and query.root.term in _find_counted_variables(query)):
        return False
    if query.root.term in query.draft.group_keys:
        attached, root = query.draft.edge_variables, query.root.term
        at_root = {value for key, value in attached.items() if key[0] == root}
        at_root |= {  # keys at the root
            value for key, value in attached.items() if attached.get((root, *key[1:])) == key[0]
        }
        return not (has_shown and any(value in at_root for _, value in query.projections))
    if has_aggregates:
        return False
    if not has_shown:
        return True
    link = query.root.node.cls_link
    if link is None or not positions or not query.zones.is_head(link.positions[0]):
        return False
    position = link.positions[0]
    if position > max(positions):  # "the names of members and their parties"
        return query.zones.is_listed(position)
    opens_question = all(query.question.is_stop(before) for before in range(position))
    is_listed = opens_question or query.zones.is_listed(position)
    return is_listed and position < min(positions) and query.zones.is_listed(min(positions))


def _find_counted_variables(query: QueryBuilder) -> set[Variable]:
    """Return the variables that are counted in columns, in the order or in conditions on groups."""
    values = (
        *query.draft.columns,
        *(key for key, _ in query.draft.order),
        *(expression.arguments[0] for expression in query.draft.having),
    )
    counts = (x for x in values if isinstance(x, Call) and get_function(x) == "COUNT")
    return set(map(get_value_variable, counts))


def _break_ties(query: QueryBuilder) -> None:
    """Break ties at a limit by the first shown column, so that every engine keeps the same rows."""
    draft = query.draft
    if draft.limit is None or not draft.order:
        return
    keys = [get_value_variable(key) for key, _ in draft.order if not is_aggregate(key)]
    shown_variables = [
        column
        for column in draft.columns
        if isinstance(column, Variable) and column not in draft.context
    ]
    draft.order += [(variable, False) for variable in shown_variables[:1] if variable not in keys]


def _finalize_candidates(query: QueryBuilder) -> Iterator[QueryCandidate]:
    """Yield the final candidates; with an upper bound on group sizes also one with empty groups."""
    groups = None
    if query.draft.having:
        groups = aggregates.pop_group_count(query)
    candidate = finalize_candidate(query)
    if candidate is None:
        return
    if "share" in query.notes:
        yield from filter(None, (aggregates.build_share(query, candidate, _apply_operators),))
        return
    if (
        query.operators.get_operators("difference", "ratio")
        or query.operators.average_of_counts is not None
    ):
        candidate = aggregates.apply_calculation(query, candidate)
    candidate = aggregates.compute_window(query, candidate)
    if candidate is None:
        return
    if not query.draft.having:
        yield conditions.require_all(query, candidate) if candidate.is_ask else candidate
        return
    with_empty_groups = (
        aggregates.include_empty_groups(query, candidate)
        if aggregates.FEW_NOTE in query.notes
        else None
    )
    for variant in filter(None, (with_empty_groups, candidate)):
        yield variant if groups is None else aggregates.count_groups(variant, groups)


def finalize_candidate(query: QueryBuilder) -> QueryCandidate | None:
    """Build the final candidate, or None if it cannot show anything."""
    draft = query.draft
    if (
        not (draft.patterns or draft.unions)
        or not (draft.columns or draft.is_ask)
        or (draft.is_ask and draft.having)
    ):
        return None
    if (query.state.denied and not draft.is_ask) or not is_sound(draft):
        return None
    ids = query.get_vertex_ids(query.root)
    if not len(ids):
        return None  # the attached parts contradict each other
    if query.is_grouped and len(draft.columns) == 1 and not draft.order and not draft.having:
        draft.group_keys = []
    values = () if draft.is_ask else (*draft.columns, *(key for key, _ in draft.order))
    if not draft.having and not any(map(is_aggregate, values)):
        draft.group_keys = []
    else:
        plain_variables = [element for element in draft.columns if isinstance(element, Variable)]
        draft.group_keys += [x for x in plain_variables if x not in draft.group_keys]
        keys = [get_value_variable(key) for key, _ in draft.order if not is_aggregate(key)]
        draft.group_keys += [x for x in keys if draft.group_keys and x not in draft.group_keys]
    if not _find_counted_variables(query).isdisjoint(draft.group_keys):
        return None  # one of each is counted
    _break_ties(query)
    for element in query.operators.get_operators("distinct"):
        query.consume_tokens(element.positions)  # no row is twice in a result
    return QueryCandidate(
        draft.to_query(),
        tuple(dict.fromkeys(element for element in draft.columns if element not in draft.context)),
        draft.hints,
        query.state,
        query.root.term,
        ids,
        query.used,
        query.gain,
        query.unknown,
        len(draft.patterns)
        + sum(len(list_patterns(group)) for element in draft.unions for group in element.groups),
        tuple(query.notes),
        query.shown_words,
        tuple(query.links),
        draft.names,
        _find_node_values(query),
        identities=tuple(_find_identities(query)),
    )


_MAX_NODE_VALUES = 5  # values of a blank node that are shown


def _find_node_values(query: QueryBuilder) -> dict[Variable, tuple[Pattern, ...]]:
    """Return patterns for the values of the blank nodes that a query shows: an address's street."""
    draft, graph, values = query.draft, query.graph, dict[Variable, tuple[Pattern, ...]]()
    if draft.is_ask or draft.group_keys or draft.limit is not None:
        return values
    for column in draft.columns:
        ids = _find_ids(query, column) if isinstance(column, Variable) else None
        if ids is None or column in draft.context or not _is_blank(query, ids):
            continue
        numbers = [
            number
            for number in sorted(graph.get_predicates(ids))
            if number != query.schema.type_predicate
            and not _is_blank(query, graph.step(ids, number))
        ]
        if numbers and isinstance(column, Variable):
            values[column] = tuple(
                draft.build_new_edge(column, number) for number in numbers[:_MAX_NODE_VALUES]
            )
    return values


def _find_identities(query: QueryBuilder) -> Iterator[Pattern]:
    """Yield name patterns for linked blank nodes with shared names; others are rows of a table."""
    draft, graph = query.draft, query.graph
    aggregated = (*filter(is_aggregate, draft.columns), *draft.order, *draft.having)
    for variable in dict.fromkeys((*draft.group_keys, *find_variables(aggregated))):
        ids = _find_ids(query, variable)
        if ids is None or not (_is_blank(query, ids) and graph.get_predicates(ids, inverse=True)):
            continue
        for number in sorted(query.schema.naming_predicates & graph.get_predicates(ids)):
            bearers, texts = graph.get_edges(ids, number)
            if len(np.unique(bearers)) == len(texts) == len(ids) > len(np.unique(texts)):
                node = draft.create_variable(draft.hints[variable])
                yield build_pattern(node, graph.get_predicate_iri(number), variable)
                break


def _find_ids(query: QueryBuilder, variable: Variable) -> Ids | None:
    """Return the nodes that a variable of a query can be; None if it is no node."""
    for (term, predicate, inverse), value in query.draft.edge_variables.items():
        owner = query.draft.find_vertex(term)
        if value == variable and owner is not None:
            return query.graph.step(query.get_vertex_ids(owner), predicate, inverse=inverse)
    vertex = query.draft.find_vertex(variable)
    return None if vertex is None else query.get_vertex_ids(vertex)


def _is_blank(query: QueryBuilder, ids: Ids) -> bool:
    return len(ids) > 0 and query.graph.terms.get_text(int(ids[0])).startswith("_:")


_MAX_DESCRIPTION_VALUES = 12
"""Maximum number of values of a predicate that describes a thing rather than lists its links."""


def describe_things(
    search: BeamSearch, operators: QuestionOperators, links: Sequence[Link], lead_length: int
) -> Iterator[QueryCandidate]:
    """Yield the description of each linked thing: one row for each property and value.

    Args:
        lead_length: Number of leading words that ask for a description.
    """
    lookups = GraphLookup(search, operators)
    for link in links:
        entity = lookups.find_entity(link)
        predicates = _find_describing_predicates(search, entity) if entity is not None else []
        if entity is not None and predicates:
            yield _build_description(search, link, entity, predicates, lead_length)


def _find_describing_predicates(search: BeamSearch, entity: int) -> list[int]:
    """Return the predicates that describe a thing, without names and long lists of links."""
    # Of a thing without other facts, its names are shown.
    schema, ids = search.schema, np.array([entity], dtype=np.int32)
    followed_predicates = schema.open_predicates - schema.named_only_predicates
    numbers, counts = search.graph.count_predicates(ids)
    if schema.naming_predicates.issuperset(numbers.tolist()):
        return [] if search.graph.get_predicates(ids, inverse=True) else numbers.tolist()
    describing = [
        number
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
        if count <= _MAX_DESCRIPTION_VALUES
        and (
            number in followed_predicates
            or number == schema.type_predicate
            or (count == 1 and search.graph.get_predicate_iri(number) in DESCRIPTION_PREDICATES)
        )
    ]
    return describing if any(number != schema.type_predicate for number in describing) else []


def _build_description(
    search: BeamSearch, link: Link, entity: int, predicates: list[int], lead_length: int
) -> QueryCandidate:
    ids = np.array([entity], dtype=np.int32)
    node = Node(ids, terms=(entity,), link=link)
    lead_words = to_bit_mask(range(lead_length))
    fame_factor = 1 + GainWeight.PROMINENCE * math.log10(1 + search.graph.get_degree(entity))
    gain = search.compute_gain(link, 0) * fame_factor + search.sum_weights(lead_words)
    gain += GainWeight.OPERATOR if lead_length else 0.0
    state = PartialMatch(node, link.mask | lead_words, gain, anchored=True)
    draft = QueryDraft(search.schema)
    term = draft.add_match(node).term
    property_variable, value = draft.create_variable("property"), draft.create_variable("value")
    rows = tuple((NamedNode(search.graph.get_predicate_iri(number)),) for number in predicates)
    draft.value_blocks.append(Values((property_variable,), rows))
    draft.patterns.append(Pattern(term, property_variable, value))
    draft.columns = [property_variable, value]
    return QueryCandidate(
        draft.to_query(),
        (property_variable, value),
        draft.hints,
        state,
        term,
        ids,
        state.used,
        gain,
        0.0,
        1,
        ("describe",),
        link.mask,
    )
