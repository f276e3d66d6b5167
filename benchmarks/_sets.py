"""The sets of questions that lie here: the sample, and what is in ASKGRAPH_DATA."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from askgraph import sample
from askgraph.errors import QueryError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.metrics.best_column import best_column
from askgraph.evaluation.questions import GoldQuestion, gold_table
from askgraph.graph import KnowledgeGraph
from askgraph.trace import Answer
from askgraph.workspace import Workspace

__all__ = ["Asked", "asked_sets", "f1_of", "gold_of", "single_graphs", "table_of"]

SECONDS = 20.0  # a gold query


@dataclass(frozen=True)
class Asked:
    """The questions of a set about one of its graphs."""

    set: str
    graph: KnowledgeGraph
    questions: tuple[GoldQuestion, ...]


@contextmanager
def asked_sets(wanted: tuple[str, ...] = ()) -> Iterator[list[Asked]]:
    """Build the graphs of all sets, or of those wanted, and open them."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        found: list[Asked] = []
        for name, graphs, path in _sets():
            if wanted and name not in wanted:
                continue
            questions = read_questions(path)
            for key, files in graphs.items():
                own = tuple(q for q in questions if not key or q.graph == key)
                if own:
                    workspace.add(f"{name}-{len(found)}", files)
                    graph = workspace.find(f"{name}-{len(found)}")
                    found.append(Asked(name, graph, own))
        yield found


def _sets() -> Iterator[tuple[str, dict[str, list[Path]], Path]]:
    """A name, the files of each graph, the questions."""
    for name, files, questions in single_graphs():
        yield name, {"": files}, questions
    if (folder := _data() / "spider4sparql").is_dir():
        graphs = {path.name: [path] for path in sorted((folder / "kg").glob("*.ttl"))}
        yield "spider4sparql", graphs, folder / "questions.jsonl"


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
