"""An embedder is made from its name."""

import importlib.util

import numpy as np
import pytest

from askgraph.errors import SetupError
from askgraph.index.embeddings import embedder_of


def test_hashed_gives_like_spellings_like_vectors() -> None:
    like, same, other = embedder_of("hashed").embed(["Einstein", "Einsteins", "Ganymede"])
    assert np.dot(like, same) > 4 * abs(np.dot(like, other))


@pytest.mark.parametrize("name", ["", "hash", "local:", "openai:", "openai:small"])
def test_an_unknown_name_is_a_setup_error(name: str) -> None:
    with pytest.raises(SetupError, match="name 'hashed', 'local:PATH' or 'openai:MODEL@URL'"):
        embedder_of(name)


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="it is installed"
)
def test_a_missing_library_is_told_with_its_extra() -> None:
    with pytest.raises(SetupError, match=r"pip install 'askgraph\[embeddings\]'"):
        embedder_of("local:small")
