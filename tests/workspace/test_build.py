"""Graphs behind endpoints, usable after their first questions and growing by the rest."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.servers.capped import CappedServer
from tests.servers.sparql import Request

from askgraph.errors import SetupError
from askgraph.graph.profile import Profile
from askgraph.graph.void_text import serialize_void
from askgraph.workspace import Workspace, build
from askgraph.workspace.run_sync import run_coroutine

pytestmark = pytest.mark.usefixtures("big")


class Busy(CappedServer):
    """Counts what is distinct only when it is free to."""

    free = False
    answered: frozenset[str] = frozenset()


async def counting_is_slow(server: Busy, request: Request, writer: asyncio.StreamWriter) -> None:
    [query] = request.parameters["query"]
    if not server.free and "COUNT(DISTINCT ?s)" in query:
        await asyncio.sleep(3600)
    reply = server.honest(request)
    writer.write(reply.head + reply.body)
    await writer.drain()
    server.answered |= {query}


def queries(server: CappedServer) -> list[str]:
    return [request.parameters["query"][0] for request in server.requests]


def count_subjects(profile: Profile) -> dict[str, int | None]:
    return {predicate.iri: predicate.subjects for predicate in profile.predicates}


@pytest.fixture
def busy(store: Store) -> Iterator[Busy]:
    with Busy(store, cap=100_000) as server:
        server.always = counting_is_slow  # type: ignore[assignment]
        yield server


def test_a_graph_is_there_before_all_is_asked_and_grows(
    tmp_path: Path, busy: Busy, exact: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_FIRST_SURVEY_SECONDS", 8.0)
    place = Workspace(tmp_path)
    first = place.add("space", [busy.url])
    counts = {p.iri: p.triples for p in exact.predicates}
    assert {p.iri: p.triples for p in first.predicates} == counts
    assert count_subjects(first) != count_subjects(exact) and place.has_pending_survey("space")
    answered, busy.free, asked = busy.answered, True, len(busy.requests)
    assert answered
    grown = place.complete_survey("space")
    assert count_subjects(grown) == count_subjects(exact)
    assert not place.has_pending_survey("space")
    later = queries(busy)[asked:]
    assert later and not answered & set(later)  # only what had not come
    assert place.complete_survey("space") == grown == place.load_profile("space")
    assert len(queries(busy)) == asked + len(later)


def test_a_graph_without_a_name_says_that_it_stays_as_it_was_asked_at_first(
    tmp_path: Path, busy: Busy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(build, "_FIRST_SURVEY_SECONDS", 8.0)
    run_coroutine(Workspace(tmp_path).open(busy.url).endpoint.close())
    assert "only partly profiled" in caplog.text


def test_growing_leaves_a_graph_that_was_removed_alone(
    tmp_path: Path, busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_FIRST_SURVEY_SECONDS", 8.0)
    place = Workspace(tmp_path)
    place.add("space", [busy.url])
    busy.free = True

    def gone(what: str, done: int, total: int | None) -> None:
        if "space" in place.graphs():
            place.remove("space")

    with pytest.raises(SetupError, match="removed in the meantime"):
        place.complete_survey("space", progress=gone)
    assert not place.get_data_folder("space").exists()


def test_what_a_profile_made_elsewhere_says_is_not_asked_for(
    tmp_path: Path, store: Store, exact: Profile
) -> None:
    (tmp_path / "space.ttl").write_text(serialize_void(exact))
    place = Workspace(tmp_path / "workspace")
    with CappedServer(store, cap=100_000) as server:
        profile = place.add("space", [server.url], settings={"profile": "../space.ttl"})
        sent = queries(server)
    assert not any("GROUP BY ?p" in query and "VALUES" not in query for query in sent)
    known = {p.iri: p for p in exact.predicates}
    for found in profile.predicates:
        assert found.triples == known[found.iri].triples
        assert set(found.names) == set(known[found.iri].names)
    assert {c.iri: (c.instances, set(c.names)) for c in profile.classes} == {
        c.iri: (c.instances, set(c.names)) for c in exact.classes
    }


def test_a_file_without_a_profile_is_refused_in_words(tmp_path: Path, store: Store) -> None:
    (tmp_path / "no.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    place = Workspace(tmp_path / "workspace")
    with CappedServer(store, cap=100_000) as server:
        for name, said in (("no.ttl", "contains no VoID"), ("none.ttl", "cannot be read")):
            with pytest.raises(SetupError, match=said):
                place.add("space", [server.url], settings={"profile": str(tmp_path / name)})
        assert not server.requests
    assert not place.graphs()
