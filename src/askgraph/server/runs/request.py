"""A question on its way to a run, checked before anything is run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.methods import Method
from askgraph.server.auth import NotAllowed, Principal
from askgraph.server.runs import AskBody
from askgraph.server.settings import ServeSettings
from askgraph.server.store.tables import new_id
from askgraph.trace import Earlier, Question
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.models import Models
from askgraph.workspace.settings import model_tables

_TIMES = 10  # how far a caller's number may go beyond the default


@dataclass(frozen=True)
class RunRequest:
    """A question on its way: the graphs it is asked of, its method, its session.

    `begins` says that the session is a new one, `changes` is the run whose answer a person
    changed. After `seconds` the best comes that was found, after `timeout` (in seconds) nothing
    does. With `anew` an answer that was confirmed before is not taken.
    """

    question: Question
    graphs: tuple[str, ...]
    method: str
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    session: str = ""
    seconds: float | None = None
    timeout: float | None = None
    anew: bool = False
    after: str | None = None
    changes: str | None = None
    begins: bool = False

    def made(self, workspace: Workspace, models: Models) -> Method:
        """Return the method, ready to answer."""
        given = {"model": self.model, "seconds": self.seconds}
        chosen = dict(self.settings) | {name: one for name, one in given.items() if one}
        return workspace.method(self.method, chosen, models=models, confirmed=not self.anew)


def to_request(body: AskBody, graphs: tuple[str, ...], earlier: tuple[Earlier, ...]) -> RunRequest:
    """Return the request of a caller, in its session or a new one.

    Raises `SetupError` if the question is nothing but spaces.
    """
    check_question(body.question)
    return RunRequest(
        Question(" ".join(body.question.split()), body.language, earlier),
        graphs,
        body.method or DEFAULT_METHOD,
        body.model,
        body.settings,
        body.session or new_id(),
        seconds=body.seconds,
        timeout=body.timeout,
        anew=body.anew,
        after=body.after,
        begins=body.session is None,
    )


def check_question(question: str) -> None:
    """Raise `SetupError` for a question without a word."""
    if not question.strip():
        raise SetupError("the question is empty: ask something, as 'Which moons are there?'")


def method_names(settings: ServeSettings) -> list[str]:
    """Return the methods that callers may choose, as they are written: `graph-search`."""
    known = [name.replace("_", "-") for name in plugins.names("method")]
    if not settings.methods:
        return known
    wanted = [name.replace("_", "-") for name in settings.methods]
    return [name for name in known if name in wanted]


def model_names(workspace: Workspace) -> list[str]:
    """Return the language models that callers may choose: those with a table in the workspace."""
    return list(model_tables(workspace.folder))


def check_choice(
    asked: RunRequest, caller: Principal, server: ServeSettings, models: Sequence[str]
) -> None:
    """Check the choices of a caller.

    Anybody may change the preset and switches of a method and, within ten times their default,
    numbers; paths, addresses and names of variables need the scope `admin`. Raises
    `SetupError` for a choice that does not exist, `NotAllowed` for one that is not theirs.
    """
    names = method_names(server)
    if asked.method.replace("_", "-") not in names:
        raise SetupError(f"no method {asked.method!r} here; there are {', '.join(names)}")
    if caller.may("admin"):
        return
    if asked.model is not None and asked.model not in models:
        there = ", ".join(models) or "none"
        raise NotAllowed(f"the model {asked.model!r} is none of this server's: {there}")
    plugin = plugins.load("method", asked.method)
    defaults = open_settings(plugin)
    for name, value in asked.settings.items():
        if name not in defaults:
            there = ", ".join(defaults) or "none"
            raise NotAllowed(
                f"{name!r} is no setting of {asked.method!r} that can be chosen here: {there}"
            )
        default = defaults[name]
        if isinstance(value, bool) or isinstance(default, bool | str):
            continue
        most = max(abs(default) * _TIMES, 1)
        if isinstance(value, int | float) and abs(value) > most:
            raise NotAllowed(f"{name!r} may be at most {most:g} here, not {value:g}")


def open_settings(plugin: Any) -> dict[str, bool | int | float | str]:
    """Return the settings of a method that anybody may change: its preset, switches, numbers."""
    if not is_dataclass(plugin):
        return {}
    return {
        one.name: one.default
        for one in fields(plugin)
        if one.init
        and isinstance(one.default, bool | int | float | str)
        and (one.name == "preset" or not isinstance(one.default, str))
    }
