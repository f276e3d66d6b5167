"""Few-shot learning on Spider4SPARQL, each graph with the questions about all the others."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.gold.near_duplicates import find_near_duplicates
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph import KnowledgeGraph
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.tools.term_text import STANDARD_NAMESPACES
from askgraph.trace import Prompt, Question
from askgraph.workspace import Workspace
from askgraph.workspace.evaluation import assign_examples
from askgraph.workspace.plans import BenchmarkQuestions
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection, select_benchmarks

DATA = Path(os.environ.get("ASKGRAPH_DATA") or Path(__file__).parents[3] / "shared" / "data")
FOLDER = DATA / "spider4sparql"
K = 5

pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no {FOLDER}; ASKGRAPH_DATA names the data"),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = Workspace(tmp_path_factory.mktemp("spider"))
    for path in (FOLDER / "kg").iterdir():
        made.add(path.stem, [path])
    return made


@pytest.fixture(scope="module")
def asked(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> BenchmarkQuestions:
    """Some questions about every graph, each with the file that its method may learn from."""
    chosen = Selection(leave_out="graph", sample=100)
    benchmarks = select_benchmarks(workspace, [str(FOLDER / "questions.jsonl")], chosen)
    [found] = assign_examples(benchmarks, chosen, tmp_path_factory.mktemp("examples"))
    return found


@pytest.fixture(scope="module")
def graphs(workspace: Workspace) -> Iterator[dict[str, KnowledgeGraph]]:
    opened = {f"{name}.ttl": workspace.graph(name) for name in workspace.graphs()}
    yield opened
    for graph in opened.values():
        run_coroutine(graph.endpoint.close())


async def prompt_of(question: GoldQuestion, store: Path, graph: KnowledgeGraph) -> Prompt:
    method = Dfsl(ScriptedModel([""]), k=K, examples=str(store))
    steps = method.answer(Question(question.text, question.language), [graph])
    async with aclosing(steps) as each:  # type: ignore[type-var]
        [prompt] = [step async for step in each if isinstance(step, Prompt)]
    return prompt


async def test_every_prompt_has_three_parts_and_examples_of_other_graphs_and_questions_only(
    asked: BenchmarkQuestions, graphs: dict[str, KnowledgeGraph]
) -> None:
    assert {question.graph for question in asked.questions} == set(graphs)
    learnt_from = {store: read_questions(store) for store in set(asked.examples) if store}
    for question, store in zip(asked.questions, asked.examples, strict=True):
        assert store is not None
        learnt = learnt_from[store]
        assert question.graph not in {one.graph for one in learnt}

        prompt = await prompt_of(question, store, graphs[str(question.graph)])

        task, rest = (str(getattr(message, "text", "")) for message in prompt.messages)
        *shown, last = [part.splitlines() for part in rest.split("\n###\n")]
        texts = [lines[0].removeprefix("Question: ") for lines in shown]
        assert "about other graphs" in task or question.graph in sharing(graphs)
        assert last[0] == f"Question: {question.text}" and "<sparql>" not in last
        assert len(shown) == len(set(texts)) == K
        assert set(texts) <= {one.text for one in learnt}
        assert all((lines.count("<sparql>"), lines[-1]) == (1, "</sparql>") for lines in shown)
        assert repeated(question.text, texts) == []


def sharing(graphs: dict[str, KnowledgeGraph]) -> set[str]:
    """The graphs with a predicate that another one has too, so that its examples name their own."""
    known = {
        name: {p.iri for p in graph.profile.predicates if not p.iri.startswith(STANDARD_NAMESPACES)}
        for name, graph in graphs.items()
    }
    count = Counter(iri for iris in known.values() for iri in iris)
    return {name for name, iris in known.items() if any(count[iri] > 1 for iri in iris)}


def repeated(text: str, others: list[str]) -> list[str]:
    """The texts that ask what the first one asks, in nearly the same words."""
    both = [GoldQuestion(str(at), one) for at, one in enumerate([text, *others])]
    return [
        both[p.second].text for p in find_near_duplicates(both) if not p.first and p.is_duplicate
    ]
