"""What graph search finds for the questions of a folder of graphs: clusters, evidence, answers.

A folder has `questions.jsonl` and `kg/`; each question names its graph and, in its tags, the style
that the graph is written in. What was found of a graph is kept as one file, written when the graph
is done, so that a run goes on with the next graph; scores of queries are kept by their text.
"""

import asyncio
import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from tools.unseen_without import left_out

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
from askgraph.search.rank import Cluster, Proposal, clusters
from askgraph.sparql.comparison import Cell
from askgraph.sparql.write import plain_text
from askgraph.workspace import Workspace

__all__ = [
    "Attempt", "Case", "Found", "Item",
    "attempted", "cases_of", "items_of", "kept", "kept_in", "sampled",
]  # fmt: skip

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
