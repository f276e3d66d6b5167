"""Steps over arrays are those that SPARQL takes over the same triples."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, Store, Triple
from tests.each import for_each

from askgraph.graph.arrays import GraphArrays, Ids, build_arrays, deduplicate, intersect

PLACE = "http://example.org/"
NODES = [NamedNode(PLACE + name) for name in "abcde"] + [BlankNode("x"), BlankNode("y")]
LITERALS = [
    Literal("a"),
    Literal("a", language="en"),
    Literal('quote " backslash \\ newline \n tab \t', language="de"),
    Literal(1),
    Literal(2.5),
    Literal("Ω 富士山 🚀"),
]
PREDICATES = [NamedNode(PLACE + name) for name in ("p", "q", "r")]

TRIPLES = st.lists(
    st.builds(
        Triple,
        st.sampled_from(NODES),
        st.sampled_from(PREDICATES),
        st.sampled_from([*NODES, *LITERALS]),
    ),
    max_size=25,
)
Term = NamedNode | BlankNode | Literal


def ids_of(graph: GraphArrays, terms: Sequence[Term]) -> Ids:
    """The ids of those terms that the graph has."""
    found = [graph.terms.find(str(term)) for term in terms]
    return np.array(sorted(at for at in found if at is not None), dtype=np.int32)


def texts(graph: GraphArrays, ids: Ids) -> list[str]:
    return [graph.terms.get_text(int(at)) for at in ids]


def edges(
    triples: Sequence[Triple], predicate: NamedNode, *, inverse: bool
) -> set[tuple[str, str]]:
    pairs = {(str(t.subject), str(t.object)) for t in triples if t.predicate == predicate}
    return {(o, s) for s, o in pairs} if inverse else pairs


@given(triples=TRIPLES, start=st.sets(st.sampled_from([*NODES, *LITERALS])), inverse=st.booleans())
@settings(deadline=None)
def test_steps_and_pairs_are_those_of_the_triples(
    triples: list[Triple], start: set[Term], inverse: bool
) -> None:
    graph = build_arrays(triples)
    assert len(graph) == len(set(triples))
    nodes = ids_of(graph, list(start))
    for predicate in PREDICATES:
        number = graph.get_predicate_number(predicate.value)
        wanted = {
            pair
            for pair in edges(triples, predicate, inverse=inverse)
            if pair[0] in {str(term) for term in start}
        }
        if number is None:
            assert not edges(triples, predicate, inverse=inverse)
            continue
        sources, targets = graph.get_edges(nodes, number, inverse=inverse)
        found = list(zip(texts(graph, sources), texts(graph, targets), strict=True))
        assert len(found) == len(wanted)
        assert set(found) == wanted
        assert list(sources) == sorted(sources)
        reached = graph.step(nodes, number, inverse=inverse)
        assert set(texts(graph, reached)) == {target for _, target in wanted}
        assert list(reached) == sorted(set(reached.tolist()))


@given(triples=TRIPLES, start=st.sampled_from(NODES[:5]), inverse=st.booleans())
@settings(deadline=None)
def test_a_closure_is_what_a_path_of_one_or_more_steps_reaches(
    triples: list[Triple], start: NamedNode, inverse: bool
) -> None:
    graph, store = build_arrays(triples), Store()
    store.extend([Quad(t.subject, t.predicate, t.object) for t in triples])
    number, nodes = graph.get_predicate_number(PLACE + "p"), ids_of(graph, [start])
    if number is None or not len(nodes):
        return
    path = f"{start} ^<{PLACE}p>+ ?x" if inverse else f"{start} <{PLACE}p>+ ?x"
    result = store.query(f"SELECT DISTINCT ?x {{ {path} }}")
    assert isinstance(result, QuerySolutions)
    wanted = {str(row["x"]) for row in result}
    assert set(texts(graph, graph.compute_closure(nodes, number, inverse=inverse))) == wanted


@given(triples=TRIPLES, start=st.sets(st.sampled_from(NODES)), inverse=st.booleans())
@settings(deadline=None)
def test_the_predicates_of_nodes_come_with_their_numbers_of_edges(
    triples: list[Triple], start: set[Term], inverse: bool
) -> None:
    graph = build_arrays(triples)
    numbers, counts = graph.count_predicates(ids_of(graph, list(start)), inverse=inverse)
    assert graph.get_predicates(ids_of(graph, list(start)), inverse=inverse) == {*numbers.tolist()}
    found = {graph.get_predicate_iri(int(n)): int(c) for n, c in zip(numbers, counts, strict=True)}
    ends = [(t.object if inverse else t.subject, t.predicate.value) for t in set(triples)]
    wanted: dict[str, int] = {}
    for end, predicate in ends:
        if end in start:
            wanted[predicate] = wanted.get(predicate, 0) + 1
    assert found == wanted


@given(triples=TRIPLES)
@settings(deadline=None)
def test_ends_sizes_and_degrees_are_those_of_the_triples(triples: list[Triple]) -> None:
    graph = build_arrays(triples)
    for number in range(len(graph.predicates)):
        own = {t for t in triples if t.predicate.value == graph.get_predicate_iri(number)}
        assert graph.count_triples(number) == len(own)
        assert set(texts(graph, graph.get_ends(number))) == {str(t.subject) for t in own}
        assert set(texts(graph, graph.get_ends(number, inverse=True))) == {
            str(t.object) for t in own
        }
    for node in NODES:
        at = graph.terms.find(str(node))
        touching = sum((t.subject == node) + (t.object == node) for t in set(triples))
        assert (0 if at is None else graph.get_degree(at)) == touching


@given(triples=TRIPLES)
@settings(deadline=None)
def test_every_term_is_found_by_its_text_and_comes_back_as_it_was(triples: list[Triple]) -> None:
    graph = build_arrays(triples)
    terms: set[Term] = set()
    for t in triples:
        for term in (t.subject, t.predicate, t.object):
            assert not isinstance(term, Triple)
            terms.add(term)
    assert len(graph.terms) == len(terms)
    for term in terms:
        at = graph.terms.find(str(term))
        assert at is not None
        assert graph.terms.get_term(at) == term
        assert graph.terms.get_value(at) == term.value
        assert graph.terms.is_literal(at) == isinstance(term, Literal)
        assert graph.terms.is_iri(at) == isinstance(term, NamedNode)


@given(triples=TRIPLES)
@settings(deadline=None, max_examples=40)
def test_saved_arrays_are_the_same_when_loaded(triples: list[Triple]) -> None:
    graph = build_arrays(triples)
    with TemporaryDirectory() as folder:
        graph.save(Path(folder))
        loaded = GraphArrays.load(Path(folder))
        assert len(loaded) == len(graph)
        assert all_texts(loaded) == all_texts(graph)
        assert list(loaded.sorts) == list(graph.sorts)
        assert np.array_equal(loaded.values, graph.values, equal_nan=True)
        for number in range(len(graph.predicates)):
            for inverse in (False, True):
                ends = graph.get_ends(number, inverse=inverse)
                for one, other in zip(
                    graph.get_edges(ends, number, inverse=inverse),
                    loaded.get_edges(ends, number, inverse=inverse),
                    strict=True,
                ):
                    assert np.array_equal(one, other)


def all_texts(graph: GraphArrays) -> list[str]:
    return [graph.terms.get_text(at) for at in range(len(graph.terms))]


@cache
def numbered() -> tuple[GraphArrays, Mapping[int, int]]:
    """A ring of nodes that is too large for one search path: many nodes at once, and few."""
    size = 20_000
    node = [NamedNode(f"{PLACE}n{number}") for number in range(size)]
    graph = build_arrays(
        Triple(node[at], PREDICATES[0], node[(at * 7 + 1) % size]) for at in range(size)
    )
    ids = {at: graph.terms.find_iri(node[at].value) for at in range(size)}
    return graph, {at: found for at, found in ids.items() if found is not None}


@for_each("count", [1, 2, 10, 370, 1500, 3000, 20_000])
def test_sets_of_any_size_step_alike(count: int) -> None:
    graph, ids = numbered()
    chosen = list(ids)[:: len(ids) // count][:count]
    reached = graph.step(np.array(sorted(ids[at] for at in chosen), dtype=np.int32), 0)
    assert set(reached.tolist()) == {ids[(at * 7 + 1) % len(ids)] for at in chosen}


@given(TRIPLES, st.integers(1, 7), st.booleans())
def test_edges_of_parts_in_turn_are_all(triples: list[Triple], size: int, inverse: bool) -> None:
    graph = build_arrays(triples)
    for predicate in range(len(graph.predicates)):
        every = graph.get_edges(
            graph.get_ends(predicate, inverse=inverse), predicate, inverse=inverse
        )
        parts = [
            graph.get_edges_in_range(first, first + size, predicate, inverse=inverse)
            for first in range(0, len(graph.terms), size)
        ]
        for side in (0, 1):
            assert np.concatenate([part[side] for part in parts]).tolist() == every[side].tolist()


def test_quads_are_read_as_the_union_of_their_graphs() -> None:
    graphs = (NamedNode(PLACE + graph) for graph in ("one", "two"))
    quads = [Quad(NODES[0], PREDICATES[0], NODES[1], graph) for graph in graphs]
    graph = build_arrays(quads)
    assert len(graph) == 1 and graph.complete
    assert graph.get_predicate_number(PLACE + "nothing") is None
    assert graph.get_predicate_number(PLACE + "a") is None
    assert graph.terms.find_iri(PLACE + "nothing") is None
    empty = build_arrays([], complete=False)
    assert len(empty) == len(empty.terms) == len(empty.predicates) == 0 and not empty.complete


def test_progress_is_told_every_fifty_thousand_triples() -> None:
    told: list[int] = []
    triples = (Triple(NamedNode(f"{PLACE}{n}"), PREDICATES[0], NODES[0]) for n in range(100_001))
    build_arrays(triples, progress=told.append)
    assert told == [50_000, 100_000]


@given(
    st.sampled_from([0, 30, 20_000]),
    st.sampled_from([40, 30_000, 10_000_000]),
    st.integers(0, 2**30),
)
@settings(deadline=None, max_examples=20)
def test_sets_are_the_same_however_many_they_hold(count: int, below: int, seed: int) -> None:
    ids, more = np.random.default_rng(seed).integers(0, below, (2, count)).astype(np.int32)
    one, other = deduplicate(ids), deduplicate(more)
    assert one.dtype == np.int32
    assert np.array_equal(one, np.unique(ids))
    assert np.array_equal(intersect(one, other), np.intersect1d(ids, more))
