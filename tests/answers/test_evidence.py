"""Every row is shown with the triples it rests on, all fetched at once."""

import pytest
from tests.answers.conftest import PREFIX, Counting, Slow

from askgraph.answers.evidence import fetch_evidence
from askgraph.errors import TimedOut
from askgraph.sparql.results import SelectResult
from askgraph.trace import Evidence


async def shown(query: str, endpoint: Counting, rows: int = 5) -> tuple[Evidence, ...]:
    result = await endpoint.select(PREFIX + query)
    endpoint.requests = 0
    found = (await fetch_evidence(PREFIX + query, result, endpoint, rows=rows)).describe({})
    assert endpoint.requests <= 1
    assert [part.row for part in found] == list(range(len(found)))
    return found


def ex(*names: str) -> tuple[str, ...]:
    return tuple(f"<http://example.org/{name}>" for name in names)


TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


async def test_a_row_is_shown_with_its_triples(small: Counting) -> None:
    query = "SELECT ?m { ?m a :Moon ; :orbits ?p . ?p :mass ?x FILTER(?x < 10) } ORDER BY ?m"
    found = await shown(query, small)
    assert len(found) == 2
    assert found[0].triples[:2] == (
        (*ex("Deimos"), TYPE, *ex("Moon")),
        ex("Deimos", "orbits", "Mars"),
    )
    assert found[0].words == ("Deimos · is a · Moon", "Deimos · orbits · Mars", "Mars · mass · 6.4")


async def test_the_nodes_between_are_found(small: Counting) -> None:
    query = "SELECT ?c { ?x :supplier :Intel ; :customer ?c } ORDER BY ?c"
    found = await shown(query, small)
    assert [part.triples[1] for part in found] == [
        ex("c2", "customer", "Acer"),
        ex("c1", "customer", "Bosch"),
    ]


async def test_blank_nodes_and_chains_are_found(small: Counting) -> None:
    found = await shown("SELECT ?s { [] :customer [ :size ?s ] ; :supplier :Intel }", small)
    assert ex("c1", "customer", "Bosch") in found[0].triples
    assert (*ex("Bosch", "size"), '"large"') in found[0].triples


async def test_of_a_path_the_ends_are_shown(small: Counting) -> None:
    found = await shown("SELECT ?x { ?x :in+ :Europe } ORDER BY ?x", small)
    assert found[1].triples == (("<http://example.org/Graz>", *_path(), *ex("Europe")),)
    assert found[1].words == ("Graz · in (directly or over several steps) · Europe",)


def _path() -> tuple[str]:
    return ("<http://example.org/in>+",)


async def test_of_a_count_some_of_what_was_counted_is_shown(sample: Counting) -> None:
    head = "PREFIX o: <https://example.org/space/ontology#> PREFIX s: <https://example.org/space/> "
    query = head + "SELECT (COUNT(?m) AS ?n) { ?m a o:Moon ; o:orbits s:Jupiter }"
    result = await sample.select(query)
    [found] = (await fetch_evidence(query, result, sample)).describe({})
    assert len(found.triples) == 6
    assert found.words[-1].startswith("(3 of ")


async def test_each_group_has_its_own_triples(small: Counting) -> None:
    [found] = await shown("SELECT ?p (COUNT(*) AS ?n) { ?m :orbits ?p } GROUP BY ?p", small)
    assert sorted(found.triples) == [ex("Deimos", "orbits", "Mars"), ex("Phobos", "orbits", "Mars")]


async def test_a_maximum_is_shown_where_it_stands(small: Counting) -> None:
    [found] = await shown("SELECT (MAX(?x) AS ?most) { ?p a :Planet ; :mass ?x }", small)
    assert found.words == ("Venus · is a · Planet", "Venus · mass · 48.7")


@pytest.mark.parametrize("word", ["FILTER NOT EXISTS", "MINUS"])
async def test_what_must_not_be_is_said(word: str, small: Counting) -> None:
    [found] = await shown(f"SELECT ?p {{ ?p a :Planet {word} {{ ?m :orbits ?p }} }}", small)
    assert found.words == ("Venus · is a · Planet", "nothing · orbits · Venus")


async def test_only_the_branch_that_was_taken_is_shown(small: Counting) -> None:
    query = "SELECT ?x { { ?x a :Planet } UNION { ?x a :Moon } } ORDER BY ?x"
    found = await shown(query, small)
    assert [part.words for part in found[:2]] == [
        ("Deimos · is a · Moon",),
        ("Mars · is a · Planet",),
    ]


async def test_optional_triples_are_shown_where_they_are(small: Counting) -> None:
    query = "SELECT ?c ?s { :c1 :customer ?c OPTIONAL { ?c :size ?s } OPTIONAL { ?c :no ?n } }"
    [found] = await shown(query, small)
    assert found.words == ("c1 · customer · Bosch", "Bosch · size · large")


async def test_sub_selects_are_looked_into(small: Counting) -> None:
    query = "SELECT ?y { { SELECT (?m AS ?y) { ?m a :Moon } ORDER BY ?m LIMIT 1 } }"
    [found] = await shown(query, small)
    assert found.words == ("Deimos · is a · Moon",)
    query = "SELECT ?y { { SELECT (?m AS ?y) { ?m a :Moon } } ?y :orbits :Mars } ORDER BY ?y"
    assert (await shown(query, small))[0].words == (
        "Deimos · is a · Moon",
        "Deimos · orbits · Mars",
    )


async def test_only_the_first_rows_are_shown(small: Counting) -> None:
    assert len(await shown("SELECT ?s { ?s ?p ?o }", small, rows=2)) == 2


async def test_an_unreadable_query_an_empty_result_and_an_ask_give_nothing(small: Counting) -> None:
    empty = SelectResult(("x",), ())
    assert (await fetch_evidence("hello", empty, small)).describe({}) == ()
    assert (await fetch_evidence("ASK { ?s ?p ?o }", empty, small)).describe({}) == ()
    assert await shown("SELECT ?x { ?x a :Nothing }", small) == ()


async def test_a_failing_endpoint_is_told_of(slow: Slow, small: Counting) -> None:
    query = PREFIX + "SELECT ?x { ?x a :Moon }"
    result = await small.select(query)
    with pytest.raises(TimedOut):
        await fetch_evidence(query, result, slow)


async def test_every_gold_answer_of_the_sample_graph_has_its_triples(
    sample: Counting, sample_queries: list[str]
) -> None:
    for query in sample_queries:
        if "SELECT" not in query:
            continue
        result = await sample.select(query)
        found = (await fetch_evidence(query, result, sample, rows=2)).describe({})
        assert len(found) == min(2, len(result.rows))
        assert all(part.triples for part in found), query


async def test_nodes_between_are_named_by_their_labels_in_their_own_case(small: Counting) -> None:
    query = PREFIX + "SELECT ?x { :Phobos :orbits ?p . ?p :mass ?x MINUS { ?p :in ?c } }"
    behind = await fetch_evidence(query, await small.select(query), small)
    assert set(behind.iris) >= {"http://example.org/Mars", "http://example.org/mass"}
    labels = {
        "http://example.org/Mars": "der Mars",
        "http://example.org/mass": "Masse",
        "http://example.org/in": "Teil von",
    }
    [found] = behind.describe(labels)
    assert found.words == (
        "Phobos · orbits · der Mars",
        "der Mars · Masse · 6.4",
        "der Mars · Teil von · nothing",
    )
