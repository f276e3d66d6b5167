"""The writer that a setting names: grown without a model, a language model, or trained weights."""

from askgraph.errors import SetupError
from askgraph.llm import LanguageModel
from askgraph.writing import QueryWriter
from askgraph.writing.grown import GrownWriter

__all__ = ["writer_of"]


def writer_of(name: str, model: LanguageModel | None = None) -> QueryWriter:
    """Return the writer `grown`. Raises `SetupError` for a name that there is none of."""
    if name == "grown":
        return GrownWriter()
    raise SetupError(f"'writer' is grown, not {name!r}")
