"""Which examples a prompt shows: near to the question, trusted, and each of them worth its room.

The hybrid index of each graph finds some; those of all graphs are ordered together, by how like
the question they are in words and form and, with an embedding model, in meaning (reciprocal-rank
fusion, as in `askgraph.index.hybrid`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from askgraph.agent.few_shot import Shot, nearest, other_than
from askgraph.agent.kept_index import keep_index, kept_index
from askgraph.errors import QuerySyntaxError
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource
from askgraph.metadata.examples import QueryExample
from askgraph.metadata.examples.similar import similarities
from askgraph.sparql.rewrite.canonical import skeleton
from askgraph.tools.named import named_iris

__all__ = ["NearExample", "diverse", "examples_near"]

_POOL = 200  # examples of a graph that are looked at more closely
_RANK = 60  # of reciprocal-rank fusion
_FORMS = ("SELECT", "ASK")  # of queries that answer questions
_TRUST = ("confirmed", "written", "generated")
_NEAR = 0.7  # of the similarity of the nearest, from which a preferred example goes before it
_ALIKE = 0.7  # similarity of two wordings from which they teach the same
_SKELETONS = 2  # examples of one skeleton that are shown while there are others


@dataclass(frozen=True)
class NearExample:
    """An example and the graph that has it."""

    graph: KnowledgeGraph
    example: QueryExample


def examples_near(
    texts: Sequence[str],
    graphs: Sequence[KnowledgeGraph],
    *,
    limit: int,
    embedder: str = "",
    services: Collection[str] = (),
) -> list[NearExample]:
    """Return the examples to show, the most useful first; the question itself is none of them.

    `texts` are the question, then parts of it. Confirmed examples that are near come first, then
    those that call one of the `services`; of equally near ones, written before generated.
    Near-duplicates are left out (see `diverse`). Takes a thread: raises `ServiceError` where an
    embedding server fails.
    """
    if limit < 1:
        return []
    found = [near for graph in graphs for near in _pool(texts, graph, limit, embedder)]
    ranked = _ranked(texts, found, embedder)
    return diverse(_preferred(texts[0], ranked, limit, services), limit=limit)


def diverse(found: Sequence[NearExample], *, limit: int) -> list[NearExample]:
    """Return the first examples without near-duplicates, and without too many of one skeleton.

    A near-duplicate asks in almost the same words, with a query of the same skeleton over the same
    classes and predicates. Of one skeleton there are two at most, unless nothing else is left.
    """
    kept: list[NearExample] = []
    spare: list[NearExample] = []
    same: defaultdict[tuple[str, frozenset[str]], list[str]] = defaultdict(list)
    skeletons: Counter[str] = Counter()
    for one in found:
        if len(kept) == limit:
            break
        form = _skeleton(one)
        key = form, _schema(one)
        if max(similarities(one.example.question, same[key]), default=0.0) >= _ALIKE:
            continue
        same[key].append(one.example.question)
        skeletons[form] += 1
        (kept if skeletons[form] <= _SKELETONS else spare).append(one)
    return [*kept, *spare][:limit]


def _pool(
    texts: Sequence[str], graph: KnowledgeGraph, limit: int, embedder: str
) -> Iterator[NearExample]:
    if not graph.examples:
        return
    examples = graph.examples
    index = kept_index(graph, "examples", examples, embedder)
    if index is None:
        resources = [_resource(at, example) for at, example in enumerate(examples)]
        index = keep_index(graph, "examples", examples, resources, embedder)
    found = {
        int(hit.item.iri) for text in texts for hit in index.search(text, limit=max(_POOL, limit))
    }
    if len(found) < 2 * limit:  # too few share a word: any teach how queries look here
        found |= set(range(0, len(examples), max(1, len(examples) // (2 * limit))))
    ordered = sorted(found, key=lambda at: (_TRUST.index(examples[at].origin), at))
    answering = (examples[at] for at in ordered if examples[at].form in _FORMS)
    yield from (NearExample(graph, example) for example in answering)


def _resource(at: int, example: QueryExample) -> Resource:
    """An example under its number; the more it is to be trusted, the higher its score."""
    first, *others = (wording.text for wording in example.wordings)
    trust = float(len(_TRUST) - _TRUST.index(example.origin))
    return Resource(str(at), first, tuple(others), trust, example.keywords)


def _ranked(texts: Sequence[str], found: Sequence[NearExample], embedder: str) -> list[NearExample]:
    owners = [(Shot(one.example, ()), one) for one in found]
    shots = other_than(texts[0], [shot for shot, _ in owners])
    scores: defaultdict[int, float] = defaultdict(float)
    for text in texts:
        parts = [] if text == texts[0] else _asking(text, shots)
        for how in (None, embedder) if embedder else (None,):
            order = [*parts, *nearest(text, (), shots, limit=len(shots), embedder=how)]
            for rank, shot in enumerate(order, start=1):
                scores[id(shot)] += 1 / (_RANK + rank)
    kept = [(scores[id(shot)], one) for shot, one in owners if id(shot) in scores]
    return [one for _, one in sorted(kept, key=lambda pair: -pair[0])]


def _asking(text: str, shots: Sequence[Shot]) -> list[Shot]:
    """The shots that ask just this: the best for a part of a question; `nearest` has them not."""
    others = {id(shot) for shot in other_than(text, shots)}
    return [shot for shot in shots if id(shot) not in others]


def _preferred(
    question: str, ranked: Sequence[NearExample], limit: int, services: Collection[str]
) -> list[NearExample]:
    """Put what is preferred before the rest, where it is not much further off."""
    head, tail = ranked[: 2 * limit], ranked[2 * limit :]
    likeness = [
        max(similarities(question, [wording.text for wording in one.example.wordings]))
        for one in head
    ]
    least = _NEAR * max(likeness, default=0.0)

    def order(at: int) -> tuple[bool, bool]:
        example = head[at].example
        near = likeness[at] >= least
        joins = not set(example.federates_with).isdisjoint(services)
        return not (near and example.origin == "confirmed"), not (near and joins)

    return [*(head[at] for at in sorted(range(len(head)), key=order)), *tail]


def _skeleton(one: NearExample) -> str:
    try:
        return skeleton(one.example.query, prefixes=one.graph.prefixes.namespaces)
    except QuerySyntaxError:
        return one.example.query


def _schema(one: NearExample) -> frozenset[str]:
    """The predicates of a query, and the classes that the graph knows."""
    named = named_iris(one.example.query)
    classes = {cls.iri for cls in one.graph.profile.classes} if named else set()
    return frozenset(iri for iri, sort in named.items() if sort == "properties" or iri in classes)
