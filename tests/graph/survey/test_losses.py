"""What an endpoint cuts off, refuses or loses in silence is never called known."""

import asyncio
from collections.abc import Callable

import pytest
from pyoxigraph import NamedNode, Quad, Store
from tests.graph.conftest import profiled
from tests.servers import faults
from tests.servers.capped import CappedServer
from tests.servers.lossy import LossyServer
from tests.servers.sparql import Fault, SparqlServer

from askgraph.errors import ServiceError
from askgraph.graph.profile import Profile

COUNT_ALL = r"SELECT \(COUNT\(\*\) AS \?n\) \{ \?s \?p \?o \}"
AT_ONCE = r"^(?!.*(VALUES|LIMIT \d+ \}|<http)).*(GROUP BY|COUNT)"
CLASSES_AT_ONCE = r"\{ \?s a \?c \} GROUP BY"


def asked(server: SparqlServer, always: Fault | None = None, **bounds: float) -> Profile:
    with server:
        server.always = always
        return asyncio.run(profiled(server, **bounds))[0]


def shares(profile: Profile) -> dict[str, float | None]:
    return {part.name: part.share for part in profile.completeness}


def classes(profile: Profile) -> dict[str, int]:
    return {cls.iri: cls.instances for cls in profile.classes}


def numbers(profile: Profile) -> dict[tuple[str, str], tuple[int, int]]:
    return {(one.cls, one.predicate): (one.triples, one.subjects) for one in profile.partitions}


def predicates(profile: Profile) -> dict[str, int]:
    return {one.iri: one.triples for one in profile.predicates}


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize("cap", [20, 100])
def test_lists_cut_by_a_silent_cap_are_read_whole(store: Store, exact: Profile, cap: int) -> None:
    refusal = faults.refused_where(COUNT_ALL, "too dear")
    profile = asked(CappedServer(store, cap=cap), refusal, max_queries=400)
    assert classes(profile) == classes(exact)
    assert predicates(profile) == predicates(exact)
    assert shares(profile)["triples"] is None
    assert numbers(profile) == numbers(exact)


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize(
    "make",
    [lambda store: LossyServer(store, CLASSES_AT_ONCE), lambda store: LossyServer(store, AT_ONCE)],
    ids=["of classes", "of all"],
)
def test_counts_that_came_empty_are_asked_for_in_other_ways(
    store: Store, exact: Profile, make: Callable[[Store], SparqlServer]
) -> None:
    profile = asked(make(store))
    assert classes(profile) == classes(exact)
    assert set(profile.partitions) == set(exact.partitions)


@pytest.mark.usefixtures("big")
def test_what_came_empty_is_unknown_and_what_is_not_there_is_known(store: Store) -> None:
    profile = asked(LossyServer(store, r"SELECT \?c \?p"))
    assert profile.partitions == ()
    assert shares(profile)["partitions"] == 0.0
    bare = Store()
    bare.extend(quad for quad in store if not quad.predicate.value.endswith("#type"))
    profile = asked(SparqlServer(bare))
    assert profile.classes == ()
    assert shares(profile)["classes"] == 1.0
    assert len(profile.predicates) == 46


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize(
    ("server", "always"),
    [
        (SparqlServer, faults.refused_where("COUNT", "aggregates are switched off")),
        (lambda store: LossyServer(store, "GROUP BY"), None),
    ],
    ids=["refused", "empty"],
)
def test_an_endpoint_that_does_not_count_tells_its_schema(
    store: Store, exact: Profile, server: Callable[[Store], SparqlServer], always: Fault | None
) -> None:
    profile = asked(server(store), always)
    assert classes(profile).keys() == classes(exact).keys()
    assert predicates(profile).keys() == predicates(exact).keys()
    whole = {one for one in profile.partitions if not one.sampled}
    assert whole and whole <= set(exact.partitions)
    found = {(one.cls, one.predicate) for one in profile.partitions}
    assert len(found) > 0.9 * len(exact.partitions)
    assert shares(profile)["predicate counts"] == 0.0
    assert shares(profile)["partitions"] not in (None, 1.0)
    assert any("does not count" in cut for cut in profile.cuts)


def test_a_small_graph_that_cannot_be_counted_is_fetched(store: Store, exact: Profile) -> None:
    profile = asked(SparqlServer(store), faults.refused_where("COUNT", "no aggregates"))
    assert set(profile.partitions) == set(exact.partitions)
    assert shares(profile)["triples"] == 1.0


def in_graphs(store: Store, graphs: int) -> Store:
    """The triples of a store, dealt out to named graphs."""
    dealt = Store()
    for at, quad in enumerate(store):
        graph = NamedNode(f"http://example.org/g{at % graphs}")
        dealt.add(Quad(quad.subject, quad.predicate, quad.object, graph))
    return dealt


def test_named_graphs_beyond_a_silent_cap_are_listed(store: Store, exact: Profile) -> None:
    profile = asked(CappedServer(in_graphs(store, 50), cap=20), max_queries=400)
    assert len(profile.graphs) == 50
    assert shares(profile)["graphs"] == 1.0
    assert profile.triples == exact.triples


def test_an_endpoint_that_tells_nothing_is_an_error(store: Store) -> None:
    with pytest.raises(ServiceError, match="cannot be profiled"):
        asked(LossyServer(store, ""))


@pytest.mark.usefixtures("big")
def test_one_senseless_reply_is_asked_for_again(store: Store, exact: Profile) -> None:
    server = SparqlServer(store)
    server.acts.append(faults.body("<html>busy</html>", kind="text/html"))
    profile = asked(server)
    assert profile.triples == exact.triples
    assert not any("gave no answer" in cut for cut in profile.cuts)
