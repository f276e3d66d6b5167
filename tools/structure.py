"""Figures of the code's structure: sizes, imports, cycles, prose of docstrings, tests by name.

    python tools/structure.py                # the figures, with the bound and the aim of each
    python tools/structure.py --check        # 1 if one is beyond its bound
    python tools/structure.py --list late    # what a figure counts: late, cycles, openings
    python tools/structure.py --list tests   # which module has no test of its name, and why

Bounds, aims and the modules that need no test of their own stand in `tools/structure.toml`.
"""

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

__all__ = ["Code", "figures", "knots", "rules", "without_test"]

ROOT = Path(__file__).parents[1]
PACKAGE = "askgraph"
WEB = "server/web/src"

_WORD = re.compile(r"[A-Za-z']+")
_CONDITIONS = ("if", "when")
_OPENINGS = ("what", "which", "how", "who")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.Module, ast.ClassDef, *_FUNCTIONS)


@dataclass(frozen=True)
class Code:
    """The source of a package: `folder` holds it, `tests` its tests."""

    folder: Path = ROOT / "src" / PACKAGE
    tests: Path = ROOT / "tests"

    @cached_property
    def modules(self) -> Mapping[str, ast.Module]:
        """Every module by its dotted name."""
        return {
            _dotted(path, self.folder): ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted(self.folder.rglob("*.py"))
            if "node_modules" not in path.parts
        }

    @cached_property
    def nodes(self) -> Mapping[str, Sequence[ast.AST]]:
        """Every module and its statements, at any depth."""
        return {name: [tree, *_walk_statements(tree)] for name, tree in self.modules.items()}

    @cached_property
    def users(self) -> Mapping[str, set[str]]:
        """The modules that import each one, late and for types too."""
        return _importers(self.nodes, self)

    @cached_property
    def tested(self) -> Mapping[str, Sequence[ast.AST]]:
        """The statements of every file of tests by its path."""
        return {
            f"tests/{path.relative_to(self.tests).as_posix()}": list(
                _walk_statements(ast.parse(path.read_bytes()))
            )
            for path in self.tests.rglob("*.py")
        }


def figures(code: Code) -> dict[str, float]:
    """Return all figures by name, as `tools/structure.toml` names them."""
    words = [
        word.lower()
        for nodes in code.nodes.values()
        for node in nodes
        if isinstance(node, _DOCUMENTED)
        for word in _WORD.findall(ast.get_docstring(node) or "")
    ]
    each = 1000 / max(1, len(words))
    scripts = [code.tests.with_name(name) for name in ("tools", "benchmarks")]
    return {
        "files": len(code.modules),
        "lines": _lines(code.folder),
        "functions": sum(
            isinstance(node, _FUNCTIONS) for nodes in code.nodes.values() for node in nodes
        ),
        "scripts": sum(map(_lines, scripts)),
        "tests": _lines(code.tests),
        "web_lines": _lines(code.folder / WEB, {".ts", ".tsx", ".css"}),
        "late_imports": sum(1 for _ in late_imports(code)),
        "in_cycles": sum(map(len, knots(code))),
        "where": each * words.count("where"),
        "if_when": each * sum(word in _CONDITIONS for word in words),
        "openings": sum(1 for _ in openings(code)),
        "untested": sum(not why for _, why in without_test(code, rules()["no_test"])),
    }


def _walk_statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Give what the blocks of a tree hold; expressions are ten times as many and of no use here."""
    for block in ("body", "handlers", "cases", "orelse", "finalbody"):
        for statement in getattr(tree, block, ()):
            yield statement
            yield from _walk_statements(statement)


def _lines(folder: Path, suffixes: Collection[str] = (".py",)) -> int:
    files = (path for path in folder.rglob("*") if path.suffix in suffixes)
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def late_imports(code: Code) -> Iterator[str]:
    """Give each import inside a function, with its module and line."""
    for name, nodes in code.nodes.items():
        functions = (node for node in nodes if isinstance(node, _FUNCTIONS))
        inside = {
            node.lineno: ast.unparse(node)
            for function in functions
            for node in _walk_statements(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        for line, text in sorted(inside.items()):
            yield f"{name}:{line} {text}"


def knots(code: Code) -> list[list[str]]:
    """Return the sets of modules that import each other, late and for types too, largest first."""
    names = sorted(code.modules)
    place = {name: at for at, name in enumerate(names)}
    edges = [(place[name], place[user]) for name in names for user in code.users[name]]
    links = np.zeros((len(names), len(names)), dtype=bool)
    links[tuple(np.array(edges, dtype=int).reshape(-1, 2).T)] = True
    _, labels = connected_components(links, connection="strong")
    found = [[names[at] for at in np.flatnonzero(labels == label)] for label in np.unique(labels)]
    return sorted((knot for knot in found if len(knot) > 1), key=len, reverse=True)


def openings(code: Code) -> Iterator[str]:
    """Give the docstrings of modules that begin with a question word."""
    for name, tree in code.modules.items():
        text = ast.get_docstring(tree) or ""
        if (words := _WORD.findall(text)) and words[0].lower() in _OPENINGS:
            yield f"{name}: {text.splitlines()[0]}"


def without_test(code: Code, reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give each module that has no test file of its name, and why; "" if there is no reason.

    A module needs none if a test imports it, if modules use it that are tested, or if it has no
    code.
    """
    own = {name for name in code.modules if _has_test(name, code)}
    by_tests, users = _importers(code.tested, code), code.users
    bare = {name for name, tree in code.modules.items() if _is_bare(tree)}
    tested = own | {name for name in code.modules if by_tests[name]}
    why = {name: f"imported by {min(by_tests[name])}" for name in tested - own}
    while further := {name for name in code.modules if name not in tested and users[name] & tested}:
        why |= {name: f"part of {min(users[name] & tested)}" for name in further}
        tested |= further
    for name in code.modules.keys() - own - bare:
        short = name.removeprefix(f"{PACKAGE}.")
        said = next((text for key, text in reasons.items() if fnmatchcase(short, key)), "")
        yield name, said or why.get(name, "")


def _is_bare(tree: ast.Module) -> bool:
    """Whether a module has nothing but words: a folder's docstring, its names."""
    return all(isinstance(node, ast.Expr | ast.Assign) for node in tree.body)


def rules() -> dict[str, Any]:
    """Return the bounds, the aims, and the reasons for which modules have no test of their own."""
    return tomllib.loads((ROOT / "tools" / "structure.toml").read_text(encoding="utf-8"))


def _has_test(name: str, code: Code) -> bool:
    """Whether the mirrored folder has a test of a module's name, or the package's own folder."""
    *folders, last = name.removeprefix(PACKAGE).removeprefix(".").split(".")
    file = f"test_{last.lstrip('_') or 'init'}.py"
    inside = Path(*folders, last)
    places = (Path(*folders, file), inside / file, inside / "test_init.py")
    return any(f"tests/{place.as_posix()}" in code.tested for place in places)


def _importers(files: Mapping[str, Sequence[ast.AST]], code: Code) -> dict[str, set[str]]:
    """Which of some files import each module."""
    found: dict[str, set[str]] = {name: set() for name in code.modules}
    for importer, nodes in files.items():
        for name in _imported(nodes, code.modules) - {importer}:
            found[name].add(importer)
    return found


def _imported(nodes: Sequence[ast.AST], known: Mapping[str, object]) -> set[str]:
    """The modules of the package that a file imports anywhere."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str() as module, names=names):
                wholes = (f"{module}.{alias.name}" for alias in names)
                found |= {whole if whole in known else module for whole in wholes}
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
    return found & known.keys()


def _dotted(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join([PACKAGE, *(part for part in parts if part != "__init__")])


def _beyond(name: str, value: float, bound: float) -> bool:
    return value < bound if name == "if_when" else value > bound


def _printed(found: Mapping[str, float], wanted: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'':<14}{'now':>10}{'bound':>10}{'aim':>10}"
    for name, value in found.items():
        numbers = (value, wanted["bounds"][name], wanted["aims"][name])
        cells = "".join(f"{number:>10,.1f}".replace(".0", "  ") for number in numbers)
        beyond = "  beyond" if _beyond(name, value, numbers[1]) else ""
        yield f"{name:<14}{cells}{beyond}"


def main() -> int:
    """Print the figures; 1 with `--check` if one is beyond its bound."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 beyond a bound")
    parser.add_argument("--list", choices=("late", "cycles", "openings", "tests"))
    chosen, code = parser.parse_args(), Code()
    if chosen.list:
        untested = sorted(without_test(code, rules()["no_test"]), key=lambda one: one[::-1])
        lists: dict[str, Iterable[str]] = {
            "late": late_imports(code),
            "cycles": map(" ".join, knots(code)),
            "openings": openings(code),
            "tests": (f"{module}: {why or 'no reason'}" for module, why in untested),
        }
        print("\n".join(lists[chosen.list]))
        return 0
    found, wanted = figures(code), rules()
    print("\n".join(_printed(found, wanted)))
    beyond = [name for name in found if _beyond(name, found[name], wanted["bounds"][name])]
    return 1 if chosen.check and beyond else 0


if __name__ == "__main__":
    sys.exit(main())
