"""The same as a thing has, something else than it, and the others beside it."""

from tests.search.question_files import graph_named


def test_conditions_that_no_single_thing_fits_are_never_proposed() -> None:
    hosts = graph_named("hosts")
    for candidate in hosts.proposal(
        "Which hosts are older than 45 and younger than 35?"
    ).candidates:
        query = hosts.query(candidate.query)
        assert not ("> 45" in query and "< 35" in query)
