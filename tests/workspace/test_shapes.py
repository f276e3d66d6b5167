"""Shapes of the classes of a graph, and of a schema in a file."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.workspace import Workspace, silent
from askgraph.workspace.metadata import Choice, shapes

SHACL = """
prefix : <http://example.org/> prefix sh: <http://www.w3.org/ns/shacl#>
:MoonShape a sh:NodeShape ; sh:targetClass :Moon ; sh:property [ sh:path :orbits ] .
"""


def test_classes_and_their_shapes(space: Workspace) -> None:
    # The most frequent classes come with labels and how many are left out.
    found = shapes(space, "space", Choice(limit=3), progress=silent)
    assert len(found.shapes) == 3 and found.left_out == 33 - 3
    assert all(found.labels[shape.cls] for shape in found.shapes)
    assert all(shape.lines for shape in found.shapes)
    # A class is named by its label or its prefixed name.
    by_label = shapes(space, None, Choice(("moon",)), progress=silent)
    [shape] = by_label.shapes
    by_name = shapes(
        space, "space", Choice((by_label.prefixes.shorten(shape.cls),)), progress=silent
    )
    assert by_name.shapes == by_label.shapes and by_label.left_out == 0
    assert shape.instances > 10
    # A class that is not there is told with what is near.
    with pytest.raises(SetupError, match=r"did you mean '.*moon"):
        shapes(space, "space", Choice(("mooon",)), progress=silent)


def test_a_fraction_of_the_schema_has_fewer_lines(space: Workspace) -> None:
    def lines(fraction: float) -> int:
        found = shapes(space, "space", Choice(fraction=fraction), progress=silent)
        return sum(len(shape.lines) for shape in found.shapes)

    assert lines(0.2) < lines(1.0)


def test_the_shapes_of_a_file_are_those_that_its_shacl_declares(tmp_path: Path) -> None:
    file = tmp_path / "shapes.ttl"
    file.write_text(SHACL)

    found = shapes(Workspace(tmp_path), str(file), Choice(), progress=silent)

    [shape] = found.shapes
    assert shape.cls == "http://example.org/Moon"
    assert [line.predicate for line in shape.lines] == ["http://example.org/orbits"]


def test_a_file_without_a_schema_is_said_so(tmp_path: Path) -> None:
    file = tmp_path / "none.ttl"
    file.write_text("<urn:a> <urn:b> <urn:c> .")
    with pytest.raises(SetupError, match="neither VoID nor SHACL"):
        shapes(Workspace(tmp_path), str(file), Choice(), progress=silent)
