"""What graph search finds for the questions of a folder of graphs, and weights fitted to it.

A folder has `questions.jsonl` and `kg/`; each question names its graph and, in its tags, the style
that the graph is written in. What was found of a graph is kept as one file, written when the graph
is done, so that a run goes on with the next graph; scores of queries are kept by their text.

Graph search may do without one of its parts, which tells what the part is worth. A part is left out
by what it does, and not by taking the program apart: its ways of linking, its weights in the
ranking, the functions that it is called by, the operators that it serves.
"""

import asyncio
import gzip
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from tools.calibration import Case as Answered
from tools.calibration import confidences as weighed
from tools.calibration import curve_of, fitted_trees
from tools.ranking_fit import Case as Ranked
from tools.ranking_fit import Found as Scored
from tools.ranking_fit import fitted as fitted_ranking

from askgraph.answers.search_run import AHEAD, PASSED_OVER, SearchLimits
from askgraph.errors import AskgraphError
from askgraph.evaluation import Table
from askgraph.evaluation.by_name import by_name, names_of_things
from askgraph.evaluation.files import replaced
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import query_table
from askgraph.graph import KnowledgeGraph
from askgraph.search.decide import EMPTY, collect_evidence
from askgraph.search.embedding_linking import retry_with_embeddings
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import build_schema, link_text, propose_from_links
from askgraph.search.rank import Cluster, Proposal, clusters, weights_for
from askgraph.search.resolve_operators import resolve_times
from askgraph.search.tokenize.question_operators import QuestionOperators
from askgraph.sparql.comparison import Cell
from askgraph.sparql.serializer import plain_text
from askgraph.workspace import Workspace

FIRST_EVIDENCE = (
    *("score", "margin", "covered", "rivals", "faults", "unused_names", "weakest", "required"),
    *("unsaid_order", "groups", "scattered"),
)
"""What confidence weighs if the evidence that travels is left out."""


@dataclass(frozen=True)
class Part:
    """What a part consists of.

    `ways` are those of linking words that it brought, `weights` its features of the ranking, and
    `calls` its functions, each with what is called instead; `operators` are no longer heard.
    """

    about: str
    ways: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    calls: tuple[tuple[str, Any], ...] = ()
    operators: frozenset[str] = frozenset()


def _nothing(*_: object) -> None:
    return None


def _none(*_: object) -> tuple[()]:
    return ()


def _no(*_: object) -> bool:
    return False


def _as_linked(linked: Any, *_: object) -> Any:
    return linked


def _every_link(linked: Any, _: object) -> Any:
    return linked.links


SOURCES: dict[str, Part] = {
    "derivations": Part("derived words and doers", ways=frozenset(("derivation", "doer"))),
    "meanings": Part(
        "words of the same, a more general or a more special meaning",
        ways=frozenset(("near", "hypernym", "hyponym")),
    ),
    "peoples": Part("peoples, and the codes of countries", ways=frozenset(("demonym",))),
    "scales": Part("nouns of the scales of adjectives", ways=frozenset(("scale",))),
    "shortened": Part(
        "names that are shortened, and initials",
        ways=frozenset(("short", "initials", "abbreviation")),
    ),
}
"""The sources of the lexicon, each for itself."""

PARTS: dict[str, Part] = {
    **SOURCES,
    "confidence": Part("evidence that means the same on every graph"),
    "kinds": Part(
        "the kind of thing that is asked for",
        weights=frozenset(("misfit", "unheld", "disagrees", "ungrouped")),
        calls=(("askgraph.search.resolve_operators:link_asked_kind", _as_linked),),
    ),
    "lexicon": Part(
        "the lexicon, and names that are shortened or written otherwise",
        ways=frozenset(("code",)).union(*(one.ways for one in SOURCES.values())),
        calls=(("askgraph.search.link:akin", _none),),
    ),
    "names": Part(
        "what is a name, and of which things",
        weights=frozenset(("parted", "unnamed", "turned")),
        calls=(
            ("askgraph.search.expand.beam_search:without_chance", _every_link),
            ("askgraph.search.expand.beam_search:with_apposition", _none),
            ("askgraph.search.operators.query_builder:is_mirrored", _no),
            ("askgraph.search.operators:show_names", _nothing),
        ),
    ),
    "readings": Part(
        "readings with two aggregates, two extremes, extremes of groups, comparisons",
        calls=(
            ("askgraph.search.operators.extremes_with_ties:keep_ties", _nothing),
            ("askgraph.search.operators.shared_value:join_by_or", _nothing),
            ("askgraph.search.operators.pairs:compare_pairs", _none),
            ("askgraph.search.operators:describe_things", _none),
        ),
        operators=frozenset(
            ("yearly", "exactly", "difference", "ratio", "same", "different", "other")
        ),
    ),
}


@contextmanager
def left_out(name: str | None) -> Iterator[tuple[frozenset[str], Mapping[str, float] | None]]:
    """Leave a part out; give the ways of linking to do without, and the weights to rank with."""
    if name is None:
        yield frozenset(), None
        return
    part = PARTS[name]
    with ExitStack() as patches:
        for place, instead in part.calls:
            module, function = place.split(":")
            patches.enter_context(patch.object(import_module(module), function, instead))
        if part.operators:
            patches.enter_context(
                patch("askgraph.search.resolve_operators.resolve_times", _without(part.operators))
            )
        own = weights_for("")
        weights = {one: 0.0 if one in part.weights else weight for one, weight in own.items()}
        yield part.ways, weights


def _without(names: frozenset[str]) -> Any:
    def heard(frame: QuestionOperators, *rest: Any) -> QuestionOperators:
        kept = tuple(one for one in frame.operators if one.name not in names)
        return resolve_times(replace(frame, operators=kept), *rest)

    return heard


_SECONDS, _PATIENCE = 2.0, 60.0
"""What a candidate's query may take, and gold's."""
_MEMBERS = 4
"""So many members of a cluster are kept: no more than these raise its score."""
_DIGITS = 4

Weights = Mapping[str, float]


@dataclass(frozen=True)
class Item:
    """A question, the file of its graph, the style of that, and gold's query."""

    id: str
    graph: str
    style: str
    text: str
    language: str
    gold: str


@dataclass(frozen=True)
class Found:
    """A cluster: the features of its members, its F1 (plain and by name), whether it is empty."""

    members: tuple[Mapping[str, float], ...]
    f1: float
    by_name: float
    empty: bool


@dataclass(frozen=True)
class Case:
    """A question with the best clusters that were found for it."""

    id: str
    graph: str
    style: str
    found: tuple[Found, ...]


@dataclass(frozen=True)
class Attempt:
    """The answer to a question before anything is decided: its query, its F1, the evidence.

    `left` is what is left of the confidence if better candidates were passed over or the result
    is empty. Without any candidate there is no evidence.
    """

    id: str
    graph: str
    style: str
    query: str
    f1: float
    by_name: float
    left: float
    evidence: Mapping[str, float]


def items_of(folder: Path) -> list[Item]:
    """Return the questions of a folder."""
    lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
    return [_item(json.loads(line)) for line in lines]


def sampled(items: Sequence[Item], number: int | None, *, seed: int = 0) -> list[Item]:
    """Return so many questions of each graph, drawn with a seed, in their order; all if None."""
    if number is None:
        return list(items)
    chosen: list[Item] = []
    for graph in dict.fromkeys(item.graph for item in items):
        own = [item for item in items if item.graph == graph]
        kept = {item.id for item in Random(seed).sample(own, min(number, len(own)))}
        chosen += [item for item in own if item.id in kept]
    return chosen


def _item(line: Mapping[str, Any]) -> Item:
    styles = [tag.removeprefix("style:") for tag in line["tags"] if tag.startswith("style:")]
    style = styles[0] if styles else "-"
    return Item(
        line["id"], line["kg"], style, line["question"], line.get("lang", "en"), line["sparql"]
    )


def cases_of(
    data: Path, graph: str, items: Sequence[Item], cache: Path, weights: Weights | None, most: int
) -> list[Case]:
    """Return the `most` best clusters of each question over a graph, each with what it gives."""
    with _Judge.of(data, graph, cache) as judge:
        return [
            Case(item.id, item.graph, item.style, tuple(judge.found(item, weights, most)))
            for item in items
        ]


def attempted(
    data: Path,
    graph: str,
    items: Sequence[Item],
    cache: Path,
    weights: Weights | None,
    without: str | None = None,
    meanings: str = "",
) -> list[Attempt]:
    """Return the answer to each question over a graph, with candidates ranked by some weights.

    It may be `without` a part of graph search, whose weights are then the package's; `meanings`
    names an embedding model for a second look.
    """
    with _Judge.of(data, graph, cache) as judge, left_out(without) as (ways, own):
        judge = replace(judge, without=ways, meanings=meanings)
        return [judge.attempt(item, weights or own) for item in items]


@dataclass
class _Judge:
    """A graph that is searched, and the scores of queries over it."""

    graph: KnowledgeGraph
    names: Mapping[str, Set[Cell]]
    path: Path
    without: Set[str] = frozenset()
    meanings: str = ""
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    known: dict[str, tuple[float, float, bool]] = field(default_factory=dict)
    golds: dict[str, Table] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Path, graph: str, cache: Path) -> "_Judge":
        """Open a graph, and read what was kept of its queries."""
        workspace = Workspace(cache / "workspace")
        name = Path(graph).stem
        if name not in workspace.graphs():
            workspace.add(name, [data / "kg" / graph])
        found = workspace.find(name)
        path = cache / "scores" / f"{name}.json.gz"
        known = {}
        if path.is_file():
            kept = json.loads(gzip.decompress(path.read_bytes()))
            known = {key: (f1, named, empty) for key, (f1, named, empty) in kept.items()}
        return cls(found, names_of_things(found), path, known=known)

    def __enter__(self) -> "_Judge":
        """Use the graph."""
        return self

    def __exit__(self, *_: object) -> None:
        """Keep the scores and close the graph."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(self.path) as file:
            file.write(gzip.compress(json.dumps(self.known).encode(), 1))
        self.runner.run(self.graph.endpoint.close())
        self.runner.close()

    def proposal(self, item: Item, weights: Weights | None) -> Proposal:
        """Grow and rank the candidates for a question."""
        assert self.graph.arrays is not None
        names = self.graph.names
        linked = link_text(item.text, item.language, names, without=self.without)
        schema = build_schema(self.graph.arrays, self.graph.profile)
        proposal = propose_from_links(linked, schema, weights=weights)

        async def again(linked: LinkedQuestion) -> Proposal:
            return propose_from_links(linked, schema, weights=weights)

        graph = self.graph
        if self.meanings:
            proposal = self.runner.run(
                retry_with_embeddings(proposal, linked, graph, self.meanings, again)
            )
        return proposal

    def found(self, item: Item, weights: Weights | None, most: int) -> Iterator[Found]:
        """The best clusters for a question, scored."""
        for cluster in clusters(self.proposal(item, weights).candidates)[:most]:
            members = tuple(
                {name: round(value, _DIGITS) for name, value in member.features.items()}
                for member in cluster.members[:_MEMBERS]
            )
            yield Found(members, *self.score(item, cluster)[1])

    def attempt(self, item: Item, weights: Weights | None) -> Attempt:
        """What graph search would answer, as `SearchRun.first_answer` has it."""
        proposal = self.proposal(item, weights)
        ranked = clusters(proposal.candidates)
        if not ranked:
            return Attempt(item.id, item.graph, item.style, "", 0.0, 0.0, 1.0, {})
        query, (f1, named, empty), left = "", (0.0, 0.0, True), EMPTY
        for place, cluster in enumerate(ranked[: SearchLimits().tried]):
            if place and cluster.score < ranked[0].score - AHEAD:
                break
            text, scores = self.score(item, cluster)
            if not place or not scores[2]:
                query, (f1, named, empty) = text, scores
                left = PASSED_OVER**place * (EMPTY if empty else 1.0)
            if not scores[2]:
                break
        evidence = {
            name: round(value, _DIGITS)
            for name, value in collect_evidence(proposal, ranked).items()
        }
        return Attempt(item.id, item.graph, item.style, query, f1, named, left, evidence)

    def score(self, item: Item, cluster: Cluster) -> tuple[str, tuple[float, float, bool]]:
        """The query of a cluster's best; its F1, plain and by name, and whether it is empty."""
        query = plain_text(cluster.best.query, self.graph.prefixes)
        key = hashlib.sha256(f"{item.id} {query}".encode()).hexdigest()[:20]
        if key not in self.known:
            self.known[key] = self._score(query, self.gold(item))
        return query, self.known[key]

    def gold(self, item: Item) -> Table:
        """What gold gives."""
        if item.id not in self.golds:
            self.golds[item.id] = self.runner.run(self._table(item.gold, _PATIENCE))
        return self.golds[item.id]

    async def _table(self, query: str, seconds: float) -> Table:
        return await query_table(query, self.graph.endpoint, timeout=seconds)

    def _score(self, query: str, gold: Table) -> tuple[float, float, bool]:
        try:
            table = self.runner.run(self._table(query, _SECONDS))
        except AskgraphError:
            return 0.0, 0.0, True
        named = by_name(table, gold, self.names).f1
        return best_column(table, gold).f1, named, not table.rows


def kept(path: Path, of: type, make: Any) -> list[Any]:
    """Return what a file keeps, or make it and keep it."""
    if not path.is_file():
        made = make()
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as file:
            file.write(gzip.compress(json.dumps([asdict(one) for one in made]).encode(), 1))
        return list(made)
    return [_again(of, one) for one in json.loads(gzip.decompress(path.read_bytes()))]


def kept_in(folder: Path, of: type) -> list[Any]:
    """Return what the files of a folder keep, of all graphs."""
    found = [one for path in sorted(folder.glob("*.json.gz")) for one in kept(path, of, list)]
    if not found:
        raise SystemExit(f"{folder} holds no finished run")
    return found


def _again(of: type, one: dict[str, Any]) -> Any:
    if of is Case:
        one["found"] = tuple(Found(tuple(f.pop("members")), **f) for f in one["found"])
    return of(**one)


Model = Callable[[Mapping[str, float]], float]
"""From evidence to a chance."""


def ranking_without(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Return for each style the weights of the ranking that are fitted without it."""
    every = [ranked(case) for case in cases]
    return {
        style: fitted_ranking([case for case in every if case.set != style])
        for style in sorted({case.set for case in every})
    }


def ranked(case: Case) -> Ranked:
    """Return a case as one of the ranking; its style counts as its set."""
    graph = Path(case.graph).stem
    found = tuple(Scored("", one.members, one.by_name, one.empty) for one in case.found)
    return Ranked(case.id, "", case.style, graph, graph, found)


def confidence_without(attempts: Sequence[Attempt], only: Collection[str] = ()) -> dict[str, Model]:
    """Return for each style the model of confidence that is fitted without it.

    It weighs all evidence, or `only` some.
    """
    every = [answered(one, only) for one in attempts if one.evidence]
    styles = sorted({case.set for case in every})
    return {style: _model([case for case in every if case.set != style]) for style in styles}


def confidences(attempts: Sequence[Attempt], models: Mapping[str, Model]) -> list[float]:
    """Return the chance of each attempt by the model that was fitted without its style."""
    return [models[one.style](one.evidence) if one.evidence else 0.0 for one in attempts]


def answered(one: Attempt, only: Collection[str] = ()) -> Answered:
    """Return an attempt as a case of calibration; its style counts as its set."""
    graph = Path(one.graph).stem
    evidence = {name: one.evidence[name] for name in only} if only else one.evidence
    return Answered(
        one.style, evidence, one.by_name, graph, left=one.left, asked=one.style, fold=one.style
    )


def _model(cases: Sequence[Answered]) -> Model:
    """Trees over all cases, and a curve over what those give that saw nothing of the style."""
    firsts = [case for case in cases if case.left == 1]
    trees = fitted_trees(firsts)
    given = dict.fromkeys(range(len(firsts)), 0.0)
    for style in {case.set for case in firsts}:
        others = fitted_trees([case for case in firsts if case.set != style] or firsts)
        own = [at for at, case in enumerate(firsts) if case.set == style]
        chances = weighed(others, [firsts[at].evidence for at in own])
        given.update(zip(own, chances.tolist(), strict=True))
    curve = curve_of(firsts, list(given.values()))
    return lambda evidence: curve(trees(evidence))
