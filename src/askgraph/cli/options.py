"""Options that several commands share, each usable before or after the command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer

from askgraph import plugins
from askgraph.cli import Bundle, DebugOption, Shared, WorkspaceOption, shared
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
    def of(cls, common: Shared, given: Mapping[str, Any]) -> Self:
        """Return them; the workspace may be named before the command, too."""
        return cls(common.workspace, common.debug)

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


def method_names(incomplete: str) -> list[str]:
    """Return the names of methods that start as typed, for completion."""
    names = [name.replace("_", "-") for name in plugins.list_names("method")]
    return [name for name in names if name.startswith(incomplete)]


@dataclass(frozen=True)
class Asking(Bundle):
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

    def chosen(self, workspace: Workspace) -> tuple[str, Method]:
        """Return the name of the method and the method with its settings."""
        name, own = method_spec(self.method or DEFAULT_METHOD)
        log = None if self.sent is None else str(self.sent.absolute())
        given = (
            ("model", self.model),
            ("base_url", self.base_url),
            ("sent", log),
            ("seconds", self.seconds),
        )
        settings = own | {name: value for name, value in given if value is not None}
        return name, workspace.method(name, settings, confirmed=not self.anew)


@dataclass(frozen=True)
class Drafting(Bundle):
    """The options of commands in which a language model may write words."""

    last = True

    model: str | None = None
    base_url: str | None = None
    budget: list[str] | None = None

    @property
    def bounds(self) -> "Budget":
        """What the model may cost."""
        from askgraph.evaluation.runs.run import RunBudget as Bounds  # not for a question

        return Bounds.from_texts(self.budget or []).to_model_budget()
