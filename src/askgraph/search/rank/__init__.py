"""Rank candidates by a weighted sum of features, and cluster those with the same result.

The weights of the package are in `ranking.toml` beside this file, which `tools/ranking.py --write`
makes; graphs may have their own weights by name. Candidates that would give the same result support
each other. To compare queries regardless of the numbers of their variables, each variable gets a
colour from everything that the query requires of it (colour refinement, as in the
Weisfeiler-Leman test).
"""

import heapq
import math
import pathlib
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property, lru_cache
from typing import Any

from pyoxigraph import Variable

from askgraph.errors import SetupError
from askgraph.graph.arrays import Ids
from askgraph.graph.literals import ValueKind
from askgraph.index.names import ItemKind
from askgraph.search import query_pieces as pieces
from askgraph.search.expand import Edge, GainWeight, Node
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.link.lexicon import ABBREVIATION_MATCHES, UNRELATED_ROOT_MATCHES
from askgraph.search.operators.query_builder import (
    MEASURED_SORTS,
    PAIRED_NOTE,
    TEMPORAL_SORTS,
    QueryCandidate,
)
from askgraph.search.rank import edge_direction
from askgraph.search.rank.expected_answer_type import ExpectedAnswer, derive_expected_answer
from askgraph.search.rank.fitting import FitScorer
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import Operator, QuestionOperators
from askgraph.sparql import Bind, Call, Filter, Group, Nested, Path, Pattern, Query, Union, Values

_MIN_CLASS_SCORE = 0.7  # minimum score of a class for the answer
_HEAD_CLASS_SCORE = 1.4
"""Value of the feature `head` for an answer of the class that the first word names; a step: 1."""
_MAX_NAMESAKE_SCORE_GAP = 0.05  # score difference up to which names count as equal
# A candidate whose score is so far behind the best one's is next to never right.
_MAX_SCORE_GAP = 1.0
_MIN_CANDIDATES = 12  # candidates to return regardless of their scores
_VALUE_QUESTION_WORDS = ("number", "date", "year")
"""Question words that ask for a sort of values, with which a candidate can agree."""

FEATURES = tuple(
    (
        "covered patterns unknown spread nameless asks head trivial obscure akin shortened misfit "
        "unheld unnamed disagrees ungrouped turned needless unserved faulty"
    ).split()
)
"""Names of the features of a candidate; `ranking.toml` has their weights.

The last one is only computed for the best candidates, see `askgraph.search.rank.faults`.
"""


@dataclass(frozen=True, eq=False)
class RankedCandidates:
    """A linked question with its candidates, best first."""

    linked: LinkedQuestion
    operators: QuestionOperators
    candidates: tuple[QueryCandidate, ...]
    schema: Schema
    expected: ExpectedAnswer

    @property
    def question(self) -> TokenizedQuestion:
        """The tokenized question."""
        return self.linked.reading


def rank(
    candidates: list[QueryCandidate],
    linked: LinkedQuestion,
    operators: QuestionOperators,
    schema: Schema,
    weights: Mapping[str, float],
) -> RankedCandidates:
    """Rank the candidates for a question by the weights, best first, without duplicates.

    After the first few, candidates with a much lower score are dropped.
    """
    expected = derive_expected_answer(linked)
    extractor = FeatureExtractor(FitScorer(linked, operators, schema, expected), weights)
    base_features = [
        {
            "covered": candidate.gain / extractor.total_weight,
            "patterns": float(candidate.patterns),
            "unknown": candidate.unknown,
            "spread": candidate.state.spread,
        }
        for candidate in candidates
    ]
    max_scores = [extractor.bound_score(features) for features in base_features]
    scored: list[tuple[float, int, QueryCandidate]] = []
    highest: list[float] = []
    min_score = -math.inf
    for index in sorted(range(len(candidates)), key=lambda index: -max_scores[index]):
        if max_scores[index] < min_score:
            break
        features = extractor.compute_features(candidates[index], base_features[index], min_score)
        if features is not None:
            score = sum(weights[name] * value for name, value in features.items())
            scored.append(
                (-score, index, replace(candidates[index], score=score, features=features))
            )
            push = heapq.heappush if len(highest) < _MIN_CANDIDATES else heapq.heappushpop
            push(highest, score)
            if len(highest) == _MIN_CANDIDATES:
                min_score = min(highest[0], max(highest) - _MAX_SCORE_GAP)
    best: dict[object, QueryCandidate] = {}
    for negated_score, _, candidate in sorted(scored, key=lambda entry: entry[:2]):
        if -negated_score >= min_score:
            best.setdefault((candidate.tree_with_things, candidate.shown), candidate)
    return RankedCandidates(linked, operators, tuple(best.values()), schema, expected)


@dataclass
class FeatureExtractor:
    """Computes the features of all candidates for one question."""

    fitting: FitScorer
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        self.linked, self.operators = self.fitting.linked, self.fitting.operators
        self.schema = self.fitting.schema
        self._max_remaining_score: dict[int, float] = {}

    def bound_score(self, features: Mapping[str, float]) -> float:
        """Return the highest score that a candidate with these features can reach."""
        if len(features) not in self._max_remaining_score:
            max_values = {"asks": self._max_ask_value, "head": _HEAD_CLASS_SCORE}
            self._max_remaining_score[len(features)] = sum(
                max(0.0, self.weights[name]) * max_values.get(name, 1.0)
                for name in set(FEATURES) - set(features)
            )
        score = sum([self.weights[name] * value for name, value in features.items()])
        return score + self._max_remaining_score[len(features)]

    @cached_property
    def _max_ask_value(self) -> float:
        """Maximum value of the feature `asks`."""
        operators = self.operators
        return float(
            self.fitting.has_kind_question
            or operators.is_yes_no_question
            or operators.asks in _VALUE_QUESTION_WORDS
        )

    def compute_features(
        self, candidate: QueryCandidate, features: dict[str, float], min_score: float
    ) -> dict[str, float] | None:
        """Compute all features of a candidate, in the order of `FEATURES`.

        Compute cheap features first; return None once the score cannot reach `min_score`.
        """
        linked, schema, fitting = self.linked, self.schema, self.fitting
        columns = fitting.describe_columns(candidate)
        kind = fitting.score_kind(columns)
        if PAIRED_NOTE in candidate.notes and self.operators.get_operators("or"):
            kind = 1.0  # the things to choose from are named, whatever "who" would be
        asks = (
            max(0.0, kind)
            if fitting.has_kind_question
            else _match_value_sort(candidate, self.operators, schema)
        )
        features |= {
            "nameless": _is_nameless_answer(candidate, schema),
            "asks": asks,
            "head": _match_head(candidate, self.first_content_position, linked, schema),
            "misfit": max(0.0, -kind),
        }
        if self.bound_score(features) < min_score:
            return None
        features["unheld"], features["unnamed"] = fitting.score_nouns(columns, candidate)
        patterns, shown = pieces.list_patterns(candidate.tree.where), candidate.shown
        steps = [
            (triple.subject, pieces.get_predicate(triple), triple.object) for triple in patterns
        ]
        constant_edges = {step[:2] for step in steps if not isinstance(step[2], Variable)}
        variables_with_constants = {step[2] for step in steps if step[:2] in constant_edges}
        features |= {
            "trivial": float(
                bool(shown) and all(value in variables_with_constants for value in shown)
            ),
            "disagrees": fitting.score_row_mismatch(candidate),
            "ungrouped": fitting.score_missing_group(candidate),
            "unserved": float(
                sum(not triple.mask & candidate.used for triple in self.essential_operators)
            ),
        }
        if self.bound_score(features) < min_score:
            return None
        named = (node.link for node in candidate.state.node.walk() if node.link is not None)
        mentions = dict.fromkeys((link.target, link.positions) for link in named)
        links = list(candidate.iterate_links())
        features |= {
            "obscure": sum(self.edge_deficits.get(mention, 0.0) for mention in mentions),
            "akin": self.compute_relation_share(links, UNRELATED_ROOT_MATCHES),
            "shortened": self.compute_relation_share(links, ABBREVIATION_MATCHES),
            "turned": self.edge_directions.count_reversed(candidate),
            "needless": edge_direction.count_needless_steps(candidate, links, linked, schema),
            "faulty": 0.0,
        }
        return {name: features[name] for name in FEATURES}

    def compute_relation_share(self, links: Sequence[Link], relations: frozenset[str]) -> float:
        """Return the weighted share of words that match a name by some lexical relations."""
        mask = 0
        for link in links:
            if relations.isdisjoint(link.how):
                continue
            for position, relation in zip(link.positions, link.how, strict=False):
                if relation in relations:
                    mask |= 1 << position
        word_weights = (
            weight for position, weight in enumerate(self.linked.weights) if mask >> position & 1
        )
        return sum(word_weights) / self.total_weight if mask else 0.0

    @cached_property
    def first_content_position(self) -> int | None:
        """Position of the first content word: "planet" in "the largest planet"."""
        names = ("superlative", "distinct", "running", "change")
        skipped_words = sum(operator.mask for operator in self.operators.get_operators(*names))
        weights = enumerate(self.linked.weights)
        return next((at for at, weight in weights if weight and not skipped_words >> at & 1), None)

    @cached_property
    def essential_operators(self) -> tuple[Operator, ...]:
        """Operators that a query has to use: the most and the least, negation, and "or"."""
        return self.operators.get_operators(
            "most", "fewest", "superlative", "maximum", "minimum", "not", "or"
        )

    @cached_property
    def edge_directions(self) -> edge_direction.EdgeDirections:
        """Finds relations with the opposite direction of the question."""
        return edge_direction.EdgeDirections(self.linked, self.schema)

    @cached_property
    def total_weight(self) -> float:
        """Total weight of the content words and the operators."""
        return sum(self.linked.weights) + GainWeight.OPERATOR * len(self.operators.operators) or 1.0

    @cached_property
    def edge_deficits(self) -> Mapping[tuple[str, tuple[int, ...]], float]:
        """Difference in log10 of the number of edges: best-known namesake minus the thing."""
        links = self.linked.get_links(ItemKind.ENTITY)
        edges = {link.target: self._get_log_degree(link.target) for link in links}
        return {
            (link.target, link.positions): max(
                edges[namesake.target] - edges[link.target]
                for namesake in links
                if namesake.positions == link.positions
                and namesake.score >= link.score - _MAX_NAMESAKE_SCORE_GAP
            )
            for link in links
        }

    def _get_log_degree(self, iri: str) -> float:
        node_id = self.schema.find_node(iri)
        return math.log10(1 + self.schema.graph.get_degree(node_id)) if node_id is not None else 0.0


def _is_nameless_answer(candidate: QueryCandidate, schema: Schema) -> float:
    """Return 1 if the answer is a node that only stands for a relation, else 0."""
    # Things of a class that the question names are an answer, even if none has a name.
    if candidate.is_ask or candidate.shown != (candidate.root,):
        return 0.0
    link = candidate.state.node.cls_link
    if link is not None and link.score * link.quality >= _MIN_CLASS_SCORE:
        return 0.0
    return float(schema.is_nameless(candidate.state.ids))


def _match_value_sort(
    candidate: QueryCandidate, operators: QuestionOperators, schema: Schema
) -> float:
    """Return 1 if the answer is a truth value, number or date as asked for, else 0."""
    if operators.is_yes_no_question and operators.asks is None:
        return 1.0 if candidate.is_ask else 0.0
    if operators.asks == "number":
        is_counted = any(isinstance(shown_value, Call) for shown_value in candidate.shown)
        sorts = _get_shown_sorts(candidate, schema)
        return float(is_counted or not sorts.isdisjoint(MEASURED_SORTS))
    if operators.asks in ("date", "year"):
        return float(not _get_shown_sorts(candidate, schema).isdisjoint(TEMPORAL_SORTS))
    return 0.0


def _get_shown_sorts(candidate: QueryCandidate, schema: Schema) -> set[ValueKind]:
    values = (*pieces.list_column_values(candidate.tree), *candidate.shown)
    shown_variables = {value for value in values if isinstance(value, Variable)}
    sorts = set()
    for element in candidate.tree.where.elements:
        if isinstance(element, Bind) and element.variable in shown_variables:
            sorts.add(ValueKind.NUMBER)
        elif isinstance(element, Pattern) and element.object in shown_variables:
            number = schema.get_predicate_number(pieces.get_predicate(element))
            if number is not None:
                sorts.add(schema.get_sort(number))
    return sorts


def _match_head(
    candidate: QueryCandidate, position: int | None, linked: LinkedQuestion, schema: Schema
) -> float:
    """Return how well the answer's class or last step matches the first content word."""
    if position is None:
        return 0.0
    if candidate.shown_words >> position & 1:
        return 1.0
    reading = linked.reading
    which = reading.word_list.request_phrases["which"]
    is_chosen = reading.folded_words[position - 1 : position] in which
    if (
        len(candidate.state.ids)
        and _is_root_shown(candidate, schema if is_chosen else None)
        and any(
            position in link.positions
            and link.score >= _MIN_CLASS_SCORE
            and schema.has_only_instances(candidate.state.ids, link.target)
            for link in linked.get_links(ItemKind.CLASS)
        )
    ):
        return _HEAD_CLASS_SCORE
    node = candidate.state.node
    shows_value = (
        candidate.shown_words or candidate.is_ask or not isinstance(candidate.root, Variable)
    )
    root_links = [node.cls_link, node.link if shows_value else None]
    if any(link is not None and position in link.positions for link in root_links):
        return 1.0
    for edge, child in node.edges:
        if edge.link is not None and position in edge.link.positions:
            return float(
                schema.is_subject_name(edge.predicate) != edge.inverse
                or _has_verb_direction(edge, child, linked, schema)
            )
        if child.link is not None and position in child.link.positions:
            return 1.0
    return 0.0


def _is_root_shown(candidate: QueryCandidate, schema: Schema | None) -> bool:
    """Return whether the root is shown, its count, or a value; with a schema, no linked thing."""
    root, shown_variables = candidate.root, set(map(pieces.get_value_variable, candidate.shown))
    return (
        root in shown_variables
        or not isinstance(root, Variable)
        or any(
            (triple.object in shown_variables and triple.subject == root)
            or (triple.subject in shown_variables and triple.object == root)
            for triple in pieces.list_patterns(candidate.tree.where)
            if schema is None
            or schema.get_predicate_number(pieces.get_predicate(triple))
            not in schema.resource_predicates
        )
    )


def _has_verb_direction(edge: Edge, child: Node, linked: LinkedQuestion, schema: Schema) -> bool:
    """Return whether the thing beside a verb is its subject or object, as the step requires."""
    if edge.link is None or child.link is None or child.link.kind is not ItemKind.ENTITY:
        return False
    is_subject = edge_direction.is_thing_subject(
        edge.link, child.link, linked, schema.get_folded_names(edge.predicate)
    )
    return is_subject is edge.inverse


# The ranking that the package uses.
DEFAULT_RANKING_PATH = pathlib.Path(__file__).with_name("ranking.toml")


@dataclass(frozen=True)
class FeatureWeights:
    """Default weights of the features, and weights of single graphs by name."""

    weights: Mapping[str, float]
    graphs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ValueError` unless there is one finite number for each feature."""
        for table in (self.weights, *self.graphs.values()):
            mismatched = sorted(set(table) ^ set(FEATURES))
            if mismatched:
                raise ValueError(f"each feature needs one weight; check {', '.join(mismatched)}")
            if not all(_is_number(weight) for weight in table.values()):
                raise ValueError("a weight must be a finite number")


def load_weights(graph: str, path: str = "") -> Mapping[str, float]:
    """Return the weights for a graph, from a file or the package's own; each file is read once.

    Raises:
        SetupError: the file is missing or holds no weights.
    """
    weights = _load_ranking(path)
    return weights.graphs.get(graph, weights.weights)


def read_ranking(path: pathlib.Path) -> FeatureWeights:
    """Read feature weights from TOML; raise `SetupError` if the file is missing or has none."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return FeatureWeights(table["weights"], table.get("graphs", {}))
    except (OSError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        raise SetupError(
            f"{str(path)!r} contains no ranking weights ({problem}); create such a file "
            "with tools/ranking.py --write"
        ) from problem


@cache
def _load_ranking(path: str) -> FeatureWeights:
    return read_ranking(pathlib.Path(path).expanduser() if path else DEFAULT_RANKING_PATH)


def _is_number(weight: object) -> bool:
    return isinstance(weight, int | float) and type(weight) is not bool and math.isfinite(weight)


_MAX_AGREEMENT_GAP = 0.5  # a member whose score is so near the best agrees with it
_AGREEMENT_BONUS_SCORE, _MAX_AGREEING_COUNT = 0.02, 3
"""Bonus of each agreeing member, and how many count: often they are variants of one reading."""

_MAX_COMPARED_NODES = 20_000
"""Maximum size of node sets that are compared by value; larger ones are compared by identity."""


@dataclass(frozen=True, eq=False)
class Cluster:
    """Candidates with the same result, best first."""

    members: tuple[QueryCandidate, ...]

    @property
    def best(self) -> QueryCandidate:
        """The member with the highest score."""
        return self.members[0]

    @property
    def score(self) -> float:
        """The best score, with a small bonus for each member that agrees."""
        return score_cluster([member.score for member in self.members])


def score_cluster(scores: Sequence[float]) -> float:
    """Return the score of a cluster: the best member's, with a small bonus for each close one."""
    best = max(scores)
    agreeing = sum(score > best - _MAX_AGREEMENT_GAP for score in scores) - 1
    return best + _AGREEMENT_BONUS_SCORE * min(_MAX_AGREEING_COUNT, agreeing)


def cluster_candidates(candidates: Sequence[QueryCandidate]) -> list[Cluster]:
    """Group candidates by answer set and shown columns, the best cluster first.

    A signature is only computed where cheaper keys are equal.
    """
    outlines = [compute_outline(candidate) for candidate in candidates]
    repeated_keys = _find_repeated(outlines)
    nodes = _NodeSetKeys()
    keys = [
        (candidate_outline, nodes.get_key(candidate.ids))
        if candidate_outline in repeated_keys
        else candidate_outline
        for candidate, candidate_outline in zip(candidates, outlines, strict=True)
    ]
    repeated_keys = _find_repeated(keys)
    grouped: dict[object, list[QueryCandidate]] = {}
    for candidate, key in zip(candidates, keys, strict=True):
        full_key = (key, compute_result_signature(candidate)) if key in repeated_keys else key
        grouped.setdefault(full_key, []).append(candidate)
    # Groups whose best members are one query, found from different roots, are one.
    groups = [*grouped.values()]
    queries = [max(group, key=lambda one: one.score).tree_with_things for group in groups]
    query_outlines = [_outline_query(query) for query in queries]
    repeated_keys = _find_repeated(query_outlines)
    merged: dict[object, list[QueryCandidate]] = {}
    for group, query, outline in zip(groups, queries, query_outlines, strict=True):
        query_key = _compute_query_signature(query) if outline in repeated_keys else outline
        merged.setdefault(query_key, []).extend(group)
    candidate_clusters = [
        Cluster(tuple(sorted(group, key=lambda x: -x.score))) for group in merged.values()
    ]
    return sorted(candidate_clusters, key=lambda cluster: -cluster.score)


def _outline_query(query: Query) -> object:
    """Return a cheap key; queries with equal keys may still differ."""
    patterns = Counter(map(pieces.get_predicate, pieces.list_patterns(query.where)))
    return len(query.columns), len(query.where.elements), frozenset(patterns.items())


def _find_repeated(keys: Sequence[object]) -> set[object]:
    """Return the keys that occur more than once."""
    return {key for key, times in Counter(keys).items() if times > 1}


class _NodeSetKeys:
    """Keys of node sets, equal for equal sets."""

    def __init__(self) -> None:
        self.large_sets: list[Ids] = []

    def get_key(self, ids: Ids) -> object:
        """Return the key of a node set."""
        if len(ids) <= _MAX_COMPARED_NODES:
            return ids.tobytes()
        for number, large_set in enumerate(self.large_sets):
            if large_set is ids:
                return number
        self.large_sets.append(ids)
        return len(self.large_sets) - 1


# Rounds in which a variable takes over the description of its neighbours.
_MAX_REFINEMENT_ROUNDS = 4

_COMPARED_FIELDS: dict[Any, tuple[str, ...]] = {
    node: tuple(one.name for one in fields(node) if one.compare)
    for node in (Path, Call, Pattern, Filter, Bind, Values, Nested, Union, Group, Query)
}
"""Fields of each node class that define its value."""

_EXTREME_FUNCTIONS = frozenset(["MIN", "MAX"])
_SELF_COLOUR = -7  # colour of a variable in its own description


@dataclass(frozen=True, slots=True)
class _QueryPart:
    """A part of a query: the hash of its shape, and its variables in order, as hashes."""

    shape: int
    variables: tuple[int, ...]

    def paint(self, colours: Mapping[int, int]) -> tuple[int, ...]:
        """Return the part with the colours of its variables."""
        return (self.shape, *[colours[number] for number in self.variables])

    def hash_for_variable(self, variable: int, colours: Mapping[int, int]) -> int:
        """Return a hash of the requirements of the part on one of its variables."""
        painted = [_SELF_COLOUR if n == variable else colours[n] for n in self.variables]
        return hash((self.shape, *painted))


def compute_outline(candidate: QueryCandidate) -> object:
    """Return a cheap key; candidates with equal keys may still have different signatures."""
    query, shown = candidate.tree, candidate.shown
    context = len(query.columns) - len(shown)
    kinds = [getattr(shown_value, "name", "") for shown_value in shown]
    ordered = (len(query.order), query.limit, query.offset, query.form)
    return (len(candidate.ids), context, *kinds, ordered)


def compute_result_signature(candidate: QueryCandidate) -> object:
    """Return everything that the result depends on, besides the nodes of the root.

    Patterns that only narrow the root are covered by those nodes. Candidates with different
    signatures may still have equal results.
    """
    query, shown, root = candidate.tree, candidate.shown, hash(candidate.root)
    columns = [
        _build_part("show" if element in shown else "context", element)
        for element in pieces.list_column_values(query) or shown
    ]
    order_parts = [_build_part("by", key) for key in query.order]
    elements = query.where.elements
    patterns = [_build_part("is", element) for element in elements if isinstance(element, Pattern)]
    other_parts = [*columns, *order_parts]
    other_parts += [
        _build_part("says", element) for element in elements if not isinstance(element, Pattern)
    ]
    other_parts += [_build_part("group", element) for element, _ in query.group_by]
    other_parts += [_build_part("having", element) for element in query.having]
    counts_rows = any(
        not call.name.endswith("DISTINCT") and call.name not in _EXTREME_FUNCTIONS
        for call in pieces.find_aggregates(query)
    )
    is_cut = query.form == "ASK" or query.group_by or query.order or query.limit is not None
    if not (is_cut or counts_rows):
        # The patterns without leaves attached to the root.
        used_variables = {element for part in other_parts for element in part.variables} - {root}
        root_neighbours = {
            element for part in patterns for element in part.variables if root in part.variables
        }
        variable_sets = [set(part.variables) - {root} for part in patterns]
        needed_variables = pieces.connect_variables(used_variables, variable_sets)
        reachable = pieces.connect_variables(root_neighbours - {root}, variable_sets)
        narrowing = reachable - needed_variables
        patterns = [
            part
            for part, variables in zip(patterns, variable_sets, strict=True)
            if variables & needed_variables
            or (root not in part.variables and not variables & narrowing)
        ]
    return _paint_parts(patterns + other_parts, columns, order_parts, root), _get_form(query)


def _compute_query_signature(query: Query) -> object:
    """Return a key that is equal for queries that differ in their variables' names alone."""
    columns = [_build_part("show", element) for element in pieces.list_column_values(query)]
    order_parts = [_build_part("by", key) for key in query.order]
    parts = [*columns, *order_parts]
    parts += [_build_part("says", element) for element in query.where.elements]
    parts += [_build_part("group", element) for element, _ in query.group_by]
    parts += [_build_part("having", element) for element in query.having]
    return _paint_parts(parts, columns, order_parts), _get_form(query)


def _get_form(query: Query) -> tuple[object, ...]:
    return query.limit, query.offset, query.form


def _paint_parts(
    parts: Sequence[_QueryPart],
    columns: Sequence[_QueryPart],
    order_parts: Sequence[_QueryPart],
    root: int | None = None,
) -> object:
    """Return the parts of a query with colours in place of its variables."""
    parts_by_variable: dict[int, list[_QueryPart]] = {}
    for part in parts:
        for number in set(part.variables):
            parts_by_variable.setdefault(number, []).append(part)
    colours = {number: int(number == root) for number in parts_by_variable}
    for _ in range(min(_MAX_REFINEMENT_ROUNDS, len(colours))):
        colours = {
            number: hash(
                (
                    colours[number],
                    *sorted(
                        [element.hash_for_variable(number, colours) for element in variable_parts]
                    ),
                )
            )
            for number, variable_parts in parts_by_variable.items()
        }
    return (
        tuple(element.paint(colours) for element in columns),
        frozenset(element.paint(colours) for element in parts),
        tuple(element.paint(colours) for element in order_parts),
    )


@lru_cache(maxsize=4096)
def _build_part(kind: str, part: object) -> _QueryPart:
    variables: list[int] = []
    return _QueryPart(hash((kind, _get_shape(part, variables))), tuple(variables))


def _get_shape(part: object, variables: list[int]) -> object:
    """Return a part as nested tuples without its variables, which are appended to a list."""
    if isinstance(part, Variable):
        variables.append(hash(part))
        return Variable
    if isinstance(part, tuple):
        return tuple([_get_shape(item, variables) for item in part])
    inner = [
        _get_shape(getattr(part, name), variables) for name in _COMPARED_FIELDS.get(type(part), ())
    ]
    return (type(part), *inner) if inner else part
