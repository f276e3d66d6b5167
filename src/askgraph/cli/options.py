"""Options that several commands share, each usable before or after the command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from askgraph import registry
from askgraph.cli.context import Bundle, DebugOption, WorkspaceOption, shared
from askgraph.errors import SetupError
from askgraph.methods import Method
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.settings import method_spec

if TYPE_CHECKING:
    from askgraph.llm.budget import Budget


@dataclass(frozen=True)
class Common(Bundle):
    """The options of nearly every command."""

    last = True

    folder: WorkspaceOption = None
    debug: DebugOption = False

    @classmethod
    def of(cls, ctx: typer.Context, given: Mapping[str, Any]) -> Self:
        """Return them; the workspace may be named before the command, too."""
        return cls(shared(ctx).workspace, shared(ctx).debug)

    @property
    def workspace(self) -> Workspace:
        """The workspace that this call is about."""
        return Workspace(self.folder)


def graph_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of graphs that start as typed, for completion."""
    return [
        name for name in Workspace(shared(ctx).workspace).graphs() if name.startswith(incomplete)
    ]


def check_graphs(place: Workspace, names: Sequence[str]) -> None:
    """Raise `SetupError` for a graph that the workspace does not have."""
    there = place.graphs()
    for name in names:
        if name not in there:
            known = ", ".join(there) or "none yet"
            raise SetupError(f"there is no graph {name!r} in {place.folder}; there are: {known}")


def _method_names(incomplete: str) -> list[str]:
    names = [name.replace("_", "-") for name in registry.names("method")]
    return [name for name in names if name.startswith(incomplete)]


GraphArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        autocompletion=graph_names,
        help="The graph; may be left out if there is only one.",
    ),
]
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", autocompletion=graph_names, help="A graph.")
]
GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        "-g",
        metavar="NAME",
        autocompletion=graph_names,
        help="The graph to ask; may be left out if there is only one.",
    ),
]
GraphsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--graph",
        "-g",
        metavar="NAME",
        autocompletion=graph_names,
        help="A graph to ask; repeatable, may be left out if there is only one.",
    ),
]
NamedGraphsOption = Annotated[
    list[str] | None,
    typer.Option("--named-graph", metavar="IRI", help="Read only this graph; repeatable."),
]
DefinitionsOption = Annotated[
    Path | None,
    typer.Option(
        "--definitions",
        metavar="FILE",
        help="What to add, as 'askgraph advise --definitions' prints it; else what is advised.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print the rows as CSV.")]
LimitOption = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Rows to take at most.")
]
LangOption = Annotated[
    str | None,
    typer.Option("--lang", metavar="TAG", help="Language of the question and labels, as 'de'."),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", min=0.001, metavar="SECONDS", help="Give up after so many seconds."),
]
QueryTimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.001, metavar="SECONDS", help="For each query.")
]
ConcurrencyOption = Annotated[
    int,
    typer.Option(
        "--concurrency", min=1, metavar="N", help="Questions or queries under way at once."
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="The language model of a method that works with one: a [models.NAME] table of "
        "askgraph.toml, or a model id; else ASKGRAPH_MODEL.",
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Where the model is served, as http://localhost:11434/v1; else ASKGRAPH_BASE_URL.",
    ),
]
SentOption = Annotated[
    Path | None,
    typer.Option(
        "--sent",
        metavar="FILE",
        help="Log all that is sent to the language model, as lines of JSON.",
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="The server's: postgresql://… or a file; by default serve.db in the workspace.",
    ),
]


@dataclass(frozen=True)
class Asking(Bundle):
    """The options of commands that ask questions with one method."""

    graph: GraphsOption = None
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            autocompletion=_method_names,
            help="How to answer, as graph-search (the default) or dfsl:n=3,choose=vote.",
        ),
    ] = None
    model: ModelOption = None
    base_url: BaseUrlOption = None
    sent: SentOption = None
    lang: LangOption = None
    limit: LimitOption = None
    timeout: TimeoutOption = None
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Ask the method, also if an answer was confirmed before."),
    ] = False

    def chosen(self, workspace: Workspace) -> tuple[str, Method]:
        """Return the name of the method and the method with its settings."""
        name, own = method_spec(self.method or DEFAULT_METHOD)
        log = None if self.sent is None else str(self.sent.absolute())
        given = (("model", self.model), ("base_url", self.base_url), ("sent", log))
        settings = own | {name: value for name, value in given if value is not None}
        return name, workspace.method(name, settings, confirmed=not self.anew)


@dataclass(frozen=True)
class Drafting(Bundle):
    """The options of commands in which a language model may write words."""

    last = True

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Writes the words: a [models.NAME] table of askgraph.toml, or a model id.",
        ),
    ] = None
    base_url: BaseUrlOption = None
    budget: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT=N", help="Stop the model at so many calls, tokens or money."),
    ] = None

    @property
    def bounds(self) -> "Budget":
        """What the model may cost."""
        from askgraph.evaluation.runs.run import Budget as Bounds  # not for a question

        return Bounds.of(self.budget or []).of_models()
