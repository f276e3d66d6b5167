"""Link words of a question to names that the graph's endpoint finds, beside the local ones.

If a graph has too many names to load, its endpoint is queried once per question for the stretches
of words that may be names. The result is indexed for this question alone.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

from askgraph import plugins
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.index.name_search import PLAIN, NamedItem, NameSearch, SelectEndpoint
from askgraph.index.names import IndexedName, ItemKind, NameIndex, split_tokens
from askgraph.search.link import LinkedQuestion, add_links, link_question
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.search.tokenize.question_operators import detect_operators
from askgraph.sparql import vocabulary as v
from askgraph.sparql.results import to_plain_value

_MAX_TEXTS: Final = 12  # maximum number of spans to query
_MAX_SPAN_WORDS: Final = 6  # maximum number of words of a span, including function words
_MAX_FUNCTION_WORDS_BETWEEN: Final = 3  # function words allowed between two words of a name
_MAX_THINGS_PER_TEXT: Final = 20  # things to query for one text
_MAX_NAMESAKES: Final = 6
"""Things of one name that a question may mean; of more, only the likeliest are retained."""
_MAX_INSPECTED_NAMESAKES, _MAX_MENTIONED_NAMES, _MATCH_WEIGHT = 200, 20, 1_000
"""Namesakes inspected; predicates or classes compared; sitelinks that one match is worth."""
_MAX_SAMPLED_PREDICATES, _MAX_SAMPLED_ROWS = 5, 500
"""Predicates sampled for incoming links, and triples of each."""
_IGNORED_PREDICATES = frozenset((v.RDF_TYPE, v.RDFS_SUB_CLASS_OF, v.OWL_SAME_AS))
"""Predicates whose links do not make a thing more likely."""
_MAX_CACHED_TEXTS: Final = 5000  # texts of one graph whose things are remembered
_FULL_NAME_SHARE: Final = 0.9  # from this similarity on all of a name is there
_DIFFERENT_NAMES_NOTE: Final = (
    "The endpoint's search for names gave things that are called otherwise."
)
_NO_NAMES_NOTE: Final = (
    "No predicate of the graph carries names: its things have nothing but their IRIs."
)
_NAME_WEIGHT, _WORD_WEIGHT = 2, 1
"""Likelihood of a word as part of a name: quoted or capitalized; any other content word."""

_ThingsByText = Mapping[str, Sequence[NamedItem]]
_CACHE: WeakKeyDictionary[NameSearch, OrderedDict[tuple[str, str], Sequence[NamedItem]]]
_CACHE = WeakKeyDictionary()


@dataclass(frozen=True, order=True)
class WordSpan:
    """A stretch of the question's words, from token `first` up to but excluding `end`."""

    first: int
    end: int

    def get_text(self, reading: TokenizedQuestion) -> str:
        """Return its words as written in the question."""
        return reading.text[reading.tokens[self.first].start : reading.tokens[self.end - 1].end]


async def link_with_endpoint(linked: LinkedQuestion, graph: KnowledgeGraph) -> LinkedQuestion:
    """Add links to things that a graph's endpoint finds for the words."""
    # If its search fails, or returns things with different names, exact labels are queried instead.
    # The notes report failures and the languages of the names.
    search, reading = graph.name_search, linked.reading
    texts = {span: span.get_text(reading) for span in find_spans(linked)}
    if search is None or not texts:
        return linked
    span_texts = tuple(texts.values())
    entities_by_text, notes = await _search_names(
        search, graph.endpoint, span_texts, reading.language
    )
    shares_words = any(
        not {*split_tokens(text)}.isdisjoint(split_tokens(name))
        for text, entities in entities_by_text.items()
        for entity in entities
        for name, _ in entity.names
    )
    if any(entities_by_text.values()) and not shares_words:
        notes = (_DIFFERENT_NAMES_NOTE,)
    if notes:
        fallback = plugins.load("name_search", PLAIN)(replace(search.settings, location=""))
        entities_by_text, more_notes = await _search_names(
            fallback, graph.endpoint, span_texts, reading.language
        )
        notes = (*notes, *more_notes)
    entities = _remove_partial_matches(
        {span: entities_by_text.get(text, ()) for span, text in texts.items()}, reading
    )
    entities = await _select_likeliest(entities, linked, graph)
    schema = {profile.iri for profile in graph.profile.classes}
    schema |= {profile.iri for profile in graph.profile.predicates}
    names = [
        IndexedName(text, entity.iri, ItemKind.ENTITY)
        for entity in entities
        if entity.iri not in schema
        for text, _ in entity.names
    ]
    if names:
        more_links = await asyncio.to_thread(link_question, reading, NameIndex.from_names(names))
        linked = add_links(linked, more_links.links)
    notes = (*notes, *_describe_languages(entities, reading.language))
    if not entities and not search.settings.predicates:
        notes = (*notes, _NO_NAMES_NOTE)
    return replace(linked, notes=(*linked.notes, *notes))


async def _select_likeliest(
    entities: list[NamedItem], linked: LinkedQuestion, graph: KnowledgeGraph
) -> list[NamedItem]:
    """Return the things, of too many with one name only those that fit the question best."""
    # These have the predicates and classes that it mentions; then those with the most sitelinks, or
    # the most incoming links in a sample if nothing has sitelinks.
    namesakes: dict[tuple[str, ...], dict[str, None]] = {}
    for entity in entities:
        for name, _ in entity.names:
            namesakes.setdefault(tuple(split_tokens(name)), {})[entity.iri] = None
    crowded = [
        [*iris][:_MAX_INSPECTED_NAMESAKES]
        for iris in namesakes.values()
        if len(iris) > _MAX_NAMESAKES
    ]
    if not crowded:
        return entities
    scores = Counter[str]()
    with suppress(QueryError, ServiceError):
        query = _build_evidence_query(
            sorted({iri for group in crowded for iri in group}), linked, graph
        )
        for iri, match, links in (await graph.endpoint.select(query)).rows:
            scores[to_plain_value(iri) or ""] += (
                _MATCH_WEIGHT if match else int(to_plain_value(links) or 0)
            )
    dropped = {
        iri
        for group in crowded
        for iri in sorted(group, key=lambda iri: -scores[iri])[_MAX_NAMESAKES:]
    }
    return [entity for entity in entities if entity.iri not in dropped]


def _build_evidence_query(
    subjects: Sequence[str], linked: LinkedQuestion, graph: KnowledgeGraph
) -> str:
    """Build the query for the mentioned predicates, classes and link counts of things."""
    typing = dict(graph.profile.types).get(v.RDF_TYPE, v.RDF_TYPE)
    values = f"VALUES ?s {{ {' '.join(f'<{iri}>' for iri in subjects)} }}"
    mentioned = {
        kind: " ".join(
            dict.fromkeys(
                f"<{item.target}>" for item in linked.get_links(kind)[:_MAX_MENTIONED_NAMES]
            )
        )
        for kind in (ItemKind.PREDICATE, ItemKind.CLASS)
    }
    parts = (
        f"{values} VALUES ?fits {{ {mentioned[ItemKind.PREDICATE]} }} ?s ?fits ?o",
        f"{values} VALUES ?fits {{ {mentioned[ItemKind.CLASS]} }} ?s <{typing}> ?fits",
        *(
            [f"{values} ?s <{v.WIKIBASE_SITELINKS}> ?links"]
            if any(item.iri == v.WIKIBASE_SITELINKS for item in graph.profile.predicates)
            else _build_incoming_link_queries(values, graph)
        ),
    )
    union = " UNION ".join(f"{{ {part} }}" for part in parts)
    return f"SELECT DISTINCT ?s ?fits ?links {{ {union} }}"


def _build_incoming_link_queries(values: str, graph: KnowledgeGraph) -> Iterator[str]:
    """Yield queries that count incoming links by the most common predicates, in a sample."""
    common = sorted(graph.profile.predicates, key=lambda predicate: -predicate.triples)
    counted = [p for p in common if p.object_classes and p.iri not in _IGNORED_PREDICATES]
    for predicate in counted[:_MAX_SAMPLED_PREDICATES]:
        sample = f"SELECT ?s ?o {{ {values} ?o <{predicate.iri}> ?s }} LIMIT {_MAX_SAMPLED_ROWS}"
        yield f"SELECT ?s (COUNT(?o) AS ?links) {{ {{ {sample} }} }} GROUP BY ?s"


def _describe_languages(entities: Sequence[NamedItem], language: str) -> tuple[str, ...]:
    """Return a note on the languages of the names, if the question's is not among them."""
    tags = {tag.partition("-")[0] for entity in entities for _, tag in entity.names}
    if not tags or tags & {"", "mul", language}:
        return ()
    return (f"The names that the endpoint found are in {', '.join(sorted(tags))} only.",)


def find_spans(linked: LinkedQuestion) -> tuple[WordSpan, ...]:
    """Return the stretches of words that may name a thing, likeliest first, at most 12."""
    # Quotations and capitalized words within the question come first, longer before shorter.
    # Operator words, numbers, and names of classes and predicates are not names by themselves.
    reading, used = linked.reading, _find_used_tokens(linked)
    is_all_capitals = reading.text.isupper()
    weights: list[int] = []
    for at, token in enumerate(reading.tokens):
        is_capitalized = token.is_capitalized and not is_all_capitals
        if token.text[0].isdigit() and at:
            weights.append(weights[-1])  # the number of a name: "Apollo 11"
        elif token.quote is not None or (is_capitalized and at and at not in used):
            weights.append(_NAME_WEIGHT)
        elif at in used or reading.is_stop(at):
            weights.append(_WORD_WEIGHT if is_capitalized and at else 0)
        else:
            weights.append(_WORD_WEIGHT)
    ranks: dict[WordSpan, tuple[float, int]] = {}
    for run in _find_runs(reading, weights):
        for first in range(run.first, run.end):
            for end in range(first + 1, min(run.end, first + _MAX_SPAN_WORDS) + 1):
                span_weights = [span for span in weights[first:end] if span]
                has_free_word = any(weights[at] and at not in used for at in range(first, end))
                if has_free_word and weights[first] and weights[end - 1]:
                    ranks[WordSpan(first, end)] = (
                        sum(span_weights) / len(span_weights),
                        len(span_weights),
                    )
    return tuple(
        sorted(ranks, key=lambda span: (*(-span_weights for span_weights in ranks[span]), span))
    )[:_MAX_TEXTS]


def _find_used_tokens(linked: LinkedQuestion) -> frozenset[int]:
    """Return the tokens of operators, units, classes and predicates."""
    reading = linked.reading
    used = {
        at for item in detect_operators(reading, linked.scales).operators for at in item.positions
    }
    used |= {at for item in reading.quantities for at in item.positions_with_unit}
    for item in linked.get_links(ItemKind.CLASS, ItemKind.PREDICATE):
        if item.similarity > _FULL_NAME_SHARE and item.quality > _FULL_NAME_SHARE:
            used |= {*item.positions}
    return frozenset(at for at in used if reading.tokens[at].quote is None)


def _find_runs(reading: TokenizedQuestion, weights: Sequence[int]) -> Iterator[WordSpan]:
    """Yield the longest stretches that may be names; function words may occur within capitals."""
    first = last = -1
    for at, weight in enumerate(weights):
        if not weight:
            continue
        if first < 0 or _is_separated(reading, weights, last, at):
            if first >= 0:
                yield WordSpan(first, last + 1)
            first = at
        last = at
    if first >= 0:
        yield WordSpan(first, last + 1)


def _is_separated(reading: TokenizedQuestion, weights: Sequence[int], last: int, at: int) -> bool:
    first, second = reading.tokens[last], reading.tokens[at]
    gap = reading.text[first.end : second.start]
    if first.quote != second.quote or any(mark in gap for mark in ",;?!()"):
        return True
    between = at - last - 1
    return between > 0 and (
        between > _MAX_FUNCTION_WORDS_BETWEEN or min(weights[last], weights[at]) < _NAME_WEIGHT
    )


async def _search_names(
    search: NameSearch, endpoint: SelectEndpoint, texts: Sequence[str], language: str
) -> tuple[_ThingsByText, tuple[str, ...]]:
    """Return the things of each text, cached or queried together, and a note if it failed."""
    cache = _CACHE.setdefault(search, OrderedDict())
    missing = [text for text in dict.fromkeys(texts) if (text, language) not in cache]
    notes: tuple[str, ...] = ()
    try:
        if missing:
            results = await search.search(
                endpoint, missing, languages=(language,), limit=_MAX_THINGS_PER_TEXT
            )
            cache.update(zip([(text, language) for text in missing], results, strict=True))
    except (QueryError, ServiceError) as error:
        notes = (f"The endpoint's search for names failed: {error}",)
    entities_by_text = {text: cache[text, language] for text in texts if (text, language) in cache}
    while len(cache) > _MAX_CACHED_TEXTS:
        cache.popitem(last=False)
    return entities_by_text, notes


def _remove_partial_matches(
    entities_by_span: Mapping[WordSpan, Sequence[NamedItem]], reading: TokenizedQuestion
) -> list[NamedItem]:
    """Return the things, without those of a part of words that are a thing's full name."""
    full_names = [
        span
        for span, entities in entities_by_span.items()
        if (words := split_tokens(span.get_text(reading)))
        and any(split_tokens(name) == words for entity in entities for name, _ in entity.names)
    ]
    return [
        entity
        for span, entities in entities_by_span.items()
        if not any(
            full_name.first <= span.first and span.end <= full_name.end and full_name != span
            for full_name in full_names
        )
        for entity in entities
    ]
