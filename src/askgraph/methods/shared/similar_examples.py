"""Similar examples: the query of another wording of a question, with its names and numbers changed.

The examples nearest to a question by word vectors are compared with it: their words, their form,
their operators, and the names and numbers that only one of both has. A logistic model gives the
chance that an example's query answers the question. The answer of a method and the one of the best
example are weighed by their results and confidences.
"""

import math
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from pyoxigraph import Literal, NamedNode, Variable
from rapidfuzz import fuzz

from askgraph.answers.validation.graph_knowledge import NameScope
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.endpoint import CountingEndpoint
from askgraph.errors import QueryError, QuerySyntaxError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import QueryExample, Wording, find_confirmed, normalize_question
from askgraph.graph.literals import parse_term
from askgraph.index.names import ItemKind, NameIndex, split_tokens, stem_word
from askgraph.methods.settings import load_texts
from askgraph.methods.tools import Context, ToolLimits
from askgraph.methods.tools.hits import look_up_types
from askgraph.methods.tools.query_run import answer_query
from askgraph.methods.tools.term_text import extract_iris
from askgraph.search.decide import MAX_DOUBTED_CONFIDENCE
from askgraph.search.link import Link
from askgraph.search.link.word_vectors import Vectors, combine_words, find_vector
from askgraph.search.pipeline import link_text
from askgraph.search.query_pieces import find_aggregates, get_function, list_negated_groups
from askgraph.search.tokenize import TokenizedQuestion, build_question_form, compare_forms, tokenize
from askgraph.search.tokenize.question_operators import (
    COMPARISON_SIGNS,
    QuestionOperators,
    detect_operators,
)
from askgraph.search.tokenize.word_lists import get_shared_words
from askgraph.sparql import Call, Group, Pattern, Query, transform, walk
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import to_text, to_tree
from askgraph.trace import Answer, Clarification, Question, Refusal, Step, Usage

__all__ = [
    "SimilarExample",
    "find_same_example",
    "find_similar_example",
    "prefer_examples",
    "weigh_examples",
]

_WEIGHTS: Mapping[str, float] = load_texts("examples")["weights"]
_MAX_KEPT_INDICES = 4  # callers of a server have confirmed different examples
_MAX_COMPARED_WORDINGS = 16  # wordings that are compared word by word
_MIN_LIKENESS = 0.5  # minimum likeness of an example that may answer a question
_MAX_READ_EXAMPLES = 8  # examples whose words are compared with their queries
_MAX_ADAPTED_EXAMPLES = 4  # examples in the question's language that are compared in detail
_MIN_CHANCE = 0.15  # minimum chance of an example whose query is run
_TYPICAL_SIMILARITY = 0.9  # likeness of the nearest of many examples with another meaning
_MIN_SURE_EXPLAINED = 0.8  # minimum share of the question's words that a sure example explains
_MIN_MENTION_LIKENESS = 0.5  # minimum likeness of a word and the value that it means
_MAX_UNLIKE_CHANCE = 0.5  # the most that is believed where the word for a value is another one
_MAX_CHANCE = 0.98  # the most that is believed of a similar example
_MIN_UNCONFIRMED_CHANCE = 0.5  # minimum chance of an example that needs no agreement
_UNCONFIRMED_FACTOR = 0.59  # factor of an unsure example that the method contradicts
_AGREEMENT_WEIGHT = 0.5  # the answers of a method and of an example have errors in common
_MIN_SURE_CHANCE = 0.95  # the chance from which an example answers without the method
_MIN_SCHEMA_SCORE = 0.9  # minimum score of the name of a class or property that counts
_MIN_LINK_SCORE = 0.6  # minimum score of a name that a question has
_MIN_NAME_SCORE = 0.95  # the same for a name that takes the place of another one
_MAX_DIFFERENCE_COUNT = 3  # more differences of a kind count no more
_TIMEOUT_SECONDS = 20.0
_MIN_SAME_COVERAGE = 0.65  # minimum coverage of both questions if one counts and one lists
_MIN_SAME_FORM = 0.8  # minimum likeness of two forms that differ in a class
_MIN_PREDICATED = 0.5  # minimum coverage of the words beside the names of a question
_ASKED = {"person": "person", "place": "place", "number": "number", "date": "date", "year": "date"}
_DIMENSION_COUNT = 128  # numbers of a word's vector
_OPERATOR_KINDS: Mapping[str, list[str]] = load_texts("examples")["operators"]
_SIGNS = {"most": "+", "top": "+", "maximum": "+", "fewest": "-", "minimum": "-"}
_SIGNS |= {name: sign[0] for name, sign in COMPARISON_SIGNS.items() if sign[0] in "<>"}
_MEASURED_SIGNS = {"superlative": "-+", "comparative": "<>"}
_OPPOSITE_SIGNS = ({"<", ">"}, {"-", "+"})
_OPPOSITE_COMPARISONS = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_QUOTATION = re.compile(r"[\"“”„«‘]\s*([^\"“”„«»‘’]+?)\s*[\"“”»’]")
_CODE = re.compile(r"\b[^\W\d_]+\d\w*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class SimilarExample:
    """An example whose query may answer a question."""

    example: QueryExample
    query: str  # the query with the names and numbers of the question
    chance: float  # the chance that it answers the question, 0 to 1
    wording: str  # the wording of the example that is nearest to the question


@dataclass(frozen=True, eq=False)
class _Reading:
    """A question as it is compared."""

    text: str
    language: str | None

    @cached_property
    def tokenized(self) -> TokenizedQuestion:
        """Its tokens."""
        return tokenize(self.text, self.language)

    @cached_property
    def words(self) -> tuple[tuple[str, str], ...]:
        """The content words, each with its stem, without numbers."""
        content = [word for word in self.plain_words if not word.isdigit()]
        return tuple((word, stem_word(word)) for word in content or self.plain_words)

    @cached_property
    def vector(self) -> Vectors | None:
        """The unit vector of its words without function words."""
        return combine_words(self.plain_words)

    @cached_property
    def form(self) -> tuple[str, ...]:
        """Its structure without the names in it."""
        return build_question_form(self.text, self.language)

    @cached_property
    def detected(self) -> QuestionOperators:
        """Its operators with their places."""
        return detect_operators(self.tokenized)

    @cached_property
    def operators(self) -> Counter[str]:
        """Its operators by name."""
        return Counter([*(item.name for item in self.detected.operators), self.detected.asks or ""])

    @cached_property
    def directions(self) -> tuple[str, ...]:
        """The signs of its comparisons (`<`, `>`) and extremes (`-`, `+`), but for those of age."""
        found = list[str]()
        for item in self.detected.operators:
            pair = _MEASURED_SIGNS.get(item.name, "")
            if pair and item.measure is not None and not item.measure.date_names:
                found.append(pair[item.measure.is_upward])
            elif not pair and item.name in _SIGNS:
                found.append(_SIGNS[item.name])
        return tuple(found)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its operators: count, group, extreme, average, sum, negation."""
        return frozenset(
            kind for kind, names in _OPERATOR_KINDS.items() if self.operators & Counter(names)
        )

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Its numbers in digits, in order."""
        quantities = self.tokenized.quantities
        spelled = (f"{item.value:g}" for item in quantities if item.is_spelled and item.value)
        return tuple(dict.fromkeys([*_NUMBER.findall(self.text), *spelled]))

    @cached_property
    def quotations(self) -> tuple[str, ...]:
        """Its texts in quotation marks."""
        return tuple(dict.fromkeys(_QUOTATION.findall(self.text)))

    @cached_property
    def plain_words(self) -> tuple[str, ...]:
        """Its words without function words."""
        words = split_tokens(self.text)
        stop_words = get_shared_words().stop_words.get((self.language or "en")[:2], frozenset())
        return tuple(word for word in words if word not in stop_words) or tuple(words)

    @cached_property
    def stems(self) -> str:
        """The stems of its words."""
        return " ".join(map(stem_word, self.plain_words))

    @cached_property
    def folded_text(self) -> str:
        """All its words, between spaces."""
        return f" {' '.join(split_tokens(self.text))} "

    @cached_property
    def main_language(self) -> str:
        """Its language without a region."""
        return (self.language or self.tokenized.language).split("-")[0].lower()

    def is_foreign_to(self, other: "_Reading") -> bool:
        """Return whether another question is in another language."""
        return self.main_language != other.main_language

    def has_text(self, value: str) -> bool:
        """Return whether a number or the words of a text are in the question, in any order."""
        words = split_tokens(value)
        return value in self.numbers or (
            bool(words) and all(f" {word} " in self.folded_text for word in words)
        )


_Neighbour = tuple[QueryExample, _Reading, float]
"""An example, its wording that is nearest to a question, and their likeness."""


_read_question = lru_cache(maxsize=4096)(_Reading)


@dataclass(frozen=True, eq=False)
class _ExampleIndex:
    """The wordings of examples with their unit vectors; `links` has those of compared wordings."""

    examples: tuple[QueryExample, ...]
    owners: tuple[QueryExample, ...]
    wordings: tuple[Wording, ...]
    vectors: Vectors
    by_wording: Mapping[str, Sequence[QueryExample]]  # by their normalized wordings
    links: dict[str, Sequence[Link]] = field(default_factory=dict)

    @classmethod
    def build(cls, examples: tuple[QueryExample, ...]) -> "_ExampleIndex":
        """Read the wordings of examples."""
        owners, wordings, vectors = [], [], []
        by_wording: dict[str, list[QueryExample]] = {}
        for example in examples:
            for text in dict.fromkeys(example.normalized_wordings):
                by_wording.setdefault(text, []).append(example)
            for wording in example.wordings:
                vector = _Reading(wording.text, wording.language).vector
                if vector is not None:
                    owners.append(example)
                    wordings.append(wording)
                    vectors.append(vector)
        stacked = np.array(vectors, np.float32)
        return cls(examples, tuple(owners), tuple(wordings), stacked, by_wording)

    def find_nearest(self, reading: _Reading) -> Iterator[_Neighbour]:
        """Yield the nearest examples first, each with its nearest wording and the likeness."""
        if reading.vector is None or not self.owners:
            return
        cosines = np.einsum("ij,j->i", self.vectors, reading.vector)  # no threads for so little
        count = min(_MAX_COMPARED_WORDINGS, len(cosines))
        nearest: dict[int, _Neighbour] = {}
        for at in np.argpartition(-cosines, count - 1)[:count].tolist():
            owner, wording = self.owners[at], self.wordings[at]
            other = _read_question(wording.text, wording.language)
            shared = fuzz.token_set_ratio(reading.stems, other.stems)
            same = fuzz.token_sort_ratio(reading.text, wording.text)
            likeness = float(cosines[at]) + 0.003 * (shared + same)
            if id(owner) not in nearest or nearest[id(owner)][2] < likeness:
                nearest[id(owner)] = owner, other, likeness
        yield from sorted(nearest.values(), key=lambda item: -item[2])


_indices: WeakKeyDictionary[NameIndex, list[_ExampleIndex]] = WeakKeyDictionary()


def _load_index(graph: KnowledgeGraph) -> _ExampleIndex:
    """Return the index of a graph's examples; those of the last few callers are kept."""
    indices = _indices.setdefault(graph.names, [])
    own = graph.examples
    index = next((it for it in indices if it.examples is own or it.examples == own), None)
    if index is None:
        index = _ExampleIndex.build(tuple(own))
        indices[:] = [*indices, index][-_MAX_KEPT_INDICES:]
    return index


def find_same_example(question: Question, graph: KnowledgeGraph) -> QueryExample | None:
    """Return the latest confirmed example of the same question, or None."""
    if not graph.examples:
        return None
    same = _load_index(graph).by_wording.get(normalize_question(question.text), ())
    return find_confirmed(question.text, question.language, same)


def find_similar_example(question: Question, graph: KnowledgeGraph) -> SimilarExample | None:
    """Return the example that most probably answers a question, None without a probable one."""
    similar = (item for item, _ in weigh_examples(question, graph, least=_MIN_CHANCE))
    return max(similar, key=lambda item: item.chance, default=None)


def weigh_examples(
    question: Question, graph: KnowledgeGraph, *, least: float = 0.0
) -> Iterator[tuple[SimilarExample, dict[str, float]]]:
    """Yield the nearest examples, adapted, each with its evidence.

    Args:
        least: the minimum chance; if above 0, no example is less sure than those before it.
    """
    index, language = _load_index(graph), question.language
    reading = _Reading(question.text, language or tokenize(question.text).language)
    nearest = [item for item in index.find_nearest(reading) if item[2] >= _MIN_LIKENESS]
    links = link_text(reading.text, reading.language, graph.names).links if nearest else ()
    compared = sorted(
        _compare_nearest(reading, nearest, links), key=lambda item: -estimate_chance(item[3])
    )
    for at, (example, wording, read_query, evidence) in enumerate(compared):
        if at >= _MAX_ADAPTED_EXAMPLES and not evidence["foreign"]:
            continue
        if estimate_chance(evidence) < least:  # later evidence can only lower it
            return
        query = _adapt_operators(read_query, wording, reading)
        if query is None:
            continue
        operators, example_operators = reading.operators, wording.operators
        differing = ((operators - example_operators) + (example_operators - operators)).total()
        kinds = [
            next((_ASKED[name] for name in names if name in _ASKED), "")
            for names in (operators, example_operators)
        ]
        evidence |= {
            "form": compare_forms(reading.form, wording.form),
            "operators": min(differing, _MAX_DIFFERENCE_COUNT),
            "asks": 0.0 if kinds[0] == kinds[1] else 1.0 if all(kinds) else 0.5,
            "unserved": float(len(reading.kinds - query.kinds)),
            "unasked": float(len(query.kinds - reading.kinds)),
        }
        if estimate_chance(evidence) < least:
            continue
        adapted = _adapt_example(query, wording, reading, links, graph, index.links)
        if least > 0 and adapted.is_other:
            continue
        evidence |= {"missing": float(adapted.is_other), "extra": adapted.extra_count}
        chance = estimate_chance(evidence)
        if adapted.is_unlike or not evidence["linked"]:  # "songs on X", "when did X come out"
            chance = min(chance, _MAX_UNLIKE_CHANCE)
        if chance >= least:
            least = chance if least else 0.0
            yield SimilarExample(example, adapted.query, chance, wording.text), evidence


def _compare_nearest(
    reading: _Reading, nearest: Sequence[_Neighbour], links: Sequence[Link]
) -> Iterator[tuple[QueryExample, _Reading, "_ExampleQuery", dict[str, float]]]:
    """Yield the nearest examples, each with the evidence of its words."""
    names = {
        reading.tokenized.tokens[at].stem
        for link in _select_whole_names(list(_select_names(links).values()))
        for at in link.positions
    }
    for example, wording, likeness in nearest[:_MAX_READ_EXAMPLES]:
        try:
            query = _read_query(example.query)
        except QuerySyntaxError:
            continue
        rivals = (item[2] for item in nearest if item[0].query.split() != example.query.split())
        words = tuple(word for word in reading.words if word[1] not in names)
        example_words = tuple(word for word in wording.words if word[1] not in names)
        evidence = {
            "form": 1.0,
            **dict.fromkeys(("operators", "asks", "unserved", "unasked", "missing", "extra"), 0.0),
            "foreign": float(reading.is_foreign_to(wording)),
            "explained": _measure_coverage(reading.words, wording.words, query.name_words),
            "mentioned": _measure_coverage(wording.words, reading.words),
            "predicated": _measure_coverage(words, example_words, query.name_words),
            "named": float(len(words) < len(reading.words)),
        }
        evidence |= {"likeness": likeness, "linked": _measure_linked(links, query.iris)}
        evidence["margin"] = likeness - max([_TYPICAL_SIMILARITY, *rivals])
        yield example, wording, query, evidence


def _measure_linked(links: Sequence[Link], iris: Collection[str]) -> float:
    """Return the share (0–1) of the linked classes and properties that a query uses."""
    kinds = (ItemKind.CLASS, ItemKind.PREDICATE)
    links_to_schema = [
        link for link in links if link.kind in kinds and link.score >= _MIN_SCHEMA_SCORE
    ]
    return (
        sum(link.target in iris for link in links_to_schema) / len(links_to_schema)
        if links_to_schema
        else 0.5
    )


def estimate_chance(evidence: Mapping[str, float]) -> float:
    """Estimate the chance (0–1) that an example's query answers the question.

    It is only sure if the query has all names, numbers and operators, and no others.
    """
    least = _MIN_PREDICATED * (0.5 if evidence["foreign"] else 1)
    if evidence["named"] and evidence["predicated"] < least:
        return 0.0  # only the name is the same: "songs on X", "when did X come out"
    both = min(evidence["explained"], evidence["mentioned"])  # the worse of the two coverages
    combined = {
        **evidence,
        "both": both,
        "both_form": both * evidence["form"],
        "both_linked": both * evidence["linked"],
        "both_squared": both**2,
        "unexplained": evidence["named"] * (1 - evidence["predicated"]),
        "unfit": float(evidence["unasked"] + evidence["unserved"] > 0),
    }
    linear = _WEIGHTS["bias"] + sum(
        _WEIGHTS.get(name, 0.0) * value for name, value in combined.items()
    )
    differs = any(evidence[name] for name in ("unserved", "unasked", "missing", "extra"))
    is_doubted = differs or evidence["explained"] < _MIN_SURE_EXPLAINED
    maximum = MAX_DOUBTED_CONFIDENCE if is_doubted else _MAX_CHANCE
    return min(1 / (1 + math.exp(-linear)), maximum)


@lru_cache(maxsize=1024)  # without names, two shares are of the same words
def _measure_coverage(
    words: tuple[tuple[str, str], ...], *other_words: tuple[tuple[str, str], ...]
) -> float:
    """Return the share (0–1) of words, by weight, that the other words mean too."""
    stems = {stem for phrase in other_words for _, stem in phrase}
    vectors, weights = _stack_vectors(words)
    units = np.concatenate([_stack_units(phrase) for phrase in other_words])
    nearest = (vectors @ units.T).max(1, initial=0.0)
    is_same = np.array([stem in stems for _, stem in words])
    total = float(weights.sum())
    return float(np.where(is_same, weights, nearest).sum()) / total if total else 1.0


@lru_cache(maxsize=4096)
def _stack_vectors(words: tuple[tuple[str, str], ...]) -> tuple[Vectors, Vectors]:
    """Return the vectors of words, zeros for unknown ones, and their weights in a phrase."""
    vectors = [find_vector(word) for word, _ in words]
    rows = [np.zeros(_DIMENSION_COUNT, np.float32) if item is None else item for item in vectors]
    weights = [1.0 if item is None else float(np.linalg.norm(item)) for item in vectors]
    return np.array(rows, np.float32).reshape(-1, _DIMENSION_COUNT), np.array(weights, np.float32)


@lru_cache(maxsize=4096)
def _stack_units(words: tuple[tuple[str, str], ...]) -> Vectors:
    """Return the unit vectors of words, zeros for unknown ones."""
    vectors, weights = _stack_vectors(words)
    units: Vectors = np.divide(
        vectors, np.where(weights > 0, weights, 1)[:, None], dtype=np.float32
    )
    return units


@dataclass(frozen=True)
class _ExampleQuery:
    """The query of an example."""

    text: str
    tree: Query
    iris: Mapping[str, NameScope]  # its IRIs, and whether each is a predicate
    texts: tuple[str, ...]  # the texts of its literals and of its limit
    name_words: tuple[tuple[str, str], ...]  # the words of the names of its IRIs
    kinds: frozenset[str]  # the kinds of its operators


@dataclass(frozen=True)
class _Adaptation:
    """The query of an example with the names and numbers of a question."""

    query: str
    is_other: bool  # whether the query still has a name that only the example mentions
    is_unlike: bool  # whether the question has another word for a value of the query
    extra_count: int  # numbers and quotations of the question that the query lacks, 3 at most


def _adapt_operators(
    example: _ExampleQuery, wording: _Reading, reading: _Reading
) -> _ExampleQuery | None:
    """Turn comparisons, extremes and counts of a query as the question says; None if that fails."""
    tree, old, new = example.tree, wording.directions, reading.directions
    if len(old) == len(new) == 1 and {*old, *new} in _OPPOSITE_SIGNS:
        if (turned := _turn_direction(tree, new[0])) is None:
            return None
        tree = turned
    coverages = (
        _measure_coverage(first.words, second.words)
        for first, second in ((reading, wording), (wording, reading))
    )
    is_grouped = bool(tree.group_by or tree.having or tree.limit)
    has_count, had_count = ("count" in item.kinds for item in (reading, wording))
    is_same = has_count == had_count or min(coverages) < _MIN_SAME_COVERAGE
    parts = () if is_same else walk(tree.where)
    subjects = {part.subject for part in parts if isinstance(part, Pattern)}
    match () if is_same else tree.columns:
        case ((Variable() as variable, None), *_) if has_count and not had_count:
            if variable in subjects and not is_grouped and not example.kinds:
                call = Call("COUNT DISTINCT", (variable,))
                columns = ((Variable(f"number_of_{variable.value}"), call),)
                tree = replace(tree, columns=columns, distinct=False, order=())
        case ((_, Call(arguments=(Variable() as variable,)) as call),):
            if had_count and not has_count and get_function(call) == "COUNT" and not is_grouped:
                tree = replace(tree, columns=((variable, None),), distinct=True)
    return example if tree is example.tree else _read_query(to_text(tree))


def _turn_direction(tree: Query, sign: str) -> Query | None:
    """Return a query with the opposite of its only comparison or extreme; else None."""
    opposites = {"MAX": "MIN", "MIN": "MAX"} if sign in "+-" else _OPPOSITE_COMPARISONS
    calls = [part for part in walk(tree) if isinstance(part, Call) and part.name in opposites]
    if sign in "+-" and tree.limit and len(tree.order) == 1 and not calls:
        [(key, is_descending)] = tree.order
        return replace(tree, order=((key, not is_descending),))
    if len({*calls}) != 1 or (sign in "+-" and tree.order):
        return None
    turned: Query = transform(
        tree, lambda part: replace(part, name=opposites[part.name]) if part in calls else part
    )
    return turned


def _adapt_example(
    example: _ExampleQuery,
    wording: _Reading,
    reading: _Reading,
    links: Sequence[Link],
    graph: KnowledgeGraph,
    known_links: dict[str, Sequence[Link]],
) -> _Adaptation:
    """Put the names and numbers of a question in the place of those of an example."""
    tree, texts = example.tree, example.texts
    classes = {cls.iri for cls in graph.profile.classes}
    iris = [iri for iri, kind in example.iris.items() if kind == "entities" and iri not in classes]
    numbers = _pair_numbers(wording, reading, texts)
    named_texts = [text for text in texts if wording.has_text(text) and text not in numbers]
    lost = [text for text in named_texts if not reading.has_text(text)]
    names = dict[str, str]()
    kinds = (
        {link.target for link in links if link.kind is ItemKind.CLASS and link.score >= score}
        for score in (_MIN_LINK_SCORE, _MIN_NAME_SCORE)
    )
    possible_classes, named_classes = kinds
    is_alike = compare_forms(reading.form, wording.form) >= _MIN_SAME_FORM
    fresh = [iri for iri in named_classes if is_alike and iri not in example.iris]
    targets, arrays = _select_names(links), graph.arrays
    nameable = [iri for iri in iris if arrays is None or arrays.terms.find_iri(iri) is not None]
    has_values = any(link.kind is ItemKind.VALUE for link in targets.values())
    is_hopeless = bool(lost) and not has_values and not reading.is_foreign_to(wording)
    has_pairs = bool(lost or nameable) and not is_hopeless
    fresh = [] if is_hopeless else fresh
    if (has_pairs or fresh) and wording.text not in known_links:
        known_links[wording.text] = link_text(wording.text, wording.language, graph.names).links
    if has_pairs:
        names, lost = _pair_names((lost, iris), known_links[wording.text], links, graph)
    old_classes = {
        link.target
        for link in (known_links[wording.text] if fresh else ())
        if link.kind is ItemKind.CLASS and link.score >= _MIN_NAME_SCORE
    }
    fresh = [iri for iri in fresh if iri not in old_classes]
    replaced = [iri for iri in old_classes - possible_classes if iri in example.iris]
    if len(fresh) == len(replaced) == 1:
        names[replaced[0]] = f"<{fresh[0]}>"

    def change(part: object) -> object:
        if isinstance(part, NamedNode) and part.value in names:
            return parse_term(names[part.value])
        if not isinstance(part, Literal):
            return part
        if part.value in names:
            return parse_term(names[part.value])
        value = _NUMBER.sub(lambda match: numbers.get(match[0], match[0]), part.value)
        if value == part.value or part.language:
            return part
        return Literal(value, datatype=part.datatype)

    limit = numbers.get(str(tree.limit), "")
    changed: Query = transform(tree, change) if names or numbers else tree
    changed = replace(changed, limit=int(limit)) if limit.isdigit() else changed
    query = to_text(changed) if changed is not tree else example.text
    extra = [text for text in (*reading.numbers, *reading.quotations) if text not in query]
    tokens = reading.tokenized.tokens
    for link in _select_whole_names(list(targets.values())):
        words = " ".join(tokens[at].text for at in link.positions)
        if link.target not in query and not wording.has_text(words):
            extra.append(words)
    constants = [text for text in (*texts, *iris) if text not in {*names, *numbers, *targets}]
    mentions = [_compare_mention(constant, wording, reading) for constant in constants]
    if reading.is_foreign_to(wording):  # "North", and "Norden"
        lost = [text for text in lost if _compare_mention(text, wording, reading)]
    codes = (code for code in _CODE.findall(reading.text) if not wording.has_text(code))
    has_other_code = any(code.casefold() not in query.casefold() for code in codes)
    is_other = bool(lost) or "other" in mentions or has_other_code
    is_unlike = "unlike" in mentions or len(fresh) == len(replaced) > 1
    return _Adaptation(query, is_other, is_unlike, min(len(extra), _MAX_DIFFERENCE_COUNT))


def _compare_mention(constant: str, wording: _Reading, reading: _Reading) -> str:
    """Return what is wrong with how a question mentions a constant of an example, if anything."""
    words = split_tokens(split_local_name(constant) if "://" in constant else constant)
    stems, own_stems = (set(item.stems.split()) for item in (reading, wording))
    constant_stems = {stem_word(word) for word in words}
    units = _stack_units(tuple((word, word) for word in words if word.isalpha()))
    if mentioned := constant_stems & own_stems:
        is_foreign = reading.is_foreign_to(wording)
        likeness = (_stack_units(reading.words) @ units.T).max(initial=0) if is_foreign else 0
        return "" if mentioned <= stems or likeness >= _MIN_MENTION_LIKENESS else "other"
    if not len(units):
        return ""
    likeness = (_stack_units(wording.words) @ units.T).max(1)
    at = int(likeness.argmax())
    is_same = likeness[at] < _MIN_MENTION_LIKENESS or wording.words[at][1] in stems
    return "" if is_same else "unlike"


@lru_cache(maxsize=4096)
def _read_query(query: str) -> _ExampleQuery:
    """Read the query of an example; raise `QuerySyntaxError` if it cannot be read."""
    tree, iris = to_tree(query), extract_iris(query)
    texts = [term.value for term in walk(tree) if isinstance(term, Literal)]
    texts += [str(tree.limit)] if (tree.limit or 0) > 1 else []
    words = ((word, word) for iri in iris for word in split_tokens(split_local_name(iri)))
    functions = {get_function(item) for item in find_aggregates(tree)}
    names = {"COUNT": "count", "AVG": "average", "SUM": "sum", "MAX": "extreme", "MIN": "extreme"}
    kinds = {names[name] for name in functions if name in names}
    kinds |= {"group"} if tree.group_by else set()
    kinds |= {"extreme"} if tree.order and tree.limit else set()
    negated = any(
        list_negated_groups(group) for group in walk(tree.where) if isinstance(group, Group)
    )
    kinds |= {"negation"} if negated else set()
    return _ExampleQuery(query, tree, iris, tuple(texts), tuple(words), frozenset(kinds))


def _pair_numbers(wording: _Reading, reading: _Reading, texts: Sequence[str]) -> dict[str, str]:
    """Return the numbers that only the example has, with the question's own if it has as many."""
    old = [item for item in wording.numbers if item not in reading.numbers]
    old = [item for item in old if any(item in _NUMBER.findall(text) for text in texts)]
    new = [item for item in reading.numbers if item not in wording.numbers]
    return dict(zip(old, new, strict=True)) if len(old) == len(new) else {}


def _pair_names(
    constants: tuple[Sequence[str], Sequence[str]],
    own_links: Sequence[Link],
    links: Sequence[Link],
    graph: KnowledgeGraph,
) -> tuple[dict[str, str], list[str]]:
    """Return what takes the place of constants that the question lacks, and those without."""
    texts, iris = constants
    old_names, new_names = _select_names(own_links), _select_names(links)
    lost = [*texts, *(iri for iri in iris if iri in old_names and iri not in new_names)]
    fresh = [link for target, link in new_names.items() if target not in old_names]
    fresh = _select_whole_names(fresh)
    names: dict[str, str] = {}
    for constant in lost:
        kind = ItemKind.ENTITY if constant in iris else ItemKind.VALUE
        types = _list_types(constant, graph) if kind is ItemKind.ENTITY else ()
        fitting = {
            link.target
            for link in fresh
            if link.kind is kind and (not types or types == _list_types(link.target, graph))
        }
        if len(fitting) == 1:
            [target] = fitting
            names[constant] = f"<{target}>" if kind is ItemKind.ENTITY else target
    return names, [constant for constant in lost if constant not in names]


def _select_names(links: Sequence[Link]) -> dict[str, Link]:
    """Return the things and values that a question names, each with its best link."""
    kinds = (ItemKind.ENTITY, ItemKind.VALUE)
    names = [link for link in links if link.kind in kinds and link.score >= _MIN_LINK_SCORE]
    return {link.target: link for link in reversed(names)}


def _select_whole_names(links: Sequence[Link]) -> list[Link]:
    """Return the links with whole names that are in no longer name."""
    return [
        link
        for link in links
        if link.score >= _MIN_NAME_SCORE
        and not any(set(link.positions) < set(other.positions) for other in links)
    ]


def _list_types(iri: str, graph: KnowledgeGraph) -> tuple[str, ...]:
    return look_up_types(graph.arrays, f"<{iri}>") if graph.arrays is not None else ()


async def prefer_examples(
    question: Question, graphs: Sequence[KnowledgeGraph], steps: AsyncIterator[Step]
) -> AsyncGenerator[Step, None]:
    """Yield the steps of a method; a similar example's answer takes the place of a less sure one.

    A sure example answers at once. Two answers with the same result confirm each other.
    """
    answer = await answer_from_similar(question, graphs)
    if answer is not None and answer.confidence >= _MIN_SURE_CHANCE:
        yield answer
        return
    try:
        async for step in steps:
            is_outcome = isinstance(step, Answer | Clarification | Refusal)
            yield _choose_outcome(step, answer) if is_outcome and answer is not None else step
    finally:
        if isinstance(steps, AsyncGenerator):
            await steps.aclose()


def _choose_outcome(outcome: Step, similar: Answer) -> Step:
    """Return the surer of two outcomes; an equal result raises the confidence."""
    best = outcome if isinstance(outcome, Answer) else getattr(outcome, "best", None)
    confidence = best.confidence if isinstance(best, Answer) else 0.0
    usage = getattr(outcome, "usage", Usage()) + similar.usage
    if isinstance(best, Answer) and _has_same_result(best, similar):
        low, high = sorted((confidence, similar.confidence))
        joint = min(high + (1 - high) * low * _AGREEMENT_WEIGHT, _MAX_CHANCE)
        wording = similar.words.casefold()  # it has the example's question
        unused = tuple(word for word in best.unused_words if word.casefold() not in wording)
        joint = round(high if unused else max(high, joint), 4)
        surer = similar if similar.confidence > confidence else best
        return replace(surer, confidence=joint, usage=usage, unused_words=unused)
    is_unconfirmed = similar.confidence < _MIN_UNCONFIRMED_CHANCE
    if similar.confidence < confidence:
        return outcome
    factor = _UNCONFIRMED_FACTOR if is_unconfirmed else 1.0
    return replace(similar, confidence=round(similar.confidence * factor, 4), usage=usage)


def _has_same_result(first: Answer, second: Answer) -> bool:
    """Return whether the answer columns of two answers have the same values."""
    if first.boolean is not None or second.boolean is not None:
        return first.boolean == second.boolean
    columns = [
        {frozenset(answer.result.get_column(name)) for name in answer.answer_columns}
        for answer in (first, second)
    ]
    return columns[0] == columns[1]


async def answer_from_similar(
    question: Question, graphs: Sequence[KnowledgeGraph]
) -> Answer | None:
    """Return the answer by the query of the most similar example of several graphs, or None."""
    if question.before:
        return None
    started = time.perf_counter()
    similar_examples = [
        (graph, item) for graph in graphs if (item := find_similar_example(question, graph))
    ]
    graph, similar = max(similar_examples, key=lambda pair: pair[1].chance, default=(None, None))
    if graph is None or similar is None:
        return None
    endpoint = CountingEndpoint(graph.endpoint)
    limits = ToolLimits(timeout=_TIMEOUT_SECONDS)
    context = Context(replace(graph, endpoint=endpoint), question, limits)
    try:
        answer = await answer_query(context, similar.query, confidence=round(similar.chance, 4))
    except (QueryError, ServiceError):
        return None
    if answer.is_empty:
        return None
    phrases = load_phrases(question.language or "en")
    words = f"{answer.words} {phrases.say('similar example', phrases.quote(similar.wording))}"
    usage = Usage(time.perf_counter() - started, endpoint.requests)
    return replace(answer, words=words, usage=usage)
