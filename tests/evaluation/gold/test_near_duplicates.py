"""Questions that repeat each other."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from askgraph.errors import SetupError
from askgraph.evaluation.gold.near_duplicates import (
    MIN_SIMILARITY_RATIO,
    find_leaks,
    find_near_duplicates,
    find_repeats,
    group_duplicates,
    split_folds,
    split_leave_one_out,
)
from askgraph.evaluation.questions import GoldQuestion

MOONS = "SELECT ?m { ?m <urn:orbits> <urn:Mars> }"
SUNS = "SELECT ?s { ?s a <urn:Sun> }"


def question(text: str, sparql: str | None = None, graph: str | None = None) -> GoldQuestion:
    return GoldQuestion(text, text, sparql=sparql, graph=graph)


def kinds(*questions: GoldQuestion) -> list[tuple[int, int, str]]:
    return [(pair.first, pair.second, pair.kind) for pair in find_near_duplicates(questions)]


def test_which_questions_are_alike() -> None:
    # Case and punctuation do not make another question.
    assert kinds(question("Which moons has Mars?"), question("which moons has MARS")) == [
        (0, 1, "same question")
    ]
    # Other words with the same query are found.
    found = kinds(question("Which moons has Mars?", MOONS), question("What orbits Mars?", MOONS))
    assert found == [(0, 1, "same query")]
    # Nearly the same words are found.
    found = kinds(
        question("Which of the moons of Jupiter has the largest radius?", MOONS),
        question("How many suns are there?", SUNS),
        question("Which of the moons of Jupiter had the largest radius?"),
    )
    assert found == [(0, 2, "similar question")]
    # Another number makes another question.
    text = "Which of the moons of Jupiter were discovered before the year {}?"
    assert kinds(question(text.format(1900)), question(text.format(1901))) == []
    # Each of many equal questions is paired with the first.
    assert kinds(*[question("Which?")] * 4) == [(0, at, "same question") for at in (1, 2, 3)]
    # Questions of different graphs are no duplicates.
    text = "How many are there?"
    assert kinds(question(text, graph="cars.ttl"), question(text, graph="dogs.ttl")) == []
    assert kinds(question(text, graph="cars.ttl"), question(text)) == [(0, 1, "same question")]
    # Questions without words are no duplicates.
    assert kinds(question(""), question("?"), question("")) == [] and find_near_duplicates([]) == ()
    # Similar words with other queries are no group.
    one = "Which of the moons of Jupiter has the largest radius?"
    other = one.replace("has", "had")
    assert kinds(question(one, MOONS), question(other, SUNS)) == [(0, 1, "similar words")]
    assert group_duplicates([question(one, MOONS), question(other, SUNS)]) == (0, 1)
    assert group_duplicates([question(one, MOONS), question(other)]) == (0, 0)
    # Groups follow chains.
    questions = [
        question("Which moons has Mars?", MOONS),
        question("How many suns are there?", SUNS),
        question("What orbits Mars?", MOONS),
        question("what orbits mars"),
    ]
    assert group_duplicates(questions) == (0, 1, 0, 0)


NAMES = ["Jupiter", "Saturn", "Neptune", "Uranus", "Mercury", "Pluto"]
KINDS = "inner outer giant dwarf rocky icy gas far near old young cold hot large".split()


@pytest.mark.slow
def test_no_similar_pair_of_a_thousand_is_missed() -> None:
    texts = [
        f"What is the {what} of the {place} moon of {name} of the {kind}"
        for what in ("radius", "mass", "orbital period", "diameter")
        for place in ("first", "second", "outermost")
        for name in NAMES
        for kind in KINDS
    ]
    expected = {
        (one, other)
        for one in range(0, len(texts), 97)
        for other in range(one + 1, len(texts))
        if fuzz.token_sort_ratio(texts[one].lower(), texts[other].lower())
        >= 100 * MIN_SIMILARITY_RATIO
    }
    found = {(p.first, p.second) for p in find_near_duplicates([question(text) for text in texts])}
    assert len(texts) == 1008 and len(expected) > 50
    assert len(expected - found) <= 0.1 * len(expected)


WORDS = st.lists(st.sampled_from(["moon", "sun", "of", "Mars", "which", "has"]), max_size=6)


@given(st.lists(WORDS, max_size=8))
def test_pairs_are_in_order_and_as_similar_as_they_say(texts: list[list[str]]) -> None:
    questions = [question(" ".join(words)) for words in texts]
    for pair in find_near_duplicates(questions):
        assert pair.first < pair.second
        one, other = (questions[at].text.lower() for at in (pair.first, pair.second))
        assert pair.similarity >= MIN_SIMILARITY_RATIO and (one == other) == (
            pair.kind == "same question"
        )


A = GoldQuestion("a", "Which moons has Mars?", sparql=MOONS)
B = GoldQuestion("b", "What orbits Mars?", sparql=MOONS)
C = GoldQuestion("c", "which moons has mars", sparql=SUNS)
D = GoldQuestion("d", "How many suns are there?", sparql=SUNS)


def test_leaks() -> None:
    # Each question is told once with the one it repeats.
    found = [(finding.id, finding.kind, finding.seen) for finding in find_repeats([A, B, C])]
    assert found == [
        ("b", "same query", "'a': Which moons has Mars?"),
        ("c", "same question", "'a': Which moons has Mars?"),
    ]
    # A translation repeats nothing.
    german = GoldQuestion("a@de", "Welche Monde hat der Mars?", "de", sparql=MOONS)
    english = GoldQuestion("a@en", "Which moons has Mars?", "en", sparql=MOONS)
    assert find_repeats([german, english]) == ()
    # A training question word by word is an error and its query a warning.
    leaked = [(f.id, f.kind, f.severity, f.seen) for f in find_leaks([B, C, D], [A])]
    assert leaked == [
        ("b", "near leak", "warning", "same query, 'a': Which moons has Mars?"),
        ("c", "leak", "error", "training question 'a': Which moons has Mars?"),
    ]
    # Questions that repeat only each other leak nothing.
    assert find_leaks([A, B], [D]) == ()
    # Similar words with another query are told but leak nothing.
    most = GoldQuestion("m", "Which of the moons of Jupiter has the largest radius?", sparql=MOONS)
    had = GoldQuestion("h", "Which of the moons of Jupiter had the largest radius?", sparql=SUNS)
    assert [finding.kind for finding in find_repeats([most, had])] == ["similar question"]
    assert find_leaks([had], [most]) == ()
    # Questions that repeat each other stay together.
    query = "SELECT ?m { ?m <urn:orbits> <urn:Mars> }"
    asked = [*questions(8), GoldQuestion("a", "Moons?", sparql=query)]
    asked += [GoldQuestion("b", "What orbits Mars?", sparql=query.replace("?m", "?x"))]
    for split in split_folds(asked, 5):
        assert (8 in split.test) == (9 in split.test)
    # Too few groups are refused.
    with pytest.raises(SetupError, match="3 questions in 1 groups of near-duplicates"):
        split_folds(questions(3), 2, groups=["same"] * 3)


def questions(count: int) -> list[GoldQuestion]:
    return [GoldQuestion(f"q{at}", f"question {at * at}") for at in range(count)]


LABELS = st.lists(st.integers(0, 8), min_size=4, max_size=40)


@given(LABELS, st.integers(2, 4), st.integers(0, 3))
def test_each_question_is_tested_once_and_not_learnt(labels: list[int], k: int, seed: int) -> None:
    if len(set(labels)) < k:
        return
    found = split_folds(questions(len(labels)), k, seed=seed, groups=labels)
    assert sorted(at for split in found for at in split.test) == list(range(len(labels)))
    for split in found:
        assert sorted(split.train + split.test) == list(range(len(labels)))
        assert {labels[at] for at in split.train}.isdisjoint(labels[at] for at in split.test)


@given(LABELS, st.integers(2, 4))
def test_parts_differ_by_no_more_than_the_largest_group(labels: list[int], k: int) -> None:
    if len(set(labels)) < k:
        return
    sizes = [len(split.test) for split in split_folds(questions(len(labels)), k, groups=labels)]
    assert max(sizes) - min(sizes) <= max(labels.count(label) for label in labels)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_questions_does_not_matter_and_the_seed_does(random: Random) -> None:
    asked = questions(30)
    mixed = random.sample(asked, len(asked))

    def parts(order: list[GoldQuestion], seed: int) -> list[set[str]]:
        return [{order[at].id for at in split.test} for split in split_folds(order, 3, seed=seed)]

    assert parts(asked, 1) == parts(mixed, 1) and parts(asked, 1) != parts(asked, 2)


def test_each_label_is_left_out_once() -> None:
    found = split_leave_one_out(["cars", "dogs", "cars", "cats"])
    assert [(split.name, split.train, split.test) for split in found] == [
        ("cars", (1, 3), (0, 2)),
        ("dogs", (0, 2, 3), (1,)),
        ("cats", (0, 1, 2), (3,)),
    ]
    with pytest.raises(SetupError, match="available: cars"):
        split_leave_one_out(["cars", "cars"])
