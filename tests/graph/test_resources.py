"""Resources of a profile and its names, and of an endpoint's answers, capped or not."""

from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import SetupError
from askgraph.graph.nodes import (
    iterate_named_resources,
    iterate_profile_classes,
    iterate_profile_properties,
    query_resources,
)
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.index import Resource
from askgraph.index.names import IndexedName, ItemKind
from askgraph.index.sources import load_query
from askgraph.sparql.results import SelectResult

EX = "http://example.org/"
PROFILE = Profile(
    20,
    (ClassProfile(EX + "Moon", 7, (("Mond", "de"), ("moon", "en")), (EX + "CelestialBody",)),),
    (
        PredicateProfile(
            EX + "orbits",
            triples=9,
            subjects=7,
            objects=2,
            subject_classes=((EX + "Moon", 7),),
            object_classes=((EX + "Planet", 2),),
        ),
    ),
)


def test_predicates_have_their_domain_and_range_and_triples() -> None:
    assert list(iterate_profile_properties(PROFILE)) == [
        Resource(EX + "orbits", "orbits", (), 9.0, ("domain Moon", "range Planet"))
    ]


def test_classes_have_all_their_names_and_instances() -> None:
    assert list(iterate_profile_classes(PROFILE)) == [
        Resource(
            EX + "Moon", "moon", ("Mond", "Moon"), 7.0, ("class", "subclass of celestial body")
        )
    ]


def test_names_of_one_thing_are_put_together() -> None:
    names = [
        IndexedName("J III", EX + "g", ItemKind.ENTITY, preferred=False),
        IndexedName("Ganymede", EX + "g", ItemKind.ENTITY),
        IndexedName("ice", '"ice"', ItemKind.VALUE),
        IndexedName("orbits", EX + "orbits", ItemKind.PREDICATE),
    ]
    assert list(iterate_named_resources(names, [ItemKind.ENTITY, ItemKind.VALUE])) == [
        Resource(EX + "g", "Ganymede", ("J III",), 2.0),
        Resource('"ice"', "ice", (), 1.0),
    ]


class Capped(OxigraphEndpoint):
    """Gives so many rows at most."""

    def __init__(self, store: Path, cap: int | None) -> None:
        super().__init__(store)
        self._most = cap

    async def select(
        self, query: str, *, timeout: float | None = None, limit: int | None = None
    ) -> SelectResult:
        return await super().select(query, timeout=timeout, limit=self._most)


@for_each("cap", [None, 1, 7, 30])
async def test_every_resource_comes_whatever_the_cap(tmp_path: Path, cap: int | None) -> None:
    moons = "".join(f'<{EX}{at}> <{EX}name> "moon {at}" .\n' for at in range(30))
    (tmp_path / "moons.nt").write_text(moons, encoding="utf-8")
    OxigraphEndpoint.load([tmp_path / "moons.nt"], tmp_path / "db")
    endpoint = Capped(tmp_path / "db", cap)
    try:
        found = [resource async for resource in query_resources(endpoint, load_query("entities"))]
        if cap == 1:
            with pytest.raises(SetupError, match="end the query with GROUP BY"):
                query = "SELECT ?iri ('' AS ?label) { ?iri ?p ?o }"
                [resource async for resource in query_resources(endpoint, query)]
    finally:
        await endpoint.close()
    assert sorted(resource.iri for resource in found) == sorted(f"{EX}{at}" for at in range(30))
