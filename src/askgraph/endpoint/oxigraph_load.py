"""Loader of an Oxigraph store from RDF files: bulk, bounded in memory, all or nothing.

Big files are loaded by a process of their own, `python -m askgraph.endpoint.oxigraph_load`, while
their triples are counted here. It reads what to load as one line of JSON, writes why it failed if
it does, and ends as soon as its input does.
"""

import bz2
import gzip
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, cast

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Store,
    Triple,
    parse,
)

from askgraph.errors import ServiceError, SetupError
from askgraph.rdf.statements import FORMATS

_PACKED = (".gz", ".bz2", ".xz")
_KNOWN = f"{', '.join(FORMATS)}, each also with {', '.join(_PACKED)}"
_BESIDE = 16 * 2**20  # bytes of files for which a process of their own is worth its start
_PIECE = 250_000  # quads that the store sorts in memory at once, some hundred bytes each

Progress = Callable[[int, int, str], None]


def load_store(
    sources: list[Path], path: Path, *, mark: str, progress: Progress | None = None
) -> int:
    """Build a store from files and folders, then put it at `path`; see `OxigraphEndpoint.load`.

    A file called `mark` in it says that its default graph is the union of all graphs.
    """
    files = [file for source in sources for file in _files(source)]
    if not files:
        raise SetupError("no file to load was named")
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    try:
        store = Store(folder / "new")
        quads = quads_in(files, progress=progress)
        while piece := next(quads, None):
            store.bulk_extend(chain((piece,), islice(quads, _PIECE - 1)))
        _unite(store)
        store.flush()
        del store  # lets go of the files
        (folder / "new" / mark).touch()
        if path.exists():
            path.rename(folder / "old")
        (folder / "new").rename(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return len(files)


@contextmanager
def loading(files: Sequence[Path], path: Path, *, mark: str) -> Iterator[None]:
    """Build a store from files beside the work of the block; it is there when the block has ended.

    Raises what loading raises, and `ServiceError` if the process that loads big files dies.
    """
    if sum(file.stat().st_size for file in files) < _BESIDE:
        load_store(list(files), path, mark=mark)
        yield
        return
    command = [sys.executable, "-m", "askgraph.endpoint.oxigraph_load"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            task = {"files": [str(file) for file in files], "path": str(path), "mark": mark}
            process.stdin.write(f"{json.dumps(task)}\n")
            process.stdin.flush()
            yield
            said = process.stdout.read()
        except BaseException:
            process.kill()
            raise
        if said:
            raise SetupError(said)
    if not (path / mark).exists():
        raise ServiceError(f"the process that loads the store ended with {process.returncode}")


def main() -> None:
    """Load the files that the first line of the input names."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        files = [Path(file) for file in task["files"]]
        load_store(files, Path(task["path"]), mark=task["mark"])
    except SetupError as error:
        sys.stdout.write(str(error))


def _end_with_input() -> None:
    while sys.stdin.read(4096):
        pass
    os._exit(0)


def quads_in(files: Sequence[Path], *, progress: Progress | None = None) -> Iterator[Quad]:
    """Yield the quads of RDF files; each time the same, also the names of their blank nodes.

    Raises `SetupError` with file, line and column.
    """
    sizes = [file.stat().st_size for file in files]
    blanks = 0
    for number, file in enumerate(files):
        tell = _Progress(progress, sum(sizes[:number]), sum(sizes), file.name)
        names = _Blanks(blanks)
        yield from map(names.renamed, _quads(file, tell))
        blanks = names.last


_PLAIN = frozenset({NamedNode, Literal, DefaultGraph})


class _Blanks:
    """Names of the blank nodes of one file, numbered as they come."""

    def __init__(self, last: int) -> None:
        self.last = last
        self._numbers: dict[str, int] = {}

    def renamed(self, quad: Quad) -> Quad:
        """Return the quad with the new names of its blank nodes."""
        named = (quad.subject, quad.object, quad.graph_name)
        if _PLAIN.issuperset(map(type, named)):
            return quad
        subject, value, graph = map(self._term, named)
        return Quad(subject, quad.predicate, value, graph)

    def _term(self, term: Any) -> Any:
        if isinstance(term, Triple):
            return Triple(self._term(term.subject), term.predicate, self._term(term.object))
        return self._blank(term) if isinstance(term, BlankNode) else term

    def _blank(self, node: BlankNode) -> BlankNode:
        number = self._numbers.get(node.value)
        if number is None:
            self.last += 1
            number = self._numbers[node.value] = self.last
        return BlankNode(f"b{number}")


def _unite(store: Store) -> None:
    """Put the triples of all named graphs into the default graph too.

    Oxigraph's own union has a triple once for each graph that holds it, and so counts wrongly.
    """
    for graph in store.named_graphs():
        quads = store.quads_for_pattern(None, None, None, graph)
        store.bulk_extend(
            Quad(quad.subject, quad.predicate, quad.object, DefaultGraph()) for quad in quads
        )


def _files(source: Path) -> list[Path]:
    if source.is_file():
        _format(source)
        return [source]
    if not source.is_dir():
        raise SetupError(f"{str(source)!r} does not exist")
    files = sorted(
        file
        for file in source.rglob("*")
        if file.is_file()
        and _suffix(file) in FORMATS
        and not any(part.startswith(".") for part in file.relative_to(source).parts)
    )
    if not files:
        raise SetupError(f"the folder {str(source)!r} holds no RDF file ({_KNOWN})")
    return files


def _suffix(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _format(file: Path) -> RdfFormat:
    try:
        return FORMATS[_suffix(file)]
    except KeyError:
        raise SetupError(
            f"{str(file)!r} has an unknown extension {_suffix(file)!r}; known are {_KNOWN}"
        ) from None


def _quads(file: Path, tell: "_Progress") -> Iterator[Quad]:
    try:
        with ExitStack() as stack:
            raw = stack.enter_context(file.open("rb"))
            told = _Told(stack.enter_context(_unpacked(file, raw)), raw, tell)
            yield from parse(told, _sniffed(file, told), base_iri=file.resolve().as_uri())  # type: ignore[arg-type]
    except SyntaxError as problem:
        raise SetupError(f"{file}{_place(problem)}: {_message(problem)}") from problem
    except (zlib.error, EOFError, lzma.LZMAError, gzip.BadGzipFile) as problem:
        raise SetupError(f"{file} cannot be unpacked: {problem}") from problem
    except (OSError, ValueError) as problem:
        raise SetupError(f"{file} cannot be loaded: {problem}") from problem
    tell(file.stat().st_size)


def _unpacked(file: Path, raw: IO[bytes]) -> IO[bytes]:
    match file.suffix.lower():
        case ".gz":
            return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
        case ".bz2":
            return bz2.BZ2File(raw)
        case ".xz":
            return lzma.LZMAFile(raw)
        case _:
            return raw


@dataclass(frozen=True)
class _Progress:
    """Reports to the caller how much of all files is done."""

    told: Progress | None
    before: int
    total: int
    name: str

    def __call__(self, done: int) -> None:
        if self.told:
            self.told(self.before + done, self.total, self.name)


class _Told:
    """A stream that reports how far it was read, after each mebibyte."""

    def __init__(self, stream: IO[bytes], raw: IO[bytes], tell: "_Progress") -> None:
        self._stream, self._raw, self._tell = stream, raw, tell
        self._read = 0
        self.start = self._stream.read(4096).removeprefix(b"\xef\xbb\xbf")
        self._held = self.start

    def read(self, size: int = -1) -> bytes:
        if self._held:
            data, self._held = self._held[:size], self._held[len(self._held[:size]) :]
            return data
        data = self._stream.read(size)
        self._read += len(data)
        if self._read >= 1 << 20:
            self._read = 0
            self._tell(self._raw.tell())
        return data


def _sniffed(file: Path, told: _Told) -> RdfFormat:
    """Take an .owl or .rdf file that does not look like XML for Turtle, as others do."""
    found = _format(file)
    if found == RdfFormat.RDF_XML and not told.start.lstrip().startswith(
        (b"<?xml", b"<!", b"<rdf:")
    ):
        looks_turtle = re.match(rb"\s*(@prefix|@base|PREFIX|BASE|#)", told.start)
        return RdfFormat.TURTLE if looks_turtle else found
    return found


def _place(problem: SyntaxError) -> str:
    return f", line {problem.lineno}, column {problem.offset}" if problem.lineno else ""


def _message(problem: SyntaxError) -> str:
    return re.sub(r"^Parser error at line [^:]*: ", "", str(problem.args[0]))


if __name__ == "__main__":
    main()
