"""Conditions of existence in steps: they hold for what they held for, and come to an end."""

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Quad, QueryBoolean, Store, Triple
from tests.each import for_each

from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.sparql.rewrite.canonical import nest_existence_conditions

HEAD = "PREFIX : <http://a.example/> "
NODES = [NamedNode(f"http://a.example/{name}") for name in "abcd"]
LINKS = [NamedNode(f"http://a.example/{name}") for name in "pq"]
TRIPLES = st.lists(
    st.builds(Triple, st.sampled_from(NODES), st.sampled_from(LINKS), st.sampled_from(NODES)),
    max_size=12,
)
END = st.sampled_from(["?x", "?y", "?z", "?w", ":a", ":b"])
PATTERN = st.tuples(END, st.sampled_from([":p", ":q", "a", ":p/:q", ":p*", "?v"]), END).map(
    " ".join
)
CONDITION = st.sampled_from(
    ["", "FILTER(?x != ?z)", "FILTER(?w = :a)", "FILTER NOT EXISTS { ?z :p ?u . ?u :q ?x }"]
)
INNER = st.tuples(st.lists(PATTERN, min_size=1, max_size=4).map(" . ".join), CONDITION).map(
    " ".join
)
OUTER = st.sampled_from(
    [
        "?x :p ?y {}",
        "{} ?x :p ?y",
        "?x :p ?y OPTIONAL {{ ?y :q ?z }} {}",
        "{{ ?x :p ?y {} }} UNION {{ ?x :q ?z }}",
        "?x :q ?y {{ SELECT ?z {{ ?z :p ?a {} }} }}",
    ]
)


@given(TRIPLES, OUTER, st.sampled_from(["NOT EXISTS", "EXISTS"]), INNER)
def test_steps_give_the_same(triples: list[Triple], outer: str, word: str, inner: str) -> None:
    store = Store()
    store.extend(Quad(*triple) for triple in triples)
    where = outer.format(f"FILTER {word} {{ {inner} }}")
    query = f"{HEAD}SELECT ?x ?y ?z WHERE {{ {where} }}"

    texts = (query, nest_existence_conditions(query))
    rows = [sorted(map(str, store.query(text))) for text in texts]  # type: ignore[arg-type]
    assert rows[0] == rows[1]


@for_each(
    "query",
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } }",
    "SELECT * { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z . ?z :p ?y } }",
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?a :q ?z . ?z :p ?b } }",
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z OPTIONAL { ?z :p ?y } } }",
    "SELECT ?x { ?x :p",
)
def test_what_has_no_steps_stays_the_very_same_text(query: str) -> None:
    assert nest_existence_conditions(query) is query


def test_the_first_step_is_the_one_that_is_tied_to_what_is_known() -> None:
    query = f"{HEAD}ASK {{ ?x :p ?y FILTER EXISTS {{ ?z a :C . ?z :q :a . ?z :p ?x }} }}"

    steps = nest_existence_conditions(query)
    assert steps.index("?z <http://a.example/p> ?x") < steps.index("<http://a.example/q>")
    assert steps.count("EXISTS") == 3
    assert isinstance(answer := Store().query(steps), QueryBoolean) and not answer


def test_a_denial_over_several_steps_comes_to_an_end(tmp_path: Path) -> None:
    lines = [f":t{n} :student :s{n % 1500} ; :course :c{n % 40} ." for n in range(15_000)]
    lines += [f":s{n} a :Student ." for n in range(1500)] + [
        f":c{n} :of :d{n % 8} ." for n in range(40)
    ]
    (tmp_path / "g.ttl").write_text("@prefix : <http://a.example/> .\n" + "\n".join(lines))
    OxigraphEndpoint.load([tmp_path / "g.ttl"], tmp_path / "db")
    endpoint = OxigraphEndpoint(tmp_path / "db", timeout=600)
    denial = "FILTER NOT EXISTS { ?t :student ?s . ?t :course ?c . ?c :of :d3 }"
    query = f"{HEAD}SELECT ?s {{ ?s a :Student . {denial} }}"

    async def asked() -> int:
        try:
            return len((await endpoint.select(query)).rows)
        finally:
            await endpoint.close()

    without = set(range(1500)) - {n % 1500 for n in range(15_000) if n % 40 % 8 == 3}
    assert asyncio.run(asked()) == len(without) > 0
