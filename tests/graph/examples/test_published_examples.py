"""The published collection of the SIB: all of it is read, and written again without a loss."""

import os
from pathlib import Path

import pytest

from askgraph.graph.archives import iterate_members
from askgraph.graph.examples import ExampleCollection
from askgraph.graph.examples.folder import ExampleFolder
from askgraph.graph.examples.shacl import find_syntax_fault, read_shacl
from askgraph.sparql.parser import parse_tree

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[4] / "shared" / "data")
ARCHIVE = DATA / "sib-examples" / "examples.tar.gz"

pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(not ARCHIVE.is_file(), reason=f"no {ARCHIVE}; ASKGRAPH_DATA names the data"),
]


@pytest.fixture(scope="module")
def found() -> ExampleCollection:
    return read_shacl(ARCHIVE)


def test_each_query_is_read_and_every_fifth_by_the_strict_parser(found: ExampleCollection) -> None:
    assert [one.iri for one in found.examples if parse_tree(one.query).form != one.form] == []
    assert [one.iri for one in found.examples[::5] if find_syntax_fault(one.query)] == []


def test_every_file_is_read(found: ExampleCollection) -> None:
    assert sum(1 for _ in iterate_members(ARCHIVE, ".ttl")) == 1236
    assert (len(found.examples), found.skipped) == (1227, ())
    assert {one.form for one in found.examples} == {"SELECT", "ASK", "CONSTRUCT", "DESCRIBE"}


def test_they_are_read_as_they_were_written(found: ExampleCollection, tmp_path: Path) -> None:
    examples = {example.iri: example for example in found.examples}
    ExampleFolder(tmp_path / "all").add(list(examples.values()))
    again = read_shacl(tmp_path / "all")
    assert again.skipped == ()
    assert {example.iri: example for example in again.examples} == examples
