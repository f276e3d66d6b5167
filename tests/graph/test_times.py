"""Starts and ends of the same things are found by their names and by the data."""

from tests.each import for_each
from tests.graphs import store_of
from tests.temporal.asked import HERE

from askgraph.graph.arrays import GraphArrays, build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.measures import DateSpan, find_temporal_predicates
from askgraph.graph.profile import Profile
from askgraph.sparql.vocabulary import WIKIBASE_RANK

X = "http://x.example/"


def graph(turtle: str) -> tuple[Profile, GraphArrays]:
    arrays = build_arrays(store_of(turtle))
    return build_profile(arrays), arrays


def things(*pairs: tuple[str, str], start: str, end: str) -> tuple[Profile, GraphArrays]:
    lines = [f"@prefix : <{X}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."]
    for at, (first, last) in enumerate(pairs):
        lines.append(
            f':t{at} a :Thing ; :{start} "{first}"^^xsd:date ; :{end} "{last}"^^xsd:date .'
        )
    return graph("\n".join(lines))


ONE = ("2001-01-01", "2002-01-01")
TWO = ("1990-05-01", "1990-05-02")


@for_each(
    "start, end, life",
    ("startDate", "endDate", False),
    ("from", "until", False),
    ("validFrom", "validTo", False),
    ("birthDate", "deathDate", True),
    ("founded", "dissolved", False),
    ("hired", "left", False),
    ("geburtsdatum", "todesdatum", True),
)
def test_names_say_what_starts_and_what_ends(start: str, end: str, life: bool) -> None:
    profile, arrays = things(ONE, TWO, start=start, end=end)
    assert find_temporal_predicates(profile, arrays).spans == (
        DateSpan(X + start, X + end, 2, life),
    )
    assert find_temporal_predicates(profile).spans == (DateSpan(X + start, X + end, 2, life),)


def test_an_end_is_paired_with_the_one_other_date_where_that_is_before_it() -> None:
    found = find_temporal_predicates(*things(ONE, TWO, start="ordered", end="finished"))
    assert found.spans == (DateSpan(X + "ordered", X + "finished", 2),)
    found = find_temporal_predicates(
        *things(ONE[::-1], TWO[::-1], start="startDate", end="endDate")
    )
    assert found.spans == ()
    found = find_temporal_predicates(*things(ONE, TWO, start="ordered", end="shipped"))
    assert found.spans == () and set(found.dates) == {X + "ordered", X + "shipped"}


def test_of_several_starts_an_end_has_the_one_that_is_called_alike() -> None:
    profile, arrays = graph((HERE / "office.ttl").read_text(encoding="utf-8"))
    ends = {
        span.start.rpartition("#")[2]: span.end.rpartition("#")[2]
        for span in find_temporal_predicates(profile, arrays).spans
    }

    assert ends == {"from": "until", "startDate": "endDate", "opens": "closes", "born": "died"}
    assert find_temporal_predicates(profile, arrays).rank is None
    statements = graph((HERE / "statements.ttl").read_text(encoding="utf-8"))
    assert find_temporal_predicates(*statements).rank == WIKIBASE_RANK
