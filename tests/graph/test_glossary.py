"""A graph's glossary as a file: what was written is read again, what is wrong is said."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.graph.glossary import Entry, Glossary, glossary_text, read_glossary

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(str.strip)
WORDS = st.from_regex(r"[a-z]{3,9}[0-9]", fullmatch=True)
ENTRIES = st.one_of(
    st.builds(Entry, WORDS, means=st.just(("urn:a:b", "urn:a:c"))),
    st.builds(Entry, WORDS, same_as=TEXTS.filter(bool)),
    st.builds(Entry, WORDS, query=TEXTS.filter(bool)),
)


@given(st.lists(ENTRIES, max_size=5), TEXTS)
def test_what_is_written_is_read_again(entries: list[Entry], instructions: str) -> None:
    made = Glossary(instructions=instructions).with_entries(*entries)
    assert read_glossary(glossary_text(made), "x.toml") == made


def test_many_words_are_read_in_a_moment() -> None:
    every = Glossary().with_entries(*(Entry(f"word {n}", ("urn:a:b",)) for n in range(5000)))
    began = time.monotonic()
    assert read_glossary(glossary_text(every), "x.toml") == every
    assert time.monotonic() - began < 40  # seconds; one by one it were eighty, if idle


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("word = ", "x.toml is no TOML"),
        ("words = 1", "'words' is neither 'instructions' nor"),
        ("entry = 1", "with two brackets"),
        ("[entry]\nword = 'a1'", "with two brackets"),
        ("instructions = 3", "'instructions' is a text"),
        ("[[entry]]\nword = 'a1'\n", "say what 'a1' means by one of means, same_as, query"),
        ("[[entry]]\nword = 'a1'\nmeans = 'x'\nquery = 'y'", "by one of"),
        ("[[entry]]\nmeans = 'x'", "'word' is the word or phrase to explain"),
        ("[[entry]]\nword = '?!'\nmeans = 'x'", "'word' is the word or phrase to explain"),
        ("[[entry]]\nword = 'a1'\nmeans = [1]", "'means' is a text"),
        ("[[entry]]\nword = 'a1'\nmeans = 1", "'means' is a text"),
        ("[[entry]]\nword = 'a1'\nmeans = 'x'\nwhy = 1", "'why' is none of word, means"),
        (
            "[[entry]]\nword = 'car'\nmeans = 'x'\n[[entry]]\nword = 'Cars'\nmeans = 'y'",
            r"\[\[entry\]\] 2: 'Cars' is explained twice, also as 'car'",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        read_glossary(text, "x.toml")
