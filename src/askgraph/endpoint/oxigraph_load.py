"""Loader of an Oxigraph store from RDF files: bulk, with bounded memory, all or nothing.

Big files are loaded by a separate process, `python -m askgraph.endpoint.oxigraph_load`, while their
triples are counted here. It reads its task as one line of JSON, writes the error message if it
fails, and ends as soon as its input does.
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

_KNOWN_EXTENSIONS = (
    f"{', '.join(FORMAT_BY_SUFFIX)}, each also with {', '.join(DECOMPRESSOR_BY_SUFFIX)}"
)
_MIN_BACKGROUND_BYTES = 16 * 2**20  # files from this size on are loaded in a separate process
_PIECE_SIZE = 250_000  # quads that the store sorts in memory at once, some hundred bytes each
_MAX_STORE_BYTES, _MAX_READER_BYTES = (
    32 * 2**20,
    4 * 2**20,
)  # bytes of N-Triples per batch

Progress = Callable[[int, int, str], None]
ReportBytes = Callable[[int], None]
Row = tuple[str, str, str]
"""A triple as the N-Triples texts of its terms."""


def load_store(
    sources: list[Path], path: Path, *, mark: str, progress: Progress | None = None
) -> int:
    """Build a store from files and folders, then move it to `path`; see `OxigraphEndpoint.load`.

    A file called `mark` in it means that its default graph is the union of all graphs.
    """
    files = [file for source in sources for file in _list_files(source)]
    if not files:
        raise SetupError("name at least one file to load")
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    try:
        store = Store(folder / "new")
        contents = _read_contents(files, _MAX_STORE_BYTES, progress)
        runs = groupby(contents, key=lambda item: isinstance(item, TripleLines))
        pieces = sum(_load_run(store, run) for _, run in runs)
        for graph in store.named_graphs():
            quads = store.quads_for_pattern(None, None, None, graph)
            store.bulk_extend(
                Quad(quad.subject, quad.predicate, quad.object, DefaultGraph()) for quad in quads
            )
        if pieces > 1:
            store.optimize()  # merge the pieces, which every query would have to search
        store.flush()
        del store  # closes the files
        (folder / "new" / mark).touch()
        if path.exists():
            path.rename(folder / "old")
        (folder / "new").rename(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return len(files)


def _load_run(store: Store, run: "Iterator[Quad | TripleLines]") -> int:
    """Load lines, or quads, into a store; return the number of pieces."""
    pieces = 0
    while piece := next(run, None):
        if isinstance(piece, TripleLines):
            piece.load(store)
        else:
            quads = cast("Iterator[Quad]", run)
            store.bulk_extend(chain((piece,), islice(quads, _PIECE_SIZE - 1)))
        pieces += 1
    return pieces


@contextmanager
def load_in_background(files: Sequence[Path], path: Path, *, mark: str) -> Iterator[None]:
    """Build a store from files in parallel with the block; it is complete when the block has ended.

    Raises:
        SetupError: a file is invalid.
        ServiceError: the process that loads big files dies.
    """
    if sum(file.stat().st_size for file in files) < _MIN_BACKGROUND_BYTES:
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
            message = process.stdout.read()
        except BaseException:
            process.kill()
            raise
        if message:
            raise SetupError(message)
    if not (path / mark).exists():
        raise ServiceError(f"the process that loads the store ended with {process.returncode}")


def main() -> None:
    """Load the files in the first line of the input."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_exit_with_input, daemon=True).start()
    try:
        files = [Path(file) for file in task["files"]]
        load_store(files, Path(task["path"]), mark=task["mark"])
    except SetupError as error:
        sys.stdout.write(str(error))


def _exit_with_input() -> None:
    while sys.stdin.read(4096):
        pass
    os._exit(0)


def read_quads(files: Sequence[Path], *, progress: Progress | None = None) -> Iterator[Quad]:
    """Yield the quads of RDF files, with the same blank node names each time.

    Raises:
        SetupError: a file is invalid; the message has file, line and column.
    """
    return cast("Iterator[Quad]", _read_contents(files, None, progress))


def read_rows(
    files: Sequence[Path], *, size: int = _MAX_READER_BYTES, progress: Progress | None = None
) -> Iterator[Quad | Row]:
    """Yield quads like `read_quads`, and rows of texts for N-Triples of more than `size` bytes.

    Most lines are only matched against a pattern: the store validates them when it loads them.
    """
    for item in _read_contents(files, size, progress):
        if isinstance(item, TripleLines):
            yield from item.parse_rows()
        else:
            yield item


def _read_contents(
    files: Sequence[Path], size: int | None, progress: Progress | None
) -> "Iterator[Quad | TripleLines]":
    """Yield the quads of files; with a `size`, larger N-Triples files are yielded as lines."""
    sizes = [file.stat().st_size for file in files]
    blank_count = 0
    for number, file in enumerate(files):
        report = partial(_report_progress, progress, sum(sizes[:number]), sum(sizes), file.name)
        renamer = _BlankNodeRenamer(blank_count)
        if size and sizes[number] > size and _detect_format(file) == RdfFormat.N_TRIPLES:
            for lines in _read_lines(file, report, size):
                if lines.has_blanks():
                    yield from map(renamer.rename_blanks, lines.parse_quads())
                else:
                    yield lines
        else:
            yield from map(renamer.rename_blanks, _read_quads(file, report))
        blank_count = renamer.last_number


_IRI_PATTERN = r'<[^<>\\"\x00-\x20]*>'
_ROW_PATTERN = re.compile(
    rf'({_IRI_PATTERN}) ({_IRI_PATTERN}) ({_IRI_PATTERN}|"[^"\\\x00-\x1f\x7f\ufffe\uffff]*"'
    rf"(?:@[a-z]+(?:-[a-z0-9]+)*|\^\^(?!<{v.XSD}string>){_IRI_PATTERN})?) \.\r?\n|(.*\n)"
)
"""A triple in canonical form, or any other line."""


@dataclass(frozen=True)
class TripleLines:
    """Complete lines of an N-Triples file, and the number of lines before them."""

    text: bytes
    file: Path
    line_offset: int

    def has_blanks(self) -> bool:
        """Return whether the lines may contain a blank node, judging by what precedes `_:`."""
        position = self.text.find(b"_:")
        while position > 0 and self.text[position - 1] not in b" \t\r\n>":
            position = self.text.find(b"_:", position + 1)
        return position >= 0

    def parse_quads(self) -> Iterator[Quad]:
        """Yield the quads of the lines."""
        with _translate_errors(self.file, self.line_offset):
            yield from parse(self.text, RdfFormat.N_TRIPLES)

    def parse_rows(self) -> Iterator[Quad | Row]:
        """Yield triples as texts, and as quads if their texts may not be canonical."""
        with _translate_errors(self.file, self.line_offset):
            for subject, predicate, value, other_line in _ROW_PATTERN.findall(self.text.decode()):
                if not other_line:
                    yield subject, predicate, value
                    continue
                try:
                    yield from parse(other_line, RdfFormat.N_TRIPLES)
                except SyntaxError:
                    deque(self.parse_quads(), 0)  # its error has the number of the line

    def load(self, store: Store) -> None:
        """Load the lines into a store."""
        with _translate_errors(self.file, self.line_offset):
            store.bulk_load(self.text, RdfFormat.N_TRIPLES)


_PLAIN_TERM_TYPES = frozenset({NamedNode, Literal, DefaultGraph})


class _BlankNodeRenamer:
    """Numbers the blank nodes of one file in order of appearance."""

    def __init__(self, last: int) -> None:
        self.last_number = last
        self._numbers: dict[str, int] = {}

    def rename_blanks(self, quad: Quad) -> Quad:
        """Return the quad with renamed blank nodes."""
        terms = (quad.subject, quad.object, quad.graph_name)
        if _PLAIN_TERM_TYPES.issuperset(map(type, terms)):
            return quad
        subject, value, graph = map(self._rename_term, terms)
        return Quad(subject, quad.predicate, value, graph)

    def _rename_term(self, term: Any) -> Any:
        if isinstance(term, Triple):
            return Triple(
                self._rename_term(term.subject), term.predicate, self._rename_term(term.object)
            )
        if isinstance(term, BlankNode):
            number = self._numbers.get(term.value)
            if number is None:
                self.last_number += 1
                number = self._numbers[term.value] = self.last_number
            return BlankNode(f"b{number}")
        return term


def _list_files(source: Path) -> list[Path]:
    if source.is_file():
        _detect_format(source)
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
        raise SetupError(f"the folder {str(source)!r} contains no RDF file ({_KNOWN_EXTENSIONS})")
    return files


def _detect_format(file: Path) -> RdfFormat:
    try:
        return FORMAT_BY_SUFFIX[get_format_suffix(file)]
    except KeyError:
        raise SetupError(
            f"{str(file)!r} has the unknown extension {get_format_suffix(file)!r}; "
            f"supported: {_KNOWN_EXTENSIONS}"
        ) from None


def _read_quads(file: Path, report: ReportBytes) -> Iterator[Quad]:
    with _translate_errors(file), _open_file(file, report) as stream:
        rdf_format = _detect_format(file)
        if rdf_format == RdfFormat.RDF_XML and _TURTLE_PATTERN.match(stream.start):
            rdf_format = RdfFormat.TURTLE
        if rdf_format in (RdfFormat.RDF_XML, RdfFormat.JSON_LD):
            with file.open("rb") as raw, _unpack(file, raw) as unpacked:
                check_document(str(file), rdf_format, iter(lambda: unpacked.read(1 << 16), b""))
        yield from parse(stream, rdf_format, base_iri=file.resolve().as_uri())  # type: ignore[arg-type]
    report(file.stat().st_size)


def _read_lines(file: Path, report: ReportBytes, size: int) -> Iterator[TripleLines]:
    line_count, tail = 0, b""
    with _translate_errors(file), _open_file(file, report) as stream:
        while data := stream.read(size):
            text, end, tail = (tail + data).rpartition(b"\n")
            yield TripleLines(text + end, file, line_count)
            line_count += text.count(b"\n") + len(end)
    if tail:
        yield TripleLines(tail + b"\n", file, line_count)
    report(file.stat().st_size)


_TURTLE_PATTERN = re.compile(rb"\s*(@prefix|@base|PREFIX|BASE|#)")
_MAX_MESSAGE_CHARACTERS = 300  # characters of a message
_HTML_PATTERN = re.compile(rb"\s*<(!doctype\s+)?html\b", re.IGNORECASE)


@contextmanager
def _open_file(file: Path, report: ReportBytes) -> Iterator["_ReportingStream"]:
    with file.open("rb") as raw, _unpack(file, raw) as stream:
        reporting_stream = _ReportingStream(stream, raw, report)
        if _HTML_PATTERN.match(reporting_stream.start):
            raise SetupError(f"{file} is a web page, not RDF: save the data that it links to")
        yield reporting_stream


@contextmanager
def _translate_errors(file: Path, line_offset: int = 0) -> Iterator[None]:
    """Raise errors of a file as `SetupError`; `line_offset` lines precede those that are parsed."""
    try:
        yield
    except SyntaxError as problem:
        raise SetupError(
            f"{file}{_format_position(problem, line_offset)}: {_format_message(problem)}"
        ) from problem
    except (zlib.error, EOFError, lzma.LZMAError, gzip.BadGzipFile) as problem:
        raise SetupError(f"{file} cannot be unpacked: {problem}") from problem
    except (OSError, ValueError) as problem:
        raise SetupError(f"{file} cannot be loaded: {problem}") from problem


def _unpack(file: Path, raw: IO[bytes]) -> IO[bytes]:
    openers: Mapping[str, Callable[[IO[bytes]], Any]] = {
        ".gz": lambda packed: gzip.GzipFile(fileobj=packed),
        ".bz2": bz2.BZ2File,
        ".xz": lzma.LZMAFile,
    }
    opener = openers.get(file.suffix.lower())
    return opener(raw) if opener else raw


def _report_progress(
    progress: Progress | None, previous_bytes: int, total: int, name: str, file_bytes: int
) -> None:
    """Report to the caller how much of all files is done."""
    if progress:
        progress(previous_bytes + file_bytes, total, name)


class _ReportingStream:
    """A stream that reports its position after each mebibyte."""

    def __init__(self, stream: IO[bytes], raw: IO[bytes], report: ReportBytes) -> None:
        self._stream, self._raw, self._report = stream, raw, report
        self._unreported_bytes = 0
        self.start = self._stream.read(4096).removeprefix(b"\xef\xbb\xbf")
        self._pushed_back = self.start

    def read(self, size: int) -> bytes:
        data, self._pushed_back = self._pushed_back[:size], self._pushed_back[size:]
        data += self._stream.read(size - len(data))
        self._unreported_bytes += len(data)
        if self._unreported_bytes >= 1 << 20:
            self._unreported_bytes = 0
            self._report(self._raw.tell())
        return data


def _format_position(problem: SyntaxError, line_offset: int) -> str:
    return (
        f", line {line_offset + problem.lineno}, column {problem.offset}" if problem.lineno else ""
    )


def _format_message(problem: SyntaxError) -> str:
    text = re.sub(r"^Parser error at line [^:]*: ", "", str(problem.args[0]))
    return (
        f"{text[:_MAX_MESSAGE_CHARACTERS]} …" if len(text) > _MAX_MESSAGE_CHARACTERS else text
    )  # the message may quote a whole file


if __name__ == "__main__":
    main()
