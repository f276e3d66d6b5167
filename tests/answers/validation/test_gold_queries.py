"""Gold queries that people have written are not called wrong."""

import gzip
import json
import os
import tarfile
from pathlib import Path

import pytest
from pyoxigraph import Literal, RdfFormat, parse
from tests.answers.validation.conftest import known

from askgraph.answers.validation import WRONG, Finding, Kind, Services
from askgraph.answers.validation.graph_knowledge import profile_knowledge
from askgraph.answers.validation.validate import findings_on
from askgraph.graph.void import parse_void
from askgraph.sparql.rdf_files import Statements

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no {DATA}; ASKGRAPH_DATA names the data"),
]


def sure(query: str, services: Services) -> list[Finding]:
    found = findings_on(query, services)
    return [f for f in found if f.certainty >= WRONG and f.kind is not Kind.PREFIX]


def test_none_is_called_wrong_where_all_of_the_graph_was_counted() -> None:
    folder = DATA / "spider4sparql"
    graphs: dict[str, Services] = {}
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        name = question["kg"]
        if name not in graphs:
            graphs[name] = Services(known((folder / "kg" / name).read_text(encoding="utf-8")))
        assert sure(question["sparql"], graphs[name]) == []


def test_published_void_calls_none_wrong_for_what_it_lacks() -> None:
    text = gzip.decompress((DATA / "sib-examples" / "void_uniprot.ttl.gz").read_bytes())
    profile = parse_void(Statements.parsed(text, RdfFormat.TURTLE, base="urn:void"))
    assert profile is not None
    services = Services(profile_knowledge(profile))
    lacking = {Kind.CLASS, Kind.PREDICATE, Kind.DIRECTION, Kind.SUBJECT, Kind.OBJECT}
    lacking |= {Kind.DATATYPE, Kind.LANGUAGE, Kind.FILTER}
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
