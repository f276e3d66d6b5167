"""A query over virtual predicates gives what it would give were their triples there."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Quad, QueryBoolean, QuerySolutions, Store, Triple
from tests.each import for_each

from askgraph.errors import QueryError, QuerySyntaxError, SetupError
from askgraph.graph.arrays import build_arrays
from askgraph.graph.enrichment import evaluate_path
from askgraph.sparql import Path, Predicate
from askgraph.sparql.rewrite.virtual import expand_virtual_query, parse_path
from askgraph.sparql.serializer import to_text

PLACE = "http://example.org/"
HEAD = f"PREFIX : <{PLACE}> "
NODES = [NamedNode(PLACE + name) for name in "abcd"]
OWN = [NamedNode(PLACE + name) for name in "pqr"]
TRIPLES = st.lists(
    st.builds(Triple, st.sampled_from(NODES), st.sampled_from(OWN), st.sampled_from(NODES)),
    max_size=14,
)


def longer(inner: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Predicate]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Path, st.sampled_from(["^", "+"]), st.tuples(inner)),
        st.builds(Path, st.sampled_from(["/", "|"]), pairs),
        st.builds(lambda a, b: Path("/", (a, Path("*", (b,)))), inner, inner),
        st.builds(lambda a, b: Path("/", (Path("?", (a,)), b)), inner, inner),
    )


PATHS: st.SearchStrategy[Predicate] = st.recursive(st.sampled_from(OWN), longer, max_leaves=4)
QUERIES = [
    "SELECT ?x ?y { ?x :v ?y }",
    "SELECT DISTINCT ?y { :a :v ?y }",
    "SELECT ?x { ?x :v :b ; :p ?y }",
    "SELECT (COUNT(*) AS ?n) { ?x :v ?y . ?y :w ?z }",
    "SELECT ?x (COUNT(DISTINCT ?y) AS ?n) { ?x :v ?y } GROUP BY ?x",
    "SELECT ?x { ?x :p ?y FILTER NOT EXISTS { ?x :v ?y } }",
    "SELECT ?x { ?x :p ?y OPTIONAL { ?y :v ?z } MINUS { ?x :w ?y } }",
    "SELECT ?p ?y { :a ?p ?y }",
    "SELECT ?p (COUNT(*) AS ?n) { ?x ?p ?y } GROUP BY ?p",
    "SELECT * { ?x ?p [ :v ?y ] }",
    "SELECT DISTINCT ?x { ?x :p/:v/:w ?y }",
    "SELECT DISTINCT ?x { ?x ^:v|:q+ ?y }",
    "SELECT ?x { { ?x :v ?y } UNION { ?x :w :a } }",
    "SELECT ?x { ?x :v ?x }",
    "SELECT ?x { VALUES ?x { :a :b } :a :v :b }",
    "ASK { :a :v :b }",
    "SELECT ?x ?y { ?x ^:v ?y }",
    "SELECT ?x { ?x :p/:v/:w ?y }",
    "SELECT DISTINCT ?x ?y { ?x :p/(:v|^:w) ?y }",
    "SELECT ?x ?y { ?x (:p/:v)+ ?y }",
    "SELECT * { :a :v/:w :b . ?x :p ?y }",
    "SELECT * { { SELECT * { ?x :v/:p ?y } } ?y :w ?z }",
    "SELECT * { { SELECT ?x { ?x ?p ?y } } ?x :v ?z }",
    "SELECT * { { SELECT DISTINCT * { ?x :p/:v [] } } ?x :w ?z }",
    "SELECT (COUNT(?y) AS ?n) { ?x :p/:v ?y }",
    "SELECT (COUNT(DISTINCT *) AS ?n) { ?x :v ?y . ?y :w ?z }",
    "SELECT ?x { ?x :v ?y } GROUP BY ?x HAVING (COUNT(?y) > 1)",
    "SELECT (COUNT(DISTINCT ?y) + SUM(DISTINCT 1) AS ?n) { ?x :v ?y }",
    "SELECT ?x ?is { ?x :p ?y BIND(EXISTS { ?x :v ?y } AS ?is) }",
    "SELECT (IF(EXISTS { :a :v :b }, 1, 2) AS ?n) {}",
    "SELECT ?__1 ?z { ?__1 :p [ :v ?z ] . _:1 :q ?__1 }",
    "SELECT ?between1 { ?x :v/:w ?between1 . ?x :p ?y }",
    "SELECT ?x { ?x <http://example.org/\\u0076> ?y }",
]


def answer(store: Store, query: str) -> Counter[tuple[str, ...]] | bool:
    result = store.query(query)
    if isinstance(result, QueryBoolean):
        return bool(result)
    assert isinstance(result, QuerySolutions)
    names = sorted(variable.value for variable in result.variables)
    return Counter(tuple(str(row[name]) for name in names) for row in result)


def stored(triples: Sequence[Triple]) -> Store:
    store = Store()
    for triple in triples:
        store.add(Quad(triple.subject, triple.predicate, triple.object))
    return store


@settings(max_examples=150, deadline=None)
@given(TRIPLES, PATHS, PATHS, st.sampled_from(QUERIES))
def test_written_out_it_gives_what_the_triples_would(
    triples: list[Triple], first: Predicate, second: Predicate, query: str
) -> None:
    paths = {PLACE + "v": first, PLACE + "w": second}
    arrays = build_arrays(triples)
    full = list(triples)
    for iri, path in paths.items():
        for source, target in zip(*evaluate_path(arrays, path, limit=1000), strict=True):
            ends = (arrays.terms.get_term(int(source)), arrays.terms.get_term(int(target)))
            full.append(Triple(ends[0], NamedNode(iri), ends[1]))  # type: ignore[arg-type]

    written = expand_virtual_query(HEAD + query, paths)

    assert answer(stored(triples), written) == answer(stored(full), HEAD + query)


def test_all_but_the_predicates_stays_as_it_was_written() -> None:
    paths = {PLACE + "in": parse_path(":site/:part+", {"": PLACE})}
    query = (
        HEAD + "\nSELECT DISTINCT ?x WHERE {\n  ?x a :Firm ;  # which\n     :in :Ulm, :Bonn .\n}"
    )

    assert expand_virtual_query(query, paths) == query.replace(":in", ":site/(:part+)")


def test_the_short_form_of_construct_keeps_its_template() -> None:
    paths = {PLACE + "v": parse_path(":p/:q", {"": PLACE})}
    store = stored([Triple(NODES[0], OWN[0], NODES[1]), Triple(NODES[1], OWN[1], NODES[2])])

    written = expand_virtual_query(HEAD + "CONSTRUCT WHERE { ?x :v ?y }", paths)

    made = [str(triple) for triple in store.query(written)]  # type: ignore[union-attr]
    assert made == [f"{NODES[0]} <{PLACE}v> {NODES[2]}"]


def test_the_order_of_groups_is_that_of_pairs_each_counted_once() -> None:
    """Of two ways to one place and one way to two places, the two places are more."""
    paths = {PLACE + "v": parse_path(":p/:q", {"": PLACE})}
    a, b, c, d = NODES
    p, q, _ = OWN
    ways = [Triple(a, p, one) for one in NODES] + [Triple(one, q, d) for one in NODES]
    ways += [Triple(b, p, c), Triple(c, q, a)]
    query = HEAD + "SELECT ?x { ?x :v ?y } GROUP BY ?x ORDER BY DESC(COUNT(?y)) ?x"

    found = [str(row[0]) for row in stored(ways).query(expand_virtual_query(query, paths))]  # type: ignore[union-attr]
    pairs = {(a, d), (a, a), (b, d), (b, a)}
    more = stored([*ways, *(Triple(one, NamedNode(PLACE + "v"), other) for one, other in pairs)])

    assert found == [str(row[0]) for row in more.query(query)]  # type: ignore[union-attr]


def test_ways_side_by_side_are_counted_each() -> None:
    """As section 18.2.2.4 of SPARQL 1.1 has it; pyoxigraph itself gives such a pair once."""
    paths = {PLACE + "v": parse_path(":p/:q", {"": PLACE})}
    a, b, c, d = NODES
    p, q, r = OWN
    ways = [Triple(a, p, b), Triple(a, p, c), Triple(b, q, d), Triple(c, q, d), Triple(a, r, d)]

    written = expand_virtual_query(HEAD + "SELECT (COUNT(*) AS ?n) { ?x :v|:r ?y }", paths)

    assert [row[0].value for row in stored(ways).query(written)] == ["2"]  # type: ignore[union-attr]


def test_a_blank_node_of_a_template_is_a_new_one_each_time() -> None:
    paths = {PLACE + "v": parse_path(":p/:q", {"": PLACE})}
    store = stored([Triple(NODES[0], OWN[0], NODES[1]), Triple(NODES[1], OWN[1], NODES[2])])

    written = expand_virtual_query(
        HEAD + "CONSTRUCT { ?x :to [ :is ?y ] } WHERE { ?x :v ?y }", paths
    )

    made = [str(triple.predicate) for triple in store.query(written)]  # type: ignore[union-attr]
    assert sorted(made) == [f"<{PLACE}is>", f"<{PLACE}to>"]


@pytest.mark.parametrize("named", [":v", f"<{PLACE}v>", f"<{PLACE}\\u0076>"])
def test_what_names_a_virtual_predicate_and_cannot_be_read_is_refused(named: str) -> None:
    with pytest.raises(QueryError, match=r"<http://example.org/v> stands for a property path"):
        expand_virtual_query(HEAD + f"SELECT ?x {{ ?x {named} ", {PLACE + "v": OWN[0]})


def test_a_negated_set_with_a_virtual_predicate_is_refused() -> None:
    with pytest.raises(QueryError, match=r"<http://example.org/v> .* cannot be negated"):
        expand_virtual_query(HEAD + "SELECT DISTINCT ?x { ?x !(:v|:p) ?y }", {PLACE + "v": OWN[0]})


@for_each(
    "query",
    "SELECT * { ?s <http://example.org/p> ?o } # all",
    HEAD + "SELECT DISTINCT ?x { SERVICE <http://other.org/> { ?x :v ?y } }",
    "SELECT ?x {",
)
def test_what_does_not_ask_this_graph_for_a_virtual_predicate_stays_as_it_is(query: str) -> None:
    assert expand_virtual_query(query, {PLACE + "v": OWN[0]}) == query


@for_each("text", ["?p", "1", ":p .", ":p ?x . ?x :q", ""])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(QuerySyntaxError):
        parse_path(text, {"": PLACE})


@for_each("text", [":p*", ":p?", "(:p|:q*)", ":p*/:q?"])
def test_a_path_that_may_be_empty_links_nothing(text: str) -> None:
    arrays = build_arrays([Triple(NODES[0], OWN[0], NODES[1])])
    with pytest.raises(SetupError, match="may match the empty path"):
        evaluate_path(arrays, parse_path(text, {"": PLACE}), limit=10)


def test_a_path_that_links_too_much_is_refused_with_its_name() -> None:
    arrays = build_arrays([Triple(one, OWN[0], other) for one in NODES for other in NODES])
    path = parse_path(":p/:p", {"": PLACE})

    assert len(evaluate_path(arrays, path, limit=64)[0]) == 16
    with pytest.raises(SetupError, match=to_text(OWN[0])):
        evaluate_path(arrays, path, limit=15)
