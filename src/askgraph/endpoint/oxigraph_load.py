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
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, islice
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
from askgraph.sparql import vocabulary as v
from askgraph.sparql.rdf_files import (
    DECOMPRESSOR_BY_SUFFIX,
    FORMAT_BY_SUFFIX,
    check_document,
    get_format_suffix,
)

_KNOWN = f"{', '.join(FORMAT_BY_SUFFIX)}, each also with {', '.join(DECOMPRESSOR_BY_SUFFIX)}"
_BESIDE = 16 * 2**20  # bytes of files for which a process of their own is worth its start
_PIECE = 250_000  # quads that the store sorts in memory at once, some hundred bytes each
_LINES, _ROWS = 32 * 2**20, 4 * 2**20  # bytes of N-Triples that a store or a reader takes at once

Progress = Callable[[int, int, str], None]
Tell = Callable[[int], None]
Row = tuple[str, str, str]
"""A triple as the N-Triples texts of its terms."""


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
        contents = _contents(files, _LINES, progress)
        runs = groupby(contents, key=lambda one: isinstance(one, Lines))
        pieces = sum(_put(store, run) for _, run in runs)
        for graph in store.named_graphs():
            quads = store.quads_for_pattern(None, None, None, graph)
            store.bulk_extend(
                Quad(quad.subject, quad.predicate, quad.object, DefaultGraph()) for quad in quads
            )
        if pieces > 1:
            store.optimize()  # joins the pieces: each question would look into all of them
        store.flush()
        del store  # lets go of the files
        (folder / "new" / mark).touch()
        if path.exists():
            path.rename(folder / "old")
        (folder / "new").rename(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return len(files)


def _put(store: Store, run: "Iterator[Quad | Lines]") -> int:
    """Put lines, or quads, into a store; return in how many pieces."""
    pieces = 0
    while piece := next(run, None):
        if isinstance(piece, Lines):
            piece.load(store)
        else:
            quads = cast("Iterator[Quad]", run)
            store.bulk_extend(chain((piece,), islice(quads, _PIECE - 1)))
        pieces += 1
    return pieces


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
    return cast("Iterator[Quad]", _contents(files, None, progress))


def rows_in(
    files: Sequence[Path], *, size: int = _ROWS, progress: Progress | None = None
) -> Iterator[Quad | Row]:
    """Yield what `quads_in` does; of N-Triples of more bytes than `size` the texts of each triple.

    Most lines are read by their form only: what they hold is tried when the store is loaded.
    """
    for one in _contents(files, size, progress):
        if isinstance(one, Lines):
            yield from one.rows()
        else:
            yield one


def _contents(
    files: Sequence[Path], size: int | None, progress: Progress | None
) -> "Iterator[Quad | Lines]":
    """Yield the quads of files; if a `size` is given, lines of larger N-Triples are left so."""
    sizes = [file.stat().st_size for file in files]
    blanks = 0
    for number, file in enumerate(files):
        tell = partial(_tell, progress, sum(sizes[:number]), sum(sizes), file.name)
        names = _Blanks(blanks)
        if size and sizes[number] > size and _format(file) == RdfFormat.N_TRIPLES:
            for lines in _lines(file, tell, size):
                if lines.has_blanks():
                    yield from map(names.renamed, lines.quads())
                else:
                    yield lines
        else:
            yield from map(names.renamed, _quads(file, tell))
        blanks = names.last


_IRI = r'<[^<>\\"\x00-\x20]*>'
_ROW = re.compile(
    rf'({_IRI}) ({_IRI}) ({_IRI}|"[^"\\\x00-\x1f\x7f\ufffe\uffff]*"'
    rf"(?:@[a-z]+(?:-[a-z0-9]+)*|\^\^(?!<{v.XSD}string>){_IRI})?) \.\r?\n|(.*\n)"
)
"""A triple whose terms are written as they would be written again, or another line."""


@dataclass(frozen=True)
class Lines:
    """Whole lines of a file of N-Triples, and how many are before them."""

    text: bytes
    file: Path
    before: int

    def has_blanks(self) -> bool:
        """Return whether a blank node is in them, as far as can be told by what is before it."""
        at = self.text.find(b"_:")
        while at > 0 and self.text[at - 1] not in b" \t\r\n>":
            at = self.text.find(b"_:", at + 1)
        return at >= 0

    def quads(self) -> Iterator[Quad]:
        """Yield what they say."""
        with _explained(self.file, self.before):
            yield from parse(self.text, RdfFormat.N_TRIPLES)

    def rows(self) -> Iterator[Quad | Row]:
        """Yield the texts of their triples, as quads those that may be written otherwise."""
        with _explained(self.file, self.before):
            for subject, predicate, value, other in _ROW.findall(self.text.decode()):
                if not other:
                    yield subject, predicate, value
                    continue
                try:
                    yield from parse(other, RdfFormat.N_TRIPLES)
                except SyntaxError:
                    deque(self.quads(), 0)  # its error has the number of the line

    def load(self, store: Store) -> None:
        """Put what they say into a store."""
        with _explained(self.file, self.before):
            store.bulk_load(self.text, RdfFormat.N_TRIPLES)


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
        if isinstance(term, BlankNode):
            number = self._numbers.get(term.value)
            if number is None:
                self.last += 1
                number = self._numbers[term.value] = self.last
            return BlankNode(f"b{number}")
        return term


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
        and get_format_suffix(file) in FORMAT_BY_SUFFIX
        and not any(part.startswith(".") for part in file.relative_to(source).parts)
    )
    if not files:
        raise SetupError(f"the folder {str(source)!r} holds no RDF file ({_KNOWN})")
    return files


def _format(file: Path) -> RdfFormat:
    try:
        return FORMAT_BY_SUFFIX[get_format_suffix(file)]
    except KeyError:
        raise SetupError(
            f"{str(file)!r} has an unknown extension {get_format_suffix(file)!r}; known are "
            f"{_KNOWN}"
        ) from None


def _quads(file: Path, tell: Tell) -> Iterator[Quad]:
    with _explained(file), _opened(file, tell) as told:
        format = _format(file)
        if format == RdfFormat.RDF_XML and _TURTLE.match(told.start):
            format = RdfFormat.TURTLE
        if format in (RdfFormat.RDF_XML, RdfFormat.JSON_LD):
            with file.open("rb") as raw, _unpacked(file, raw) as again:
                check_document(str(file), format, iter(lambda: again.read(1 << 16), b""))
        yield from parse(told, format, base_iri=file.resolve().as_uri())  # type: ignore[arg-type]
    tell(file.stat().st_size)


def _lines(file: Path, tell: Tell, size: int) -> Iterator[Lines]:
    before, rest = 0, b""
    with _explained(file), _opened(file, tell) as told:
        while data := told.read(size):
            text, end, rest = (rest + data).rpartition(b"\n")
            yield Lines(text + end, file, before)
            before += text.count(b"\n") + len(end)
    if rest:
        yield Lines(rest + b"\n", file, before)
    tell(file.stat().st_size)


_TURTLE = re.compile(rb"\s*(@prefix|@base|PREFIX|BASE|#)")
_LONGEST = 300  # characters of a message
_PAGE = re.compile(rb"\s*<(!doctype\s+)?html\b", re.IGNORECASE)


@contextmanager
def _opened(file: Path, tell: Tell) -> Iterator["_Told"]:
    with file.open("rb") as raw, _unpacked(file, raw) as stream:
        told = _Told(stream, raw, tell)
        if _PAGE.match(told.start):
            raise SetupError(f"{file} is a web page, not RDF: save the data that it links to")
        yield told


@contextmanager
def _explained(file: Path, before: int = 0) -> Iterator[None]:
    """Raise as `SetupError` what is wrong with a file, or with its lines after some others."""
    try:
        yield
    except SyntaxError as problem:
        raise SetupError(f"{file}{_place(problem, before)}: {_message(problem)}") from problem
    except (zlib.error, EOFError, lzma.LZMAError, gzip.BadGzipFile) as problem:
        raise SetupError(f"{file} cannot be unpacked: {problem}") from problem
    except (OSError, ValueError) as problem:
        raise SetupError(f"{file} cannot be loaded: {problem}") from problem


def _unpacked(file: Path, raw: IO[bytes]) -> IO[bytes]:
    known: Mapping[str, Callable[[IO[bytes]], Any]] = {
        ".gz": lambda packed: gzip.GzipFile(fileobj=packed),
        ".bz2": bz2.BZ2File,
        ".xz": lzma.LZMAFile,
    }
    opened = known.get(file.suffix.lower())
    return opened(raw) if opened else raw


def _tell(progress: Progress | None, before: int, total: int, name: str, done: int) -> None:
    """Report to the caller how much of all files is done."""
    if progress:
        progress(before + done, total, name)


class _Told:
    """A stream that reports how far it was read, after each mebibyte."""

    def __init__(self, stream: IO[bytes], raw: IO[bytes], tell: Tell) -> None:
        self._stream, self._raw, self._tell = stream, raw, tell
        self._read = 0
        self.start = self._stream.read(4096).removeprefix(b"\xef\xbb\xbf")
        self._held = self.start

    def read(self, size: int) -> bytes:
        data, self._held = self._held[:size], self._held[size:]
        data += self._stream.read(size - len(data))
        self._read += len(data)
        if self._read >= 1 << 20:
            self._read = 0
            self._tell(self._raw.tell())
        return data


def _place(problem: SyntaxError, before: int) -> str:
    return f", line {before + problem.lineno}, column {problem.offset}" if problem.lineno else ""


def _message(problem: SyntaxError) -> str:
    said = re.sub(r"^Parser error at line [^:]*: ", "", str(problem.args[0]))
    return f"{said[:_LONGEST]} …" if len(said) > _LONGEST else said  # it may quote a whole file


if __name__ == "__main__":
    main()
