"""Gold queries that people have written are not called wrong."""

import gzip
import json
import os
import tarfile
from pathlib import Path

import pytest
from pyoxigraph import Literal, RdfFormat, parse
from tests.answers.validation.conftest import known

from askgraph.answers.validation import MIN_WRONG_CERTAINTY, FaultKind, Finding, ServiceKnowledge
from askgraph.answers.validation.graph_knowledge import build_profile_knowledge
from askgraph.answers.validation.validate import find_faults
from askgraph.graph.void import parse_void
from askgraph.sparql.rdf_files import RdfStatements

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no {DATA}; ASKGRAPH_DATA names the data"),
]


def sure(query: str, services: ServiceKnowledge) -> list[Finding]:
    found = find_faults(query, services)
    return [
        f for f in found if f.certainty >= MIN_WRONG_CERTAINTY and f.kind is not FaultKind.PREFIX
    ]


def test_none_is_called_wrong_where_all_of_the_graph_was_counted() -> None:
    folder = DATA / "spider4sparql"
    graphs: dict[str, ServiceKnowledge] = {}
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        name = question["kg"]
        if name not in graphs:
            graphs[name] = ServiceKnowledge(
                known((folder / "kg" / name).read_text(encoding="utf-8"))
            )
        assert sure(question["sparql"], graphs[name]) == []


def test_published_void_calls_none_wrong_for_what_it_lacks() -> None:
    text = gzip.decompress((DATA / "sib-examples" / "void_uniprot.ttl.gz").read_bytes())
    profile = parse_void(RdfStatements.parse_document(text, RdfFormat.TURTLE, base="urn:void"))
    assert profile is not None
    services = ServiceKnowledge(build_profile_knowledge(profile))
    lacking = {
        FaultKind.CLASS,
        FaultKind.PREDICATE,
        FaultKind.DIRECTION,
        FaultKind.SUBJECT,
        FaultKind.OBJECT,
    }
    lacking |= {FaultKind.DATATYPE, FaultKind.LANGUAGE, FaultKind.FILTER}
    queries = uniprot_queries()
    wrong = [q for q in queries if lacking & {finding.kind for finding in sure(q, services)}]
    assert len(queries) == 130
    assert wrong == []


def uniprot_queries() -> list[str]:
    found: list[str] = []
    with tarfile.open(DATA / "sib-examples" / "examples.tar.gz") as archive:
        for member in archive.getmembers():
            if "/UniProt/" in member.name and member.name.endswith(".ttl"):
                content = archive.extractfile(member)
                assert content is not None
                triples = list(parse(content.read(), RdfFormat.TURTLE))
                found += [
                    triple.object.value
                    for triple in triples
                    if triple.predicate.value.endswith(
                        ("shacl#select", "shacl#ask", "shacl#construct")
                    )
                    and isinstance(triple.object, Literal)
                ]
    return found
