"""The process that runs queries over a store on disk; it can be killed at any time.

It is started as a script, not as a module, so that it imports only pyoxigraph and answers 40 ms
after its start. Requests arrive on standard input, replies leave on standard output; each is eight
bytes of length and a body. A separate thread reads the requests, so that the process ends as soon
as the other side closes, whatever query is running. `oxigraph` is the other side.

    arguments  the folder of pyoxigraph, the path of the store, the memory limit in bytes
    request    marshal of (query, limit, named graphs or None, union of all graphs)
    reply      a letter and a body: B 0 or 1 (ask), S or G a result (TSV, N-Triples), s or g the
               same cut at the limit, and errors: ! the query, ? memory, + a result of too many
               bytes, X the store, E others
"""

import marshal
import os
import sys
from _queue import SimpleQueue
from _thread import start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pyoxigraph import Store

    Request = tuple[str, int | None, list[str] | None, bool]


# Bytes of a result; reading it takes several times as much memory.
_MAX_RESULT_BYTES = 256 * 1024 * 1024


class _ResultTooLargeError(Exception):
    """The result has too many bytes."""


class _LimitReachedError(Exception):
    """The row limit is reached; stops the serializer."""


class _LimitedFile:
    """A file that accepts a limited number of lines; None for no limit."""

    def __init__(self, lines: int | None) -> None:
        self.remaining_lines = lines
        self.parts: list[bytes] = []
        self.is_cut = False
        self._remaining_bytes = _MAX_RESULT_BYTES

    def write(self, data: bytes) -> int:
        if self.is_cut:
            raise _LimitReachedError
        self._remaining_bytes -= len(data)
        if self._remaining_bytes < 0:
            raise _ResultTooLargeError
        if self.remaining_lines is not None:
            count = data.count(b"\n")
            if count > self.remaining_lines or (
                count == self.remaining_lines and not data.endswith(b"\n")
            ):
                self.is_cut = True
                self.parts += [part + b"\n" for part in data.split(b"\n")[: self.remaining_lines]]
                raise _LimitReachedError
            self.remaining_lines -= count
        self.parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: all data is in memory."""


def main() -> None:
    """Answer requests until the input ends."""
    replies = os.dup(1)
    os.dup2(2, 1)
    requests: SimpleQueue[bytes] = SimpleQueue()
    start_new_thread(_read_requests, (requests,))
    _limit_memory(int(sys.argv[3]))
    sys.path.append(sys.argv[1])
    store = _open_store(sys.argv[2])
    while True:
        request = marshal.loads(requests.get())
        parts = [b"X", store.encode()] if isinstance(store, str) else _build_reply(store, request)
        view = memoryview(sum(map(len, parts)).to_bytes(8, "little") + b"".join(parts))
        while view:
            try:
                view = view[os.write(replies, view[: 1 << 20]) :]
            except OSError:
                os._exit(0)
        parts = []


def _open_store(path: str) -> "Store | str":
    """Open the store, or return the error message."""
    from pyoxigraph import Store

    try:
        return Store.read_only(path)
    except OSError as problem:
        return str(problem)


def _read_requests(requests: "SimpleQueue[bytes]") -> None:
    while True:
        requests.put(_read_bytes(int.from_bytes(_read_bytes(8), "little")))


def _read_bytes(count: int) -> bytes:
    parts = []
    while count:
        part = os.read(0, min(count, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _limit_memory(limit: int) -> None:
    """Limit the private memory (not the mapped files); disable core files for that error."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _build_reply(store: "Store", request: "Request") -> list[bytes]:
    try:
        return _run_query(store, *request)
    except MemoryError:
        return [b"?"]
    except _ResultTooLargeError:
        return [b"+"]
    except SyntaxError as problem:
        return [b"!", str(problem).encode()]
    except Exception as problem:  # noqa: BLE001 - the reply is the report
        return [b"E", (str(problem) or type(problem).__name__).encode()]


def _run_query(
    store: "Store", query: str, limit: int | None, graphs: list[str] | None, union: bool
) -> list[bytes]:
    from pyoxigraph import NamedNode, QueryBoolean, QueryResultsFormat, QuerySolutions, RdfFormat

    nodes: Any = None if graphs is None else [NamedNode(iri) for iri in graphs]
    result = store.query(
        query, use_default_graph_as_union=union, default_graph=nodes, named_graphs=nodes
    )
    if isinstance(result, QueryBoolean):
        return [b"B1" if result else b"B0"]
    solutions = isinstance(result, QuerySolutions)
    lines: Any = _LimitedFile(None if limit is None else limit + solutions)
    letter = b"S" if solutions else b"G"
    try:
        if isinstance(result, QuerySolutions):
            result.serialize(lines, QueryResultsFormat.TSV)
        else:
            result.serialize(lines, RdfFormat.N_TRIPLES)
    except _LimitReachedError:
        letter = letter.lower()
    return [letter, *lines.parts]


if __name__ == "__main__":
    main()
