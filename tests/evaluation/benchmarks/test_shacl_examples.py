"""SHACL examples in files, folders, archives and endpoints."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.endpoint.oxigraph import OxigraphEndpoint
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.benchmarks.text_records import ShaclExamples

HEAD = """
prefix : <http://example.org/> prefix sh: <http://www.w3.org/ns/shacl#>
prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> prefix schema: <https://schema.org/>
prefix spex: <https://purl.expasy.org/sparql-examples/ontology#>
"""
PREFIXES = (
    HEAD + '_:shared sh:declare [ sh:prefix "ex" ; sh:namespace <http://example.org/shared/> ] .'
)
OWN = HEAD + '_:shared sh:declare [ sh:prefix "ex" ; sh:namespace "http://example.org/own/" ] .'


def example(name: str, more: str = "", *, query: str = "SELECT ?m { ?m ex:orbits ex:Mars }") -> str:
    return f"""{HEAD} :{name} a sh:SPARQLExecutable ; rdfs:comment "Moons of Mars"@en ;
        sh:prefixes _:shared ; sh:select "{query}" {more} ."""


FILES = {
    "all/prefixes.ttl": PREFIXES,
    "all/planets/1.ttl": example("a"),
    "all/moons/prefixes.ttl": OWN,
    "all/moons/2.ttl": example("b"),
    "all/moons/3.ttl": "oops",
    "all/.git/4.ttl": "oops",
    "all/README.md": "not an example",
}


def folder(at: Path) -> Path:
    for name, text in FILES.items():
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(text)
    return at / "all"


def tar(at: Path) -> Path:
    with tarfile.open(at / "all.tar.gz", "w:gz") as archive:
        for name, text in FILES.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return at / "all.tar.gz"


def zipped(at: Path) -> Path:
    with zipfile.ZipFile(at / "all.zip", "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return at / "all.zip"


@for_each("made", [folder, tar, zipped])
def test_a_collection_shares_prefixes_from_above(tmp_path: Path, made: object) -> None:
    assert callable(made)

    name, contents = read_benchmark(made(tmp_path))

    assert name == "shacl_examples"
    own, shared = contents.questions
    assert str(own.sparql).startswith("PREFIX ex: <http://example.org/own/>\nSELECT")
    assert str(shared.sparql).startswith("PREFIX ex: <http://example.org/shared/>\nSELECT")
    (broken,) = contents.unreadable
    assert broken.location.endswith("moons/3.ttl") and "line 1" in broken.reason


def test_collections_of_examples(tmp_path: Path) -> None:
    # One file of a collection knows the prefixes above.
    (question,) = ShaclExamples().read(folder(tmp_path) / "planets" / "1.ttl").questions
    assert str(question.sparql).startswith("PREFIX ex: <http://example.org/shared/>\n")
    # A broken archive is a setup error.
    (tmp_path / "all.zip").write_bytes(b"PK")
    with pytest.raises(SetupError, match=r"cannot read the archive .*all\.zip"):
        read_benchmark(tmp_path / "all.zip")
    whole = tar(tmp_path)
    whole.write_bytes(whole.read_bytes()[:80])
    with pytest.raises(SetupError, match=r"cannot read the archive .*all\.tar\.gz"):
        read_benchmark(whole)
    # Html in a comment is undone and other brackets are kept.
    comment = "Select <reaction> of <a href='http://e.org/'>P1</a>,\\n <em>all</em> with x &lt; 2"
    (question,) = read(tmp_path, example("a").replace("Moons of Mars", comment)).questions
    assert question.text == "Select <reaction> of P1, all with x < 2"
    # Keywords target and federation.
    more = """; schema:keywords "b", "a" ; spex:federatesWith <http://other.org/sparql> ;
        schema:target <http://one.org/sparql>, <http://two.org/sparql>"""
    contents = read(tmp_path, example("a", more))
    (question,) = contents.questions
    assert question.tags == ("b", "a", "federated")
    assert question.graph == contents.graph == "http://one.org/sparql"
    # A text without a language may be in any.
    (tmp_path / "examples.ttl").write_text(example("a").replace("@en", ""))
    (question,) = ShaclExamples().read(tmp_path / "examples.ttl", language="fr").questions
    assert question.language is None


def read(at: Path, text: str) -> BenchmarkContents:
    (at / "examples.ttl").write_text(text)
    return ShaclExamples().read(at / "examples.ttl")


@for_each(
    ("statement", "reason"),
    ('sh:construct "CONSTRUCT {} {}"', "a CONSTRUCT query returns triples"),
    ('spex:describe "DESCRIBE <x>"', "a DESCRIBE query returns triples"),
    ('sh:describe "DESCRIBE <x>"', "a DESCRIBE query returns triples"),
    ('sh:select "DESCRIBE <x>"', "a DESCRIBE query returns triples"),
    ('rdfs:label "nothing"', "neither sh:select nor sh:ask"),
)
def test_what_has_no_rows_is_listed(tmp_path: Path, statement: str, reason: str) -> None:
    text = f'{HEAD} :q a sh:SPARQLExecutable ; rdfs:comment "What?" ; {statement} .'
    contents = read(tmp_path, text)
    assert not contents.questions and contents.unreadable[0].reason.startswith(reason)
    assert contents.unreadable[0].location.endswith("examples.ttl, <http://example.org/q>")


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A graph with two examples and other statements."""
    data = tmp_path / "data.ttl"
    other = example("b", query="SELECT ?x { ?x a ex:Moon }")
    data.write_text(f"{PREFIXES} {example('a')} {other} :Mars :orbits :Sun .")
    OxigraphEndpoint.load([data], tmp_path / "store")
    return tmp_path / "store"


async def test_examples_of_an_endpoint(published: Path) -> None:
    # An endpoint is asked for the examples that it publishes.
    endpoint = OxigraphEndpoint(published)
    try:
        contents = await ShaclExamples().read_endpoint(endpoint)
    finally:
        await endpoint.close()
    assert {question.id for question in contents.questions} == {
        "http://example.org/a",
        "http://example.org/b",
    }
    assert not contents.unreadable
    for question in contents.questions:
        assert str(question.sparql).startswith("PREFIX ex: <http://example.org/shared/>\n")
    # Examples that an endpoint cuts off are listed.
    endpoint = OxigraphEndpoint(published, max_rows=3)
    try:
        contents = await ShaclExamples().read_endpoint(endpoint)
    finally:
        await endpoint.close()
    assert contents.unreadable[-1].location == endpoint.address
    assert contents.unreadable[-1].reason.startswith("more examples may exist: ")
