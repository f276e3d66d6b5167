"""Measure the structure of the code: sizes, imports, cycles, names, docstrings, tests by name.

    python tools/structure.py                # each figure with its bound and its aim
    python tools/structure.py --check        # exit with 1 if a figure is beyond its bound
    python tools/structure.py --list names   # what a figure counts: late, cycles, names
    python tools/structure.py --list tests   # modules without a test of their name, and why

Bounds, aims, lists of words and the modules that need no test of their own stand in
`tools/structure.toml`.
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

ROOT = Path(__file__).parents[1]
PACKAGE = "askgraph"
WEB = "server/web/src"

_MINIMA = {"verb_names"}  # all other figures have an upper bound
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
        """All nodes of every module."""
        return {name: list(ast.walk(tree)) for name, tree in self.modules.items()}

    @cached_property
    def users(self) -> Mapping[str, set[str]]:
        """The modules that import each one, late and for types too."""
        return _importers(self.nodes, self)

    @cached_property
    def tested(self) -> Mapping[str, Sequence[ast.AST]]:
        """The nodes of every file of tests by its path."""
        return {
            f"tests/{path.relative_to(self.tests).as_posix()}": list(
                ast.walk(ast.parse(path.read_bytes()))
            )
            for path in self.tests.rglob("*.py")
        }


def figures(code: Code) -> dict[str, float]:
    """Return all figures by name, as `tools/structure.toml` names them."""
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
        "untested": sum(not why for _, why in without_test(code, rules()["no_test"])),
        **_name_figures(code),
        **_docstring_figures(code),
    }


def _name_figures(code: Code) -> dict[str, float]:
    """Return shares in percent of function names and bindings, and counts of other names."""
    kinds = [kind for kind, _ in misnomers(code)]
    functions = sum(1 for nodes in code.nodes.values() for _ in _named_functions(nodes))
    bindings = sum(1 for nodes in code.nodes.values() for _ in _bound_names(nodes))
    return {
        "verb_names": 100 - 100 * kinds.count("verb") / max(1, functions),
        "participle_names": 100 * kinds.count("participle") / max(1, functions),
        "coy_bindings": 100 * kinds.count("coy") / max(1, bindings),
        "duplicate_classes": kinds.count("class"),
        "unitless_constants": kinds.count("unit"),
    }


def _docstring_figures(code: Code) -> dict[str, float]:
    """Return how often docstrings use each odd phrase, per 1,000 words."""
    documented = (n for nodes in code.nodes.values() for n in nodes if isinstance(n, _DOCUMENTED))
    text = "\n\n".join(ast.get_docstring(node) or "" for node in documented)
    per_thousand = 1000 / max(1, len(text.split()))
    return {
        name: per_thousand * len(re.findall(pattern, text, re.IGNORECASE))
        for name, pattern in rules()["phrases"].items()
    }


def misnomers(code: Code) -> Iterator[tuple[str, str]]:
    """Give names that break a rule of names: the kind of rule, and the place and name.

    Kinds are `verb` (a function does not begin with one), `participle`, `coy` (a binding), `class`
    (a name of classes in several modules) and `unit` (a numeric constant without quantity or unit).
    """
    words = rules()["words"]
    verbs, coy = set(words["verbs"].split()), set(words["coy"].split())
    participle, quantity = re.compile(words["participle"]), re.compile(words["quantity"])
    classes: dict[str, list[str]] = {}
    for module, nodes in code.nodes.items():
        for node in _named_functions(nodes):
            first, _, rest = node.name.lstrip("_").partition("_")
            place = f"{module}:{node.lineno} {node.name}"
            if first not in verbs or rest.split("_")[0] == "of":
                yield "verb", place
            if participle.match(node.name.lstrip("_")):
                yield "participle", place
        yield from (
            ("coy", f"{module}:{line} {name}")
            for line, name in _bound_names(nodes)
            if name.lstrip("_") in coy
        )
        for statement in nodes:
            if isinstance(statement, ast.ClassDef):
                classes.setdefault(statement.name, []).append(module)
        yield from (
            ("unit", f"{module}:{line} {name}")
            for line, name in _numeric_constants(code.modules[module])
            if not quantity.search(name)
        )
    for name, modules in classes.items():
        if len(set(modules)) > 1:
            yield "class", f"{name}: {', '.join(sorted(set(modules)))}"


def _named_functions(nodes: Iterable[ast.AST]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Give functions but special methods and properties."""
    for node in nodes:
        if isinstance(node, _FUNCTIONS) and not node.name.startswith("__"):
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            if not decorators & {"property", "cached_property"}:
                yield node


def _bound_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Give line and name of each variable, parameter, function and class where it is bound."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name


def _numeric_constants(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Give line and name of each constant of a module whose value is a number."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if any(isinstance(v, ast.Constant) and type(v.value) in (int, float) for v in values):
                for name in (n for target in targets for n in ast.walk(target)):
                    if isinstance(name, ast.Name) and name.id.isupper():
                        yield name.lineno, name.id


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
            for node in ast.walk(function)
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
    return value < bound if name in _MINIMA else value > bound


def _printed(found: Mapping[str, float], wanted: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'':<20}{'now':>10}{'bound':>10}{'aim':>10}"
    for name, value in found.items():
        numbers = (value, wanted["bounds"][name], wanted["aims"][name])
        cells = "".join(f"{number:>10,.1f}".replace(".0", "  ") for number in numbers)
        beyond = "  beyond" if _beyond(name, value, numbers[1]) else ""
        yield f"{name:<20}{cells}{beyond}"


def main() -> int:
    """Print the figures; 1 with `--check` if one is beyond its bound."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 beyond a bound")
    parser.add_argument("--list", choices=("late", "cycles", "names", "tests"))
    chosen, code = parser.parse_args(), Code()
    if chosen.list:
        untested = sorted(without_test(code, rules()["no_test"]), key=lambda one: one[::-1])
        lists: dict[str, Iterable[str]] = {
            "late": late_imports(code),
            "cycles": map(" ".join, knots(code)),
            "names": map(" ".join, sorted(misnomers(code))),
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
