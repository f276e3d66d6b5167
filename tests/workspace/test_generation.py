"""Generated examples: kept where graph search reads the question back to the same result."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store
from tests.servers.sparql import SparqlServer

from askgraph.llm.budget import BudgetAccount, ModelBudget
from askgraph.llm.scripted import ScriptedModel
from askgraph.sample import graph_path
from askgraph.workspace import Workspace
from askgraph.workspace.examples import check_examples, list_stored
from askgraph.workspace.generation import QuestionRephraser, generate_examples
from askgraph.workspace.models import Models


def questions(workspace: Workspace) -> list[str]:
    return sorted(one.example.question for _, one in list_stored(workspace))


@pytest.fixture
def workspace(space: Workspace) -> Iterator[Workspace]:
    yield space
    shutil.rmtree(space.get_examples_folder("space"), ignore_errors=True)


def test_examples_are_kept_marked_and_give_what_they_gave(workspace: Workspace) -> None:
    made = generate_examples(workspace, number=4, seconds=0)
    assert (made.examples, made.drafted) == ((), 0)
    assert made.ended == "0 seconds were over" and list_stored(workspace) == []

    made = generate_examples(workspace, number=12, seconds=60, seed=1)
    kept = [one.example for _, one in list_stored(workspace)]
    assert len(kept) == len(made.examples) == 12
    assert {example.origin for example in kept} == {"generated"}
    assert len({example.keywords for example in kept}) >= 8  # kinds of questions
    assert {one.status for one in check_examples(workspace)} == {"same"}

    # The same seed gives the same questions, another seed others.
    first = [example.question for example in made.examples[:5]]
    for seed in (1, 2):
        shutil.rmtree(workspace.get_examples_folder("space"))
        again = generate_examples(workspace, number=5, seconds=60, seed=seed)
        assert ([example.question for example in again.examples] == first) is (seed == 1)


def test_a_second_run_makes_other_examples(workspace: Workspace) -> None:
    generate_examples(workspace, number=4, seconds=60)
    before = questions(workspace)
    generate_examples(workspace, number=4, seconds=60)
    assert set(before) < set(questions(workspace)) and len(questions(workspace)) == 8


def test_a_graph_behind_an_endpoint_gets_examples_too(tmp_path: Path) -> None:
    store = Store()
    store.load(path=str(graph_path()), format=RdfFormat.TURTLE)
    with SparqlServer(store) as server:
        workspace = Workspace(tmp_path)
        workspace.add("space", [server.url])
        made = generate_examples(workspace, number=3, seconds=60)
    assert len(made.examples) == 3


def test_a_model_writes_examples_and_those_with_a_result_are_kept(workspace: Workspace) -> None:
    counted = "SELECT (COUNT(?m) AS ?n) { ?m a ont:Moon }"
    pairs = (("How many of them?", counted), ("What?", "SELECT * { ?x ont:orbits space:Io }"))
    items = [{"question": text, "query": query} for text, query in (*pairs, ("Why?", "SELECT"))]
    model = ScriptedModel([json.dumps({"examples": items})])
    account, models = BudgetAccount(ModelBudget(), scope="run"), Models(workspace.folder)
    writer = QuestionRephraser(model, workspace.method(), ("en",), account, models)

    made = generate_examples(workspace, number=3, rephraser=writer, invent=True)

    [kept] = [one.example for _, one in list_stored(workspace)]
    assert (made.drafted, kept.question, kept.origin) == (3, "How many of them?", "generated")
    assert kept.confirmation and kept.confirmation.by == "scripted"
    assert "ont:orbits" in str(model.requests[0].messages[-1])
