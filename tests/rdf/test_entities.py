"""Documents of XML that grow or reach out are refused by everything that reads RDF."""

import time
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat

from askgraph.errors import SetupError
from askgraph.rdf.statements import Statements, check_entities
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
def test_a_file_that_multiplies_or_reaches_out_is_refused_at_once(
    tmp_path: Path, definitions: str
) -> None:
    (tmp_path / "bomb.rdf").write_bytes(document(definitions, "&a29;"))
    began = time.process_time()

    with pytest.raises(SetupError, match=r"bomb\.rdf defines the entity"):
        Workspace(tmp_path / "workspace").add("bomb", [tmp_path / "bomb.rdf"])
    with pytest.raises(SetupError, match="defines the entity"):
        Statements.parsed(document(definitions, "x"), RdfFormat.RDF_XML, base="http://e/")

    assert time.process_time() - began < 5


def test_entities_that_stand_for_a_namespace_are_read(tmp_path: Path) -> None:
    (tmp_path / "plain.rdf").write_bytes(document('<!ENTITY e "http://e/">', "&e;x"))

    workspace = Workspace(tmp_path / "workspace")

    assert workspace.add("plain", [tmp_path / "plain.rdf"]).triples == 1


def test_what_is_no_xml_passes() -> None:
    for text in (b"", b"no xml", b"<http://e/a> <http://e/b> 1 .", b"<r>&undefined;</r>"):
        check_entities("a", [text])
