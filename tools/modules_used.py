"""Modules of ours that one question imports, and how often the text of a query is cut into tokens.

    python tools/modules_used.py            # the numbers
    python tools/modules_used.py --list     # and the modules
    python tools/modules_used.py --check    # 1 above the bounds

Each method answers a question over the sample graph in a new process, as `askgraph ask` does;
guided is given a model whose reply is written here, and finds the indices that `askgraph index
build` made. A second question, when everything is loaded, counts the passes of the lexer: at most
one for a query that comes as text, from a model, and none for those that the program builds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

__all__ = ["BOUNDS", "Used", "used"]

BOUNDS = {"graph-search": 75, "guided": 115}
"""So many modules of ours at most."""
AS_TEXT = {"graph-search": 0, "guided": 1}
"""So many queries of the second question come as text."""
PLANETS = ("Mars", "Neptune")
QUESTION = "Which moons has {planet}?"
REPLY = json.dumps(
    {
        "thought": "It fits.",
        "choose": 0,
        "query": "SELECT DISTINCT ?moon { ?moon ont:orbits space:PLANET }",
        "answer": ["moon"],
        "sure": 0.9,
        "ask": "",
        "between": [],
    }
)
LEXER = "askgraph.sparql.lexer"
PASS = "tokens"
"""The function of the lexer that goes through a text."""


@dataclass(frozen=True)
class Used:
    """The modules that a method's question imports, and the texts that its second one cuts up."""

    method: str
    modules: tuple[str, ...]
    passes: tuple[str, ...]

    @property
    def fine(self) -> bool:
        """Whether both are within the bounds."""
        within = len(self.modules) <= BOUNDS[self.method]
        return within and len(self.passes) <= AS_TEXT[self.method]


def used(method: str) -> Used:
    """Ask by a method in a new process, and return what it used."""
    from askgraph import sample

    with tempfile.TemporaryDirectory() as folder:
        for made in (["add", "space", str(sample.graph_path())], ["index", "build", "space"]):
            command = [sys.executable, "-m", "askgraph", *made, "--workspace", folder]
            subprocess.run(command, check=True, capture_output=True)
        inside = [sys.executable, __file__, "--inside", folder, "--method", method]
        done = subprocess.run(inside, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    return Used(method, tuple(found["modules"]), tuple(found["passes"]))


# Nothing of ours is imported at the top: in the process that counts, only a question may do that.


def _inside(method: str, folder: str) -> Used:
    """Ask twice in this process."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        _by_command(method, PLANETS[0], folder)
    modules = sorted(name for name in sys.modules if name.partition(".")[0] == "askgraph")
    with _counted() as passes:
        _by_script(method, PLANETS[1], folder)
    return Used(method, tuple(modules), tuple(passes))


def _by_command(method: str, planet: str, folder: str) -> None:
    """Ask as `askgraph ask` does; a model that is no name is handed to the command's function."""
    question = QUESTION.format(planet=planet)
    if method == "graph-search":
        from askgraph.cli import main

        sys.argv = ["askgraph", "ask", question, "-g", "space", "--workspace", folder]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
        return
    from askgraph.cli.ask import ask
    from askgraph.cli.options import Asking, Common

    model = cast("str", _model(planet))
    ask(Common(Path(folder)), Asking(["space"], method, model), [question])


def _model(planet: str) -> object:
    from askgraph.llm.scripted import ScriptedModel

    return ScriptedModel(lambda request: REPLY.replace("PLANET", planet))


def _by_script(method: str, planet: str, folder: str) -> None:
    from askgraph import ask

    model = cast("str", _model(planet)) if method == "guided" else None
    question = QUESTION.format(planet=planet)
    result = ask(question, "space", method=method, model=model, workspace=folder)
    if not result.answered:
        raise SystemExit(f"{method} did not answer {question!r}: {result}")


@contextmanager
def _counted() -> Iterator[list[str]]:
    """Collect the texts that any module gives to the lexer."""
    passes: list[str] = []
    lexer = sys.modules[LEXER]
    real = getattr(lexer, PASS)

    def counting(text: str) -> object:
        passes.append(text)
        return real(text)

    ours = [module for name, module in sys.modules.items() if name.startswith("askgraph.")]
    holders = [module for module in ours if getattr(module, PASS, None) is real]
    for module in holders:
        setattr(module, PASS, counting)
    try:
        yield passes
    finally:
        for module in holders:
            setattr(module, PASS, real)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true", help="name the modules and the texts")
    parser.add_argument("--check", action="store_true", help="exit with 1 above the bounds")
    parser.add_argument("--method", choices=BOUNDS, help="only this one")
    parser.add_argument("--inside", metavar="WORKSPACE", help=argparse.SUPPRESS)
    return parser.parse_args()


def _listed(one: Used) -> Iterator[str]:
    yield from one.modules
    for text, times in Counter(one.passes).most_common():
        yield f"{times} times {' '.join(text.split())[:160]}"


def main() -> int:
    """Print what is used; 1 with `--check` if it is more than the bounds say."""
    chosen = _arguments()
    if chosen.inside:
        print(json.dumps(asdict(_inside(chosen.method, chosen.inside))))
        return 0
    found = [used(method) for method in ([chosen.method] if chosen.method else BOUNDS)]
    if chosen.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    for one in found if not chosen.json else ():
        print(
            f"{one.method}: {len(one.modules)} modules of ours (at most {BOUNDS[one.method]}), "
            f"{len(one.passes)} passes of the lexer over {len(set(one.passes))} texts "
            f"(at most {AS_TEXT[one.method]})"
        )
        for line in _listed(one) if chosen.list else ():
            print(f"  {line}")
    return 1 if chosen.check and not all(one.fine for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
