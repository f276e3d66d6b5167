"""The Python API that versions promise: a changed name or signature is a readable diff.

After a change that is meant: `ASKGRAPH_API=write python -m pytest tests/test_public_names.py`.
"""

import ast
import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTING = ROOT / "docs" / "api.txt"
MODULES = "api endpoint errors graph llm llm.scripted methods sample trace trace.codec workspace"


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.AnnAssign(target=target) | ast.Assign(targets=[target]):
            return [ast.unparse(target)]
        case _:
            return []


def _declared(body: list[ast.stmt], bases: str = "") -> list[ast.stmt]:
    """The public statements, and private classes that public ones are based on, without bodies."""
    exports: list[str] | None = None
    declared = []
    for node in body:
        if _names(node) == ["__all__"] and isinstance(node, ast.Assign):
            exports = ast.literal_eval(node.value)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            members = _declared(node.body) if isinstance(node, ast.ClassDef) else []
            node.body = members or [ast.Expr(ast.Constant(...))]
        for name in _names(node):
            private = name.startswith("_") and name not in ("_", "__init__", "__call__")
            if name in bases or not (private if exports is None else name not in exports):
                declared.append(node)
    return declared


def _listing() -> str:
    text = ""
    for name in MODULES.split():
        path = ROOT / "src" / "askgraph" / name.replace(".", "/")
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        module = ast.parse(file.read_text(encoding="utf-8"))
        classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
        bases = " ".join(ast.unparse(base) for node in classes for base in node.bases)
        module.body = _declared(module.body, bases)
        text += f"# askgraph.{name}\n\n{ast.unparse(module)}\n\n"
    return text


def test_the_public_names_are_those_that_are_listed() -> None:
    if os.environ.get("ASKGRAPH_API") == "write":
        LISTING.write_text(_listing(), encoding="utf-8")

    assert _listing() == LISTING.read_text(encoding="utf-8"), "see CONTRIBUTING.md, Versions"
