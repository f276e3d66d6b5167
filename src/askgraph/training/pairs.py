"""Pairs of a question with candidates and its query: made, read, and held to what a model writes.

Query-based KGQA (NLDB 2025, section 4.3 and appendix C): the candidates of a question are those
that its gold query names, and among them wrong ones that linking would bring along, which are
nearest to the right ones by BM25. A question comes in one to three copies with other wrong ones.
"""

import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import Literal

from askgraph import registry
from askgraph.errors import QueryError, QuerySyntaxError, SetupError
from askgraph.evaluation.files import json_line, replaced
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import Kind
from askgraph.llm import Choice, LanguageModel, Options, completed
from askgraph.llm.structured import takes_grammar
from askgraph.rdf import words_of_local_name
from askgraph.sparql import Pattern
from askgraph.sparql.read import read
from askgraph.sparql.rewrite.canonical import canonical_query
from askgraph.writing import Listed
from askgraph.writing.model_writer import query_grammar
from askgraph.writing.prompt import THEN, messages, query_in, target
from askgraph.writing.references import References, gold_terms

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
            return Listed(kind, target, _value(target), score=1.0)
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
            build = registry.load("index", "bm25").build  # type: ignore[attr-defined]
            made[key] = build(resources, Path(folder) / key)
        classes = frozenset(each.iri for each in graph.profile.classes)
        yield NearTerms(made, labels, classes)


def _value(target: str) -> str:
    """Return the text of a literal given as N-Triples."""
    pattern = read(f"ASK {{ ?s ?p {target} }}").where.elements[0]
    literal = pattern.object if isinstance(pattern, Pattern) else None
    return literal.value if isinstance(literal, Literal) else target


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

    If it is `plain`, the reply is SPARQL with IRIs, else it has references.
    """

    id: str
    question: str
    listed: tuple[Listed, ...]
    target: str
    plain: bool = False

    @property
    def references(self) -> References:
        """What is listed, as the reply names it."""
        return References(self.listed, self.plain)


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
    plain: bool = False,
) -> Iterator[Pair | LeftOut]:
    """Yield the pairs of each question, in order; without `copies`, one of each.

    The same seed gives the same pairs of a question, whatever stands around it.
    """
    for one in asked:
        chance = random.Random(f"{seed} {one.id}")
        try:
            needed = _needed(one, terms)
        except QuerySyntaxError as problem:
            yield LeftOut(one.id, str(problem))
            continue
        number = chance.choices(_COPIES, _CHANCES)[0] if copies else 1
        for copy in range(number):
            listed = [*needed, *_wrong(needed, terms, chance)]
            chance.shuffle(listed)
            try:
                wanted = target(one.query, References(listed, plain), then=one.then)
            except QuerySyntaxError as problem:
                yield LeftOut(one.id, str(problem))
                break
            yield Pair(
                f"{one.id}#{copy}" if copy else one.id, one.text, tuple(listed), wanted, plain
            )


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs as lines of JSON over what was there; return how many.

    Raises `SetupError` if there are none, and leaves what was there.
    """
    number = 0
    with replaced(path) as file:
        for pair in pairs:
            number += 1
            file.write(json_line(_object(pair)))
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
                pairs.append(_pair(json.loads(line)))
            except (ValueError, KeyError, TypeError) as problem:
                raise SetupError(
                    f"{path}, line {number}: no pair; askgraph finetune pairs makes them"
                ) from problem
    if not pairs:
        raise SetupError(f"{', '.join(map(str, paths))}: there are no pairs to train on")
    return tuple(pairs), digest.hexdigest()


def _needed(one: Asked, terms: NearTerms) -> list[Listed]:
    """Return the terms that the gold query names."""
    found = [*gold_terms(one.query), *(gold_terms(one.then) if one.then else ())]
    return [terms.listed(kind, name) for kind, name in dict.fromkeys(found)]


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


def _object(pair: Pair) -> dict[str, object]:
    listed = [
        {"kind": one.kind.name.lower(), "target": one.target, "label": one.label}
        | ({"description": one.description} if one.description else {})
        for one in pair.listed
    ]
    form = {"plain": True} if pair.plain else {}
    asked = {"id": pair.id, "question": pair.question, "listed": listed, "target": pair.target}
    return {**asked, **form}


def _pair(record: dict[str, str | list[dict[str, str]]]) -> Pair:
    listed = record["listed"]
    if isinstance(listed, str):
        raise TypeError("listed")
    terms = tuple(
        Listed(Kind[one["kind"].upper()], one["target"], one["label"], one.get("description", ""))
        for one in listed
    )
    question, wanted = str(record["question"]), str(record["target"])
    return Pair(str(record["id"]), question, terms, wanted, bool(record.get("plain")))


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
