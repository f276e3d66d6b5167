"""Files and folders made beside the place that they take once they are whole.

Nobody reads half of one, and what a killed process left there goes when the next one is made. What
several processes change, each from what the others left, has a lock.
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

__all__ = [
    "OLD",
    "fresh",
    "locked",
    "no_space",
    "refused",
    "replaced",
    "swept",
    "write_private",
    "write_whole",
]

OLD = ".old"
"""The ending of what was put away, which comes back if nothing took its place."""
_BORN = f"{time.time_ns() // 1_000_000:x}"  # an id of a process is used again, in containers often
_REMEDY = "make room, then do the same again"
_NUMBERS = itertools.count(1)
_LEFT = re.compile(r"\.(?P<name>.+)~(?P<pid>\d+)-(?P<born>[0-9a-f]+)~\d+(\.old)?", re.DOTALL)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# as Oxigraph and NumPy say it
_FULL_IN_WORDS = re.compile(r"No space left|File too large|\d requested and \d+ written")


def fresh(path: Path) -> Path:
    """Return a name beside `path` that nothing has, for what will take its place; see `swept`."""
    swept(path)
    return path.with_name(f".{path.name}~{os.getpid()}-{_BORN}~{next(_NUMBERS)}")


def swept(path: Path) -> None:
    """Remove what processes that are gone left in the folder of `path`.

    What they had put away from `path` comes back; what they had from elsewhere waits for its turn.
    """
    for left in path.parent.glob(".*~*~*"):
        made = _LEFT.fullmatch(left.name)
        if made is None or _runs(int(made["pid"]), made["born"]):
            continue
        if left.name.endswith(OLD) and (made["name"] != path.name or not path.exists()):
            if made["name"] == path.name:
                left.rename(path)
        elif left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write, which takes the place of this one once all is written without error.

    It keeps the permissions of the older one, and is on the disk at the end. Raises `OSError`, and
    `NoSpace` if the disk is full.
    """
    beside = fresh(path)
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(path.stat().st_mode if path.exists() else 0o644)
        beside.replace(path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if full := no_space(f"cannot write {path}", error):
            raise full from error
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a text file (UTF-8) that nobody reads half of; raises what `replaced` raises."""
    with replaced(path) as file:
        file.write(text.encode("utf-8"))


def write_private(path: Path, data: bytes) -> None:
    """Write a file that its owner alone reads, and nobody half of; it is not forced to the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = fresh(path)
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time hold the lock that this file stands for; without locks, hope."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def no_space(what: str, error: BaseException) -> NoSpace | None:
    """Return the error for `what` failed if the disk is full; None for any other reason."""
    if not isinstance(error, OSError):
        return None
    if error.errno in _FULL or _FULL_IN_WORDS.search(str(error)):
        return NoSpace(f"{what}: no space is left on the disk, or for so large a file; {_REMEDY}")
    return None


def refused(what: str, error: OSError) -> SetupError:
    """Return an error of the system as ours: `what` failed, and why."""
    return no_space(what, error) or SetupError(f"{what}: {error.strerror or error}")


def _runs(pid: int, born: str) -> bool:
    """Whether the process lives that made a name; another one of its id does not count."""
    if pid == os.getpid():
        return born == _BORN
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
