"""Count the files and functions that one question passes, and the files that call each other.

    python tools/question_path.py                # three ways in: cli, guided, python
    python tools/question_path.py cli --list     # one of them, with its files and pairs

Each runs in a process of its own over the sample graph: `askgraph ask` with graph search, guided
with a scripted model, and a second question to graph search from Python.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import redirect_stdout, suppress
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_OPTIMIZED
from pathlib import Path
from types import FrameType

import askgraph

WAYS = ("cli", "guided", "python")
SUSPENDING = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
FIRST_INSTRUCTIONS = 8  # bytes of a generator's code before it runs for the first time
QUESTION = "Which moons orbit Mars?"
REPLY = {"thought": "", "choose": 0, "answer": ["moon"], "sure": 0.9, "ask": "", "between": []}
REPLY |= {"query": "SELECT DISTINCT ?moon { ?moon ont:orbits space:Mars }"}


class CallTracer:
    """Count the starts of the package's functions, and which file calls which."""

    def __init__(self) -> None:
        self.prefix = f"{Path(askgraph.__file__).parent}{os.sep}"
        self.functions: Counter[str] = Counter()
        self.calls: set[tuple[str, str]] = set()
        self.is_counting = False
        threading.setprofile(self)  # threads may start before the question
        sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Note that a function starts: not what goes on, a class's body, or what an import asks."""
        code, caller = frame.f_code, frame.f_back
        if not self.is_counting or event != "call" or not code.co_filename.startswith(self.prefix):
            return
        goes_on = code.co_flags & SUSPENDING and frame.f_lasti > FIRST_INSTRUCTIONS
        is_import = caller is not None and "importlib" in caller.f_code.co_filename
        if goes_on or is_import or code.co_name[0] == "<" or not code.co_flags & CO_OPTIMIZED:
            return
        name = code.co_filename.removeprefix(self.prefix)
        self.functions[f"{name}:{code.co_qualname}"] += 1
        if caller and caller.f_code.co_filename.startswith(self.prefix):
            self.calls.add((caller.f_code.co_filename.removeprefix(self.prefix), name))


def ask_question(way: str, folder: str, tracer: CallTracer) -> None:
    """Ask by one way in; the tracer counts from where all is ready."""
    if way == "cli":
        from askgraph.cli import main

        sys.argv = ["askgraph", "ask", QUESTION, "-g", "space", "--workspace", folder]
        tracer.is_counting = True
        with suppress(SystemExit):
            main()
    else:
        from askgraph.api import ask
        from askgraph.llm.scripted import ScriptedModel

        model = ScriptedModel(lambda request: json.dumps(REPLY)) if way == "guided" else None
        if way == "python":  # what is loaded once is no part of it
            ask(QUESTION.replace("Mars", "Neptune"), "space", workspace=folder)
        tracer.is_counting = True
        method = "guided" if model else None
        ask(QUESTION, "space", method=method, model=model, workspace=folder)


def trace_question(way: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the functions that a question passes (how often), and the calls between files."""
    from askgraph import sample

    with tempfile.TemporaryDirectory() as folder:
        inside = [__file__, way, "--inside", folder]
        add = ["-m", "askgraph", "add", "space", str(sample.graph_path()), "--workspace", folder]
        index = ["-m", "askgraph", "index", "build", "space", "--workspace", folder]
        for made in (add, index, inside):
            done = subprocess.run([sys.executable, *made], check=True, stdout=subprocess.PIPE)
    functions, calls = json.loads(done.stdout)
    return functions, [(caller, called) for caller, called in calls]


def main() -> None:
    """Print the figures of each way in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs="*", default=WAYS, help=", ".join(WAYS))
    parser.add_argument("--list", action="store_true", help="name the files and the pairs")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        tracer = CallTracer()
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            ask_question(options.ways[0], options.inside, tracer)
        print(json.dumps([tracer.functions, sorted(tracer.calls)]))
        return
    for way in options.ways:
        functions, calls = trace_question(way)
        files = sorted({name.partition(":")[0] for name in functions})
        pairs = [f"{a} <-> {b}" for a, b in calls if a < b and (b, a) in calls]
        print(f"{way}: {len(files)} files, {len(functions)} functions, {len(pairs)} pairs")
        for line in [*files, *pairs] if options.list else ():
            print(f"  {line}")


if __name__ == "__main__":
    main()
