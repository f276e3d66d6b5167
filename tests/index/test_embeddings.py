"""A text is embedded once, as long as it is kept."""

import importlib.util
from collections.abc import Sequence

import numpy as np
import pytest

from askgraph.errors import SetupError
from askgraph.index.embeddings import KeptEmbedder, Vectors, embedder_of, kept_embedder


class Counting:
    """Embeds a text as its length, and notes what it was asked for."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def test_a_text_that_is_known_is_not_embedded_again() -> None:
    inner = Counting()
    kept = KeptEmbedder(inner)

    kept.embed(["a", "bb", "a"])
    rows = kept.embed(["bb", "ccc"])

    assert inner.asked == ["a", "bb", "ccc"]
    assert rows.tolist() == [[2, 1], [3, 1]]


def test_the_oldest_are_forgotten() -> None:
    inner = Counting()
    kept = KeptEmbedder(inner, most=2)

    rows = kept.embed(["a", "bb", "ccc"])
    kept.embed(["ccc", "a"])

    assert rows.tolist() == [[1, 1], [2, 1], [3, 1]]
    assert inner.asked == ["a", "bb", "ccc", "a"]


def test_an_embedder_of_a_name_is_one_and_the_same() -> None:
    assert kept_embedder("hashed") is kept_embedder("hashed")
    assert kept_embedder("hashed").name == "hashed"
    with pytest.raises(SetupError, match="no embedder"):
        kept_embedder("nothing")


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
