"""Modules that take seconds to import: they come at their first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    import transformers
    import xgrammar

    from askgraph.llm import anthropic, google, pretrained
    from askgraph.llm import transformers as local
    from askgraph.training import train as training
else:

    class _Late:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            if attribute.startswith("_"):
                raise AttributeError(attribute)
            return getattr(import_module(self._name), attribute)

    torch, transformers, xgrammar = map(_Late, ("torch", "transformers", "xgrammar"))
    _MODULES = ("anthropic", "google", "pretrained", "transformers")
    anthropic, google, pretrained, local = (_Late(f"askgraph.llm.{name}") for name in _MODULES)
    training = _Late("askgraph.training.train")

__all__ = [
    "anthropic", "google", "local", "pretrained", "torch", "training", "transformers", "xgrammar",
]  # fmt: skip
