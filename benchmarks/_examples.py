"""A published VoID description as a profile, and the queries of a folder of SHACL examples."""

import gzip
import tarfile
from dataclasses import replace
from pathlib import Path

from pyoxigraph import Literal, RdfFormat, parse

from askgraph.graph.profile import Profile
from askgraph.graph.void import profile_of_void
from askgraph.sparql.rdf_files import Statements

__all__ = ["example_queries", "void_profile"]

_SH = "http://www.w3.org/ns/shacl#"
_QUERIES = {_SH + "select", _SH + "ask", _SH + "construct"}


def void_profile(path: Path) -> Profile:
    """Read a VoID file that is compressed."""
    described = Statements.parsed(
        gzip.decompress(path.read_bytes()), RdfFormat.TURTLE, base=path.absolute().as_uri()
    )
    found = profile_of_void(described)
    assert found is not None
    return replace(found, prefixes=tuple(described.prefixes.items()))


def example_queries(archive: Path, folder: str) -> dict[str, str]:
    """Return the queries of a folder of SHACL examples, by file."""
    found: dict[str, str] = {}
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            parts = Path(member.name).parts
            if len(parts) < 2 or parts[-2] != folder or not member.name.endswith(".ttl"):
                continue
            content = opened.extractfile(member)
            assert content is not None
            for triple in parse(content.read(), format=RdfFormat.TURTLE):
                if triple.predicate.value in _QUERIES and isinstance(triple.object, Literal):
                    found[parts[-1]] = triple.object.value
    return found
