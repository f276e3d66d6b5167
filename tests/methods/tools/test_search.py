"""Texts in no index are ranked as an index ranks names."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.index import Resource
from askgraph.index.keyword import KeywordIndex
from askgraph.methods.tools._search import keyword_scores

WORDS = st.sampled_from(["al", "albert", "alberto", "peter", "falk", "finney", "e", "x9"])
TEXTS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


def test_whole_words_before_beginnings_before_mistakes() -> None:
    texts = [["Albert Finney"], ["Carlos Alberto"], ["Peter Falk"]]
    assert keyword_scores("albert", texts) == [1.0, 0.75, 0.0]
    assert keyword_scores("fallk", texts) == [0.0, 0.0, 0.5]


def test_the_best_of_several_names_counts() -> None:
    assert keyword_scores("titan", [["Saturn VI", "Titan"], []]) == [1.0, 0.0]


def test_a_part_of_a_text_without_spaces_is_found() -> None:
    assert keyword_scores("京", [["東京タワー"]])[0] > 0


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5, unique=True), TEXTS)
def test_scores_are_those_of_the_keyword_index(texts: list[str], search: str) -> None:
    resources = [Resource(f"http://x/{at}", text) for at, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        hits = KeywordIndex.build(resources, Path(folder, "i")).search(search, limit=10)
        theirs = {hit.item.iri: hit.score for hit in hits}
    ours = keyword_scores(search, [[text] for text in texts])
    if any(search_word in text for search_word in search.split() for text in texts):
        for at, score in enumerate(ours):
            assert score <= theirs.get(f"http://x/{at}", 0.0) + 1e-6
            assert (score > 0) <= (f"http://x/{at}" in theirs)
