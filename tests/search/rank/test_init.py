"""Clusters: what is put together gives equal results, and what gives others stays apart."""

import json
from collections import Counter

import pytest
from tests.search.asking import Known
from tests.search.zoo import QUESTIONS

from askgraph.sample import questions_path
from askgraph.search.rank import Cluster, Proposal, clusters

SAMPLE = [
    (line["question"], line["lang"])
    for line in map(json.loads, questions_path().with_suffix(".jsonl").read_text().splitlines())
]


def results(known: Known, cluster: Cluster) -> list[object]:
    """What each member gives: a truth, or its answer columns with the context left out."""
    found: list[object] = []
    for member in cluster.members[:6]:
        rows = known.rows(known.query(member.query))
        found.append(rows if isinstance(rows, bool) else Counter(rows))
    return found


def check(known: Known, proposal: Proposal) -> None:
    for cluster in clusters(proposal.candidates)[:3]:
        first, *others = results(known, cluster)
        for member, other in zip(cluster.members[1:], others, strict=False):
            assert other == first, (known.query(cluster.best.query), known.query(member.query))


@pytest.mark.parametrize(("question", "language"), SAMPLE)
def test_all_queries_of_a_cluster_give_equal_results(
    question: str, language: str, space: Known
) -> None:
    check(space, space.proposal(question, language))


@pytest.mark.parametrize("question", [question for _, question, _ in QUESTIONS])
def test_all_queries_of_a_cluster_over_another_graph_give_equal_results(
    question: str, zoo: Known
) -> None:
    check(zoo, zoo.proposal(question))


def test_equal_answers_found_in_other_ways_are_one_cluster(space: Known) -> None:
    sizes = [
        len(cluster.members)
        for question, language in SAMPLE[:12]
        for cluster in clusters(space.proposal(question, language).candidates)[:1]
    ]
    assert max(sizes) > 1
