"""Readings and sentences over the sample graph and many everyday graphs, beside a golden file.

To write the file anew: `python tests/answers/test_everyday_readings.py`, then read the difference.
"""

import asyncio
import json
import random
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from askgraph.answers import AnswerBuilder
from askgraph.graph import KnowledgeGraph
from askgraph.sample import graph_path
from askgraph.workspace import Workspace

if __name__ == "__main__":
    import sys

    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.answers.everyday_graphs import HEADER, open_graph, read_domains

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "everyday_readings.md"
ROUNDS = 2
QUERIES_PER_GRAPH = 8
LANGUAGES = ("de", "es", "fr")
SAMPLE_PREFIXES = """PREFIX ont: <https://example.org/space/ontology#>
PREFIX space: <https://example.org/space/>
"""


def list_sample_queries() -> Iterator[tuple[str, str, str]]:
    """Yield a title, a query and a language for each question of the sample graph."""
    for line in (FOLDER / "sample_readings.txt").read_text(encoding="utf-8").splitlines():
        language, _, query = line.partition(" ")
        yield query, SAMPLE_PREFIXES + query, language
    path = graph_path().with_name("questions.jsonl")
    for line in path.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if query := question.get("sparql"):
            yield question["question"], query, question["lang"]


async def read_query(graph: KnowledgeGraph, query: str, language: str) -> tuple[str, str]:
    """Return the reading of a query and the sentence of its result."""
    body = query[query.rindex("\n") + 1 :] if query.startswith("PREFIX") else query
    form = "ask" if body.startswith("ASK") or "\nASK" in query else "select"
    result = await getattr(graph.endpoint, form)(query)
    answer = await AnswerBuilder(graph, [language]).build_user_answer(query, result)
    return answer.words, answer.sentence


async def read_sample(folder: Path) -> AsyncIterator[str]:
    """Yield the lines of the golden file for the sample graph."""
    workspace = Workspace(folder)
    workspace.add("space", [graph_path()])
    graph = workspace.graph("space")
    yield "## space"
    for title, query, language in list_sample_queries():
        reading, sentence = await read_query(graph, query, language)
        yield f"\n{title}\n- {reading}\n- {sentence}"
    await graph.endpoint.close()


async def read_everyday() -> AsyncIterator[str]:
    """Yield the lines of the golden file for the everyday graphs."""
    for domain in read_domains(FOLDER / "everyday_domains.txt", ROUNDS):
        graph = open_graph(domain.name, domain.make_turtle())
        queries = list(domain.make_queries())
        seed = random.Random(domain.name)
        kinds = seed.sample(sorted({kind for kind, _ in queries}), QUERIES_PER_GRAPH)
        yield f"\n## {domain.name}"
        for at, kind in enumerate(kinds):
            query = seed.choice([query for other, query in queries if other == kind])
            shown = query.removeprefix(HEADER).replace(
                f"http://everyday.example/{domain.name}/", ""
            )
            yield f"\n{kind}: `{shown}`"
            languages = [domain.language]
            if at == 0 and domain.language == "en":
                languages.append(seed.choice(LANGUAGES))
            for language in languages:
                reading, sentence = await read_query(graph, query, language)
                yield f"- {reading}\n- {sentence}"


async def write_lines(folder: Path) -> str:
    """Return the golden file as it is now."""
    lines = ["# Readings and sentences\n"]
    lines += [line async for line in read_sample(folder)]
    lines += [line async for line in read_everyday()]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
async def test_the_readings_are_those_of_the_golden_file(tmp_path: Path) -> None:
    assert await write_lines(tmp_path) == GOLDEN.read_text(encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        GOLDEN.write_text(asyncio.run(write_lines(Path(name))), encoding="utf-8")
