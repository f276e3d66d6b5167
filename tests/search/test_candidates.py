"""What is true of all candidates: they parse, read only, have results and words."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from tests.each import for_each
from tests.graphs import store_of
from tests.search.asking import Known
from tests.search.question_files import read_questions

from askgraph.answers.verbalize import verbalize_query
from askgraph.sample import questions_path
from askgraph.search.decide import Thresholds, choose_outcome, estimate_confidence
from askgraph.search.operators.query_builder import NONE_NOTE, QueryCandidate
from askgraph.search.rank import RankedCandidates, cluster_candidates
from askgraph.sparql import Query, find_variables
from askgraph.sparql.judge import check_query
from askgraph.sparql.prefixes import choose_label
from askgraph.sparql.vocabulary import RDFS_LABEL

ASKED = [one.question for one in read_questions("zoo.txt")]
SAMPLE = [
    (line["question"], line["lang"])
    for line in map(json.loads, questions_path().with_suffix(".jsonl").read_text().splitlines())
]
EVERY = [*(("zoo", question, None) for question in ASKED), *(("space", *one) for one in SAMPLE)]
LANGUAGES = ("en", "de", "es", "fr")
WORDS = (
    "which what who when how many is does the of in by and or not no without each per more than "
    "less between before after most average total three second first animal animals bird birds "
    "mammal keeper enclosure Kito Tara Pip Penguin Pool Mara weight born eats fish meat fed day "
    "heavier oldest lightest part Hillside Zoo 5 150 2015 2 ordered both either"
)
UNKNOWN = "xylophone", "Zanzibar", "qwertzuiop"


def confidence(proposal: RankedCandidates) -> float:
    return estimate_confidence(proposal, cluster_candidates(proposal.candidates))


def check_queries(known: Known, proposal: RankedCandidates) -> None:
    for candidate in proposal.candidates[:12]:
        query = known.query(candidate.query)
        ready = check_query(query)
        assert ready.form in ("SELECT", "ASK")
        assert isinstance(known.rows(query), bool) == (ready.form == "ASK")


def check_best(known: Known, proposal: RankedCandidates) -> None:
    """The best candidate has a result, and its query says nothing of what is not in the graph."""
    if proposal.candidates:
        query = known.query(cluster_candidates(proposal.candidates)[0].best.query)
        rows = known.rows(query)
        assert isinstance(rows, bool) or rows, query
        assert isinstance(rows, bool) or any(any(row) for row in rows), query


@for_each(("known", "question", "language"), EVERY)
def test_candidates_parse_and_only_read_and_those_of_a_cluster_give_equal_results(
    known: str, question: str, language: str | None, zoo: Known, space: Known
) -> None:
    graph = {"zoo": zoo, "space": space}[known]
    proposal = graph.proposal(question, language)
    assert proposal.candidates or graph is space
    check_queries(graph, proposal)
    check_best(graph, proposal)
    check_clusters(graph, proposal)
    check_order(proposal)


def check_clusters(known: Known, proposal: RankedCandidates) -> None:
    """All members give one truth, or the same answer columns."""
    for cluster in cluster_candidates(proposal.candidates)[:3]:
        first, *others = (results(known, member) for member in cluster.members[:6])
        for member, other in zip(cluster.members[1:], others, strict=False):
            assert other == first, (known.query(cluster.best.query), known.query(member.query))


def results(known: Known, member: QueryCandidate) -> object:
    rows = known.rows(known.query(member.query))
    return rows if isinstance(rows, bool) else Counter(rows)


def check_order(proposal: RankedCandidates) -> None:
    """Candidates and clusters come best first; a cluster holds each candidate once."""
    scores = [candidate.score for candidate in proposal.candidates]
    assert scores == sorted(scores, reverse=True)
    found = cluster_candidates(proposal.candidates)
    members = [id(member) for cluster in found for member in cluster.members]
    assert sorted(members) == sorted(map(id, proposal.candidates))
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert all(c.best.score == max(m.score for m in c.members) for c in found)


def test_equal_answers_found_in_other_ways_are_one_cluster(zoo: Known, space: Known) -> None:
    for known, asked in ((space, SAMPLE[:12]), (zoo, [(question, None) for question in ASKED])):
        best = [cluster_candidates(known.proposal(*one).candidates)[:1] for one in asked]
        assert max(len(cluster.members) for found in best for cluster in found) > 1


@for_each(("known", "question", "language"), [*EVERY[: len(ASKED)], *EVERY[len(ASKED) :: 3]])
def test_candidates_are_read_back_in_four_languages(
    known: str, question: str, language: str | None, zoo: Known, space: Known
) -> None:
    check_words({"zoo": zoo, "space": space}[known], question, language)


def check_words(known: Known, question: str, language: str | None = None) -> None:
    """No IRI, no variable and nothing that is left of a phrase is in the words."""
    for candidate in known.proposal(question, language).candidates[:12]:
        for spoken in LANGUAGES:
            for nouns in (None, "en", ""):
                labels = labels_of(known, spoken)
                text = verbalize_query(candidate.query, labels, language=spoken, nouns=nouns)
                wrong = list(residue(candidate.query, text))
                assert not wrong, (text, wrong)


@cache
def labels_of(known: Known, language: str) -> Mapping[str, str]:
    found: dict[str, list[tuple[str, str | None]]] = {}
    for quad in known.store.quads_for_pattern(None, NamedNode(RDFS_LABEL), None):
        assert isinstance(quad.subject, NamedNode) and isinstance(quad.object, Literal)
        found.setdefault(quad.subject.value, []).append((quad.object.value, quad.object.language))
    return {iri: choose_label(given, [language]) or "" for iri, given in found.items()}


def residue(query: Query, text: str) -> Iterator[str]:
    """What no reader should see: IRIs, variables, and what is left of a phrase."""
    yield from re.findall(r"https?:\S*|\w+://\S*|[{}<>]|\?\w+|,,|  | ,", text)
    hidden = {one.value for one in find_variables(query) if "_" in one.value}
    yield from (name for name in hidden if name in text)
    if len(text) < 3 or "cannot be put" in text:
        yield text


@example(words=["is", "weight", "average", "weight"])
@given(words=st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_candidates_for_any_words_parse_and_are_read_and_patterns_alone_are_never_empty(
    words: list[str], zoo: Known
) -> None:
    """A filter may rightly leave nothing; what was grown over the graph is there."""
    proposal = zoo.proposal(" ".join(words))
    check_queries(zoo, proposal)
    for candidate in proposal.candidates[:12]:
        query = zoo.query(candidate.query)
        if not any(word in query for word in ("FILTER", "HAVING", "OFFSET")):
            rows, is_none = zoo.rows(query), NONE_NOTE in candidate.notes  # "which birds eat meat"
            assert isinstance(rows, bool) or bool(rows) != is_none, query
    assert 0.0 <= confidence(proposal) <= 1.0
    check_words(zoo, " ".join(words))


@for_each("unknown", UNKNOWN)
@for_each("question", ASKED[:12])
def test_an_unexplained_word_lowers_confidence(question: str, unknown: str, zoo: Known) -> None:
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


def test_it_asks_back_rather_than_give_an_unsure_answer_in_doubt() -> None:
    limits = Thresholds(answer=0.3, ask=0.15)
    assert choose_outcome(0.4, limits) == "answer"
    assert choose_outcome(0.4, limits, is_doubtful=True) == "ask"
    assert choose_outcome(0.6, limits, is_doubtful=True) == "answer"
    assert choose_outcome(0.0, Thresholds(answer=0.0), is_doubtful=True) == "answer"


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
from tests.search.question_files import graph_named
from tests.search.test_candidates import ASKED
zoo = graph_named("zoo")
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
