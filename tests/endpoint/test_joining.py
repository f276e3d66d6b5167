"""A query over several graphs gives what it gives, without SERVICE, over all in one."""

import asyncio
import re
import tomllib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from pyoxigraph import QueryBoolean, QueryTriples, RdfFormat, Store, serialize
from tests.each import for_each
from tests.servers.sparql import SparqlServer

from askgraph.endpoint import Endpoint
from askgraph.endpoint.federated import FederatedEndpoint
from askgraph.endpoint.http import HttpEndpoint
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import QueryError

PREFIXES = """PREFIX : <https://example.org/space/ontology#>
PREFIX space: <https://example.org/space/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
NAMES, SKY = "urn:graph:names", "urn:graph:sky"
OF_NAMES = {"label", "altLabel", "comment"}
OF_SKY = {"orbits", "diameter", "mass", "orbitalPeriod", "discoverer", "discoveryYear"}

# NAMES and SKY stand for SERVICE clauses on graphs with these predicates; all else is here.
QUERIES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["queries"]

Split = Mapping[str, Store]


def parted(triples: Store) -> Split:
    """Part the sample graph by predicate: names, the sky, and the rest."""
    parts = {"": Store(), NAMES: Store(), SKY: Store()}
    for quad in triples:
        local = quad.predicate.value.replace("#", "/").rsplit("/", 1)[1]
        parts[NAMES if local in OF_NAMES else SKY if local in OF_SKY else ""].add(quad)
    return parts


@pytest.fixture(scope="module")
def union() -> Store:
    store = Store()
    with as_file(files("askgraph.sample").joinpath("space.ttl")) as file:
        store.load(path=file, format=RdfFormat.TURTLE)
    return store


@pytest.fixture(scope="module")
def split(union: Store) -> Split:
    return parted(union)


@pytest.fixture(scope="module")
def folders(split: Split, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("parts")
    return {name: stored(store, place, name.rpartition(":")[2]) for name, store in split.items()}


def stored(store: Store, place: Path, name: str) -> Path:
    file = place / f"part-{name}.nt"
    serialize((quad.triple for quad in store), str(file), RdfFormat.N_TRIPLES)
    OxigraphEndpoint.load([file], place / f"db-{name}")
    return place / f"db-{name}"


@pytest.fixture
async def files_joined(folders: dict[str, Path]) -> AsyncIterator[FederatedEndpoint]:
    parts = {name: OxigraphEndpoint(folder) for name, folder in folders.items()}
    yield FederatedEndpoint(parts[""], {name: parts[name] for name in (NAMES, SKY)})
    for part in parts.values():
        await part.close()


def without_services(query: str) -> str:
    return query.replace("NAMES {", "{").replace("SKY {", "{")


def with_services(query: str, names: str = NAMES, sky: str = SKY) -> str:
    query = query.replace("NAMES {", f"SERVICE <{names}> {{")
    return query.replace("SKY {", f"SERVICE <{sky}> {{")


def rows_of(query: str, store: Store) -> object:
    found = store.query(query)
    match found:
        case QueryBoolean():
            return bool(found)
        case QueryTriples():
            return Counter(map(str, found))
        case _:
            names = sorted(variable.value for variable in found.variables)
            return Counter(tuple(str(row[name]) for name in names) for row in found)


async def rows_from(query: str, endpoint: Endpoint) -> object:
    if "ASK {" in query:
        return await endpoint.ask(query)
    if "CONSTRUCT {" in query:
        return Counter(map(str, (await endpoint.construct(query)).triples))
    result = await endpoint.select(query)
    assert result.truncated is None
    order = sorted(range(len(result.variables)), key=lambda at: result.variables[at])
    return Counter(tuple(str(row[at]) for at in order) for row in result.rows)


@for_each("query", QUERIES)
async def test_graphs_of_files_give_what_one_graph_gives(
    files_joined: FederatedEndpoint, union: Store, query: str
) -> None:
    found = await rows_from(PREFIXES + with_services(query), files_joined)
    assert found == rows_of(PREFIXES + without_services(query), union)


@pytest.fixture
def servers(split: Split) -> Iterator[dict[str, SparqlServer]]:
    with (
        SparqlServer(split[""]) as own,
        SparqlServer(split[NAMES]) as names,
        SparqlServer(split[SKY]) as sky,
        SparqlServer(Store()) as stranger,
    ):
        yield {"": own, NAMES: names, SKY: sky, "stranger": stranger}


async def test_servers_give_what_one_graph_gives_and_none_is_asked_to_call_another(
    servers: dict[str, SparqlServer], union: Store
) -> None:
    parts = {name: HttpEndpoint(server.url) for name, server in servers.items()}
    names, sky = servers[NAMES].url, servers[SKY].url
    joined = FederatedEndpoint(parts[""], {names: parts[NAMES], sky: parts[SKY]})

    for query in QUERIES:
        found = await rows_from(PREFIXES + with_services(query, names, sky), joined)
        assert found == rows_of(PREFIXES + without_services(query), union), query

    assert servers["stranger"].requests == []
    sent = [one.parameters["query"][0] for each in servers.values() for one in each.requests]
    assert len(sent) > len(QUERIES)
    assert not any("SERVICE" in query.upper() for query in sent)
    for part in parts.values():
        await part.close()


SMALL = {
    "": """:a :orbits :b ; :radius 1 . :b :orbits :c ; :radius 2 . :c :orbits :a, :d . :d a :Moon .
        :a a :Moon . :b :radius 3 .""",
    NAMES: """:a :name "x", "y" . :b :name "x" . :d :name "z" . :a :called "x" . :e :name "e" .""",
    SKY: """:a :near :b, :c . :b :near :a . :d :near :d . :c :size 1 . :a :size 2 . :b :size 3 .""",
}
ENTITIES = st.sampled_from(["?s", "?t", "?u", ":a", ":b"])
ATOMS = {
    "": st.sampled_from([":orbits", ":radius", "a"]),
    NAMES: st.sampled_from([":name", ":called", ":name|:called"]),
    SKY: st.sampled_from([":near", ":size", "^:near", ":near/:near"]),
}
VARIABLES = st.sampled_from(["?s", "?t", "?u", "?v", "?w"])


def patterns(part: str) -> st.SearchStrategy[str]:
    return st.builds("{} {} {} . ".format, ENTITIES, ATOMS[part], VARIABLES)


def filters() -> st.SearchStrategy[str]:
    templates = ["FILTER({} != :a) ", "FILTER(!BOUND({})) ", "FILTER({} > 1) ", "FILTER({} = :b) "]
    return st.builds(str.format, st.sampled_from(templates), VARIABLES)


def groups(part: str, inner: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[str]:
    """Groups of one graph's patterns, or with clauses on the others where these are `inner`."""
    smaller = patterns(part) if inner is None else inner
    around = st.sampled_from(
        [
            "OPTIONAL {{ {} }} ",
            "MINUS {{ {} }} ",
            "FILTER NOT EXISTS {{ {} }} ",
            "{{ {} }} ",
            "{{ SELECT ?s ?t {{ {} }} }} ",
            "{{ SELECT ?s (COUNT(*) AS ?w) {{ {} }} GROUP BY ?s }} ",
        ]
    )
    values = st.sampled_from(
        ["VALUES ?s { :a :c } ", "VALUES (?s ?t) { (:a UNDEF) (UNDEF :b) } ", "VALUES ?t { :a } "]
    )
    elements = st.one_of(
        patterns(part),
        smaller,
        smaller,
        filters(),
        values,
        st.builds(str.format, around, smaller),
        st.builds("{{ {} }} UNION {{ {} }} ".format, smaller, smaller),
    )
    return st.lists(elements, min_size=1, max_size=4).map("".join)


CLAUSES = st.one_of(
    groups(NAMES).map("NAMES {{ {} }} ".format), groups(SKY).map("SKY {{ {} }} ".format)
)
WHERE = groups("", st.one_of(CLAUSES, groups("", CLAUSES)))


SHORT = "PREFIX : <http://example.org/> "

Ask = Callable[[str], object]


@pytest.fixture(scope="module")
def small_joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Runs queries on the small graphs, one after the other, in a loop of their own."""
    place = tmp_path_factory.mktemp("small")
    parts = {
        name: OxigraphEndpoint(stored(small(text), place, name[-3:]))
        for name, text in SMALL.items()
    }
    joined = FederatedEndpoint(parts[""], {name: parts[name] for name in (NAMES, SKY)})
    with asyncio.Runner() as runner:
        yield lambda query: runner.run(rows_from(query, joined))
        for part in parts.values():
            runner.run(part.close())


def small(*texts: str) -> Store:
    store = Store()
    for text in texts:
        store.load(f"{SHORT} {text}".encode(), RdfFormat.TURTLE)
    return store


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(where=WHERE)
def test_any_group_gives_what_it_gives_on_one_graph(small_joined: Ask, where: str) -> None:
    query = f"{SHORT} SELECT * {{ {where} }}"
    try:
        found = small_joined(with_services(query))
    except QueryError as refused:
        assert re.search("within EXISTS reads|SERVICE clauses; at most", str(refused))
        reject()
    assert found == rows_of(without_services(query), small(*SMALL.values()))


MOON = "SELECT * { ?m a :Moon . NAMES { ?m rdfs:label ?n } }"


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        # few values here: they go along
        ("SELECT * { space:Io :discovererOf|a ?k . ?m a :Star . NAMES { ?m rdfs:label ?n } }",
         [(NAMES, "VALUES (?m)")]),
        # a name there: it is looked up first
        ("SELECT * { ?m a :Moon . NAMES { ?m rdfs:label 'Titan'@en } }",
         [(NAMES, "WHERE { ?m rdfs:label")]),
        ("SELECT * { ?m a :Moon NAMES { ?m rdfs:label ?n } FILTER(?n = 'Titan'@en) }",
         [(NAMES, "FILTER(?n = 'Titan'@en)")]),
        # of two, the one with a name goes first, and its values along with the other
        ("SELECT * { NAMES { ?m rdfs:label ?n } SKY { ?m :orbits space:Mars } }",
         [(SKY, "WHERE { ?m :orb"), (NAMES, "VALUES (?m) { (<https://example.org/space/")]),
        # nothing here: nothing is asked there
        ("SELECT * { ?m a :Nothing . NAMES { ?m rdfs:label ?n } }", []),
        # many moons: in batches
        (MOON, [(NAMES, "VALUES (?m)")]),
        ("SELECT * { ?m a :Person . NAMES { ?m rdfs:label ?n } }", [(NAMES, "VALUES (?m)")] * 2),
        # counted, sorted and cut where the clause is all there is
        ("SELECT ?p (COUNT(*) AS ?c) { SKY { ?m :orbits ?p } } GROUP BY ?p ORDER BY DESC(?c)"
         " LIMIT 1",
         [(SKY, "ORDER BY DESC(?c) LIMIT 1")]),
        ("SELECT * { ?p a :Planet { SELECT ?p (COUNT(*) AS ?c) { SKY { ?m :orbits ?p } } GROUP"
         " BY ?p } }", [(SKY, "GROUP BY ?p")]),
    ],
)  # fmt: skip
async def test_a_clause_is_asked_for_little_and_seldom(
    servers: dict[str, SparqlServer], query: str, asked: list[tuple[str, str]]
) -> None:
    parts = {name: HttpEndpoint(server.url) for name, server in servers.items()}
    joined = FederatedEndpoint(parts[""], {name: parts[name] for name in (NAMES, SKY)})

    await joined.select(PREFIXES + with_services(query))

    for name in (NAMES, SKY):
        sent = [one.parameters["query"][0] for one in servers[name].requests]
        wanted = [words for of, words in asked if of == name]
        assert len(sent) == len(wanted)
        assert all(words in text for words, text in zip(wanted, sent, strict=True)), sent
    for part in parts.values():
        await part.close()
