"""The Python reference as Markdown: the public names of each module, from its source.

Nothing is imported, so that modules of extras which are not installed are described, too.
"""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["fields_table", "in_table", "module_page", "module_section", "package_pages", "prose"]

_WIDTH = 92
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def package_pages(package: Path, *, leave_out: Collection[str] = ()) -> dict[str, str]:
    """Return a page for each part of a package, by its name, and `index` that lists them.

    A part is a folder of the package, or a module that lies in the package itself; those to
    `leave_out` have no page.
    """
    parts = sorted({path.relative_to(package).parts[0] for path in _modules(package)})
    pages = {}
    rows = []
    for part in parts:
        name = part.removesuffix(".py")
        if name in {"__init__", "__main__", *leave_out}:
            continue
        pages[name] = module_page(package / part, package)
        first = pages[name].split("\n\n")[1].replace("\n", " ")
        rows.append(f"| [`{package.name}.{name}`]({name}.md) | {in_table(first)} |")
    own = module_section(package / "__init__.py", package, level=1)
    return pages | {"index": "\n".join([own, "\n| part | |", "|---|---|", *rows, ""])}


def module_page(path: Path, package: Path) -> str:
    """Return the page of a module, or of a folder with all public modules below it."""
    if path.suffix == ".py":
        return module_section(path, package, level=1)
    sections = [module_section(path / "__init__.py", package, level=1)]
    sections += [
        module_section(below, package, level=2)
        for below in sorted(_modules(path), key=lambda one: one.with_suffix("").parts)
        if below != path / "__init__.py"
    ]
    return "\n".join(sections)


def module_section(path: Path, package: Path, *, level: int) -> str:
    """Return what a module promises: its docstring, then each name of its `__all__`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    dotted = path.relative_to(package.parent).with_suffix("").as_posix().replace("/", ".")
    dotted = dotted.removesuffix(".__init__")
    blocks = [f"{'#' * level} `{dotted}` {{#{dotted}}}", prose(ast.get_docstring(tree) or "")]
    for name in _public(tree):
        blocks += _described(name, tree, dotted, level + 1)
    return "\n\n".join(block for block in blocks if block) + "\n"


def fields_table(path: Path, name: str) -> str:
    """Return the docstring of a dataclass, and its fields with types and defaults as a table."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body = next(
        node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name
    ).body
    rows = []
    for at, node in enumerate(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            shown = _cell(ast.unparse(node.annotation))
            default = _cell(ast.unparse(node.value)) if node.value else "required"
            says = in_table(prose(_below(body, at)))
            rows.append((f"`{node.target.id}`", shown, default, says))
    heads = ("setting", "type", "default", "")
    width = 4 if any(row[3] for row in rows) else 3
    table = [heads[:width], ("---",) * width, *(row[:width] for row in rows)]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in table)
    return f"{prose(_docstring(body))}\n\n{lines}\n"


def prose(docstring: str) -> str:
    """Return a docstring as Markdown: what is indented stays code, elsewhere nothing is markup."""
    lines = docstring.splitlines()
    return "\n".join(line if line.startswith("    ") else _plain(line) for line in lines).strip()


def _plain(line: str) -> str:
    pieces = re.split(r"(`+[^`]*`+)", line)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([*<\[])", r"\\\1", piece) for piece in pieces
    )


def _cell(code: str) -> str:
    return f"`{in_table(code)}`"


def in_table(text: str) -> str:
    """Return a text as a cell of a table has it: on one line, bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def _modules(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).parts
        if all(not part.startswith("_") or part == "__init__.py" for part in parts):
            yield path


def _public(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value) if isinstance(node.value, ast.List) else []
            return [str(name) for name in names]
    return []


def _described(name: str, tree: ast.Module, module: str, level: int) -> list[str]:
    """The blocks of one public name; of one that is imported, where it comes from."""
    title = f"{'#' * level} `{name}` {{#{module}.{name}}}"
    for at, node in enumerate(tree.body):
        match node:
            case ast.ClassDef(name=found) if found == name:
                return [title, *_class(node)]
            case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) if found == name:
                return [title, _code(_signature(node)), prose(ast.get_docstring(node) or "")]
            case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                return [title, _code(_shortened(node)), prose(_below(tree.body, at))]
            case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                return [title, _code(_shortened(node)), prose(_below(tree.body, at))]
            case ast.ImportFrom(module=str(source), names=names) if name in {
                alias.asname or alias.name for alias in names
            }:
                return [f"- `{name}`, from `{source}`"]
    return [f"- `{name}`"]


def _class(node: ast.ClassDef) -> list[str]:
    """A class: its head with its fields, its docstring, its public methods."""
    made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    head = [f"@{ast.unparse(one)}" for one in node.decorator_list]
    head.append(f"class {node.name}({bases}):" if bases else f"class {node.name}:")
    says = []
    for at, one in enumerate(node.body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            if one.target.id.startswith("_"):
                continue
            head.append(f"    {_shortened(one)}")
            if words := " ".join(_below(node.body, at).split()):
                says.append(f"- `{one.target.id}`: {prose(words)}")
    head += [f"    {_signature(one, '    ')}" for one in made]
    methods = [
        _method(one)
        for one in node.body
        if isinstance(one, _Function) and not one.name.startswith("_")
    ]
    if len(head) == 1 + len(node.decorator_list):
        head[-1] = head[-1].removesuffix(":")
    blocks = [_code("\n".join(head)), prose(_docstring(node.body)), "\n".join(says)]
    return [*blocks, *methods]


def _method(node: _Function) -> str:
    """The signature with the decorators that change how it is called, and the docstring."""
    marks = [ast.unparse(one) for one in node.decorator_list]
    known = [f"@{mark}" for mark in marks if mark in {"property", "classmethod", "staticmethod"}]
    code = _code("\n".join([*known, _signature(node)]))
    return f"{code}\n\n{prose(ast.get_docstring(node) or '')}"


def _signature(node: _Function, indent: str = "") -> str:
    """The signature on one line, or an argument on each where that would be long."""
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    given = _arguments(node.args)
    line = f"{kind} {node.name}({', '.join(given)}){gives}"
    if len(indent) + len(line) <= _WIDTH:
        return line
    inside = "".join(f"{indent}    {one},\n" for one in given)
    return f"{kind} {node.name}(\n{inside}{indent}){gives}"


def _arguments(node: ast.arguments) -> list[str]:
    """Each argument as source, the marks `/` and `*` among them."""
    placed = [*node.posonlyargs, *node.args]
    defaults = [None] * (len(placed) - len(node.defaults)) + list(node.defaults)
    shown = [_argument(one, value) for one, value in zip(placed, defaults, strict=True)]
    if node.posonlyargs:
        shown.insert(len(node.posonlyargs), "/")
    if node.vararg:
        shown.append(f"*{_argument(node.vararg, None)}")
    elif node.kwonlyargs:
        shown.append("*")
    shown += [
        _argument(one, value) for one, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)
    ]
    return shown + ([f"**{_argument(node.kwarg, None)}"] if node.kwarg else [])


def _argument(node: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(node.annotation)}" if node.annotation else ""
    if default is None:
        return f"{node.arg}{kind}"
    return f"{node.arg}{kind}{' = ' if kind else '='}{ast.unparse(default)}"


def _shortened(node: ast.stmt) -> str:
    """An assignment as it stands, without a value that is long."""
    text = ast.unparse(node)
    return text if len(text) <= 120 and "\n" not in text else text[:100].split("\n")[0] + " …"


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _docstring(body: list[ast.stmt]) -> str:
    return _words(body[0]) if body else ""


def _below(body: list[ast.stmt], at: int) -> str:
    """The text right below an assignment, which says what it is."""
    return _words(body[at + 1]) if at + 1 < len(body) else ""


def _words(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return "\n".join(line.removeprefix("    ") for line in text.strip().splitlines())
    return ""
