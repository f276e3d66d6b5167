"""The generated graph in Wikidata's shape: its statements agree, and its questions have answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, QueryBoolean, QuerySolutions, RdfFormat, Store

from _wikidata_questions import NAMESPACES, Asked, Numbers, asked, questions
from _wikidata_world import LANGUAGES, Amount, Day, Thing, Value, World
from askgraph.graph.arrays import build_arrays
from askgraph.graph.local_profile import profile_of
from askgraph.search.expand.schema import Schema
from generate_graph import RDFS, written
from generate_wikidata import OWL, SCHEMA, WIKIBASE, triples, world_of

SIZE = 150_000
RANK, SAME = f"<{WIKIBASE}rank>", f"<{OWL}sameAs>"


@pytest.fixture(scope="module")
def world() -> World:
    return world_of(SIZE)


@pytest.fixture(scope="module")
def store(world: World, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("wikidata") / "graph.nt"
    count = written(triples(world), path)
    found = Store()
    found.bulk_load(path=path, format=RdfFormat.N_TRIPLES)
    assert len(found) == count  # none twice
    return found


def rows(store: Store, query: str) -> list[tuple[str, ...]]:
    """The rows of a query, each term without what its kind writes around it."""
    prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in NAMESPACES.items())
    found = store.query(
        f"PREFIX wikibase: <{WIKIBASE}> PREFIX rdfs: <{RDFS}> PREFIX schema: <{SCHEMA}>"
        f"PREFIX owl: <{OWL}> {prefixes} {query}"
    )
    if isinstance(found, QueryBoolean):
        return [(str(bool(found)).lower(),)]
    assert isinstance(found, QuerySolutions)
    return [tuple(term.value if term is not None else "" for term in row) for row in found]


def test_the_same_size_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    first, again, other = (tmp_path / name for name in ("a.nt.gz", "b.nt.gz", "c.nt.gz"))
    written(triples(world_of(20_000)), first)
    written(triples(world_of(20_000)), again)
    written(triples(world_of(20_000, seed=2)), other)
    assert first.read_bytes() == again.read_bytes() != other.read_bytes()
    assert list(questions(world_of(20_000))) == list(questions(world_of(20_000)))


@pytest.mark.parametrize("wanted", [50_000, 200_000])
def test_the_graph_has_about_as_many_triples_as_asked_for(wanted: int) -> None:
    assert sum(1 for _ in triples(world_of(wanted))) == pytest.approx(wanted, rel=0.05)


def test_every_statement_has_one_item_one_value_and_one_rank(store: Store) -> None:
    spaces = {NAMESPACES[name]: name for name in NAMESPACES}
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    codes: dict[str, set[str]] = defaultdict(set)
    for quad in store:
        assert isinstance(quad.subject, NamedNode)
        space, _, code = quad.predicate.value.rpartition("/")
        prefix = spaces.get(f"{space}/", "rank" if f"<{quad.predicate.value}>" == RANK else "")
        node = quad.object.value if prefix == "p" else quad.subject.value
        if prefix in ("p", "ps", "rank"):
            seen[node][prefix] += 1
        if prefix in ("p", "ps"):
            codes[node].add(code)
    assert len(seen) > 1000
    assert all(counts == {"p": 1, "ps": 1, "rank": 1} for counts in seen.values())
    assert all(len(found) == 1 for found in codes.values())


def test_direct_claims_are_those_of_the_best_rank(store: Store) -> None:
    declared = rows(
        store,
        "SELECT ?direct ?claim ?value { ?p a wikibase:Property ; wikibase:directClaim ?direct ;"
        " wikibase:claim ?claim ; wikibase:statementProperty ?value }",
    )
    ranks = Counter(rank for (rank,) in rows(store, "SELECT ?r { ?s wikibase:rank ?r }"))
    assert len(ranks) == 3
    direct: set[tuple[str, ...]] = set()
    expected: set[tuple[str, ...]] = set()
    for predicate, claim, value in declared:
        direct |= {
            (item, predicate, end)
            for item, end in rows(store, f"SELECT ?i ?v {{ ?i <{predicate}> ?v }}")
        }
        by_item = defaultdict(list)
        for item, end, rank in rows(
            store,
            f"SELECT ?i ?v ?r {{ ?i <{claim}> ?s . ?s <{value}> ?v ; wikibase:rank ?r }}",
        ):
            by_item[item].append((end, rank.removeprefix(WIKIBASE)))
        for item, statements in by_item.items():
            wanted = "PreferredRank" if "PreferredRank" in dict(statements).values() else ""
            wanted = wanted or "NormalRank"
            expected |= {(item, predicate, end) for end, rank in statements if rank == wanted}
    assert direct == expected
    best = rows(store, "SELECT ?s { ?s a wikibase:BestRank }")
    assert len(best) == len(direct)


def test_items_have_labels_pages_and_former_codes(store: Store, world: World) -> None:
    # Items have labels pages and former codes.
    unnamed = rows(
        store,
        "SELECT DISTINCT ?x { ?x wikibase:sitelinks ?n"
        ' FILTER NOT EXISTS { ?x rdfs:label ?l FILTER(LANG(?l) = "en") } }',
    )
    assert not unnamed
    pages = Counter(item for (item,) in rows(store, "SELECT ?x { ?page schema:about ?x }"))
    counted = rows(store, "SELECT ?x ?n { ?x wikibase:sitelinks ?n }")
    links = {item: int(number) for item, number in counted}
    assert len(links) == sum(world.counts.values())
    assert all(number >= pages[item] for item, number in links.items())
    assert max(links.values()) > 20 * sorted(links.values())[len(links) // 2]
    moved = rows(store, "SELECT ?old ?new { ?old owl:sameAs ?new }")
    assert moved
    assert all(new in links and old not in links for old, new in moved)
    assert len({old for old, _ in moved}) == len(moved)
    # Many names are shared.
    big = world_of(1_000_000)
    names = Counter(big.label(thing, "en") for thing in big.things())
    assert sum(count for count in names.values() if count > 1) > 2_000


def test_every_question_has_an_answer_in_the_graph(store: Store, world: World) -> None:
    # Every question has an answer in the graph.
    lines = list(questions(world))
    assert len({line["id"] for line in lines}) == 80
    assert sum(line["tags"] == ["homonym"] for line in lines) == 10
    assert {line["lang"] for line in lines} == set(LANGUAGES)
    for line in lines:
        assert rows(store, str(line["sparql"])), line
    # Gold answers are those of the world.
    numbers = Numbers(world)
    checked = [one for one in asked(world) if one.spec["text"] in EXPECTED]
    assert len(checked) == len(EXPECTED)
    for one in checked:
        expected = EXPECTED[one.spec["text"]](world, dict(one.mentioned), year_of(one))
        found = {row[0] for row in rows(store, one.query(numbers))}
        if isinstance(expected, set):
            assert found == {spelled(numbers, value) for value in expected}, one.text
        else:
            assert found == {str(expected).lower()}, one.text


def all_best(world: World, name: str) -> Iterable[tuple[Thing, Value]]:
    return ((thing, value) for thing in world.things() for value in world.values(thing, name))


def having(world: World, name: str, value: Value, kind: str = "") -> set[Value]:
    """Things of a kind with a value of a property, by looking at all of them."""
    return {t for t, v in all_best(world, name) if v == value and kind in ("", t.kind)}


def number_of(value: Value) -> float:
    assert isinstance(value, Amount)
    return float(value.number)


def held_in(world: World, x: Thing, name: str, year: int) -> set[Value]:
    """Values of a property that began before a year and ended after it."""
    return {
        claim.value
        for claim in world.drawn(x, name)
        if isinstance(start := claim.qualifier("start"), Day)
        and isinstance(end := claim.qualifier("end"), Day)
        and start.year <= year <= end.year
    }


def largest(world: World, kind: str, x: Thing, name: str) -> set[Value]:
    there = having(world, "country", x, kind)
    sizes = {t: number_of(v) for t, v in all_best(world, name) if t in there}
    return {max(sizes, key=lambda thing: sizes[thing])}


def along(world: World, x: Thing, *path: str) -> set[Value]:
    ends: set[Value] = {x}
    for name in path:
        ends = {v for end in ends if isinstance(end, Thing) for v in world.values(end, name)}
    return ends


Expected = Callable[[World, dict[str, Thing], int], set[Value] | int | bool]
EXPECTED: dict[str, Expected] = {
    "When was $x born?": lambda w, on, _: along(w, on["x"], "born"),
    "Who is the mayor of $x?": lambda w, on, _: along(w, on["x"], "mayor"),
    "Who was born in $x?": lambda w, on, _: having(w, "birthplace", on["x"]),
    "Which films did $x direct?": lambda w, on, _: having(w, "director", on["x"], "film"),
    "Where are the headquarters of the employer of $x?": lambda w, on, _: along(
        w, on["x"], "employer", "headquarters"
    ),
    "Who wrote the novel that the film $x is based on?": lambda w, on, _: along(
        w, on["x"], "based", "author"
    ),
    "How many people were born in $x?": lambda w, on, _: len(having(w, "birthplace", on["x"])),
    "Wie viele Städte gibt es in $x?": lambda w, on, _: len(having(w, "country", on["x"], "city")),
    "Which city in $x has the largest population?": lambda w, on, _: largest(
        w, "city", on["x"], "population"
    ),
    "¿Cuál es el río más largo de $x?": lambda w, on, _: largest(w, "river", on["x"], "length"),
    "Which rivers are longer than 2000 kilometres?": lambda w, _, __: {
        thing for thing, v in all_best(w, "length") if number_of(v) > 2000
    },
    "Was $x born in $y?": lambda w, on, _: on["y"] in along(w, on["x"], "birthplace"),
    "Liegt $x in $y?": lambda w, on, _: on["y"] in along(w, on["x"], "region"),
    "Which painters were born in $x?": lambda w, on, _: (
        having(w, "birthplace", on["x"]) & having(w, "occupation", w.of_key("painter"))
    ),
    "Who was the mayor of $x in $year?": lambda w, on, year: held_in(w, on["x"], "mayor", year),
    "Who coached $x in $year?": lambda w, on, year: held_in(w, on["x"], "coach", year),
    "What was the population of $x in $year?": lambda w, on, year: {
        claim.value
        for claim in w.drawn(on["x"], "population")
        if isinstance(at := claim.qualifier("at"), Day) and at.year == year
    },
    "When did $x receive the $y?": lambda w, on, _: {
        at
        for claim in w.drawn(on["x"], "award")
        if claim.value == on["y"] and (at := claim.qualifier("at")) is not None
    },
    "How many inhabitants does $x have?": lambda w, on, _: along(w, on["x"], "population"),
    "What is the elevation of $x in $y?": lambda w, on, _: along(w, on["x"], "elevation"),
}


def spelled(numbers: Numbers, value: Value) -> str:
    match value:
        case Thing():
            return numbers.iri("wd", value)[1:-1]
        case Amount(number):
            return number
        case Day(date):
            return f"{date}T00:00:00Z"
        case _:
            return value


def year_of(one: Asked) -> int:
    year = one.picked.get("year", 0)
    assert isinstance(year, int)
    return year


def test_a_shared_name_is_told_apart_as_its_question_says(world: World) -> None:
    called: dict[str, set[Thing]] = defaultdict(set)
    for thing in world.things():
        for language in LANGUAGES:
            for name in (world.label(thing, language), *world.aliases(thing, language)):
                called[name.casefold()].add(thing)
    for one in asked(world):
        others = {
            thing
            for key, name in one.names.items()
            for thing in called[name.casefold()] - {one.mentioned[key]}
        }
        assert bool(others) == ("homonym" in one.spec), one.text
        if one.spec.get("homonym") == "use":
            alike = [t for t in others if t.kind == one.mentioned["x"].kind]
            assert world.sitelinks(one.mentioned["x"]) > max(map(world.sitelinks, alike))


def test_former_codes_are_merged_into_the_things_that_have_them_now(store: Store) -> None:
    arrays = build_arrays(store)
    schema = Schema(arrays, profile_of(arrays))
    merged = rows(store, f"SELECT ?s ?o {{ ?s <{OWL}sameAs> ?o }}")
    assert len(merged) > 10
    for former, now in merged:
        node = arrays.terms.iri(former)
        assert node is not None
        assert schema.merged(node) == arrays.terms.iri(now)
        assert schema.merged(arrays.terms.iri(now) or 0) is None
