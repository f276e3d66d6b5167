"""Several accounts of a graph put together, and several graphs added up."""

from dataclasses import replace

import pytest

from askgraph.graph import profile as parts

OWN = parts.Profile(
    100,
    (parts.ClassProfile("http://x/A", 10, name_predicate="http://x/name"),),
    (parts.PredicateProfile("http://x/p", 20, 10, 5),),
    partitions=(parts.Partition("http://x/A", "http://x/p", 22, 9, sampled=True),),
    completeness=(parts.Part("classes", 1, None), parts.Part("labels", 2, 2)),
    source="own",
)
PUBLISHED = parts.Profile(
    90,
    (parts.ClassProfile("http://x/A", 9, (("a", "en"),)), parts.ClassProfile("http://x/B", 3)),
    (parts.PredicateProfile("http://x/p", 19, 0, 0), parts.PredicateProfile("http://x/q", 4, 0, 0)),
    partitions=(
        parts.Partition("http://x/A", "http://x/p", 20, targets=(("http://x/B", 20),)),
        parts.Partition("http://x/B", "http://x/q", 4),
    ),
    completeness=(parts.Part("classes", 2, 2), parts.Part("labels", 0, None)),
    source="void",
)


def test_the_first_account_is_believed_and_the_second_fills_the_gaps() -> None:
    both = parts.merge_profiles(OWN, PUBLISHED)
    assert both.triples == 100
    assert both.classes == (
        parts.ClassProfile("http://x/A", 10, (("a", "en"),), name_predicate="http://x/name"),
        parts.ClassProfile("http://x/B", 3),
    )
    assert [p.iri for p in both.predicates] == ["http://x/p", "http://x/q"]


def test_what_a_graph_says_of_itself_is_kept() -> None:
    told = replace(PUBLISHED, described=(("Pets", "en"),))
    assert (
        parts.merge_profiles(OWN, told).described
        == parts.merge_profiles(told, OWN).described
        == (("Pets", "en"),)
    )


def test_what_was_counted_goes_before_what_was_estimated_in_a_sample() -> None:
    (first, _) = parts.merge_profiles(OWN, PUBLISHED).partitions
    assert first == parts.Partition(
        "http://x/A", "http://x/p", 20, 9, targets=(("http://x/B", 20),)
    )


def test_of_each_part_the_account_that_knows_more_says_how_complete_it_is() -> None:
    assert parts.merge_profiles(OWN, PUBLISHED).completeness == (
        parts.Part("classes", 2, 2),
        parts.Part("labels", 2, 2),
    )


def test_an_account_merged_with_itself_stays_as_it_is() -> None:
    assert parts.merge_profiles(PUBLISHED, PUBLISHED) == PUBLISHED


def test_graphs_are_added_up() -> None:
    whole = parts.unite_profiles([OWN, PUBLISHED])
    assert whole.triples == 190
    assert [c.instances for c in whole.classes] == [19, 3]
    assert whole.partitions[0].triples == 42
    assert whole.partitions[0].sampled
    assert whole.completeness == (parts.Part("classes", 3, None), parts.Part("labels", 2, None))


def test_nothing_cannot_be_united() -> None:
    with pytest.raises(ValueError, match="at least one profile"):
        parts.unite_profiles([])
