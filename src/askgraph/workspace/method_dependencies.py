"""Further models that a method asks, and other methods that it consults: from names to objects.

A method with a field `further` is handed the models that its setting `models` names, one with a
field `others` the methods that its setting `consult` names; several names have + between them.

[methods.guided]
models = "large+small"
consult = "dfsl+sparql-llm"              # each with its own settings from [methods.NAME]
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from typing import Any

from askgraph import registry
from askgraph.errors import SetupError
from askgraph.llm import LanguageModel
from askgraph.methods import Method
from askgraph.workspace.models import Models, with_model
from askgraph.workspace.settings import CHOICE, method_settings, model_tables

Make = Callable[[str, Mapping[str, Any], Models], Method]
"""Makes a method by name, of settings and the models that are there."""


def with_dependencies(
    plugin: registry.Plugin,
    settings: Mapping[str, object],
    folder: Path,
    make: Make,
    models: Models | None = None,
) -> dict[str, object]:
    """Return the settings of a method with the models and methods that they name."""
    made = models or Models(folder)
    chosen = with_model(plugin, with_further(plugin, settings, made, folder), made)
    sent = settings.get("sent")
    return with_others(
        plugin, chosen, lambda other, given: make(other, given, made), folder, sent=sent
    )


def with_further(
    plugin: registry.Plugin, settings: Mapping[str, object], models: Models, folder: Path
) -> dict[str, object]:
    """Return the settings of a method with the models that its setting `models` names, if it asks.

    A name is that of a table, else a model id, for the server that the method's own settings name.
    Raises `SetupError` for one that cannot be made, and where `further` itself is set.
    """
    values = dict(settings)
    if not _handed(plugin, "further", "models", "LanguageModel"):
        return values
    _check_not_set(values, "further", "models")
    server = {key: values[key] for key in CHOICE if key != "model" and key in values}
    log = {key: server[key] for key in ("sent",) if key in server}
    tables = model_tables(folder)
    further: dict[str, LanguageModel] = {}
    for name in _names(values, "models"):
        try:
            further[name] = models.model(name, **(log if name in tables else server))
        except SetupError as error:
            there = ", ".join(tables) or "none"
            raise SetupError(
                f"'models' names {name!r}: {error}. Tables [models.NAME] that are there: {there}"
            ) from error
    return values | ({"further": further} if further else {})


def with_others(
    plugin: registry.Plugin,
    settings: Mapping[str, object],
    make: Callable[[str, Mapping[str, Any]], Method],
    folder: Path,
    *,
    sent: object = None,
) -> dict[str, object]:
    """Return the settings of a method with the methods that its `consult` names, if it consults.

    `make` gives a method by name and settings. Each has its own settings of `askgraph.toml`. One
    that needs a model and has none of its own is given the same model; one that learns from
    examples the same `examples`, if the method that consults is told any. What is sent to models
    is logged in the file `sent`, whosever they are.

    Raises `SetupError` for a method that there is none of or that consults others itself, and where
    `others` itself is set.
    """
    values = dict(settings)
    if not _handed(plugin, "others", "consult", "Method"):
        return values
    _check_not_set(values, "others", "consult")
    others: dict[str, Method] = {}
    for name in _names(values, "consult"):
        other = registry.load("method", name)
        _check_consulted(plugin, other, name)
        own = method_settings(folder, name)
        others[name.lower().replace("_", "-")] = make(
            name, _logged(_handed_on(other, own, values), other, own, sent)
        )
    return values | ({"others": others} if others else {})


def _handed(plugin: registry.Plugin, objects: str, setting: str, kind: str) -> bool:
    """Whether a method is handed objects of a kind in one field, by the names in another."""
    ours = _fields(plugin)
    return setting in ours and objects in ours and kind in str(ours[objects].type)


def _fields(plugin: registry.Plugin) -> Mapping[str, Field[Any]]:
    return {field.name: field for field in fields(plugin)} if is_dataclass(plugin) else {}


def _check_not_set(settings: Mapping[str, object], objects: str, setting: str) -> None:
    if objects in settings:
        raise SetupError(
            f"{objects!r} is no setting: name them in {setting!r}, several with + between"
        )


def _names(settings: Mapping[str, object], setting: str) -> list[str]:
    """The names in a setting; none if it is not text, which is told with the other settings."""
    text = settings.get(setting, "")
    if not isinstance(text, str) or not text.strip():
        return []
    names = [name.strip() for name in text.split("+")]
    alike = [name.lower().replace("_", "-") for name in names]
    for name, plain in zip(names, alike, strict=True):
        if not name:
            raise SetupError(f"{setting!r} has a + without a name on either side: {text!r}")
        if alike.count(plain) > 1:
            raise SetupError(f"{setting!r} names {name!r} twice: {text!r}")
    return names


def _check_consulted(plugin: registry.Plugin, other: registry.Plugin, name: str) -> None:
    if other is plugin:
        raise SetupError(f"a method cannot consult itself: take {name!r} out of 'consult'")
    if _handed(other, "others", "consult", "Method"):
        raise SetupError(
            f"a method cannot consult {name!r}, which consults methods itself: name those that it "
            "would, in 'consult'"
        )


def _handed_on(
    other: registry.Plugin, own: Mapping[str, object], settings: Mapping[str, object]
) -> dict[str, object]:
    """What a method that is consulted gets from the one that consults it."""
    ours = _fields(other)
    given: dict[str, object] = {}
    if "model" in settings and _needs_model(other) and not any(key in own for key in CHOICE):
        given["model"] = settings["model"]
        if "prices" in ours and "prices" not in own and "prices" in settings:
            given["prices"] = settings["prices"]
    if "examples" in ours and settings.get("examples"):
        given["examples"] = settings["examples"]
    return given


def _logged(
    given: dict[str, object], other: registry.Plugin, own: Mapping[str, object], sent: object
) -> dict[str, object]:
    """The settings of a method with the log of what its own model is sent."""
    has_own = _needs_model(other) or any(key in own for key in CHOICE)
    return (
        {**given, "sent": sent} if sent is not None and has_own and "model" not in given else given
    )


def _needs_model(plugin: registry.Plugin) -> bool:
    field = _fields(plugin).get("model")
    if field is None or "LanguageModel" not in str(field.type):
        return False
    return inspect.signature(plugin).parameters["model"].default is inspect.Parameter.empty
