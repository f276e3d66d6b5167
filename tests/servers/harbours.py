"""A graph of harbours that changes between two looks at it."""

from collections.abc import Mapping
from urllib.parse import quote

from askgraph.workspace import Workspace

__all__ = ["BEFORE", "NOW", "QUESTION", "put_harbours"]

QUESTION = "How many berths has each harbour?"
BEFORE = {"Alma": 4, "Brix": 7, "Cove": 2}
NOW = {"Alma": 4, "Brix": 9, "Dory": 1}  # one harbour has another number, one is gone, one is new

_HEAD = """@prefix e: <https://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
e:Harbour a owl:Class ; rdfs:label "harbour"@en .
e:berths a owl:DatatypeProperty ; rdfs:label "number of berths"@en .
"""


def put_harbours(workspace: Workspace, berths: Mapping[str, int]) -> None:
    """Put these harbours in the place of those that the graph `harbours` has."""
    file = workspace.folder / "harbours.ttl"
    lines = (
        f"<https://e.org/{quote(name)}> a e:Harbour ;\n"
        f"    rdfs:label '''{name}'''@en ; e:berths {count} .\n"
        for name, count in berths.items()
    )
    file.write_text(_HEAD + "".join(lines), encoding="utf-8")
    workspace.add("harbours", [file], replace=True)
