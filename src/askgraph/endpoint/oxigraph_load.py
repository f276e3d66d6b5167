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
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from askgraph.sparql import file_conversion, rdf_files
from askgraph.sparql import vocabulary as v

_PACKED_SUFFIXES = ", ".join((*rdf_files.DECOMPRESSOR_BY_SUFFIX, ".zip"))
_KNOWN_EXTENSIONS = f"{', '.join(rdf_files.READABLE_SUFFIXES)}, each also with {_PACKED_SUFFIXES}"
_MIN_BACKGROUND_BYTES = 16 * 2**20  # files from this size on are loaded in a separate process
_PIECE_SIZE = 250_000  # quads that the store sorts in memory at once, some hundred bytes each
_MAX_STORE_BYTES, _MAX_READER_BYTES = (32 * 2**20, 4 * 2**20)  # bytes of N-Triples per batch

Progress = Callable[[int, int, str], None]
ReportBytes = Callable[[int], None]
Row = tuple[str, str, str]
"""A triple as the N-Triples texts of its terms."""


@dataclass(frozen=True)
class FileOptions:
    """How files are read, and what was odd in them.

    Attributes:
        strict: refuse invalid IRIs and language tags, which are mended otherwise.
        contexts: a folder with JSON-LD contexts besides those in the package.
        odd: odd statements by document and line; filled while reading.
    """

    strict: bool = False
    contexts: Path | None = None
    odd: dict[tuple[str, int], file_conversion.OddStatements] = field(default_factory=dict)

    def count_odd(self, document: "SourceDocument", line: int = 0) -> file_conversion.OddStatements:
        """Return a new counter for the part of a document from a line on."""
        return self.odd.setdefault((document.name, line), file_conversion.OddStatements())

    def describe_odd(self) -> tuple[str, ...]:
        """Return a sentence each on the mended and on the omitted statements."""
        mended, left_out = (
            sum(getattr(odd, kind) for odd in self.odd.values()) for kind in ("mended", "left_out")
        )
        example = next((odd.example for odd in self.odd.values() if odd.example), "")
        sentences = {
            f"{mended:,} statements with invalid IRIs or language tags were mended, such as "
            f"{example}; --strict refuses such files": mended,
            f"{left_out:,} statements that RDF cannot hold: rules, keys without a context, or "
            "IRIs that cannot be mended": left_out,
        }
        return tuple(sentence for sentence, count in sentences.items() if count)


_DEFAULT_OPTIONS = FileOptions()


def load_store(
    sources: list[Path],
    path: Path,
    *,
    mark: str,
    progress: Progress | None = None,
    options: FileOptions | None = None,
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
        contents = _read_contents(files, _MAX_STORE_BYTES, progress, options)
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
            store.bulk_extend(chain((piece,), islice(cast("Iterator[Quad]", run), _PIECE_SIZE - 1)))
        pieces += 1
    return pieces


@contextmanager
def load_in_background(
    files: Sequence[Path], path: Path, *, mark: str, options: FileOptions | None = None
) -> Iterator[None]:
    """Build a store from files in parallel with the block; it is complete when the block has ended.

    Raises:
        SetupError: a file is invalid.
        ServiceError: the process that loads big files dies.
    """
    if sum(file.stat().st_size for file in files) < _MIN_BACKGROUND_BYTES:
        load_store(list(files), path, mark=mark, options=options)
        yield
        return
    command = [sys.executable, "-m", "askgraph.endpoint.oxigraph_load"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            task: dict[str, object] = {"path": str(path), "mark": mark}
            task["files"] = [str(file) for file in files]
            if options:
                contexts = str(options.contexts) if options.contexts else None
                task |= {"strict": options.strict, "contexts": contexts}
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
        contexts = Path(task["contexts"]) if task.get("contexts") else None
        options = FileOptions(task.get("strict", False), contexts)
        load_store(files, Path(task["path"]), mark=task["mark"], options=options)
    except SetupError as error:
        sys.stdout.write(str(error))


def _exit_with_input() -> None:
    while sys.stdin.read(4096):
        pass
    os._exit(0)


def read_quads(
    files: Sequence[Path], *, progress: Progress | None = None, options: FileOptions | None = None
) -> Iterator[Quad]:
    """Yield the quads of RDF files; raise `SetupError` with file, line and column of a fault."""
    return cast("Iterator[Quad]", _read_contents(files, None, progress, options))


def read_rows(
    files: Sequence[Path],
    *,
    size: int = _MAX_READER_BYTES,
    progress: Progress | None = None,
    options: FileOptions | None = None,
) -> Iterator[Quad | Row]:
    """Yield quads like `read_quads`, and rows of texts for N-Triples of more than `size` bytes."""
    # Most lines are only matched against a pattern: the store validates them when it loads them.
    for item in _read_contents(files, size, progress, options):
        if isinstance(item, TripleLines):
            yield from item.parse_rows()
        else:
            yield item


@dataclass(frozen=True)
class SourceDocument:
    """A file, or a member of a zip file."""

    file: Path
    member: str = ""

    @property
    def name(self) -> str:
        """The path for messages."""
        return f"{self.file}: {self.member}" if self.member else str(self.file)

    @property
    def suffix(self) -> str:
        """The suffix for the format."""
        return rdf_files.get_format_suffix(Path(self.member) if self.member else self.file)


def _list_documents(file: Path) -> Iterator[SourceDocument]:
    """Yield a file, or the readable members of a zip file."""
    if file.suffix.lower() != ".zip":
        yield SourceDocument(file)
        return
    with _translate_errors(SourceDocument(file)), zipfile.ZipFile(file) as archive:
        members = sorted(name for name in archive.namelist() if not name.startswith("__MACOSX/"))
    documents = [SourceDocument(file, member) for member in members]
    readable = [
        document for document in documents if document.suffix in rdf_files.READABLE_SUFFIXES
    ]
    if not readable:
        advice = next(
            filter(None, map(file_conversion.find_advice, members)), "there is no RDF file in it"
        )
        raise SetupError(f"{file} cannot be loaded: {advice} ({_KNOWN_EXTENSIONS})")
    yield from readable


def _read_contents(
    files: Sequence[Path], size: int | None, progress: Progress | None, options: FileOptions | None
) -> "Iterator[Quad | TripleLines]":
    """Yield the quads of files; with a `size`, larger N-Triples files are yielded as lines."""
    options = options or FileOptions()
    options.odd.clear()
    sizes = [file.stat().st_size for file in files]
    documents = [
        (at, document) for at, file in enumerate(files) for document in _list_documents(file)
    ]
    tables = {
        document: _read_table(document)
        for _, document in documents
        if document.suffix in rdf_files.TABLE_SUFFIXES
    }
    blank_count = 0
    for number, document in documents:
        report = partial(
            _report_progress, progress, sum(sizes[:number]), sum(sizes), document.file.name
        )
        if table := tables.get(document):
            yield from table.build_quads(list(tables.values()))
            report(sizes[number])
            continue
        renamer = _BlankNodeRenamer(blank_count)
        if size and sizes[number] > size and _detect_format(document) == RdfFormat.N_TRIPLES:
            for lines in _read_lines(document, report, size, options):
                if lines.has_blanks():
                    yield from map(renamer.rename_blanks, lines.parse_quads())
                else:
                    yield lines
        else:
            for lenient in (False, True):
                done, renamer = renamer.done, _BlankNodeRenamer(blank_count)
                with _translate_errors(document):
                    try:
                        quads = _read_quads(document, report, options, lenient=lenient)
                        yield from islice(map(renamer.rename_blanks, quads), done, None)
                        break
                    except SyntaxError:
                        if lenient or options.strict:
                            raise
            if not renamer.done and _detect_format(document) == RdfFormat.JSON_LD:
                raise SetupError(
                    f"{document.name} holds no statements: JSON needs an '@context' that says "
                    "what its keys mean; add one, or save the data as CSV"
                )
        blank_count = renamer.last_number


_IRI_CHARACTER = r'[^<>\\"{}|^`%#\[\]\x00-\x20\x7f-\x9f\ue000-\uf8ff\ufff0-\uffff]'
_IRI_PART = rf"{_IRI_CHARACTER}*(?:%[0-9A-Fa-f]{{2}}{_IRI_CHARACTER}*)*"
_IRI_PATTERN = (
    r"<[A-Za-z][A-Za-z0-9+.-]*:(?://[A-Za-z0-9._~-]*(?::[0-9]*)?(?=[/?#>])|(?!//))"
    rf"{_IRI_PART}(?:#{_IRI_PART})?>"
)
_ROW_PATTERN = re.compile(
    rf'({_IRI_PATTERN}) ({_IRI_PATTERN}) ({_IRI_PATTERN}|"[^"\\\x00-\x1f\x7f\ufffe\uffff]*"'
    rf"(?:@[a-z]{{1,8}}(?:-[a-z0-9]{{1,8}})*|\^\^(?!<{v.XSD}string>){_IRI_PATTERN})?)"
    r" \.\r?\n|(.*\n)"
)
"""A triple in canonical form, or any other line."""


@dataclass(frozen=True)
class TripleLines:
    """Complete lines of an N-Triples document, and the number of lines before them."""

    text: bytes
    document: SourceDocument
    line_offset: int
    options: FileOptions = _DEFAULT_OPTIONS

    def has_blanks(self) -> bool:
        """Return whether the lines may contain a blank node, judging by what precedes `_:`."""
        position = self.text.find(b"_:")
        while position > 0 and self.text[position - 1] not in b" \t\r\n>":
            position = self.text.find(b"_:", position + 1)
        return position >= 0

    def parse_quads(self) -> Iterator[Quad]:
        """Yield the quads of the lines."""
        with _translate_errors(self.document, self.line_offset):
            yield from self._parse_text(self.text)

    def parse_rows(self) -> Iterator[Quad | Row]:
        """Yield triples as texts, and as quads if their texts may not be canonical."""
        with _translate_errors(self.document, self.line_offset):
            for subject, predicate, value, other_line in _ROW_PATTERN.findall(self.text.decode()):
                if not other_line:
                    yield subject, predicate, value
                    continue
                try:
                    yield from self._parse_text(other_line.encode())
                except SyntaxError:
                    deque(self.parse_quads(), 0)  # its error has the number of the line

    def load(self, store: Store) -> None:
        """Load the lines into a store."""
        with _translate_errors(self.document, self.line_offset):
            try:
                store.bulk_load(self.text, RdfFormat.N_TRIPLES)
            except SyntaxError:
                store.bulk_extend(self._parse_text(self.text))

    def _parse_text(self, text: bytes) -> Iterator[Quad]:
        """Yield the quads of lines; unless strict, those with a fault are mended."""
        try:
            quads = list(parse(text, RdfFormat.N_TRIPLES))
        except SyntaxError:
            if self.options.strict:
                raise
            odd = self.options.count_odd(self.document, self.line_offset)
            yield from file_conversion.mend_quads(
                parse(text, RdfFormat.N_TRIPLES, lenient=True), odd
            )
        else:
            yield from quads


_PLAIN_TERM_TYPES = frozenset({NamedNode, Literal, DefaultGraph})


class _BlankNodeRenamer:
    """Numbers the blank nodes of one file in order of appearance."""

    def __init__(self, last: int) -> None:
        self.last_number = last
        self.done = 0
        self._numbers: dict[str, int] = {}

    def rename_blanks(self, quad: Quad) -> Quad:
        """Return the quad with renamed blank nodes; `done` counts these calls."""
        self.done += 1
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
        if (
            source.suffix.lower() != ".zip"
            and rdf_files.get_format_suffix(source) not in rdf_files.TABLE_SUFFIXES
        ):
            _detect_format(SourceDocument(source))
        return [source]
    if not source.is_dir():
        raise SetupError(f"{str(source)!r} does not exist")
    files = sorted(
        file
        for file in source.rglob("*")
        if file.is_file()
        and rdf_files.get_format_suffix(file) in rdf_files.READABLE_SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(source).parts)
    )
    if not files:
        raise SetupError(f"the folder {str(source)!r} contains no RDF file ({_KNOWN_EXTENSIONS})")
    return files


def _detect_format(document: SourceDocument) -> RdfFormat:
    try:
        return rdf_files.FORMAT_BY_SUFFIX[document.suffix]
    except KeyError:
        raise SetupError(
            f"{document.name!r} has the unknown extension {document.suffix!r}; "
            f"supported: {_KNOWN_EXTENSIONS}"
        ) from None


def _read_table(document: SourceDocument) -> file_conversion.Table:
    with _translate_errors(document), _open_document(document, lambda _: None) as stream:
        content = b"".join(iter(lambda: stream.read(1 << 20), b""))
        return file_conversion.Table(document.member or str(document.file), content)


def _read_quads(
    document: SourceDocument, report: ReportBytes, options: FileOptions, *, lenient: bool
) -> Iterator[Quad]:
    """Yield the quads of a document; the lenient way mends them, and reads contexts of JSON-LD."""
    with _open_document(document, report) as stream:
        rdf_format = _detect_format(document)
        if rdf_format == RdfFormat.RDF_XML and _TURTLE_PATTERN.match(stream.start):
            rdf_format = RdfFormat.TURTLE
        if advice := file_conversion.find_advice(document.name, stream.start):
            raise SetupError(advice)
        if rdf_format in (RdfFormat.RDF_XML, RdfFormat.JSON_LD):
            with document.file.open("rb") as raw, _unpack(document, raw) as unpacked:
                rdf_files.check_document(
                    document.name, rdf_format, iter(lambda: unpacked.read(1 << 16), b"")
                )
        content: Any = stream
        odd = options.count_odd(document)
        odd.mended = odd.left_out = 0
        is_json = rdf_format == RdfFormat.JSON_LD
        if is_json and lenient:
            text = b"".join(iter(lambda: stream.read(1 << 20), b""))
            content = file_conversion.inline_contexts(document.name, text, options.contexts)
        base = document.file.resolve().as_uri()
        quads: Iterator[Quad] = parse(
            content, rdf_format, base_iri=base, lenient=lenient or is_json
        )
        if rdf_format == RdfFormat.N3:
            quads = file_conversion.skip_rules(quads, odd)
        yield from file_conversion.mend_quads(quads, odd) if lenient or is_json else quads
        if options.strict and (odd.mended or (odd.left_out and not is_json)):
            raise SetupError(f"{document.name}: {'; '.join(options.describe_odd())}")
    report(document.file.stat().st_size)


def _read_lines(
    document: SourceDocument, report: ReportBytes, size: int, options: FileOptions
) -> Iterator[TripleLines]:
    line_count, tail = 0, b""
    with _translate_errors(document), _open_document(document, report) as stream:
        while data := stream.read(size):
            text, end, tail = (tail + data).rpartition(b"\n")
            yield TripleLines(text + end, document, line_count, options)
            line_count += text.count(b"\n") + len(end)
    if tail:
        yield TripleLines(tail + b"\n", document, line_count, options)
    report(document.file.stat().st_size)


_TURTLE_PATTERN = re.compile(rb"\s*(@prefix|@base|PREFIX|BASE|#)")
_MAX_MESSAGE_CHARACTERS = 300  # characters of a message
_HTML_PATTERN = re.compile(rb"\s*<(!doctype\s+)?html\b", re.IGNORECASE)


@contextmanager
def _open_document(document: SourceDocument, report: ReportBytes) -> Iterator["_ReportingStream"]:
    with document.file.open("rb") as raw, _unpack(document, raw) as stream:
        reporting_stream = _ReportingStream(stream, raw, report)
        if _HTML_PATTERN.match(reporting_stream.start):
            raise SetupError(
                f"{document.name} is a web page, not RDF: save the data that it links to"
            )
        yield reporting_stream


_UNPACK_ERRORS = (
    zlib.error,
    EOFError,
    lzma.LZMAError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    NotImplementedError,  # a method of compression that zipfile lacks
)


@contextmanager
def _translate_errors(document: SourceDocument, line_offset: int = 0) -> Iterator[None]:
    """Raise errors of a file as `SetupError`; `line_offset` lines precede those that are parsed."""
    try:
        yield
    except SyntaxError as problem:
        line, column = problem.lineno, problem.offset
        position = f", line {line_offset + line}, column {column}" if line else ""
        raise SetupError(f"{document.name}{position}: {_format_message(problem)}") from problem
    except _UNPACK_ERRORS as problem:
        raise SetupError(f"{document.name} cannot be unpacked: {problem}") from problem
    except (OSError, ValueError) as problem:
        raise SetupError(f"{document.name} cannot be loaded: {problem}") from problem


def _unpack(document: SourceDocument, raw: IO[bytes]) -> IO[bytes]:
    openers: Mapping[str, Callable[[IO[bytes]], Any]] = {
        ".gz": lambda packed: gzip.GzipFile(fileobj=packed),
        ".bz2": bz2.BZ2File,
        ".xz": lzma.LZMAFile,
    }
    if document.member:
        archive = zipfile.ZipFile(raw)
        if archive.getinfo(document.member).flag_bits & 1:
            raise SetupError(f"{document.name} is encrypted: unpack it, and add the files in it")
        raw = archive.open(document.member)
    opener = openers.get(Path(document.member or document.file).suffix.lower())
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


def _format_message(problem: SyntaxError) -> str:
    text = re.sub(r"^Parser error at line [^:]*: ", "", str(problem.args[0]))
    text = re.sub(r"Unexpected end$", "the file ends within a statement; is it complete?", text)
    text = re.sub(r"^Invalid IRI.*", r"\g<0>; without --strict such statements are mended", text)
    # The message may quote a whole file.
    return f"{text[:_MAX_MESSAGE_CHARACTERS]} …" if len(text) > _MAX_MESSAGE_CHARACTERS else text


if __name__ == "__main__":
    main()
