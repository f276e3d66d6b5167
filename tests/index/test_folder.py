"""A folder of arrays: versions, and what a reader of an old one sees."""

from pathlib import Path

import numpy as np
import pytest

from askgraph.errors import SetupError
from askgraph.index.folder import Folder, Kind, new_folder


def test_arrays_and_settings_come_back(tmp_path: Path) -> None:
    with new_folder(tmp_path / "index", Kind("moons", 1), {"k": 1.5, "of": ["a", "b"]}) as new:
        new.save("sizes", np.arange(1000))
        new.save("none", np.zeros(0))
    opened = Folder.open(tmp_path / "index", Kind("moons", 1))
    assert opened.array("sizes").sum() == 499_500
    assert opened.array("none").size == 0
    assert (opened.number("k"), opened.texts("of")) == (1.5, ["a", "b"])


def test_another_version_is_a_setup_error(tmp_path: Path) -> None:
    with new_folder(tmp_path / "index", Kind("moons", 1)):
        pass
    with pytest.raises(SetupError, match="is of version 1, this askgraph reads version 2"):
        Folder.open(tmp_path / "index", Kind("moons", 2))


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "index", Kind("moons", 1)):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("Dear", encoding="utf-8")
    with (
        pytest.raises(SetupError, match="holds something that is no index"),
        new_folder(tmp_path / "index", Kind("moons", 1)),
    ):
        pass
