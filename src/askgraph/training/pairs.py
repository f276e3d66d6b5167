"""Lessons and pairs: what language models learn from, made of questions and graphs.

A lesson is a question with graph search's candidates, each run and worth the F1 of what it gives. A
pair is a question with what a query may name, and the query.

Query-based KGQA (NLDB 2025, section 4.3 and appendix C): the candidates of a question are those
that its gold query names, and among them wrong ones that linking would bring along, which are
nearest to the right ones by BM25. A question comes in one to three copies with other wrong ones.
"""

import asyncio
import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from askgraph import plugins
from askgraph.errors import AskgraphError, QueryError, QuerySyntaxError, SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.by_name import by_name
from askgraph.evaluation.files import json_line, replaced
from askgraph.evaluation.questions import GoldQuestion, query_table
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import Kind
from askgraph.llm import Choice, LanguageModel, Options, completed
from askgraph.llm.structured import takes_grammar
from askgraph.methods.writing import Listed
from askgraph.methods.writing.grown import CONSIDERED, listed_of, readings_of
from askgraph.methods.writing.model_writer import query_grammar
from askgraph.methods.writing.prompt import THEN, messages, query_in, target
from askgraph.methods.writing.references import (
    FORMS,
    NAMES,
    REFERENCES,
    References,
    gold_terms,
    terms_in,
    value_text,
)
from askgraph.search.decide import estimate_confidence
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import clusters, weights_for
from askgraph.sparql.comparison import Cell
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.rewrite.canonical import canonical_query
from askgraph.sparql.serializer import plain_text

RIGHT = 0.999
"""From this worth on a candidate is right."""

_SECONDS = 2.0  # for a candidate's query


@dataclass(frozen=True)
class Reading:
    """A candidate: in words, its query, its score in graph search, its worth (F1), if it is empty.

    The query is in SPARQL with whole IRIs.
    """

    words: str
    query: str
    score: float
    worth: float
    empty: bool


@dataclass(frozen=True)
class Lesson:
    """A question and gold's query, graph search's confidence (0–1), its best candidates in order.

    `terms` are what the candidates and gold name.
    """

    id: str
    text: str
    gold: str
    confidence: float
    readings: tuple[Reading, ...]
    terms: tuple[Listed, ...] = ()

    @property
    def wanted(self) -> str:
        """The best candidate's query that is right; gold's if none is."""
        return next((one.query for one in self.readings if one.worth >= RIGHT), self.gold)


async def lesson_of(
    question: GoldQuestion,
    query: str,
    gold: Table,
    graph: KnowledgeGraph,
    *,
    names: Mapping[str, Set[Cell]],
    ranking: str = "",
) -> Lesson:
    """Return the lesson of a question over a graph that lies here; `query` gives `gold`.

    Candidates are scored by the weights of the file `ranking`, by the package's if it is empty. A
    thing where gold has one of its `names` counts.
    """
    assert graph.arrays is not None
    linked = link_text(question.text, question.language, graph.names)
    schema = build_schema(graph.arrays, graph.profile)
    weights = weights_for(graph.name, ranking)
    proposal = await asyncio.to_thread(propose_from_links, linked, schema, weights=weights)
    every = clusters(proposal.candidates)
    found = every[:CONSIDERED]
    words = await readings_of(found, proposal, graph)
    readings = []
    for cluster, said in zip(found, words, strict=True):
        text = plain_text(cluster.best.query, graph.prefixes)
        try:
            table = await query_table(text, graph.endpoint, timeout=_SECONDS)
            worth, empty = by_name(table, gold, names).f1, not table.rows
        except AskgraphError:
            worth, empty = 0.0, True
        readings.append(Reading(said, text, cluster.score, worth, empty))
    terms = await listed_of(
        [*(one.query for one in readings), query], graph, proposal.reading.language
    )
    return Lesson(
        question.id,
        question.text,
        query,
        estimate_confidence(proposal, every),
        tuple(readings),
        terms,
    )


_KEYS = {
    Kind.ENTITY: "entities",
    Kind.CLASS: "entities",
    Kind.PREDICATE: "properties",
    Kind.VALUE: "literals",
}


@dataclass(frozen=True, eq=False)
class NearTerms:
    """Searches the terms of one graph by BM25; `classes` are the IRIs of its classes."""

    indices: Mapping[str, SearchIndex[Resource]]
    labels: Mapping[str, str]
    classes: frozenset[str]

    def listed(self, kind: Kind, target: str) -> Listed:
        """Return a term with its label, made of the IRI or the value if the graph has none."""
        if kind is Kind.VALUE:
            return Listed(kind, target, value_text(target), score=1.0)
        label = self.labels.get(target) or words_of_local_name(target) or target
        return Listed(kind, target, label, score=1.0)

    def near(self, kind: Kind, label: str, limit: int) -> list[Listed]:
        """Return the terms of a kind whose names are most like a label, itself among them."""
        index = self.indices[_KEYS[kind]]
        if kind is Kind.CLASS:
            hits = index.search(label, limit=limit, within=self.classes)
        else:
            hits = index.search(label, limit=limit + min(len(self.classes), 100))
        found = [hit.item.iri for hit in hits]
        if kind is Kind.ENTITY:
            found = [iri for iri in found if iri not in self.classes]
        return [self.listed(kind, iri) for iri in found[:limit]]


@contextmanager
def near_terms(graph: KnowledgeGraph) -> Iterator[NearTerms]:
    """Index the terms of a graph by BM25 for a while; its indices are read, or built, for that."""
    made: dict[str, SearchIndex[Resource]] = {}
    labels: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for key in dict.fromkeys(_KEYS.values()):
            resources = list(graph.indices[key].resources())  # type: ignore[attr-defined]
            labels.update((each.iri, each.label) for each in resources)
            build = plugins.load("index", "bm25").build  # type: ignore[attr-defined]
            made[key] = build(resources, Path(folder) / key)
        classes = frozenset(each.iri for each in graph.profile.classes)
        yield NearTerms(made, labels, classes)


_COPIES = (1, 2, 3)
_CHANCES = (0.5, 0.25, 0.25)
_NEAREST = 5  # wrong candidates of each right one, of which one to three are taken
_MOST = 3


@dataclass(frozen=True)
class Asked:
    """A question and its gold query; with `then`, the query that goes on from it (`?IT`)."""

    id: str
    text: str
    query: str
    then: str = ""


@dataclass(frozen=True)
class Pair:
    """A question, what a query may name, and the reply that is wanted, which names it so.

    The `form` of the reply is one of `askgraph.methods.writing.references.FORMS`.
    """

    id: str
    question: str
    listed: tuple[Listed, ...]
    target: str
    form: str = REFERENCES

    @property
    def references(self) -> References:
        """What is listed, as the reply names it."""
        return References(self.listed, self.form)


@dataclass(frozen=True)
class LeftOut:
    """A question whose query cannot be written with references, and why."""

    id: str
    reason: str


def made_pairs(
    asked: Iterable[Asked],
    terms: NearTerms,
    *,
    seed: int = 42,
    copies: bool = True,
    form: str = REFERENCES,
) -> Iterator[Pair | LeftOut]:
    """Yield the pairs of each question, in order; without `copies`, one of each.

    The same seed gives the same pairs of a question, whatever stands around it.
    """
    for one in asked:
        chance = random.Random(f"{seed} {one.id}")
        try:
            found = [*gold_terms(one.query), *(gold_terms(one.then) if one.then else ())]
            needed = [terms.listed(kind, name) for kind, name in dict.fromkeys(found)]
        except QuerySyntaxError as problem:
            yield LeftOut(one.id, str(problem))
            continue
        number = chance.choices(_COPIES, _CHANCES)[0] if copies else 1
        for copy in range(number):
            listed = [*needed, *_wrong(needed, terms, chance)]
            chance.shuffle(listed)
            try:
                wanted = target(one.query, References(listed, form), then=one.then)
            except QuerySyntaxError as problem:
                yield LeftOut(one.id, str(problem))
                break
            yield Pair(
                f"{one.id}#{copy}" if copy else one.id, one.text, tuple(listed), wanted, form
            )


def pair_of(lesson: Lesson, *, seed: int = 42, form: str = NAMES) -> Pair | LeftOut:
    """Return the pair of a lesson: what its candidates name is listed, in an order by the seed.

    The reply is the best candidate that is right; if none is, gold, and what it names besides.
    """
    try:
        named = terms_in([*(one.query for one in lesson.readings), lesson.wanted])
        listed = [one for one in lesson.terms if (one.kind, one.target) in named]
        random.Random(f"{seed} {lesson.id}").shuffle(listed)
        wanted = target(lesson.wanted, References(listed, form))
    except QuerySyntaxError as problem:
        return LeftOut(lesson.id, str(problem))
    return Pair(lesson.id, lesson.text, tuple(listed), wanted, form)


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs as lines of JSON over what was there; return how many.

    Raises `SetupError` if there are none, and leaves what was there.
    """
    number = 0
    with replaced(path) as file:
        for pair in pairs:
            number += 1
            listed = [
                {"kind": one.kind.name.lower(), "target": one.target, "label": one.label}
                | ({"description": one.description} if one.description else {})
                for one in pair.listed
            ]
            form = {"form": pair.form} if pair.form != REFERENCES else {}
            asked = {
                "id": pair.id,
                "question": pair.question,
                "listed": listed,
                "target": pair.target,
            }
            file.write(json_line({**asked, **form}))
        if not number:
            raise SetupError(f"no question makes a pair, so {path} is not written")
    return number


def read_pairs(paths: Sequence[Path]) -> tuple[tuple[Pair, ...], str]:
    """Read files of pairs; return them, and the SHA-256 of the files in their order.

    Raises `SetupError` for a file that is missing, empty or holds anything else.
    """
    digest = hashlib.sha256()
    pairs: list[Pair] = []
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as problem:
            raise SetupError(
                f"cannot read {path}: {problem.strerror}; 'askgraph finetune pairs' makes one"
            ) from problem
        digest.update(content)
        for number, line in enumerate(content.splitlines(), start=1):
            try:
                record = json.loads(line)
                listed = record["listed"]
                if isinstance(listed, str):
                    raise TypeError("listed")
                terms = tuple(
                    Listed(
                        Kind[one["kind"].upper()],
                        one["target"],
                        one["label"],
                        one.get("description", ""),
                    )
                    for one in listed
                )
                question, wanted = str(record["question"]), str(record["target"])
                if (form := str(record.get("form", REFERENCES))) not in FORMS:
                    raise ValueError(f"there is no form {form!r}")
                pairs.append(Pair(str(record["id"]), question, terms, wanted, form))
            except (ValueError, KeyError, TypeError) as problem:
                raise SetupError(
                    f"{path}, line {number}: no pair; askgraph finetune pairs makes them"
                ) from problem
    if not pairs:
        raise SetupError(f"{', '.join(map(str, paths))}: there are no pairs to train on")
    return tuple(pairs), digest.hexdigest()


def _wrong(needed: Sequence[Listed], terms: NearTerms, chance: random.Random) -> list[Listed]:
    """One to three of the nearest wrong candidates of each right one, none twice."""
    right = {(each.kind, each.target) for each in needed}
    found: dict[tuple[Kind, str], Listed] = {}
    for each in needed:
        near = terms.near(each.kind, each.label, _NEAREST + len(needed))
        near = [one for one in near if (one.kind, one.target) not in right][:_NEAREST]
        number = min(len(near), chance.randint(1, _MOST))
        found.update(((one.kind, one.target), one) for one in chance.sample(near, number))
    return list(found.values())


@dataclass(frozen=True)
class Evaluated:
    """Counts over pairs and hypotheses.

    `first` are the pairs whose first hypothesis is the gold query, up to names of variables and
    order; `among` those if any is. `sound` are the hypotheses that parse and name only listed
    candidates.
    """

    pairs: int
    first: int
    among: int
    hypotheses: int
    sound: int


async def evaluated(
    model: LanguageModel,
    pairs: Sequence[Pair],
    *,
    n: int = 1,
    beams: bool = False,
    constrained: bool = True,
    max_tokens: int = 300,
    progress: Callable[[str, int, int | None], None] = lambda what, done, total: None,
) -> Evaluated:
    """Ask for each pair's query and compare; see `PromptedWriter` for the options.

    Raises `SetupError` for a pair whose own query is none, before anything is asked.
    """
    wanted = [_gold(pair) for pair in pairs]
    first = among = hypotheses = sound = 0
    for done, (pair, gold) in enumerate(zip(pairs, wanted, strict=True)):
        progress("asking", done, len(pairs))
        references = pair.references
        options = Options(n=n, max_tokens=max_tokens, temperature=None if n > 1 else 0.0)
        if beams and n > 1:
            options["beams"] = True
        if constrained and takes_grammar(model):
            options["grammar"] = query_grammar(references, chains=THEN in pair.target)
        asked = messages(pair.question, references)
        choices = (await completed(model.complete(asked, **options))).choices
        queries = [_canonical(choice, references) for choice in choices]
        first += queries[:1] == [gold]
        among += gold in queries
        hypotheses += len(queries)
        sound += len(queries) - queries.count("")
    return Evaluated(len(pairs), first, among, hypotheses, sound)


def _gold(pair: Pair) -> str:
    try:
        return canonical_query(query_in(pair.target, pair.references))
    except QueryError as problem:
        raise SetupError(f"the pair {pair.id!r} wants no query: {problem}") from problem


def _canonical(choice: Choice, references: References) -> str:
    """Return a reply's query whatever its variables' names; empty if it is no query."""
    try:
        return canonical_query(query_in(choice.text, references))
    except QueryError:
        return ""
