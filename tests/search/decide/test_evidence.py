"""What a query leaves out of a question is named, and nothing that it stands for."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.each import for_each
from tests.search.asking import Known
from tests.search.test_candidates import ASKED, WORDS

from askgraph.search import decide
from askgraph.search.rank import cluster_candidates


def left(zoo: Known, question: str, language: str | None = None) -> tuple[str, ...]:
    proposal = zoo.proposal(question, language)
    return decide.find_omitted_words(proposal, cluster_candidates(proposal.candidates)[0].best)


@for_each(
    ("question", "language", "words"),
    ("What is the weight of Kito the brave?", "en", ("brave",)),
    ("Which birds has Mara Lindqvist trained with a whistle?", "en", ("trained", "whistle")),
    ("Welche Vögel pfeifen?", "de", ("pfeifen",)),
    ("¿Qué animals silban?", "es", ("silban",)),
    ("Quels animals sifflent ?", "fr", ("sifflent",)),
)
def test_words_that_no_part_stands_for_are_named(
    question: str, language: str, words: tuple[str, ...], zoo: Known
) -> None:
    assert set(words) <= set(left(zoo, question, language))


@for_each(
    ("question", "word"),
    ("Which different animals eat fish?", "different"),
    ("Which feedings took place on 2024-05-01?", "place"),
    ("Which animals came from Lion Rock?", "came"),
    ("What does Tara eat?", "eat"),
)
def test_words_that_say_nothing_more_are_not(question: str, word: str, zoo: Known) -> None:
    assert word not in left(zoo, question)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Show different enclosures and the number of animals of each enclosure.", "different"),
        ("How many animals are there in total?", "in total"),
        ("What is the weight of each animal?", "each"),
    ],
)
def test_a_reader_sees_what_groups_and_columns_say(question: str, word: str, zoo: Known) -> None:
    proposal = zoo.proposal(question)
    best = cluster_candidates(proposal.candidates)[0].best
    assert word not in decide.find_omitted_words(proposal, best, is_query_shown=True)
    assert set(decide.find_omitted_words(proposal, best, is_query_shown=True)) <= set(
        decide.find_omitted_words(proposal, best)
    )


def test_an_operator_without_its_argument_is_named_as_a_phrase(zoo: Known) -> None:
    proposal = zoo.proposal("Which birds do not live in Penguin Pool?")
    plain = [one for one in proposal.candidates if "not" not in one.notes]
    unserved = [one for one in plain if "NOT EXISTS" not in zoo.query(one.query)]
    assert any("do not" in decide.find_omitted_words(proposal, one) for one in unserved)


@for_each("question", ASKED)
def test_questions_of_the_words_of_the_graph_leave_nothing_out(question: str, zoo: Known) -> None:
    assert len(left(zoo, question)) <= 1


@given(words=st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_all_that_is_left_out_stands_in_the_question(words: list[str], zoo: Known) -> None:
    question = " ".join(words)
    proposal = zoo.proposal(question)
    for candidate in proposal.candidates[:5]:
        for phrase in decide.find_omitted_words(proposal, candidate):
            assert phrase in question


@pytest.mark.parametrize(
    "question",
    ["What is the heaviest animal of each enclosure?", "For each enclosure, its heaviest animal"],
)
def test_the_extreme_of_each_group_is_an_order_and_no_condition(question: str, zoo: Known) -> None:
    proposal = zoo.proposal(question)
    found = cluster_candidates(proposal.candidates)
    evidence = decide.collect_evidence(proposal, found)
    assert "GROUP BY" in zoo.query(found[0].best.query)
    assert (evidence["ranked"], evidence["compares"], evidence["head_missed"]) == (1, 0, 0)
    assert decide.compute_confidence_factor(proposal, found[0].best, rows=3) == 1


@for_each(
    ("question", "share"),
    ("How many birds whistle?", decide.UNFILTERED_CLASS_FACTOR),
    ("Which birds whistle?", decide.UNFILTERED_CLASS_FACTOR),
    ("List the spotted birds", decide.UNFILTERED_CLASS_FACTOR),
    ("How many birds are there in total?", 1),
    ("List the known birds", 1),
    ("Which whistling birds live in Penguin Pool?", 1),
)
def test_a_class_is_not_sure_if_a_word_is_left(question: str, share: float, zoo: Known) -> None:
    proposal = zoo.proposal(question)
    best = cluster_candidates(proposal.candidates)[0].best
    assert decide.compute_confidence_factor(proposal, best, rows=3) == share


def test_words_that_say_nothing_cost_no_confidence(zoo: Known) -> None:
    known, unknown = (
        decide.collect_evidence(proposal, cluster_candidates(proposal.candidates))
        for proposal in map(zoo.proposal, ("List the known birds", "List the spotted birds"))
    )
    assert (known["unused"], known["covered"]) == (0, 1)
    assert unknown["unused"] == 1 and unknown["covered"] < 1
