"""The sets of questions that lie here: the sample, and what is in ASKGRAPH_DATA."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from askgraph import sample
from askgraph.errors import QueryError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.metrics.sets import best_column
from askgraph.evaluation.questions import GoldQuestion, gold_table
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Answer
from askgraph.workspace import Workspace

__all__ = [
    "Asked", "Listed", "asked_sets", "f1_of", "gold_of", "listed_sets", "single_graphs", "table_of",
]  # fmt: skip

SECONDS = 20.0  # a gold query
_USUAL = ("sample", "supply-kgrep", "spider4sparql")


@dataclass(frozen=True)
class Asked:
    """The questions of a set about one of its graphs."""

    set: str
    graph: KnowledgeGraph
    questions: tuple[GoldQuestion, ...]


@dataclass(frozen=True)
class Listed:
    """The questions of a set about one of its graphs, which is not built yet."""

    set: str
    graph: str
    files: Sequence[Path]
    questions: Sequence[GoldQuestion]

    @property
    def style(self) -> str:
        """The style that the graph is written in, if its questions say so."""
        tags = self.questions[0].tags
        return next((tag[6:] for tag in tags if tag.startswith("style:")), "")


@contextmanager
def asked_sets(wanted: tuple[str, ...] = ()) -> Iterator[list[Asked]]:
    """Build the graphs of all sets but the largest, or of those wanted, and open them."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        found: list[Asked] = []
        for one in listed_sets(wanted):
            name = f"{one.set}-{len(found)}"
            workspace.add(name, one.files)
            found.append(Asked(one.set, workspace.find(name), tuple(one.questions)))
        yield found


def listed_sets(
    wanted: Sequence[str] = (), *, sample: int | None = None, seed: int = 0
) -> Iterator[Listed]:
    """Yield the questions of each graph of the sets, or so many of each, drawn with a seed.

    Without those `wanted` that are all sets but the largest.
    """
    for name, graphs, path in _sets():
        if name not in (wanted or _USUAL):
            continue
        questions = read_questions(path)
        for key, files in graphs.items():
            own = [q for q in questions if not key or q.graph == key]
            if sample is not None and sample < len(own):
                own = sorted(Random(seed).sample(own, sample), key=own.index)
            if own:
                yield Listed(name, key, files, own)


def _sets() -> Iterator[tuple[str, dict[str, list[Path]], Path]]:
    """A name, the files of each graph, the questions."""
    for name, files, questions in single_graphs():
        yield name, {"": files}, questions
    for name in ("spider4sparql", "spider-graphs"):
        if (folder := _data() / name).is_dir():
            graphs = {path.name: [path] for path in sorted((folder / "kg").glob("*.ttl"))}
            yield name, graphs, folder / "questions.jsonl"
    if (generated := Path(__file__).parents[1] / "build/benchmarks/wikidata.nt").is_file():
        yield "wikidata", {"": [generated]}, generated.with_suffix(".jsonl")


def single_graphs() -> Iterator[tuple[str, list[Path], Path]]:
    """The sets about one graph each: a name, the graph's files, the questions."""
    yield "sample", [sample.graph_path()], sample.questions_path().with_suffix(".jsonl")
    if (folder := _data() / "supply-kgrep").is_dir():
        boxes = [folder / "kg" / f"{box}-box-default.ttl" for box in "at"]
        yield "supply-kgrep", boxes, folder / "questions.jsonl"


def _data() -> Path:
    shared = Path(__file__).parents[2] / "shared" / "data"
    return Path(os.environ.get("ASKGRAPH_DATA") or shared)


async def gold_of(gold: GoldQuestion, graph: KnowledgeGraph) -> Table | None:
    """What the gold query of a question gives; None without one, and where it cannot be run."""
    if not gold.sparql:
        return None
    prefixes = graph.prefixes.namespaces
    try:
        return await gold_table(gold, graph.endpoint, prefixes=prefixes, timeout=SECONDS)
    except QueryError:
        return None


def table_of(answer: Answer) -> Table:
    """What an answer gives."""
    if answer.boolean is not None:
        return Table.of_boolean(answer.boolean)
    return Table.of_result(answer.result)


def f1_of(answer: Answer | None, gold: Table) -> float:
    """The F1 of the best column of an answer."""
    return best_column(table_of(answer), gold).f1 if answer is not None else 0.0
