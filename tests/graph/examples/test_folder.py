"""A folder of examples: one file each, which stay as they are."""

from dataclasses import replace
from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.graph.examples import QueryExample
from askgraph.graph.examples.folder import ExampleFolder

EX = "PREFIX ex: <http://example.org/>\n"
MOONS = QueryExample("Which moons has Mars?", f"{EX}SELECT ?m {{ ?m ex:orbits ex:Mars }}", "en")


def test_an_example_gets_a_name_that_says_what_it_asks(tmp_path: Path) -> None:
    folder = ExampleFolder(tmp_path / "new")
    (kept,) = folder.add([MOONS])

    assert kept.id.startswith("which-moons-has-mars-")
    assert kept.example.iri and kept.example.iri.startswith("urn:uuid:")
    assert folder.list_examples() == (kept,)
    (other,) = folder.add([replace(MOONS, question="And Jupiter?")])
    folder.remove(kept)
    assert folder.list_examples() == (other,)


def test_it_takes_its_place_whatever_its_file_is_called(tmp_path: Path) -> None:
    folder = ExampleFolder(tmp_path)
    (kept,) = folder.add([MOONS])
    kept.path.rename(tmp_path / "by-hand.ttl")
    folder.add([replace(MOONS, question="WHICH MOONS HAS  MARS", query="ASK { }")])
    assert [(one.id, one.example.query) for one in folder.list_examples()] == [
        ("by-hand", "ASK { }")
    ]


def test_two_examples_with_like_names_have_two_files(tmp_path: Path) -> None:
    folder = ExampleFolder(tmp_path)
    first, second = folder.add([replace(MOONS, iri="http://a/1"), replace(MOONS, iri="http://b/1")])
    (third,) = folder.add([replace(MOONS, iri="http://c/1")])
    assert (first.id, second.id, third.id) == ("1", "1-2", "1-3")
    assert len(folder.list_examples()) == 3


def test_a_later_example_leaves_the_files_of_earlier_ones_as_they_are(tmp_path: Path) -> None:
    folder = ExampleFolder(tmp_path)
    (first,) = folder.add([MOONS])
    before = first.path.read_bytes()

    folder.add([QueryExample("Why?", "PREFIX ex: <http://other/>\nASK { ex:a ?p 1 }")])

    assert first.path.read_bytes() == before
    assert {one.example.query for one in folder.list_examples()} == {
        MOONS.query,
        "PREFIX ex: <http://other/>\nASK { ex:a ?p 1 }",
    }


def test_a_file_with_several_examples_is_read_but_not_taken_apart(tmp_path: Path) -> None:
    folder = ExampleFolder(tmp_path)
    kept = folder.add([replace(MOONS, iri="http://a/1"), replace(MOONS, iri="http://a/2")])
    text = "".join(one.path.read_text() for one in kept)
    kept[0].path.write_text(text)
    kept[1].path.unlink()

    found = folder.list_examples()

    assert [one.id for one in found] == ["1#1", "1#2"]
    with pytest.raises(SetupError, match="several examples"):
        folder.remove(found[0])
    with pytest.raises(SetupError, match="several examples"):
        folder.add([replace(MOONS, iri="http://a/2")])
    folder.add([replace(MOONS, iri="http://other/1")])
    assert kept[0].path.read_text() == text


def test_a_file_that_holds_no_example_is_a_setup_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("[] a <http://www.w3.org/ns/shacl#SPARQLExecutable> .")
    with pytest.raises(SetupError, match=r"a\.ttl.* no query"):
        ExampleFolder(tmp_path).list_examples()


def test_what_a_killed_process_left_half_written_is_no_example_and_goes(tmp_path: Path) -> None:
    folder = ExampleFolder(tmp_path)
    (kept,) = folder.add([MOONS])
    left = tmp_path / f".{kept.path.name}.x1y2"
    left.write_text("@prefix sh: <http")
    assert folder.list_examples() == (kept,)
    folder.add([replace(MOONS, question="Which moons has Venus?")])
    assert not left.exists() and len(folder.list_examples()) == 2
