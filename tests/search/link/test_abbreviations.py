"""Short forms in a graph's own names are found by the words that they are made of."""

import pytest

from askgraph.index.names import Kind, Name, NameIndex
from askgraph.search.link import link_question
from askgraph.search.tokenize import tokenize

NAMES = (
    "temp", "dept", "qty", "noe", "dob", "addr", "mgr", "lng", "yr", "id", "unit price",
    "gross domestic product", "cat", "art",
)  # fmt: skip
INDEX = NameIndex.of([Name(name, f"http://example.org/{name}", Kind.PREDICATE) for name in NAMES])


def linked(question: str) -> dict[str, tuple[str, ...]]:
    return {one.name: one.how for one in link_question(tokenize(question, "en"), INDEX).links}


@pytest.mark.parametrize(
    ("question", "name", "how"),
    [
        ("What is the temperature?", "temp", "short"),
        ("Which department is it?", "dept", "short"),
        ("What quantity was sold?", "qty", "short"),
        ("List each address", "addr", "short"),
        ("Who is the manager?", "mgr", "short"),
        ("longitude of the stop", "lng", "short"),
        ("What is the number of employees?", "noe", "initials"),
        ("What is the date of birth?", "dob", "initials"),
        ("What is the GDP?", "gross domestic product", "initials"),
    ],
)
def test_a_short_name_is_found_by_what_it_is_short_for(question: str, name: str, how: str) -> None:
    assert how in linked(question)[name]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which categories are there?", "cat"),
        ("List the articles", "art"),
        ("Show the tempo", "temp"),
        ("Show the invoice date", "id"),
    ],
)
def test_a_word_is_no_short_form_of_another(question: str, name: str) -> None:
    assert name not in linked(question) or linked(question)[name] != ("short",)
