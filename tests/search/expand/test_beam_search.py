"""Chains of steps that no word names, found from both of their ends."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.graphs import store_of
from tests.search.asking import Known
from tests.search.question_files import turtle_of

from askgraph.search.decide import estimate_confidence
from askgraph.search.rank import cluster_candidates

NOUNS = ("lantern", "meadow", "harbour", "violin", "quarry")


@given(
    forwards=st.lists(st.booleans(), min_size=1, max_size=4),
    links=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=16, max_size=24),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_chains_of_four_steps_lead_on(forwards: list[bool], links: list[tuple[int, int]]) -> None:
    steps = len(forwards)
    lines = [
        f':{noun}{at} a :{noun.title()} ; rdfs:label "{noun[:4]}x{at}" .'
        for noun in NOUNS[: steps + 1]
        for at in range(4)
    ]
    reached = {0}
    for level, forward in enumerate(forwards):
        own = set(links[level::steps])
        for one, other in sorted(own):
            ends = f":{NOUNS[level]}{one}", f":{NOUNS[level + 1]}{other}"
            subject, value = ends if forward else ends[::-1]
            lines.append(f"{subject} :zz{level} {value} .")
        reached = {other for one, other in own if one in reached}
    prefixes = (
        "@prefix : <https://chain.example/> . "
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    )
    chain = Known(store_of(prefixes + "\n".join(lines)))
    last = NOUNS[steps]
    if reached:
        found = chain.best_rows(f"Which {last}s does lantx0 have?")
        assert sorted(found) == [(f"{last}{at}",) for at in sorted(reached)]


TEAM = turtle_of("team")


def test_a_code_that_nothing_explains_is_left() -> None:
    team = Known(store_of(TEAM))
    assert all(
        '"G"' not in team.query(one.query)
        for one in team.proposal("Which players have the position goalie?").candidates
    )


def test_a_code_for_two_values_means_neither() -> None:
    team = Known(store_of(TEAM.replace('"Boston"', '"Newark Yard"')))
    found = team.proposal("Which players have the home NY?").candidates[0]
    assert not any(link.how == ("short",) for link in found.links)
    assert "FILTER" not in team.query(found.query)
    assert "New York" not in team.query(found.query)


def test_a_word_that_stands_for_a_code_lowers_the_confidence() -> None:
    team = Known(store_of(TEAM))
    sure, guessed = (
        estimate_confidence(found, cluster_candidates(found.candidates))
        for found in map(team.proposal, ("players with home Boston", "players with home NY"))
    )
    assert guessed < sure
