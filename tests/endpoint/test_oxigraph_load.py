"""What is read of files here is what a store that is loaded from them holds."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from pyoxigraph import Store
from tests.each import for_each

from askgraph.endpoint import oxigraph_load
from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.endpoint.oxigraph_load import read_quads, read_rows
from askgraph.errors import SetupError
from askgraph.graph.arrays import GraphArrays, build_arrays
from askgraph.workspace import Workspace

TURTLE = """
@prefix : <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a :knows _:b , [ :age "01"^^xsd:integer, 1, "+1.50"^^xsd:decimal ] .
_:b :age "1"^^xsd:int ; :said "1"@EN-gb , "\\u00e9\\n" , "x"^^xsd:string , "1E1"^^xsd:double .
:a :since "2020-02-30"^^xsd:date , "2020-02-03"^^xsd:date , "12:00:00.50Z"^^xsd:time .
"""
MORE = """
@prefix : <http://example.org/> .
:a :knows _:b . :a :knows :a . _:b :said "é\\n" . :g { :a :knows :a , :c . }
"""


def files_in(folder: Path) -> list[Path]:
    paths = [folder / "a.ttl", folder / "b.trig"]
    for path, text in zip(paths, (TURTLE, MORE), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def triples_of(arrays: GraphArrays) -> set[str]:
    text = arrays.terms.get_text
    return {
        f"{text(s)} <{arrays.get_predicate_iri(p)}> {text(o)}"
        for p in range(len(arrays.predicates))
        for s, o in zip(
            *map(np.ndarray.tolist, arrays.get_edges(arrays.get_ends(p), p)), strict=True
        )
    }


@pytest.mark.parametrize("beside", [0, 10**9])
def test_arrays_hold_the_very_terms_of_the_store(
    tmp_path: Path, beside: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oxigraph_load, "_MIN_BACKGROUND_BYTES", beside)
    files = files_in(tmp_path)
    with OxigraphEndpoint.load_in_background(files, tmp_path / "store"):
        arrays = build_arrays(read_quads(files), as_stored=True)
    stored = {str(quad.triple) for quad in Store.read_only(str(tmp_path / "store"))}
    assert triples_of(arrays) == stored
    assert len(arrays) == len(stored)
    assert [arrays.terms.get_text(at) for at in range(len(arrays.terms))] == sorted(
        {term for line in stored for term in line.split(" ", 2)}, key=str.encode
    )


@pytest.mark.parametrize("beside", [0, 10**9])
def test_a_bad_file_is_told_by_whoever_meets_it_first(
    tmp_path: Path, beside: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oxigraph_load, "_MIN_BACKGROUND_BYTES", beside)
    (tmp_path / "bad.nt").write_text("<http://x/a> <http://x/p> oops .\n")
    with (
        pytest.raises(SetupError, match=r"bad\.nt, line 1"),
        OxigraphEndpoint.load_in_background([tmp_path / "bad.nt"], tmp_path / "store"),
    ):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["bad.nt"]
    with pytest.raises(SetupError, match=r"bad\.nt, line 1"):
        Workspace(tmp_path / "workspace").add("bad", [tmp_path / "bad.nt"])
    assert not (tmp_path / "workspace" / "data" / "bad").exists()


LINES = r"""<http://x/a> <http://x/p> <http://x/b> .
<http://x/a> <http://x/p> "plain \u00e9" .
<http://x/a> <http://x/p> "\u0041 \"said\" \\" .
<http://x/a> <http://x/\u00e9> "x"^^<http://www.w3.org/2001/XMLSchema#string> .

# a comment
<http://x/a>	<http://x/p>   "x"@EN-gb.
<http://x/a> <http://x/p> "x"@en-gb . # another
<http://x/a> <http://x/p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://x/a_:b> <http://x/p> "not _: a node" .
_:b <http://x/p> <http://x/b> .
<http://x/b> <http://x/p>_:b .
_:b <http://x/p> "DEL " .
<http://x/b> <http://x/p> <http://x/c> .
<http://x/b> <http://x/q> "no line ends here" ."""


@for_each("size", [10, 100, 1000])
@for_each("suffix", [".nt", ".nt.gz"])
def test_lines_are_read_as_they_are_parsed_however_they_are_cut(
    tmp_path: Path, size: int, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oxigraph_load, "_MAX_STORE_BYTES", size)
    file = tmp_path / f"lines{suffix}"
    text = LINES.encode()
    file.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    rows = list(read_rows([file], size=size))
    told = [row if isinstance(row, tuple) else tuple(map(str, row.triple)) for row in rows]
    assert told == [tuple(map(str, quad.triple)) for quad in read_quads([file])]
    assert len(told) == 13
    OxigraphEndpoint.load([file], tmp_path / "store")
    stored = {str(quad.triple) for quad in Store.read_only(str(tmp_path / "store"))}
    assert triples_of(build_arrays(rows, as_stored=True)) == stored


@pytest.mark.parametrize("size", [10, 100, 10_000])
def test_a_bad_line_is_told_by_its_number_however_lines_are_cut(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oxigraph_load, "_MAX_STORE_BYTES", size)
    good = "<http://x/a> <http://x/p> <http://x/b> .\n"
    (tmp_path / "bad.nt").write_text(f"{9 * good}<http://x/a> oops .\n{good}")
    with pytest.raises(SetupError, match=r"bad\.nt, line 10, column"):
        list(read_rows([tmp_path / "bad.nt"], size=size))
    with pytest.raises(SetupError, match=r"bad\.nt, line 10, column"):
        OxigraphEndpoint.load([tmp_path / "bad.nt"], tmp_path / "store")


def test_a_failure_beside_the_loading_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oxigraph_load, "_MIN_BACKGROUND_BYTES", 0)
    with (
        pytest.raises(KeyError),
        OxigraphEndpoint.load_in_background(files_in(tmp_path), tmp_path / "store"),
    ):
        raise KeyError
    assert not (tmp_path / "store").exists()
