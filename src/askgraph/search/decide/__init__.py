"""Decide on the best candidate: weigh the evidence; answer, refuse, or ask back.

The evidence has the same features on every graph: words, candidates and their answer sets; no
query is run (docs/how-it-works.md). Boosted trees over the evidence give the confidence; they are
in `confidence.json` beside this file, which `tools/calibrate.py --write` fits and writes. The sign
of most evidence is fixed: evidence for an answer never lowers its confidence on an unusual graph,
and evidence against it never raises it. Friedman, "Greedy function approximation: a gradient
boosting machine" (2001). A monotone curve (`calibration.toml`), fitted to scored answers, maps the
model's output to a probability; it is isotonic, so that the order of answers stays.
"""

import json
import math
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from pyoxigraph import Variable

from askgraph.errors import SetupError
from askgraph.graph.literals import split_literal
from askgraph.index.names import ItemKind, split_tokens, stem_name, stem_word
from askgraph.search.decide.unheard_words import (
    find_light_tokens,
    find_linked_tokens,
    find_requested_tokens,
    find_unheard_request,
    has_unheard_sex,
    weigh_content,
)
from askgraph.search.expand import TRANSLATED_NAME_SHARE
from askgraph.search.expand.nouns import NEIGHBOUR_SCORE
from askgraph.search.link import Link
from askgraph.search.operators.conditions import UNQUANTIFIED_NOTE
from askgraph.search.operators.mentions import MENTION_NOTE
from askgraph.search.operators.query_builder import NONE_NOTE, QueryCandidate
from askgraph.search.query_pieces import (
    Value,
    find_aggregates,
    get_predicate,
    get_value_variable,
    list_group_variables,
    list_sort_keys,
    list_subqueries,
)
from askgraph.search.rank import Cluster, RankedCandidates, cluster_candidates
from askgraph.search.rank.faults import FaultContext, find_faults
from askgraph.search.tokenize import TokenizedQuestion, to_bit_mask
from askgraph.search.tokenize.question_operators import Operator
from askgraph.search.tokenize.word_lists import LANGUAGES_WITH_CAPITAL_NOUNS
from askgraph.sparql import Call, Filter, Pattern
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.trace import Answer, Option

_MAX_RIVAL_SCORE_DIFFERENCE = 0.2  # maximum score difference to a rival
_DEFAULT_MARGIN_SCORE = 0.5  # margin of a result without rivals, which proves little
_MAX_LINK_SCORE_DIFFERENCE = 0.05  # score difference up to which links are equally good readings
_MAX_EVIDENCE = (
    ("faults", 0.0), ("left_out", 0.5), ("unsaid", 0.05), ("unsaid_columns", 0.3),
    ("unsaid_conditions", 0.3), ("inexact", 0.15),
    *((name, 0.0) for name in ("misfit", "unheld", "unnamed", "disagrees", "ungrouped")),
    ("head_missed", 0.0), ("required", 0.0), ("rivals", 1.0),
)  # fmt: skip
"""The maximum of each evidence for an answer without doubt; any excess is a blemish."""
# Operators whose words may be redundant or without content.
_OPTIONAL_OPERATORS = frozenset(
    "exists and both distinct now past during ongoing lasted at".split()
)
_NUMERIC_OPERATORS = frozenset("more_than less_than between".split())
"""Operators whose words are mere prepositions unless a number or date follows."""
_MIN_FORM_LENGTH, _MAX_ENDING_LENGTH = 3, 2
"""Minimum common letters of two forms of a word, and maximum extra letters of the longer."""
_MIN_COMPOUND_PART_LENGTH = 5  # minimum length of the last word of a compound
_GROUP_OPERATORS = ("each", "monthly", "yearly", "decadal", "centennial")
_TOTAL_OPERATORS = ("count", "sum")
_MAX_SPELLINGS = 50  # values with the same beginning to look at
_MAX_COUNT_NOUN_WORDS = 2  # words after "how many" that may name the number


def collect_evidence(
    proposal: RankedCandidates, ranked_clusters: Sequence[Cluster]
) -> dict[str, float]:
    """Return the evidence on the best of some clusters; the names are in `EVIDENCE`."""
    first, *lower_ranked = ranked_clusters
    best = first.best
    subject = FaultContext(proposal, best)
    # How close other results are, and whether those show other columns.
    close = [
        cluster
        for cluster in lower_ranked
        if cluster.score > first.score - _MAX_RIVAL_SCORE_DIFFERENCE
    ]
    evidence = {
        "score": best.score,
        "margin": min(1.0, first.score - lower_ranked[0].score)
        if lower_ranked
        else _DEFAULT_MARGIN_SCORE,
        "rivals": math.log1p(len(close)),
        "disputed": float(any(cluster.best.shown != best.shown for cluster in close)),
        "faults": float(len(find_faults(subject))),
        **_measure_coverage(subject),
        **_measure_links(subject),
        **_measure_doubts(subject),
        **_measure_looseness(subject),
        **_measure_shape(subject),
    }
    values = {**best.features, **evidence}
    return {
        **evidence,
        "blemishes": float(sum(values[name] > maximum for name, maximum in _MAX_EVIDENCE)),
    }


def _measure_coverage(subject: FaultContext) -> dict[str, float]:
    """Return how many words of the question the query uses, and how many it leaves out."""
    proposal, best = subject.proposal, subject.candidate
    reading, weights = proposal.question, proposal.linked.weights
    shares = weigh_content(reading)
    content = [at for at, weight in enumerate(weights) if weight and shares[at]]
    unused = [at for at in content if not best.used >> at & 1]
    linked = {at for link in proposal.linked.links for at in link.positions}
    has_capital_nouns = reading.language in LANGUAGES_WITH_CAPITAL_NOUNS
    names = [
        at
        for at in unused
        if at > 0 and reading.tokens[at].is_capitalized and not (has_capital_nouns and at in linked)
    ]
    unused_weight = sum(weights[at] * shares[at] for at in unused)
    total_weight = sum(weights[at] for at in content if at not in unused) + unused_weight or 1.0
    return {
        "covered": 1.0 - unused_weight / total_weight,
        "unused": sum(shares[at] for at in unused),
        "unused_names": float(len(names)),
        "unheard": float(len(list(find_unserved_operators(proposal, best)))),
        "left_out": sum(_weigh_omitted_words(proposal, best).values()),
    }


def _measure_links(subject: FaultContext) -> dict[str, float]:
    """Return how well, and how uniquely, words name the elements of the query."""
    weights, all_links = subject.linked.weights, subject.linked.links
    used = list(subject.candidate.iterate_links())
    inexact = beaten = ambiguous = total = 0.0
    for link in used:
        weight = sum(weights[at] for at in link.positions)
        rivals = [
            rival for rival in all_links if rival.mask & link.mask and rival.target != link.target
        ]
        score, namesakes = _score_link(link), [r for r in rivals if r.positions == link.positions]
        inexact += weight * (1.0 - link.score * link.quality)
        beaten += weight * any(_score_link(r) > score + _MAX_LINK_SCORE_DIFFERENCE for r in rivals)
        ambiguous += weight * math.log1p(
            sum(abs(_score_link(r) - score) <= _MAX_LINK_SCORE_DIFFERENCE for r in namesakes)
        )
        total += weight
    total = total or 1.0
    return {"inexact": inexact / total, "beaten": beaten / total, "ambiguous": ambiguous / total}


def _score_link(link: Link) -> float:
    """Return the score of a link; longer ones score higher."""
    return link.score * link.quality * len(link.positions)


def _measure_doubts(subject: FaultContext) -> dict[str, float]:
    """Return how loosely the query follows from the words that it uses."""
    best = subject.candidate
    links = [part.link for part in best.state.node.walk() if part.link is not None]
    return {
        "weakest": 1.0 - min((link.score * link.quality for link in links), default=1.0),
        "required": float(best.notes.count("required")),
        "unsaid_order": _measure_unnamed_order(subject),
        "unsaid": best.unknown,
        "unsaid_columns": sum(
            1.0 - _score_column_name(subject, item)
            for item in subject.shown_values
            if get_value_variable(item) != best.root
        ),
        "unsaid_conditions": sum(
            1.0 - subject.score_column_name(variable)
            for variable in {item.variable for item in subject.conditions}
        ),
        "spread": best.state.spread,
        "head_missed": 1.0 - min(1.0, best.features["head"]),
        "unheld": best.features["unheld"],
    }


def _score_column_name(subject: FaultContext, value: Value) -> float:
    """Return how well words name a column, by the step that leads to it or by its class."""
    classes = subject.list_classes(get_value_variable(value))
    return max(
        [subject.score_column_name(value), *(subject.link_scores.get(iri, 0.0) for iri in classes)]
    )


def _measure_unnamed_order(subject: FaultContext) -> float:
    """Return how loosely words name the first sort key."""
    keys = [key for key, _ in list_sort_keys(subject.tree)[:1]] or subject.extreme_variables[:1]
    predicates = [get_predicate(part) for part in subject.patterns if part.object in keys]
    return 1.0 - max(subject.link_scores.get(iri, 0.0) for iri in predicates) if predicates else 0.0


def _measure_looseness(subject: FaultContext) -> dict[str, float]:
    """Return evidence of unrequested groups, and of columns from more than one thing."""
    variables = [get_value_variable(item) for item in subject.shown_values]
    owners = {item.subject for item in subject.patterns if item.object in variables}
    # Rows are grouped without "for each", and not for a limit or an order.
    query = subject.tree
    has_count = query.having or any(isinstance(key, Call) for key, _ in list_sort_keys(query))
    return {
        "groups": float(bool(query.group_by) and not has_count and not subject.expected.is_grouped),
        "scattered": float(max(0, len(owners) - 1)),
    }


def _measure_shape(subject: FaultContext) -> dict[str, float]:
    """Return the size of a query: the larger it is, the more can be wrong."""
    query = subject.tree
    return {
        "long": math.log1p(sum(1 for weight in subject.linked.weights if weight)),
        "patterns": float(subject.candidate.patterns),
        "compares": float(len(subject.conditions)),
        "aggregates": float(len(list(find_aggregates(query)))),
        "grouped": float(bool(list_group_variables(query))),
        "ranked": float(query.limit is not None or bool(subject.extreme_variables)),
        "columns": float(max(0, len(subject.shown_values) - 1)),
    }


def find_omitted_words(
    proposal: RankedCandidates, candidate: QueryCandidate, *, is_query_shown: bool = False
) -> tuple[str, ...]:
    """Return the content words that a candidate does not represent, in order.

    An operator that it does not serve counts as a phrase ("more than", "not"). A word linked to an
    element of the query counts as included.

    Args:
        is_query_shown: whether the reader sees the query; then a name in it may also be a form of
            the word ("buses" and `SchoolBus`), or groups and aggregates may represent it
            ("different", "for each", "in total").
    """
    return tuple(_weigh_omitted_words(proposal, candidate, is_query_shown=is_query_shown))


def _weigh_omitted_words(
    proposal: RankedCandidates, candidate: QueryCandidate, *, is_query_shown: bool = False
) -> dict[str, float]:
    """Return the words of `find_omitted_words`, each with how much it matters."""
    reading, weights = proposal.question, proposal.linked.weights
    phrases = {item.first: item for item in find_unserved_operators(proposal, candidate)}
    included = find_linked_tokens(FaultContext(proposal, candidate)) | find_light_tokens(reading)
    if is_query_shown:
        included |= _find_named_tokens(reading, FaultContext(proposal, candidate).terms)
        # Groups, their aggregates or several columns serve some operators.
        has_groups = bool(list_group_variables(candidate.tree)) or len(candidate.tree.columns) > 1
        has_totals = any(find_aggregates(candidate.tree))
        names = {*_GROUP_OPERATORS * has_groups, *_TOTAL_OPERATORS * has_totals}
        served = [item for item in phrases.values() if item.name in names]
        included |= {at for item in served for at in (item.first, *item.positions)}
        if list_group_variables(candidate.tree):
            included |= _find_operator_tokens(reading, "distinct")
        phrases = {at: item for at, item in phrases.items() if at not in included}
    operator_positions = {at for item in phrases.values() for at in item.positions}
    if candidate.tree.distinct:
        included |= _find_operator_tokens(reading, "distinct")
    shares = weigh_content(reading)
    words: dict[str, float] = {}
    for at, token in enumerate(reading.tokens):
        if at in phrases:
            last = reading.tokens[phrases[at].last]
            words[" ".join(reading.text[token.start : last.end].split())] = 1.0
        elif (
            weights[at] and at not in operator_positions | included and not candidate.used >> at & 1
        ):
            words.setdefault(token.text, shares[at])
    return words


def _find_named_tokens(reading: TokenizedQuestion, terms: Iterable[str]) -> set[int]:
    """Return the tokens that are a form of a word in a name: singular, plural, a part."""
    texts = (
        split_literal(item)[0] if item[0] == '"' else split_local_name(item.strip("<>"))
        for item in terms
    )
    names = {stem_word(word) for text in texts for word in split_tokens(text)}
    return {
        at
        for at, item in enumerate(reading.tokens)
        if any(_is_word_form(item.stem, n) for n in names)
    }


def _is_word_form(word: str, name: str) -> bool:
    short, long = sorted((word, name), key=len)
    is_inflection = (
        len(short) >= _MIN_FORM_LENGTH
        and long.startswith(short)
        and len(long) <= len(short) + _MAX_ENDING_LENGTH
    )
    return (
        short == long
        or is_inflection
        or (len(short) >= _MIN_COMPOUND_PART_LENGTH and long.endswith(short))
    )


def find_unserved_operators(
    proposal: RankedCandidates, candidate: QueryCandidate
) -> Iterator[Operator]:
    """Yield the operators that a candidate should serve but whose words it does not use."""
    frame = proposal.operators
    for operator in frame.operators:
        number = frame.get_quantity_after(operator)
        is_unused = number is not None and not candidate.used >> number.first & 1
        is_comparison = operator.name not in _NUMERIC_OPERATORS or is_unused
        following_mask = to_bit_mask(
            range(operator.last + 1, operator.last + 1 + _MAX_COUNT_NOUN_WORDS)
        )
        if operator.name == "count" and candidate.shown_words & following_mask:
            continue  # "how many minutes": the number that is shown
        if (
            operator.name not in _OPTIONAL_OPERATORS
            and is_comparison
            and not candidate.used >> operator.last & 1
        ):
            yield operator


def _find_operator_tokens(reading: TokenizedQuestion, operator: str) -> set[int]:
    words = {phrase[0] for phrase in reading.word_list.operators[operator] if len(phrase) == 1}
    return {at for at, word in enumerate(reading.folded_words) if word in words}


EMPTY_RESULT_FACTOR = 0.6
"""Confidence factor of an empty result: a condition, usually a wrong one, removed all.

The factor is not lower since benchmarks leave out questions with an empty answer.
"""
TIED_RESULT_FACTOR = 0.6  # the same if one is asked for, and several tie in an order without words
UNBOUND_VALUE_FACTOR = 0.5  # the same if a value could not be computed: a sum of texts
AMBIGUOUS_NAME_FACTOR = 0.3  # the same if all that is asked is a name that a thing and a class have
UNFILTERED_CLASS_FACTOR = 0.6
"""The same if the answer is all of a class, and the graph lacks what unused words narrow it by."""

MAX_MENTION_CONFIDENCE = 0.55  # a text that has a word need not say what the word means
MAX_UNHEARD_REQUEST_CONFIDENCE = 0.25
"""Maximum confidence if the query uses no word for what is asked, or leaves out a number.

"How many committers has X?" is not answered by the number of things named X.
"""
MAX_DOUBTED_CONFIDENCE = 0.84
"""Maximum confidence if evidence exceeds `_MAX_SURE_EVIDENCE`: below that of a sure answer."""

_MAX_SURE_EVIDENCE = {"inexact": 0.25, "unsaid": 1.16, "required": 0.0, "left_out": 0.5}
"""The maximum of evidence against an answer that may be sure.

A guessed word, more than one step that no word names, or a word that is left out always leaves a
doubt; so does another result that is as good. One such step has the penalty 1, or 1.15 if a node
has several.
"""

MIN_DOUBTFUL_CONFIDENCE = 0.5  # the minimum confidence of an answer if the decision is doubtful

_MAX_GUESSED_EVIDENCE = {"inexact": 0.1, "unsaid": 1.85}
"""Evidence beyond both means that a number counts something else: the discoverers of Mars's moons
for "How many inhabitants does Mars have?".
"""

_MAX_TIED_SCORE_DIFFERENCE = 0.02  # score difference up to which readings are equally good

Outcome = Literal["answer", "ask", "refuse"]


@dataclass(frozen=True)
class Thresholds:
    """Minimum confidence to answer, and to ask back instead of refusing."""

    answer: float = 0.33
    ask: float = 0.15


@dataclass(frozen=True, eq=False)
class Decision:
    """The candidates of a proposal by their results, best first; the confidence in the first.

    The decision is doubtful if another reading is as good, or if the best ignores an operator.
    """

    clusters: tuple[Cluster, ...]
    confidence: float
    is_doubtful: bool = False


def decide(proposal: RankedCandidates) -> Decision:
    """Group the candidates with the same result, and weigh the evidence for the best."""
    clusters = tuple(cluster_candidates(proposal.candidates))
    confidence = estimate_confidence(proposal, clusters)
    if not clusters:
        return Decision(clusters, confidence)
    has_unserved = any(find_unserved_operators(proposal, clusters[0].best))
    return Decision(clusters, confidence, _is_tied(clusters) or has_unserved)


def _is_tied(ranked_clusters: Sequence[Cluster]) -> bool:
    """Return whether another result is as good as the best."""
    best, *next_scores = (cluster.score for cluster in ranked_clusters[:2])
    return bool(next_scores) and next_scores[0] > best - _MAX_TIED_SCORE_DIFFERENCE


def estimate_confidence(proposal: RankedCandidates, ranked_clusters: Sequence[Cluster]) -> float:
    """Estimate the probability (0–1) that the best cluster is right, from calibrated evidence.

    It is 0 without clusters; else neither 0 nor 1.
    """
    if not ranked_clusters:
        return 0.0
    evidence = collect_evidence(proposal, ranked_clusters)
    confidence = calibrate(score_evidence(evidence))
    is_doubted = any(evidence[name] > maximum for name, maximum in _MAX_SURE_EVIDENCE.items())
    best = ranked_clusters[0].best
    subject = FaultContext(proposal, best)
    has_faint_link = any(
        x.quality <= NEIGHBOUR_SCORE and x.how == ("near",) for x in best.iterate_links()
    )
    is_doubted = is_doubted or has_faint_link or _has_other_meaning(subject)
    is_doubted = is_doubted or _is_of_unlike_things(proposal, best)
    # "Still alive" is who has no date of death, which graphs often lack.
    life_words = {phrase[0] for phrase in proposal.question.word_list.time_phrases["alive"]}
    if proposal.operators.get_operators("now", "ongoing"):
        is_doubted = is_doubted or not life_words.isdisjoint(proposal.question.folded_words)
    if is_doubted or _is_tied(ranked_clusters) or _has_other_spellings(proposal, best):
        confidence = min(confidence, MAX_DOUBTED_CONFIDENCE)
    is_open = evidence["unsaid"] >= 1 and _asks_for_anything(subject)
    unserved = {item.name for item in find_unserved_operators(proposal, best)}
    near = [x for x in best.iterate_links() if {*x.how} == {"near"}]
    requested = {*find_requested_tokens(subject)}  # "medallists" are no medals
    is_open = is_open or best.state.node.cls_link in near
    is_open = is_open or any(not requested.isdisjoint(link.positions) for link in near)
    if {MENTION_NOTE, UNQUANTIFIED_NOTE}.intersection(best.notes) or "same" in unserved or is_open:
        confidence = min(confidence, MAX_MENTION_CONFIDENCE)
    omitted = _weigh_omitted_words(proposal, best)
    if any(omitted.get(proposal.question.tokens[at].text) == 1 for at in requested):
        confidence = min(confidence, MAX_MENTION_CONFIDENCE)
    faults = find_faults(subject)
    is_unheard = (
        find_unheard_request(subject)
        or has_unheard_sex(subject)
        or "uncompared" in faults
        or "borrowed_value" in faults
        or any(map(str.isdigit, "".join(omitted)))
        or "not" in unserved
        or ("measured_apart" in faults and evidence["unsaid"] > 1)
        or (
            evidence["aggregates"]
            and all(evidence[name] > maximum for name, maximum in _MAX_GUESSED_EVIDENCE.items())
        )
    )
    return min(confidence, MAX_UNHEARD_REQUEST_CONFIDENCE) if is_unheard else confidence


def _asks_for_anything(subject: FaultContext) -> bool:
    """Return whether no word names what is asked for: "what do I need for X"."""
    expected, is_open = subject.expected, subject.candidate.state.node.cls is None
    is_open = is_open and expected.has_question_word and expected.kind == "things"
    return is_open and not find_requested_tokens(subject)


def _is_of_unlike_things(proposal: RankedCandidates, candidate: QueryCandidate) -> bool:
    """Return whether the things of a query without a class have no class in common."""
    schema, ids = proposal.schema, candidate.state.ids
    if candidate.is_ask or candidate.state.node.cls is not None or len(ids) < 2:
        return False
    classes = schema.sample_classes(ids)
    return all(classes) and not set.intersection(*classes)


def _has_other_meaning(subject: FaultContext) -> bool:
    """Return whether a word of a used property also names an unused class or property."""
    nodes = [node.ids for node in subject.candidate.state.node.walk() if len(node.ids)]
    used = [x for x in subject.candidate.iterate_links() if x.kind is ItemKind.PREDICATE]
    content = to_bit_mask(at for at, weight in enumerate(subject.linked.weights) if weight)
    return any(
        rival.mask & content == link.mask & content
        and min(rival.similarity, rival.score / link.score) > TRANSLATED_NAME_SHARE
        and not subject.has_link_target(rival)
        and (
            stem_name(rival.name) != stem_name(link.name)
            if rival.kind is ItemKind.PREDICATE
            else not any(subject.proposal.schema.has_only_instances(x, rival.target) for x in nodes)
        )
        for link in used
        for rival in subject.linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
    )


def _has_other_spellings(proposal: RankedCandidates, candidate: QueryCandidate) -> bool:
    """Return whether another value may mean the same: "Springer, Berlin", "Dwarven"."""
    schema, terms = proposal.schema, proposal.schema.graph.terms
    for node in candidate.state.node.walk():
        for edge, child in node.edges:
            if child.link is None or child.link.kind is not ItemKind.VALUE or len(child.terms) != 1:
                continue
            links = proposal.linked.get_links(ItemKind.VALUE)
            targets = (x.target for x in links if x.positions == child.link.positions)
            rivals = {at for target in targets if (at := terms.find(target)) is not None}
            text, beginning = child.link.name, f'"{child.link.name}'
            rivals |= {
                at
                for at in terms.find_prefix(beginning)[:_MAX_SPELLINGS]
                if not terms.get_value(at)[len(text) : len(text) + 1].isalnum()
            }
            for other in rivals - {*child.terms}:
                ids = np.array([other], dtype=np.int32)
                if edge.predicate in schema.graph.get_predicates(ids, inverse=not edge.inverse):
                    return True
    return False


def compute_confidence_factor(
    proposal: RankedCandidates, candidate: QueryCandidate, rows: int, *, has_unbound: bool = False
) -> float:
    """Return the factor of a confidence once it is known if values of the rows are unbound."""
    if NONE_NOTE in candidate.notes:
        return 1.0
    if not rows:
        return EMPTY_RESULT_FACTOR
    if has_unbound:
        return UNBOUND_VALUE_FACTOR
    if rows > 1 and _can_tie(proposal, candidate):
        return TIED_RESULT_FACTOR
    if _is_unfiltered_class(candidate) and find_omitted_words(
        proposal, candidate, is_query_shown=True
    ):
        return UNFILTERED_CLASS_FACTOR
    return AMBIGUOUS_NAME_FACTOR if _is_ambiguous_name(proposal, candidate) else 1.0


def _is_unfiltered_class(candidate: QueryCandidate) -> bool:
    """Return whether a query only selects, counts or sums up the instances of a class."""
    tree = candidate.tree
    patterns = [item for item in tree.where.elements if isinstance(item, Pattern)]
    values = [item for item in patterns if get_predicate(item) != RDF_TYPE]
    is_plain = len(patterns) == len(tree.where.elements) == len(values) + 1
    is_of_one = len({item.subject for item in patterns}) == 1
    is_of_one = is_of_one and all(isinstance(item.object, Variable) for item in values)
    is_total = not values or any(find_aggregates(tree))
    return is_plain and is_of_one and is_total and not (tree.order or list_group_variables(tree))


def _is_ambiguous_name(proposal: RankedCandidates, candidate: QueryCandidate) -> bool:
    """Return whether the question is only a name shared by a thing and a class: "Jaguar"."""
    links, tokens = proposal.linked.links, proposal.question.tokens
    return any(
        {link.kind, rival.kind} == {ItemKind.ENTITY, ItemKind.CLASS}
        and link.positions == rival.positions
        and stem_name(link.name) == stem_name(rival.name)
        and tokens[link.positions[-1]].folded in stem_name(rival.name)
        for link in [link for link in links if link.mask == candidate.used]
        for rival in links
    )


def _can_tie(proposal: RankedCandidates, candidate: QueryCandidate) -> bool:
    """Return whether several rows may tie for a single answer, in an order that no word names."""
    # "Who was the first person on the Moon?" expects one person, not a crew.
    reading, subject = proposal.question, FaultContext(proposal, candidate)
    if any(part.group_by for part in list_subqueries(candidate.tree.where)):
        return False  # there is one in each group
    if not reading.word_list.agreement["one"].intersection(reading.folded_words):
        return False
    extremes = [
        item.condition.arguments[0]
        for item in candidate.tree.where.elements
        if isinstance(item, Filter)
        and isinstance(item.condition, Call)
        and item.condition.name == "="
    ]
    name_scores = (
        subject.score_column_name(item) for item in extremes if isinstance(item, Variable)
    )
    return (
        bool(proposal.operators.get_operators("superlative"))
        and min(name_scores, default=1.0) < _MIN_ORDER_NAME_SCORE
    )


def choose_outcome(
    confidence: float, thresholds: Thresholds | None = None, *, is_doubtful: bool = False
) -> Outcome:
    """Choose the outcome by confidence, and by whether the decision is doubtful.

    A minimum of 0 for an answer always answers.
    """
    limits = thresholds or Thresholds()
    minimum = limits.answer
    if is_doubtful and minimum > 0:
        minimum = max(minimum, MIN_DOUBTFUL_CONFIDENCE)
    if confidence >= minimum:
        return "answer"
    return "ask" if confidence >= limits.ask else "refuse"


_MIN_ORDER_NAME_SCORE = 0.5  # an order is named by words from this similarity on
_MAX_OPTIONS_COUNT = 4  # readings that a clarification question offers
_MAX_PREFIX_WORDS = 6  # words to show first for a reading


def choose_options(answers: Sequence[Answer]) -> tuple[Option, ...]:
    """Return the interpretations for the user to choose between, best first; at most four.

    An answer is left out if it is empty, if its words repeat those of a better one, or if its
    answer columns have the same values, in any order of rows and columns. Each option starts with
    its distinctive words, if they are few. Empty if fewer than two remain. `count` is the number of
    rows, 1 for yes or no.
    """
    answers_by_outcome: dict[object, Answer] = {}
    used_words: set[tuple[str, ...]] = set()
    for answer in answers:
        outcome, words = _get_answer_values(answer), split_tokens(answer.words)
        if (
            outcome
            and outcome not in answers_by_outcome
            and words not in used_words
            and len(answers_by_outcome) < _MAX_OPTIONS_COUNT
        ):
            answers_by_outcome[outcome] = answer
            used_words.add(words)
    if len(answers_by_outcome) < 2:
        return ()
    texts = [answer.words for answer in answers_by_outcome.values()]
    split = [text.split() for text in texts]
    start = _count_common_words(split)
    end = _count_common_words([words[start:][::-1] for words in split])
    distinct = [words[start : len(words) - end] for words in split]
    if any(not 0 < len(words) <= min(_MAX_PREFIX_WORDS, start + end) for words in distinct):
        labels = list(texts)
    else:
        labels = [
            f"{' '.join(words).rstrip('.,')}: {text}"
            for words, text in zip(distinct, texts, strict=True)
        ]
    return tuple(
        Option(words, 1 if answer.boolean is not None else len(answer.result.rows), answer.query)
        for words, answer in zip(labels, answers_by_outcome.values(), strict=True)
    )


def _get_answer_values(answer: Answer) -> object:
    """Return the values of an answer, without context columns; None if there are none."""
    if answer.boolean is not None:
        return str(answer.boolean)
    variables = answer.result.variables
    columns = [variables.index(name) for name in answer.answer_columns if name in variables]
    rows = frozenset(
        tuple(sorted(str(row[column]) for column in columns or range(len(variables))))
        for row in answer.result.rows
    )
    return rows or None


def _count_common_words(texts: Sequence[Sequence[str]]) -> int:
    count = 0
    for words in zip(*texts, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count


TREES_FILE = Path(__file__).with_name("confidence.json")  # the trees that the package uses

EVIDENCE_FOR = frozenset(["score", "margin", "covered"])  # the evidence that speaks for an answer

SHAPE_EVIDENCE = frozenset(
    ["long", "patterns", "compares", "aggregates", "grouped", "ranked", "columns"]
)
"""The size of a query, which may count for it or against it; all other evidence is against."""

EVIDENCE = (
    EVIDENCE_FOR
    | SHAPE_EVIDENCE
    | {
        *("rivals", "disputed", "faults", "unused", "unused_names", "unheard", "left_out"),
        *("inexact", "beaten", "ambiguous", "weakest", "required", "spread", "groups"),
        *("unsaid", "unsaid_order", "unsaid_columns", "unsaid_conditions", "unheld"),
        *("head_missed", "scattered", "blemishes"),
    }
)
"""The names of all evidence of `collect_evidence`."""


def get_evidence_sign(name: str) -> int:
    """Return 1 for evidence for an answer, -1 for evidence against it, 0 for either."""
    return 0 if name in SHAPE_EVIDENCE else 1 if name in EVIDENCE_FOR else -1


Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"
"""A leaf; or the index of an evidence, a bound, and the trees up to the bound and above it."""


@dataclass(frozen=True)
class BoostedTrees:
    """Trees over named evidence, whose leaves add up to log-odds, from the log-odds `start`."""

    evidence: tuple[str, ...]
    start: float
    trees: tuple[Tree, ...] = ()

    def __call__(self, evidence: Mapping[str, float]) -> float:
        """Return the model's output (0–1) for evidence; missing evidence is 0."""
        values = [evidence.get(name, 0.0) for name in self.evidence]
        linear = self.start
        for tree in self.trees:
            while isinstance(tree, tuple):
                at, bound, below, above = tree
                tree = below if values[at] <= bound else above
            linear += tree
        if linear >= 0:
            return 1 / (1 + math.exp(-linear))
        odds = math.exp(max(linear, -700.0))  # exp(-linear) would be too large for a number
        return odds / (1 + odds)


def score_evidence(evidence: Mapping[str, float]) -> float:
    """Return the output (0–1) of the package's model for evidence."""
    return load_trees()(evidence)


@cache
def load_trees() -> BoostedTrees:
    """Return the trees of the package, over all evidence of `collect_evidence`."""
    return read_trees(TREES_FILE)


def read_trees(path: Path) -> BoostedTrees:
    """Read trees from a file.

    Raises:
        SetupError: the file is missing or contains no such model.
    """
    try:
        table = json.loads(path.read_text("utf-8"))
        names = tuple(table["evidence"])
        mismatched = sorted(set(names) ^ EVIDENCE)
        if mismatched:
            raise ValueError(
                f"each kind of evidence must occur once; check {', '.join(mismatched)}"
            )
        trees = tuple(_parse_tree(tree, len(names)) for tree in table["trees"])
        return BoostedTrees(names, _parse_number(table["start"]), trees)
    except (OSError, KeyError, AttributeError, TypeError, ValueError) as problem:
        raise SetupError(
            f"{str(path)!r} is not a confidence model ({problem}); create it again with "
            "tools/calibrate.py --write"
        ) from problem


def _parse_tree(node: object, evidence_count: int) -> Tree:
    if not isinstance(node, list):
        return _parse_number(node)
    at, bound, below, above = node
    if at not in range(evidence_count):
        raise ValueError(f"unknown evidence {at!r}")
    trees = (_parse_tree(tree, evidence_count) for tree in (below, above))
    return (at, _parse_number(bound), *trees)


def _parse_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


CURVE_FILE = Path(__file__).with_name("calibration.toml")  # the curve that the package uses


@dataclass(frozen=True)
class CurveKnot:
    """Pooled answers: their mean confidence, their mean score, and their effective number."""

    confidence: float
    probability: float
    answer_count: float


@dataclass(frozen=True)
class CalibrationCurve:
    """A piecewise linear curve through knots, in which both numbers rise."""

    knots: tuple[CurveKnot, ...]

    def __post_init__(self) -> None:
        """Raise `ValueError` unless the knots are a rising curve within (0, 1)."""
        is_within = all(
            0 <= k.confidence <= 1 and 0 < k.probability < 1 and k.answer_count > 0
            for k in self.knots
        )
        is_rising = all(
            a.confidence < b.confidence and a.probability <= b.probability
            for a, b in pairwise(self.knots)
        )
        if not (self.knots and is_within and is_rising):
            raise ValueError(
                "the knots of a curve must increase, with probabilities between 0 and 1"
            )

    def __call__(self, confidence: float) -> float:
        """Return the probability for a confidence, never 0 or 1.

        Beyond the last knots the curve continues to the bounds of their finite number of answers.
        """
        first, last = self.knots[0], self.knots[-1]
        points = [
            (0.0, min(first.probability, apply_succession_rule(0.0, first.answer_count))),
            *((knot.confidence, knot.probability) for knot in self.knots),
            (1.0, max(last.probability, apply_succession_rule(1.0, last.answer_count))),
        ]
        at = min(max(bisect_right(points, (confidence, 2.0)) - 1, 0), len(points) - 2)
        (lower_confidence, lower), (upper_confidence, upper) = points[at], points[at + 1]
        share = (
            (confidence - lower_confidence) / (upper_confidence - lower_confidence)
            if upper_confidence > lower_confidence
            else 1.0
        )
        return lower + min(1.0, max(0.0, share)) * (upper - lower)


def calibrate(confidence: float) -> float:
    """Return the probability that an answer of graph search with this confidence is right."""
    return _load_curve()(confidence)


def read_curve(path: Path) -> CalibrationCurve:
    """Read a curve from a file.

    Raises:
        SetupError: the file is missing or contains no curve.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        knots = (CurveKnot(*map(_parse_number, entry)) for entry in table["knots"])
        return CalibrationCurve(tuple(knots))
    except (OSError, KeyError, TypeError, ValueError) as problem:
        raise SetupError(
            f"{str(path)!r} is not a confidence curve ({problem}); create it again with "
            "tools/calibrate.py --write"
        ) from problem


@cache
def _load_curve() -> CalibrationCurve:
    return read_curve(CURVE_FILE)


def apply_succession_rule(score: float, answer_count: float) -> float:
    """Return a mean of `answer_count` scores bounded by the rule of succession, never 0 or 1."""
    return min((answer_count + 1) / (answer_count + 2), max(1 / (answer_count + 2), score))
