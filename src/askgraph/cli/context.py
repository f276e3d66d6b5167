"""The context of one call: the workspace folder, debugging, and exit codes with their messages.

Nothing heavy is imported here: this much is known before a command is.
"""

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from askgraph.errors import AskgraphError, QueryError, ServiceError, SetupError

NO_ANSWER = 1

EXITS = """\b
Exit codes:
  0    an answer, or done
  1    no answer: a refusal, or a question back
  2    wrong use, or a setup that you can mend (a name, a file, a package)
  3    the query is wrong or not allowed
  4    the endpoint, or the model's server, failed: down, too slow, too busy,
       not authorised
  5    a bug in askgraph
  130  stopped with Ctrl-C"""

_CODES: tuple[tuple[type[AskgraphError], int], ...] = (
    (QueryError, 3),
    (ServiceError, 4),
    (SetupError, 2),
    (AskgraphError, 2),
)


@dataclass
class Shared:
    """Options that stand before the command or after it."""

    workspace: Path | None = None
    debug: bool = False


def shared(ctx: typer.Context) -> Shared:
    """Return the options that all commands of this call share."""
    root = ctx.find_root()
    if not isinstance(root.obj, Shared):
        root.obj = Shared()
    return root.obj


def _keep_workspace(ctx: typer.Context, value: Path | None) -> Path | None:
    if value is not None:
        shared(ctx).workspace = value
    return value


def _keep_debug(ctx: typer.Context, value: bool) -> bool:
    if value:
        shared(ctx).debug = True
    return value


WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        callback=_keep_workspace,
        help="Folder of askgraph.toml and the graphs' data; also ASKGRAPH_WORKSPACE.",
    ),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", callback=_keep_debug, help="Show the traceback of an error.")
]


def exit_code(error: BaseException, *, debug: bool) -> int | None:
    """Report an error in one line on standard error and return its code; None if it is not ours.

    With `debug` the traceback comes first.
    """
    if isinstance(error, typer.Exit | typer.Abort | typer.TyperException | BrokenPipeError):
        return None
    if debug and not isinstance(error, KeyboardInterrupt):
        typer.echo("".join(traceback.format_exception(error)), err=True)
    code, text = _reported(error)
    typer.echo(text, err=True)
    return code


def _reported(error: BaseException) -> tuple[int, str]:
    if isinstance(error, KeyboardInterrupt):
        return 130, "askgraph: stopped"
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code, f"askgraph: {_one_line(error)}"
    if isinstance(error, OSError):
        return 2, f"askgraph: {_one_line(error)}"
    return 5, f"askgraph: a bug: {type(error).__name__}: {_one_line(error)} (--debug shows where)"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
