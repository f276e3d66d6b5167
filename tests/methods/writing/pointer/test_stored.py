"""Files of weights: what is damaged, or declares what cannot be, is told and costs nothing."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.methods.writing.pointer.network import Settings, shapes
from askgraph.methods.writing.pointer.writer import UNREADABLE, PointerWriter, saved, stored

SMALL = Settings(width=4, heads=2, inner=4, encoder=1, decoder=1)
ARRAYS = {name: np.ones(shape, dtype=np.float32) for name, shape in shapes(SMALL).items()}
HEADER = {"version": 1, "settings": dict(vars(SMALL)), "about": {}}


def _bytes() -> bytes:
    file = io.BytesIO()
    saved(file, ARRAYS, SMALL, {"seed": 1})
    return file.getvalue()


WHOLE = _bytes()


def _with(path: Path, header: object, **arrays: np.ndarray) -> Path:
    with path.open("wb") as file:
        np.savez_compressed(
            file, allow_pickle=False, **{"header": np.array(json.dumps(header)), **ARRAYS, **arrays}
        )
    return path


def test_what_was_saved_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "w.npz").write_bytes(WHOLE)

    weights, sizes, about = stored(tmp_path / "w.npz")

    assert sizes == SMALL
    assert about == {"seed": 1}
    assert all((weights[name] == ARRAYS[name]).all() for name in ARRAYS)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(WHOLE) - 1))
def test_a_file_that_is_cut_off_is_told(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "w.npz"
    path.write_bytes(WHOLE[:at])

    with pytest.raises(SetupError, match="holds no weights"):
        PointerWriter.load(path)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_flipped_byte_changes_nothing_or_is_told(
    tmp_path_factory: pytest.TempPathFactory, at: int, by: int
) -> None:
    path = tmp_path_factory.mktemp("flipped") / "w.npz"
    path.write_bytes(WHOLE[:at] + bytes([WHOLE[at] ^ by]) + WHOLE[at + 1 :])

    try:
        weights, _, _ = stored(path)
    except UNREADABLE:
        return
    assert all((weights[name] == ARRAYS[name]).all() for name in ARRAYS)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2}, {"version": None}, {"about": 3}, {"settings": []},
        {"settings": {**vars(SMALL), "heads": 0}}, {"settings": {**vars(SMALL), "heads": 3}},
        {"settings": {**vars(SMALL), "width": 10**9}}, {"settings": {**vars(SMALL), "width": 4.0}},
        {"settings": {**vars(SMALL), "encoder": True}}, {"settings": {"width": 4}},
    ],
)  # fmt: skip
def test_a_header_that_cannot_be_is_told(tmp_path: Path, change: dict[str, object]) -> None:
    path = _with(tmp_path / "w.npz", {**HEADER, **change})

    with pytest.raises(SetupError, match="holds no weights"):
        PointerWriter.load(path)


@pytest.mark.parametrize(
    "rank",
    [
        np.array([np.nan], np.float32), np.array([np.inf], np.float32), np.ones(1),
        np.ones(2, np.float32), np.array(["one"]),
    ],
)  # fmt: skip
def test_an_array_that_cannot_be_is_told(tmp_path: Path, rank: np.ndarray) -> None:
    path = _with(tmp_path / "w.npz", HEADER, rank=rank)

    with pytest.raises(SetupError, match="'rank'"):
        PointerWriter.load(path)


def test_an_array_that_declares_more_than_there_is_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    _with(path, HEADER)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    head = io.BytesIO()
    huge = {"descr": "<f4", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(head, huge)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, head.getvalue() if name == "rank.npy" else content)

    with pytest.raises(SetupError, match="another shape"):
        PointerWriter.load(path)
