"""Texts as vectors: the one contract of what embeds, and the one that a name stands for.

`hashed` needs no model. `local:PATH` is a model of sentence-transformers, on disk or in its cache.
`openai:MODEL@URL` is any server with OpenAI's embeddings address; the key, where it wants one, is
in the environment variable ASKGRAPH_EMBEDDINGS_KEY.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askgraph.errors import SetupError

__all__ = ["Embedder", "Vectors", "embedder_of"]

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Gives texts of like meaning like vectors."""

    @property
    def name(self) -> str:
        """What `embedder_of` makes this one from; an index is searched with the one it names."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, all equally long; lengths of rows do not matter.

        Raises `ServiceError` where a server fails.
        """
        ...


def embedder_of(name: str) -> Embedder:
    """Return the embedder of a name; `SetupError` where there is none such."""
    kind, _, rest = name.partition(":")
    if name == "hashed":
        from askgraph.index.embeddings.hashed import Hashed

        return Hashed()
    if kind == "local" and rest:
        return _local(rest)
    if kind == "openai" and "@" in rest:
        from askgraph.index.embeddings.openai import EmbeddingsServer

        model, _, address = rest.partition("@")
        return EmbeddingsServer(model, address)
    raise SetupError(f"no embedder {name!r}; name 'hashed', 'local:PATH' or 'openai:MODEL@URL'")


def _local(model: str) -> Embedder:
    try:
        from askgraph.index.embeddings.local import LocalModel
    except ModuleNotFoundError as error:
        raise SetupError(
            f"the embedder 'local:{model}' needs {error.name}: pip install 'askgraph[embeddings]'"
        ) from error
    return LocalModel(model)
