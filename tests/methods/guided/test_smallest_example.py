"""Triples are left out as long as the rest still tells; what stays is all needed."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from askgraph.methods.guided.smallest_example import shrunk


def triple(number: int) -> Triple:
    iri = NamedNode("http://example.org/p")
    return Triple(iri, iri, Literal(number))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_what_stays_is_what_tells(case: tuple[int, set[int]]) -> None:
    size, needed = case
    wanted = {triple(number) for number in needed}

    left = shrunk([triple(n) for n in range(size)], lambda some: wanted <= set(some), seconds=60)

    assert set(left) == wanted or (not wanted and len(left) == 1)


def test_without_time_everything_stays() -> None:
    every = [triple(number) for number in range(8)]

    def tells(_: Sequence[Triple]) -> bool:
        return True

    assert shrunk(every, tells, seconds=0) == every
