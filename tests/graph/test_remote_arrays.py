"""What a question needs of a remote graph comes in few requests, and is right."""

import pytest
from pyoxigraph import Store
from tests.graphs import store_of
from tests.servers import faults
from tests.servers.capped import CappedServer
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import ServiceError
from askgraph.graph import remote_arrays as remote
from askgraph.graph.arrays import GraphArrays, Seeds, build_arrays
from askgraph.graph.local_profile import build_profile
from askgraph.graph.remote_arrays import PartCache, PredicateCounts, fetch_neighbourhood

SPACE = "https://example.org/space/"
ONTOLOGY = SPACE + "ontology#"
BLANKS = """
@prefix : <http://example.org/> .
:apollo :crew [ :person :neil ; :role "commander" ], [ :person :buzz ; :role "pilot" ] .
:gemini :crew [ :person :neil ; :role "pilot" ] .
"""


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_MAX_COMPLETE_TRIPLES", 0)


def counts(store: Store) -> PredicateCounts:
    profile = build_profile(build_arrays(store))
    return {p.iri: (p.triples, p.subjects, p.objects) for p in profile.predicates}


async def fetched(server: SparqlServer, seeds: Seeds, **options: object) -> GraphArrays:
    endpoint = HttpEndpoint(server.url)
    try:
        return await fetch_neighbourhood(
            endpoint,
            seeds,
            triples=len(server.store),
            **options,  # type: ignore[arg-type]
        )
    finally:
        await endpoint.close()


def triples(arrays: GraphArrays) -> set[tuple[str, str, str]]:
    return {
        (
            arrays.terms.get_text(int(subject)),
            arrays.get_predicate_iri(number),
            arrays.terms.get_text(int(target)),
        )
        for number in range(len(arrays.predicates))
        for subject, target in zip(*arrays.get_edges(arrays.get_ends(number), number), strict=True)
    }


async def test_a_small_graph_comes_whole_in_one_request(store: Store) -> None:
    with CappedServer(store, cap=100_000) as server:
        arrays = await fetched(server, Seeds())
    assert arrays.complete
    assert len(arrays) == len(store)
    assert len(server.requests) == 1


@pytest.mark.usefixtures("big")
async def test_two_hops_around_an_entity_come_with_classes_and_names(store: Store) -> None:
    with CappedServer(store, cap=100_000) as server:
        arrays = await fetched(server, Seeds(entities=(SPACE + "Apollo_11",)), counts=counts(store))
    whole = build_arrays(store)
    assert not arrays.complete
    assert len(server.requests) <= 4
    assert triples(arrays) <= triples(whole)
    seed = f"<{SPACE}Apollo_11>"
    first = {t for t in triples(whole) if seed in (t[0], t[2])}
    assert first <= triples(arrays)
    near = {end for t in first for end in (t[0], t[2]) if end.startswith("<" + SPACE)} - {seed}
    described = {t[0] for t in triples(arrays) if t[1].endswith("#type")}
    assert {n for n in near if "ontology#" not in n} <= described


@pytest.mark.usefixtures("big")
async def test_linked_predicates_and_classes_come_whole(store: Store) -> None:
    seeds = Seeds(classes=(ONTOLOGY + "Moon",), predicates=(ONTOLOGY + "radius",))
    with CappedServer(store, cap=100_000) as server:
        found = triples(await fetched(server, seeds, counts=counts(store)))
    whole = triples(build_arrays(store))
    assert {t for t in whole if t[1] == ONTOLOGY + "radius"} <= found
    assert {t for t in whole if t[2] == f"<{ONTOLOGY}Moon>" and t[1].endswith("type")} <= found


@pytest.mark.usefixtures("big")
async def test_values_lead_to_what_has_them(store: Store) -> None:
    seeds = Seeds(literals=('"Apollo 11"@en',))
    with CappedServer(store, cap=100_000) as server:
        found = triples(await fetched(server, seeds))
    assert any(t[0] == f"<{SPACE}Apollo_11>" for t in found)


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize("renames", [False, True])
async def test_blank_nodes_are_walked_through(renames: bool) -> None:
    store = store_of(BLANKS)
    with CappedServer(store, cap=100_000, renames=renames) as server:
        found = triples(await fetched(server, Seeds(entities=("http://example.org/neil",))))
    crews = {t[2] for t in found if t[1].endswith("crew") and t[0].endswith("apollo>")}
    roles = {t[2] for t in found if t[0] in crews and t[1].endswith("role")}
    people = {t[2] for t in found if t[0] in crews and t[1].endswith("person")}
    assert '"commander"' in roles
    assert "<http://example.org/neil>" in people
    mixed = {(r[2], p[2]) for r in found for p in found if r[0] == p[0] and "role" in r[1]}
    assert ('"pilot"', "<http://example.org/neil>") in mixed  # gemini
    assert ('"commander"', "<http://example.org/buzz>") not in mixed


@pytest.mark.usefixtures("big")
async def test_the_budget_holds_around_a_hub(store: Store) -> None:
    seeds = Seeds(
        entities=(SPACE + "USA", SPACE + "NASA", SPACE + "Earth"),
        predicates=(ONTOLOGY + "launchDate",),
    )
    for budget in (3, 12, 16):
        with CappedServer(store, cap=100) as server:
            arrays = await fetched(server, seeds, counts=counts(store), budget=budget)
        assert len(server.requests) <= budget
        assert len(arrays) > 0


@pytest.mark.usefixtures("big")
async def test_of_a_hub_a_few_edges_of_each_predicate_come_and_never_all() -> None:
    edges = [f":s{n} :likes :hub ." for n in range(3_000)] + [":town :honours :hub ."]
    seeds = Seeds(entities=("http://example.org/hub",))
    store = store_of("@prefix : <http://example.org/> .\n" + "\n".join(edges))
    with CappedServer(store, cap=100_000) as server:
        found = triples(await fetched(server, seeds, counts=counts(store)))
    assert 100 <= len([t for t in found if t[1].endswith("likes")]) < 3_000
    assert any(t[1].endswith("honours") for t in found)
    assert len(server.requests) <= 4


@pytest.mark.usefixtures("big")
async def test_what_of_a_class_is_at_a_hub_comes_whole() -> None:
    base = "http://example.org/"
    edges = [
        f":s{n} :lies_in :hub ; a :{'Volcano' if n % 100 == 7 else 'City'} ." for n in range(3_000)
    ]
    store = store_of(f"@prefix : <{base}> .\n" + "\n".join(edges))
    seeds = Seeds(entities=(base + "hub",), classes=(base + "Volcano",))
    with CappedServer(store, cap=100_000) as server:
        arrays = await fetched(server, seeds, counts=counts(store))
    at = {t[0] for t in triples(arrays) if t[1].endswith("lies_in")}
    volcanoes = {t[0] for t in triples(arrays) if t[2].endswith("Volcano>")}
    assert len(volcanoes) == 30
    assert volcanoes < at


@pytest.mark.usefixtures("big")
async def test_what_leads_to_nodes_further_off_is_asked_for_by_predicate(store: Store) -> None:
    seeds = Seeds(entities=(SPACE + "Apollo_11",))
    with CappedServer(store, cap=100_000) as server:
        whole = triples(await fetched(server, seeds, counts=counts(store)))
        before = len(server.requests)
        links = [p.iri for p in build_profile(build_arrays(store)).predicates if not p.literal]
        some = triples(await fetched(server, seeds, counts=counts(store), links=links))
        queries = [one.parameters["query"][0] for one in server.requests[before:]]
    many = [line for query in queries for line in query.split("UNION") if "VALUES ?o" in line]
    assert all("VALUES ?p" in line for line in many if line.count("<https:") > 3)
    seed = f"<{SPACE}Apollo_11>"
    assert {t for t in whole if seed in (t[0], t[2])} <= some
    assert any(seed not in (t[0], t[2]) for t in some)


@pytest.mark.usefixtures("big")
async def test_what_hangs_on_a_thing_is_asked_once_for_several_questions(store: Store) -> None:
    kept = PartCache()
    seeds = Seeds(entities=(SPACE + "Apollo_11", SPACE + "NASA"))
    with CappedServer(store, cap=100_000) as server:
        first = await fetched(server, seeds, counts=counts(store), kept=kept)
        asked = len(server.requests)
        again = await fetched(server, seeds, counts=counts(store), kept=kept)
        assert len(server.requests) == asked
        other = Seeds(entities=(SPACE + "NASA",))
        await fetched(server, other, counts=counts(store), kept=kept)
    assert triples(again) == triples(first)
    later = [one.parameters["query"][0] for one in server.requests[asked:]]
    assert not any(f"{{ <{SPACE}NASA> }}" in query for query in later)


@pytest.mark.usefixtures("big")
async def test_a_reply_that_is_cut_off_is_asked_for_in_parts(store: Store) -> None:
    seeds = Seeds(entities=(SPACE + "Apollo_11", SPACE + "Apollo_12"))
    with CappedServer(store, cap=60) as server:
        found = triples(await fetched(server, seeds, counts=counts(store)))
    for name in ("Apollo_11", "Apollo_12"):
        assert {t for t in triples(build_arrays(store)) if t[0] == f"<{SPACE}{name}>"} <= found


@pytest.mark.usefixtures("big")
async def test_one_failure_costs_its_part_and_only_all_of_them_the_question(store: Store) -> None:
    seeds = Seeds(entities=(SPACE + "Apollo_11",))
    with CappedServer(store, cap=100_000) as server:
        server.acts.append(faults.body("<html>", kind="text/html"))
        assert len(await fetched(server, seeds)) > 0
        server.always = faults.body("<html>", kind="text/html")
        with pytest.raises(ServiceError):
            await fetched(server, seeds)
