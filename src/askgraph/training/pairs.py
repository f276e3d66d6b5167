"""Pairs: training data for language models, built from questions and graphs.

A pair is a question with the terms that a query may use, and the query.

Query-based KGQA (NLDB 2025, section 4.3 and appendix C): the terms of a question are those of its
gold query, mixed with wrong ones that linking would add, namely the nearest by BM25. A question
yields one to three copies with different wrong terms.
"""

import asyncio
import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from askgraph import plugins
from askgraph.errors import AskgraphError, QueryError, QuerySyntaxError, SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.files import format_json_line, replace_file
from askgraph.evaluation.questions import GoldQuestion, run_query, score_by_name
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource, SearchIndex
from askgraph.index.names import ItemKind
from askgraph.llm import Choice, LanguageModel, Options, read_completion
from askgraph.llm.structured import can_use_grammar
from askgraph.methods.writing import ListedTerm, term_names
from askgraph.methods.writing.graph_search_writer import MAX_CLUSTERS, list_terms_of_queries
from askgraph.methods.writing.model_writer import (
    MAX_REPLY_TOKENS,
    build_messages,
    build_query_grammar,
    parse_query,
)
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import cluster_candidates, load_weights
from askgraph.sparql.comparison import Cell
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.rewrite.canonical import canonicalize_query
from askgraph.sparql.serializer import render_query

MIN_RIGHT_SCORE = 0.999
"""A candidate with at least this F1 is right."""

_QUERY_TIMEOUT_SECONDS = 2.0  # for a candidate's query


_INDEX_NAMES = {
    ItemKind.ENTITY: "entities",
    ItemKind.CLASS: "entities",
    ItemKind.PREDICATE: "properties",
    ItemKind.VALUE: "literals",
}


@dataclass(frozen=True, eq=False)
class TermSearch:
    """Searches the terms of one graph by BM25; `classes` are the IRIs of its classes."""

    indices: Mapping[str, SearchIndex[Resource]]
    labels: Mapping[str, str]
    classes: frozenset[str]

    def get_term(self, kind: ItemKind, target: str) -> ListedTerm:
        """Return a term with its label, derived from the IRI or value if the graph has none."""
        if kind is ItemKind.VALUE:
            return ListedTerm(kind, target, term_names.parse_literal_text(target), score=1.0)
        label = self.labels.get(target) or split_local_name(target) or target
        return ListedTerm(kind, target, label, score=1.0)

    def find_similar(self, kind: ItemKind, label: str, limit: int) -> list[ListedTerm]:
        """Return the terms of a kind whose names are most similar to a label, itself included."""
        index = self.indices[_INDEX_NAMES[kind]]
        if kind is ItemKind.CLASS:
            hits = index.search(label, limit=limit, within=self.classes)
        else:
            hits = index.search(label, limit=limit + min(len(self.classes), 100))
        iris = [hit.item.iri for hit in hits]
        if kind is ItemKind.ENTITY:
            iris = [iri for iri in iris if iri not in self.classes]
        return [self.get_term(kind, iri) for iri in iris[:limit]]


@contextmanager
def open_term_search(graph: KnowledgeGraph) -> Iterator[TermSearch]:
    """Build a temporary BM25 index of a graph's terms; loads or builds the graph's indices."""
    indices: dict[str, SearchIndex[Resource]] = {}
    labels: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for key in dict.fromkeys(_INDEX_NAMES.values()):
            resources = list(graph.indices[key].iterate_resources())  # type: ignore[attr-defined]
            labels.update((resource.iri, resource.label) for resource in resources)
            build = plugins.load("index", "bm25").build  # type: ignore[attr-defined]
            indices[key] = build(resources, Path(folder) / key)
        classes = frozenset(resource.iri for resource in graph.profile.classes)
        yield TermSearch(indices, labels, classes)


_COPY_COUNTS = (1, 2, 3)
_COPY_WEIGHTS = (0.5, 0.25, 0.25)
_MAX_SIMILAR_COUNT = 5  # wrong candidates per right one to choose from
_MAX_WRONG_COUNT = 3


@dataclass(frozen=True)
class TrainingQuestion:
    """A question and its gold query."""

    id: str
    text: str
    query: str


@dataclass(frozen=True)
class TrainingPair:
    """A question, the terms that a query may use, and the expected reply in those terms."""

    id: str
    question: str
    listed: tuple[ListedTerm, ...]
    target: str
    form: str = term_names.NAMES  # one of `askgraph.methods.writing.term_names.FORMS`

    @property
    def names(self) -> term_names.TermNames:
        """The listed terms, as the reply names them."""
        return term_names.TermNames(self.listed, self.form)


@dataclass(frozen=True)
class SkippedQuestion:
    """A question whose query cannot be written, and the reason."""

    id: str
    reason: str


def build_pairs(
    questions: Iterable[TrainingQuestion],
    terms: TermSearch,
    *,
    seed: int = 42,
    copies: bool = True,
    form: str = term_names.NAMES,
) -> Iterator[TrainingPair | SkippedQuestion]:
    """Yield the pairs of each question, in order; without `copies`, one of each.

    The pairs of a question depend on it and the seed only, not on other questions.
    """
    for question in questions:
        rng = random.Random(f"{seed} {question.id}")
        try:
            required_terms = [
                terms.get_term(kind, name)
                for kind, name in term_names.list_required_terms(question.query)
            ]
        except QuerySyntaxError as error:
            yield SkippedQuestion(question.id, str(error))
            continue
        required_keys = {(term.kind, term.target) for term in required_terms}
        for copy in range(rng.choices(_COPY_COUNTS, _COPY_WEIGHTS)[0] if copies else 1):
            # One to three of the nearest wrong candidates of each right one, without repeats.
            sampled: dict[tuple[ItemKind, str], ListedTerm] = {}
            for term in required_terms:
                similar = terms.find_similar(
                    term.kind, term.label, _MAX_SIMILAR_COUNT + len(required_terms)
                )
                similar = [x for x in similar if (x.kind, x.target) not in required_keys]
                similar = similar[:_MAX_SIMILAR_COUNT]
                count = min(len(similar), rng.randint(1, _MAX_WRONG_COUNT))
                sampled.update(
                    ((candidate.kind, candidate.target), candidate)
                    for candidate in rng.sample(similar, count)
                )
            candidates = [*required_terms, *sampled.values()]
            rng.shuffle(candidates)
            try:
                reply = term_names.TermNames(candidates, form).encode_query(question.query)
            except QuerySyntaxError as error:
                yield SkippedQuestion(question.id, str(error))
                break
            yield TrainingPair(
                f"{question.id}#{copy}" if copy else question.id,
                question.text,
                tuple(candidates),
                reply,
                form,
            )


async def propose_pair(
    question: GoldQuestion,
    query: str,
    gold: ResultTable,
    graph: KnowledgeGraph,
    *,
    names: Mapping[str, Set[Cell]],
    seed: int = 42,
    form: str = term_names.NAMES,
) -> TrainingPair | SkippedQuestion:
    """Build a pair with the terms of graph search's best queries, in an order set by the seed.

    The reply is the best right query; if none is right, gold, whose terms are added.

    Args:
        graph: A graph with arrays.
        names: Names of resources; a resource counts where gold has one of its names.
    """
    assert graph.arrays is not None
    links = link_text(question.text, question.language, graph.names)
    schema = build_schema(graph.arrays, graph.profile)
    weights = load_weights(graph.name)
    proposal = await asyncio.to_thread(propose_from_links, links, schema, weights=weights)
    clusters = cluster_candidates(proposal.candidates)[:MAX_CLUSTERS]
    queries = [render_query(cluster.best.query, graph.prefixes) for cluster in clusters]
    target = query
    for candidate in queries:
        with suppress(AskgraphError):
            table = await run_query(candidate, graph.endpoint, timeout=_QUERY_TIMEOUT_SECONDS)
            if score_by_name(table, gold, names).f1 >= MIN_RIGHT_SCORE:
                target = candidate
                break
    terms = [*await list_terms_of_queries([*queries, target], graph, proposal.question.language)]
    random.Random(f"{seed} {question.id}").shuffle(terms)
    try:
        reply = term_names.TermNames(terms, form).encode_query(target)
    except QuerySyntaxError as error:
        return SkippedQuestion(question.id, str(error))
    return TrainingPair(question.id, question.text, tuple(terms), reply, form)


def write_pairs(path: Path, pairs: Iterable[TrainingPair]) -> int:
    """Write pairs as lines of JSON; return their number; raise `SetupError` if there are none."""
    count = 0
    with replace_file(path) as file:
        for pair in pairs:
            count += 1
            listed = [
                {"kind": term.kind.name.lower(), "target": term.target, "label": term.label}
                | ({"description": term.description} if term.description else {})
                for term in pair.listed
            ]
            fields = {"id": pair.id, "question": pair.question, "listed": listed}
            file.write(format_json_line({**fields, "target": pair.target, "form": pair.form}))
        if not count:
            raise SetupError(f"no question gives a training pair, so {path} is not written")
    return count


def read_pairs(paths: Sequence[Path]) -> tuple[tuple[TrainingPair, ...], str]:
    """Read files of pairs; return them and their SHA-256; raise `SetupError` if one is invalid."""
    digest = hashlib.sha256()
    pairs: list[TrainingPair] = []
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SetupError(
                f"cannot read {path}: {error.strerror}; create one with: askgraph finetune pairs"
            ) from error
        digest.update(content)
        for number, line in enumerate(content.splitlines(), start=1):
            try:
                record = json.loads(line)
                listed = record["listed"]
                if isinstance(listed, str):
                    raise TypeError("listed")
                terms = tuple(
                    ListedTerm(
                        ItemKind[entry["kind"].upper()],
                        entry["target"],
                        entry["label"],
                        entry.get("description", ""),
                    )
                    for entry in listed
                )
                question, reply = str(record["question"]), str(record["target"])
                form = str(record.get("form", "references"))
                if removal := plugins.explain_removal("form", form):
                    raise SetupError(
                        f"{path}, line {number}: {removal}; create the pairs again with: "
                        "askgraph finetune pairs"
                    )
                if form not in term_names.FORMS:
                    raise ValueError(f"there is no form {form!r}")
                pairs.append(TrainingPair(str(record["id"]), question, terms, reply, form))
            except (ValueError, KeyError, TypeError) as error:
                raise SetupError(
                    f"{path}, line {number}: not a training pair; create pairs with: "
                    "askgraph finetune pairs"
                ) from error
    if not pairs:
        raise SetupError(f"{', '.join(map(str, paths))}: the files contain no pairs to train on")
    return tuple(pairs), digest.hexdigest()


@dataclass(frozen=True)
class PairEvaluation:
    """Counts over pairs and hypotheses."""

    pairs: int
    first: int  # pairs whose first hypothesis is the gold query, up to variable names and order
    among: int  # pairs with any such hypothesis
    hypotheses: int
    sound: int  # hypotheses that parse and use listed candidates only


async def evaluate_pairs(
    model: LanguageModel,
    pairs: Sequence[TrainingPair],
    *,
    n: int = 1,
    beams: bool = False,
    constrained: bool = True,
    progress: Callable[[str, int, int | None], None] = lambda what, done, total: None,
) -> PairEvaluation:
    """Ask for the query of each pair and compare it with gold; options as in `PromptedWriter`.

    Raises:
        SetupError: The target of a pair is not a query; raised before the model is asked.
    """
    gold_queries: list[str] = []
    for pair in pairs:
        try:
            gold_queries.append(canonicalize_query(parse_query(pair.target, pair.names)))
        except QueryError as error:
            raise SetupError(
                f"the pair {pair.id!r} has an invalid query as its target: {error}"
            ) from error
    first = among = hypotheses = sound = 0
    for index, (pair, gold) in enumerate(zip(pairs, gold_queries, strict=True)):
        progress("asking", index, len(pairs))
        names = pair.names
        options = Options(n=n, max_tokens=MAX_REPLY_TOKENS, temperature=None if n > 1 else 0.0)
        if beams and n > 1:
            options["beams"] = True
        if constrained and can_use_grammar(model):
            options["grammar"] = build_query_grammar(names)
        prompt = build_messages(pair.question, names)
        choices = (await read_completion(model.complete(prompt, **options))).choices
        queries = [_parse_reply(choice, names) for choice in choices]
        first += queries[:1] == [gold]
        among += gold in queries
        hypotheses += len(queries)
        sound += len(queries) - queries.count("")
    return PairEvaluation(len(pairs), first, among, hypotheses, sound)


def _parse_reply(choice: Choice, names: term_names.TermNames) -> str:
    """Return the canonical query of a reply; empty if it is not a query."""
    try:
        return canonicalize_query(parse_query(choice.text, names))
    except QueryError:
        return ""
