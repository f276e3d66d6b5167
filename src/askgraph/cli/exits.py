"""Exit codes, and what is said on standard error with them."""

import traceback

import typer

from askgraph.errors import AskgraphError, QueryError, ServiceError, SetupError

__all__ = ["EXITS", "NO_ANSWER", "exit_code"]

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


def exit_code(error: BaseException, *, debug: bool) -> int | None:
    """Say an error in one line on standard error and return its code; None where it is not ours.

    With `debug` the traceback follows.
    """
    if isinstance(error, typer.Exit | typer.Abort | typer.TyperException | BrokenPipeError):
        return None
    if debug and not isinstance(error, KeyboardInterrupt):
        typer.echo("".join(traceback.format_exception(error)), err=True)
    code, text = _said(error)
    typer.echo(text, err=True)
    return code


def _said(error: BaseException) -> tuple[int, str]:
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
