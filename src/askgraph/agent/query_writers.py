"""The writer that a setting names: grown without a model, a language model, or trained weights."""

from askgraph.errors import SetupError
from askgraph.llm import LanguageModel
from askgraph.writing import QueryWriter
from askgraph.writing.grown import GrownWriter
from askgraph.writing.prompted import PromptedWriter

__all__ = ["check_writer", "writer_of"]


def check_writer(name: str, model: LanguageModel | None) -> None:
    """Raise `SetupError` for a writer that there is none of, and for `model` without one."""
    if name == "model" and model is None:
        raise SetupError("writer=model needs a language model: name one with the setting 'model'")
    if name not in ("grown", "model"):
        raise SetupError(f"'writer' is grown or model, not {name!r}")


def writer_of(name: str, model: LanguageModel | None = None) -> QueryWriter:
    """Return a writer by its name; see `check_writer`."""
    check_writer(name, model)
    if name == "model" and model is not None:
        return PromptedWriter(model)
    return GrownWriter()
