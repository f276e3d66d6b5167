"""A method from another package, for tests of commands: it looks the answers up in a file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MODULE = "lookup_method"
PREFIX = "PREFIX : <http://example.org/> "
JUPITER = PREFIX + "SELECT ?moon { ?moon :orbits :Jupiter }"
MARS = PREFIX + "SELECT ?moon { ?moon :orbits :Mars }"
VENUS = PREFIX + "ASK { ?moon :orbits :Venus }"

METHOD = '''
"""Answers with the query that a file has for a question."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from askgraph.graph import KnowledgeGraph
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer, Question, Refusal, Step

ANSWERS = Path(__file__).with_name("answers.json")


@dataclass(frozen=True)
class Lookup:
    async def answer(
        self, question: Question, graphs: Sequence[KnowledgeGraph]
    ) -> AsyncIterator[Step]:
        with ANSWERS.with_name("asked").open("a") as file:
            file.write(question.text + "\\n")
        query = json.loads(ANSWERS.read_text()).get(question.text)
        if query is None:
            yield Refusal("not in the file")
        elif query == "slow":
            await asyncio.sleep(60)
        elif query == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif query == "bug":
            raise KeyError(query)
        elif "ASK" in query:
            boolean = await graphs[0].endpoint.ask(query)
            yield Answer(query, graphs[0].name, SelectResult((), ()), (), "", 0.9, boolean)
        else:
            result = await graphs[0].endpoint.select(query)
            yield Answer(query, graphs[0].name, result, result.variables, "", 0.9)
'''


def install(folder: Path, answers: Mapping[str, str]) -> None:
    """Write the package; its method is `lookup` where `folder` is on the path."""
    (folder / f"{MODULE}.py").write_text(METHOD)
    (folder / "answers.json").write_text(json.dumps(answers))
    about = folder / "lookup_method-1.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lookup-method\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[askgraph.method]\nlookup = lookup_method:Lookup\n")


def questions(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
