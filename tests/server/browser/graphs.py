"""Graphs beside the sample: towns with places on a map, and labels that would be more than text."""

from pathlib import Path

from tests.servers.served import sample_workspace

from askgraph.workspace import Workspace

__all__ = ["BURST", "HOSTILE", "PORTS", "TOWNS", "workspace_with_more"]

_HEAD = """@prefix : <https://example.org/{name}/> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

_PLACES = [
    ("Munich", 11.57, 48.14, 1158),
    ("Lima", -77.03, -12.05, 1535),
    ("Nairobi", 36.82, -1.29, 1899),
    ("Wellington", 174.78, -41.29, 1840),
]

TOWNS = _HEAD.format(name="towns") + (
    ':Town a rdfs:Class ; rdfs:label "town"@en . :location rdfs:label "location"@en .\n'
    ':founded rdfs:label "year of founding"@en .\n'
    + "".join(
        f':{name} a :Town ; rdfs:label "{name}"@en ; :founded "{year}"^^xsd:gYear ;\n'
        f'    :location "POINT({east} {north})"^^geo:wktLiteral .\n'
        for name, east, north, year in _PLACES
    )
)

PORTS = _HEAD.format(name="ports") + (
    ':Port a rdfs:Class ; rdfs:label "port"@en . :Isle a rdfs:Class ; rdfs:label "isle"@en .\n'
    ':p1 rdfs:label "Breitengrad"@de . :p2 rdfs:label "Längengrad"@de .\n'
    ':Genoa a :Port ; rdfs:label "Genoa"@en ; :p1 "44.41" ; :p2 "8.93" .\n'
    ':Santos a :Port ; rdfs:label "Santos"@en ; :p1 "-23.96" ; :p2 "-46.33" .\n'
    ':Elba a :Isle ; rdfs:label "Elba"@en ; :centre "42.78, 10.19" .\n'
    ':Jeju a :Isle ; rdfs:label "Jeju"@en ; :centre "33.38, 126.53" .\n'
)
"""Places as texts: two under names of which only the labels say so, or two in one."""

BURST = "window.burst=true"
"""What no label may do."""

HOSTILE = (
    _HEAD.format(name="hostile")
    + r"""
:Gadget a rdfs:Class ; rdfs:label "gadget"@en .
:homepage rdfs:label "homepage"@en . :remark rdfs:label "remark"@en .
:picture rdfs:label "picture"@en .
:a a :Gadget ; rdfs:label "<script>BURST</script>"@en ;
    :homepage <javascript:BURST> , <data:text/html,BURST> ;
    :remark "<img src=x onerror=BURST>" ; :picture <https://pictures.example/a.png> .
:b a :Gadget ; rdfs:label "gadget\u202Egnp.exe\u202C two"@en ;
    :remark "\"><svg onload=BURST>" ; :homepage <https://user:word@example.org/> .
""".replace("BURST", BURST)
)


def workspace_with_more(folder: Path) -> Workspace:
    """Return a workspace with `space`, `towns`, `ports` and `hostile`."""
    workspace = sample_workspace(folder)
    for name, content in (("towns", TOWNS), ("ports", PORTS), ("hostile", HOSTILE)):
        file = folder / f"{name}.ttl"
        file.write_text(content, encoding="utf-8")
        workspace.add(name, [file])
    return workspace
