"""Metadata of a graph: known, asked anew within a bound, read from what is published."""

from pathlib import Path

import pytest
from tests.graphs import MOONS
from tests.servers.sparql import SparqlServer

from askgraph.errors import SetupError
from askgraph.graph.void_text import serialize_void
from askgraph.workspace import Workspace, ignore_progress, metadata


def test_the_profile_of_a_graph_is_known_and_comes_back_from_its_void(
    space: Workspace, tmp_path: Path
) -> None:
    known = metadata.load_source_profile(space, "space", progress=ignore_progress)
    file = tmp_path / "void.ttl"
    file.write_text(serialize_void(known), encoding="utf-8")

    read = metadata.load_source_profile(space, str(file), progress=ignore_progress)
    published = metadata.fetch_metadata(space, str(file)).profile

    assert known == metadata.load_source_profile(space, None, progress=ignore_progress)
    assert {c.iri: c.instances for c in known.classes}.items() >= {
        c.iri: c.instances for c in read.classes
    }.items()
    assert published is not None and published.classes == read.classes


def test_triples_that_lie_here_are_counted_and_nothing_is_fetched(space: Workspace) -> None:
    assert metadata.profile_source(space, "space", progress=ignore_progress).triples == 8132
    with pytest.raises(SetupError, match="askgraph metadata completeness space"):
        metadata.fetch_metadata(space, "space")


def test_an_endpoint_is_asked_within_the_bound(tmp_path: Path, server: SparqlServer) -> None:
    place = Workspace(tmp_path)
    found = metadata.profile_source(
        place, server.url, limits=metadata.ProfilingLimits(queries=40), progress=ignore_progress
    )

    assert 0 < len(server.requests) <= 40
    assert {c.iri.rpartition("#")[2] for c in found.classes} >= {"Moon", "Planet"}
    assert not place.graphs()


def test_a_home_page_that_is_a_file_describes_a_graph_and_is_kept(
    workspace: Workspace, tmp_path: Path
) -> None:
    page = tmp_path / "page.jsonld"
    page.write_text(
        '{"@context": "https://schema.org/", "@type": "Dataset", "name": "Moons of ours"}'
    )

    found = metadata.fetch_metadata(workspace, "moons", page=str(page))

    assert [one.name for one in found.descriptions] == ["Moons of ours"]
    assert [one.name for one in found.places] == ["page"]
    assert workspace.get_description_file("moons").is_file()


def test_a_file_without_void_is_said_so(tmp_path: Path) -> None:
    file = tmp_path / "moons.ttl"
    file.write_text(MOONS)
    with pytest.raises(SetupError, match="contains no VoID"):
        metadata.load_source_profile(Workspace(tmp_path), str(file), progress=ignore_progress)
