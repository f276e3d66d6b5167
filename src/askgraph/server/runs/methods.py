"""Methods and models that callers may choose, with the cost of each here so far."""

import asyncio
import inspect
from typing import Any

from pydantic import BaseModel, Field

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.methods import PRESETS, converses, help_of, preset_settings
from askgraph.server.hub import Hub
from askgraph.server.runs.request import method_names, open_settings
from askgraph.server.store import Cost
from askgraph.workspace import DEFAULT_METHOD
from askgraph.workspace.models import needs_model
from askgraph.workspace.settings import model_tables

_KINDS = {bool: "boolean", int: "integer", float: "number", str: "text"}


class SettingView(BaseModel):
    """A setting of a method that callers may change."""

    name: str
    type: str = Field(description="boolean, integer, number or text.")
    default: bool | int | float | str
    paper: bool | int | float | str = Field(description="With the setting preset=paper.")
    help: str = Field(description="What it does.")


class MethodView(BaseModel):
    """A method, and what a question costs with it."""

    name: str
    words: str = Field(description="What it does, in a sentence.")
    needs_model: bool
    converses: bool = Field(description="Whether it looks at earlier questions.")
    usable: bool = Field(description="Whether it can be asked here as it is set up.")
    missing: str | None = Field(None, description="What is missing if it cannot.")
    settings: list[SettingView]
    questions: int = Field(description="How many questions the costs below are of.")
    seconds: float | None = Field(None, description="Seconds a question, on average here.")
    tokens: float | None = Field(None, description="Tokens a question, on average here.")
    money: float | None = Field(None, description="Money a question, on average here.")


class ModelView(BaseModel):
    """A language model of the workspace."""

    name: str
    model: str
    provider: str


class MethodsView(BaseModel):
    """The methods and models that callers may choose."""

    default: str
    methods: list[MethodView]
    models: list[ModelView]


async def choices(hub: Hub) -> MethodsView:
    """Return the methods and language models that callers may choose."""
    costs = await hub.store.costs()
    names = method_names(hub.settings)
    views = [await asyncio.to_thread(_view, hub, name, costs.get(name)) for name in names]
    tables = model_tables(hub.workspace.folder)
    models = [
        ModelView(
            name=name,
            model=str(table.get("model", "")),
            provider=str(table.get("provider", "openai")),
        )
        for name, table in tables.items()
    ]
    default = DEFAULT_METHOD if DEFAULT_METHOD in names else names[0]
    return MethodsView(default=default, methods=views, models=models)


def _view(hub: Hub, name: str, cost: Cost | None) -> MethodView:
    missing, talks = None, False
    plugin: Any = None
    try:
        plugin = plugins.load("method", name)
        made = hub.workspace.method(name, models=hub.models)
        talks, missing = converses(made), getattr(made, "missing", "") or None
    except SetupError as error:
        missing = " ".join(str(error).split())
    paper: dict[str, Any] = {"preset": PRESETS[1], **preset_settings(plugin, PRESETS[1])}
    help_texts = help_of(plugin) if plugin else {}
    settings = [
        SettingView(
            name=key,
            type=_KINDS[type(value)],
            default=value,
            paper=paper.get(key, value),
            help=help_texts.get(key, ""),
        )
        for key, value in (open_settings(plugin) if plugin else {}).items()
    ]
    return MethodView(
        name=name,
        words=_first_sentence(plugin),
        needs_model=plugin is not None and needs_model(plugin),
        converses=talks,
        usable=missing is None,
        missing=missing,
        settings=settings,
        questions=cost.questions if cost else 0,
        seconds=cost.seconds if cost else None,
        tokens=cost.tokens if cost else None,
        money=cost.money if cost else None,
    )


def _first_sentence(plugin: Any) -> str:
    text = " ".join((inspect.getdoc(plugin) or "").split())
    return text.partition(". ")[0].partition(";")[0].rstrip(".") + "." if text else ""
