"""How soon `dfsl` shows its first prompt, with few and with very many examples.

    python benchmarks/few_shot.py [--examples 900 24000] [--match terms]

Aims, with 24,000 examples: the first prompt within 2 s once the index of examples is built, and
that index opened from disk by another process within 0.3 s. Up to 1,000 examples are compared one
by one, without an index. The process that builds the index waits for it; that is the first line of
each number. What begins a process (imports, the graph, reading the examples) is told apart.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from _measure import print_table
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.dfsl import Dfsl
from askgraph.methods.shared import examples as agent_examples
from askgraph.trace import Prompt, Question
from askgraph.workspace import Workspace

ONES = "amber birch cedar dune ember frost grove heath island jade".split()
OTHERS = "castle bridge harbour tower valley meadow market river garden forest".split()
PREFIXES = """\
@prefix wd: <http://w.example/entity/> . @prefix wdt: <http://w.example/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wdt:P1 rdfs:label "follows"@en .
"""


def main() -> None:
    """Measure and print; as a child, measure one process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, nargs="+", default=[900, 24_000])
    parser.add_argument("--match", default="terms", help="form, question, terms or masked")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        sys.stdout.write(json.dumps(asyncio.run(_first_prompt(*options.child, options.match))))
        return
    lines = []
    for number in options.examples:
        with tempfile.TemporaryDirectory() as folder:
            place, file = _made(Path(folder), number)
            arguments = ["--child", str(place), str(file), "--match", options.match]
            for process in ("first", "second"):
                said = subprocess.check_output([sys.executable, __file__, *arguments])
                found = json.loads(said)
                lines.append((f"{number:,}", process, *(found[name] for name in HEADS[2:])))
    print_table(HEADS, *lines)


HEADS = ("examples", "process", "begin s", "index opened s", "first prompt s", "second prompt s")


def _made(folder: Path, number: int) -> tuple[Path, Path]:
    """A workspace with a graph of so many things, and a file with a question about each."""
    graph, file = folder / "many.ttl", folder / "many.jsonl"
    with graph.open("w", encoding="utf-8") as triples, file.open("w", encoding="utf-8") as asked:
        triples.write(PREFIXES)
        for at in range(number):
            follows = f"wd:Q{at} wdt:P1 wd:Q{(at + 1) % number}"
            triples.write(f'{follows} ; rdfs:label "{_called(at)}"@en .\n')
            iris = f"<http://w.example/entity/Q{at}> <http://w.example/direct/P1>"
            sparql = f"SELECT ?x {{ {iris} ?x }}"
            one = {"question": f"What follows {_called(at)}?", "sparql": sparql}
            asked.write(json.dumps(one) + "\n")
    Workspace(folder / "workspace").add("many", [graph])
    return folder / "workspace", file


def _called(number: int) -> str:
    return f"{ONES[number % 10]} {OTHERS[number // 10 % 10]} {number}"


async def _first_prompt(place: str, file: str, match: str) -> dict[str, str]:
    start = time.perf_counter()
    opened = Workspace(Path(place)).graph("many")
    graph = replace(opened, examples=agent_examples.examples_at(file))
    method = Dfsl(ScriptedModel(["none"] * 2), match=match, hypotheses="one")
    begin = time.perf_counter() - start
    spent: list[float] = []
    agent_examples.kept_index = _timed(agent_examples.kept_index, spent)
    prompts = []
    for number in (7, 701):
        start = time.perf_counter()
        async for step in method.answer(Question(f"And what follows {_called(number)}?"), [graph]):
            if isinstance(step, Prompt):
                prompts.append(time.perf_counter() - start)
    await graph.endpoint.close()
    times = (begin, spent[0] if spent else None, *prompts)
    return {
        name: "-" if seconds is None else f"{seconds:.2f}"
        for name, seconds in zip(HEADS[2:], times, strict=True)
    }


def _timed(call: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def timed(*given: object, **more: object) -> Any:
        start = time.perf_counter()
        found = call(*given, **more)
        spent.append(time.perf_counter() - start)
        return found

    return timed


if __name__ == "__main__":
    main()
