"""Generated examples: kept where graph search reads the question back to the same result."""

from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers.sparql import SparqlServer

from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.examples import check, stored
from askgraph.workspace.generation import generate


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.add("space", [graph_path()])
    return workspace


def questions(workspace: Workspace) -> list[str]:
    return sorted(one.example.question for _, one in stored(workspace))


def test_examples_are_kept_marked_and_give_what_they_gave(workspace: Workspace) -> None:
    made = generate(workspace, number=12, seconds=60, seed=1)

    kept = [one.example for _, one in stored(workspace)]
    assert len(kept) == len(made.examples) == 12
    assert {example.origin for example in kept} == {"generated"}
    assert len({example.keywords for example in kept}) >= 8  # kinds of questions
    assert {one.status for one in check(workspace)} == {"same"}


def test_the_same_seed_gives_the_same_questions(tmp_path: Path) -> None:
    found = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        workspace = Workspace(tmp_path / name)
        workspace.add("space", [graph_path()])
        generate(workspace, number=5, seconds=60, seed=seed)
        found.append(questions(workspace))
    assert found[0] == found[1] != found[2]


def test_a_second_run_makes_other_examples(workspace: Workspace) -> None:
    generate(workspace, number=4, seconds=60)
    before = questions(workspace)
    generate(workspace, number=4, seconds=60)
    assert set(before) < set(questions(workspace)) and len(questions(workspace)) == 8


def test_no_time_means_no_examples_and_says_so(workspace: Workspace) -> None:
    made = generate(workspace, number=4, seconds=0)
    assert (made.examples, made.drafted) == ((), 0)
    assert made.ended == "0 seconds were over" and stored(workspace) == []


def test_a_graph_behind_an_endpoint_gets_examples_too(tmp_path: Path) -> None:
    store = Store()
    store.load(path=str(graph_path()), format=RdfFormat.TURTLE)
    with SparqlServer(store) as server:
        workspace = Workspace(tmp_path)
        workspace.add("space", [server.url])
        made = generate(workspace, number=3, seconds=60)
    assert len(made.examples) == 3
