"""Make the pairs that a model is trained on, from a benchmark or from what a graph keeps."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.questions import GoldQuestion, of_graph
from askgraph.graph import KnowledgeGraph
from askgraph.sparql.lexer import with_declared
from askgraph.training.pairs import Asked, LeftOut, Pair, made_pairs, near_terms, write_pairs
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.synchronous import result_of


@dataclass(frozen=True)
class MadePairs:
    """How many questions there were, how many pairs they made, and which were left out."""

    questions: int
    pairs: int
    left_out: tuple[LeftOut, ...]


def make_pairs(
    workspace: Workspace,
    questions: Path | None,
    output: Path,
    *,
    graph: str | None = None,
    format: str | None = None,
    language: str | None = None,
    split: str | None = None,
    seed: int = 42,
    copies: bool = True,
    progress: Progress = silent,
) -> MadePairs:
    """Write the pairs of a benchmark's questions, or of the examples kept for the graph.

    Raises `SetupError` if no question makes a pair; what was in the file then stays.
    """
    opened = workspace.graph(graph, progress=progress)
    try:
        if questions is None:
            found = list(_kept(opened))
        else:
            found = list(_read(questions, opened.name, format, language, split))
        asked = [one for one in found if one.query]
        if not asked:
            where = questions or f"the examples of {opened.name!r}"
            raise SetupError(f"{where}: there is no question with a query")
        left_out = [LeftOut(one.id, "it has no query") for one in found if not one.query]

        def written() -> Iterator[Pair]:
            with near_terms(opened) as terms:
                made = made_pairs(asked, terms, seed=seed, copies=copies)
                for number, one in enumerate(made):
                    progress("pairs", number, None)
                    if isinstance(one, LeftOut):
                        left_out.append(one)
                    else:
                        yield one

        number = write_pairs(output, written())
        return MadePairs(len(found), number, tuple(left_out))
    finally:
        result_of(opened.endpoint.close())


def _kept(graph: KnowledgeGraph) -> Iterator[Asked]:
    for number, example in enumerate(graph.examples):
        for wording, asked in enumerate(example.wordings):
            yield Asked(f"example-{number}-{wording}", asked.text, example.query)


def _read(
    path: Path, graph: str, format: str | None, language: str | None, split: str | None
) -> Iterator[Asked]:
    _, contents = read_benchmark(path, format=format, language=language)
    asked: tuple[GoldQuestion, ...] = of_graph(contents.questions, graph)
    for one in asked:
        if split in (None, one.split):
            query = with_declared(one.sparql, contents.prefixes) if one.sparql else ""
            yield Asked(one.id, one.text, query)
