"""Shapes of the classes of a graph, and of a schema in a file."""

from pathlib import Path

import pytest

from askgraph.errors import SetupError
from askgraph.workspace import Workspace, ignore_progress
from askgraph.workspace.metadata import ShapeSelection, load_shapes

SHACL = """
prefix : <http://example.org/> prefix sh: <http://www.w3.org/ns/shacl#>
:MoonShape a sh:NodeShape ; sh:targetClass :Moon ; sh:property [ sh:path :orbits ] .
"""


def test_classes_and_their_shapes(space: Workspace) -> None:
    # The most frequent classes come with labels and how many are left out.
    found = load_shapes(space, "space", ShapeSelection(limit=3), progress=ignore_progress)
    assert len(found.shapes) == 3 and found.left_out == 33 - 3
    assert all(found.labels[shape.cls] for shape in found.shapes)
    assert all(shape.lines for shape in found.shapes)
    # A class is named by its label or its prefixed name.
    by_label = load_shapes(space, None, ShapeSelection(("moon",)), progress=ignore_progress)
    [shape] = by_label.shapes
    by_name = load_shapes(
        space,
        "space",
        ShapeSelection((by_label.prefixes.shorten(shape.cls),)),
        progress=ignore_progress,
    )
    assert by_name.shapes == by_label.shapes and by_label.left_out == 0
    assert shape.instances > 10
    # A class that is not there is told with what is near.
    with pytest.raises(SetupError, match=r"did you mean '.*moon"):
        load_shapes(space, "space", ShapeSelection(("mooon",)), progress=ignore_progress)


def test_a_fraction_of_the_schema_has_fewer_lines(space: Workspace) -> None:
    def lines(fraction: float) -> int:
        found = load_shapes(
            space, "space", ShapeSelection(fraction=fraction), progress=ignore_progress
        )
        return sum(len(shape.lines) for shape in found.shapes)

    assert lines(0.2) < lines(1.0)


def test_the_shapes_of_a_file_are_those_that_its_shacl_declares(tmp_path: Path) -> None:
    file = tmp_path / "shapes.ttl"
    file.write_text(SHACL)
    found = load_shapes(Workspace(tmp_path), str(file), ShapeSelection(), progress=ignore_progress)
    [shape] = found.shapes
    assert shape.cls == "http://example.org/Moon"
    assert [line.predicate for line in shape.lines] == ["http://example.org/orbits"]


def test_a_file_without_a_schema_is_said_so(tmp_path: Path) -> None:
    file = tmp_path / "none.ttl"
    file.write_text("<urn:a> <urn:b> <urn:c> .")
    with pytest.raises(SetupError, match="neither VoID nor SHACL"):
        load_shapes(Workspace(tmp_path), str(file), ShapeSelection(), progress=ignore_progress)
