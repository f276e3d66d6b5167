"""Write files and folders under a temporary name, then move them into place.

Readers never see a partial file. Files left by a killed process are removed by the next write.
Files that several processes update have a lock.
"""

import contextlib
import errno
import itertools
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from askgraph.errors import NoSpace, SetupError

OLD_SUFFIX = ".old"
"""Suffix of a replaced file or folder, restored if its replacement never arrived."""
_PROCESS_TOKEN = (
    f"{time.time_ns() // 1_000_000:x}"  # an id of a process is used again, in containers often
)
_DISK_FULL_REMEDY = "free some space, then try again"
_SERIAL_NUMBERS = itertools.count(1)
_TEMPORARY_NAME = re.compile(
    r"\.(?P<name>.+)~(?P<pid>\d+)-(?P<born>[0-9a-f]+)~\d+(\.old)?", re.DOTALL
)
_DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# the messages of Oxigraph and NumPy
_DISK_FULL_MESSAGE = re.compile(r"No space left|File too large|\d requested and \d+ written")


def make_temporary_path(path: Path) -> Path:
    """Return an unused path beside `path` and remove stale ones; see `remove_stale_files`."""
    remove_stale_files(path)
    return path.with_name(f".{path.name}~{os.getpid()}-{_PROCESS_TOKEN}~{next(_SERIAL_NUMBERS)}")


def remove_stale_files(path: Path) -> None:
    """Remove temporary files of dead processes from the folder of `path`.

    A version of `path` that a dead process had moved away is restored; those of other files
    are restored when their own path is written.
    """
    for leftover in path.parent.glob(".*~*~*"):
        match = _TEMPORARY_NAME.fullmatch(leftover.name)
        if match is None or _is_running(int(match["pid"]), match["born"]):
            continue
        if leftover.name.endswith(OLD_SUFFIX) and (match["name"] != path.name or not path.exists()):
            if match["name"] == path.name:
                leftover.rename(path)
        elif leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` once the block ends without an error.

    The file keeps the old permissions and is synced to disk.

    Raises:
        OSError: The file cannot be written.
        NoSpace: The disk is full.
    """
    temporary = make_temporary_path(path)
    try:
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode if path.exists() else 0o644)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if full := to_no_space_error(f"cannot write {path}", error):
            raise full from error
        raise


@contextlib.contextmanager
def replace_folder(folder: Path, *, lock: bool = True) -> Iterator[Path]:
    """Provide an empty folder that replaces this one once the block ends without an error.

    Folders left by killed runs are removed, and a folder that such a run had moved away is
    restored. `lock` keeps other processes from replacing the same folder at that moment.

    Raises:
        NoSpace: The disk is full.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    new_folder = make_temporary_path(folder)
    old = new_folder.with_name(new_folder.name + OLD_SUFFIX)
    new_folder.mkdir()
    try:
        yield new_folder
        with lock_file(folder.parent / ".lock") if lock else contextlib.nullcontext():
            if folder.exists():
                folder.rename(old)
            new_folder.rename(folder)
    except OSError as error:
        if disk_full_error := to_no_space_error(f"{folder.name!r} cannot be built", error):
            raise disk_full_error from error
        raise
    finally:
        try:
            _clear_replacement(folder, new_folder, old)
        except KeyboardInterrupt:  # stopped meanwhile: nothing is left over all the same
            _clear_replacement(folder, new_folder, old)
            raise


def write_text_atomically(path: Path, text: str) -> None:
    """Write a UTF-8 file that readers never see half-written; raises like `replace_file`."""
    with replace_file(path) as file:
        file.write(text.encode("utf-8"))


def write_private(path: Path, data: bytes) -> None:
    """Write a file atomically that only its owner can read; it is not synced to disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = make_temporary_path(path)
    try:
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file between processes (no-op on Windows)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def to_no_space_error(failure: str, error: BaseException) -> NoSpace | None:
    """Convert an error to `NoSpace` if the disk is full, else return None.

    `failure` is the failed action, in words.
    """
    if not isinstance(error, OSError):
        return None
    if error.errno in _DISK_FULL_ERRNOS or _DISK_FULL_MESSAGE.search(str(error)):
        return NoSpace(
            f"{failure}: the disk is full, or the file is too large for it; {_DISK_FULL_REMEDY}"
        )
    return None


def to_setup_error(failure: str, error: OSError) -> SetupError:
    """Convert an operating-system error to a `SetupError`; `failure` is the failed action."""
    return to_no_space_error(failure, error) or SetupError(f"{failure}: {error.strerror or error}")


def _clear_replacement(folder: Path, new_folder: Path, old: Path) -> None:
    shutil.rmtree(new_folder, ignore_errors=True)
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _is_running(pid: int, token: str) -> bool:
    """Return whether the process that made a temporary name is alive, ignoring reused ids."""
    if pid == os.getpid():
        return token == _PROCESS_TOKEN
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
