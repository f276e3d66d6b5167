"""Queries that are the same but for names, prefixes, layout and order."""

from random import Random

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import QuerySyntaxError
from askgraph.sparql.rewrite.canonical import build_skeleton, canonicalize_query

EX = {"ex": "http://example.org/"}
MOONS = "SELECT ?moon { ?moon ex:orbits ex:Mars ; ex:radius ?r . FILTER(?r > 7) }"


@pytest.mark.parametrize(
    "other",
    [
        "PREFIX e: <http://example.org/> "
        "SELECT ?x { ?x e:orbits e:Mars . ?x e:radius ?y FILTER(?y > 7) }",
        "select  ?moon # all of them\n where { FILTER(?r > 7) ?moon ex:radius ?r . "
        "?moon <http://example.org/orbits> ex:Mars }",
        "SELECT ?r { ?r ex:orbits ex:Mars ; ex:radius ?moon . FILTER(?moon > 7) }",
    ],
)
def test_names_prefixes_layout_and_order_do_not_matter(other: str) -> None:
    assert canonicalize_query(other, prefixes=EX) == canonicalize_query(MOONS, prefixes=EX)


SERVICE = "SELECT ?s { SERVICE <http://s.example/> { ?s ?p ?o } }"
BEFORE = "SELECT * { ?a ex:p ?b . OPTIONAL { ?b ex:q ?c } ?c ex:r ?d }"


@for_each(
    ("one", "other"),
    (MOONS, MOONS.replace("7", "8")),
    (MOONS, MOONS.replace("SELECT", "SELECT DISTINCT")),
    (MOONS, MOONS.replace("?moon {", "?r {")),
    (MOONS, MOONS + " LIMIT 1"),
    (MOONS, MOONS.replace("?moon ex:orbits ex:Mars", "ex:Mars ex:orbits ?moon")),
    (SERVICE, SERVICE.replace("SERVICE", "SERVICE SILENT")),
    (BEFORE, "SELECT * { ?c ex:r ?d . OPTIONAL { ?b ex:q ?c } ?a ex:p ?b }"),
)
def test_another_query_has_another_text(one: str, other: str) -> None:
    assert canonicalize_query(one, prefixes=EX) != canonicalize_query(other, prefixes=EX)


def test_what_cannot_be_read_is_compared_as_text_and_has_no_skeleton() -> None:
    assert canonicalize_query("SELECT ?a { nonsense # here") == "SELECT ?a { nonsense"
    with pytest.raises(QuerySyntaxError):
        of("SELECT nonsense")


PATTERNS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("pq"), st.sampled_from("abc")),
    min_size=1,
    max_size=4,
)


@given(PATTERNS, st.permutations("abc"), st.randoms(use_true_random=False))
def test_equal_texts_have_equal_results(
    patterns: list[tuple[str, str, str]], names: list[str], random: Random
) -> None:
    query = _query(patterns, "a")
    renamed = dict(zip("abc", names, strict=True))
    shuffled = [(renamed[s], p, renamed[o]) for s, p, o in patterns]
    random.shuffle(shuffled)
    other = _query(shuffled, renamed["a"])
    if canonicalize_query(query) == canonicalize_query(other):
        assert _solutions(query) == _solutions(other)


STORE = pyoxigraph.Store()
STORE.load(
    b"prefix : <http://example.org/> :1 :p :2 , :3 . :2 :p :1 ; :q :3 . :3 :q :1 , :3 .",
    pyoxigraph.RdfFormat.TURTLE,
)


def _query(patterns: list[tuple[str, str, str]], column: str) -> str:
    body = " . ".join(f"?{s} <http://example.org/{p}> ?{o}" for s, p, o in patterns)
    return f"SELECT ?{column} {{ {body} }}"


def _solutions(query: str) -> list[str]:
    found = STORE.query(query)
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return sorted(str(solution[0]) for solution in found)


ORBITS = "SELECT ?m WHERE { ?m a :Moon ; :orbits :Mars . FILTER(?m != :Io) } LIMIT 3"


def of(query: str) -> str:
    return build_skeleton(query, prefixes={"": "http://example.org/"})


@pytest.mark.parametrize(
    "other",
    [
        "SELECT ?dog WHERE { ?dog a :Dog ; :livesIn :Paris . FILTER(?dog != :Rex) } LIMIT 10",
        "SELECT ?m WHERE { FILTER(?m != :Io) ?m :orbits :Mars . ?m a :Moon } LIMIT 3",
        "SELECT ?m { ?m a :Moon ; :orbits :Mars, :Mars ; a :Moon . FILTER(?m != :Io) } LIMIT 3",
    ],
)
def test_names_numbers_order_and_repetition_are_no_part_of_it(other: str) -> None:
    assert of(other) == of(ORBITS)


@for_each(
    "other",
    "SELECT ?m WHERE { ?m a :Moon ; :orbits :Mars . FILTER(?m != :Io) }",
    "SELECT ?m WHERE { ?m a :Moon . :Mars :orbits ?m . FILTER(?m != :Io) } LIMIT 3",
    "SELECT ?m WHERE { ?m :is :Moon ; :orbits :Mars . FILTER(?m != :Io) } LIMIT 3",
    "SELECT ?m WHERE { ?m a :Moon ; :orbits ?o . FILTER(?m != :Io) } LIMIT 3",
    "SELECT ?m WHERE { ?m a :Moon ; :orbits :Mars . FILTER(?m = :Io) } LIMIT 3",
    "SELECT (COUNT(?m) AS ?n) WHERE { ?m a :Moon ; :orbits :Mars FILTER(?m != :Io) } LIMIT 3",
)
def test_what_makes_another_kind_of_query_is_part_of_it(other: str) -> None:
    assert of(other) != of(ORBITS)


def test_the_direction_of_an_order_counts_and_groups_within_groups_are_looked_into() -> None:
    most, least = (f"SELECT ?m {{ ?m :size ?s }} ORDER BY {way}(?s)" for way in ("DESC", "ASC"))
    assert of(most) != of(least)

    one, other = (
        f"SELECT ?m {{ ?m a :Moon OPTIONAL {{ ?m :name {name} }} }}" for name in ('"Io"', '"X"@en')
    )
    assert of(one) == of(other)


@given(
    st.lists(st.tuples(*[st.sampled_from(["?a", "?b", ":x", ":y"])] * 3), min_size=1, max_size=4),
    st.permutations(["?a", "?b"]),
)
def test_variables_may_be_renamed(triples: list[tuple[str, str, str]], names: list[str]) -> None:
    written = " . ".join(" ".join(triple) for triple in triples)
    renamed = written.replace("?a", "?1").replace("?b", names[1]).replace("?1", names[0])

    assert of(f"SELECT * {{ {renamed} }}") == of(f"SELECT * {{ {written} }}")
