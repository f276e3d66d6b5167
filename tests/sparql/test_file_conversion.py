"""Files in the shapes of public ones: each is added, or a sentence says how to make it so."""

import bz2
import gzip
import io
import lzma
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pyoxigraph import Store
from tests.cli.running import cli
from tests.each import for_each

from askgraph.errors import ServiceError, SetupError
from askgraph.workspace import Workspace

S = b"<http://x.test/s> <http://x.test/p> "
TTL = b'@prefix x: <http://x.test/> .\nx:s x:p "a"@en , 1 .\n'
XML = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.test/">'
    b'<rdf:Description rdf:about="http://x.test/%s"><x:p xml:lang="%s">a</x:p></rdf:Description>'
    b"</rdf:RDF>"
)
OWL = XML.replace(
    b"><rdf:D", b' xmlns:o="http://www.w3.org/2002/07/owl#"><o:Ontology rdf:about=""/><rdf:D'
)
OWX = b'<?xml version="1.0"?><Ontology xmlns="http://www.w3.org/2002/07/owl#"></Ontology>'
SHOP = b'{"@context":%s,"@id":"http://x.test/s","name":"Tea","url":"http://x.test/u"}'
N3 = TTL + b"{ ?a x:p ?b } => { ?b x:q ?a } .\nx:s x:q x:o ."
NT = S + b'"a" .\n' + S + b"<http://x.test/a b> .\n" + S + b'"c"@zh-classical .\n'


def pack(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return buffer.getvalue()


FILES = (  # name, content, triples or what is said
    ("a.ttl", TTL, 2),
    ("b.ttl", b"\xef\xbb\xbf" + TTL, 2),
    ("c.ttl", TTL + b"x:s x:p <http://x.test/{a}>, <http://x.test/%>, <http://x.test/#b#c> .", 5),
    ("d.ttl", TTL + b"x:s x:p .", "d.ttl, line 3"),
    ("e.ttl.gz", gzip.compress(TTL), 2),
    ("f.nt", NT, 3),
    ("g.nt.bz2", bz2.compress(NT), 3),
    ("h.nq", S + b'"a" <http://x.test/g g> .\n', 1),
    ("i.nq.xz", lzma.compress(S + b'"a" <http://x.test/g> .\n'), 1),
    ("j.trig", b"GRAPH <http://x.test/g> {" + S + b'"a"@de-deutschland }', 1),
    ("k.rdf", XML % (b"s", b"en"), 1),
    ("l.owl", XML % (b"a b", b"en_GB_english"), 1),
    ("la.rdf", b'<!DOCTYPE x [<!ENTITY a "b">]>' + OWL % (b"s", b"en"), 2),
    ("m.owl", OWX, "save it as RDF/XML or Turtle"),
    ("n.owx", OWX, "save it as RDF/XML or Turtle"),
    ("o.owl", b"Prefix(:=<http://x.test/>)\nOntology(<http://x.test/>)", "save it as RDF/XML"),
    ("p.n3", N3, 3),
    ("q.hdt", b"$HDT\x01", "write it as N-Triples"),
    ("r.jsonld", SHOP % b'"https://schema.org/"', 2),
    ("s.jsonld", SHOP % b'["http://xmlns.com/foaf/context.jsonld", {"x":"http://x.test/"}]', 2),
    ("t.jsonld", SHOP % b'"https://x.test/terms/v1"', "download that address as v1.jsonld"),
    ("u.json", b'{"name": "Tea"}', "add one, or save the data as CSV"),
    ("v.csv", b"\xef\xbb\xbfid;name;born\r\n1;Ada;1990-01-02\r\n2;Cy;\r\n", 13),
    ("w.tsv", b"name\tsize\nTea\t1.5\n", 7),
    ("x.csv", b"name,size\n", "add a line of column names"),
    ("y.zip", pack(a_ttl=TTL, b_nt=S + b'"b" .', readme_txt=b"hello"), 3),
    ("z.zip", pack(readme_txt=b"hello"), "there is no RDF file in it"),
    ("za.xlsx", pack(a_xml=b"<a/>"), "save each sheet as CSV"),
    ("zb.tar.gz", gzip.compress(b"tar"), "unpack it into a folder"),
    ("zc.ttl.gz", gzip.compress(TTL)[:20], "cannot be unpacked"),
    ("zd.ttl", b"<!DOCTYPE html><html></html>", "save the data that it links to"),
)


@for_each("name, content, expected", FILES)
def test_files_as_they_are_in_the_wild(
    name: str, content: bytes, expected: int | str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    workspace = Workspace(tmp_path / "workspace")
    if isinstance(expected, int):
        assert workspace.add("g", [tmp_path / name]).triples == expected
        store = Store.read_only(str(workspace.get_data_folder("g") / "store"))
        assert len({quad.triple for quad in store}) == expected
        return
    with pytest.raises(SetupError) as refused:
        workspace.add("g", [tmp_path / name])
    assert expected in str(refused.value) and name in str(refused.value)
    assert workspace.graphs() == {}
    assert [path for path in (tmp_path / "workspace").rglob("*") if path.is_file()] == [
        path for path in (tmp_path / "workspace").rglob(".lock*") if path.is_file()
    ]


def test_odd_statements_are_counted_the_same_in_big_files_and_refused_if_strict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.nt").write_bytes(NT + S + b"<http://x.test:port/> .\n")
    for size in (2**20, 1):  # read as a whole, and by lines
        monkeypatch.setattr("askgraph.endpoint.oxigraph_load._MAX_STORE_BYTES", size)
        monkeypatch.setattr("askgraph.endpoint.oxigraph_load.read_rows.__kwdefaults__", {
            "size": size, "progress": None, "options": None,
        })  # fmt: skip
        folder = tmp_path / f"by-{size}"
        done = cli("--workspace", folder, "add", "g", tmp_path / "a.nt")
        assert (
            "2 statements with invalid IRIs or language tags were mended" in done.output
            and "<http://x.test/a b>" in done.output
        )
        assert "left out: 1 statements that RDF cannot hold" in done.output
        names = {quad.object.value for quad in Store.read_only(str(folder / "data/g/store"))}
        assert names == {"a", "c", "http://x.test/a%20b"}
        refused = cli("--workspace", folder, "add", "h", tmp_path / "a.nt", "--strict")
        assert refused.exit_code and "a.nt, line 2" in refused.output
        assert [*Workspace(folder).graphs()] == ["g"]


def test_a_folder_of_contexts_and_a_folder_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.jsonld").write_bytes(SHOP % b'"https://x.test/terms/v1#x"')
    (tmp_path / "data" / "notes.pdf").write_bytes(b"")
    (tmp_path / "v1.json").write_text('{"@context": {"name": "http://x.test/title"}}')
    settings = {"contexts": str(tmp_path)}

    profile = Workspace(tmp_path / "w").add("g", [tmp_path / "data"], settings=settings)

    assert profile.triples == 1 and profile.predicates[0].iri == "http://x.test/title"
    assert "notes.pdf" in profile.cuts[-1]


def test_tables_link_by_the_keys_of_others(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(
        "id,customer_id,product,price,count\n1,2,P1,2.50,1\n2,1,P1,10,2\n"
    )
    (tmp_path / "customers.csv").write_text("id,name\n1,Ada Moor\n2,Cy Ford\n")
    (tmp_path / "products.csv").write_text("code,name\nP1,Tea\n")

    profile = Workspace(tmp_path / "w").add("g", [tmp_path])

    predicates = {predicate.iri.rpartition("/")[2]: predicate for predicate in profile.predicates}
    linked = {name: p.object_classes[0][0] for name, p in predicates.items() if p.object_classes}
    assert linked["customer_id"] == "urn:csv:table/customers"
    assert linked["product"] == "urn:csv:table/products"
    assert not {"id", "price", "count"} & set(linked)
    assert predicates["price"].datatypes[0][0].endswith("#decimal")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "web").mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def guess_type(self, path: object) -> str:
            return "text/turtle" if str(path).endswith("plain") else "application/octet-stream"

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path / "web"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_web_address_of_a_file_is_downloaded(tmp_path: Path, address: str) -> None:
    workspace, web = Workspace(tmp_path / "w"), tmp_path / "web"
    for name in ("a.ttl", "plain", "b.bin"):
        (web / name).write_bytes(TTL)
    assert workspace.add("a", [f"{address}/a.ttl"]).triples == 2
    assert workspace.add("plain", [f"{address}/plain"]).triples == 2

    (web / "a.ttl").write_bytes(TTL + b"x:s x:p .")
    with pytest.raises(SetupError, match="line 3"):
        workspace.add("a", [f"{address}/a.ttl"], replace=True)
    with pytest.raises(ServiceError, match="not a public address"):
        workspace.add("b", [f"{address}/a.ttl"], settings={"public_only": True})
    with pytest.raises(ServiceError):
        workspace.add("b", [f"{address}/b.bin"])
    assert [*workspace.graphs()] == ["a", "plain"] and workspace.find_stale_reason("a") is None
    assert len([path for path in (tmp_path / "w" / "downloads").rglob("*") if path.is_file()]) == 2

    (web / "a.ttl").write_bytes(TTL + b"x:s x:q x:o .")
    assert workspace.add("a", [f"{address}/a.ttl"], replace=True).triples == 3
    workspace.remove("a")
    assert not (tmp_path / "w" / "downloads" / "a").exists()
