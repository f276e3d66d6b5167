"""The command `askgraph`: one file per group of commands, imported when one is called.

What lives here: this module (the workspace folder, debugging, exit codes, bundles of options), the
commands, and `output` and `steps`, which print. Nothing heavy is imported before a command runs.
May import: every other room. Start reading at `cli/ask.py`.
"""

import inspect
import json
import re
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib import import_module, metadata
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from askgraph.atomic_files import to_no_space_error
from askgraph.errors import AskgraphError, QueryError, ServiceError, SetupError
from askgraph.plugins import EXTRAS, explain_removal, to_missing_extra_error

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

Command = TypeVar("Command", bound=Callable[..., None])


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
    if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] in EXTRAS:
        error = to_missing_extra_error(error, "this command")
    said = " ".join(str(error).split()) or type(error).__name__
    match error:
        case KeyboardInterrupt():
            code, said = 130, "stopped"
        case QueryError():
            code = 3
        case ServiceError():
            code = 4
        case AskgraphError() | OSError():
            code = 2
            said = str(
                to_no_space_error(getattr(error, "filename", None) or "not done", error) or said
            )
        case _:
            code, said = 5, f"a bug: {type(error).__name__}: {said} (--debug shows where)"
    typer.echo(f"askgraph: {said}", err=True)
    return code


@dataclass(frozen=True)
class Bundle:
    """Options that several commands share, as the fields of a dataclass.

    A command takes a bundle as one parameter; its options are among those of the command. Those of
    a `last` one come behind all others: the later it is declared, the earlier.
    """

    last: ClassVar[bool] = False

    @classmethod
    def of(cls, common: Shared, given: Mapping[str, Any]) -> Self:
        """Return the bundle with the values that were given."""
        return cls(**given)


class Commands(typer.Typer):
    """A group of commands that may take bundles."""

    def __init__(self) -> None:
        super().__init__(no_args_is_help=True, rich_markup_mode=None)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        """Register a function as a command of this name."""

        def registered(function: Command) -> Command:
            full = f"{function.__module__.rpartition('.')[2]} {name}"
            super(Commands, self).command(name, **settings)(expanded(function, full))
            return function

        return registered


def expanded(command: Callable[..., None], name: str) -> Callable[..., None]:
    """Return a command with what `options.json` says of its options, and those of its bundles.

    The file has a table for each command and bundle; an option that has no entry there, or the name
    of one, is described under `shared`.
    """
    given = inspect.signature(command, eval_str=True).parameters
    bundles = {
        name: one.annotation
        for name, one in given.items()
        if isinstance(one.annotation, type) and issubclass(one.annotation, Bundle)
    }

    def called(ctx: typer.Context, **values: Any) -> None:
        for name, bundle in bundles.items():
            own = {field.name: values.pop(field.name) for field in fields(bundle)}
            values[name] = bundle.of(shared(ctx), own)
        command(**values)

    behind = [one for one in given.values() if one.name in bundles and bundles[one.name].last]
    order = [one for one in given.values() if one not in behind] + behind[::-1]
    options = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(option for one in order for option in _options(one, name, bundles.get(one.name))),
    ]
    called.__doc__ = command.__doc__
    called.__annotations__ = {one.name: one.annotation for one in options}
    called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return called


def _options(
    one: inspect.Parameter, command: str, bundle: type[Bundle] | None
) -> list[inspect.Parameter]:
    """The options of a bundle, or the parameter itself if it is none."""
    if bundle is None:
        kind = _described(one.annotation, one.name, command)
        return [one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)]
    kinds = get_type_hints(bundle, include_extras=True)
    tables = [base.__name__ for base in bundle.__mro__]
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=_described(kinds[field.name], field.name, *tables),
        )
        for field in fields(bundle)
    ]


def _described(kind: Any, name: str, *tables: str) -> Any:
    """Return the type of an option with its description, unless it has one."""
    if get_origin(kind) is Annotated:
        return kind
    known = descriptions()
    found = next((known[one][name] for one in tables if name in known.get(one, ())), name)
    about = dict(known["shared"][found] if isinstance(found, str) else found)
    if complete := about.get("autocompletion"):
        about["autocompletion"] = getattr(import_module("askgraph.cli.options"), complete)
    if about.pop("argument", False):
        return Annotated[kind, typer.Argument(**about)]
    flags = about.pop("flags", ["--" + name.replace("_", "-")])
    return Annotated[kind, typer.Option(*flags, **about)]


@cache
def descriptions() -> dict[str, dict[str, Any]]:
    """Return what `options.json` says of commands, groups and options, by table and name."""
    text = files("askgraph.cli").joinpath("options.json").read_text("utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)
    return found


COMMANDS = descriptions()["commands"]
GROUPS = descriptions()["groups"]


class _Commands(TyperGroup):
    """Knows its commands by name and summary, and imports the one that is called.

    Our errors become one line on standard error and an exit code.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in (COMMANDS | GROUPS).items():
            self.commands[name] = TyperCommand(name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the arguments name, imported, with the rest of them."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and _imported(str(name)), rest

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Return the context of a call, whose options before the command are read already."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except typer.TyperException as error:
            if (wrong := wrong_use(error)) is None:
                raise
            raise typer.Exit(exit_code(wrong, debug=False) or 0) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, Exception) as error:
            told = wrong_use(error) if isinstance(error, typer.TyperException) else None
            code = exit_code(told or error, debug=shared(ctx).debug)
            if code is None:
                raise
            raise typer.Exit(code) from error


def wrong_use(error: typer.TyperException) -> SetupError | None:
    """Return the error of a mistyped command line, in our words; None for the help that is shown.

    It says which command explains its options, and the nearest names of what there is not.
    """
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return None
    if isinstance(error, typer.BadParameter) and (told := bad_value(error)) is not None:
        return told
    if context is None:
        return SetupError(f"{_mistake(error, None, 'askgraph')}; -h after the command explains it")
    root = context.find_root().command_path
    name = f"askgraph{context.command_path[len(root) :]}"
    said = _mistake(error, context.command, name)
    return SetupError(f"{said}; {name} -h explains it")


def _mistake(error: typer.TyperException, command: Any, name: str) -> str:
    """What is wrong with a call of a command."""
    option, message = getattr(error, "option_name", ""), error.message
    param = getattr(error, "param", None)
    match type(error).__name__:
        case "NoSuchOption":
            flags = [flag for one in command.params for flag in getattr(one, "opts", ())]
            if option == "--set" and "--method" in flags:
                return "a setting is given with the method: --method NAME:SETTING=VALUE, not --set"
            return f"{name} has no option {option!r}{_nearest(option, flags)}"
        case "BadOptionUsage":
            takes = "takes no value" if "not take" in message else "needs a value after it"
            return f"the option {option} {takes}"
        case "MissingParameter" if param is not None:
            needed = max(param.opts, key=len) if "option" in param.param_type_name else ""
            return f"{name} needs {needed or param.metavar or param.name.upper()}"
        case "BadParameter" if param is not None:
            return f"{max(param.opts, key=len)}: {message.rstrip('.')}"
    if (unknown := re.match("No such command '(.*?)'", message)) is not None:
        given, known = unknown[1], list(command.commands)
        removal = explain_removal("command", f"{name.rpartition(' ')[2]} {given}")
        return removal or f"{name} has no command {given!r}{_nearest(given, known)}"
    if (more := re.search(r"unexpected extra arguments?\S* \((.*)\)", message)) is not None:
        return f"{name} cannot take {more[1]!r}, too; put quotation marks around several words"
    return message.rstrip(".")


def _nearest(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=2)
    return f" (is {' or '.join(near)} meant?)" if near else ""


def bad_value(error: typer.BadParameter) -> SetupError | None:
    """Return the error of a value that an option cannot take, in our words; None for another."""
    option, faults = error.param, getattr(error.__cause__, "errors", None)
    if option is None or faults is None:
        return None
    fault = faults()[0]
    name = max(option.opts, key=len)
    if said := fault.get("ctx", {}).get("error"):  # of choices: 'x' is not one of …
        return SetupError(f"{name}: {said}")
    kind = option.type_descriptor
    is_whole = kind.annotation is int or fault["type"].startswith("int")
    wanted = "a whole number" if is_whole else "a number"
    match kind.parameter_info.min, kind.parameter_info.max:
        case None, None:
            bounds = ""
        case least, None:
            bounds = f" of at least {least:g}"
        case None, most:
            bounds = f" of at most {most:g}"
        case least, most:
            bounds = f" from {least:g} to {most:g}"
    return SetupError(f"{name} takes {wanted}{bounds}; got {fault['input']!r}")


_TOGETHER = {
    "enrich": "advise",
    "evaluate": "batch compare metrics report score",
    "graphs": "add describe remove",
    "methods": "tools",
    "serve": "mcp",
}
"""Modules with several commands, each with those that it is not called for."""


def load_command(name: str) -> Any:
    """Return the function of a command, or the group of this name, imported."""
    module = next((one for one, names in _TOGETHER.items() if name in names.split()), name)
    return getattr(import_module(f"askgraph.cli.{module}"), name)


def _imported(name: str) -> Any:
    found = load_command(name)
    alone = typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name, help=GROUPS[name])
    else:
        alone.command(name)(expanded(found, name))
    return typer.main.get_group(alone).commands[name]


app = typer.Typer(
    name="askgraph",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXITS,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"askgraph {metadata.version('askgraph')}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    workspace: WorkspaceOption = None,
    debug: DebugOption = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Ask a knowledge graph a question in your own words.

    Add a graph (RDF files, a folder of them, or the URL of a SPARQL endpoint), then ask:

    \b
      askgraph add space space.ttl
      askgraph ask "Which moons does Jupiter have?"

    Data goes to standard output, progress and errors to standard error.
    """
    ctx.obj = Shared(workspace, debug)


def main() -> None:
    """Run the command line and exit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `askgraph.__main__` leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
