"""Options that several commands share, each accepted before or after the command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer

from askgraph import plugins
from askgraph.cli import (
    DebugOption,
    GlobalOptions,
    OptionBundle,
    WorkspaceOption,
    get_global_options,
)
from askgraph.errors import SetupError
from askgraph.methods import Method
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.settings import parse_method_spec

if TYPE_CHECKING:
    from askgraph.llm.budget import ModelBudget


@dataclass(frozen=True)
class CommonOptions(OptionBundle):
    """The options of nearly every command."""

    is_last = True

    folder: WorkspaceOption = None
    debug: DebugOption = False

    @classmethod
    def from_options(cls, common: GlobalOptions, values: Mapping[str, Any]) -> Self:
        """Return the options; the workspace may also be named before the command."""
        return cls(common.workspace, common.debug)

    @property
    def workspace(self) -> Workspace:
        """The workspace of this call."""
        return Workspace(self.folder)


def complete_graph_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the graph names that start with the typed text."""
    return [
        name
        for name in Workspace(get_global_options(ctx).workspace).graphs()
        if name.startswith(incomplete)
    ]


def check_graphs(workspace: Workspace, names: Sequence[str]) -> None:
    """Raise `SetupError` if the workspace lacks one of the graphs."""
    graphs = workspace.graphs()
    for name in names:
        if name not in graphs:
            listed_names = ", ".join(graphs) or "none yet"
            raise SetupError(
                f"there is no graph {name!r} in {workspace.folder}; available: {listed_names}"
            )


def complete_method_names(incomplete: str) -> list[str]:
    """Return the method names that start with the typed text."""
    names = [name.replace("_", "-") for name in plugins.list_names("method")]
    return [name for name in names if name.startswith(incomplete)]


@dataclass(frozen=True)
class AskOptions(OptionBundle):
    """The options of commands that ask questions with one method."""

    graph: list[str] | None = None
    method: str | None = None
    model: str | None = None
    base_url: str | None = None
    sent: Path | None = None
    lang: str | None = None
    limit: int | None = None
    seconds: float | None = None
    timeout: float | None = None
    anew: bool = False

    def create_method(self, workspace: Workspace) -> tuple[str, Method]:
        """Return the name of the chosen method, and the method with its settings."""
        name, settings_of_spec = parse_method_spec(self.method or DEFAULT_METHOD)
        log = None if self.sent is None else str(self.sent.absolute())
        named_values = (
            ("model", self.model),
            ("base_url", self.base_url),
            ("sent", log),
            ("seconds", self.seconds),
        )
        settings = settings_of_spec | {
            name: value for name, value in named_values if value is not None
        }
        return name, workspace.method(name, settings, confirmed=not self.anew)


@dataclass(frozen=True)
class DraftOptions(OptionBundle):
    """The options of commands for which a language model may write texts."""

    is_last = True

    model: str | None = None
    base_url: str | None = None
    budget: list[str] | None = None

    @property
    def limits(self) -> "ModelBudget":
        """The budget of the model."""
        from askgraph.evaluation.runs.run import RunBudget as Bounds  # not for a question

        return Bounds.from_texts(self.budget or []).to_model_budget()
