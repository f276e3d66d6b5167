"""`askgraph index`: built, looked over and searched as a person and as a script does it."""

import json
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS, store_of
from tests.servers.sparql import SparqlServer
from typer.testing import CliRunner, Result

from askgraph.cli import app
from askgraph.workspace import Workspace

EX = "http://example.org/"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("ASKGRAPH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.chdir(tmp_path)
    place = Workspace(tmp_path / "workspace")
    (tmp_path / "moons.ttl").write_text(MOONS)
    place.add("moons", [tmp_path / "moons.ttl"])
    return place


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["index", *map(str, arguments)])


def test_information_and_search(workspace: Workspace) -> None:
    # Info tells what is missing then what is there.
    missing = run("info", "--json")
    assert missing.exit_code == 1
    assert "has not been built" in json.loads(missing.stdout)[0]["problem"]
    assert run("build").exit_code == 0
    sound = run("info", "moons", "--json")
    assert sound.exit_code == 0
    assert [
        (i["key"], i["kind"], i["items"], i["source"], i["problem"])
        for i in json.loads(sound.stdout)
    ] == [
        ("entities", "keyword", 7, "graph", None),
        ("properties", "keyword", 5, "graph", None),
        ("literals", "keyword", 2, "graph", None),
    ]
    assert " ok" in run("info").stdout
    # Info finds a changed byte.
    run("build")
    records = workspace.get_data_folder("moons") / "indices" / "entities" / "table_records.jsonl"
    records.write_bytes(records.read_bytes().replace(b"Io", b"Jo"))
    result = run("info")
    assert result.exit_code == 1 and "does not match its checksum" in result.stdout
    # Search builds what it needs and shows what it found.
    shown = run("search", "jupiter").stdout
    assert [part in shown for part in ("Jupiter", "planet", "Europa")] == [True, True, False]
    [hit] = json.loads(run("search", "jup", "--in", "literals", "--json").stdout)
    assert (hit["iri"], hit["infos"]) == ('"JUP"', ["code"])
    assert json.loads(run("search", "Mond", "--json").stdout)[0]["matched_name"] == "Mond"
    nothing = run("search", "zzzz")
    assert (nothing.exit_code, nothing.stdout) == (0, "")


def test_an_endpoint_may_be_described_by_a_file_of_a_peer(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "kg" / "entities").mkdir(parents=True)
    line = '{"identifier": "<http://example.org/Io>", "fields": [{"value": "the pizza moon"}]}\n'
    (tmp_path / "kg" / "entities" / "data.jsonl").write_text(line)
    asked = '{"question": "Which moons?", "sparql": "SELECT ?m { ?m a <x:Moon> }"}\n'
    (tmp_path / "asked.jsonl").write_text(asked)
    with SparqlServer(store_of(MOONS)) as server:
        info = {"endpoint": server.url, "prefixes": {"ex": EX}, "description": "moons"}
        (tmp_path / "kg" / "info.json").write_text(json.dumps(info))
        described = {"label": "Moons (far)", "endpoint_url": server.url, "description": "moons",
                     "examples_file": "asked.jsonl", "void_file": None}  # fmt: skip
        (tmp_path / "sparql-mcp.json").write_text(json.dumps({"endpoints": [described]}))

        for name, file in (("grasp", "kg/info.json"), ("moons-far", "sparql-mcp.json")):
            done = CliRunner().invoke(app, ["add", name, file])
            assert done.exit_code == 0, done.output
        wrong = CliRunner().invoke(app, ["add", "mars", "sparql-mcp.json"])
        [hit] = json.loads(run("search", "pizza", "-g", "grasp", "--json").stdout)

    assert hit["iri"] == EX + "Io"
    assert workspace.graphs()["moons-far"].url == server.url
    assert [one.question for one in workspace.load_examples("moons-far")] == ["Which moons?"]
    assert wrong.exit_code == 2 and "has no endpoint 'mars'; available: moons-far" in wrong.stderr


def test_building_with_options(tmp_path: Path, workspace: Workspace) -> None:
    # Search within iris in any form or a file of them.
    (tmp_path / "some.txt").write_text(f"<{EX}Io>\n\n{EX}Mars\n")
    run("build", "--kind", "trigram")
    wide = {hit["iri"] for hit in json.loads(run("search", "io mars europa", "--json").stdout)}
    within = ("search", "io mars europa", "--json", "--within", "some.txt")
    narrow = {hit["iri"] for hit in json.loads(run(*within).stdout)}
    more = {hit["iri"] for hit in json.loads(run(*within, "--within", f"{EX}Europa").stdout)}
    assert narrow == {EX + "Io", EX + "Mars"} and more == narrow | {EX + "Europa"} <= wide
    short = run("search", "moon", "--within", "onto:Moon", "--json").stdout
    assert [hit["iri"] for hit in json.loads(short)] == [EX + "onto#Moon"]
    # Build keeps how it was built.
    (tmp_path / "names.tsv").write_text(f"iri\tlabel\n{EX}Io\tpizza moon\n")
    built = run("build", "moons", "--kind", "bm25", "--entities", "names.tsv", "--json")
    assert json.loads(built.stdout)[0]["source"] == f"rows {tmp_path / 'names.tsv'}"
    assert workspace.graphs()["moons"].entities == str(tmp_path / "names.tsv")
    run("build", "--kind", "keyword", "--entities", "graph")
    assert [h["iri"] for h in json.loads(run("search", "io", "--json").stdout)] == [EX + "Io"]
    # Add takes examples.
    (tmp_path / "asked.jsonl").write_text('{"question": "Which?", "sparql": "ASK {}"}\n')
    add = ["add", "more", "moons.ttl", "--examples", "asked.jsonl"]
    assert CliRunner().invoke(app, add).exit_code == 0
    assert workspace.graphs()["more"].examples == str(tmp_path / "asked.jsonl")
    wrong = CliRunner().invoke(app, [*add[:1], "other", *add[2:4], "nope.jsonl"])
    assert wrong.exit_code == 2 and "cannot read the examples" in wrong.stderr


@for_each(
    ("arguments", "said"),
    (["build", "--kind", "nope"], "'nope' is not a kind of index"),
    (["build", "--entities", "nope.tsv"], "there is no file"),
    (["build", "nope"], "no graph 'nope'"),
    (["search", "io", "--in", "pictures"], "pictures"),
    (["search", "io", "--within", "nowhere"], "'nowhere' is neither a file nor an IRI"),
    (["search", "io", "--limit", "0"], "--limit"),
    (["search"], "search needs"),
)
def test_wrong_use_is_told_with_a_code(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and said in result.stderr and "Traceback" not in result.stderr
