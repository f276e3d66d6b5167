"""Indices that a server holds: the folder that says where, and how one is filled in batches.

The folder is written when the server has all. Until then the server knows which batches it has, so
that a build that was interrupted goes on with those that are missing.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from askgraph.errors import SetupError
from askgraph.index import Progress, Resource
from askgraph.index._table import sound
from askgraph.index.embeddings import Embedder, embedder_of
from askgraph.index.folder import Folder, Kind, Setting, new_folder

ADDRESS = "ASKGRAPH_INDEX"
"""The environment variable with the address of a server, if none is given."""

PASSWORD = "ASKGRAPH_INDEX_PASSWORD"
"""The environment variable with the password of the user that the address names."""

BATCH = 5000  # resources


class Submit(Protocol):
    """Calls a function elsewhere, as `submit` of an executor does; all of it is picklable."""

    def __call__(self, function: "Write", /, *arguments: object) -> "Future[int]":
        """Call the function with the arguments, in another thread or process."""
        ...


Write = Callable[..., int]


@dataclass(frozen=True)
class Place:
    """An index by the address of its server, without a password, and by its name there."""

    address: str
    name: str

    @classmethod
    def of(cls, address: str, name: str, folder: Path) -> "Place":
        """Return a place; without an address it is the one of the environment."""
        address = address or os.environ.get(ADDRESS, "")
        if not address:
            raise SetupError(f"say which server is to hold the index: `on`, or {ADDRESS}")
        parts = urlsplit(address)
        if parts.password is not None:
            raise SetupError(
                f"leave the password out of the address of {parts.hostname!r}, which is kept in a "
                f"file: set {PASSWORD}"
            )
        return cls(address, name or str(folder.absolute()))

    @classmethod
    def read(cls, folder: Folder) -> "Place":
        """Return the place that a folder names."""
        return cls(folder.text("on"), folder.text("name"))

    @property
    def key(self) -> str:
        """The name in letters, digits and underscores, told apart from all others."""
        plain = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in self.name)
        return f"{plain.lower()[-32:].strip('_')}_{sha256(self.name.encode()).hexdigest()[:8]}"

    def missing(self) -> SetupError:
        """Return the error of an index that is not complete there."""
        return SetupError(
            f"there is no complete index {self.name!r} at {self.address}; build it there, which "
            "goes on if it was begun"
        )

    @contextmanager
    def noted(self, folder: Path, kind: Kind, settings: Mapping[str, Setting]) -> Iterator[None]:
        """Write the folder once the work within has succeeded."""
        with new_folder(folder, kind, {"on": self.address, "name": self.name, **settings}):
            yield


@cache
def batch_embedder(name: str) -> Embedder:
    """Return the embedder of a process that writes batches."""
    return embedder_of(name)


def fill(
    resources: Iterable[Resource],
    write: Write,
    done: Collection[int],
    *,
    submit: Submit | None = None,
    at_once: int = 2,
    progress: Progress | None = None,
) -> int:
    """Write all batches that are not done, several at once; return how many resources there are.

    `write` gets a batch's number and its resources. The resources have to come in the same order
    each time.
    """
    if submit is None:
        with ThreadPoolExecutor(1) as pool:
            return fill(
                resources, write, done, submit=pool.submit, at_once=at_once, progress=progress
            )
    waiting, total = map(sound, resources), 0
    running: set[Future[int]] = set()
    try:
        for number, batch in enumerate(iter(lambda: list(islice(waiting, BATCH)), [])):
            if number not in done:
                if len(running) >= at_once:
                    running = _one_less(running)
                running.add(submit(write, number, batch))
            total += len(batch)
            if progress:
                progress(total)
        while running:
            running = _one_less(running)
    finally:
        wait(running)
    if progress:
        progress(total)
    return total


def _one_less(running: set[Future[int]]) -> set[Future[int]]:
    """Wait for a batch; raises what went wrong with it."""
    finished, rest = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        future.result()
    return rest
