"""Words are folded, split and stemmed so that equal ones meet, and nothing more."""

from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.index import DiskIndex, Resource, _postings
from askgraph.index._table import hash_texts
from askgraph.index.folder import IndexFolder, IndexFormat, create_folder
from askgraph.index.names import fold_word, split_tokens, stem_word
from askgraph.plugins import load


@given(text=st.text())
@example("İ ŉ ﬁ ǰ ẞ ͅ ᾳ")
@example("Curie's hasSite2")
def test_tokens_of_tokens_are_the_same_tokens(text: str) -> None:
    once = split_tokens(text)
    assert split_tokens(" ".join(once)) == once


@given(text=st.text(max_size=20))
@example("classes")
@example("glasses")
@example("serieses")
@example("businesses")
@example("ssss")
def test_a_stem_is_its_own_stem(text: str) -> None:
    for word in split_tokens(text):
        assert stem_word(stem_word(word)) == stem_word(word)


@given(word=st.text(max_size=20))
def test_a_folded_word_is_folded(word: str) -> None:
    assert fold_word(fold_word(word)) == fold_word(word)


@for_each(
    ("text", "expected"),
    ("Marie Curie", ("marie", "curie")),
    ("launchSite", ("launch", "site")),
    ("hasSite2", ("has", "site", "2")),
    ("Curie's", ("curie",)),
    ("Zürich", ("zurich",)),
    ("São_Tomé", ("sao", "tome")),
    ("1,000.5", ("1,000.5",)),
    ("富士山", ("富士山",)),
    ("МОСКВА", ("москва",)),
    ("", ()),
    ("?!", ()),
)
def test_text_is_cut_into_words(text: str, expected: tuple[str, ...]) -> None:
    assert split_tokens(text) == expected


@for_each(
    ("plural", "singular"),
    ("moons", "moon"),
    ("cities", "city"),
    ("boxes", "box"),
    ("churches", "church"),
    ("dishes", "dish"),
    ("masses", "mass"),
    ("cars", "car"),
)
def test_plural_and_singular_have_one_stem(plural: str, singular: str) -> None:
    assert stem_word(plural) == stem_word(singular)


def test_what_is_no_plural_and_marks_of_other_scripts_stay() -> None:
    for word in ("mass", "status", "analysis", "gas", "bus", "as", "1990"):
        assert stem_word(word) == word
    assert fold_word("й") != "и" and fold_word("が") != "か" and fold_word("ά") == "ά"


TEXTS = st.text(alphabet="ab cé", max_size=8)
NAMES = st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3), TEXTS), max_size=12)


@pytest.mark.parametrize("kind", ["keyword", "bm25", "trigram"])
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=NAMES, part=st.integers(1, 9))
def test_postings_sorted_in_parts_are_the_same(
    kind: str,
    names: list[tuple[str, list[str], str]],
    part: int,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = cast(type[DiskIndex], load("index", kind))
    resources = [
        Resource(f"http://example.org/{at}", label, tuple(synonyms), at % 3, (info,))
        for at, (label, synonyms, info) in enumerate(names)
    ]
    folder = tmp_path_factory.mktemp("indices")
    plugin.build(resources, folder / "at once")
    with monkeypatch.context() as patch:
        patch.setattr(_postings, "_MAX_SORTED_COUNT", part)
        plugin.build(resources, folder / "in parts")

    assert arrays(folder / "in parts") == arrays(folder / "at once")


def arrays(folder: Path) -> dict[str, bytes]:
    found = {file.name: file.read_bytes() for file in folder.glob("*.npy")}
    assert len(found) > 5
    return found


LINES = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(LINES, max_size=12))
def test_a_text_has_one_key_wherever_it_stands(texts: list[str]) -> None:
    assert hash_texts(texts).tolist() == [int(hash_texts([text])[0]) for text in texts]


@given(st.sets(LINES.filter(lambda text: "\0" not in text), max_size=40))
def test_different_texts_have_different_keys(texts: set[str]) -> None:
    assert len(set(hash_texts(sorted(texts)).tolist())) == len(texts)


def test_a_hundred_thousand_like_ids_have_different_keys() -> None:
    ids = [f"http://example.org/entity/Q{number}" for number in range(100_000)]
    assert len(set(hash_texts(ids).tolist())) == len(ids)


def test_arrays_and_settings_come_back(tmp_path: Path) -> None:
    folder, kind = tmp_path / "index", IndexFormat("moons", 1)
    with pytest.raises(ZeroDivisionError), create_folder(folder, kind):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []  # nothing is left of what fails
    with create_folder(folder, kind, {"k": 1.5, "of": ["a", "b"]}) as new:
        new.save("sizes", np.arange(1000))
        new.save("none", np.zeros(0))
    opened = IndexFolder.open(folder, kind)
    assert opened.map_array("sizes").sum() == 499_500
    assert opened.map_array("none").size == 0
    assert (opened.get_number("k"), opened.get_texts("of")) == (1.5, ["a", "b"])
    with pytest.raises(SetupError, match="has version 1, but this askgraph reads version 2"):
        IndexFolder.open(folder, IndexFormat("moons", 2))
    (tmp_path / "letter").write_text("Dear", encoding="utf-8")
    with (
        pytest.raises(SetupError, match="contains files that do not belong to an index"),
        create_folder(tmp_path / "letter", kind),
    ):
        pass
