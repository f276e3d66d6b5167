"""Indices on a server: the folder with their location, and the filling in batches.

The folder is written when the server has all resources. Until then the server knows its finished
batches, so that an interrupted build resumes with the missing ones.
"""

import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import httpx2

from askgraph.errors import (
    ErrorReply,
    MalformedReply,
    Overloaded,
    SetupError,
    TimedOut,
    Unauthorised,
    Unreachable,
)
from askgraph.index import Progress, Resource
from askgraph.index._table import validate_resource
from askgraph.index.embeddings import Embedder, create_embedder
from askgraph.index.folder import IndexFolder, IndexFormat, Setting, create_folder

ADDRESS_VARIABLE = "ASKGRAPH_INDEX"
"""The environment variable with the default address of the server."""

PASSWORD_VARIABLE = "ASKGRAPH_INDEX_PASSWORD"
"""The environment variable with the password of the address's user."""

BATCH_SIZE = 5000  # resources
BUSY_STATUSES = frozenset({429, 502, 503, 504})


class SubmitBatch(Protocol):
    """Calls a function elsewhere, like `submit` of an executor; all arguments can be pickled."""

    def __call__(self, function: "WriteBatch", /, *arguments: object) -> "Future[int]":
        """Call the function with the arguments, in another thread or process."""


WriteBatch = Callable[..., int]


@dataclass(frozen=True)
class IndexLocation:
    """The location of an index: the server's address (without a password), and the index's name."""

    address: str
    name: str

    @classmethod
    def from_settings(cls, address: str, name: str, folder: Path) -> "IndexLocation":
        """Return a location; the environment gives the address if it is empty.

        Raises:
            SetupError: there is no address, or it contains a password.
        """
        address = address or os.environ.get(ADDRESS_VARIABLE, "")
        if not address:
            raise SetupError(f"name the server for the index with `on` or {ADDRESS_VARIABLE}")
        parts = urlsplit(address)
        if parts.password is not None:
            raise SetupError(
                f"leave the password out of the address of {parts.hostname!r}, which is kept in a "
                f"file: set {PASSWORD_VARIABLE}"
            )
        return cls(address, name or str(folder.absolute()))

    @classmethod
    def from_folder(cls, folder: IndexFolder) -> "IndexLocation":
        """Return the location in a folder."""
        return cls(folder.get_text("on"), folder.get_text("name"))

    @property
    def key(self) -> str:
        """A unique identifier of the name, in letters, digits and underscores."""
        plain = "".join(
            character if character.isascii() and character.isalnum() else "_"
            for character in self.name
        )
        return f"{plain.lower()[-32:].strip('_')}_{sha256(self.name.encode()).hexdigest()[:8]}"

    def build_missing_error(self) -> SetupError:
        """Return the error for an index that is not complete on the server."""
        return SetupError(
            f"there is no complete index {self.name!r} at {self.address}; build it, or "
            "resume its build"
        )

    def write_folder(
        self, folder: Path, kind: IndexFormat, settings: Mapping[str, Setting]
    ) -> AbstractContextManager[object]:
        """Write the folder once the block has succeeded."""
        return create_folder(folder, kind, {"on": self.address, "name": self.name, **settings})


@cache
def get_batch_embedder(name: str) -> Embedder:
    """Return the embedder of a process that writes batches."""
    return create_embedder(name)


def write_batches(
    resources: Iterable[Resource],
    write: WriteBatch,
    finished: Collection[int],
    *,
    submit: SubmitBatch | None = None,
    at_once: int = 2,
    progress: Progress | None = None,
) -> int:
    """Write all unfinished batches, several at once; return the total number of resources.

    Args:
        resources: all resources, in the same order in each attempt.
        write: called with the number of a batch and its resources.
        finished: the numbers of batches that the server already has.
        submit: runs `write` elsewhere.
        at_once: the maximum number of batches in progress.
        progress: called with the number of resources read so far.
    """
    if submit is None:
        with ThreadPoolExecutor(1) as pool:
            return write_batches(
                resources, write, finished, submit=pool.submit, at_once=at_once, progress=progress
            )
    remaining, total = map(validate_resource, resources), 0
    running: set[Future[int]] = set()
    try:
        for number, batch in enumerate(iter(lambda: list(islice(remaining, BATCH_SIZE)), [])):
            if number not in finished:
                if len(running) >= at_once:
                    running = _wait_for_one(running)
                running.add(submit(write, number, batch))
            total += len(batch)
            if progress:
                progress(total)
        while running:
            running = _wait_for_one(running)
    finally:
        wait(running)
    if progress:
        progress(total)
    return total


def _wait_for_one(running: set[Future[int]]) -> set[Future[int]]:
    """Wait until a batch is finished, raising its error; return the others."""
    finished, unfinished = wait(running, return_when=FIRST_COMPLETED)
    for future in finished:
        future.result()
    return unfinished


async def fetch_json(
    service: str, request: Awaitable[httpx2.Response], *, timeout: float, hint: str = ""
) -> object:
    """Return the JSON that a service replies to a request.

    Args:
        service: the service in the words of an error.
        timeout: the time limit of the request, in seconds.
        hint: what to do if the service does not work.

    Raises:
        ServiceError: the service fails, or replies with something else.
    """
    try:
        reply = await request
    except httpx2.TimeoutException as error:
        raise TimedOut(f"{service} did not reply within {timeout:g} s{hint}") from error
    except httpx2.HTTPError as error:
        raise Unreachable(f"{service} cannot be reached: {error}{hint}") from error
    message = f"{service} replied with status {reply.status_code}"
    if reply.status_code in (401, 403):
        raise Unauthorised(message)
    if reply.status_code in BUSY_STATUSES:
        raise Overloaded(f"{message}{hint}")
    if reply.status_code != 200:
        raise ErrorReply(message)
    try:
        content: object = reply.json()
    except ValueError as error:
        raise MalformedReply(f"{service} did not reply with JSON") from error
    return content
