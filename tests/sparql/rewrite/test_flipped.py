"""Flipped queries differ in the direction of their triples and in nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from askgraph.sparql import Pattern, walk
from askgraph.sparql.judge import check_query
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.rewrite.swapped import reverse_triples
from askgraph.sparql.serializer import to_text

EX = "PREFIX : <http://example.org/>\n"


def ends(query: str) -> list[tuple[str, str, str]]:
    listed = (node for node in walk(parse_tree(query).where) if isinstance(node, Pattern))
    return [(str(p.subject), str(p.predicate), str(p.object)) for p in listed]


def flips(query: str, *, limit: int = 15) -> list[str]:
    return [to_text(one) for one in reverse_triples(parse_tree(query), limit=limit)]


def test_one_triple_is_flipped_before_two() -> None:
    query = EX + "SELECT ?x WHERE { ?x :orbits :Sun . ?y :orbits ?x }"
    found = flips(query)

    changed = [sum(a != b for a, b in zip(ends(query), ends(one), strict=True)) for one in found]
    assert changed == [1, 1, 2]


def test_classes_and_literals_stay_where_they_are() -> None:
    query = EX + 'SELECT ?x WHERE { ?x a :Moon ; :name "Io" ; :orbits :Jupiter }'

    [one] = flips(query)

    jupiter, moon = "<http://example.org/Jupiter>", "<http://example.org/Moon>"
    assert [(s, o) for s, _, o in ends(one)] == [("?x", moon), ("?x", '"Io"'), (jupiter, "?x")]


def test_triples_in_groups_are_flipped_too() -> None:
    query = EX + "ASK { { ?x :p ?y } UNION { ?x :q ?y } OPTIONAL { ?x :r ?z } }"

    first = [
        next(at for at, (a, b) in enumerate(zip(ends(query), ends(one), strict=True)) if a != b)
        for one in flips(query)[:3]
    ]
    assert first == [0, 1, 2]


def test_there_are_at_most_so_many() -> None:
    many = " . ".join(f"?a{n} :p ?b{n}" for n in range(30))
    assert len(flips(EX + f"SELECT * WHERE {{ {many} }}", limit=7)) == 7


TERMS = st.sampled_from(["?x", "?y", ":a", ":b"])
PREDICATES = st.sampled_from([":p", "a", "?p", ":p/:q", "^:p", ":p+"])


@given(st.lists(st.tuples(TERMS, PREDICATES, TERMS | st.just('"t"')), min_size=1, max_size=5))
def test_a_flipped_query_is_one_with_the_same_triples(triples: list[tuple[str, str, str]]) -> None:
    query = EX + f"SELECT * WHERE {{ {' . '.join(' '.join(one) for one in triples)} }}"

    for one in flips(query):
        assert check_query(one).form == "SELECT"
        assert [p for _, p, _ in ends(one)] == [p for _, p, _ in ends(query)]
        for (s, _, o), (s2, _, o2) in zip(ends(query), ends(one), strict=True):
            assert {s, o} == {s2, o2}
