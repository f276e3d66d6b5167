"""The reference pages of the documentation, made from the code: never written by hand.

    python -m tools.reference FOLDER   # write them below a folder

The command line from `--help`, settings from the dataclasses that hold them, REST from the
server's own description.
"""

import ast
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from askgraph.cli import app
from askgraph.server.app import create_app
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

_COLUMNS = 100
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def commands_page() -> str:
    """Return one page with a section for each command, groups before what is in them."""
    return "\n".join(
        [_TABLES["commands"], *_sections(typer.main.get_command(app), "askgraph", None)]
    )


def _sections(command: object, name: str, parent: typer.Context | None) -> Iterator[str]:
    if not isinstance(command, TyperGroup | TyperCommand) or command.hidden:
        return
    context = typer.Context(
        command, info_name=name, parent=parent, terminal_width=_COLUMNS, max_content_width=_COLUMNS
    )
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, TyperGroup):
        for below in command.list_commands(context):
            yield from _sections(command.resolve_command(context, [below])[1], below, context)


def fields_table(path: Path, name: str) -> str:
    """Return the docstring of a dataclass, and its fields with types and defaults as a table."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    body = next(node for node in classes if node.name == name).body
    rows = []
    for at, node in enumerate(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            default = f"`{ast.unparse(node.value)}`" if node.value else "required"
            kind = f"`{ast.unparse(node.annotation)}`"
            rows.append((f"`{node.target.id}`", kind, default, prose(_words(body, at + 1))))
    width = 4 if any(row[3] for row in rows) else 3
    heads = ("setting", "type", "default", "")[:width]
    return f"{prose(_words(body, 0))}\n\n{_table(heads, [row[:width] for row in rows])}\n"


def prose(docstring: str) -> str:
    """Return a docstring as Markdown: what is indented stays code, elsewhere nothing is markup."""
    lines = docstring.splitlines()
    return "\n".join(line if line.startswith("    ") else _plain(line) for line in lines).strip()


def _plain(line: str) -> str:
    pieces = re.split(r"(`+[^`]*`+)", line)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([*<\[])", r"\\\1", piece) for piece in pieces
    )


def in_table(text: str) -> str:
    """Return a text as a cell of a table has it: on one line, bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def _words(body: Sequence[ast.stmt], at: int) -> str:
    """Return a text at a place of a body: its docstring, or that below an assignment."""
    match body[at : at + 1]:
        case [ast.Expr(value=ast.Constant(value=str(text)))]:
            return "\n".join(line.removeprefix("    ") for line in text.strip().splitlines())
    return ""


_VERBS = ("get", "post", "put", "patch", "delete")

Part = Mapping[str, Any]  # A part of the description, which is JSON of any shape


def rest_page(description: Part) -> str:
    """Return one page: the operations by their tags, then the schemas by their names."""
    by_tag: dict[str, list[str]] = {}
    for path, operations in description.get("paths", {}).items():
        for verb in (name for name in _VERBS if name in operations):
            operation = operations[verb]
            tag = (operation.get("tags") or ["other"])[0]
            by_tag.setdefault(tag, []).append(_operation(verb, path, operation))
    blocks = [_TABLES["rest"]]
    for tag, texts in by_tag.items():
        blocks += [f"## {tag}", *texts]
    if schemas := description.get("components", {}).get("schemas", {}):
        blocks += ["## Schemas", *(_schema(*one) for one in sorted(schemas.items()))]
    return "\n\n".join(blocks) + "\n"


def _operation(verb: str, path: str, operation: Part) -> str:
    words = operation.get("description") or operation.get("summary") or ""
    blocks = [f"### `{verb.upper()} {path}`", prose(str(words))]
    if parameters := operation.get("parameters", []):
        rows = [
            (f"`{one['name']}`", one["in"], _kind(one), one.get("description", ""))
            for one in parameters
        ]
        blocks.append(_table(("parameter", "in", "type", ""), rows))
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        blocks.append(f"Body, `{kind}`: {_kind(content)}")
    answers = [
        (f"`{code}`", answer.get("description", ""), ", ".join(_contents(answer)))
        for code, answer in operation.get("responses", {}).items()
    ]
    return "\n\n".join([*blocks, _table(("status", "", "gives"), answers)])


def _contents(answer: Part) -> Iterator[str]:
    for kind, content in answer.get("content", {}).items():
        schema = _kind(content)
        yield f"{schema} (`{kind}`)" if schema else f"`{kind}`"


def _schema(name: str, schema: Part) -> str:
    required = schema.get("required", ())
    rows = [
        (
            f"`{key}`",
            _type(value) + ("" if key in required else ", optional"),
            value.get("description", ""),
        )
        for key, value in schema.get("properties", {}).items()
    ]
    blocks = [f"### {name} {{#{name}}}", prose(str(schema.get("description", "")))]
    blocks.append(_table(("key", "type", ""), rows) if rows else _type(schema))
    return "\n\n".join(blocks)


def _kind(part: Part) -> str:
    return _type(part.get("schema", {}))


def _type(schema: Part) -> str:
    """Return the type that a schema stands for in a word or two, with links to named ones."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        return f"[{name}](#{name})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[several])))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {})) or 'any'}"
    if isinstance(extra := schema.get("additionalProperties"), Mapping) and extra:
        return f"object of {_type(extra) or 'any'}"
    return str(schema.get("type", ""))


def _table(heads: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    lines = [heads, ("---",) * len(heads)]
    lines += [tuple(in_table(str(cell)) for cell in row) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PACKAGE = Path(__file__).parents[1] / "src" / "askgraph"

SETTINGS, METHODS = _TABLES["settings"], _TABLES["methods"]
"""Tables of `askgraph.toml`, and methods: where each is, and the page that explains it."""


def pages() -> dict[str, str]:
    """Return each reference page by its place below `reference/`."""
    with tempfile.TemporaryDirectory() as folder:  # nothing is opened or listened on for it
        description = create_app(ServeSettings(), Workspace(Path(folder))).openapi()
    return {
        "command-line.md": commands_page(),
        "settings.md": settings_page(),
        "methods.md": methods_page(),
        "rest.md": rest_page(description),
    }


def _section(title: str, page: str, table: str) -> str:
    return f"## {title}\n\nExplained in [{page.split('.')[0]}](../{page}).{table}"


def settings_page() -> str:
    """Return the tables of `askgraph.toml` with their fields and defaults."""
    sections = [
        _section(f"`{table}`", page, f"\n\n{fields_table(PACKAGE / file, name)}")
        for table, file, name, page in SETTINGS
    ]
    descriptions = tomllib.loads((PACKAGE / "server" / "settings.toml").read_text("utf-8"))
    rows = [
        (f"`{name}`", f"`{field.get_default(call_default_factory=True)}`",
         prose(descriptions[name]))
        for name, field in ServeSettings.model_fields.items()
    ]  # fmt: skip
    variables = " Each is a variable, too: `ASKGRAPH_SERVE_PORT` for `port`."
    table = f"{variables}\n\n{_table(('setting', 'default', ''), rows)}\n"
    words = "Each table may be left out, and each of its keys that has a default."
    other = "`[methods.NAME]` takes the [settings of a method](methods.md)."
    serve = _section("`[serve]`", "server.md#settings", table)
    return "\n".join(["# askgraph.toml\n", f"{words} {other}\n", *sections, serve])


def methods_page() -> str:
    """Return the settings of each method: the fields of its dataclass."""
    sections = []
    for name, kind, page in METHODS:
        folder = PACKAGE / "methods" / ("guided" if name == "auto" else name)
        file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        table = f"\n\n{fields_table(file, kind)}"
        sections.append(_section(name.replace("_", "-"), page, table))
    shared = ("SpendingSettings", "ModelMethodSettings", "FallbackSettings")
    files = dict.fromkeys(shared, "settings") | {"ExplorerSettings": "shared/exploration"}
    sections += [
        f"## {name}\n\n" + fields_table(PACKAGE / f"methods/{file}.py", name)
        for name, file in files.items()
    ]
    words = (
        "On the command line they follow a colon, `--method dfsl:n=3,choose=vote`; in "
        "`askgraph.toml` they stand below `[methods.NAME]`; in Python they are the fields of the "
        "method. Those that several methods share stand at the end. Which method is for what: "
        "[methods](../methods.md)."
    )
    return "\n".join(["# Settings of the methods\n", f"{words}\n", *sections])


def main(arguments: Sequence[str]) -> int:
    """Write all pages below the folder that is named."""
    (folder,) = arguments
    for name, text in pages().items():
        place = Path(folder) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
