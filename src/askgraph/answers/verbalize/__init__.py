"""Readings: queries read back in plain words, by their trees, without a language model.

Contents: a lexical model of properties (`lexicon`), facts about them from the graph
(`schema_facts`), words for terms (`names`), and the grammar: `forms` of a clause in each language,
`nouns` and `clauses` of a group, `listing` and `sentence` of a query. `labels` fetches the labels
of terms. Start reading at `verbalize_query`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from pyoxigraph import NamedNode

from askgraph.answers.verbalize.labels import (
    MAX_LABELS,
    detect_label_language,
    distinguish_labels,
    fetch_term_descriptions,
    fetch_term_labels,
    list_texts,
)
from askgraph.answers.verbalize.names import Names
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.answers.verbalize.schema_facts import SchemaFacts, collect_facts
from askgraph.answers.verbalize.sentence import Sentence
from askgraph.answers.verbalize.shown_names import drop_shown_names
from askgraph.answers.verbalize.triples import TripleReader
from askgraph.errors import QuerySyntaxError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.sparql import Call, Query, walk
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import to_tree
from askgraph.sparql.vocabulary import RDF_TYPE

__all__ = [
    "MAX_LABELS",
    "TripleReader",
    "describe_confidence",
    "describe_merged_names",
    "describe_taught_words",
    "detect_label_language",
    "distinguish_labels",
    "drop_shown_names",
    "fetch_term_descriptions",
    "fetch_term_labels",
    "list_iris",
    "list_query_iris",
    "list_texts",
    "verbalize_query",
    "verbalize_query_for_graph",
    "verbalize_with_names",
]

_MAX_CHARACTERS = 10_000
"""Characters of a query: the time grows with the square of the patterns."""
_CONFIDENCES = ((0.85, "sure"), (0.6, "fairly sure"), (0.35, "unsure"), (0.0, "a guess"))


def verbalize_query(
    query: Query | str,
    labels: Mapping[str, str],
    *,
    language: str = "en",
    nouns: str | None = None,
    facts: SchemaFacts | None = None,
) -> str:
    """Return a query in one or two sentences of plain words.

    Args:
        query: The query, or its text.
        labels: The labels of its IRIs (see `list_query_iris`); other IRIs are split into words.
        language: English, German, Spanish or French; others read English.
        nouns: The language of the labels if it is another one; empty if unknown.
        facts: Knowledge of the terms from the graph: people, dates, units.

    Returns:
        The words; an error phrase for a text that is no query or exceeds 10,000 characters.

    >>> verbalize_query("SELECT ?s { ?s a <http://x/Singer> ; <http://x/country> 'France' }", {})
    'Singers whose country is “France”.'
    """
    return verbalize_with_names(query, Names(labels, load_phrases(language, nouns), facts=facts))


def verbalize_query_for_graph(
    query: Query | str,
    labels: Mapping[str, str],
    graph: KnowledgeGraph,
    language: str,
    *,
    near: GraphArrays | None = None,
) -> str:
    """Return a query in words, with what a graph shows of its terms."""
    with contextlib.suppress(QuerySyntaxError):
        query = drop_shown_names(to_tree(query), graph)
    nouns = detect_label_language(graph, language)
    facts = collect_facts(list_query_iris(query), graph, language, near)
    return verbalize_query(query, labels, language=language, nouns=nouns, facts=facts)


def verbalize_with_names(query: Query | str, names: Names) -> str:
    """Return a query in words by these names for its terms, in their language."""
    text = names.phrases.say("unreadable")
    if isinstance(query, Query) or len(query) <= _MAX_CHARACTERS:
        with contextlib.suppress(QuerySyntaxError, RecursionError):
            text = Sentence(to_tree(query), names).write_title()
    return names.phrases.punctuate(text)


def list_query_iris(query: Query | str) -> tuple[str, ...]:
    """Return the distinct IRIs that `verbalize_query` names, in order; none if unreadable."""
    try:
        return list_iris(to_tree(query))
    except QuerySyntaxError:
        return ()


def list_iris(part: object) -> tuple[str, ...]:
    """Return the IRIs in a part of a query's tree that words name, each once, in order."""
    iris: dict[str, None] = {}
    for node in walk(part):
        if isinstance(node, NamedNode):
            iris[node.value] = None
        elif isinstance(node, Call) and node.name[0] == "<" and node.name[-1] == ">":
            iris[node.name[1:-1]] = None
    iris.pop(RDF_TYPE, None)
    return tuple(iris)


def describe_confidence(confidence: float) -> str:
    """Return a confidence between 0 and 1 as words and a number."""
    words = next(words for bound, words in _CONFIDENCES if confidence >= bound)
    return f"{words} ({confidence:.2f})"


def describe_merged_names(merged: Mapping[str, str], language: str) -> list[str]:
    """Return a sentence for each name of a thing that was merged into another, by its label."""
    phrases = load_phrases(language)
    return [phrases.say("merged", *map(phrases.quote, pair)) for pair in merged.items()]


async def describe_taught_words(
    meanings: Mapping[str, Sequence[str]],
    graph: KnowledgeGraph,
    language: str,
    *,
    near: GraphArrays | None = None,
) -> list[str]:
    """Return a sentence for each word that was taught, by the labels of the IRIs that it means."""
    every = {iri for iris in meanings.values() for iri in iris}
    labels = await fetch_term_labels(every, graph, [language], near=near)
    classes = {cls.iri for cls in graph.profile.classes}
    phrases = load_phrases(language, detect_label_language(graph, language))

    def list_nouns(iris: Sequence[str]) -> list[str]:
        named = {labels.get(iri) or split_local_name(iri): iri for iri in reversed(iris)}
        return [
            phrases.pluralize(name) if iri in classes else name
            for name, iri in [*named.items()][::-1]
        ]

    return [
        phrases.say("taught", phrases.quote(word), phrases.join_list(list_nouns(iris)))
        for word, iris in meanings.items()
    ]
