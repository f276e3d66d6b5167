"""What needs the libraries of models on this machine, loaded by name, or an error that says how."""

from importlib import import_module
from types import ModuleType

from askgraph.errors import SetupError

__all__ = ["local_module"]

_LIBRARIES = frozenset(["accelerate", "peft", "tokenizers", "torch", "transformers", "xgrammar"])


def local_module(name: str) -> ModuleType:
    """Import a module that needs the extra `local`; `SetupError` where it is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as problem:
        library = (problem.name or "").partition(".")[0]
        if library not in _LIBRARIES:
            raise
        raise SetupError(
            f"this needs {library}, which is not installed: pip install 'askgraph[local]'"
        ) from problem
