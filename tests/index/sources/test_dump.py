"""Resources from dumps: the same however little is kept in memory, and in whichever files."""

import gzip
from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.sources import read_dump

EX = "http://example.org/"
TRIPLES = """
<http://example.org/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Moon> .
<http://example.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "Ganymed"@de .
<http://example.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "Ganymede"@en .
<http://example.org/a> <http://www.w3.org/2004/02/skos/core#altLabel> "Jupiter III" .
<http://example.org/a> <http://www.w3.org/2000/01/rdf-schema#comment> "the largest moon"@en .
<http://example.org/a> <http://example.org/orbits> <http://example.org/theParent> .
<http://example.org/theParent> <http://example.org/seenBy> "Simon Marius" .
<http://example.org/theParent> <http://example.org/age> "7"^^<http://example.org/years> .
_:b <http://example.org/orbits> <http://example.org/theParent> .
"""
GANYMEDE = Resource(
    EX + "a", "Ganymede", ("Ganymed", "Jupiter III"), 6.0, ("moon", "the largest moon")
)


@pytest.fixture
def dumps(tmp_path: Path) -> list[Path]:
    lines = TRIPLES.strip().splitlines(keepends=True)
    (tmp_path / "one.nt").write_text("".join(lines[::2]), encoding="utf-8")
    (tmp_path / "two.ttl.gz").write_bytes(gzip.compress("".join(lines[1::2]).encode()))
    return [tmp_path / "one.nt", tmp_path / "two.ttl.gz"]


@pytest.mark.parametrize("kept", [1, 3, 1000])
def test_entities_have_names_infos_and_uses(dumps: list[Path], kept: int) -> None:
    found = {resource.iri: resource for resource in read_dump(dumps, max_iris=kept)}
    ganymede = found[EX + "a"]
    assert (ganymede.label, set(ganymede.synonyms)) == ("Ganymede", set(GANYMEDE.synonyms))
    assert (ganymede.score, set(ganymede.infos)) == (GANYMEDE.score, {"Moon", "the largest moon"})
    assert found[EX + "theParent"] == Resource(
        EX + "theParent", "the parent", ("Simon Marius",), 4.0
    )
    assert set(found) == {EX + "a", EX + "theParent"}


def test_properties_are_scored_by_their_triples(dumps: list[Path]) -> None:
    found = {resource.iri: resource for resource in read_dump(dumps, properties=True)}
    assert found[EX + "orbits"] == Resource(EX + "orbits", "orbits", (), 2.0)
    assert len(found) == 7


def test_the_label_is_in_the_language_asked_for(dumps: list[Path]) -> None:
    labels = {item.iri: item.label for item in read_dump(dumps, languages=["de"])}
    assert labels[EX + "a"] == "Ganymed"


@pytest.mark.parametrize(
    ("name", "content"), [("odd.nt", b"<a> nonsense"), ("odd.nt.gz", b"no gzip"), ("a.docx", b"")]
)
def test_a_file_that_is_no_dump_is_a_setup_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SetupError, match=name):
        list(read_dump([tmp_path / name]))
