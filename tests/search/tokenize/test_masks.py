"""The form of a question is how it asks: the same whatever things it names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.index.names import IndexedName, ItemKind, NameIndex
from askgraph.search.link import link_question
from askgraph.search.tokenize import build_question_form, compare_forms, tokenize


@for_each(
    ("one", "other"),
    ("How many moons does Mars have?", "How many dogs does Ann have?"),
    ("Which moons are larger than Io?", "Which ships are bigger than Mary Rose?"),
    ("Welcher Mond ist der größte?", "Welcher Hund ist der größte?"),
    ("List 3 bodies named 'Io'.", "List 12 pets named 'Rex the Second'."),
)
def test_questions_that_ask_alike_have_one_form(one: str, other: str) -> None:
    assert build_question_form(one) == build_question_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many moons does Mars have?", "Which moons does Mars have?"),
        ("Which is the largest moon?", "Which is the smallest moon?"),
        ("Which moons orbit Mars?", "Which moons do not orbit Mars?"),
    ],
)
def test_questions_that_ask_otherwise_have_other_forms(one: str, other: str) -> None:
    assert build_question_form(one) != build_question_form(other)


def test_an_operator_counts_for_more_than_a_function_word() -> None:
    count, each, plain = map(
        build_question_form,
        ("How many moons are there?", "Count all of the planets", "Which moons are there?"),
    )

    assert compare_forms(count, each) < 1
    assert compare_forms(count, build_question_form("How many dogs are there?")) == 1
    assert compare_forms(count, plain) < compare_forms(count, build_question_form("How many dogs?"))


@given(st.text(max_size=60), st.text(max_size=60))
def test_likeness_is_a_share_the_same_both_ways_and_whole_of_itself(one: str, other: str) -> None:
    mine, theirs = build_question_form(one), build_question_form(other)

    assert 0 <= compare_forms(mine, theirs) <= 1
    assert compare_forms(mine, theirs) == pytest.approx(compare_forms(theirs, mine))
    assert compare_forms(mine, mine) == 1


NAMES = (
    "temp", "dept", "qty", "noe", "dob", "addr", "mgr", "lng", "yr", "id", "unit price",
    "gross domestic product", "cat", "art",
)  # fmt: skip
INDEX = NameIndex.from_names(
    [IndexedName(name, f"http://example.org/{name}", ItemKind.PREDICATE) for name in NAMES]
)


def linked(question: str) -> dict[str, tuple[str, ...]]:
    return {one.name: one.how for one in link_question(tokenize(question, "en"), INDEX).links}


@for_each(
    ("question", "name", "how"),
    ("What is the temperature?", "temp", "short"),
    ("Which department is it?", "dept", "short"),
    ("What quantity was sold?", "qty", "short"),
    ("List each address", "addr", "short"),
    ("Who is the manager?", "mgr", "short"),
    ("longitude of the stop", "lng", "short"),
    ("What is the number of employees?", "noe", "initials"),
    ("What is the date of birth?", "dob", "initials"),
    ("What is the GDP?", "gross domestic product", "initials"),
)
def test_a_short_name_is_found_by_what_it_is_short_for(question: str, name: str, how: str) -> None:
    assert how in linked(question)[name]


@for_each(
    ("question", "name"),
    ("Which categories are there?", "cat"),
    ("List the articles", "art"),
    ("Show the tempo", "temp"),
    ("Show the invoice date", "id"),
)
def test_a_word_is_no_short_form_of_another(question: str, name: str) -> None:
    assert name not in linked(question) or linked(question)[name] != ("short",)
