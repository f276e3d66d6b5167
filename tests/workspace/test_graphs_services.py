"""The graphs of a workspace call each other by SERVICE, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS
from tests.servers.sparql import SparqlServer
from tests.workspace.conftest import workspace_of
from typer.testing import CliRunner, Result

from askgraph.cli import app
from askgraph.errors import ForbiddenQuery
from askgraph.graph import get_service_iri
from askgraph.sparql.results import to_plain_value
from askgraph.workspace import Workspace
from askgraph.workspace.run_sync import run_coroutine

VISITS = """
@prefix : <http://example.org/> .
:Voyager :visited :Io, :Europa . :Viking :visited :Mars .
"""
PREFIX = "PREFIX : <http://example.org/> PREFIX onto: <http://example.org/onto#> "
JOIN = "SELECT ?m ?p { ?s :visited ?m SERVICE <askgraph:moons> { ?m onto:orbits ?p } } ORDER BY ?m"
JOINED = [
    ["http://example.org/Europa", "http://example.org/Jupiter"],
    ["http://example.org/Io", "http://example.org/Jupiter"],
]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return workspace_of(tmp_path, moons=MOONS, visits=VISITS)


def asked(
    workspace: Workspace, query: str, *options: str, graph: str = "visits", prefix: str = PREFIX
) -> Result:
    command = ["query", prefix + query, "-g", graph, *(options or ("--json",))]
    return CliRunner().invoke(app, [*command, "--workspace", str(workspace.folder)])


def test_joining_graphs(workspace: Workspace, tmp_path: Path) -> None:
    # Two graphs of files are joined.
    assert json.loads(asked(workspace, JOIN).stdout)["rows"] == JOINED
    # Other forms call graphs too.
    where = "{ ?s :visited ?m SERVICE <askgraph:moons> { ?m onto:orbits ?p } }"
    assert json.loads(asked(workspace, f"ASK {where}").stdout) == {"boolean": True}
    built = json.loads(asked(workspace, f"CONSTRUCT {{ ?s :near ?p }} WHERE {where}").stdout)
    assert built["triples"] == [
        [f"<http://example.org/{name}>" for name in ("Voyager", "near", "Jupiter")]
    ]
    # A graph may call itself.
    own = JOIN.replace("askgraph:moons", "askgraph:visits").replace("onto:orbits", "^:visited")
    assert len(json.loads(asked(workspace, own).stdout)["rows"]) == 3
    # A called graph is built anew when its file changed.
    (tmp_path / "moons.ttl").write_text(MOONS.replace(":orbits :Jupiter", ":orbits :Saturn"))
    rows = json.loads(asked(workspace, JOIN).stdout)["rows"]
    assert [row[1] for row in rows] == ["http://example.org/Saturn"] * 2


@pytest.mark.parametrize("by_name", [True, False])
def test_an_endpoint_is_called_by_name_and_by_url(
    workspace: Workspace, server: SparqlServer, by_name: bool
) -> None:
    workspace.add("remote", [server.url])
    server.requests.clear()

    target = "askgraph:remote" if by_name else server.url
    result = asked(workspace, JOIN.replace("askgraph:moons", target))

    assert json.loads(result.stdout)["rows"] == JOINED
    assert "VALUES" in server.requests[0].parameters["query"][0]
    # An endpoint calls a graph of files, with prefixes of its own and of which it is told nothing.
    visited = "{ ?s <http://example.org/visited> ?m }"
    query = f"SELECT ?m {{ ?m a onto:Moon SERVICE <askgraph:visits> {visited} }}"
    result = asked(workspace, query, "--csv", graph="remote", prefix="")
    assert sorted(result.stdout.split()) == [*(row[0] for row in JOINED), "m"]
    assert "SERVICE" not in server.requests[-1].parameters["query"][0]
    # A part of an address is refused.
    result = asked(workspace, f"BASE <{server.url}> SELECT * {{ SERVICE <sparql> {{ ?s ?p ?o }} }}")
    assert result.exit_code == 3 and "needs a full address" in result.stderr


def test_a_graph_tells_the_iri_that_a_service_calls_it_by(
    workspace: Workspace, server: SparqlServer
) -> None:
    workspace.add("remote", [server.url])
    workspace.add("keyed", [f"{server.url}?key=secret"])
    graphs = [workspace.graph(name) for name in ("moons", "remote", "keyed")]
    iris = [get_service_iri(graph) for graph in graphs]
    assert iris == ["askgraph:moons", server.url, "askgraph:keyed"]
    for iri in iris:
        query = PREFIX + JOIN.replace("?s :visited ?m", "VALUES ?m { :Io :Europa }")
        joined = graphs[0].endpoint.select(query.replace("askgraph:moons", iri))
        assert [
            [to_plain_value(term) for term in row] for row in run_coroutine(joined).rows
        ] == JOINED
    for graph in graphs:
        run_coroutine(graph.endpoint.close())


@for_each(
    "clause",
    "SERVICE <URL>",
    "SERVICE SILENT <URL>",
    "S\\u0045RVICE <URL>",
    "SERVICE ?elsewhere",
    "SERVICE <askgraph:mons>",
    "SERVICE <askgraph:moons> { ?s ?p ?o } SERVICE <URL>",
)
def test_what_is_no_graph_here_is_refused_before_anything_is_sent(
    workspace: Workspace, server: SparqlServer, clause: str
) -> None:
    clause = clause.replace("URL", server.url)
    result = asked(workspace, f"SELECT * {{ ?s :visited ?m {clause} {{ ?m ?p ?o }} }}")
    assert result.exit_code == 3 and "askgraph:visits" not in result.stderr
    assert ("did you mean <askgraph:moons>?" in result.stderr) == ("askgraph:mons" in clause)
    assert server.requests == []


def test_a_graph_opened_in_python_refuses_alike_and_sees_graphs_added_later(
    workspace: Workspace, server: SparqlServer
) -> None:
    graph = workspace.graph("visits")
    query = PREFIX + JOIN.replace("askgraph:moons", server.url)
    with pytest.raises(ForbiddenQuery, match="graphs are allowed; to allow it"):
        run_coroutine(graph.endpoint.select(query))
    assert server.requests == []

    workspace.add("remote", [server.url])

    assert len(run_coroutine(graph.endpoint.select(query)).rows) == 2
    run_coroutine(graph.endpoint.close())


def test_a_url_with_a_key_or_of_two_graphs_is_no_name_and_not_shown(
    workspace: Workspace, server: SparqlServer
) -> None:
    workspace.add("keyed", [f"{server.url}?key=secret"])
    for name in ("one", "two"):
        workspace.add(name, [server.url])

    refused = asked(workspace, JOIN.replace("askgraph:moons", server.url))

    assert refused.exit_code == 3
    assert refused.stderr.count(server.url) == 2  # what is refused, and how to add it
    assert "askgraph:keyed" not in refused.stderr and "secret" not in refused.stderr
    assert json.loads(asked(workspace, JOIN.replace("moons", "keyed")).stdout)["rows"] == JOINED


def test_without_service_no_other_graph_is_opened_and_nothing_more_imported(
    workspace: Workspace,
) -> None:
    script = (
        "import sys\n"
        "from askgraph.workspace import Workspace\n"
        "from askgraph.workspace.run_sync import run_coroutine\n"
        f"workspace = Workspace({str(workspace.folder)!r})\n"
        "graph = workspace.graph('visits')\n"
        "workspace.graphs = workspace._service = None\n"
        "query = 'SELECT * { ?s <http://example.org/service> \"SERVICE <askgraph:moons>\" }'\n"
        "assert not run_coroutine(graph.endpoint.select(query)).rows\n"
        "run_coroutine(graph.endpoint.close())\n"
        "more = {'rdflib', 'httpx2', 'askgraph.sparql.federation.service'} & set(sys.modules)\n"
        "assert not more, more\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
