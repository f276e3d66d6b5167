"""Beam search for answer sets: from the linked elements, step by step along the graph's edges.

A partial match is a set of nodes with its pattern. It starts at a linked entity, value, class or
number, follows predicates, and is intersected with matches of other words. So no pattern is ever a
guess: its direction is right and its result is not empty. Words beside a name disambiguate it: the
river Jordan, Paris in Texas.
"""

import heapq
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product
from typing import Final

import numpy as np

from askgraph.deadline import limit_to_deadline
from askgraph.graph.arrays import GraphArrays, Ids, intersect
from askgraph.graph.literals import ValueKind, split_literal
from askgraph.index.names import ItemKind, stem_name, stem_word
from askgraph.search.expand import (
    BEAM_PENALTY_FACTOR,
    FULL_NAME_SHARE,
    TRANSLATED_NAME_SHARE,
    Edge,
    GainWeight,
    Node,
    PartialMatch,
    Penalty,
    collect_named_elements,
    combine_states,
    find_common_words,
    find_named_words,
    list_first_words,
)
from askgraph.search.expand import schema as expand_schema
from askgraph.search.expand.nouns import list_main_classes
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.tokenize import Quantity, TokenizedQuestion, to_bit_mask
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.search.tokenize.word_lists import get_shared_words

_MIN_STEP_PENALTY = 0.5
"""Approximate minimum penalty of a step that no word names; less would have to be obvious."""
_MIN_NEW_WEIGHT_RATIO = 0.6
"""A predicate may repeat used words if its new words have this ratio of their weight."""
_NAME_INDEPENDENT_SHARE = 0.35  # share of a link's value that is independent of the name's fit
_MAX_CACHED_SET_SIZE = 1000
"""Steps from sets up to this size are cached; larger sets rarely occur again."""
_MIN_OWN_WORD_SCORE: Final = 0.99
"""Minimum quality of a word of the name itself, rather than a related one."""
_MAX_STEPS = 4  # steps of a pattern in a row
_DATE_SORTS = (ValueKind.DATE, ValueKind.YEAR, ValueKind.TEXT_DATE, ValueKind.DAY_TEXT)
_MAX_UNNAMED_STEPS, _MAX_UNNAMED_STEPS_NAMELESS = 2, 3
"""Steps before an unnamed one; one more from a node without a name."""
_MAX_UNNAMED_SET_SIZE = 2000  # from larger answer sets, only the first step may be unnamed
_MAX_LINKS_PER_PREDICATE = 3  # readings of the words that name one predicate
_MAX_COMPARED_SIZE, _SAMPLE_SIZE = 32, 16
"""Smaller answer sets are compared entirely, larger ones by a sample of this size."""


@dataclass
class BeamSearch:
    """A beam search over one graph for one question.

    Attributes:
        frame: the operators of the question.
        weights: the weights of the ranking.
        beam_width: the number of states retained per level.
        max_set_size: sets with more nodes are not expanded.
        links_by_predicate: the links of each predicate number.
        total_weight: the weight of all words of the question.
    """

    graph: GraphArrays
    schema: expand_schema.Schema
    linked: LinkedQuestion
    frame: QuestionOperators
    weights: Mapping[str, float]
    beam_width: int = 48
    max_set_size: int = 20_000
    links_by_predicate: dict[int, list[Link]] = field(default_factory=dict)
    total_weight: float = 1.0
    _unused_links: dict[int, dict[int, list[Link]]] = field(default_factory=dict)
    _weights_by_mask: dict[int, float] = field(default_factory=dict)
    _predicates_of_nodes: dict[tuple[bytes, bool], frozenset[int]] = field(default_factory=dict)
    _step_results: dict[tuple[bytes, int, bool, bool], Ids] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plausible = remove_accidental_links(self.linked, self.frame)
        flagged = {*self._find_flagged_classes()}
        links = tuple(
            link
            for link in plausible
            if self._is_plausible(link)
            and not (link.kind is ItemKind.VALUE and link.positions in flagged)
        )
        self.linked = replace(self.linked, links=links)
        for link in self.linked.get_links(ItemKind.PREDICATE):
            number = self.schema.get_predicate_number(link.target)
            if number is None or number in self.schema.hidden_predicates:
                continue
            if not (self.schema.has_resource_objects(number) and self._has_better_number(link)):
                self.links_by_predicate.setdefault(number, []).append(link)
        self.total_weight = sum(self.linked.weights) or 1.0
        weights = self.weights
        self._covered, self._patterns = weights["covered"], weights["patterns"]
        self._unknown, self._spread = BEAM_PENALTY_FACTOR * weights["unknown"], weights["spread"]

    def _is_plausible(self, link: Link) -> bool:
        """Return whether a link may use its words: operator words need an exact name."""
        words = zip(link.positions, link.qualities, strict=True)
        operator_qualities = [quality for at, quality in words if self.frame.is_strong_operator(at)]
        if min(operator_qualities, default=1.0) < _MIN_OWN_WORD_SCORE or self._is_count_phrase(
            link
        ):
            return False
        return len(operator_qualities) < len(link.positions) or (
            link.preferred and link.similarity >= FULL_NAME_SHARE
        )

    def _find_flagged_classes(self) -> Iterator[tuple[int, ...]]:
        """Yield the words that name a flag, then a class that has it: "nocturnal birds"."""
        tokens, classes = self.linked.reading.tokens, self.linked.get_links(ItemKind.CLASS)
        for flag in self.linked.get_links(ItemKind.PREDICATE):
            number = self.schema.get_predicate_number(flag.target)
            flagged = [link for link in classes if link.positions[0] == flag.positions[-1] + 1]
            if number is None or not flagged or flag.score < FULL_NAME_SHARE:
                continue
            owners = {cls for cls, _ in self.schema.predicates[number].subject_classes}
            for link in (
                flagged if expand_schema.get_truth_terms(self.schema, number) is not None else ()
            ):
                words = [tokens[at] for at in (*flag.positions, *link.positions)]
                is_name = any(word.is_capitalized or word.quote is not None for word in words)
                if link.score > FULL_NAME_SHARE and link.target in owners and not is_name:
                    yield (*flag.positions, *link.positions)

    def _is_count_phrase(self, link: Link) -> bool:
        """Return whether words ask for a count: "the number of rooms" is not a room number."""
        tokens, name_words = self.linked.reading.tokens, stem_name(link.name)
        if not name_words or stem_word(name_words[-1]) not in get_shared_words().names["keys"]:
            return False
        plural = [at for at in link.positions if tokens[at].stem != tokens[at].folded]
        return any(
            at > operator.last and operator.mask & link.mask and tokens[at].folded not in name_words
            for operator in self.frame.get_operators("count")
            for at in plural
        )

    def _has_better_number(self, link: Link) -> bool:
        """Return whether the words fit a predicate of numbers better: an id rather than a link."""
        numbers = (
            self.schema.get_predicate_number(rival.target)
            for rival in self.linked.get_links(ItemKind.PREDICATE)
            if rival.positions == link.positions and rival.score > link.score
        )
        return any(n is not None and self.schema.get_sort(n) is ValueKind.NUMBER for n in numbers)

    def score_state(self, state: PartialMatch) -> float:
        """Return the priority of a state for expansion."""
        worth = self.score_evidence(state.gain, state.patterns, state.unknown)
        return worth + self._spread * state.spread

    def score_evidence(self, gain: float, patterns: int = 0, unknown: float = 0.0) -> float:
        """Return the score of words, patterns and penalties, by the weights of the ranking."""
        return (
            self._covered * gain / self.total_weight
            + self._patterns * patterns
            + self._unknown * unknown
        )

    def compute_gain(self, link: Link, used: int) -> float:
        """Return the gain of a link's words that are not used yet."""
        # It is 0 if content words overlap, except that a predicate may repeat a lesser part that is
        # used ("pet type" of pets).
        new_weight, repeated_weight = 0.0, 0.0
        for at, quality in zip(link.positions, link.qualities, strict=True):
            weight = self.linked.weights[at]
            if used >> at & 1:
                repeated_weight += weight
            else:
                new_weight += (weight or GainWeight.FUNCTION_WORD) * quality
        if repeated_weight and (
            link.kind is not ItemKind.PREDICATE
            or new_weight < _MIN_NEW_WEIGHT_RATIO * repeated_weight
        ):
            return 0.0
        return new_weight * (_NAME_INDEPENDENT_SHARE + (1 - _NAME_INDEPENDENT_SHARE) * link.score)

    def sum_weights(self, mask: int) -> float:
        """Return the weight of the words in a bit mask."""
        if mask not in self._weights_by_mask:
            self._weights_by_mask[mask] = sum(
                weight for at, weight in enumerate(self.linked.weights) if mask >> at & 1
            )
        return self._weights_by_mask[mask]

    def expand_level(self, states: Sequence[PartialMatch]) -> Iterator[PartialMatch]:
        """Yield all steps from some states, without those that cannot reach the beam."""
        best: list[float] = []
        for state in limit_to_deadline(
            sorted(states, key=lambda s: -self.score_state(s)), share=EXPANSION_TIME_SHARE
        ):
            unnamed = self.score_state(state) + self.score_evidence(0.0, 1, _MIN_STEP_PENALTY)
            is_hopeless = len(best) >= self.beam_width and unnamed < best[0]
            for successor in self.expand_state(state, named_only=is_hopeless):
                yield successor
                score = self.score_state(successor)
                if len(best) < self.beam_width:
                    heapq.heappush(best, score)
                elif score > best[0]:
                    heapq.heapreplace(best, score)

    def expand_state(
        self, state: PartialMatch, *, named_only: bool = False
    ) -> Iterator[PartialMatch]:
        """Yield all steps from a state.

        Args:
            named_only: whether to follow only predicates that words name.
        """
        ids = state.node.ids
        if len(ids) > self.max_set_size or state.hops >= _MAX_STEPS:
            return
        is_literal = bool(len(ids)) and int(ids[0]) < self.graph.terms.first_iri
        is_covered = not self.content_mask & ~state.used
        named_only = named_only or self._is_unnamed_step_excluded(state)
        named_only = named_only or (
            is_covered and state.hops > 0 and not self.schema.is_nameless(ids)
        )
        entered = self.schema.open_predicates
        if is_literal:
            entered |= self.schema.blank_naming_predicates
        allowed: Container[int] = entered
        if named_only:
            unused_links = self.get_unused_links(state.used)
            allowed = [
                n for n in unused_links if is_literal or n in self.schema.resource_predicates
            ]
            if not allowed:
                return
        for inverse in (True,) if is_literal else (False, True):
            candidates = entered if inverse else self.schema.resource_predicates
            for number in sorted(candidates & self.get_predicates(ids, inverse=inverse)):
                if number in allowed:
                    yield from self._expand_predicate(
                        state, number, inverse, named_only, is_literal
                    )

    def get_predicates(self, ids: Ids, *, inverse: bool = False) -> frozenset[int]:
        """Return the predicates that leave (or enter) some nodes; cached for small sets."""
        if len(ids) > _MAX_CACHED_SET_SIZE:
            return self.graph.get_predicates(ids, inverse=inverse)
        key = ids.tobytes(), inverse
        if key not in self._predicates_of_nodes:
            self._predicates_of_nodes[key] = self.graph.get_predicates(ids, inverse=inverse)
        return self._predicates_of_nodes[key]

    def get_neighbours(
        self, ids: Ids, predicate: int, *, inverse: bool, is_transitive: bool = False
    ) -> Ids:
        """Return the nodes one step away, or more if `is_transitive`; cached for small sets."""
        key = (
            (ids.tobytes(), predicate, inverse, is_transitive)
            if len(ids) <= _MAX_CACHED_SET_SIZE
            else None
        )
        nodes = self._step_results.get(key) if key is not None else None
        if nodes is None and is_transitive:
            nodes = self.graph.compute_closure(ids, predicate, inverse=inverse)
        elif nodes is None:
            nodes = self.graph.step(ids, predicate, inverse=inverse)
            reverse = expand_schema.find_reverse(self.schema, predicate)
            if reverse is not None:
                nodes = np.union1d(nodes, self.graph.step(ids, reverse, inverse=not inverse))
        if key is not None:
            self._step_results[key] = nodes
        return nodes

    def _expand_predicate(
        self, state: PartialMatch, predicate: int, inverse: bool, named_only: bool, is_literal: bool
    ) -> Iterator[PartialMatch]:
        is_symmetric = expand_schema.is_mirrored(self.schema, predicate)
        if is_symmetric and inverse and predicate in self.get_predicates(state.ids):
            return  # the same step in the other direction
        is_return = any(
            edge.predicate == predicate and (is_symmetric or edge.inverse == inverse)
            for edge, _ in state.node.edges
        )
        if is_return and self.schema.is_one_to_one((predicate, inverse)):
            return  # it leads only back to its origin
        links = [] if is_return else self.get_unused_links(state.used).get(predicate, [])
        if inverse:  # a question word alone only names a predicate's objects
            links = [link for link in links if link.mask & self.content_mask]
        is_named_only = predicate in self.schema.named_only_predicates
        is_vague = (
            not self.frame.is_yes_no_question  # both ends are named
            if predicate in self.schema.unspecific_predicates
            else not inverse and predicate in self.schema.outward_predicates
        )
        if (not links and (named_only or is_named_only or is_vague)) or (
            is_literal and self._is_wrong_code_predicate(state, predicate)
        ):
            return
        tokens = self.linked.reading.tokens
        united = self._find_numbered_alike(state, predicate) if inverse else ()
        for is_transitive in self._get_repetitions(predicate, inverse, is_named=bool(links)):
            ids = self._find_targets(state.ids, predicate, inverse, is_transitive)
            if not len(ids) or (len(ids) == 1 and np.array_equal(ids, state.ids)):
                continue
            penalty = self._compute_step_penalty(state, ids, predicate, inverse, is_literal)
            penalty += expand_schema.compute_direction_penalty(
                self.linked, self.schema, state.node, predicate
            )
            penalty += Penalty.DEEP_STEP if is_transitive and not inverse else 0.0
            readings: list[Link | None] = [*links[:_MAX_LINKS_PER_PREDICATE]]
            quantity = state.node.quantity if is_literal else None
            is_named_date = bool(links) and quantity is not None and quantity.days is not None
            if is_named_date:  # "launched from X in 1990": the verb names a place and a date
                penalty = Penalty.SHARED_NAME
            if not is_named_only and (
                not links
                or is_named_date
                or predicate in self.schema.mixed_predicates
                or self.is_class_name(links[0])
            ):
                readings.append(None)
            for link in readings:
                edge = Edge(predicate, not inverse, is_transitive, link)
                positions = link.positions if link is not None else ()
                if united and not any(tokens[at].text[0].isdigit() for at in positions):
                    if predicate != united[0]:
                        continue  # the first one stands for all
                    sets = (self.get_neighbours(state.ids, n, inverse=True) for n in united)
                    ids, edge = reduce(np.union1d, sets), edge._replace(united=united)
                step_penalty = (
                    penalty if link is None else self._compute_class_penalty(edge, ids, state)
                )
                step_penalty += Penalty.RETURN_STEP if is_return else 0.0
                yield self._build_successor(state, edge, ids, step_penalty, is_literal)

    def _find_numbered_alike(self, state: PartialMatch, predicate: int) -> tuple[int, ...]:
        """Return the predicates to named things or values that differ only in a number."""
        alike = self.schema.numbered_alike.get(predicate) if state.node.terms else None
        if alike is None or state.node.quantity is not None:
            return ()
        united = alike & self.get_predicates(state.ids, inverse=True)
        return tuple(sorted(united)) if len(united) > 1 else ()

    def _find_targets(self, ids: Ids, predicate: int, inverse: bool, is_transitive: bool) -> Ids:
        """Return the nodes after a step, without literals beside resources or dead ends."""
        targets = self.get_neighbours(ids, predicate, inverse=inverse, is_transitive=is_transitive)
        is_statement = not inverse and predicate in self.schema.statement_predicates
        if is_statement and not self.graph.get_predicates(targets):
            return targets[:0]
        if predicate in self.schema.mixed_predicates:
            targets = targets[np.searchsorted(targets, self.graph.terms.first_iri) :]
        return targets

    def _is_wrong_code_predicate(self, state: PartialMatch, predicate: int) -> bool:
        """Return whether words mean a code, and a predicate contains other values."""
        link = state.node.link
        if link is None or not link.code:
            return False
        if (explaining := self.schema.get_predicate_number(link.code)) is not None:
            return predicate != explaining
        return not expand_schema.has_codes(self.schema, predicate, link.code)

    def get_unused_links(self, used: int) -> dict[int, list[Link]]:
        """Return the predicates named by words not used yet, with their links."""
        if used not in self._unused_links:
            unused = {
                number: [link for link in links if self.compute_gain(link, used)]
                for number, links in self.links_by_predicate.items()
            }
            self._unused_links[used] = {number: links for number, links in unused.items() if links}
        return self._unused_links[used]

    def _compute_class_penalty(self, edge: Edge, ids: Ids, state: PartialMatch) -> float:
        """Return the penalty if a noun that is also a class ("moon of") applies to other things."""
        if edge.link is None:
            return 0.0
        is_subject_name = self.schema.is_subject_name(edge.predicate)
        named_ids = ids if is_subject_name != edge.inverse else state.ids
        return 0.0 if self.is_of_named_class(edge.link, named_ids) else Penalty.WRONG_CLASS

    def is_of_named_class(self, link: Link, ids: Ids) -> bool:
        """Return whether nodes are instances of the class that the words of a link name, if any."""
        classes = self._classes_by_positions.get(link.positions)
        return not classes or any(self.schema.has_only_instances(ids, cls) for cls in classes)

    def is_class_name(self, link: Link) -> bool:
        """Return whether the words of a link also name a class."""
        return link.positions in self._classes_by_positions

    @cached_property
    def _classes_by_positions(self) -> dict[tuple[int, ...], list[str]]:
        """The classes with a full name in the question, by the positions of its words."""
        classes: dict[tuple[int, ...], list[str]] = {}
        for link in self.linked.get_links(ItemKind.CLASS):
            if link.similarity > TRANSLATED_NAME_SHARE:
                classes.setdefault(link.positions, []).append(link.target)
        return classes

    def _is_unnamed_step_excluded(self, state: PartialMatch) -> bool:
        """Return whether a state is too far or too large for a step that no word names."""
        if state.hops >= _MAX_UNNAMED_STEPS and not self.schema.is_nameless(state.ids):
            return True
        is_far = state.hops >= _MAX_UNNAMED_STEPS_NAMELESS
        return is_far or (len(state.ids) > _MAX_UNNAMED_SET_SIZE and state.hops > 0)

    def _get_repetitions(
        self, predicate: int, inverse: bool, *, is_named: bool
    ) -> tuple[bool, ...]:
        """Return whether to follow a predicate once, or also more often: places contain places."""
        if predicate not in self.schema.transitive_predicates or expand_schema.is_mirrored(
            self.schema, predicate
        ):
            return (False,)
        if is_named and not expand_schema.is_containment(self.schema, predicate):
            return (False,)
        return (True,) if inverse else (True, False)

    def _build_successor(
        self, state: PartialMatch, edge: Edge, ids: Ids, penalty: float, is_literal: bool
    ) -> PartialMatch:
        child, link = state.node, edge.link
        if is_literal and len(child.terms) > 1:
            matching = intersect(child.ids, self.graph.get_ends(edge.predicate, inverse=True))
            child = replace(child, ids=matching, terms=tuple(matching.tolist()))
        return PartialMatch(
            Node(ids, edges=((edge, child),)),
            state.used | (link.mask if link else 0),
            state.gain + (self.compute_gain(link, state.used) if link else 0.0),
            state.patterns + 1,
            state.unknown + penalty,
            state.spread + math.log2(max(1.0, len(ids) / len(state.ids))),
            state.hops + (0 if is_literal else 1),
            state.anchored,
        )

    def _compute_step_penalty(
        self, state: PartialMatch, ids: Ids, predicate: int, inverse: bool, is_literal: bool
    ) -> float:
        """Return the penalty of a predicate that no word names; lower if each node has just one."""
        if is_literal:
            quantity = state.node.quantity
            if state.node.link is not None and state.node.link.code:
                return 0.0  # the code determines its predicate
            if quantity is None or quantity.days is None:
                return Penalty.VALUE_PREDICATE
            time_words, stems = (
                get_shared_words().names["times"],
                self.schema.get_name_stems(predicate),
            )
            if self.schema.get_sort(predicate) not in _DATE_SORTS and stems.isdisjoint(time_words):
                return Penalty.UNDATED_YEAR
            is_end = any(predicate == end for _, end, _ in self.schema.spans)
            return Penalty.SPAN_END if is_end else Penalty.DATE_PREDICATE
        objects = state.ids if inverse else ids
        is_one_relation = self.schema.is_one_relation
        if any(is_one_relation(e.predicate, predicate, state.ids) for e, _ in state.node.edges):
            return 0.0  # the rest of a relation with a single name
        if self.schema.is_named_after_class(predicate, objects, self.classes_in_question):
            return Penalty.OBVIOUS_STEP
        if not inverse and self.schema.find_stated_value(ids) is not None:
            return 0.0  # to the time or the number that the nodes stand for
        is_bridge = self.schema.is_nary(ids) or self.schema.is_nary(state.ids)
        is_functional = self.schema.is_functional(predicate, inverse=not inverse)
        penalty = (Penalty.BRIDGE_STEP if is_bridge else Penalty.STEP) + (
            0.0 if is_functional else Penalty.SEVERAL_LINKS
        )
        return penalty + Penalty.FURTHER_STEP * (self.schema.predicates[predicate].steps - 1)

    def apply_classes(self, states: Iterable[PartialMatch]) -> Iterator[PartialMatch]:
        """Yield each state, and its intersection with every class that words name."""
        links = self.linked.get_links(ItemKind.CLASS)
        for state in states:
            for link in links:
                gain = self.compute_gain(link, state.used) or self._score_repeated_class(
                    link, state
                )
                if not gain:
                    continue
                ids = intersect(state.ids, self.schema.get_instances(link.target))
                if not len(ids):
                    continue
                is_role = any(self.is_role_name(edge, at_root=True) for edge, _ in state.node.edges)
                penalty = Penalty.REDUNDANT_CLASS if is_role and link.mask & ~state.used else 0.0
                yield replace(
                    state,
                    node=replace(state.node, ids=ids, cls=link.target, cls_link=link),
                    used=state.used | link.mask,
                    gain=state.gain + gain,
                    patterns=state.patterns + (len(ids) < len(state.ids)),
                    unknown=state.unknown + penalty,
                )
            yield state

    def _score_repeated_class(self, link: Link, state: PartialMatch) -> float:
        """Return the gain of a class whose words the last step uses too: "moons" that are moons."""
        is_repeated = any(
            edge.link is not None
            and link.similarity > TRANSLATED_NAME_SHARE
            and edge.link.positions == link.positions
            and self.is_role_name(edge, at_root=True)
            for edge, _ in state.node.edges
        )
        return GainWeight.REPEATED_CLASS if is_repeated else 0.0

    def is_role_name(self, edge: Edge, *, at_root: bool) -> bool:
        """Return whether a named predicate describes its root end, or else its far end."""
        # "supplier" describes the object, "supplier of" and "is a supplier of" the subject.
        if edge.link is None or not self.schema.is_noun(edge.link.name):
            return False
        return (self.schema.is_subject_name(edge.predicate) != edge.inverse) == at_root

    @cached_property
    def classes_in_question(self) -> frozenset[str]:
        """The classes that the question names."""
        return frozenset(
            link.target
            for link in self.linked.get_links(ItemKind.CLASS)
            if link.score > FULL_NAME_SHARE
        )

    @cached_property
    def content_mask(self) -> int:
        """The content tokens, as a bit mask."""
        return to_bit_mask(at for at, weight in enumerate(self.linked.weights) if weight)

    def select_best(
        self, states: Iterable[PartialMatch], limit: int | None = None
    ) -> list[PartialMatch]:
        """Return the best states, one for each set and words; a denial's direction counts, too.

        "Which state borders the most states?" names a class twice: which is the root counts, too.
        """
        best: dict[tuple[object, ...], tuple[float, PartialMatch]] = {}
        links = [x for x in self.linked.get_links(ItemKind.CLASS) if x.score > FULL_NAME_SHARE]
        has_repetition = len({link.target for link in links}) < len(links)
        has_direction = bool(self.frame.get_operators("not")) or has_repetition
        for state in states:
            ids, score = state.node.ids, self.score_state(state)
            size = len(ids)
            sample = ids if size < _MAX_COMPARED_SIZE else ids[:: size // _SAMPLE_SIZE]
            parts = (state.node, *state.node.negated) if has_direction else ()
            is_inverse = any(edge.inverse and edge.link for node in parts for edge, _ in node.edges)
            root = state.node.cls_link.positions if parts and state.node.cls_link else ()
            key = state.used, size, sample.tobytes(), is_inverse, root
            previous = best.get(key)
            if previous is None or score > previous[0]:
                best[key] = score, state
        ranked = sorted(best.values(), key=lambda pair: (-pair[0], len(pair[1].ids)))
        return [state for _, state in ranked[: limit or self.beam_width]]


_OPERATORS_WITHOUT_NAMES = frozenset(
    "count average sum minimum maximum most fewest superlative comparative more_than less_than "
    "at_least at_most between each order ascending descending most_first least_first sort_mark "
    "top distinct or and both not".split()
)
"""Operators whose words do not name things."""
EXPANSION_TIME_SHARE = 0.5  # share of the search time after which no state is expanded


def remove_accidental_links(linked: LinkedQuestion, frame: QuestionOperators) -> tuple[Link, ...]:
    """Return the links without things that match only words used otherwise."""
    # Such words are operators, units after their number, single letters, full names of classes or
    # predicates that are only a part of the thing's name, and numbers, which also match texts.
    # Quoted and capitalized words may always be names.
    tokens = linked.reading.tokens
    positions = {
        at
        for quantity in frame.get_operators(*_OPERATORS_WITHOUT_NAMES)
        for at in quantity.positions
    }
    for quantity in linked.reading.quantities:
        if quantity.unit is not None:
            positions |= set(range(quantity.last + 1, quantity.positions_with_unit.stop))
    positions |= {at for at, token in enumerate(tokens) if len(token.text) == 1}
    accidental = frozenset(at for at in positions if not tokens[at].text[0].isdigit())
    quantity_positions = {
        tuple(quantity.positions)
        for quantity in linked.reading.quantities
        if quantity.value is not None
    }
    schema_positions = {
        link.positions
        for link in linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
        if link.similarity > FULL_NAME_SHARE and link.preferred
    }
    return tuple(
        link
        for link in linked.links
        if link.kind not in (ItemKind.ENTITY, ItemKind.VALUE)
        or any(
            tokens[at].quote is not None or (tokens[at].is_capitalized and at > 0)
            for at in link.positions
        )
        or not (
            (link.kind is ItemKind.VALUE and link.positions in quantity_positions)
            or all(at in accidental or not linked.weights[at] for at in link.positions)
            or (link.similarity < FULL_NAME_SHARE and link.positions in schema_positions)
        )
    )


_MAX_SEED_STEPS = 3  # steps from a seed before states are joined
_POOL_SIZE_FACTOR, _JOINED_SIZE_FACTOR, _EXPANDED_SIZE_FACTOR = 4, 2, 6
"""Beam widths retained of expanded seeds, of joined states, and of both after expansion."""
_MIN_ALTERNATIVE_SHARE: Final = 0.6  # a name beside "or" is one alternative from this similarity on
_ABBREVIATION_SCORE: Final = 0.6  # score of a word for a value that is its remainder
_MAX_LINKS_PER_SIDE = 4  # readings of each side of "or"
_MAX_PATTERNS_PER_SIDE = 24  # patterns of each side of "or"
_MIN_HEAD_SCORE = 0.7  # minimum score for the first noun to be the class of the answer
_MAX_TOKENS_BEFORE_OR, _MAX_TOKENS_AFTER_OR = 2, 4  # maximum tokens between a name and "or"
_MAX_CONSTANTS = 50  # constants for one number; more would only differ in spelling
_EXACT_NAME_SHARE: Final = 0.95  # a class is called exactly so from this similarity on
_MAX_NAMESAKES_COUNT, _MAX_PROMINENCE_RATIO = 23, 3
"""Things of one name are alternatives up to this number and this ratio of edges."""
_MAX_DENIED_STEPS = 2  # steps of a pattern that a thing may miss
_MAX_STATES_PER_WORDS = 8  # states joined that use the same words
_MAX_WORDS_AFTER_NOT = 4  # words of content after "not" within which what it denies is named
_MAX_NAME_SCORE_DIFFERENCE = 0.05  # score difference up to which names count as equal
_MAX_APPOSITION_WORDS = 2  # function words between a name and the place that distinguishes it
_MAX_WORDS_AFTER_KIND = 3  # tokens from "kinds" to the thing: "kinds of the loom"
_MAX_SMALL_SET_SIZE = 64  # up to this size, Python sets are faster at finding disjoint nodes


@dataclass(frozen=True, eq=False)
class Expansion:
    """The best partial matches of a question, and the search with its caches."""

    search: BeamSearch
    matches: tuple[PartialMatch, ...]


def expand(
    linked: LinkedQuestion,
    operators: QuestionOperators,
    schema: expand_schema.Schema,
    weights: Mapping[str, float],
    *,
    limit: int | None = None,
) -> Expansion:
    """Expand the links of a question to partial matches; return the best, up to a limit."""
    search = BeamSearch(schema.graph, schema, linked, operators, weights)
    return Expansion(search, tuple(_run_search(search)[:limit]))


def _run_search(search: BeamSearch) -> list[PartialMatch]:
    """Run the search; return the states, best first."""
    thing_states = list(_create_seeds(search))
    classes: list[PartialMatch] = []
    # A state for each class that words name: its instances; more after "no", "each", "how many".
    indefinite = {item.last + 1 for item in search.frame.get_operators("not", "each", "count")}
    for item in search.linked.get_links(ItemKind.CLASS):
        ids = search.schema.get_instances(item.target)
        if len(ids):
            node = Node(ids, cls=item.target, cls_link=item)
            class_factor = GainWeight.EXACT_CLASS if item.similarity > _EXACT_NAME_SHARE else 1.0
            class_factor += GainWeight.INDEFINITE if item.positions[0] in indefinite else 0.0
            classes.append(
                PartialMatch(
                    node, item.mask, class_factor * search.compute_gain(item, 0), patterns=1
                )
            )
    classes += _create_subclass_states(search)
    if not thing_states and not classes and search.frame.get_operators("superlative"):
        main = list_main_classes(search.schema)  # "which is the heaviest", where all are of a class
        nodes = [Node(search.schema.get_instances(iri), cls=iri) for iri in main]
        classes += [PartialMatch(nodes[0], 0, 0.0, patterns=1)] if len(nodes) == 1 else []
    pool = thing_states + classes
    level = thing_states + [c for c in classes if len(c.ids) <= search.max_set_size]
    for _ in range(_MAX_SEED_STEPS):
        level = search.select_best(search.expand_level(level))
        level = search.select_best(search.apply_classes(level))
        pool += level
    pool = search.select_best(pool, limit=_POOL_SIZE_FACTOR * search.beam_width)
    if search.frame.get_operators("or"):
        pool = [*unite_states(search, pool), *pool]
    joined_states = search.select_best(
        join_states(search, pool), limit=_JOINED_SIZE_FACTOR * search.beam_width
    )
    if joined_states:
        joined_states += move_roots(search, joined_states, pool)
        further = [
            successor
            for state in limit_to_deadline(
                joined_states[: search.beam_width], share=EXPANSION_TIME_SHARE
            )
            for successor in search.expand_state(
                state, named_only=not search.schema.is_nameless(state.ids)
            )
        ]
        further = search.select_best(search.apply_classes(further))
        pool = search.select_best(
            pool + joined_states + further, limit=_EXPANDED_SIZE_FACTOR * search.beam_width
        )
        rejoined = search.select_best(
            join_states(search, pool[: _JOINED_SIZE_FACTOR * search.beam_width]),
            limit=search.beam_width,
        )
        pool = search.select_best(pool + rejoined, limit=_EXPANDED_SIZE_FACTOR * search.beam_width)
    if search.frame.get_operators("not"):
        pool = search.select_best(
            [*pool, *subtract_states(search, classes, pool)],
            limit=_EXPANDED_SIZE_FACTOR * search.beam_width,
        )
    if search.frame.is_yes_no_question:
        pool = [*search.select_best(deny_states(search, thing_states, pool)), *pool]
    return pool


def _create_seeds(search: BeamSearch) -> Iterator[PartialMatch]:
    """Yield a state for each named thing, value and number, and for alternative values."""
    links_by_words: dict[tuple[ItemKind, tuple[int, ...]], list[Link]] = {}
    for link in search.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
        links_by_words.setdefault((link.kind, link.positions), []).append(link)
    for links in links_by_words.values():
        groups = _group_namesakes(search, links)
        yield from filter(None, (_create_seed(search, *group) for group in groups))
        for link in links:
            seed = _create_seed(search, link)
            if seed is not None:
                if not any(link in group for group in groups):
                    yield seed
                yield from add_appositions(search, seed)
    yield from _create_alternative_seeds(search)
    yield from _create_abbreviation_seeds(search)
    for quantity in (*search.linked.reading.quantities, *_find_ordinals(search)):
        # Things with a number or a date: one state for each predicate that carries it.
        if search.frame.is_argument(quantity):
            continue
        literals = _find_equal_literals(search, quantity)
        if not len(literals):
            continue
        gain = sum(search.linked.weights[at] for at in quantity.positions)
        gain *= GainWeight.NUMBER_WORD if quantity.is_spelled else 1.0
        node = Node(literals, terms=tuple(literals[:_MAX_CONSTANTS].tolist()), quantity=quantity)
        yield PartialMatch(node, to_bit_mask(quantity.positions), gain, anchored=True)


def _create_subclass_states(search: BeamSearch) -> Iterator[PartialMatch]:
    """Yield what is a step below a thing ("kinds of soup"), or all below it ("which soups")."""
    schema, graph, tokens = search.schema, search.graph, search.linked.reading.tokens
    for link in search.linked.get_links(ItemKind.ENTITY) if schema.hierarchies else ():
        node, kind = schema.find_node(link.target), _find_kind_word(search, link)
        token = tokens[link.positions[-1]]
        has_instances = len(schema.get_instances(link.target)) > 0
        if node is None or link.similarity < _MIN_HEAD_SCORE or has_instances:
            continue
        nodes = np.array([node], dtype=np.int32)
        for number in schema.hierarchies if kind is not None or token.stem != token.folded else ():
            ids = steps = graph.step(nodes, number, inverse=True)
            if kind is None:
                ids = graph.compute_closure(nodes, number, inverse=True)
            if len(ids):
                child, is_deep = Node(nodes, terms=(node,), link=link), len(ids) > len(steps)
                gain = search.compute_gain(link, 0)
                if kind is None or search.frame.mask >> kind & 1:
                    root = Node(ids, edges=((Edge(number, False, is_deep), child),), cls_link=link)
                    yield PartialMatch(root, link.mask, gain, patterns=1)
                    continue
                iri, name, how = graph.get_predicate_iri(number), tokens[kind].text, ("synonym",)
                word = Link(ItemKind.PREDICATE, iri, name, 1.0, (kind,), (1.0,), how=how)
                root = Node(ids, edges=((Edge(number, False, False, word), child),))
                gain += search.compute_gain(word, link.mask)
                yield PartialMatch(root, link.mask | word.mask, gain, patterns=1)


def _find_kind_word(search: BeamSearch, link: Link) -> int | None:
    """Return the position of "kinds" in "kinds of X" and "X kinds"."""
    reading = search.linked.reading
    kinds = reading.word_list.clauses["kinds"] | reading.word_list.clauses["subkinds"]
    first, words = link.positions[0], reading.folded_words
    for at in (
        link.positions[-1] + 1,
        *reversed(range(max(0, first - _MAX_WORDS_AFTER_KIND), first)),
    ):
        if (
            words[at : at + 1]
            and words[at] in kinds
            and all(map(reading.is_stop, range(at + 1, first)))
        ):
            return at
    return None


def _find_ordinals(search: BeamSearch) -> Iterator[Quantity]:
    """Yield ordinals before a property of numbers as its values: "the second floor"."""
    reading, used = search.linked.reading, search.frame.mask | search.frame.quantity_mask
    numbers = {
        link.positions[0]
        for number, links in search.links_by_predicate.items()
        if search.schema.get_sort(number) in (ValueKind.NUMBER, ValueKind.TEXT_NUMBER)
        for link in links
    }
    for at, token in enumerate(reading.tokens):
        value = reading.word_list.ordinals.get(token.folded)
        if value is not None and at + 1 in numbers and not used >> at & 1:
            yield Quantity(at, at, token.folded, float(value))


def _group_namesakes(search: BeamSearch, links: Sequence[Link]) -> list[list[Link]]:
    """Return the things with the same name, by class, or the forms of a value; all are meant."""
    # If one is much better known than another of its class, those are no group.
    first = links[0]
    schema, name_words = search.schema, stem_name(first.name)
    if first.kind is ItemKind.VALUE:
        return [_list_value_forms(search, links)]
    if len(links) < 2 or first.similarity < _EXACT_NAME_SHARE:
        return []
    groups: dict[frozenset[str], list[Link]] = {}
    prominences: dict[frozenset[str], list[float]] = {}
    for link in links:
        node = schema.find_node(link.target)
        if stem_name(link.name) != name_words or link.score != first.score or node is None:
            continue
        classes = frozenset(schema.get_classes(node))
        groups.setdefault(classes, []).append(link)
        prominences.setdefault(classes, []).append(schema.measure_prominence(node))
    return [
        group
        for classes, group in groups.items()
        if 2 <= len(group) <= _MAX_NAMESAKES_COUNT
        and max(prominences[classes]) <= _MAX_PROMINENCE_RATIO * min(prominences[classes])
    ]


def _list_value_forms(search: BeamSearch, links: Sequence[Link]) -> list[Link]:
    """Return the values that are the first in another form: "Hobbits" and "Hobbit"."""
    # Another language or datatype is another form, too. Names are no such values.
    alike = [link for link in links if stem_name(link.name) == stem_name(links[0].name)]
    forms, predicates, bearers = list[Link](), frozenset[int](), np.zeros(0, dtype=np.int32)
    for link in alike if len(alike) > 1 else ():
        node = search.schema.find_link_node(link)
        if node is None:
            continue
        ends = np.array([node], dtype=np.int32)
        numbers = search.graph.get_predicates(ends, inverse=True) - search.schema.naming_predicates
        predicates = predicates & numbers if forms else numbers
        sets = (search.graph.step(ends, number, inverse=True) for number in numbers)
        further = reduce(np.union1d, sets, bearers)
        if len(further) > len(bearers):
            forms.append(link)
            bearers = further
    return forms if predicates and len(forms) > 1 else []


def _create_seed(search: BeamSearch, *links: Link) -> PartialMatch | None:
    """Return a state for a named thing or value, or for several things of one name."""
    matched = {at for link in links if (at := search.schema.find_link_node(link)) is not None}
    if not matched:
        return None
    nodes, first = sorted(matched), links[0]
    node = Node(np.array(nodes, dtype=np.int32), terms=tuple(nodes), link=first)
    bonus = GainWeight.PROMINENCE * float(
        np.log10(1 + max(map(search.schema.measure_prominence, nodes)))
    )
    return PartialMatch(
        node, first.mask, search.compute_gain(first, 0) * (1 + bonus), anchored=True
    )


def _create_abbreviation_seeds(search: BeamSearch) -> Iterator[PartialMatch]:
    """Yield states for values abbreviated by a word without another meaning in the graph."""
    # A predicate's description explains the value, or the word is its initials; then other words
    # name the predicate. No other value of the predicate may match.
    linked = search.linked
    explained = {
        at
        for link in linked.links
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality >= FULL_NAME_SHARE
    }
    explained.update(at for at, weight in enumerate(linked.weights) if not weight)
    operator_mask = search.frame.mask | search.frame.quantity_mask
    for at, token in enumerate(linked.reading.tokens):
        if at in explained or operator_mask >> at & 1 or token.quote is not None:
            continue
        for term, predicate in expand_schema.get_explained_codes(search.schema).get(token.stem, ()):
            yield from _create_abbreviation_seed(search, at, term, predicate)
        for number in search.links_by_predicate:
            values = expand_schema.find_values_by_initials(search.schema, number, token.text)
            if len(values) == 1:
                yield from _create_abbreviation_seed(search, at, values[0])


def _create_abbreviation_seed(
    search: BeamSearch, at: int, term: str, explaining: str = ""
) -> Iterator[PartialMatch]:
    """Yield a state for an abbreviated value, less certain without an explaining description."""
    quality = FULL_NAME_SHARE if explaining else _ABBREVIATION_SCORE
    name = split_literal(term)[0]
    seed = _create_seed(
        search,
        Link(
            ItemKind.VALUE, term, name, quality, (at,), (quality,), code=explaining, how=("short",)
        ),
    )
    if seed is not None:
        yield replace(seed, unknown=0.0 if explaining else Penalty.STEP)


def _create_alternative_seeds(search: BeamSearch) -> Iterator[PartialMatch]:
    """Yield one state for values joined by "or"."""
    full_links = [
        first
        for first in search.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
        if first.similarity > _MIN_ALTERNATIVE_SHARE
    ]
    joins = ("or",) if search.frame.get_operators("both") else ("or", "and")
    for operator in search.frame.get_operators(*joins):
        left = [
            first
            for first in full_links
            if 0 < operator.first - first.positions[-1] <= _MAX_TOKENS_BEFORE_OR
        ]
        right = [
            first
            for first in full_links
            if _can_follow_operator(search, operator, first.positions[0])
        ]
        for first, second in product(left[:_MAX_LINKS_PER_SIDE], right[:_MAX_LINKS_PER_SIDE]):
            if first.kind is second.kind and first.target != second.target:
                mask = to_bit_mask(range(operator.first, second.positions[0]))
                yield from _create_link_pair_seed(search, first, second, mask, operator.name)
        quantities = search.linked.reading.quantities  # two numbers: "9 or 10"
        before = [q for q in quantities if q.last + 1 == operator.first]
        after = [q for q in quantities if q.first == operator.last + 1]
        for low, high in zip(before, after, strict=False):
            if search.frame.is_argument(low) or search.frame.is_argument(high):
                continue
            ids = np.union1d(_find_equal_literals(search, low), _find_equal_literals(search, high))
            if len(ids):
                mask = to_bit_mask((*low.positions, *operator.positions, *high.positions))
                node = Node(ids, terms=tuple(ids[:_MAX_CONSTANTS].tolist()))
                gain = search.sum_weights(mask) + GainWeight.ALTERNATIVES
                is_or = operator.name == "or"
                penalty = Penalty.OR_ALTERNATIVES if is_or else Penalty.ENUMERATED_NUMBERS
                yield PartialMatch(node, mask, gain, unknown=penalty, anchored=True)


def _can_follow_operator(search: BeamSearch, operator: Operator, position: int) -> bool:
    """Return whether only function words or repeated words come between ("or the state of")."""
    tokens = search.linked.reading.tokens
    earlier_stems = {token.stem for token in tokens[: operator.first]}
    between = range(operator.last + 1, position)
    return 0 < position - operator.last <= _MAX_TOKENS_AFTER_OR and all(
        search.linked.reading.is_stop(at) or tokens[at].stem in earlier_stems for at in between
    )


def _create_link_pair_seed(
    search: BeamSearch, first_link: Link, second_link: Link, mask: int, operator_name: str
) -> Iterator[PartialMatch]:
    first, second = _create_seed(search, first_link), _create_seed(search, second_link)
    if first is None or second is None:
        return
    ids = np.union1d(first.ids, second.ids)
    yield PartialMatch(
        Node(ids, terms=tuple(ids.tolist()), link=first_link),
        first.used | second.used | mask,
        first.gain + second.gain,
        unknown=Penalty.OR_ALTERNATIVES if operator_name == "or" else Penalty.AND_AS_OR,
        anchored=True,
    )


def _find_equal_literals(search: BeamSearch, quantity: Quantity) -> Ids:
    sorts, values = search.graph.sorts, search.graph.values
    is_equal = np.zeros(len(sorts), dtype=np.bool_)
    if quantity.days is not None:
        low, high = quantity.days
        is_equal |= np.isin(sorts, _DATE_SORTS) & (values >= low) & (values < high + 1)
        is_equal[np.array(search.schema.find_day_texts(low, high), dtype=np.int32)] = True
    if quantity.value is not None:
        is_number = np.isin(sorts, (ValueKind.NUMBER, ValueKind.TEXT_NUMBER))
        is_equal |= is_number & (values == quantity.value)
    return np.flatnonzero(is_equal).astype(np.int32)


def subtract_states(
    search: BeamSearch, seeds: Sequence[PartialMatch], pool: Sequence[PartialMatch]
) -> Iterator[PartialMatch]:
    """Yield all of a class without a state's set: of the named class, or else of its own class.

    Args:
        seeds: the states of the classes that words name.
    """
    seeds_by_link = {seed.node.cls_link: seed for seed in seeds}
    for state in pool[: search.beam_width]:
        if not len(state.ids) or not state.patterns:
            continue
        base = seeds_by_link.get(state.node.cls_link)
        if base is not None and state.node.edges:
            matching = replace(
                state,
                node=replace(state.node, cls=None, cls_link=None),
                used=state.used & ~base.used,
                gain=state.gain - base.gain,
            )
            yield from _subtract_pair(search, base, matching)
        for cls in search.schema.get_classes(int(state.ids[0]))[:1]:
            node = Node(search.schema.get_instances(cls), cls=cls)
            base = PartialMatch(node, 0, 0.0, patterns=1, unknown=Penalty.GUESSED_CLASS)
            yield from _subtract_pair(search, base, state)


def unite_states(search: BeamSearch, pool: Sequence[PartialMatch]) -> Iterator[PartialMatch]:
    """Yield the union of two patterns around "or": "born in A or died in B"."""
    # Both may share an object: "directed or written by A".
    simple_states = [item for item in pool if item.anchored and _is_one_step(search, item.node)]
    head = min((at for at, weight in enumerate(search.linked.weights) if weight), default=0)
    if any(
        head in item.positions and item.score >= _MIN_HEAD_SCORE
        for item in search.linked.get_links(ItemKind.CLASS)
    ):
        simple_states = [item for item in simple_states if item.node.cls_link is not None]
    for operator in search.frame.get_operators("or"):
        earlier_mask = to_bit_mask(range(operator.first))
        available = [item for item in simple_states if not item.used & operator.mask]
        first_states = [
            item for item in available if not _get_step_words(item.node)[0] & ~earlier_mask
        ][:_MAX_PATTERNS_PER_SIDE]
        second_states = [
            item for item in available if not _get_step_words(item.node)[0] & earlier_mask
        ][:_MAX_PATTERNS_PER_SIDE]
        yield from (
            _unite_pair(search, item, second_state, operator)
            for item in first_states
            for second_state in second_states
            if item.node.cls_link == second_state.node.cls_link
            and item.node.edges[0][0].predicate != second_state.node.edges[0][0].predicate
            and (
                _get_step_words(item.node)[1]
                == _get_step_words(second_state.node)[1]  # "directed or written by A"
                or not (
                    _get_step_words(item.node)[1] & ~earlier_mask
                    or _get_step_words(second_state.node)[1] & earlier_mask
                )
            )
            and not search.linked.reading.has_sentence_break(
                operator.last, second_state.used.bit_length() - 1
            )
        )


def _is_one_step(search: BeamSearch, node: Node) -> bool:
    """Return whether one named step, other than a class, leads to the rest of a pattern."""
    if (
        node.terms
        or node.negated
        or node.alternatives
        or len(node.edges) != 1
        or not all(_get_step_words(node))
    ):
        return False
    link = node.edges[0][0].link
    return link is not None and not search.is_class_name(link)


def _get_step_words(node: Node) -> tuple[int, int]:
    """Return the words for the first step from a node, and those for its target."""
    edge, child = node.edges[0]
    return edge.link.mask if edge.link is not None else 0, find_named_words(child)


def _unite_pair(
    search: BeamSearch, first: PartialMatch, second: PartialMatch, operator: Operator
) -> PartialMatch:
    """Return the union of two states with the same class, or none."""
    link = first.node.cls_link
    sides = tuple(replace(side.node, cls=None) for side in (first, second))
    node = replace(first.node, ids=np.union1d(first.ids, second.ids), edges=(), alternatives=sides)
    repeated_weight = search.sum_weights(first.used & second.used)
    state = combine_states(first, second, node, repeated_weight=repeated_weight)
    return replace(
        state,
        used=state.used | operator.mask,
        gain=state.gain + search.sum_weights(operator.mask) + GainWeight.OPERATOR,
        patterns=state.patterns - (link is not None),
    )


def deny_states(
    search: BeamSearch, seeds: Sequence[PartialMatch], pool: Sequence[PartialMatch]
) -> Iterator[PartialMatch]:
    """Yield what holds for similar things but not for a thing: the answer "no" to "does it …"."""
    reading = search.linked.reading
    is_be_question = not reading.word_list.yes_or_no["being"].isdisjoint(reading.folded_words[:1])
    for seed in seeds:
        link = seed.node.link
        classes = search.schema.get_classes(int(seed.ids[0])) if len(seed.ids) == 1 else ()
        if link is None or link.similarity <= FULL_NAME_SHARE or not classes:
            continue
        instances = search.schema.get_instances(classes[0])
        for candidate in pool:
            if (
                candidate.used & seed.used & search.content_mask
                or not candidate.patterns
                or candidate.hops > _MAX_DENIED_STEPS
            ):
                continue
            is_class_only = candidate.node.cls is not None and not candidate.node.edges
            if is_class_only and not (  # "is A a B", but not "has A a B"
                is_be_question and _may_be_said_of(search, candidate.node, link)
            ):
                continue
            if len(intersect(seed.ids, candidate.ids)) or not (
                is_class_only or len(intersect(instances, candidate.ids))
            ):
                continue
            node = replace(candidate.node, ids=seed.ids, terms=seed.node.terms, link=seed.node.link)
            state = combine_states(seed, candidate, node)
            penalty = Penalty.NOT_OF_CLASS if is_class_only else Penalty.STEP
            yield replace(state, unknown=state.unknown + penalty, denied=True)


def _may_be_said_of(search: BeamSearch, node: Node, name: Link) -> bool:
    """Return whether words may say that a thing is of a class: not "has A a B" or "a B to A"."""
    if node.cls_link is None or node.edges:
        return True
    reading, (first, *_) = search.linked.reading, node.cls_link.positions
    if name.positions[0] < first:
        return reading.word_list.text_words["has"].isdisjoint(reading.folded_words[:first])
    between = range(first + 1, name.positions[0])
    nouns = {at for at in node.cls_link.positions if not reading.is_stop(at)}
    return all(at in nouns or reading.tokens[at].stem in reading.word_list.naming for at in between)


def join_states(search: BeamSearch, pool: list[PartialMatch]) -> Iterator[PartialMatch]:
    """Yield the intersections of states of different words, or their differences if negated."""
    # "is A a B": the thing itself is one side of the join.
    is_yes_no = search.frame.is_yes_no_question
    counts, selected = Counter[int](), []  # the best few states for each set of used words
    for state in pool:
        if (state.patterns or is_yes_no) and len(state.ids):
            counts[state.used] += 1
            if counts[state.used] <= _MAX_STATES_PER_WORDS and search.content_mask & ~state.used:
                selected.append(state)
    simple = [state for state in selected[search.beam_width :] if state.patterns == 1]
    selected = selected[: search.beam_width] + simple[: search.beam_width // 2]
    content, has_negation = search.content_mask, bool(search.frame.get_operators("not"))
    has_conjunction = bool(search.frame.get_operators("both", "and"))
    steps = [collect_named_elements(state.node) if has_conjunction else {} for state in selected]
    negation_mask = sum(operator.mask for operator in search.frame.get_operators("not"))
    used_words = [state.used & content for state in selected]
    spans = [(int(state.ids[0]), int(state.ids[-1])) for state in selected]
    small_sets = [
        frozenset(state.ids.tolist() if len(state.ids) <= _MAX_SMALL_SET_SIZE else ())
        for state in selected
    ]
    for at, state in limit_to_deadline(enumerate(selected), share=EXPANSION_TIME_SHARE):
        first, last = spans[at]
        for index in range(at + 1, len(selected)):
            if last < spans[index][0] or spans[index][1] < first:
                continue
            if (
                small_sets[at]
                and small_sets[index]
                and small_sets[at].isdisjoint(small_sets[index])
                and not has_negation
            ):
                continue
            partner, shared_words = selected[index], used_words[at] & used_words[index]
            if shared_words and shared_words & ~(
                find_common_words(steps[at], steps[index])
                | _find_shared_relation(search, state.node, partner.node)
            ):
                continue
            if (
                state.node.negated
                and partner.node.negated
                and negation_mask & state.used & partner.used
            ):
                continue  # one "not" denies one thing
            pairs = ((state, partner), (partner, state)) if has_negation else ()
            negated = [state for pair in pairs for state in _subtract_pair(search, *pair)]
            yield from negated
            combined = None if negated else _join_pair(search, state, partner)
            if combined is not None:
                yield combined


def _find_shared_relation(search: BeamSearch, first_node: Node, second_node: Node) -> int:
    """Return the words of a relation whose predicates connect two patterns, as a bit mask."""
    if not (first_node.edges and second_node.edges):
        return 0
    first, second = first_node.edges[0][0], second_node.edges[0][0]
    if first.link is None or second.link is None:
        return 0
    is_one_relation = search.schema.is_one_relation(
        first.predicate, second.predicate, first_node.ids
    )
    return first.link.mask & second.link.mask if is_one_relation else 0


def move_roots(
    search: BeamSearch, joined: Sequence[PartialMatch], pool: Sequence[PartialMatch]
) -> list[PartialMatch]:
    """Return joined states with the root moved to a class at their far end that is named first."""
    # This connects a thing and a class by four unnamed steps. It requires that no better state
    # covers as many words from that class; a return along a predicate also requires "other" or
    # "same".
    best_scores: dict[str | None, tuple[float, float]] = {}
    for state in (*pool, *joined):
        best_scores[state.node.cls] = max(
            best_scores.get(state.node.cls, (0.0, 0.0)), _score_explanation(search, state)
        )
    rerooted, allows_return = [], bool(search.frame.get_operators("other", "same"))
    for state in joined:
        if state.unknown >= Penalty.STEP and not (state.node.terms or state.node.negated):
            for node in _move_root_to_classes(search, state.node, len(state.node.edges)):
                candidate = replace(state, node=node)
                is_better = _score_explanation(search, candidate) > best_scores.get(
                    node.cls, (0.0, 0.0)
                )
                if is_better and len(node.ids) and (allows_return or not _has_return_step(node)):
                    rerooted.append(candidate)
    return search.select_best(rerooted)


def _has_return_step(node: Node) -> bool:
    """Return whether a pattern has two consecutive steps along one predicate, there and back."""
    return any(
        _has_return_step(child)
        or any(
            edge.predicate == next_edge.predicate and edge.inverse != next_edge.inverse
            for next_edge, _ in child.edges
        )
        for edge, child in node.edges
    )


def _score_explanation(search: BeamSearch, state: PartialMatch) -> tuple[float, float]:
    """Return the weight of the words that a state uses, and its score."""
    return search.sum_weights(state.used), search.score_state(state)


def _move_root_to_classes(search: BeamSearch, node: Node, edge_count: int) -> Iterator[Node]:
    """Yield a pattern seen from each named class below its root, along its first edges."""
    for at, (edge, child) in enumerate(node.edges[:edge_count]):
        ids = search.get_neighbours(
            node.ids, edge.predicate, inverse=edge.inverse, is_transitive=edge.plus
        )
        remainder = replace(node, edges=node.edges[:at] + node.edges[at + 1 :])
        edges = (*child.edges, (edge._replace(inverse=not edge.inverse), remainder))
        rerooted = replace(child, ids=intersect(child.ids, ids), edges=edges)
        if child.cls_link is None:
            yield from _move_root_to_classes(search, rerooted, len(child.edges))
        elif node.cls_link is None or child.cls_link.positions < node.cls_link.positions:
            yield rerooted


def _join_pair(
    search: BeamSearch, first_state: PartialMatch, second_state: PartialMatch
) -> PartialMatch | None:
    ids = intersect(first_state.ids, second_state.ids)
    if not len(ids) or (first_state.node.alternatives and second_state.node.alternatives):
        return None
    for state, partner in ((first_state, second_state), (second_state, first_state)):
        link = None if state.patterns else state.node.link
        if link is not None and not _may_be_said_of(search, partner.node, link):
            return None
    node = _merge_nodes(search, first_state.node, second_state.node, ids)
    if any(not len(intersect(side.ids, ids)) for side in node.alternatives):
        return None
    repeated_weight = search.sum_weights(first_state.used & second_state.used)
    shared_penalty = 0.0
    if first_state.node.edges and second_state.node.edges:
        first, second = first_state.node.edges[0][0], second_state.node.edges[0][0]
        # "who".
        is_question_word = first.link is not None and not first.link.mask & search.content_mask
        is_same_step = (first.predicate, first.inverse) == (second.predicate, second.inverse)
        if is_same_step and search.schema.is_one_to_one((first.predicate, first.inverse)):
            return None  # their objects are the same, too
        is_same_step = is_same_step or search.schema.is_one_relation(
            first.predicate, second.predicate, ids
        )
        if is_same_step and not is_question_word:
            shared_penalty = min(1.0, max(first_state.unknown, second_state.unknown))
    return combine_states(
        first_state,
        second_state,
        node,
        repeated_weight=repeated_weight,
        shared_penalty=shared_penalty,
    )


def _subtract_pair(
    search: BeamSearch, base: PartialMatch, excluded: PartialMatch
) -> Iterator[PartialMatch]:
    """Yield one state without another, if a word negates the other."""
    negated_at = min(list_first_words(excluded.node), default=-1)
    if negated_at < 0 or base.node.negated or excluded.node.negated:
        return  # what a word denies is found already
    for operator in search.frame.get_operators("not"):
        between = range(operator.last + 1, negated_at)
        words = sum(not search.linked.reading.is_stop(at) for at in between)
        if negated_at <= operator.last or words >= _MAX_WORDS_AFTER_NOT:
            continue
        if not _is_negated(search, operator, base.node, excluded.node, negated_at):
            continue
        if not 0 < len(intersect(base.ids, excluded.ids)) < len(base.ids):
            continue
        ids = np.setdiff1d(base.ids, excluded.ids, assume_unique=True)
        node = replace(base.node, ids=ids, negated=(*base.node.negated, excluded.node))
        state = combine_states(base, excluded, node)
        weight = sum(search.linked.weights[at] for at in operator.positions)
        yield replace(
            state, used=state.used | operator.mask, gain=state.gain + weight + GainWeight.OPERATOR
        )


def _is_negated(
    search: BeamSearch, operator: Operator, base: Node, excluded: Node, negated_at: int
) -> bool:
    """Return whether "no" separates the words of a thing from all words of its negated pattern."""
    # A thing without words of its own needs none before "no".
    if search.linked.reading.has_sentence_break(operator.last, negated_at):
        return False
    last = find_named_words(excluded).bit_length()
    if _has_clause_end(search.linked.reading, operator, last):
        return False
    base_words, earlier_mask = find_named_words(base), to_bit_mask(range(operator.first))
    if base_words & to_bit_mask(range(operator.last + 1, last)):
        return False
    own_words = 0
    for link in (base.cls_link, base.link, *(edge.link for edge, _ in base.edges)):
        own_words |= link.mask if link is not None else 0
    for _, child in base.edges:
        own_words |= find_named_words(child) if not child.edges else 0
    return bool(own_words & earlier_mask) or not (own_words or base_words & earlier_mask)


def _has_clause_end(reading: TokenizedQuestion, operator: Operator, last: int) -> bool:
    """Return whether a "not" clause ends before a token: "that do not orbit X were found by Y"."""
    words = reading.folded_words
    opening, before = reading.word_list.clauses["restrict"], operator.first - 1
    if before < 1 or words[before] not in opening:
        return False
    being, after = reading.word_list.yes_or_no["being"], range(operator.last + 2, last)
    return any(words[at] in being and words[at - 1] not in opening for at in after)


def _merge_nodes(search: BeamSearch, first: Node, second: Node, ids: Ids) -> Node:
    cls, link = (first.cls, first.cls_link) if first.cls else (second.cls, second.cls_link)
    return Node(
        ids,
        edges=first.edges + second.edges,
        terms=first.terms or second.terms,
        link=first.link or second.link,
        quantity=first.quantity or second.quantity,
        cls=cls,
        cls_link=link,
        negated=first.negated + second.negated,
        alternatives=first.alternatives + second.alternatives,
    )


def add_appositions(search: BeamSearch, seed: PartialMatch) -> Iterator[PartialMatch]:
    """Yield a named thing with the words beside its name that are true of it."""
    # These are its class, and, for things that share a name, another thing that it is connected to.
    link = seed.node.link
    if link is None or link.kind is not ItemKind.ENTITY or len(seed.ids) != 1:
        return
    appositions = [
        apposition
        for apposition in search.linked.get_links(ItemKind.CLASS)
        if apposition.similarity > FULL_NAME_SHARE
        and _is_class_beside(search, apposition, link)
        and np.isin(seed.ids, search.schema.get_instances(apposition.target)).all()
    ]
    # Other things have the same name.
    if any(
        rival.target != link.target
        and rival.positions == link.positions
        and abs(rival.score - link.score) < _MAX_NAME_SCORE_DIFFERENCE
        for rival in search.linked.get_links(ItemKind.ENTITY)
    ):
        appositions += [
            apposition
            for apposition in search.linked.get_links(ItemKind.ENTITY, ItemKind.VALUE)
            if apposition.similarity > FULL_NAME_SHARE
            and _is_next_name(search, apposition, link)
            and _is_connected(search, int(seed.ids[0]), apposition)
        ]
    for apposition in appositions:
        gain = search.compute_gain(apposition, seed.used)
        if gain:
            yield replace(seed, used=seed.used | apposition.mask, gain=seed.gain + gain)


def _is_class_beside(search: BeamSearch, cls: Link, link: Link) -> bool:
    """Return whether a class is right before a name ("the city of Paris") or right after it."""
    if cls.positions[0] == link.positions[-1] + 1:
        return True
    reading = search.linked.reading
    between = range(cls.positions[-1] + 1, link.positions[0])
    of = {phrase[0] for phrase in reading.word_list.follow_up_phrases["of"]}
    return cls.positions[-1] < link.positions[0] and all(
        reading.tokens[at].folded in of or reading.tokens[at].stem in reading.word_list.naming
        for at in between
    )


def _is_next_name(search: BeamSearch, next_link: Link, link: Link) -> bool:
    """Return whether only a comma or function words separate a name from the next one."""
    between = range(link.positions[-1] + 1, next_link.positions[0])
    return 0 <= next_link.positions[0] - link.positions[-1] - 1 <= _MAX_APPOSITION_WORDS and all(
        search.linked.reading.is_stop(at) for at in between
    )


def _is_connected(search: BeamSearch, node: int, link: Link) -> bool:
    """Return whether an edge, or a chain of one transitive predicate, connects a node to a link."""
    graph, schema = search.graph, search.schema
    at = schema.find_link_node(link)
    if at is None:
        return False
    nodes = np.array([node], dtype=np.int32)
    for inverse in (False, True):
        for predicate in graph.get_predicates(nodes, inverse=inverse) & schema.open_predicates:
            is_transitive = predicate in schema.transitive_predicates
            step = graph.compute_closure if is_transitive else graph.step
            if at in step(nodes, predicate, inverse=inverse):
                return True
    return False
