"""The lexicon: small, sorted, quick to look up, with the relations that questions need."""

import time

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.index.names import stem_word
from askgraph.search.link.lexicon import LEXICON, LICENCE, find_base_forms, find_related_words

RELATED = [
    ("deep", "more", "depth"), ("shallow", "less", "depth"), ("cheap", "less", "price"),
    ("expensive", "more", "price"), ("frequent", "more", "frequency"), ("costly", "more", "price"),
    ("donate", "derivation", "donation"), ("direct", "doer", "director"),
    ("frequent", "derivation", "frequency"), ("danish", "demonym", "denmark"),
    ("american", "demonym", "america"), ("town", "hypernym", "municipality"),
    ("car", "synonym", "automobile"), ("employee", "hypernym", "person"),
    ("book", "hyponym", "catalog"),
]  # fmt: skip


@for_each(("word", "how", "other"), RELATED)
def test_words_have_their_relatives(word: str, how: str, other: str) -> None:
    assert (how, (other,)) in {(one.how, one.words) for one in find_related_words(word)}


@for_each(
    ("form", "word"),
    ("won", "win"),
    ("donated", "donate"),
    ("stopped", "stop"),
    ("bought", "buy"),
    ("carried", "carry"),
)
def test_a_form_leads_to_its_word(form: str, word: str) -> None:
    assert word in find_base_forms(form)
    assert {one.words for one in find_related_words(word)} <= {
        one.words for one in (*find_related_words(form), *find_related_words(word))
    }


def test_the_file_is_small_sorted_and_lies_with_its_licence() -> None:
    data = LEXICON.read_bytes()
    keys = [line.split(b" ", 1)[0] for line in data.splitlines()]
    assert len(data) <= 2_000_000
    assert keys == sorted(set(keys))
    assert "WordNet 3.0 Copyright" in LICENCE.read_text("utf-8")


def test_every_line_is_found() -> None:
    keys = [line.split(" ", 1)[0] for line in LEXICON.read_text("utf-8").splitlines()]
    assert all(find_base_forms(key) for key in (keys[0], keys[-1], *keys[:: len(keys) // 200]))


@given(st.text(max_size=12))
def test_no_text_breaks_a_look_up(word: str) -> None:
    for one in find_related_words(stem_word(word)):
        assert 0 < one.weight <= 1
        assert one.words


def test_a_look_up_takes_far_less_than_a_millisecond() -> None:
    words = [line.split(" ", 1)[0] for line in LEXICON.read_text("utf-8").splitlines()[::500]]
    taken = []
    for _ in range(3):
        started = time.process_time()
        for word in words:
            find_related_words(word)
        taken.append(time.process_time() - started)
    assert min(taken) < 0.5
