"""Examples as demonstrations: stores, the nearest to a question, and those that a prompt shows.

A store of (question, entities, relations, query), searched by the similarity of the texts, is that
of Dynamic Few-Shot Learning (D'Abramo, arXiv 2407.01409, section 4.2). Masking what a question
names, so that examples of one kind are alike whatever their topic, is ours. The examples of several
graphs are ranked together, by their similarity to the question in words and form and, with an
embedding model, in meaning (reciprocal-rank fusion, as in `askgraph.index.hybrid`).
"""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias
from weakref import WeakKeyDictionary

from askgraph.answers.verbalize import MAX_LABELS
from askgraph.errors import QueryError, QuerySyntaxError, SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import (
    QueryExample,
    compute_cosines,
    compute_similarities,
    is_same_question,
    read_examples,
)
from askgraph.index import Resource
from askgraph.index.names import NameIndex
from askgraph.methods.shared.index_cache import build_index, get_index
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import fetch_labels
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES, extract_iris
from askgraph.search.tokenize import build_question_form, compare_forms
from askgraph.sparql.prefixes import PrefixMap, split_local_name
from askgraph.sparql.rewrite import lay_out_query
from askgraph.sparql.rewrite.canonical import build_skeleton

MATCH_MODES = ("form", "question", "terms")
"""Texts that are compared: questions with their form (`askgraph.search.tokenize`), questions
alone, or questions with the names of entities and relations.
"""

ABLATIONS = ("", "entities", "relations", "both")
"""Terms that are left out of all questions: none, or an ablation of section 5.7.2."""

_Key: TypeAlias = tuple[tuple[QueryExample, ...], str]
_MAX_UNINDEXED_EXAMPLES = 1_000  # examples that are compared without an index on disk
_MAX_POOL_EXAMPLES = 200  # examples of a graph to compare in detail
_RANK_FUSION_WEIGHT = 60  # of reciprocal-rank fusion
_ANSWERING_FORMS = ("SELECT", "ASK")  # of queries that answer questions
_ORIGINS_BY_TRUST = ("confirmed", "written", "generated")
# Share of the nearest example's similarity that a preferred example needs to come first.
_MIN_PREFERRED_RATIO = 0.7
_MIN_DUPLICATE_SCORE = 0.7  # minimum similarity of two redundant wordings
_MAX_PER_SKELETON_COUNT = 2  # examples of one skeleton that are shown while there are others


@dataclass(frozen=True)
class ExampleTerm:
    """An IRI in a query with its label; a relation or an entity."""

    iri: str
    label: str
    is_relation: bool = False


@dataclass(frozen=True)
class Demonstration:
    """An example with the terms of its query."""

    example: QueryExample
    terms: tuple[ExampleTerm, ...]

    def build_texts(self, match: str) -> list[str]:
        """Return the texts to compare with a question, one for each wording of the example."""
        return [
            build_matched_text(wording.text, self.terms, match) for wording in self.example.wordings
        ]


_DEMONSTRATION_CACHE: WeakKeyDictionary[NameIndex, tuple[_Key, tuple[Demonstration, ...]]] = (
    WeakKeyDictionary()
)


async def load_nearby_demonstrations(
    context: Context,
    terms: Sequence[ExampleTerm],
    examples: Sequence[QueryExample],
    *,
    match: str,
    embedder: str = "",
    without: str = "",
) -> Sequence[Demonstration]:
    """Return the demonstrations among which the nearest to the question are searched.

    These are all examples if there are at most 1,000, else the hits of a hybrid index, which is
    cached. They lack the terms that `without` names; see `ABLATIONS`.

    Raises:
        ServiceError: an embedding server fails.
    """
    if len(examples) <= _MAX_UNINDEXED_EXAMPLES:
        return remove_demonstration_terms(await load_demonstrations(context, examples), without)
    uses_terms = match == "terms"
    content = f"shots {match} {without}".strip() if uses_terms else "examples"
    digest = await asyncio.to_thread(_compute_digest, examples)
    graph, example_tuple = context.graph, tuple(examples)
    index = await asyncio.to_thread(
        get_index, graph, content, example_tuple, embedder, digest=digest
    )
    if index is None:
        if uses_terms:
            demonstrations = remove_demonstration_terms(
                await _build_demonstrations(context, examples), without
            )
            texts = [demonstration.build_texts(match) for demonstration in demonstrations]
            resources = [
                Resource(str(position), first, tuple(other_texts))
                for position, (first, *other_texts) in enumerate(texts)
            ]
        else:
            resources = [
                _to_resource(position, example) for position, example in enumerate(examples)
            ]
        index = await asyncio.to_thread(
            build_index, graph, content, example_tuple, resources, embedder, digest=digest
        )
    text = build_matched_text(context.question.text, terms, match)
    hits = await asyncio.to_thread(index.search, text, limit=_MAX_POOL_EXAMPLES)
    return remove_demonstration_terms(
        await _build_demonstrations(context, [examples[int(hit.item.iri)] for hit in hits]), without
    )


def remove_terms(terms: Sequence[ExampleTerm], without: str) -> tuple[ExampleTerm, ...]:
    """Return the terms except those of one kind; see `ABLATIONS`."""
    if without == "both":
        return ()
    return tuple(
        term for term in terms if not without or term.is_relation is (without == "entities")
    )


def remove_demonstration_terms(
    demonstrations: Sequence[Demonstration], without: str
) -> Sequence[Demonstration]:
    """Return the demonstrations without the terms of one kind; see `ABLATIONS`."""
    return [
        replace(demonstration, terms=remove_terms(demonstration.terms, without))
        for demonstration in demonstrations
    ]


def _compute_digest(examples: Sequence[QueryExample]) -> str:
    """Return a digest of questions with their queries that is the same in every process."""
    digest = hashlib.sha256()
    for example in examples:
        texts = (
            *(wording.text for wording in example.wordings),
            example.query,
            example.origin,
            *example.keywords,
        )
        digest.update("\0".join((*texts, "\n")).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


async def load_demonstrations(
    context: Context, examples: Sequence[QueryExample]
) -> tuple[Demonstration, ...]:
    """Return examples with the terms of their queries, labelled by the graph if it knows them.

    The last result of each graph is cached as long as the graph's names.
    """
    key = tuple(examples), context.language
    cached = _DEMONSTRATION_CACHE.get(context.graph.names)
    if cached is None or cached[0] != key:
        cached = key, await _build_demonstrations(context, examples)
        _DEMONSTRATION_CACHE[context.graph.names] = cached
    return cached[1]


async def _build_demonstrations(
    context: Context, examples: Sequence[QueryExample]
) -> tuple[Demonstration, ...]:
    iris_by_example = [extract_iris(example.query) for example in examples]
    iris = list(dict.fromkeys(iri for sorts_by_iri in iris_by_example for iri in sorts_by_iri))
    labels: dict[str, str] = {}
    for start in range(0, len(iris), MAX_LABELS):
        labels |= await fetch_labels(context, iris[start : start + MAX_LABELS])
    return tuple(
        Demonstration(
            example,
            tuple(
                ExampleTerm(iri, labels.get(iri) or split_local_name(iri), sort == "properties")
                for iri, sort in sorts_by_iri.items()
                if not iri.startswith(STANDARD_NAMESPACES)
            ),
        )
        for example, sorts_by_iri in zip(examples, iris_by_example, strict=True)
    )


def build_matched_text(question: str, terms: Sequence[ExampleTerm], match: str) -> str:
    """Return the text of a question that is compared; see `MATCH_MODES`."""
    return " ".join([question, *(term.label for term in terms)]) if match == "terms" else question


def find_nearest(
    question: str,
    terms: Sequence[ExampleTerm],
    demonstrations: Sequence[Demonstration],
    *,
    limit: int,
    match: str = "form",
    embedder: str | None = None,
    diverse: bool = True,
) -> list[Demonstration]:
    """Return the demonstrations most similar to a question, the nearest first.

    The question itself is excluded. Similarity is by characters and words, or the cosine with an
    `embedder` (see `create_embedder`); the nearest wording of an example counts. With `diverse`,
    only the nearest demonstration of each query is returned. Ties keep the given order.

    Raises:
        SetupError: the embedder does not exist.
        ServiceError: the embedder's server fails.
    """
    candidates = [
        demonstration
        for demonstration in demonstrations
        if not is_same_question(question, demonstration.example)
    ]
    if limit < 1 or not candidates:
        return []
    text = build_matched_text(question, terms, match)
    scores = _score_wordings(
        text, [demonstration.build_texts(match) for demonstration in candidates], embedder
    )
    if match == "form":
        scores = [
            sum(score_pair) / 2
            for score_pair in zip(scores, _score_forms(question, candidates), strict=True)
        ]
    nearest_by_query: dict[str | int, Demonstration] = {}
    for position in sorted(range(len(candidates)), key=lambda position: -scores[position]):
        nearest_by_query.setdefault(
            " ".join(candidates[position].example.query.split()) if diverse else position,
            candidates[position],
        )
        if len(nearest_by_query) == limit:
            break
    return list(nearest_by_query.values())


def _score_wordings(
    text: str, wordings: Sequence[Sequence[str]], embedder: str | None
) -> list[float]:
    """Return, for each list of wordings, the similarity of its nearest wording to a text."""
    texts = [wording for wording_list in wordings for wording in wording_list]
    scores = iter(
        compute_cosines(text, texts, embedder) if embedder else compute_similarities(text, texts)
    )
    return [max(next(scores) for _ in wording_list) for wording_list in wordings]


def find_nearest_positions(
    texts: Sequence[str], wordings: Sequence[Sequence[str]], *, limit: int, embedder: str = ""
) -> list[int]:
    """Return the positions of the `limit` items most similar to each text, the nearest first.

    Each item has one wording or several; they are compared by meaning alone if there is an
    `embedder`. This is the retrieval of SPARQL-LLM (arXiv 2512.14277, section 3.2.2).
    """
    best_scores: dict[int, float] = {}
    for text in texts:
        scores = _score_wordings(text, wordings, embedder or None)
        for position in sorted(range(len(wordings)), key=scores.__getitem__, reverse=True)[:limit]:
            best_scores[position] = max(
                best_scores.get(position, scores[position]), scores[position]
            )
    return sorted(best_scores, key=lambda position: -best_scores[position])


def _score_forms(question: str, demonstrations: Sequence[Demonstration]) -> list[float]:
    """Return, for each demonstration, the similarity of its nearest wording in form."""
    question_form_value = build_question_form(question)
    return [
        max(
            compare_forms(question_form_value, build_question_form(wording.text, wording.language))
            for wording in demonstration.example.wordings
        )
        for demonstration in demonstrations
    ]


def format_query(query: str, prefixes: PrefixMap) -> str:
    """Return a query formatted with the graph's prefixes, without their declarations.

    Prefixes that the graph lacks stay declared: they belong to another graph. Comments and empty
    lines are removed. A query that cannot be parsed is returned unchanged.
    """
    try:
        laid_out = lay_out_query(query, prefixes, {})
    except QueryError:
        return query
    known_declarations = {f"PREFIX {prefix}:" for prefix in prefixes.namespaces}
    return "\n".join(
        line
        for line in laid_out.splitlines()
        if line
        and not line.startswith("#")
        and not (line.startswith("PREFIX ") and line.partition(" <")[0] in known_declarations)
    )


def load_examples(location: str) -> tuple[QueryExample, ...]:
    """Return the examples in a `questions.jsonl`, or in a file, folder or archive of Turtle.

    A location is read once, and again after a change.

    Raises:
        SetupError: the location cannot be read, or has no example.
    """
    path = Path(location).expanduser()
    try:
        modification_time = path.stat().st_mtime_ns
    except OSError as error:
        raise SetupError(f"cannot read the examples {location!r}: {error.strerror}") from error
    examples = _read_examples(path, modification_time)
    if not examples:
        raise SetupError(f"{location!r} contains no question with a query")
    return examples


@lru_cache(maxsize=32)
def _read_examples(path: Path, modification_time: int) -> tuple[QueryExample, ...]:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return read_examples(path)
    from askgraph.graph.examples.shacl import read_shacl

    return read_shacl(path).examples


def replace_examples(graphs: Sequence[KnowledgeGraph], location: str) -> Sequence[KnowledgeGraph]:
    """Return the graphs, the first one with the examples at `location`, if any is given.

    Raises:
        SetupError: the examples cannot be loaded.
    """
    if not location:
        return graphs
    first, *other_graphs = graphs
    return [replace(first, examples=load_examples(location)), *other_graphs]


@dataclass(frozen=True)
class GraphExample:
    """An example and its graph."""

    graph: KnowledgeGraph
    example: QueryExample


def find_nearby_examples(
    texts: Sequence[str],
    graphs: Sequence[KnowledgeGraph],
    *,
    limit: int,
    embedder: str = "",
    services: Collection[str] = (),
    nearest_only: bool = False,
) -> list[GraphExample]:
    """Return the examples to show, the most useful first, without the question itself.

    Near confirmed examples come first, then examples that call one of the `services`; written
    examples come before equally near generated ones. Near-duplicates are left out (see
    `select_diverse`). Call it in a thread.

    Args:
        texts: the question, then parts of it.
        nearest_only: return the nearest examples to each text (see `find_nearest_positions`).

    Raises:
        ServiceError: an embedding server fails.
    """
    if limit < 1:
        return []
    candidates = [
        candidate
        for graph in graphs
        for candidate in _collect_candidates(texts, graph, limit, embedder)
        if not is_same_question(texts[0], candidate.example)
    ]
    if nearest_only:
        wordings = [
            [wording.text for wording in candidate.example.wordings] for candidate in candidates
        ]
        positions = find_nearest_positions(texts, wordings, limit=limit, embedder=embedder)
        return [candidates[position] for position in positions]
    ranked = _rank_examples(texts, candidates, embedder)
    return select_diverse(_move_preferred(texts[0], ranked, limit, services), limit=limit)


def select_diverse(candidates: Sequence[GraphExample], *, limit: int) -> list[GraphExample]:
    """Return the first examples without near-duplicates, and without too many of one skeleton.

    A near-duplicate asks in almost the same words, and its query has the same skeleton over the
    same classes and predicates. Each skeleton occurs at most twice, unless nothing else is left.
    """
    selected: list[GraphExample] = []
    further: list[GraphExample] = []
    questions_by_key: defaultdict[tuple[str, frozenset[str]], list[str]] = defaultdict(list)
    skeleton_counts: Counter[str] = Counter()
    for candidate in candidates:
        if len(selected) == limit:
            break
        try:
            skeleton_text = build_skeleton(
                candidate.example.query, prefixes=candidate.graph.prefixes.namespaces
            )
        except QuerySyntaxError:
            skeleton_text = candidate.example.query
        key = skeleton_text, _find_schema_iris(candidate)
        if (
            max(
                compute_similarities(candidate.example.question, questions_by_key[key]), default=0.0
            )
            >= _MIN_DUPLICATE_SCORE
        ):
            continue
        questions_by_key[key].append(candidate.example.question)
        skeleton_counts[skeleton_text] += 1
        (selected if skeleton_counts[skeleton_text] <= _MAX_PER_SKELETON_COUNT else further).append(
            candidate
        )
    return [*selected, *further][:limit]


def _collect_candidates(
    texts: Sequence[str], graph: KnowledgeGraph, limit: int, embedder: str
) -> Iterator[GraphExample]:
    if not graph.examples:
        return
    examples = graph.examples
    digest = _compute_digest(examples) if len(examples) > _MAX_UNINDEXED_EXAMPLES else ""
    index = get_index(graph, "examples", examples, embedder, digest=digest)
    if index is None:
        resources = [_to_resource(number, example) for number, example in enumerate(examples)]
        index = build_index(graph, "examples", examples, resources, embedder, digest=digest)
    numbers = {
        int(hit.item.iri)
        for text in texts
        for hit in index.search(text, limit=max(_MAX_POOL_EXAMPLES, limit))
    }
    if len(numbers) < 2 * limit:  # too few share a word: any example shows the form of queries here
        numbers |= set(range(0, len(examples), max(1, len(examples) // (2 * limit))))
    ordered = sorted(
        numbers, key=lambda number: (_ORIGINS_BY_TRUST.index(examples[number].origin), number)
    )
    answering = (
        examples[number] for number in ordered if examples[number].form in _ANSWERING_FORMS
    )
    yield from (GraphExample(graph, example) for example in answering)


def _to_resource(number: int, example: QueryExample) -> Resource:
    """Convert an example to a resource under its number; more trust gives a higher score."""
    first, *other_wordings = (wording.text for wording in example.wordings)
    trust = float(len(_ORIGINS_BY_TRUST) - _ORIGINS_BY_TRUST.index(example.origin))
    return Resource(str(number), first, tuple(other_wordings), trust, example.keywords)


def _rank_examples(
    texts: Sequence[str], candidates: Sequence[GraphExample], embedder: str
) -> list[GraphExample]:
    demonstrations = [Demonstration(candidate.example, ()) for candidate in candidates]
    scores: defaultdict[int, float] = defaultdict(float)
    for text in texts:
        partial_matches: list[Demonstration] = []
        if text != texts[0]:  # what asks just a part of the question is best for that part
            partial_matches = [
                demonstration
                for demonstration in demonstrations
                if is_same_question(text, demonstration.example)
            ]
        for embedder_choice in (None, embedder) if embedder else (None,):
            order = [
                *partial_matches,
                *find_nearest(
                    text, (), demonstrations, limit=len(demonstrations), embedder=embedder_choice
                ),
            ]
            for rank, demonstration in enumerate(order, start=1):
                scores[id(demonstration)] += 1 / (_RANK_FUSION_WEIGHT + rank)
    scored_candidates = [
        (scores[id(demonstration)], candidate)
        for demonstration, candidate in zip(demonstrations, candidates, strict=True)
        if id(demonstration) in scores
    ]
    return [candidate for _, candidate in sorted(scored_candidates, key=lambda pair: -pair[0])]


def _move_preferred(
    question: str, ranked: Sequence[GraphExample], limit: int, services: Collection[str]
) -> list[GraphExample]:
    """Move preferred examples to the front if they are nearly as near as the nearest."""
    head, tail = ranked[: 2 * limit], ranked[2 * limit :]
    likeness = [
        max(
            compute_similarities(question, [wording.text for wording in candidate.example.wordings])
        )
        for candidate in head
    ]
    min_likeness = _MIN_PREFERRED_RATIO * max(likeness, default=0.0)

    def get_preference(position: int) -> tuple[bool, bool]:
        example = head[position].example
        is_near = likeness[position] >= min_likeness
        calls_service = not set(example.federates_with).isdisjoint(services)
        return not (is_near and example.origin == "confirmed"), not (is_near and calls_service)

    return [*(head[at] for at in sorted(range(len(head)), key=get_preference)), *tail]


def _find_schema_iris(graph_example: GraphExample) -> frozenset[str]:
    """Return the predicates of a query, and its classes that the graph knows."""
    sorts_by_iri = extract_iris(graph_example.example.query)
    classes = {cls.iri for cls in graph_example.graph.profile.classes} if sorts_by_iri else set()
    return frozenset(
        iri for iri, sort in sorts_by_iri.items() if sort == "properties" or iri in classes
    )
