"""Uploaded files lie under the names that they came with, which say what the files are."""

import bz2
import contextlib
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import QueryError, SetupError
from askgraph.server.graphs.uploads import (
    ReceivedFile,
    check_files,
    find_uploads,
    get_upload_folder,
    remove_orphans,
    store_files,
)
from askgraph.server.hub import replace_dataset
from askgraph.server.problems import TooLarge
from askgraph.sparql.judge import check_query, list_datasets
from askgraph.workspace.settings import GraphSettings

TURTLE = b"@prefix e: <http://e.org/> . e:a e:p e:b .\n"
TRIPLE = b"# a comment\n<http://e.org/a> <http://e.org/p> <http://e.org/b> .\n"
QUAD = b'<http://e.org/a> <http://e.org/p> "x y"@en <http://e.org/g> .\n'
XML = b'\xef\xbb\xbf<?xml version="1.0"?><rdf:RDF/>'
JSON = b'  {"@id": "http://e.org/a", "http://e.org/p": "x"}'


def name_of(name: str, content: bytes, folder: Path) -> str:
    (path,) = store_files([ReceivedFile(name, io.BytesIO(content))], folder / "new")
    assert path.parent == folder / "new"
    assert path.read_bytes() == content
    return path.name


@pytest.mark.parametrize(
    ("name", "content", "kept"),
    [
        ("moons.ttl", TURTLE, "moons.ttl"),
        ("MOONS.TTL", TURTLE, "MOONS.ttl"),
        ("moons.txt", TURTLE, "moons-txt.ttl"),
        ("moons", TRIPLE, "moons.ttl"),
        ("moons", QUAD, "moons.nq"),
        ("", XML, "file.rdf"),
        ("", JSON, "file.jsonld"),
        ("moons.ttl", gzip.compress(TURTLE), "moons.ttl.gz"),
        ("moons.ttl.gz", TURTLE, "moons.ttl"),
        ("moons.gz", bz2.compress(QUAD), "moons.nq.bz2"),
        ("moons.zip", b"PK\x03\x04", "moons.zip"),
        ("moons.nt.xz", lzma.compress(TRIPLE), "moons.nt.xz"),
        ("../../etc/passwd.ttl", TURTLE, "passwd.ttl"),
        ("..\\..\\autoexec.ttl", TURTLE, "autoexec.ttl"),
        ("/etc/cron.d/x.ttl", TURTLE, "x.ttl"),
        ("..", TURTLE, "file.ttl"),
        ("a\x00b\n.ttl", TURTLE, "a-b.ttl"),
        ("Mönde & mehr.ttl", TURTLE, "Mönde-mehr.ttl"),
        ("x" * 500 + ".ttl", TURTLE, "x" * 60 + ".ttl"),
    ],
)
def test_a_file_is_named_for_what_it_is(
    tmp_path: Path, name: str, content: bytes, kept: str
) -> None:
    assert name_of(name, content, tmp_path) == kept


def test_files_of_several_uploads(tmp_path: Path) -> None:
    # Files of one name do not replace each other.
    twice = [ReceivedFile("a.ttl", io.BytesIO(TURTLE)), ReceivedFile("b/a.ttl", io.BytesIO(TRIPLE))]
    paths = store_files(twice, tmp_path / "new")
    assert [path.name for path in paths] == ["a.ttl", "02-a.ttl"]
    assert [path.read_bytes() for path in paths] == [TURTLE, TRIPLE]
    # Files of no graph go after a while.
    used, lost = get_upload_folder(tmp_path, "a"), get_upload_folder(tmp_path, "b")
    (path,) = store_files([ReceivedFile("a.ttl", io.BytesIO(TURTLE))], used)
    store_files([ReceivedFile("b.ttl", io.BytesIO(TURTLE))], lost)
    graph = GraphSettings(sources=(str(path),))
    assert find_uploads(tmp_path, graph) == used
    assert find_uploads(tmp_path, GraphSettings(sources=(str(tmp_path / "own.ttl"),))) is None
    remove_orphans(tmp_path, [graph], before=0.0)
    assert lost.is_dir()
    remove_orphans(tmp_path, [graph], jobs=["a", "c"])
    assert lost.is_dir()
    remove_orphans(tmp_path, [graph], before=2e9 * 2)
    assert (used.is_dir(), lost.is_dir()) == (True, False)
    # Files count together.
    files = [tmp_path / f"{at}.nt" for at in range(3)]
    for file in files:
        file.write_bytes(bytes(MB))
    with pytest.raises(TooLarge):
        check_files(files, max_bytes=3 * MB - 1)
    # What is cut off is said to be.
    broken = tmp_path / "a.ttl.gz"
    broken.write_bytes(gzip.compress(b"@prefix e: <http://e.org/> ." * 1000)[:-20])
    with pytest.raises(SetupError, match="cannot be unpacked"):
        check_files([broken], max_bytes=MB)


@pytest.mark.parametrize("content", [b"", b"hello", b"7z\xbc\xaf", b"\x1f\x8bno", b"a,b\n1,2\n"])
def test_what_is_no_rdf_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(SetupError):
        name_of("notes.txt", content, tmp_path)


MB = 2**20


def zip_packed(content: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("../b.nt.GZ", gzip.compress(content))
    return archive.getvalue()


@for_each(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zip", zip_packed)],
)
def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    bomb = tmp_path / f"01-bomb.nt{suffix}"
    bomb.write_bytes(pack(bytes(20 * MB)))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(TooLarge, match="larger than 10 MB"):
        check_files([bomb], max_bytes=10 * MB)
    check_files([bomb], max_bytes=20 * MB)


LAUGHS = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 10))


@for_each(
    "definitions",
    f'<!ENTITY a0 "ha">{LAUGHS}',
    f'<!ENTITY long "{"A" * 5000}">',
    '<!ENTITY file SYSTEM "file:///etc/passwd">',
    '<!ENTITY far PUBLIC "x" "http://127.0.0.1/">',
    '<!ENTITY % parameter "x">',
    "".join(f'<!ENTITY e{at} "x">' for at in range(2000)),
)
def test_entities_that_grow_or_reach_out_are_refused(tmp_path: Path, definitions: str) -> None:
    comment = f"<!--{'x' * 200_000}-->"  # definitions need not stand at the start
    file = tmp_path / "a.rdf"
    file.write_text(f"<?xml version='1.0'?>{comment}<!DOCTYPE r [{definitions}]><r/>")
    with pytest.raises(SetupError, match="entit"):
        check_files([file], max_bytes=MB)


@for_each(
    "text",
    '<!DOCTYPE r [<!ENTITY owl "http://w3.org/owl#"><!ENTITY x "a &amp; &#65;">]><r/>',
    "<r>&undefined;</r>",
    "<http://e.org/a> <http://e.org/p> <http://e.org/b> .",
    "no xml",
    "",
)
def test_other_files_pass(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.rdf"
    file.write_text(text)
    check_files([file], max_bytes=MB)


A, B = "http://example.org/a", "http://example.org/b"


@for_each(
    "query",
    "SELECT * WHERE { ?s ?p ?o }",
    "select*{?s ?p ?o}limit 3",
    "SELECT (COUNT(?s) AS ?n) ?p { ?s ?p ?o } GROUP BY ?p",
    "ASK { ?s ?p ?o }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o . { ?o ?p ?s } }",
    "CONSTRUCT WHERE { ?s ?p ?o }",
    "DESCRIBE <http://example.org/x>",
    "DESCRIBE <http://example.org/x> LIMIT 3",
    "DESCRIBE ?s { ?s ?p ?o }",
    f"SELECT * FROM <{B}/own> FROM NAMED <{B}/other> WHERE {{ ?s ?p ?o }}",
    f"# FROM <{B}>\nPREFIX from: <{B}> SELECT * {{ ?s from:FROM 'FROM' }}",
)
def test_the_dataset_of_a_query_is_the_one_given(query: str) -> None:
    text = replace_dataset(query, [A], [B])
    assert list_datasets(check_query(text).text) == (A, B)


def test_a_query_without_a_dataset_to_give_stays_as_it_is() -> None:
    query = f"SELECT * FROM <{B}> {{ ?s ?p ?o }}"
    assert replace_dataset(query, (), ()) == query


@for_each("iri", ["a b", "x", "", "http://x/> { } #", "http://x/>FROM<http://y"])
def test_what_is_no_iri_is_refused(iri: str) -> None:
    with pytest.raises(QueryError, match="is not an IRI of a graph"):
        replace_dataset("ASK { ?s ?p ?o }", [iri], ())


@given(st.text())
def test_any_text_is_either_refused_or_given_back(text: str) -> None:
    with contextlib.suppress(QueryError):
        assert f"FROM <{A}>" in replace_dataset(text, [A], ())
