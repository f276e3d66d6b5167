"""The command line as Markdown: the `--help` of every command, as it is printed."""

from collections.abc import Iterator

import typer
from typer.core import TyperCommand, TyperGroup

from askgraph.cli import app

__all__ = ["commands_page"]

_WIDTH = 100
_HEAD = """# askgraph --help

What each command says of itself. With examples, and what comes out:
[the command line](../command-line.md).
"""


def commands_page() -> str:
    """Return one page with a section for each command, groups before what is in them."""
    return "\n".join([_HEAD, *_sections(typer.main.get_command(app), "askgraph", None)])


def _sections(command: object, name: str, parent: typer.Context | None) -> Iterator[str]:
    if not isinstance(command, TyperGroup | TyperCommand) or command.hidden:
        return
    context = typer.Context(
        command, info_name=name, parent=parent, terminal_width=_WIDTH, max_content_width=_WIDTH
    )
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, TyperGroup):
        for below in command.list_commands(context):
            yield from _sections(command.resolve_command(context, [below])[1], below, context)
