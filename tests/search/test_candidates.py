"""What is true of all candidates: they parse, read only, have results, and are always the same."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.graphs import store_of
from tests.search.asking import Known
from tests.search.zoo import QUESTIONS

from askgraph.sample import questions_path
from askgraph.search.decide import Thresholds, choose_outcome, estimate_confidence
from askgraph.search.rank import Proposal, clusters
from askgraph.sparql.judge import checked

ASKED = [question for _, question, _ in QUESTIONS]
SAMPLE = [
    (line["question"], line["lang"])
    for line in map(json.loads, questions_path().with_suffix(".jsonl").read_text().splitlines())
]
WORDS = (
    "which what who when how many is does the of in by and or not no without each per more than "
    "less between before after most average total three second first animal animals bird birds "
    "mammal keeper enclosure Kito Tara Pip Penguin Pool Mara weight born eats fish meat fed day "
    "heavier oldest lightest part Hillside Zoo 5 150 2015 2 ordered both either"
)
UNKNOWN = "xylophone", "Zanzibar", "qwertzuiop"


def confidence(proposal: Proposal) -> float:
    return estimate_confidence(proposal, clusters(proposal.candidates))


def check_queries(known: Known, proposal: Proposal) -> None:
    for candidate in proposal.candidates[:12]:
        query = known.query(candidate.query)
        ready = checked(query)
        assert ready.form in ("SELECT", "ASK")
        assert isinstance(known.rows(query), bool) == (ready.form == "ASK")


def check_best(known: Known, proposal: Proposal) -> None:
    """The best candidate has a result, and its query says nothing of what is not in the graph."""
    if proposal.candidates:
        query = known.query(clusters(proposal.candidates)[0].best.query)
        rows = known.rows(query)
        assert isinstance(rows, bool) or rows, query
        assert isinstance(rows, bool) or any(any(row) for row in rows), query


@pytest.mark.parametrize("question", ASKED)
def test_candidates_for_a_question_parse_and_only_read(question: str, zoo: Known) -> None:
    proposal = zoo.proposal(question)
    assert proposal.candidates
    check_queries(zoo, proposal)
    check_best(zoo, proposal)


@pytest.mark.parametrize(("question", "language"), SAMPLE)
def test_candidates_for_a_sample_question_parse_and_only_read(
    question: str, language: str, space: Known
) -> None:
    proposal = space.proposal(question, language)
    check_queries(space, proposal)
    check_best(space, proposal)


@example(words=["is", "weight", "average", "weight"])
@given(words=st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_candidates_for_any_words_parse_and_patterns_alone_are_never_empty(
    words: list[str], zoo: Known
) -> None:
    """A filter may rightly leave nothing; what was grown over the graph is there."""
    proposal = zoo.proposal(" ".join(words))
    check_queries(zoo, proposal)
    for candidate in proposal.candidates[:12]:
        query = zoo.query(candidate.query)
        if not any(word in query for word in ("FILTER", "HAVING", "OFFSET")):
            rows = zoo.rows(query)
            assert isinstance(rows, bool) or rows, query


@given(words=st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_confidence_lies_between_nothing_and_one(words: list[str], zoo: Known) -> None:
    assert 0.0 <= confidence(zoo.proposal(" ".join(words))) <= 1.0


@pytest.mark.parametrize("unknown", UNKNOWN)
@pytest.mark.parametrize("question", ASKED[:12])
def test_a_word_that_nothing_explains_lowers_the_confidence(
    question: str, unknown: str, zoo: Known
) -> None:
    surely = confidence(zoo.proposal(question))
    assert confidence(zoo.proposal(f"{question[:-1]} {unknown}?")) < surely


def test_no_candidate_means_no_confidence(zoo: Known) -> None:
    proposal = zoo.proposal("the of")
    assert not proposal.candidates
    assert confidence(proposal) == 0.0


def test_decisions_follow_the_thresholds() -> None:
    limits = Thresholds(answer=0.6, ask=0.3)
    decisions = [choose_outcome(value, limits) for value in (0.0, 0.29, 0.3, 0.59, 0.6, 1.0)]
    assert decisions == ["refuse", "refuse", "ask", "ask", "answer", "answer"]


def test_candidates_come_best_first(zoo: Known) -> None:
    for question in ASKED:
        scores = [candidate.score for candidate in zoo.proposal(question).candidates]
        assert scores == sorted(scores, reverse=True)


def test_clusters_hold_each_candidate_once_and_come_best_first(zoo: Known) -> None:
    for question in ASKED:
        candidates = zoo.proposal(question).candidates
        found = clusters(candidates)
        members = [id(member) for cluster in found for member in cluster.members]
        assert sorted(members) == sorted(map(id, candidates))
        assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
        assert all(c.best.score == max(m.score for m in c.members) for c in found)


def test_candidates_of_one_cluster_have_one_result(zoo: Known) -> None:
    together = 0
    for question in ASKED:
        for cluster in clusters(zoo.proposal(question).candidates)[:4]:
            queries = [zoo.query(member.query) for member in cluster.members[:4]]
            results = [zoo.rows(query) for query in queries]
            sets = {r if isinstance(r, bool) else frozenset(r) for r in results}
            assert len(sets) == 1, "\n".join(queries)
            together += len(queries) > 1
    assert together > 5  # else nothing was compared


def test_the_same_question_gives_the_same_queries(zoo: Known) -> None:
    for question in ASKED:
        first, second = (
            [(c.score, zoo.query(c.query)) for c in zoo.proposal(question).candidates]
            for _ in range(2)
        )
        assert first == second


KINDS = """@prefix : <https://kinds.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:place rdfs:label "place" . :of rdfs:label "instance of" . :code rdfs:label "code" .
:p1 a :place ; :of :place ; rdfs:label "Bari" ; :code 11 .
:p2 a :place ; :of :place ; rdfs:label "Lund" ; :code 12 .
"""


def test_things_are_not_linked_by_their_class() -> None:
    known = Known(store_of(KINDS))
    found = [known.query(one.query) for one in known.proposal("the place code of Bari").candidates]
    assert any("code" in query for query in found)
    assert not any(":of" in query or "/of>" in query for query in found)


SCRIPT = """
import json, sys
from tests.graphs import store_of
from pyoxigraph import RdfFormat, Store
from tests.search.asking import Known
from tests.search.test_candidates import ASKED
from tests.search.zoo import ZOO
store = store_of(ZOO)
zoo = Known(store)
print(json.dumps([[zoo.query(c.query) for c in zoo.proposal(q).candidates[:5]] for q in ASKED]))
"""


def test_no_hash_seed_changes_the_queries(zoo: Known, pytestconfig: pytest.Config) -> None:
    here = [[zoo.query(c.query) for c in zoo.proposal(q).candidates[:5]] for q in ASKED]
    root = pytestconfig.rootpath
    path = os.pathsep.join([str(root / "src"), str(root)])
    for seed in ("1", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert json.loads(done.stdout) == here
