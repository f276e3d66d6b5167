"""Keys of ids: the same for the same text wherever it stands, and different for different ones."""

from hypothesis import given
from hypothesis import strategies as st

from askgraph.index._table import keys_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXTS, max_size=12))
def test_a_text_has_one_key_wherever_it_stands(texts: list[str]) -> None:
    assert keys_of(texts).tolist() == [int(keys_of([text])[0]) for text in texts]


@given(st.sets(TEXTS.filter(lambda text: "\0" not in text), max_size=40))
def test_different_texts_have_different_keys(texts: set[str]) -> None:
    assert len(set(keys_of(sorted(texts)).tolist())) == len(texts)


def test_a_hundred_thousand_like_ids_have_different_keys() -> None:
    ids = [f"http://example.org/entity/Q{number}" for number in range(100_000)]
    assert len(set(keys_of(ids).tolist())) == len(ids)
