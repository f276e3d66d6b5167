"""Examples as demonstrations: stores, the nearest to a question, and those that a prompt shows.

A store of (question, entities, relations, query), searched by the similarity of their texts, is
that of Dynamic Few-Shot Learning (D'Abramo, arXiv 2407.01409, section 4.2). Masking what a
question names, so that examples of one kind are alike whatever they are about, is ours. Of several
graphs the examples are ordered together, by how like the question they are in words and form and,
with an embedding model, in meaning (reciprocal-rank fusion, as in `askgraph.index.hybrid`).
"""

import asyncio
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
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
    read_examples,
)
from askgraph.index import Resource
from askgraph.index.names import NameIndex, tokens
from askgraph.methods.shared.index_cache import keep_index, kept_index
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import fetch_labels
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES, extract_iris
from askgraph.search.tokenize import build_question_form, compare_forms
from askgraph.sparql.prefixes import PrefixMap, words_of_local_name
from askgraph.sparql.rewrite import formatted
from askgraph.sparql.rewrite.canonical import skeleton

MATCHES = ("form", "question", "terms", "masked")
"""What is compared: questions with how they ask (`askgraph.search.tokenize`), questions alone,
with the names of entities and relations, or masked."""

_SAME = 0.97  # similarity from which an example is the question itself
_MASK = "<thing>"
_Key: TypeAlias = tuple[tuple[QueryExample, ...], str]
_ALL = 1_000  # examples that are compared without an index on disk
_POOL = 200  # examples of a graph that are looked at more closely
_RANK = 60  # of reciprocal-rank fusion
_FORMS = ("SELECT", "ASK")  # of queries that answer questions
_TRUST = ("confirmed", "written", "generated")
_NEAR = 0.7  # of the similarity of the nearest, from which a preferred example goes before it
_ALIKE = 0.7  # similarity of two wordings from which they teach the same
_SKELETONS = 2  # examples of one skeleton that are shown while there are others


@dataclass(frozen=True)
class Term:
    """An IRI that a query uses, with its label; a relation or an entity."""

    iri: str
    label: str
    relation: bool = False


@dataclass(frozen=True)
class Shot:
    """An example with the terms of its query."""

    example: QueryExample
    terms: tuple[Term, ...]

    def texts(self, match: str) -> list[str]:
        """Return what is compared with a question: each wording of the example's."""
        return [matched_text(one.text, self.terms, match) for one in self.example.wordings]


_KEPT: WeakKeyDictionary[NameIndex, tuple[_Key, tuple[Shot, ...]]] = WeakKeyDictionary()


async def shots_near(
    context: Context,
    terms: Sequence[Term],
    examples: Sequence[QueryExample],
    *,
    match: str,
    embedder: str = "",
    without: Callable[[Sequence[Term]], tuple[Term, ...]] | None = None,
    what: str = "",
) -> Sequence[Shot]:
    """Return the shots among which the nearest to the question are looked for.

    Of at most 1,000 examples that are all; of more those that a hybrid index finds, which is kept.
    `without` leaves terms out, and `what` names that in few letters. Raises `ServiceError` if an
    embedding server fails.
    """
    leave = without or tuple

    def less(shots: Sequence[Shot]) -> list[Shot]:
        return [replace(one, terms=tuple(leave(one.terms))) for one in shots]

    if len(examples) <= _ALL:
        return less(await shots_of(context, examples))
    named = match in ("terms", "masked")
    kind = f"shots {match} {what}".strip() if named else "examples"
    digest = await asyncio.to_thread(_digest, examples)
    graph, source = context.graph, tuple(examples)
    index = await asyncio.to_thread(kept_index, graph, kind, source, embedder, digest=digest)
    if index is None:
        if named:
            shots = less(await _shots(context, examples))
            texts = [shot.texts(match) for shot in shots]
            resources = [
                Resource(str(at), first, tuple(others)) for at, (first, *others) in enumerate(texts)
            ]
        else:
            resources = [_resource(at, example) for at, example in enumerate(examples)]
        index = await asyncio.to_thread(
            keep_index, graph, kind, source, resources, embedder, digest=digest
        )
    text = matched_text(context.question.text, terms, match)
    hits = await asyncio.to_thread(index.search, text, limit=_POOL)
    return less(await _shots(context, [examples[int(hit.item.iri)] for hit in hits]))


def _digest(examples: Sequence[QueryExample]) -> str:
    """The same for the same questions with the same queries, in any process."""
    found = hashlib.sha256()
    for one in examples:
        texts = (*(wording.text for wording in one.wordings), one.query, one.origin, *one.keywords)
        found.update("\0".join((*texts, "\n")).encode("utf-8", "backslashreplace"))
    return found.hexdigest()


async def shots_of(context: Context, examples: Sequence[QueryExample]) -> tuple[Shot, ...]:
    """Return examples with the terms of their queries, named by the graph if it knows them.

    Those that a graph was asked for last are kept as long as its names.
    """
    key = tuple(examples), context.language
    known = _KEPT.get(context.graph.names)
    if known is None or known[0] != key:
        known = key, await _shots(context, examples)
        _KEPT[context.graph.names] = known
    return known[1]


async def _shots(context: Context, examples: Sequence[QueryExample]) -> tuple[Shot, ...]:
    used = [extract_iris(example.query) for example in examples]
    iris = list(dict.fromkeys(iri for one in used for iri in one))
    labels: dict[str, str] = {}
    for at in range(0, len(iris), MAX_LABELS):
        labels |= await fetch_labels(context, iris[at : at + MAX_LABELS])
    return tuple(
        Shot(
            example,
            tuple(
                Term(iri, labels.get(iri) or words_of_local_name(iri), sort == "properties")
                for iri, sort in one.items()
                if not iri.startswith(STANDARD_NAMESPACES)
            ),
        )
        for example, one in zip(examples, used, strict=True)
    )


def matched_text(question: str, terms: Sequence[Term], match: str) -> str:
    """Return the text of a question by which it is compared; see `MATCHES`."""
    if match == "terms":
        return " ".join([question, *(term.label for term in terms)])
    if match == "masked":
        for term in sorted(terms, key=lambda term: -len(term.label)):
            if not term.relation and term.label:
                question = re.sub(
                    rf"(?<!\w){re.escape(term.label)}(?!\w)", _MASK, question, flags=re.IGNORECASE
                )
    return question


def nearest(
    question: str,
    terms: Sequence[Term],
    shots: Sequence[Shot],
    *,
    limit: int,
    match: str = "form",
    embedder: str | None = None,
    diverse: bool = True,
) -> list[Shot]:
    """Return the shots most like a question, the nearest first; the question itself is none.

    Similarity is by characters and words, or with an `embedder` (see `embedder_of`) the cosine; of
    several wordings that of the nearest counts. If they are to be `diverse`, of several shots with
    one query only the nearest is taken. Equal ones stay in the order given. Raises `SetupError` for
    an embedder that does not exist, `ServiceError` if its server fails.
    """
    others = other_than(question, shots) if limit > 0 else []
    if not others:
        return []
    text = matched_text(question, terms, match)
    scores = _scores(text, [shot.texts(match) for shot in others], embedder)
    if match == "form":
        scores = [sum(two) / 2 for two in zip(scores, _forms(question, others), strict=True)]
    found: dict[str | int, Shot] = {}
    for at in sorted(range(len(others)), key=lambda at: -scores[at]):
        found.setdefault(" ".join(others[at].example.query.split()) if diverse else at, others[at])
        if len(found) == limit:
            break
    return list(found.values())


def other_than(question: str, shots: Sequence[Shot]) -> list[Shot]:
    """Return the shots that are not the question itself, in other letters or with a word less."""
    numbers = _numbers(question)
    found = []
    for shot in shots:
        wordings = [one.text for one in shot.example.wordings if _numbers(one.text) == numbers]
        if max(compute_similarities(question, wordings), default=0.0) < _SAME:
            found.append(shot)
    return found


def _numbers(text: str) -> set[str]:
    """The words with digits: a question about 1990 is not the one about 1991, however alike."""
    return {word for word in tokens(text) if any(map(str.isdigit, word))}


def _scores(text: str, wordings: Sequence[Sequence[str]], embedder: str | None) -> list[float]:
    """How like a text the nearest of some wordings is, of each shot."""
    texts = [one for several in wordings for one in several]
    each = iter(
        compute_cosines(text, texts, embedder) if embedder else compute_similarities(text, texts)
    )
    return [max(next(each) for _ in several) for several in wordings]


def _forms(question: str, shots: Sequence[Shot]) -> list[float]:
    """How alike the ways are in which a question and the nearest wording of each shot ask."""
    own = build_question_form(question)
    return [
        max(
            compare_forms(own, build_question_form(wording.text, wording.language))
            for wording in shot.example.wordings
        )
        for shot in shots
    ]


def shown_query(query: str, prefixes: PrefixMap) -> str:
    """Return a query laid out with the graph's prefixes, without the lines that declare these.

    Prefixes that the graph does not have stay declared: their names are another graph's. Comments
    and empty lines go. One that cannot be read stays as it is.
    """
    try:
        laid_out = formatted(query, prefixes, {})
    except QueryError:
        return query
    own = {f"PREFIX {prefix}:" for prefix in prefixes.namespaces}
    return "\n".join(
        line
        for line in laid_out.splitlines()
        if line
        and not line.startswith("#")
        and not (line.startswith("PREFIX ") and line.partition(" <")[0] in own)
    )


def examples_at(place: str) -> tuple[QueryExample, ...]:
    """Return the examples of a `questions.jsonl`, or of a file, folder or archive of Turtle.

    A place is read once, and again after it changed. Raises `SetupError` if it cannot be read,
    and where no example is in it.
    """
    path = Path(place).expanduser()
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise SetupError(f"cannot read the examples {place!r}: {error.strerror}") from error
    found = _read(path, changed)
    if not found:
        raise SetupError(f"no question with its query stands in {place!r}")
    return found


@lru_cache(maxsize=32)
def _read(path: Path, changed: int) -> tuple[QueryExample, ...]:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return read_examples(path)
    from askgraph.graph.examples.shacl import read_shacl

    return read_shacl(path).examples


def with_examples(graphs: Sequence[KnowledgeGraph], named: str) -> Sequence[KnowledgeGraph]:
    """Return the graphs, the first with the examples at `named` instead of its own, if any.

    Raises `SetupError` as `examples_at` does.
    """
    if not named:
        return graphs
    first, *others = graphs
    return [replace(first, examples=examples_at(named)), *others]


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
    plain: bool = False,
) -> list[NearExample]:
    """Return the examples to show, the most useful first; the question itself is none of them.

    `texts` are the question, then parts of it. Confirmed examples that are near come first, then
    those that call one of the `services`; of equally near ones, written before generated.
    Near-duplicates are left out (see `diverse`). `plain` ones are the nearest, by meaning alone if
    there is an `embedder`, and nothing else. Takes a thread: raises `ServiceError` if an
    embedding server fails.
    """
    if limit < 1:
        return []
    found = [near for graph in graphs for near in _pool(texts, graph, limit, embedder)]
    if plain:
        kept = other_than(texts[0], [Shot(one.example, ()) for one in found])
        owners = {id(one.example): one for one in found}
        wordings = [shot.texts("question") for shot in kept]
        each = zip(*(_scores(text, wordings, embedder or None) for text in texts), strict=True)
        scores = [max(several) for several in each]
        order = sorted(range(len(kept)), key=lambda at: -scores[at])
        return [owners[id(kept[at].example)] for at in order[:limit]]
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
        try:
            form = skeleton(one.example.query, prefixes=one.graph.prefixes.namespaces)
        except QuerySyntaxError:
            form = one.example.query
        key = form, _schema(one)
        if max(compute_similarities(one.example.question, same[key]), default=0.0) >= _ALIKE:
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
    digest = _digest(examples) if len(examples) > _ALL else ""
    index = kept_index(graph, "examples", examples, embedder, digest=digest)
    if index is None:
        resources = [_resource(at, example) for at, example in enumerate(examples)]
        index = keep_index(graph, "examples", examples, resources, embedder, digest=digest)
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
        parts: list[Shot] = []
        if text != texts[0]:  # what asks just a part of the question is best for that part
            others = {id(shot) for shot in other_than(text, shots)}
            parts = [shot for shot in shots if id(shot) not in others]
        for how in (None, embedder) if embedder else (None,):
            order = [*parts, *nearest(text, (), shots, limit=len(shots), embedder=how)]
            for rank, shot in enumerate(order, start=1):
                scores[id(shot)] += 1 / (_RANK + rank)
    kept = [(scores[id(shot)], one) for shot, one in owners if id(shot) in scores]
    return [one for _, one in sorted(kept, key=lambda pair: -pair[0])]


def _preferred(
    question: str, ranked: Sequence[NearExample], limit: int, services: Collection[str]
) -> list[NearExample]:
    """Put what is preferred before the rest, if it is not much further off."""
    head, tail = ranked[: 2 * limit], ranked[2 * limit :]
    likeness = [
        max(compute_similarities(question, [wording.text for wording in one.example.wordings]))
        for one in head
    ]
    least = _NEAR * max(likeness, default=0.0)

    def order(at: int) -> tuple[bool, bool]:
        example = head[at].example
        near = likeness[at] >= least
        joins = not set(example.federates_with).isdisjoint(services)
        return not (near and example.origin == "confirmed"), not (near and joins)

    return [*(head[at] for at in sorted(range(len(head)), key=order)), *tail]


def _schema(one: NearExample) -> frozenset[str]:
    """The predicates of a query, and the classes that the graph knows."""
    named = extract_iris(one.example.query)
    classes = {cls.iri for cls in one.graph.profile.classes} if named else set()
    return frozenset(iri for iri, sort in named.items() if sort == "properties" or iri in classes)
