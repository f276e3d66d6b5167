"""Compare two things that a question names, or count or calculate with them.

"Which is larger, X or Y", "how much larger is X than Y", "the ratio of the mass of X to that of Y",
"number of ships and number of ports".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations, permutations, product
from operator import or_
from typing import Literal

import numpy as np
from pyoxigraph import NamedNode, Variable

from askgraph.graph.arrays import GraphArrays, Ids, intersect
from askgraph.graph.literals import ValueKind
from askgraph.index.names import ItemKind, split_tokens
from askgraph.search.expand import GainWeight, Node, PartialMatch, Penalty
from askgraph.search.expand.beam_search import BeamSearch
from askgraph.search.link import Link
from askgraph.search.operators.query_builder import (
    DATE_SORTS,
    NONE_NOTE,
    NUMERIC_SORTS,
    PAIRED_NOTE,
    GraphLookup,
    QueryCandidate,
    QueryDraft,
)
from askgraph.search.operators.times import is_time_value
from askgraph.search.query_pieces import build_aggregate, build_filter, build_pattern, get_alias
from askgraph.search.tokenize import to_bit_mask
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.search.tokenize.word_lists import Measure
from askgraph.sparql import (
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Term,
    Values,
)
from askgraph.sparql.elapsed import build_elapsed_time
from askgraph.sparql.vocabulary import RDF_TYPE

_MIN_LINK_SCORE = 0.45  # words name a thing so well, or a class
_MIN_COUNTED_CLASS_SCORE = 0.9  # words name a counted class so well that nothing else is meant
_MIN_CHOICE_SCORE = 0.35  # words name a thing beside "or" so well: a surname
_MIN_COMPARED_CLASS_SCORE = 0.6  # words name a class so well whose things two things have
_MIN_CALCULATED_CLASS_SCORE = 0.85  # words name a class so well whose number is divided
_MAX_WORDS_BETWEEN = 9  # maximum words between the two
_MAX_SPANS = 6  # names in a question, the most telling ones, to find two among
_MIN_NONE_SCORE = 0.9  # words name a class and a thing so well if one has none of the other
_MIN_MEMBERS_SHARE = 0.5  # members of a class that a relation links to things like the one named
_MAX_GROUP_SAMPLE = 1_000  # things of a class whose predicates are looked at
_MAX_READINGS = 2  # readings of a name to try, and properties

PairOperation = Literal["which", "-", "/", "+"]


@dataclass(frozen=True)
class _PairComparison:
    """A comparison of two things."""

    how: PairOperation  # operation: choose one of the two, or subtract, divide or add their values
    operators: tuple[Operator, ...]  # operators that ask for it
    measure: Measure | None = None  # measure of the adjective, if there is one
    up: bool = True  # whether the larger thing is meant


@dataclass(frozen=True)
class _SharedProperty:
    """A property of both things with one value each."""

    number: int  # number of the predicate
    values: tuple[float, float]  # values of the two things
    links: tuple[Link, ...] = ()  # links that name the property
    penalty: float = 0.0


def compare_pairs(search: BeamSearch, operators: QuestionOperators) -> Iterator[QueryCandidate]:
    """Yield the queries that compare two things or calculate with them, if words ask for it."""
    comparison = _detect_comparison(operators)
    if comparison is None:
        return
    lookups = GraphLookup(search, operators)
    for first, second in _iterate_pairs(search, operators, comparison):
        gap, joints = (
            (first.positions[-1], second.positions[0]),
            operators.get_operators("or", "and"),
        )
        conjunctions = [joint for joint in joints if gap[0] < joint.first < gap[1]]
        comparison = replace(comparison, operators=(*comparison.operators, *conjunctions[:1]))
        entities = lookups.find_entity(first), lookups.find_entity(second)
        if entities[0] is None or entities[1] is None or entities[0] == entities[1]:
            continue
        pair = entities[0], entities[1]
        for candidate in _iterate_properties(lookups, comparison, pair, first.mask | second.mask):
            yield _build_candidate(search, comparison, (first, second), pair, candidate)


def _detect_comparison(operators: QuestionOperators) -> _PairComparison | None:
    """Return the comparison that the words ask for, or None."""
    adjective_comparison = _detect_adjective(operators)
    for name, operation in _CALCULATIONS.items():
        for candidate in operators.get_operators(name):
            comparison = adjective_comparison if name != "sum" else None
            further_operators = () if comparison is None else comparison.operators
            return _PairComparison(operation, (candidate, *further_operators))
    if adjective_comparison is None:
        return None
    adjective = adjective_comparison.operators[0]
    if adjective.name != "superlative" or adjective.last > adjective.first:
        difference_words = operators.reading.word_list.clauses["by_how_much"]
        counts = [x for x in operators.get_operators("count") if x.last < adjective.first]
        is_ratio = counts and counts[-1].last + 1 == adjective.first
        if is_ratio and adjective_comparison.measure is not None:
            return replace(adjective_comparison, how="/", operators=(counts[-1], adjective))
        if is_ratio or not difference_words.isdisjoint(
            operators.reading.folded_words[: adjective.first]
        ):
            return replace(adjective_comparison, how="-", operators=(*counts[-1:], adjective))
    return adjective_comparison if operators.get_operators("or") else None


def _detect_adjective(operators: QuestionOperators) -> _PairComparison | None:
    """Return the comparison of an adjective, or of a word for more or fewer."""
    adjectives = operators.get_operators("comparative", "superlative")
    if len(adjectives) == 1 and adjectives[0].measure is not None:
        return _PairComparison(
            "which", adjectives, adjectives[0].measure, adjectives[0].measure.is_upward
        )
    question, bounds = operators.reading, operators.get_operators("more_than", "less_than")
    used_words = operators.mask & ~sum(
        bound.mask for bound in bounds if operators.get_quantity_after(bound) is None
    )
    for position, word in enumerate(question.folded_words if not adjectives else ()):
        for name, is_up in (("more", True), ("fewer", False)):
            if word in question.word_list.clauses[name] and not used_words >> position & 1:
                return _PairComparison("which", (Operator(name, position, position),), None, is_up)
    return None


_CALCULATIONS: dict[str, PairOperation] = {"ratio": "/", "difference": "-", "sum": "+"}


def _iterate_pairs(
    search: BeamSearch, operators: QuestionOperators, comparison: _PairComparison
) -> Iterator[tuple[Link, Link]]:
    """Yield the two named things, in the order of the question, in their best readings."""
    used_words = sum(candidate.mask for candidate in comparison.operators)
    links_by_positions: dict[tuple[int, ...], list[Link]] = {}
    for candidate in search.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
        if candidate.score >= _MIN_LINK_SCORE and not candidate.mask & used_words:
            links_by_positions.setdefault(candidate.positions, []).append(candidate)
    gain_by_positions = {
        positions: max(search.compute_gain(candidate, 0) for candidate in links)
        for positions, links in links_by_positions.items()
    }
    spans = sorted(links_by_positions, key=lambda positions: -gain_by_positions[positions])
    conjunctions = operators.get_operators("or") if comparison.how == "which" else ()
    pairs = [
        (first, second)
        for first, second in map(sorted, combinations(spans[:_MAX_SPANS], 2))
        if not {*first} & {*second}
        and second[0] - first[-1] <= _MAX_WORDS_BETWEEN + 1
        and (not conjunctions or any(first[-1] < item.first < second[0] for item in conjunctions))
    ]
    if not pairs:
        return
    # "Farther from the Sun, X or Y": the words beside the conjunction.
    first, second = (
        min(pairs, key=lambda pair: pair[1][0] - pair[0][-1]) if conjunctions else pairs[0]
    )
    yield from product(*(links_by_positions[span][:_MAX_READINGS] for span in (first, second)))


def _iterate_properties(
    lookups: GraphLookup, comparison: _PairComparison, entities: tuple[int, int], entity_words: int
) -> Iterator[_SharedProperty]:
    """Yield the properties that words name, else those that the adjective measures."""
    schema = lookups.schema
    values_by_number = dict(
        _iterate_shared_values(
            lookups,
            entities,
            NUMERIC_SORTS if comparison.how in ("+", "/") else NUMERIC_SORTS + DATE_SORTS,
        )
    )
    links_by_number: dict[int, list[Link]] = {}
    for link in lookups.linked.get_links(ItemKind.PREDICATE):
        number = schema.get_predicate_number(link.target)
        if number in values_by_number and not link.mask & entity_words:
            links_by_number.setdefault(number, []).append(link)
    gain = lookups.search.compute_gain
    best_numbers = sorted(
        links_by_number, key=lambda at: -max(gain(link, 0) for link in links_by_number[at])
    )
    for number in best_numbers[:_MAX_READINGS]:
        yield _SharedProperty(number, values_by_number[number], tuple(links_by_number[number]))
    if not links_by_number:
        yield from _find_measured_property(lookups, comparison, values_by_number)


def _iterate_shared_values(
    lookups: GraphLookup, entities: tuple[int, int], sorts: Sequence[ValueKind]
) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the predicates with exactly one value for each of two things, with the values."""
    graph = lookups.graph
    ids = [np.array([node_ids], dtype=np.int32) for node_ids in entities]
    for number in intersect(*(graph.count_predicates(node_ids)[0] for node_ids in ids)).tolist():
        if lookups.schema.get_sort(number) in sorts:
            values = [graph.values[graph.step(node_ids, number)].tolist() for node_ids in ids]
            if all(len(node_values) == 1 for node_values in values):
                yield number, (values[0][0], values[1][0])


def _find_measured_property(
    lookups: GraphLookup,
    comparison: _PairComparison,
    values_by_number: Mapping[int, tuple[float, float]],
) -> Iterator[_SharedProperty]:
    """Yield the property that an adjective measures, if there is one."""
    measure = comparison.measure
    if measure is None:
        return
    for words, sorts in (
        (measure.property_names, NUMERIC_SORTS),
        (measure.date_names, DATE_SORTS + NUMERIC_SORTS),
    ):
        stems_by_number = {
            number: lookups.schema.get_name_stems(number)
            for number in values_by_number
            if lookups.schema.get_sort(number) in sorts
        }
        for word in words:
            matching = [number for number, stems in stems_by_number.items() if word in stems]
            if matching:
                number = min(matching, key=lambda candidate: len(stems_by_number[candidate]))
                yield _SharedProperty(number, values_by_number[number], (), Penalty.OTHER_PREDICATE)
                return


def _build_candidate(
    search: BeamSearch,
    comparison: _PairComparison,
    entity_links: tuple[Link, Link],
    entities: tuple[int, int],
    shared_property: _SharedProperty,
) -> QueryCandidate:
    is_time = is_time_value(search.schema, shared_property.number, comparison.measure)
    used, gain = 0, GainWeight.OPERATOR * len(comparison.operators)
    for link in (*entity_links, *shared_property.links):
        gain += search.compute_gain(link, used)
        used |= link.mask
    operator_words = to_bit_mask(
        {position for operator in comparison.operators for position in operator.positions}
    )
    gain += search.sum_weights(operator_words & ~used)
    draft = QueryDraft(search.schema)
    if comparison.how == "which":
        node = _add_choice(search, draft, comparison, entities, shared_property, is_time=is_time)
        class_link = node.cls_link
        if class_link is not None:
            gain += search.compute_gain(class_link, used | operator_words)
            used |= class_link.mask
    else:
        node = Node(_to_ids(entities[:1]), terms=entities[:1], link=entity_links[0])
        _add_calculation(search, draft, node, comparison, entities, shared_property)
    used |= operator_words
    return QueryCandidate(
        draft.to_query(),
        tuple(draft.columns),
        draft.hints,
        PartialMatch(node, used, gain, anchored=True),
        draft.vertices[0].term,
        node.ids,
        used,
        gain,
        shared_property.penalty,
        len(draft.patterns),
        (PAIRED_NOTE,),
        to_bit_mask(position for link in shared_property.links[:1] for position in link.positions),
        tuple(link for link in (*entity_links, *shared_property.links) if link != node.link),
        draft.names,
    )


def _to_ids(entities: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(sorted(entities), dtype=np.int32)


def _add_choice(
    search: BeamSearch,
    draft: QueryDraft,
    comparison: _PairComparison,
    entities: tuple[int, int],
    shared_property: _SharedProperty,
    *,
    is_time: bool,
) -> Node:
    """Show the thing that has more of a property; both if their values are equal."""
    ids = _to_ids(entities)
    class_link = _find_common_class(
        search, entities, sum(operator.mask for operator in comparison.operators)
    )
    node = Node(ids, cls=class_link.target if class_link is not None else None, cls_link=class_link)
    vertex = draft.add_match(node)
    rows = tuple((search.graph.terms.get_term(entity),) for entity in entities)
    draft.value_blocks.append(Values((vertex.term,), rows))  # type: ignore[arg-type]
    value = draft.attach_predicate(vertex, shared_property.number)
    name = search.schema.find_custom_name_predicate(ids)
    variable = vertex.term if name is None else draft.attach_name(vertex, name)
    draft.columns = [variable]  # type: ignore[list-item]
    if shared_property.values[0] != shared_property.values[1]:
        is_reversed = is_time and comparison.measure is not None  # the older one was born earlier
        draft.order, draft.limit = [(value, comparison.up is not is_reversed)], 1
    return node


def _find_common_class(
    search: BeamSearch, entities: tuple[int, int], used_words: int
) -> Link | None:
    """Return the class that words name and that has both things as instances."""
    for link in search.linked.get_links(ItemKind.CLASS):
        members = search.schema.get_instances(link.target)
        is_common = len(intersect(members, _to_ids(entities))) == len(entities)
        if is_common and link.score >= _MIN_LINK_SCORE and not link.mask & used_words:
            return link
    return None


def _add_calculation(
    search: BeamSearch,
    draft: QueryDraft,
    node: Node,
    comparison: _PairComparison,
    entities: tuple[int, int],
    shared_property: _SharedProperty,
) -> None:
    """Show the difference, the ratio or the sum of the values of two things."""
    sort = search.schema.get_sort(shared_property.number)
    vertices = [
        draft.add_match(node),
        draft.add_match(Node(_to_ids(entities[1:]), terms=entities[1:])),
    ]
    first_value, second_value = (
        draft.attach_predicate(vertex, shared_property.number) for vertex in vertices
    )
    is_reversed, hint = not comparison.up, _HINTS[comparison.how]
    if comparison.how == "-" and (
        comparison.operators[0].name == "difference" or sort in DATE_SORTS
    ):
        is_reversed = shared_property.values[0] < shared_property.values[1]
    operands: tuple[Term, Term] = (
        (second_value, first_value) if is_reversed else (first_value, second_value)
    )
    value: Expression = Call(comparison.how, operands)
    if sort in DATE_SORTS:
        unit = "calendar years" if sort is ValueKind.YEAR else "years"
        value = build_elapsed_time(unit, operands[1], operands[0])
    draft.columns = [draft.bind_expression(f"{hint} {draft.hints[first_value]}", value)]


_HINTS = {"-": "difference in", "/": "ratio of", "+": "total"}


@dataclass(frozen=True)
class _CountComparison:
    """A comparison of how many things of a class two things have: "more moons than Mars"."""

    counted: Link  # the class that is counted
    links: tuple[Link | None, Link | None]  # if the second is None, the average is meant
    group: Link | None  # the class whose members are each compared, if links[0] is None
    used: int  # mask of the words that this comparison explains
    sign: str  # `>` for more, `<` for fewer
    is_difference: bool  # whether it asks how many more


def compare_counts(search: BeamSearch, operators: QuestionOperators) -> Iterator[QueryCandidate]:
    """Yield the query that compares counts.

    "Which planets have more moons than Mars", "does Saturn have more moons than Jupiter", "how many
    more moons does Saturn have than Jupiter", "which planets have fewer moons than the average".
    """
    comparison = _detect_count_comparison(search, operators)
    if comparison is None:
        yield from _choose_by_count(search, operators)
        return
    schema, terms, lookups = search.schema, search.graph.terms, GraphLookup(search, operators)
    members = schema.get_instances(comparison.counted.target)
    first, second = (
        None if link is None else lookups.find_entity(link) for link in comparison.links
    )
    if second is None and comparison.links[1] is not None:  # it does not resolve to a thing
        return
    group = None if comparison.group is None else comparison.group.target
    instances = schema.get_instances(group)[:_MAX_GROUP_SAMPLE].tolist() if group else []
    nodes = [node for node in (first, second, *instances) if node is not None]
    step = _find_counting_step(search, members, nodes, comparison.used)
    if step is None or len(nodes) < 2:
        return
    used = comparison.used | step[2]
    if to_bit_mask(at for at, weight in enumerate(search.linked.weights) if weight) & ~used:
        return
    draft = QueryDraft(schema)

    def count(end: Term, owner_class: str = "", *, allows_none: bool = False) -> Query:
        elements: tuple[Element, ...]
        member, elements = _link_members(draft, comparison.counted, step, end)
        total = build_aggregate("COUNT", member, distinct=True)
        elements = (Nested("OPTIONAL", Group(elements)),) if allows_none else elements
        if owner_class:
            elements = (draft.build_type_pattern(end, owner_class), *elements)
        keys = ((end, None),) if isinstance(end, Variable) else ()
        columns = (*keys, (get_alias(total), total))
        return Query("SELECT", Group(elements), columns=columns, group_by=keys)

    owner = None if group is None else draft.create_variable(schema.get_name_hint(group))
    has_fewer = owner is not None and comparison.sign == "<"  # so have those without any
    left = count(owner or terms.get_term(first), group or "", allows_none=has_fewer)  # type: ignore[arg-type]
    if second is not None:
        right = count(terms.get_term(second))
        bound = get_alias(right)
    else:
        assert group is not None
        every = count(draft.create_variable(schema.get_name_hint(group)), group)
        bound = draft.create_variable("average")
        mean = build_aggregate("AVG", every.columns[-1][0])
        right = Query("SELECT", Group((every,)), columns=((bound, mean),))
    amount = left.columns[-1][0]
    condition = Filter(Call(comparison.sign, (amount, bound)))
    if owner is not None and group is not None:
        tree = Query("SELECT", Group((left, right, condition)), ((owner, None), (amount, None)))
        root, members = owner, schema.get_instances(group)
        columns: tuple[Variable, ...] = (owner,)
    elif comparison.is_difference:
        operands = (amount, bound) if comparison.sign == ">" else (bound, amount)
        root = draft.bind_expression("difference", Call("-", operands))
        tree = Query("SELECT", Group((left, right, *draft.bindings)), ((root, None),))
        columns = (root,)
    else:
        tree, root, columns = Query("ASK", Group((left, right, condition))), amount, ()
    gain = search.sum_weights(used) + GainWeight.OPERATOR * (3 + comparison.is_difference)
    links = tuple(
        link for link in (comparison.counted, *comparison.links, comparison.group) if link
    )
    state = PartialMatch(Node(members, cls_link=links[0]), used, gain, patterns=3, anchored=True)
    values = (tree, columns, draft.hints, state, root, members, used, gain, 0.0, 3)
    yield QueryCandidate(*values, ("difference", PAIRED_NOTE), links[0].mask, links)


def _choose_by_count(search: BeamSearch, operators: QuestionOperators) -> Iterator[QueryCandidate]:
    """Yield the query for which of two things has more: "which has more moons, Mars or Saturn"."""
    words, clauses = operators.reading.folded_words, operators.reading.word_list.clauses
    signs = [(at, word in clauses["more"]) for at, word in enumerate(words)]
    signs = [(at, up) for at, up in signs if up or words[at] in clauses["fewer"]]
    signs += [(x.last, x.name == "most") for x in operators.get_operators("most", "fewest")]
    links_of_names = search.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
    best = {
        link.positions[0]: link
        for link in reversed(links_of_names)
        if link.score >= _MIN_CHOICE_SCORE
    }
    ends = {link.positions[-1]: link for link in best.values()}
    for operator, (at, is_more) in product(operators.get_operators("or"), signs):
        links = ends.get(operator.first - 1), best.get(operator.last + 1)
        counted = next(
            (x for x in search.linked.get_links(ItemKind.CLASS) if 0 < x.positions[0] - at <= 2),
            None,
        )
        lookups = GraphLookup(search, operators)
        alternatives = [
            node for link in links if link and (node := lookups.find_entity(link)) is not None
        ]
        if counted is None or len({*alternatives}) < len(links):
            continue
        used = counted.mask | operator.mask | to_bit_mask((at,))
        used |= sum(link.mask for link in links if link)
        members = search.schema.get_instances(counted.target)
        step = _find_counting_step(search, members, alternatives, used)
        if step is None:
            continue
        number, is_inverse, step_words = step
        used |= step_words
        draft, graph = QueryDraft(search.schema), search.graph
        choice = draft.create_variable("thing")
        member, elements = _link_members(draft, counted, step, choice)
        rows = tuple((graph.terms.get_term(node),) for node in alternatives)
        counts = {
            len(intersect(graph.step(_to_ids((node,)), number, inverse=is_inverse), members))
            for node in alternatives
        }
        tree = Query(
            "SELECT",
            Group((Values((choice,), rows), Nested("OPTIONAL", Group(elements)))),  # 0 counts
            columns=((choice, None),),
            group_by=((choice, None),),
            order=((build_aggregate("COUNT", member, distinct=True), is_more),),
            limit=1 if len(counts) > 1 else None,
        )
        ids = _to_ids(tuple(alternatives))
        gain = search.sum_weights(used) + GainWeight.OPERATOR * 3
        state = PartialMatch(Node(ids, link=links[0]), used, gain, patterns=2, anchored=True)
        values = (tree, (choice,), draft.hints, state, choice, ids, used, gain, 0.0, 2)
        yield QueryCandidate(*values, (PAIRED_NOTE,), counted.mask, (counted, *filter(None, links)))
        return


def _detect_count_comparison(
    search: BeamSearch, operators: QuestionOperators
) -> _CountComparison | None:
    words, clauses = operators.reading.folded_words, operators.reading.word_list.clauses
    linked, counts = search.linked, operators.get_operators("count")
    links = sorted(linked.get_links(ItemKind.CLASS), key=lambda link: link.positions[0])
    classes = [link for link in links if link.score >= _MIN_COMPARED_CLASS_SCORE]
    predicate_scores = {
        link.mask: link.score for link in reversed(linked.get_links(ItemKind.PREDICATE))
    }
    for at, word in enumerate(words):
        is_more = word in clauses["more"]
        than = next((n for n in range(at + 1, len(words)) if words[n] in clauses["than"]), None)
        if than is None or not (is_more or word in clauses["fewer"]):
            continue
        is_difference = bool(counts) or not clauses["by_how_much"].isdisjoint(words[:at])
        counted = next(  # "wie viele Boote mehr", "combien de bateaux de plus"
            (x for x in classes if is_difference and at - 3 < x.positions[-1] < at), None
        ) or next((x for x in classes if at < x.positions[0] and x.positions[-1] < than), None)
        is_which = not (is_difference or operators.is_yes_no_question)
        group = next((x for x in classes if is_which and x.positions[-1] < at), None)
        class_words = sum(link.mask for link in (counted, group) if link)
        entity_links = [
            link
            for link in linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
            if link.score >= max(_MIN_LINK_SCORE, predicate_scores.get(link.mask, 0.0))
            and not link.mask & class_words
        ]
        first = next((x for x in entity_links if x.positions[-1] < than and not group), None)
        second = next((x for x in entity_links if x.positions[0] > than), None)
        if first is None and second is not None and is_difference:  # "mehr als Port 2 hat Port 1"
            first = next((x for x in entity_links if x.positions[0] > second.positions[-1]), None)
        average = [x for x in operators.get_operators("average") if x.first > than and not second]
        if counted is None or not (first or group) or not (second or (average and group)):
            continue
        used = to_bit_mask((at, than)) | counted.mask
        used |= sum(link.mask for link in (first, group, second) if link)
        around = [x for x in operators.operators if x.first <= at <= x.last]
        for item in (*counts, *average, *around):
            used |= item.mask
        sign = ">" if is_more else "<"
        return _CountComparison(counted, (first, second), group, used, sign, is_difference)
    return None


def _find_counting_step(
    search: BeamSearch, members: Ids, nodes: Sequence[int], used: int
) -> tuple[int, bool, int] | None:
    """Return the best predicate from members to nodes: number, direction and words; or None."""
    graph, schema = search.graph, search.schema
    links = {
        schema.get_predicate_number(link.target): link.mask
        for link in reversed(search.linked.get_links(ItemKind.PREDICATE))
        if not link.mask & used
    }
    best: tuple[tuple[bool, int], tuple[int, bool, int]] | None = None
    ids = np.unique(np.array(nodes, dtype=np.int32))
    for is_inverse in (True, False):
        for number in graph.get_predicates(ids, inverse=is_inverse):
            joined = len(intersect(graph.step(ids, number, inverse=is_inverse), members))
            key = number in links, joined
            if (
                joined
                and number not in schema.hidden_predicates
                and (best is None or key > best[0])
            ):
                best = key, (number, is_inverse, links.get(number, 0))
    return None if best is None else best[1]


def _link_members(
    draft: QueryDraft, counted: Link, step: tuple[int, bool, int], end: Term
) -> tuple[Variable, tuple[Pattern, Pattern]]:
    """Return a variable for members of a class, and the patterns that link them to an end."""
    number, is_inverse, _ = step
    member = draft.create_variable(draft.get_hint(counted.target))
    ends = (member, end) if is_inverse else (end, member)
    predicate = draft.schema.graph.get_predicate_iri(number)
    typed = draft.build_type_pattern(member, counted.target)
    return member, (typed, build_pattern(ends[0], predicate, ends[1]))


def build_none_query(search: BeamSearch, operators: QuestionOperators) -> Iterator[QueryCandidate]:
    """Yield a query that surely has no answer: "which moons orbit Mercury".

    Other planets have moons, and the relation holds for most moons.
    """
    schema, graph, linked = search.schema, search.graph, search.linked
    counts = operators.get_operators("count")
    if not graph.complete or any(x.name not in ("count", "exists") for x in operators.operators):
        return
    content = to_bit_mask(at for at, weight in enumerate(linked.weights) if weight)
    counts_mask = reduce(or_, (item.mask for item in counts), 0)
    links = [x for x in linked.get_links(ItemKind.ENTITY) if x.score >= _MIN_NONE_SCORE]
    links = [x for x in links if sum(x.positions == other.positions for other in links) == 1]
    classes = [x for x in linked.get_links(ItemKind.CLASS) if x.score >= _MIN_NONE_SCORE]
    stepped = reduce(or_, (x.mask for x in linked.get_links(ItemKind.PREDICATE)), counts_mask)
    for entity, counted in product(links, classes):
        if content & ~(entity.mask | counted.mask | stepped):
            continue
        node = schema.find_link_node(entity)
        members = schema.get_instances(counted.target)
        classes_of_thing = schema.get_classes(node) if node is not None else ()
        if (
            node is None
            or not classes_of_thing
            or entity.mask & counted.mask
            or _has_member(graph, node, members)
        ):
            continue
        siblings = schema.get_instances(classes_of_thing[0])[:_MAX_GROUP_SAMPLE]
        used = entity.mask | counted.mask | counts_mask
        step = _find_counting_step(search, members, siblings.tolist(), used)
        if step is None or content & ~(used | step[2]) or step[0] in schema.transitive_predicates:
            continue
        number, is_inverse, words = step
        reached = intersect(graph.step(siblings, number, inverse=is_inverse), members)
        if len(reached) < _MIN_MEMBERS_SHARE * len(members):
            continue
        draft = QueryDraft(schema)
        member, patterns = _link_members(draft, counted, step, graph.terms.get_term(node))
        draft.patterns = [*patterns]
        draft.is_ask = operators.is_yes_no_question
        draft.columns = [build_aggregate("COUNT", member, distinct=True) if counts else member]
        used |= words
        gain = search.sum_weights(used) + GainWeight.OPERATOR * (1 + len(counts))
        state = PartialMatch(Node(members, cls_link=counted), used, gain, patterns=2, anchored=True)
        values = (draft.to_query(), tuple(draft.columns), draft.hints, state, member, members)
        notes = (NONE_NOTE, *(["count"] if counts else ()))
        yield QueryCandidate(*values, used, gain, 0.0, 2, notes, counted.mask, (counted, entity))
        return


def _has_member(graph: GraphArrays, node: int, members: Ids) -> bool:
    """Return whether any triple links a node and a member."""
    ids = np.array([node], dtype=np.int32)
    return any(
        len(intersect(graph.step(ids, number, inverse=is_inverse), members))
        for is_inverse in (True, False)
        for number in graph.get_predicates(ids, inverse=is_inverse)
    )


def build_class_counts(
    search: BeamSearch, operators: QuestionOperators
) -> Iterator[QueryCandidate]:
    """Yield the query for the number of things of each class, if a question asks for only that.

    Or for the ratio of two such numbers, or their difference.
    """
    counts = operators.get_operators("count")
    for operator in operators.get_operators("ratio", "difference")[:1]:
        yield from _calculate_with_counts(search, operators, operator)
        return
    links = _find_counted_classes(search, operators)
    if not counts or len(links) < 2:
        return
    used = to_bit_mask(at for link in links for at in link.positions)
    for operator in (*counts, *operators.get_operators("and")):
        used |= operator.mask
    starts = {count.first for count in counts}
    unused = [
        at for at, weight in enumerate(search.linked.weights) if weight and not used >> at & 1
    ]
    if any(at + 1 not in starts for at in unused):
        return  # "number of ships versus number of ports": only a word between counts joins them
    used |= to_bit_mask(unused)
    schema = search.schema
    ids = np.unique(np.concatenate([schema.get_instances(link.target) for link in links]))
    draft, node = QueryDraft(schema), Node(ids, cls_link=links[0])
    thing, kind = draft.create_variable("thing"), draft.create_variable("class")
    draft.patterns.append(build_pattern(thing, RDF_TYPE, kind))
    draft.filters.append(build_filter(kind, "IN", *(NamedNode(link.target) for link in links)))
    total = build_aggregate("COUNT", thing, distinct=True)
    draft.columns, draft.group_keys = [kind, total], [kind]
    gain = search.sum_weights(used) + GainWeight.OPERATOR * len(counts)
    state = PartialMatch(node, used, gain, patterns=1, anchored=True)
    class_words = to_bit_mask(at for link in links for at in link.positions)
    values = (draft.to_query(), (kind, total), draft.hints, state, thing, ids)
    yield QueryCandidate(*values, used, gain, 0.0, 1, ("count",), class_words, links)


def _find_counted_classes(search: BeamSearch, operators: QuestionOperators) -> tuple[Link, ...]:
    """Return the best class for each noun that follows a count or a conjunction."""
    reading = operators.reading
    starts = [item.last for item in operators.get_operators("count")]
    if not starts:
        return ()
    joints = {*starts, *(item.last for item in operators.get_operators("and"))}
    links: dict[int, Link] = {}
    for link in sorted(
        search.linked.get_links(ItemKind.CLASS),
        key=lambda link: (link.positions[0], -len(link.positions), -link.score),
    ):
        before = link.positions[0] - 1
        while before > starts[0] and reading.is_stop(before) and before not in joints:
            before -= 1
        is_counted = before in starts or (links and before in joints)
        if link.score >= _MIN_COUNTED_CLASS_SCORE and is_counted:
            links.setdefault(link.positions[0], link)
    return tuple({link.target: link for link in links.values()}.values())


def _calculate_with_counts(
    search: BeamSearch, operators: QuestionOperators, operator: Operator
) -> Iterator[QueryCandidate]:
    """Yield the query for the ratio of the numbers of two classes: "ratio of ships to ports"."""
    counts, schema = operators.get_operators("count"), search.schema
    words = sum(item.mask for item in (operator, *counts, *operators.get_operators("and")))
    classes = [link for link in search.linked.get_links(ItemKind.CLASS) if not link.mask & words]
    content = to_bit_mask(at for at, weight in enumerate(search.linked.weights) if weight)
    for first, second in permutations(classes, 2) if counts or operator.name == "ratio" else ():
        noun, used = split_tokens(second.name)[-1], first.mask | second.mask | words
        is_named = first.score >= _MIN_CALCULATED_CLASS_SCORE or (
            first.quality >= _MIN_CALCULATED_CLASS_SCORE and noun in split_tokens(first.name)
        )
        second_positions = {*second.positions} - {*first.positions} or {0}
        is_pair = operator.last < first.positions[0] < min(second_positions)
        if not (is_pair and is_named) or content & ~used or first.target == second.target:
            continue
        if second.score < _MIN_CALCULATED_CLASS_SCORE:
            continue
        draft = QueryDraft(schema)
        for link in (first, second):
            member = draft.create_variable(schema.get_name_hint(link.target))
            count = build_aggregate("COUNT", member, distinct=True)
            where = Group((draft.build_type_pattern(member, link.target),))
            draft.subqueries.append(Query("SELECT", where, columns=((get_alias(count), count),)))
        numbers = tuple(map(get_alias, draft.subqueries))
        result = draft.bind_expression(operator.name, Call(_CALCULATIONS[operator.name], numbers))
        tree = Query("SELECT", Group((*draft.subqueries, *draft.bindings)), ((result, None),))
        ids = schema.get_instances(first.target)
        gain = search.sum_weights(used) + GainWeight.OPERATOR * (1 + len(counts))
        state = PartialMatch(Node(ids, cls_link=first), used, gain, patterns=2, anchored=True)
        values = (tree, (result,), draft.hints, state, result, ids, used, gain, 0.0, 2)
        notes = (operator.name, PAIRED_NOTE)
        yield QueryCandidate(*values, notes, first.mask | second.mask, (first, second))
        return
