"""The shape of a class is the same from its triples, from its profile, and from its endpoint."""

from itertools import pairwise

import pytest
from pyoxigraph import NamedNode, RdfFormat, Store
from tests.each import for_each
from tests.servers.sparql import SparqlServer

from askgraph.endpoint.http import HttpEndpoint
from askgraph.graph.arrays import GraphArrays, build_arrays
from askgraph.graph.profile import Partition, Profile
from askgraph.graph.shapes import Shape, ShapeLine, build_shape, load_shape, select_frequent
from askgraph.graph.void import parse_void
from askgraph.graph.void_text import serialize_void
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import RdfStatements

ONT = "https://example.org/space/ontology#"


@pytest.fixture(scope="module")
def arrays(store: Store) -> GraphArrays:
    return build_arrays(store)


async def shape_of(cls: str, profile: Profile, store: Store, arrays: GraphArrays | None) -> Shape:
    with SparqlServer(store) as server:
        endpoint = HttpEndpoint(server.url)
        try:
            return await load_shape(cls, profile, endpoint, arrays=arrays)
        finally:
            await endpoint.close()


def plain(shape: Shape) -> dict[tuple[str, bool], tuple[int | None, tuple[str, ...]]]:
    """Who has what, without examples."""
    return {(x.predicate, x.inverse): (x.having, x.kinds) for x in shape.lines}


@for_each("name", ["Moon", "Mission", "Planet", "SpaceAgency"])
async def test_a_profile_tells_what_the_triples_tell(
    name: str, exact: Profile, store: Store, arrays: GraphArrays
) -> None:
    near = await shape_of(ONT + name, exact, store, arrays)
    far = await shape_of(ONT + name, exact, store, None)
    leaving = {key: told for key, told in plain(near).items() if not key[1]}
    assert {key: plain(far)[key] for key in leaving} == leaving
    assert plain(near).keys() == plain(far).keys()


@pytest.mark.parametrize("name", ["Moon", "Mission", "CrewMembership"])
async def test_remote_examples_are_of_an_instance(name: str, exact: Profile, store: Store) -> None:
    shape = await shape_of(ONT + name, exact, store, None)

    assert isinstance(shape.instance, NamedNode)
    assert all(line.example is not None for line in shape.lines)
    own = [line for line in shape.lines if not line.is_foreign_example]
    assert len(own) >= 5
    for line in own:
        both = (line.example, shape.instance) if line.inverse else (shape.instance, line.example)
        query = f"ASK {{ {both[0]} <{line.predicate}> {both[1]} }}"
        assert store.query(query), query


async def test_a_class_that_the_profile_does_not_divide_is_sampled(store: Store) -> None:
    shape = await shape_of(f"{ONT}Moon", Profile(0, (), ()), store, None)
    assert shape.instances == 55
    assert next(x for x in shape.lines if x.predicate == f"{ONT}orbits").having == 55


async def test_a_predicate_that_leads_on_is_followed_from_its_example(
    exact: Profile, store: Store, arrays: GraphArrays
) -> None:
    shape = await shape_of(ONT + "LaunchSite", exact, store, arrays)
    line = next(one for one in shape.lines if one.predicate == ONT + "locatedIn")
    assert line.chain and line.max_triples is not None
    steps = [getattr(term, "value", "") for term in (line.example, *line.chain)]
    for here, there in pairwise(steps):
        assert store.query(f"ASK {{ <{here}> <{ONT}locatedIn> <{there}> }}")


async def test_few_things_are_all_told(exact: Profile, store: Store, arrays: GraphArrays) -> None:
    shape = await shape_of(ONT + "CrewedMission", exact, store, arrays)
    values = {one.predicate.removeprefix(ONT): one.values for one in shape.lines}
    names = [str(term).rsplit("/", 1)[-1] for term in values["operator"]]
    assert names == ["CMSA>", "NASA>", "Roscosmos>", "Soviet_space_program>"]
    assert values["launchVehicle"] == ()


def test_the_shape_of_void_is_that_of_the_graph(exact: Profile) -> None:
    text = serialize_void(exact).encode()
    read = parse_void(RdfStatements.parse_document(text, RdfFormat.TURTLE, base=ONT))
    assert read is not None
    assert build_shape(read, f"{ONT}Moon") == build_shape(exact, f"{ONT}Moon")


def test_numbers_that_nobody_told_are_unknown() -> None:
    partition = Partition("http://x/A", "http://x/p", 7, datatypes=((v.XSD_DATE, 0),))
    shape = build_shape(Profile(0, (), (), partitions=(partition,)), "http://x/A")
    assert shape.lines == (ShapeLine("http://x/p", 7, None, (v.XSD_DATE,)),)
    assert shape.get_share(shape.lines[0]) is None


def test_a_fraction_keeps_the_most_frequent_of_classes_and_predicates(exact: Profile) -> None:
    few = select_frequent(exact, 0.25)
    assert (len(few.classes), len(few.predicates)) == (9, 12)
    rest = {c.instances for c in exact.classes} - {c.instances for c in few.classes}
    assert min(c.instances for c in few.classes) >= max(rest)
    assert {one.cls for one in few.partitions} <= {c.iri for c in few.classes}
    assert select_frequent(exact, 1.0) == exact
