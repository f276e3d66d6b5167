"""The command line, which kills itself just before, or in the middle of, a change to a folder.

    python tools/campaign/_killed.py NUMBER FOLDER ARGUMENT ...

NUMBER counts the changes that Python makes to files in FOLDER; with 0 nothing is killed, and the
number of changes is the last line of standard error. Where a file would be opened to be written, it
is left empty: that is the worst moment.
"""

import atexit
import os
import signal
import sys
from pathlib import Path

from askgraph.cli import main

_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.rmtree")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def watch(number: int, folder: str) -> None:
    """Die at this change to the folder."""
    done = 0

    def seen(event: str, given: tuple[object, ...]) -> None:
        nonlocal done
        opened = event == "open"
        if not opened and event not in _CHANGES:
            return
        path = os.path.abspath(str(given[0]))  # noqa: PTH100 - it opens nothing
        if not path.startswith(folder) or (opened and not int(str(given[2])) & _WRITING):
            return
        done += 1
        if done == number:
            if opened and str(given[1]) in ("w", "wb", "x", "xb"):
                done += 1
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(seen)
    if not number:
        atexit.register(lambda: print(f"\n{done}", file=sys.stderr))


if __name__ == "__main__":
    watch(int(sys.argv[1]), str(Path(sys.argv[2]).absolute()))
    sys.argv = ["askgraph", *sys.argv[3:]]
    main()
