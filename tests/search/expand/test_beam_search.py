"""Chains of steps that no word names, found from both of their ends."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.graphs import store_of
from tests.search.asking import Known

from askgraph.search.decide import estimate_confidence
from askgraph.search.rank import clusters

SHOP = """
@prefix : <https://shop.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:s1 a :Supplier ; rdfs:label "Acme" ; :delivers :p1 , :p2 .
:s2 a :Supplier ; rdfs:label "Bolt" ; :delivers :p2 .
:s3 a :Supplier ; rdfs:label "Cargo" ; :delivers :p3 .
:p1 a :Part ; rdfs:label "wheel" ; :usedIn :m1 .
:p2 a :Part ; rdfs:label "frame" ; :usedIn :m1 , :m2 .
:p3 a :Part ; rdfs:label "lamp" ; :usedIn :m3 .
:m1 a :Model ; rdfs:label "Tourer" .
:m2 a :Model ; rdfs:label "Racer" .
:m3 a :Model ; rdfs:label "Cruiser" .
:o1 a :Purchase ; :item :m1 ; :buyer :c1 .
:o2 a :Purchase ; :item :m2 ; :buyer :c2 .
:o3 a :Purchase ; :item :m3 ; :buyer :c3 .
:o4 a :Purchase ; :item :m1 ; :buyer :c3 .
:c1 a :Client ; rdfs:label "Dora" .
:c2 a :Client ; rdfs:label "Emil" .
:c3 a :Client ; rdfs:label "Fritz" .
"""


def best(known: Known, question: str, language: str = "en") -> set[tuple[str | None, ...]]:
    proposal = known.proposal(question, language)
    rows = known.rows(known.query(clusters(proposal.candidates)[0].best.query))
    assert not isinstance(rows, bool)
    return {tuple(cell and cell.rsplit("/", 1)[-1].rstrip(">") for cell in row) for row in rows}


def test_four_steps_that_no_word_names_link_a_thing_and_a_class() -> None:
    shop = Known(store_of(SHOP))
    assert best(shop, "Which suppliers does Emil have?") == {("s1",), ("s2",)}
    assert best(shop, "Welche Client hat Cargo?", "de") == {("c3",)}
    assert best(shop, "Which parts does Dora have?") == {("p1",), ("p2",)}


def test_through_one_thing_and_back_leaves_the_start_out() -> None:
    shop = Known(store_of(SHOP))
    assert best(shop, "Which suppliers share a model with Acme?") == {("s2",)}
    assert best(shop, "Which suppliers share a part with Bolt?") == {("s1",)}
    assert best(shop, "¿Qué supplier comparte un part con Bolt?", "es") == {("s1",)}
    assert best(shop, "Who bought the same model as Dora?") == {("c3",)}


NOUNS = ("lantern", "meadow", "harbour", "violin", "quarry")


@given(
    forwards=st.lists(st.booleans(), min_size=1, max_size=4),
    links=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=16, max_size=24),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_chain_of_up_to_four_steps_leads_to_all_that_it_reaches(
    forwards: list[bool], links: list[tuple[int, int]]
) -> None:
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
        found = best(chain, f"Which {last}s does lantx0 have?")
        assert found == {(f"{last}{at}",) for at in reached}


TEAM = """
@prefix : <https://team.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Player ; rdfs:label "Ann" ; :position "G" ; :home "Los Angeles" .
:b a :Player ; rdfs:label "Bob" ; :position "D" ; :home "New York" .
:c a :Player ; rdfs:label "Cyd" ; :position "F" ; :home "New York" .
:d a :Player ; rdfs:label "Dot" ; :position "D" ; :home "Boston" .
:e a :Player ; rdfs:label "Eve" ; :grade "G" .
"""


def test_initials_mean_the_value_of_a_named_predicate_that_has_them() -> None:
    team = Known(store_of(TEAM))
    assert best(team, "Which players have the home NY?") == {("b",), ("c",)}


@pytest.mark.parametrize(
    "explained", ["G: goalie, D: defender, F: forward", "where one plays: goalie (G), defender (D)"]
)
def test_a_word_means_the_code_that_a_predicates_description_explains_by_it(
    explained: str,
) -> None:
    team = Known(store_of(f'{TEAM} :position rdfs:comment "{explained}" .'))
    assert best(team, "Which players have the position goalie?") == {("a",)}
    assert best(team, "Which players are goalies?") == {("a",)}
    assert best(team, "Which players are defenders?") == {("b",), ("d",)}
    assert best(team, "Which players have the position G?") == {("a",)}


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
        estimate_confidence(found, clusters(found.candidates))
        for found in map(team.proposal, ("players with home Boston", "players with home NY"))
    )
    assert guessed < sure
