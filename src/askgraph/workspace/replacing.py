"""Folders that are replaced as a whole, and one process at a time that changes a workspace."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = ["locked", "replacing"]


@contextlib.contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Give an empty folder that takes the place of this one once it is filled without error.

    What runs that were killed left behind goes; what one of them had put away comes back.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(folder)
    prefix = f".{folder.name}~{os.getpid()}~"
    fresh = Path(tempfile.mkdtemp(prefix=prefix, dir=folder.parent))
    old = fresh.with_name(fresh.name + ".old")
    try:
        yield fresh
        with locked(folder.parent / ".lock"):
            if folder.exists():
                folder.rename(old)
            fresh.chmod(0o755)
            fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


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


def _clear_leftovers(folder: Path) -> None:
    for left in folder.parent.glob(f".{folder.name}~*~*"):
        pid = left.name.removeprefix(f".{folder.name}~").split("~")[0]
        if not pid.isdigit() or _runs(int(pid)):
            continue
        if left.name.endswith(".old") and not folder.exists():
            left.rename(folder)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
