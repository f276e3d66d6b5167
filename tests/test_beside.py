"""What is made beside its place is never seen half, and nothing of a killed process stays."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from askgraph.atomic_files import (
    OLD_SUFFIX,
    make_temporary_path,
    replace_file,
    to_setup_error,
    write_private,
    write_text_atomically,
)
from askgraph.errors import NoSpace

DYING = """
import os, signal, sys
from pathlib import Path
from askgraph.atomic_files import OLD_SUFFIX, make_temporary_path, replace_file

path, how = Path(sys.argv[1]), sys.argv[2]
if how == "file":
    with replace_file(path) as file:
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
folder = make_temporary_path(path)
folder.mkdir()
if how == "aside":
    path.rename(folder.with_name(folder.name + OLD_SUFFIX))
os.kill(os.getpid(), signal.SIGKILL)
"""

STOPPED = """
import signal, sys
from pathlib import Path
from askgraph.atomic_files import replace_folder

changes = ["os.mkdir", "os.rename", "os.rmdir", "os.remove", "shutil.rmtree"]
folder, left = Path(sys.argv[1]), 0

def stop(event, arguments):
    global left
    if event in changes and (left := left - 1) == 0:
        signal.raise_signal(signal.SIGINT)

sys.addaudithook(stop)
for at in range(1, 100):
    folder.mkdir(exist_ok=True)
    (folder / "content").write_text("old")
    try:
        left = at
        with replace_folder(folder) as new:
            (new / "content").write_text("new")
    except KeyboardInterrupt:
        stopped = at
    left = 0
    assert (folder / "content").read_text() in ("old", "new"), at
    names = {path.name for path in folder.parent.iterdir()}
    assert names <= {folder.name, ".lock"}, (at, names)
print(stopped)
"""


def killed(path: Path, how: str) -> None:
    done = subprocess.run([sys.executable, "-c", DYING, str(path), how], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [one for one in path.parent.iterdir() if one.name.startswith(f".{path.name}~")]


def test_what_a_killed_process_left_goes_when_the_place_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "notes [1].txt"
    for how in ("file", "folder"):
        write_text_atomically(path, "old")
        killed(path, how)
        assert path.read_text() == "old"

        write_text_atomically(path, "new")

        assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {path.name: "new"}


def test_what_a_killed_process_left_goes_when_another_place_of_the_folder_is_written(
    tmp_path: Path,
) -> None:
    for how in ("file", "folder", "aside"):
        place = tmp_path / how
        place.mkdir()
        killed(place, how)

    write_text_atomically(tmp_path / "other", "new")

    assert (tmp_path / "other").read_text() == "new"
    (away,) = (one for one in tmp_path.iterdir() if one.name.startswith("."))
    assert away.name.startswith(".aside~")
    assert away.name.endswith(OLD_SUFFIX)
    make_temporary_path(tmp_path / "aside")
    assert {one.name for one in tmp_path.iterdir()} == {"aside", "file", "folder", "other"}


def test_what_a_cache_keeps_is_its_owners_and_leaves_nothing_of_the_killed(tmp_path: Path) -> None:
    path = tmp_path / "12" / "1234.json"
    write_private(path, b"old")
    killed(path, "file")

    write_private(path, b"new")

    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == {path.name: b"new"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_a_killed_process_had_put_away_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "content").write_text("old")
    killed(folder, "aside")
    assert not folder.exists()

    make_temporary_path(folder)

    assert (folder / "content").read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["index"]


def test_a_folder_that_is_stopped_at_any_change_leaves_nothing_over(tmp_path: Path) -> None:
    program = [sys.executable, "-c", STOPPED, str(tmp_path / "index")]
    done = subprocess.run(program, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 5 < int(done.stdout) < 30


def test_what_living_processes_make_stays(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    with subprocess.Popen(["sleep", "60"]) as other:
        theirs = tmp_path / f".notes.txt~{other.pid}-abc~1"
        theirs.touch()
        ours = make_temporary_path(path)
        ours.touch()

        write_text_atomically(path, "new")

        assert theirs.exists()
        assert ours.exists()
        other.kill()


def test_a_process_of_the_same_id_before_a_restart_is_gone(tmp_path: Path) -> None:
    left = tmp_path / f".graph~{os.getpid()}-abc~1{OLD_SUFFIX}"
    left.mkdir()

    make_temporary_path(tmp_path / "graph")

    assert [one.name for one in tmp_path.iterdir()] == ["graph"]


def test_a_file_keeps_its_permissions_and_one_that_fails_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "secret.toml"
    write_text_atomically(path, "old")
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o600)

    write_text_atomically(path, "new")
    with pytest.raises(UnicodeEncodeError):
        write_text_atomically(path, "\ud800")
    with pytest.raises(ZeroDivisionError), replace_file(path) as file:
        file.write(b"%d" % (1 // 0))

    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_is_said_to_be_full_by_whoever_finds_it(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    write_text_atomically(path, "old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(NoSpace, match=r"notes.txt: the disk is full, .*; free some space"):
            write_text_atomically(path, "new" * 100)
        with (
            pytest.raises(OSError, match="written") as numpy,
            path.with_name("array").open("wb") as to,
        ):
            np.arange(1000).tofile(to)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert path.read_text() == "old"
    assert isinstance(to_setup_error("saving", numpy.value), NoSpace)
    assert isinstance(
        to_setup_error("saving", OSError("IO error: No space left on device: a")), NoSpace
    )
    assert str(to_setup_error("saving", PermissionError(13, "Permission denied"))) == (
        "saving: Permission denied"
    )
