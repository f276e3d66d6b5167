"""A graph's indices: built when first looked at, kept, and never those of another content."""

import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.each import for_each
from tests.graphs import MOONS, store_of
from tests.servers.sparql import SparqlServer

from askgraph.errors import SetupError
from askgraph.graph import KnowledgeGraph
from askgraph.index import Resource, SearchIndex
from askgraph.workspace import Workspace
from askgraph.workspace.index_operations import build_indices, inspect_indices
from askgraph.workspace.run_sync import run_coroutine

EX = "http://example.org/"
ROWS = "iri\tlabel\tscore\nhttp://example.org/Io\tthe pizza moon\t3\n"
QUERY = 'SELECT ?iri ("asked" AS ?label) { ?iri a onto:Moon } GROUP BY ?iri'
OPEN_IN_TWO = """
import sys
from askgraph.workspace import Workspace
from askgraph.workspace.index_operations import load_index_context
from askgraph.workspace.graphs import GraphIndices
found = GraphIndices(load_index_context(Workspace(sys.argv[1]), None, progress=lambda *_: None))
print([hit.item.iri for hit in found["entities"].search("phobos")])
"""


def silent(what: str, done: int, total: int | None) -> None:
    pass


def found(graph: KnowledgeGraph, text: str, key: str = "entities") -> list[str]:
    try:
        return [hit.item.iri.removeprefix(EX) for hit in graph.indices[key].search(text)]
    finally:
        run_coroutine(graph.endpoint.close())


def test_an_index_is_built_at_the_first_look_and_opened_at_the_next(
    workspace: Workspace, graph: KnowledgeGraph, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "askgraph")
    assert set(graph.indices) == {"entities", "properties", "literals"}
    assert "entities" in graph.indices and "pictures" not in graph.indices
    with pytest.raises(KeyError):
        graph.indices["pictures"]
    assert not (workspace.get_data_folder("moons") / "indices").exists()
    for key, text, iri in (
        ("entities", "io", EX + "Io"),
        ("properties", "orbits", EX + "onto#orbits"),
        ("literals", "jup", '"JUP"'),
    ):
        assert [hit.item.iri for hit in graph.indices[key].search(text)] == [iri]
    assert "the index 'entities' of graph 'moons' has" in caplog.text
    caplog.clear()
    assert found(workspace.graph(), "mond") == ["onto#Moon"]
    assert caplog.text == ""


def test_an_index_is_of_the_content_of_its_graph(
    workspace: Workspace, graph: KnowledgeGraph, source: Path
) -> None:
    assert found(workspace.graph(), "titan") == []
    source.write_text(MOONS + ":Titan a onto:Moon ; rdfs:label 'Titan' .")
    assert found(workspace.graph(), "titan") == ["Titan"]
    with pytest.raises(SetupError, match="was rebuilt after it was opened: open it again"):
        graph.indices["entities"]
    # A graph that is opened by its path has indices, too.
    assert found(Workspace(workspace.folder / "other").open(source), "titan") == ["Titan"]


def test_a_damaged_index_is_built_again(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    found(workspace.graph(), "io")
    next((workspace.get_data_folder("moons") / "indices" / "entities").glob("*.npy")).write_bytes(
        b""
    )
    assert found(workspace.graph(), "io") == ["Io"]
    assert "is damaged" in caplog.text


def test_many_threads_that_look_at_once_share_one_index(graph: KnowledgeGraph) -> None:
    seen: list[SearchIndex[Resource]] = []
    looks = [
        threading.Thread(target=lambda: seen.append(graph.indices["entities"])) for _ in range(8)
    ]
    for look in looks:
        look.start()
    for look in looks:
        look.join()
    assert len(seen) == 8 and len({id(index) for index in seen}) == 1


def test_processes_that_look_at_once_all_find(workspace: Workspace) -> None:
    command = [sys.executable, "-c", OPEN_IN_TWO, str(workspace.folder)]
    looks = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [look.communicate()[0].strip() for look in looks] == [f"['{EX}Phobos']"] * 3


def test_a_remote_graph_is_found_by_its_profile_and_names(tmp_path: Path) -> None:
    with SparqlServer(store_of(MOONS)) as server:
        place = Workspace(tmp_path / "far")
        place.add("far", [server.url])
        assert found(place.graph(), "europa") == ["Europa"]
        assert found(place.graph(), "moon") == ["onto#Moon"]
        assert found(place.graph(), "orbits", "properties") == ["onto#orbits"]
        assert found(place.graph(), "jup", "literals") == ['"JUP"']
        build_indices(place, "far", settings={"entities": "default"}, progress=silent)
        [entities, *_] = inspect_indices(place, "far", progress=silent)
    assert (entities.source, entities.problem) == ("queries default", None)


@for_each(
    ("name", "content", "text"),
    ("names.tsv", ROWS, "pizza"),
    ("moons.rq", QUERY, "asked"),
    ("dump.ttl", MOONS.replace('"Io"@en', '"Pizza"@en'), "pizza"),
)
def test_entities_may_come_from_a_file(
    workspace: Workspace, name: str, content: str, text: str
) -> None:
    (workspace.folder / name).write_text(content)
    build_indices(workspace, None, settings={"entities": name}, progress=silent)
    assert "Io" in found(workspace.graph(), text)
    assert "onto#Planet" in found(workspace.graph(), "planet")
    assert workspace.graphs()["moons"].entities == name


def test_the_index_data_and_the_example_index_of_grasp_may_be_folders(
    workspace: Workspace, source: Path
) -> None:
    kg, samples = workspace.folder / "kg", workspace.folder / "train.example-index"
    for key, iri, name in (("entities", "Io", "pizza"), ("properties", "onto#orbits", "circles")):
        (kg / key).mkdir(parents=True)
        fields = f'[{{"type": "text", "value": "{name}", "tags": ["main"]}}]'
        line = f'{{"identifier": "<{EX}{iri}>", "fields": {fields}}}\n'
        (kg / key / "data.jsonl").write_text(line)
        (kg / key / "info.json").write_text('{"description": "names"}')
    samples.mkdir()
    (samples / "info.json").write_text('{"description": "moons"}')
    (samples / "samples.jsonl").write_text(
        '{"id": "1", "question": "Which moons?", "sparql": "SELECT ?m { ?m a <x:Moon> }", '
        '"paraphrases": ["What moons are there?"], "info": {}}\n'
    )

    workspace.add("moons", [source], settings={"examples": str(samples)}, replace=True)
    chosen = {"entities": str(kg), "properties": str(kg / "properties")}
    build_indices(workspace, None, settings=chosen, progress=silent)

    assert found(workspace.graph(), "pizza") == ["Io"]
    assert found(workspace.graph(), "circles", "properties") == ["onto#orbits"]
    [example] = workspace.load_examples("moons")
    texts = [wording.text for wording in example.wordings]
    assert texts == ["Which moons?", "What moons are there?"]


def test_a_dump_gives_entities_and_properties(workspace: Workspace, tmp_path: Path) -> None:
    dump = tmp_path / "dump.ttl"
    dump.write_text("@prefix : <http://example.org/> .\n:Triton :circles :Neptune .")
    build_indices(workspace, "moons", settings={"dump": (str(dump),)}, progress=silent)
    assert found(workspace.graph(), "triton") == ["Triton"]
    assert found(workspace.graph(), "circles", "properties") == ["circles"]


def test_an_index_follows_the_file_that_it_is_built_from(workspace: Workspace) -> None:
    rows = workspace.folder / "names.tsv"
    rows.write_text(ROWS)
    build_indices(workspace, None, settings={"entities": "names.tsv"}, progress=silent)
    rows.write_text(ROWS.replace("pizza", "sulphurous"))
    assert found(workspace.graph(), "sulphurous") == ["Io"]
    rows.unlink()
    assert found(workspace.graph(), "sulphurous") == ["Io"]


@for_each("kind", ["keyword", "bm25", "trigram", "hybrid"])
def test_each_kind_is_kept_as_a_setting(workspace: Workspace, kind: str) -> None:
    built = build_indices(workspace, None, settings={"index": kind}, progress=silent)
    assert [info.kind for info in built] == [kind, kind, "keyword"]
    assert found(workspace.graph(), "phobos")[0] == "Phobos"
    assert workspace.graphs()["moons"].index == kind


def test_embeddings_are_for_vector_and_hybrid(workspace: Workspace) -> None:
    pytest.importorskip("faiss")
    for kind in ("vector", "hybrid"):
        settings = {"index": kind, "embeddings": "hashed"}
        build_indices(workspace, None, settings=settings, progress=silent)
        assert found(workspace.graph(), "phobos")[0] == "Phobos"
    build_indices(workspace, None, settings={"index": "bm25"}, progress=silent)
    assert workspace.graphs()["moons"].embeddings is None


@for_each(
    ("settings", "said"),
    ({"index": "telepathy"}, "'telepathy' is not a kind of index; available: bm25"),
    ({"entities": "wikidatum"}, "not a source of entities.*wikidata"),
    ({"properties": "missing.tsv"}, "there is no file"),
    ({"dump": ("missing.nt",)}, "there is no file"),
    ({"embeddings": "hashed"}, "'keyword' has no embeddings"),
    ({"index": "vector", "embeddings": "magic"}, "no embedder 'magic'|needs faiss"),
    ({"indices": "bm25"}, "unknown setting 'indices'"),
)
def test_what_is_not_sound_is_told_and_changes_nothing(
    workspace: Workspace, settings: dict[str, object], said: str
) -> None:
    before = (workspace.folder / "askgraph.toml").read_text()
    with pytest.raises(SetupError, match=said):
        build_indices(workspace, None, settings=settings, progress=silent)
    assert (workspace.folder / "askgraph.toml").read_text() == before
    assert found(workspace.graph(), "io") == ["Io"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT nonsense", r"query .*names\.rq: line 1, column"),
        ("SELECT ?iri ?label { ?iri onto:nothing ?label }", "finds no entities in graph 'moons'"),
    ],
)
def test_a_query_that_gives_nothing_builds_nothing(
    workspace: Workspace, query: str, told: str
) -> None:
    (workspace.folder / "names.rq").write_text(query)

    with pytest.raises(SetupError, match=told):
        build_indices(workspace, None, settings={"entities": "names.rq"}, progress=silent)
    assert workspace.graphs()["moons"].entities is None


def test_indices_that_cannot_be_written_are_said_so_with_what_to_do(
    workspace: Workspace, graph: KnowledgeGraph
) -> None:
    (workspace.folder / "data" / ".locks").write_text("in the way")

    with pytest.raises(SetupError, match=r"cannot be written: .*: askgraph index build moons"):
        graph.indices["entities"]


def test_a_failed_build_leaves_the_index_that_was_there(workspace: Workspace) -> None:
    assert found(workspace.graph(), "io") == ["Io"]
    (workspace.folder / "bad.tsv").write_text(ROWS + "no columns\n")
    with pytest.raises(SetupError, match="line 3"):
        build_indices(workspace, None, settings={"entities": "bad.tsv"}, progress=silent)
    entities, *_ = inspect_indices(workspace, None, progress=silent)
    assert entities.problem is None


def test_examples_of_a_setting_belong_to_the_graph(workspace: Workspace, source: Path) -> None:
    (workspace.folder / "asked.jsonl").write_text(
        '{"question": "Which moons?", "sparql": "SELECT ?m { ?m a <x:Moon> }", "lang": "en"}\n'
        '{"question": "Why?", "sparql": null}\n'
    )
    assert opened_examples(workspace) == []
    workspace.add("moons", [source], settings={"examples": "asked.jsonl"}, replace=True)
    assert opened_examples(workspace) == ["Which moons?"]


def test_examples_that_cannot_be_read_are_a_setup_error_and_build_nothing(
    workspace: Workspace, source: Path
) -> None:
    with pytest.raises(SetupError, match=r"cannot read the examples .*missing\.jsonl"):
        workspace.add("more", [source], settings={"examples": "missing.jsonl"})
    assert list(workspace.graphs()) == ["moons"]
    assert not workspace.get_data_folder("more").exists()


def opened_examples(workspace: Workspace) -> list[str]:
    graph = workspace.graph("moons")
    run_coroutine(graph.endpoint.close())
    return [example.question for example in graph.examples]


def test_entities_and_properties_may_be_of_two_kinds(workspace: Workspace) -> None:
    chosen = {"index": "keyword", "properties_index": "vector", "embeddings": "hashed"}

    built = build_indices(workspace, "moons", settings=chosen, progress=silent)
    again = workspace.graph()
    kinds = {one.key: one.kind for one in built}

    assert kinds == {"entities": "keyword", "properties": "vector", "literals": "keyword"}
    assert not any(one.problem for one in inspect_indices(workspace, "moons", progress=silent))
    assert found(again, "orbit", "properties")[:1] == ["onto#orbits"]
    assert found(again, "no such name") == []


@for_each("kind", ["keyword", "trigram", "vector", "hybrid"])
def test_comments_are_searched_with_names_if_wanted(tmp_path: Path, kind: str) -> None:
    text = "A frozen world, seen for the first time in Padua, whose crust of ice hides an ocean of "
    about = f'rdfs:comment "{text}{"salt water " * 20}, deeper than any other"@en'
    source = tmp_path / "described.ttl"
    source.write_text(MOONS.replace(":Europa a onto:Moon ;", f":Europa a onto:Moon ; {about} ;"))
    place = Workspace(tmp_path / "workspace")
    place.add("moons", [source])

    build_indices(place, "moons", settings={"index": kind, "comments": True}, progress=silent)
    graph = place.graph()

    assert found(graph, "crust hides ocean")[:1] == ["Europa"]
    [hit, *_] = graph.indices["entities"].search("Europa")
    assert hit.item.label == "Europa"

    build_indices(place, "moons", settings={"index": "keyword", "comments": False}, progress=silent)
    graph = place.graph()
    assert found(graph, "crust hides ocean") == []
