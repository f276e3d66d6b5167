"""Documents that grow, reach out or end their reader are refused by everything that reads RDF."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from askgraph.errors import SetupError
from askgraph.sparql.rdf_files import RdfStatements, check_json_depth, check_xml_elements
from askgraph.workspace import Workspace

NAMESPACE = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"'
LAUGHS = '<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 30)
)


def document(definitions: str, text: str) -> bytes:
    body = f'<rdf:Description rdf:about="http://e/a"><e:b>{text}</e:b></rdf:Description>'
    return f"<!DOCTYPE r [{definitions}]><rdf:RDF {NAMESPACE}>{body}</rdf:RDF>".encode()


@pytest.mark.parametrize(
    "definitions", [LAUGHS, '<!ENTITY a29 SYSTEM "file:///etc/passwd">', '<!ENTITY % p "x">']
)
def test_files_that_grow_or_reach_out_are_refused_soon(tmp_path: Path, definitions: str) -> None:
    (tmp_path / "bomb.rdf").write_bytes(document(definitions, "&a29;"))
    began = time.process_time()

    with pytest.raises(SetupError, match=r"bomb\.rdf defines the entity"):
        Workspace(tmp_path / "workspace").add("bomb", [tmp_path / "bomb.rdf"])
    with pytest.raises(SetupError, match="defines the entity"):
        RdfStatements.parse_document(
            document(definitions, "x"), RdfFormat.RDF_XML, base="http://e/"
        )

    assert time.process_time() - began < 5


def test_entities_that_stand_for_a_namespace_are_read(tmp_path: Path) -> None:
    (tmp_path / "plain.rdf").write_bytes(document('<!ENTITY e "http://e/">', "&e;x"))

    workspace = Workspace(tmp_path / "workspace")

    assert workspace.add("plain", [tmp_path / "plain.rdf"]).triples == 1


def test_what_is_no_xml_passes() -> None:
    for text in (b"", b"no xml", b"<http://e/a> <http://e/b> 1 .", b"<r>&undefined;</r>"):
        check_xml_elements("a", [text])


def test_xml_that_is_too_deep_for_its_reader_is_refused_at_once(tmp_path: Path) -> None:
    def deep(times: int) -> str:
        return f"<rdf:RDF {NAMESPACE}>{'<e:A><e:b>' * times}{'</e:b></e:A>' * times}</rdf:RDF>"

    workspace, file = Workspace(tmp_path / "workspace"), tmp_path / "deep.rdf"
    file.write_text(deep(20_000))
    began = time.process_time()
    with pytest.raises(SetupError, match=r"deep\.rdf has more than 1,000 elements within each"):
        workspace.add("deep", [file])
    assert time.process_time() - began < 5

    file.write_text(deep(499))
    assert workspace.add("deep", [file]).triples == 499 * 2


def test_json_that_is_too_deep_for_its_reader_is_refused(tmp_path: Path) -> None:
    deep = '{"http://e/p": ' * 20_000 + '"x"' + "}" * 20_000
    (tmp_path / "deep.jsonld").write_text(deep)
    with pytest.raises(SetupError, match=r"deep\.jsonld has more than 1,000 objects and lists"):
        Workspace(tmp_path / "workspace").add("deep", [tmp_path / "deep.jsonld"])
    with pytest.raises(SetupError, match="within each other"):
        RdfStatements.parse_document(deep.encode(), RdfFormat.JSON_LD, base="http://e/")


_JSON = st.recursive(
    st.text(alphabet='a"\\{}[]', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('"{\\', max_size=3), inner),
)


@given(_JSON, st.integers(1, 9))
def test_json_is_as_deep_as_its_objects_however_it_is_cut(value: object, size: int) -> None:
    def nested(inner: int) -> bytes:
        return b"[" * inner + json.dumps(value).encode() + b"]" * inner

    def parts(text: bytes) -> list[bytes]:
        return [text[at : at + size] for at in range(0, len(text), size)]

    def depth(one: object) -> int:
        inner = one if isinstance(one, list) else one.values() if isinstance(one, dict) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    check_json_depth("a", parts(nested(1000 - depth(value))))
    with pytest.raises(SetupError, match="more than 1,000"):
        check_json_depth("a", parts(nested(1001 - depth(value))))
