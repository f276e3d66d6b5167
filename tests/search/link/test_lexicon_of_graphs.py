"""Words that mean the same find the names of classes and predicates that a graph has."""

import tomllib

from tests.each import for_each

from askgraph.index.names import IndexedName, ItemKind, NameIndex, split_tokens, stem_word
from askgraph.search.link import Link, link_question
from askgraph.search.link.lexicon import LEXICON, is_related
from askgraph.search.tokenize import tokenize
from askgraph.search.tokenize.question_operators import detect_operators

SPACE = "http://example.org/"
INDEX = NameIndex.from_names(
    [
        *(
            IndexedName(name, SPACE + name, ItemKind.CLASS)
            for name in ("municipality", "physician", "person")
        ),
        *(
            IndexedName(name, SPACE + name, ItemKind.PREDICATE)
            for name in ("teaches", "occupation", "teacher")
        ),
        IndexedName("Denmark", SPACE + "Q1", ItemKind.ENTITY),
        IndexedName("metropolis bank", SPACE + "Q2", ItemKind.ENTITY),
        IndexedName("USA", '"USA"', ItemKind.VALUE),
    ]
)


def found(question: str) -> dict[str, Link]:
    return {one.name: one for one in link_question(tokenize(question, "en"), INDEX).links}


@for_each(
    ("question", "name", "how"),
    ("Which cities are there?", "municipality", "synonym"),
    ("Which doctors are there?", "physician", "near"),
    ("Which employees are there?", "person", "hypernym"),
    ("Who taught it?", "teacher", "doer"),
    ("Who taught it?", "teaches", "derivation"),
    ("Which Danish ones are there?", "Denmark", "demonym"),
    ("Which American ones are there?", "USA", "code"),
)
def test_a_word_finds_what_means_the_same(question: str, name: str, how: str) -> None:
    assert found(question)[name].how == (how,)
    assert found(question)[name].quality < 0.9


def test_a_word_that_a_class_is_called_by_means_nothing_else() -> None:
    assert set(found("Which municipality is it?")) == {"municipality"}


def test_names_of_things_are_not_found_by_words_akin() -> None:
    assert "metropolis bank" not in found("Which city is it?")


def test_other_languages_have_no_lexicon_yet() -> None:
    links = link_question(tokenize("Which towns are there?", "de"), INDEX).links
    assert all("hypernym" not in one.how for one in links)


def test_no_word_of_a_listed_set_is_told_by_the_lexicon() -> None:
    """The list of English has only what the lexicon lacks."""
    listed = tomllib.loads(
        (LEXICON.parents[1] / "tokenize" / "words" / "en.toml").read_text("utf-8")
    )["synonyms"]["sets"]
    for line in listed:
        words = tuple(dict.fromkeys(stem_word(word) for word in split_tokens(line)))
        assert len(words) > 1
        for word in words:
            others = [other for other in words if other != word]
            assert not all(is_related(word, x) and is_related(x, word) for x in others), line


NOUNS = ("profitability", "loudness", "riskiness", "frequency")
MEASURED = NameIndex.from_names(
    [IndexedName(name, f"http://example.org/{name}", ItemKind.PREDICATE) for name in NOUNS]
)


@for_each(
    ("question", "degree", "up", "noun"),
    ("Which is the loudest engine?", "superlative", True, "loudness"),
    ("Which is the least loud engine?", "superlative", False, "loudness"),
    ("Which is the riskiest engine?", "superlative", True, "riskiness"),
    ("Which are riskier than 3?", "comparative", True, "riskiness"),
    ("Which are less frequent than 3?", "comparative", False, "frequency"),
)
def test_adjectives_lead_to_scale_nouns(question: str, degree: str, up: bool, noun: str) -> None:
    linked = link_question(tokenize(question, "en"), MEASURED)
    [operator] = detect_operators(linked.reading, linked.scales).get_operators(
        "superlative", "comparative"
    )
    assert operator.name == degree
    assert operator.measure is not None
    assert (operator.measure.is_upward, operator.measure.property_names[0]) == (up, noun)


def test_it_is_no_operator_if_the_graph_has_no_such_noun() -> None:
    assert link_question(tokenize("Which is the saddest engine?", "en"), MEASURED).scales == ()
