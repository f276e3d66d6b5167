"""Graph search in six steps: tokenize, link, expand, complete with operators, rank, decide.

`propose` runs the first five; `askgraph.search.decide.decide` is the last, for the best graph. A
remote graph is queried for the part that a question needs; the remaining work is pure computation
over arrays, off the event loop.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from pyoxigraph import NamedNode

from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays, Ids, Seeds, intersect
from askgraph.graph.literals import ValueKind
from askgraph.graph.measures import match_unit
from askgraph.index.names import ItemKind, NameIndex
from askgraph.index.names import split_tokens as words_in
from askgraph.search import glossary
from askgraph.search.decide import decide
from askgraph.search.expand.beam_search import expand
from askgraph.search.expand.nouns import (
    find_class_heads,
    keep_classes_of_nouns,
    link_generic_nouns,
    link_numbered_names,
    link_records,
    link_to_neighbours,
)
from askgraph.search.expand.schema import Schema, build_schema, link_question_word
from askgraph.search.link import (
    DescriptionRequest,
    GlossaryWord,
    Link,
    LinkedQuestion,
    link_question,
)
from askgraph.search.link.lexicon import quote_function_words, space_names
from askgraph.search.link.meaning_linking import link_by_meaning
from askgraph.search.link.spelling import correct_spelling
from askgraph.search.operators import build_candidates
from askgraph.search.query_pieces import get_predicate
from askgraph.search.rank import RankedCandidates, load_weights, rank
from askgraph.search.rank.faults import demote_faulty
from askgraph.search.tokenize import TokenizedQuestion, tokenize
from askgraph.search.tokenize.question_operators import (
    COMPARISON_SIGNS,
    Operator,
    QuestionOperators,
    detect_operators,
)
from askgraph.search.tokenize.requests import (
    drop_words_after,
    drop_words_before,
    find_request_end,
    find_request_start,
    is_occasion,
    move_topic,
)
from askgraph.search.tokenize.word_lists import LANGUAGES_WITH_CAPITAL_NOUNS
from askgraph.sparql import Path, Pattern
from askgraph.sparql.vocabulary import DURATION_DATATYPES, RDF_FIRST, RDF_REST
from askgraph.trace import Question

if TYPE_CHECKING:
    from askgraph.graph.remote_arrays import PartCache

__all__ = [
    "build_schema",
    "decide",
    "link_text",
    "link_to_graph",
    "load_schema",
    "propose",
    "propose_from_links",
]

_EPOCH_DAY_NUMBER = date(1970, 1, 1).toordinal()


async def propose(
    question: Question,
    graph: KnowledgeGraph,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    ranking: str = "",
) -> RankedCandidates:
    """Answer a question with ranked candidates; see `propose_from_links`.

    Args:
        states: the number of partial matches to complete.
        operators: whether to use counts, comparisons, orders and negations.
        today: the current day; the clock's if None.
        ranking: a file of weights; see `askgraph.search.rank`.

    Raises:
        ServiceError: a remote graph did not answer.
        SetupError: the file contains no ranking.
    """
    weights = load_weights(graph.name, ranking)

    definitions, text = glossary.load_definitions(graph) if graph.glossary else None, question.text
    if definitions is not None:
        text, lifted = glossary.remove_lifting_words(text, definitions.glossary)
        definitions = replace(definitions, lifted=lifted)

    async def propose_for_links(linked: LinkedQuestion) -> RankedCandidates:
        schema = await load_schema(linked, graph)
        if definitions is not None:
            arrays, profile = await definitions.extend(schema.graph, schema.profile, graph.endpoint)
            schema = build_schema(arrays, profile)
        if linked.glossary_words:
            linked = glossary.unite_classes(linked)
        return await asyncio.to_thread(
            propose_from_links,
            *(linked, schema),
            states=states,
            operators=operators,
            today=today,
            weights=weights,
        )

    tokenized = await asyncio.to_thread(tokenize, text, question.language)
    linked = await link_to_graph(tokenized, graph)
    if definitions is not None:
        definitions = definitions.select(linked)
    proposal = await propose_for_links(linked)
    if linked.glossary_words:
        proposal = _restore_classes(proposal, linked.glossary_words)
    if definitions is not None:
        candidates = definitions.restore(proposal.candidates, linked, proposal.schema)
        proposal = replace(proposal, candidates=tuple(candidates))
    return proposal


def _restore_list(node: Any, predicates: Set[str]) -> Any:
    """Return the pattern to the members of a list, which the search links directly."""
    if not isinstance(node, Pattern) or get_predicate(node) not in predicates:
        return node
    cells = Path("*", (NamedNode(RDF_REST),))
    return replace(node, predicate=Path("/", (node.predicate, cells, NamedNode(RDF_FIRST))))


def propose_from_links(
    linked: LinkedQuestion,
    schema: Schema,
    *,
    states: int = 150,
    operators: bool = True,
    today: date | None = None,
    weights: Mapping[str, float] | None = None,
) -> RankedCandidates:
    """Expand the links of a question, complete and rank the candidates.

    Args:
        linked: the linked question.
        schema: the graph's schema.
        states: the number of partial matches to complete.
        operators: whether to use counts, comparisons, orders and negations; otherwise all
            candidates are plain patterns.
        today: the current day; the clock's if None.
        weights: the weights of the ranking; the package's if None.
    """
    weights = load_weights("") if weights is None else weights
    lists = schema.graph.list_predicates
    if lists:
        schema = build_schema(schema.graph.flattened, schema.profile)
    heads = find_class_heads(linked, schema)
    if heads:
        linked, schema = glossary.unite_class_heads(linked, heads, schema)
    day = float((today or date.today()).toordinal() - _EPOCH_DAY_NUMBER)
    question = resolve_operators(linked, schema, day, operators=operators)
    expansion = expand(question.linked, question.operators, schema, weights, limit=states)
    candidates = build_candidates(expansion, question.description)
    explicit = tuple(item for item in question.operators.operators if item.mask)
    operators_of_words = replace(question.operators, operators=explicit)
    proposal = rank(candidates, question.linked, operators_of_words, schema, weights)
    proposal = demote_faulty(proposal, weights["faulty"])
    if lists:
        restored = glossary.rewrite(proposal.candidates, partial(_restore_list, predicates=lists))
        proposal = replace(proposal, candidates=tuple(restored))
    return _restore_classes(proposal, heads) if heads else proposal


def _restore_classes(
    proposal: RankedCandidates, words: tuple[GlossaryWord, ...]
) -> RankedCandidates:
    candidates = glossary.restore_classes(proposal.candidates, words, proposal.schema)
    return replace(proposal, candidates=tuple(candidates))


async def link_to_graph(reading: TokenizedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Link the words of a question to a graph's names.

    If the graph has further names at its endpoint, it is queried for those in the question.
    """
    linked = await asyncio.to_thread(_link_request, reading, graph.names)
    if graph.name_search is not None:
        from askgraph.search.link.endpoint_linking import link_with_endpoint  # most graphs lie here

        linked = await link_with_endpoint(linked, graph)
    if graph.glossary:
        linked = await asyncio.to_thread(glossary.link_glossary, linked, graph)
    return linked


def link_text(
    text: str, language: str | None, names: NameIndex, *, without: Collection[str] = ()
) -> LinkedQuestion:
    """Tokenize a question and link its words to local names."""
    return _link_request(tokenize(text, language), names, without=without)


_MAX_RECENT_LINKS = 4
_MIN_CLAUSE_NAME_SCORE = 0.9  # words of a clause that name something so well must not be lost


_RECENT_LINKS: WeakKeyDictionary[NameIndex, dict[object, LinkedQuestion]] = WeakKeyDictionary()
"""The last questions that were linked: similar examples and graph search read the same one."""


def _link_request(
    reading: TokenizedQuestion, names: NameIndex, *, without: Collection[str] = ()
) -> LinkedQuestion:
    if without:
        return _link_anew(reading, names, without=without)
    recent = _RECENT_LINKS.setdefault(names, {})
    key = reading.language, reading.text, tuple(token.text for token in reading.tokens)
    linked = recent.get(key) or _link_anew(reading, names)
    for old in [*recent][: len(recent) + 1 - _MAX_RECENT_LINKS]:
        recent.pop(old, None)
    recent[key] = linked
    return linked


def _link_anew(
    reading: TokenizedQuestion, names: NameIndex, *, without: Collection[str] = ()
) -> LinkedQuestion:
    """Link what a question asks for, without the clause before it that only says why."""
    # The clause remains if it names a thing or value that the request does not name.
    reading = move_topic(correct_spelling(space_names(reading, names), names))
    reading = quote_function_words(reading, names)
    linked = link_question(reading, names, without=without)
    end = find_request_end(reading)
    kinds = ItemKind.ENTITY, ItemKind.VALUE, ItemKind.CLASS
    has_name = any(  # "I mean the inner planets"
        link.positions[0] >= end and link.score >= _MIN_CLAUSE_NAME_SCORE
        for link in linked.get_links(*kinds)
    )
    if end < len(reading.tokens) and not has_name:
        reading = drop_words_after(reading, end)
        linked = link_question(reading, names, without=without)
    start = find_request_start(reading)
    if start and not _narrows_request(linked, start):
        linked = link_question(drop_words_before(reading, start), names, without=without)
    return linked if "vectors" in without else link_by_meaning(linked, names)


def _narrows_request(linked: LinkedQuestion, start: int) -> bool:
    """Return whether the words before a request have a name that the request lacks."""
    # "For the outer planets: …" narrows a request by any name of the graph, "I like planets: …" by
    # a name of a thing or value.
    reading = linked.reading
    kinds = tuple(ItemKind) if is_occasion(reading) else (ItemKind.ENTITY, ItemKind.VALUE)
    named = {link.target for link in linked.links if link.positions[-1] >= start}
    return any(
        link.positions[-1] < start
        and link.target not in named
        and min(link.similarity, link.quality) >= _MIN_CLAUSE_NAME_SCORE
        and not _is_common_word(linked, link)
        for link in linked.get_links(*kinds)
    ) or any(
        token.is_capitalized
        and not reading.is_stop(at)
        and reading.language not in LANGUAGES_WITH_CAPITAL_NOUNS
        for at, token in enumerate(reading.tokens[:start])
        if at
    )


def _is_common_word(linked: LinkedQuestion, link: Link) -> bool:
    """Return whether capitals are used in a question but not for a name: "a good mark"."""
    tokens = linked.reading.tokens
    return (
        link.kind in (ItemKind.ENTITY, ItemKind.VALUE)
        and link.name[:1].isupper()
        and all(tokens[at].text.islower() for at in link.positions)
        and any(token.is_capitalized for token in tokens)
    )


async def load_schema(linked: LinkedQuestion, graph: KnowledgeGraph) -> Schema:
    """Return the schema of a graph over the arrays around the links.

    Raises:
        ServiceError: a remote graph did not answer.
    """
    profile = (
        glossary.add_superclasses(graph.profile, linked.glossary_words)
        if linked.glossary_words
        else graph.profile
    )
    targets = {
        kind: tuple(dict.fromkeys(link.target for link in linked.get_links(kind)))
        for kind in ItemKind
    }
    seeds = Seeds(
        entities=targets[ItemKind.ENTITY],
        literals=targets[ItemKind.VALUE],
        classes=targets[ItemKind.CLASS],
        predicates=targets[ItemKind.PREDICATE],
    )
    return build_schema(await load_neighbourhood(graph, seeds), profile)


@dataclass(frozen=True, eq=False)
class ResolvedQuestion:
    """A linked question with its operators, and its request for a description, if any."""

    linked: LinkedQuestion
    operators: QuestionOperators
    description: DescriptionRequest | None = None


def resolve_operators(
    linked: LinkedQuestion, schema: Schema, day: float, *, operators: bool = True
) -> ResolvedQuestion:
    """Resolve a question in a graph on a day.

    Args:
        linked: the linked question.
        schema: the graph's schema.
        day: the day, in days from 1970-01-01.
        operators: whether to use operators; if not, the question has no counts, comparisons,
            orders or negations.
    """
    linked = replace(linked, reading=linked.reading.resolve_dates(day))
    linked = link_generic_nouns(link_records(follow_redirects(linked, schema), schema), schema)
    linked = link_to_neighbours(link_numbered_names(linked, schema), schema)
    description = _detect_description(linked)
    frame = detect_operators(linked.reading, linked.scales)
    frame = _drop_misread_operators(frame, linked, schema)
    linked = keep_classes_of_nouns(linked, frame)
    if linked.glossary_words:
        frame = glossary.add_implied_sums(frame, linked)
    frame = detect_groups(detect_named_years(frame, linked), linked)
    linked, frame = detect_name_filters(linked, frame, schema)
    frame = resolve_times(frame, schema, day)
    if description is not None and description.lead_word_count:
        lead = description.lead_word_count
        remaining = tuple(item for item in frame.operators if item.first >= lead)
        frame = replace(frame, operators=(Operator("describe", 0, lead - 1), *remaining), asks=None)
    if not operators:
        frame = replace(frame, operators=())
    return ResolvedQuestion(link_question_word(linked, frame, schema), frame, description)


def follow_redirects(linked: LinkedQuestion, schema: Schema) -> LinkedQuestion:
    """Add links to the things that others were merged into.

    A merged thing has only names; it remains if anything else leads to it. If the question names
    the redirecting predicate, the links stay as they are.
    """
    if any(
        schema.get_predicate_number(link.target) in schema.redirects
        for link in linked.get_links(ItemKind.PREDICATE)
    ):
        return linked
    links: dict[tuple[ItemKind, str, tuple[int, ...]], Link] = {}
    names: dict[str, str] = {}
    for link in linked.links:
        node = (
            schema.find_node(link.target)
            if link.kind is ItemKind.ENTITY and schema.redirects
            else None
        )
        target = None if node is None else schema.find_merge_target(node)
        if node is not None and target is not None:
            iri = schema.graph.terms.get_value(target)
            names.setdefault(iri, link.name)
            links.setdefault((link.kind, iri, link.positions), replace(link, target=iri))
            entering = schema.graph.get_predicates(np.array([node], dtype=np.int32), inverse=True)
            if entering <= schema.redirects:
                continue
        links.setdefault((link.kind, link.target, link.positions), link)
    return replace(linked, links=tuple(links.values()), merged=names) if names else linked


_MIN_NAME_SCORE = 0.9  # minimum score of words that name the graph's own term


def detect_named_years(frame: QuestionOperators, linked: LinkedQuestion) -> QuestionOperators:
    """Read "per year" as "per" and the graph's own year, if it has one by that name."""
    positions = {
        link.positions
        for link in linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
        if link.score >= _MIN_NAME_SCORE and len(link.positions) == 1
    }
    operators = (
        replace(operator, name="each", last=operator.last - 1)
        if operator.name in ("monthly", "yearly")
        and (operator.last,) in positions
        and operator.last > operator.first
        else operator
        for operator in frame.operators
    )
    return replace(frame, operators=tuple(operators))


def _drop_misread_operators(
    frame: QuestionOperators, linked: LinkedQuestion, schema: Schema
) -> QuestionOperators:
    """Drop operators whose word is part of a name or a number: "non commercial", "first floor"."""
    words, lists, arrays = frame.reading.folded_words, frame.reading.word_list, schema.graph
    links = [link for link in linked.links if link.score >= _MIN_NAME_SCORE]

    def is_misread(operator: Operator) -> bool:
        word, after = words[operator.first], operator.last + 1
        next_links = [link for link in links if link.positions[0] == after]
        if operator.name == "not":
            return word in lists.clauses["prefix"] and not next_links
        if operator.name != "superlative" or lists.ordinals.get(word) != 1:
            return False
        numbers = (schema.get_predicate_number(link.target) for link in next_links)
        for ends in (arrays.get_ends(x, inverse=True) for x in numbers if x is not None):
            literals = ends[ends < arrays.terms.first_iri]
            is_number = arrays.sorts[literals] == ValueKind.NUMBER
            if np.any(arrays.values[literals][is_number] == 1):
                return True
        return False

    return replace(frame, operators=tuple(x for x in frame.operators if not is_misread(x)))


_AGGREGATES = ("count", "average", "sum", "minimum", "maximum")


def detect_groups(frame: QuestionOperators, linked: LinkedQuestion) -> QuestionOperators:
    """Read "by" as "for each": "the average height by country".

    This requires an aggregate before it, and names of classes or properties on both sides, the
    second exactly as the graph writes it: "written by authors" or "by an author" is no grouping.
    With a count, a part of a name is enough if it ends the question without a capital letter.
    """
    reading, aggregates = linked.reading, frame.get_operators(*_AGGREGATES)
    strong_links = [
        item
        for item in linked.links
        if item.score >= _MIN_NAME_SCORE and item.kind is not ItemKind.VALUE
    ]
    exact_links = [
        item
        for item in strong_links
        if {reading.folded_words[at] for at in item.positions} <= {*words_in(item.name)}
    ]
    thing_positions = {
        at for item in exact_links if item.kind is ItemKind.ENTITY for at in item.positions
    }
    nouns = {item.positions[-1] for item in exact_links}
    nouns |= {item.positions[-1] for item in strong_links if item.kind is ItemKind.CLASS}
    is_name = any(token.is_capitalized for token in reading.tokens[-1:])
    is_name = is_name and reading.language not in LANGUAGES_WITH_CAPITAL_NOUNS
    last = len(reading.tokens) - 1 if frame.get_operators("count") and not is_name else -1
    parts = linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
    groups = {item.positions[0] for item in exact_links if item.kind is not ItemKind.ENTITY}
    groups |= {x.positions[0] for x in parts if x.positions[-1] == last and x.quality == 1.0}
    groups -= thing_positions
    multiword_positions = {
        at for item in frame.operators if item.first < item.last for at in item.positions
    }
    inner_positions = {
        at
        for item in strong_links
        for at in range(item.positions[0] + 1, item.positions[-1])
        if at not in item.positions
    }  # "free per FSF" names one property: there is nothing to group by
    by_positions = {
        at
        for at, word in enumerate(reading.folded_words)
        if word in reading.word_list.clauses["by"] and at not in multiword_positions
        if at - 1 in nouns and at + 1 in groups and any(item.last < at for item in aggregates)
    }
    remaining = (
        item
        for item in frame.operators
        if by_positions.isdisjoint(item.positions)
        and not (item.name == "each" and inner_positions.issuperset(item.positions))
    )
    operators = (*remaining, *(Operator("each", at, at) for at in by_positions))
    return replace(frame, operators=tuple(sorted(operators, key=lambda item: item.first)))


_MIN_NAMESAKE_COUNT, _MIN_PLURAL_NAMESAKE_COUNT = 3, 2
"""Minimum number of things of a class with a word in their names; the same before a plural."""


def detect_name_filters(
    linked: LinkedQuestion, frame: QuestionOperators, schema: Schema
) -> tuple[LinkedQuestion, QuestionOperators]:
    """Read a word in names of a class's instances as a filter: "all Gemini flights".

    This requires that no name is the word itself, and that several instances have it in their
    names. The word then links to no single thing.
    """
    reading, links = linked.reading, linked.links
    strong_links = [item for item in links if item.score >= _MIN_NAME_SCORE]
    if (span := _find_stated_name(linked, strong_links)) is not None:
        operator = Operator("called", span.start, span.stop - 1)
        operators = tuple(
            item for item in frame.operators if span.stop <= item.first or item.last < span.start
        )
        frame = replace(frame, operators=(*operators, operator))
        remaining_links = tuple(item for item in links if {*span}.isdisjoint(item.positions))
        return replace(linked, links=remaining_links), frame
    explained = {at for item in strong_links for at in item.positions}
    explained.update(at for item in frame.operators for at in item.positions)
    targets_by_position: dict[int, set[str]] = {}
    for item in linked.get_links(ItemKind.ENTITY):
        at = item.positions[0]
        if len(item.positions) == 1 and reading.tokens[at].is_capitalized and at not in explained:
            targets_by_position.setdefault(at, set()).add(item.target)
    for at, targets in targets_by_position.items():
        for cls in strong_links:
            beside = (cls.positions[0] - 1, cls.positions[-1] + 1)
            if cls.kind is not ItemKind.CLASS or at not in beside:
                continue
            noun = reading.tokens[cls.positions[-1]]
            is_before_plural = at < cls.positions[0] and noun.stem != noun.folded
            minimum = _MIN_PLURAL_NAMESAKE_COUNT if is_before_plural else _MIN_NAMESAKE_COUNT
            namesakes = intersect(schema.get_instances(cls.target), _find_nodes(targets, schema))
            if len(namesakes) >= minimum:
                operators = (*frame.operators, Operator("called", at, at))
                remaining = (
                    x for x in links if x.kind is not ItemKind.ENTITY or x.positions != (at,)
                )
                return replace(linked, links=tuple(remaining)), replace(frame, operators=operators)
    return linked, frame


def _find_stated_name(linked: LinkedQuestion, strong_links: Sequence[Link]) -> range | None:
    """Return the words of the name in a question for a thing of that name."""
    # It asks nothing else: "Is there a planet called Mars?", "Which moon is named Titan?".
    reading = linked.reading
    count = len(reading.tokens)
    for cls in strong_links:
        after = cls.positions[-1] + 1
        start = next(
            (
                at
                for at in range(after, count)
                if not (reading.is_stop(at) or reading.tokens[at].stem in reading.word_list.naming)
            ),
            count,
        )
        stop = next(
            (at for at in range(start, count) if not reading.tokens[at].is_capitalized), count
        )
        if (
            cls.kind is ItemKind.CLASS
            and all(map(reading.is_stop, range(cls.positions[0])))
            and any(
                reading.tokens[at].stem in reading.word_list.naming for at in range(after, start)
            )
            and start < stop
            and all(map(reading.is_stop, range(stop, count)))
        ):
            return range(start, stop)
    return None


def _find_nodes(iris: Iterable[str], schema: Schema) -> Ids:
    """Return the nodes of the IRIs that are in the graph, sorted."""
    nodes = (schema.graph.terms.find_iri(item) for item in iris)
    return np.array(sorted(item for item in nodes if item is not None), dtype=np.int32)


_SPAN_OPERATORS = frozenset("now past during ongoing lasted".split())
_DURATION_OPERATORS = ("lasting", "measure")


def resolve_times(frame: QuestionOperators, schema: Schema, today: float) -> QuestionOperators:
    """Adapt the time operators to a graph on a day.

    In a graph with starts and ends, each date that is no argument of another operator becomes an
    "at" operator; without them, time words are no operators. "In miles" is an operator if the graph
    has numbers with a unit.

    Args:
        frame: the operators.
        schema: the graph's schema.
        today: the day, in days from 1970-01-01.
    """
    frame = replace(frame, today=today)
    has_spans = bool(schema.spans)
    has_dates = has_spans or bool(schema.times.dates)
    datatypes = {schema.get_datatype(number) for number in schema.predicates}
    has_durations = not datatypes.isdisjoint(DURATION_DATATYPES)
    operators = [
        resolved
        for operator in frame.operators
        for resolved in _resolve_time_operator(
            frame, operator, has_spans=has_spans, has_dates=has_dates, has_durations=has_durations
        )
    ]
    if has_spans:
        timed = replace(frame, operators=tuple(operators))
        dates = [x for x in timed.reading.quantities if x.days and not timed.is_argument(x)]
        free = [x for x in dates if not sum(1 << at for at in x.positions) & timed.mask]
        operators += [Operator("at", quantity.first, quantity.last) for quantity in free]
    operators += list(_find_unit_operators(replace(frame, operators=tuple(operators)), schema))
    return replace(frame, operators=tuple(sorted(operators, key=lambda operator: operator.first)))


def _resolve_time_operator(
    frame: QuestionOperators,
    operator: Operator,
    *,
    has_spans: bool,
    has_dates: bool,
    has_durations: bool,
) -> Iterator[Operator]:
    tokens = frame.reading.tokens
    if operator.name == "lasting":
        verbs = {phrase[0] for phrase in frame.reading.word_list.operators["lasted"]}
        lasts = not verbs.isdisjoint(frame.reading.folded_words[operator.last + 1 :])
        yield (
            operator
            if has_spans and lasts
            else replace(operator, name="count", last=operator.first + 1)
        )
    elif operator.name == "now":
        if has_dates:
            yield operator
    elif operator.name in _SPAN_OPERATORS:
        words = tuple(tokens[at].folded for at in operator.positions)
        if has_spans or (operator.name == "lasted" and has_durations):
            yield operator
        elif words in frame.reading.word_list.operators["not"]:
            yield replace(operator, name="not")
    elif (has_spans or has_durations) and _is_duration_verb(frame, operator):
        yield replace(operator, name="lasted", measure=None)
    else:
        yield operator


def _is_duration_verb(frame: QuestionOperators, operator: Operator) -> bool:
    """Return whether "last" is the verb: "how long did it last?", "that last over 2 hours"."""
    words = tuple(frame.reading.tokens[at].folded for at in operator.positions)
    questions = frame.get_operators(*_DURATION_OPERATORS)
    is_duration_question = any(item.first < operator.first for item in questions)
    comparisons = frame.get_operators(*COMPARISON_SIGNS)
    is_compared = any(item.first == operator.last + 1 for item in comparisons)
    is_last = operator.last == len(frame.reading.tokens) - 1
    return (
        operator.name == "superlative"
        and (is_compared or (is_duration_question and is_last))
        and words in frame.reading.word_list.operators["lasted"]
    )


def _find_unit_operators(frame: QuestionOperators, schema: Schema) -> Iterator[Operator]:
    """Yield the operator for "in miles" without a number before it."""
    words = tuple(token.folded for token in frame.reading.tokens)
    quantity_positions = {
        at for quantity in frame.reading.quantities for at in quantity.positions_with_unit
    }
    for at in range(len(words)):
        for phrase in frame.reading.word_list.time_phrases["in_unit"]:
            start = at + len(phrase)
            match = match_unit(words, start) if words[at:start] == phrase else None
            if match is None or start in quantity_positions or frame.mask >> start & 1:
                continue
            units = filter(None, map(schema.get_unit, schema.predicates))
            if match[0].dimension in {unit.dimension for unit in units}:
                yield Operator("in_unit", at, start + match[1] - 1)
                return


_MIN_DESCRIBED_SCORE, _MIN_BARE_NAME_SCORE = 0.45, 0.8
"""Minimum score of a described thing, and of one whose name is the full question."""
_MAX_DESCRIBED_COUNT = 3  # maximum number of namesakes to describe one by one


def _detect_description(linked: LinkedQuestion) -> DescriptionRequest | None:
    """Return the request for a description; None for any other question."""
    reading = linked.reading
    words, size = reading.word_list.description_phrases, len(reading.tokens)
    lead = next((len(phrase) for phrase in words["lead"] if reading.has_phrase_at(phrase, 0)), 0)
    first, last = lead, size - 1
    if size > lead and (reading.folded_words[lead],) in reading.word_list.time_phrases["one"]:
        return None  # "what is a moon?" asks for a kind of thing
    fillers = {phrase[0] for phrase in words["around"]}
    while first <= last and reading.folded_words[first] in fillers:
        first += 1
    while last >= first and reading.folded_words[last] in fillers:
        last -= 1
    content = {at for at in range(first, last + 1) if not reading.is_stop(at)}
    if not content:
        return None
    links: list[Link] = []
    tokens = range(first, last + 1)
    has_lead = lead > 0
    min_score = _MIN_DESCRIBED_SCORE if has_lead else _MIN_BARE_NAME_SCORE
    if not has_lead:
        nouns = (
            link
            for link in linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE)
            if content <= {*link.positions}
        )
        min_score = max([min_score, *(link.score for link in nouns)])
    for link in linked.get_links(ItemKind.ENTITY, ItemKind.VALUE):
        is_covering = content <= {*link.positions} and {tokens[0], tokens[-1]} <= {*link.positions}
        if is_covering and link.score >= min_score:
            links.append(link)
    return DescriptionRequest(tuple(links[:_MAX_DESCRIBED_COUNT]), lead) if links else None


_COMPLETE_ARRAYS: WeakKeyDictionary[NameIndex, GraphArrays] = WeakKeyDictionary()
_PART_CACHES: "WeakKeyDictionary[NameIndex, PartCache]" = WeakKeyDictionary()


async def load_neighbourhood(graph: KnowledgeGraph, seeds: Seeds) -> GraphArrays:
    """Return the arrays around the seeds, fetched from the endpoint for a remote graph.

    A remote graph that was fetched completely is cached as long as its names are in use, also for
    the same graph behind another endpoint wrapper.

    Raises:
        ServiceError: Nothing can be fetched.
    """
    local_arrays = _COMPLETE_ARRAYS.get(graph.names) if graph.arrays is None else graph.arrays
    if local_arrays is not None:
        return local_arrays
    from askgraph.graph.remote_arrays import PartCache, fetch_neighbourhood  # most graphs lie here

    predicates = graph.profile.predicates
    arrays = await fetch_neighbourhood(
        graph.endpoint,
        seeds,
        triples=graph.profile.triples,
        counts={p.iri: (p.triples, p.subjects, p.objects) for p in predicates},
        naming=[p.iri for p in predicates if p.naming == "name"],
        links=[p.iri for p in predicates if not p.literal],
        own_types=dict(graph.profile.types),
        kept=_PART_CACHES.setdefault(graph.names, PartCache()),
    )
    if arrays.complete:
        _COMPLETE_ARRAYS[graph.names] = arrays
    return arrays
