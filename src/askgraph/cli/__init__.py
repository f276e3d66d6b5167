"""The command `askgraph`: one file per group of commands, imported when a command is called.

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
from importlib import import_module
from importlib.metadata import version as get_installed_version
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from askgraph.atomic_files import to_no_space_error
from askgraph.errors import AskgraphError, QueryError, ServiceError, SetupError
from askgraph.plugins import EXTRAS, explain_removal, to_missing_extra_error

NO_ANSWER_EXIT_CODE = 1

EXIT_CODES_HELP = "\b\n" + Path(__file__).with_name("exit_codes.txt").read_text("utf-8").rstrip()

Command = TypeVar("Command", bound=Callable[..., None])


@dataclass
class GlobalOptions:
    """Options that are accepted before or after the command."""

    workspace: Path | None = None
    debug: bool = False


def get_global_options(ctx: typer.Context) -> GlobalOptions:
    """Return the global options of this call."""
    root = ctx.find_root()
    if not isinstance(root.obj, GlobalOptions):
        root.obj = GlobalOptions()
    return root.obj


def _store_workspace(ctx: typer.Context, value: Path | None) -> Path | None:
    if value is not None:
        get_global_options(ctx).workspace = value
    return value


def _store_debug(ctx: typer.Context, value: bool) -> bool:
    if value:
        get_global_options(ctx).debug = True
    return value


WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        callback=_store_workspace,
        help="Folder of askgraph.toml and the graphs' data; also ASKGRAPH_WORKSPACE.",
    ),
]
DebugOption = Annotated[
    bool, typer.Option("--debug", callback=_store_debug, help="Show the traceback of an error.")
]


def report_error(error: BaseException, *, debug: bool) -> int | None:
    """Report an error in one line on standard error, with `debug` after its traceback.

    Returns:
        The exit code, or None for errors that typer handles itself.
    """
    if isinstance(error, typer.Exit | typer.Abort | typer.TyperException | BrokenPipeError):
        return None
    if debug and not isinstance(error, KeyboardInterrupt):
        typer.echo("".join(traceback.format_exception(error)), err=True)
    if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] in EXTRAS:
        error = to_missing_extra_error(error, "this command")
    message = " ".join(str(error).split()) or type(error).__name__
    match error:
        case KeyboardInterrupt():
            code, message = 130, "stopped"
        case QueryError():
            code = 3
        case ServiceError():
            code = 4
        case AskgraphError() | OSError():
            code = 2
            message = str(
                to_no_space_error(getattr(error, "filename", None) or "not done", error) or message
            )
        case _:
            code, message = 5, f"a bug: {type(error).__name__}: {message} (--debug shows where)"
    typer.echo(f"askgraph: {message}", err=True)
    return code


@dataclass(frozen=True)
class OptionBundle:
    """Options that several commands share, as the fields of a dataclass.

    A command takes a bundle as one parameter, and its options become options of the command.
    Bundles with `is_last` are listed after all other options, in reverse order of declaration.
    """

    is_last: ClassVar[bool] = False

    @classmethod
    def from_options(cls, common: GlobalOptions, values: Mapping[str, Any]) -> Self:
        """Return the bundle with the values of a call."""
        return cls(**values)


_RENAMED_COMMANDS = {"teach": "define"}


class CommandGroup(typer.Typer):
    """A group of commands that may take bundles."""

    def __init__(self) -> None:
        super().__init__(no_args_is_help=True, rich_markup_mode=None)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        """Register a function as a command."""

        def register(function: Command) -> Command:
            full_name = f"{function.__module__.rpartition('.')[2]} {name}"
            super(CommandGroup, self).command(name, **settings)(expand_command(function, full_name))
            return function

        return register


def expand_command(command: Callable[..., None], name: str) -> Callable[..., None]:
    """Return a command with its options described by `options.json` and its bundles expanded.

    `options.json` has `details` of commands and a table for each command and bundle. An option
    without an entry there, or with the name of another entry, is described under `shared`.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    bundles = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, OptionBundle)
    }

    def run_command(ctx: typer.Context, **values: Any) -> None:
        for name, bundle in bundles.items():
            bundle_values = {field.name: values.pop(field.name) for field in fields(bundle)}
            values[name] = bundle.from_options(get_global_options(ctx), bundle_values)
        command(**values)

    last = [
        parameter
        for parameter in parameters.values()
        if parameter.name in bundles and bundles[parameter.name].is_last
    ]
    ordered = [parameter for parameter in parameters.values() if parameter not in last] + last[::-1]
    options = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(
            option
            for parameter in ordered
            for option in _expand_parameter(parameter, name, bundles.get(parameter.name))
        ),
    ]
    details = load_descriptions()["details"].get(name, "")
    run_command.__doc__ = f"{command.__doc__}\n\n{details}"
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in options}
    run_command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return run_command


def _expand_parameter(
    parameter: inspect.Parameter, command: str, bundle: type[OptionBundle] | None
) -> list[inspect.Parameter]:
    if bundle is None:
        annotation = _describe_option(parameter.annotation, parameter.name, command)
        return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation)]
    annotations = get_type_hints(bundle, include_extras=True)
    tables = [base.__name__ for base in bundle.__mro__]
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=_describe_option(annotations[field.name], field.name, *tables),
        )
        for field in fields(bundle)
    ]


def _describe_option(annotation: Any, name: str, *tables: str) -> Any:
    """Return the type of an option with its description, unless it has one already."""
    if get_origin(annotation) is Annotated:
        return annotation
    tables_by_name = load_descriptions()
    entry = next(
        (tables_by_name[table][name] for table in tables if name in tables_by_name.get(table, ())),
        name,
    )
    settings = dict(tables_by_name["shared"][entry] if isinstance(entry, str) else entry)
    if completion := settings.get("autocompletion"):
        settings["autocompletion"] = getattr(import_module("askgraph.cli.output"), completion)
    if settings.pop("argument", False):
        return Annotated[annotation, typer.Argument(**settings)]
    flags = settings.pop("flags", ["--" + name.replace("_", "-")])
    return Annotated[annotation, typer.Option(*flags, **settings)]


@cache
def load_descriptions() -> dict[str, dict[str, Any]]:
    """Load the descriptions of commands, groups and options, by table and name."""
    text = files("askgraph.cli").joinpath("options.json").read_text("utf-8")
    tables: dict[str, dict[str, Any]] = json.loads(text)
    return tables


COMMANDS = load_descriptions()["commands"]
GROUPS = load_descriptions()["groups"]


class _LazyCommandGroup(TyperGroup):
    """A group that knows its commands by name and summary, and imports only the called one."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in (COMMANDS | GROUPS).items():
            self.commands[name] = TyperCommand(name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, remaining_args = super().resolve_command(ctx, args)
        return name, command and _import_command(str(name)), remaining_args

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except typer.TyperException as error:
            if (usage_error := to_usage_error(error)) is None:
                raise
            raise typer.Exit(report_error(usage_error, debug=False) or 0) from error

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, Exception) as error:
            usage_error = to_usage_error(error) if isinstance(error, typer.TyperException) else None
            code = report_error(usage_error or error, debug=get_global_options(ctx).debug)
            if code is None:
                raise
            raise typer.Exit(code) from error


def to_usage_error(error: typer.TyperException) -> SetupError | None:
    """Convert typer's error to a message of ours; None if typer only shows the help.

    The message names the command whose help to read, and suggests similar names.
    """
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return None
    if isinstance(error, typer.BadParameter) and (cause := explain_bad_value(error)) is not None:
        return cause
    if context is None:
        return SetupError(
            f"{_describe_mistake(error, None, 'askgraph')}; see the help of the command with -h"
        )
    root = context.find_root().command_path
    name = f"askgraph{context.command_path[len(root) :]}"
    message = _describe_mistake(error, context.command, name)
    return SetupError(f"{message}; see {name} -h")


def _describe_mistake(error: typer.TyperException, command: Any, name: str) -> str:
    option, message = getattr(error, "option_name", ""), error.message
    param = getattr(error, "param", None)
    match type(error).__name__:
        case "NoSuchOption":
            flags = [
                flag for candidate in command.params for flag in getattr(candidate, "opts", ())
            ]
            if option == "--set" and "--method" in flags:
                return "give settings with the method: --method NAME:SETTING=VALUE, not --set"
            return f"{name} has no option {option!r}{_suggest_names(option, flags)}"
        case "BadOptionUsage":
            requirement = "takes no value" if "not take" in message else "needs a value after it"
            return f"the option {option} {requirement}"
        case "MissingParameter" if param is not None:
            option_name = max(param.opts, key=len) if "option" in param.param_type_name else ""
            return f"{name} needs {option_name or param.metavar or param.name.upper()}"
        case "BadParameter" if param is not None:
            return f"{max(param.opts, key=len)}: {message.rstrip('.')}"
    if (unknown := re.match("No such command '(.*?)'", message)) is not None:
        unknown_name, command_names = unknown[1], list(command.commands)
        if unknown_name in _RENAMED_COMMANDS:
            return f"{name} {unknown_name} is now {name} {_RENAMED_COMMANDS[unknown_name]}"
        return explain_removal("command", f"{name.rpartition(' ')[2]} {unknown_name}") or (
            f"{name} has no command {unknown_name!r}{_suggest_names(unknown_name, command_names)}"
        )
    if (extra := re.search(r"unexpected extra arguments?\S* \((.*)\)", message)) is not None:
        return f"{name} does not expect {extra[1]!r}; put quotation marks around several words"
    return message.rstrip(".")


def _suggest_names(name: str, names: Sequence[str]) -> str:
    matches = get_close_matches(name, names, n=2)
    return f" (did you mean {' or '.join(matches)}?)" if matches else ""


def explain_bad_value(error: typer.BadParameter) -> SetupError | None:
    """Convert the error of an invalid option value to a message of ours, or return None."""
    option, faults = error.param, getattr(error.__cause__, "errors", None)
    if option is None or faults is None:
        return None
    fault = faults()[0]
    name = max(option.opts, key=len)
    if reason := fault.get("ctx", {}).get("error"):  # of choices: 'x' is not one of …
        return SetupError(f"{name}: {reason}")
    type_descriptor = option.type_descriptor
    is_whole = type_descriptor.annotation is int or fault["type"].startswith("int")
    expected = "a whole number" if is_whole else "a number"
    match type_descriptor.parameter_info.min, type_descriptor.parameter_info.max:
        case None, None:
            bounds = ""
        case minimum, None:
            bounds = f" of at least {minimum:g}"
        case None, maximum:
            bounds = f" of at most {maximum:g}"
        case minimum, maximum:
            bounds = f" from {minimum:g} to {maximum:g}"
    return SetupError(f"{name} takes {expected}{bounds}; got {fault['input']!r}")


_SHARED_MODULES = {
    "enrich": "advise",
    "evaluate": "batch compare metrics report score",
    "graphs": "add describe remove",
    "methods": "tools",
    "serve": "mcp",
}
"""Modules with several commands, each with the commands that have other names."""


def load_command(name: str) -> Any:
    """Import and return the function of a command, or the group of this name."""
    module = next(
        (candidate for candidate, names in _SHARED_MODULES.items() if name in names.split()), name
    )
    return getattr(import_module(f"askgraph.cli.{module}"), name)


def _import_command(name: str) -> Any:
    command = load_command(name)
    wrapper = typer.Typer(rich_markup_mode=None)
    if isinstance(command, typer.Typer):
        wrapper.add_typer(command, name=name, help=GROUPS[name])
    else:
        wrapper.command(name)(expand_command(command, name))
    return typer.main.get_group(wrapper).commands[name]


app = typer.Typer(
    name="askgraph",
    cls=_LazyCommandGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES_HELP,
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"askgraph {get_installed_version('askgraph')}")
        raise typer.Exit


@app.callback()
def set_global_options(
    ctx: typer.Context,
    workspace: WorkspaceOption = None,
    debug: DebugOption = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Ask a knowledge graph a question in your own words.

    Add a graph (RDF files, a folder of them, or the URL of a SPARQL endpoint), then ask:

    \b
      askgraph add space space.ttl
      askgraph ask "Which moons does Jupiter have?"

    Data goes to standard output, progress and errors to standard error.
    """
    ctx.obj = GlobalOptions(workspace, debug)


def main() -> None:
    """Run the command line and exit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as `askgraph.__main__` leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
