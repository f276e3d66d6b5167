"""The generated graph: the same each time, of the size asked for, with answers to its questions."""

from pathlib import Path

import pyoxigraph
import pytest

from _world import questions, triples, world_of, write


def test_the_same_size_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.nt", "b.nt"):
        write(5_000, tmp_path / name)
    assert (tmp_path / "a.nt").read_bytes() == (tmp_path / "b.nt").read_bytes()
    # Every question has a gold answer in the graph.
    write(20_000, tmp_path / "graph.nt")
    store = pyoxigraph.Store()
    store.bulk_load(path=tmp_path / "graph.nt", format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert len(store) == len((tmp_path / "graph.nt").read_text().splitlines())
    asked = list(questions(world_of(20_000)))
    assert len({question["id"] for question in asked}) == 30
    for question in asked:
        result = store.query(str(question["sparql"]))
        if isinstance(result, pyoxigraph.QuerySolutions):
            assert list(result), question


@pytest.mark.parametrize("wanted", [10_000, 100_000])
def test_the_graph_has_about_as_many_triples_as_asked_for(wanted: int) -> None:
    assert sum(1 for _ in triples(world_of(wanted))) == pytest.approx(wanted, rel=0.05)
