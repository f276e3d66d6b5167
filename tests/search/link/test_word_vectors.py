"""Word vectors: the codec, words in four languages, parts of words, names of an index."""

import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.each import for_each
from tools.make_word_vectors import format_table

from askgraph.index.names import IndexedName, ItemKind, NameIndex
from askgraph.search.link import word_vectors
from askgraph.search.tokenize.word_lists import translate_word

WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyzß", min_size=1), max_size=20, unique=True)


@given(WORDS, st.data())
def test_a_file_gives_back_what_was_put_in_it(words: list[str], data: st.DataObject) -> None:
    by_hash = {word_vectors.hash_word(word): word for word in words}
    numbers = st.floats(-100, 100, width=32)
    vectors = data.draw(arrays(np.float32, (len(by_hash), 8), elements=numbers))
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.bin")
        path.write_bytes(format_table(np.array([*by_hash], np.uint32), vectors))
        table = word_vectors.WordVectorTable.load(path)

        for word, vector in zip(by_hash.values(), vectors, strict=True):
            found = table.find(word)
            assert found is not None
            step = np.abs(vector).max() / 7
            assert np.abs(found - vector).max() <= 0.51 * step + 0.005 * np.abs(vector).max() + 1e-6
        assert table.find("0") is None


def test_another_file_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "table.bin"
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"table\.bin is no table of word vectors"):
        word_vectors.WordVectorTable.load(path)


def test_the_file_is_small_and_lies_with_its_licences() -> None:
    assert word_vectors.WORD_VECTORS.stat().st_size <= 6_000_000
    licence = word_vectors.LICENCE.read_text("utf-8")
    assert "Apache License" in licence
    assert "wordfreq" in licence


def compare_words(first: list[str], second: list[str]) -> float:
    """Return the cosine of two phrases, 0 if one of them has no vector."""
    vectors = word_vectors.combine_words(first), word_vectors.combine_words(second)
    return 0.0 if vectors[0] is None or vectors[1] is None else float(vectors[0] @ vectors[1])


@for_each(
    ("word", "near", "far"),
    ("doctor", "physician", "harbour"),
    ("Gewicht", "weight", "owner"),
    ("dueño", "owner", "weight"),
    ("écrivain", "author", "bridge"),
    ("Schauspieler", "acteur", "río"),
    ("boats", "ship", "salary"),
)
def test_words_of_similar_meaning_are_near_in_all_languages(word: str, near: str, far: str) -> None:
    assert compare_words([word], [near]) > 0.5 > compare_words([word], [far])


def test_a_compound_has_the_meaning_of_its_parts() -> None:
    assert compare_words(["Schiffskapazität"], ["capacity", "ship"]) > 0.5


@for_each("word", ["", "1969", "x2", "東京", "qqqqqqqq"])
def test_a_word_that_is_unknown_has_no_vector(word: str) -> None:
    assert word_vectors.find_vector(word) is None
    assert compare_words([word], ["weight"]) == 0


def test_a_word_of_many_letters_takes_little_memory() -> None:
    assert translate_word("gewicht", "de")  # the tables are read
    tracemalloc.start()
    try:
        assert word_vectors.find_vector("gewicht" * 2_000) is None
        assert translate_word("gewicht" * 2_000, "de") == ()
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_names_of_an_index_are_found_by_meaning_and_things_are_not() -> None:
    index = NameIndex.from_names(
        [
            IndexedName("body weight", "http://x/weight", ItemKind.PREDICATE),
            IndexedName("owner", "http://x/owner", ItemKind.PREDICATE),
            IndexedName("42", "http://x/number", ItemKind.PREDICATE),
            IndexedName("cancelled", '"cancelled"', ItemKind.VALUE),
            IndexedName("Heavy", "http://x/Heavy", ItemKind.ENTITY),
        ]
    )
    vectors = word_vectors.get_name_vectors(index)

    assert [name.text for name in vectors.names] == ["body weight", "owner", "cancelled"]
    assert vectors is word_vectors.get_name_vectors(index)
    ((name, cosine),) = vectors.find_nearest(["peso"], limit=1, at_least=0.5)
    assert (name.text, 0.5 < cosine <= 1) == ("body weight", True)
    assert not vectors.find_nearest(["qqqqqqqq"], limit=1, at_least=0.0)
    assert not word_vectors.get_name_vectors(NameIndex.from_names([])).find_nearest(
        ["peso"], limit=1, at_least=0.0
    )
