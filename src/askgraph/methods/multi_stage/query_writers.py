"""The writer that a setting names: grown without a model, a language model, or trained weights."""

from pathlib import Path

from askgraph.errors import SetupError
from askgraph.llm import LanguageModel
from askgraph.writing import QueryWriter
from askgraph.writing.grown import GrownWriter
from askgraph.writing.pointer.writer import pointer_writer
from askgraph.writing.prompted import PromptedWriter

__all__ = ["GRAPH", "check_writer", "writer_of"]

GRAPH = "{graph}"
"""Stands for the name of the graph in the path of trained weights."""


def check_writer(name: str, model: LanguageModel | None, *, graph: str = "") -> None:
    """Raise `SetupError` for a writer that there is none of, and for `model` without one.

    The file of a graph is looked for where `graph` names it.
    """
    if name == "model" and model is None:
        raise SetupError("writer=model needs a language model: name one with the setting 'model'")
    if name in ("grown", "model") or (GRAPH in name and not graph):
        return
    if not Path(path := name.replace(GRAPH, graph)).is_file():
        raise SetupError(
            f"'writer' is grown, model, or the path of trained weights; there is no file {path!r}"
        )


def writer_of(
    name: str, model: LanguageModel | None = None, *, graph: str = "", ranking: str = ""
) -> QueryWriter:
    """Return a writer by its name, for a graph; see `check_writer`.

    `ranking` is a file of weights by which the grown writer ranks, in the place of the package's.

    Raises `SetupError` for a file that holds no weights.
    """
    check_writer(name, model, graph=graph)
    if name == "model" and model is not None:
        return PromptedWriter(model)
    if name == "grown":
        return GrownWriter(ranking=ranking)
    return pointer_writer(name.replace(GRAPH, graph))
