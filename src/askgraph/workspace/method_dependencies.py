"""Models that a method asks, and other methods that it consults: from names to objects.

A method with a field `model` is handed a model, one with a field `further` the models that its
setting `models` names, one with a field `others` the methods that its setting `consult` names;
several names have + between them.

[methods.guided]
models = "large+small"
consult = "dfsl+sparql-llm"              # each with its own settings from [methods.NAME]
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any

from askgraph import registry
from askgraph.errors import SetupError
from askgraph.llm import LanguageModel
from askgraph.methods import Method
from askgraph.workspace.models import Models, ModelSettings
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
    """Return the settings of a method with the models and methods that they name.

    A further model is named by its table, else by its id, for the server that the method's own
    settings name. A method that is consulted has its own settings of `askgraph.toml`. If it needs
    a model and has none of its own, it is given the same model; if it learns from examples, the
    same `examples`, if the method that consults is told any. What is sent to models is logged in
    the file `sent`, whosever they are.

    Raises `SetupError` for what cannot be made, for a method that consults others itself, and if
    `further` or `others` itself is set.
    """
    made = models or Models(folder)
    chosen = with_model(plugin, _with_further(plugin, settings, made, folder), made)
    others: dict[str, Method] = {}
    for name in _named(plugin, chosen, "others", "consult", "Method"):
        other = registry.load("method", name)
        _check_consulted(plugin, other, name)
        given = _handed_on(other, method_settings(folder, name), chosen, settings.get("sent"))
        others[name.lower().replace("_", "-")] = make(name, given, made)
    return {**chosen, "others": others} if others else chosen


def with_model(
    plugin: registry.Plugin, settings: Mapping[str, object], models: Models
) -> dict[str, object]:
    """Return the settings of a method with the model that they name, if it has one.

    The settings `model` (a name, or a model), `provider`, `base_url` and `key_env` choose it; a
    method whose `model` has a default gets one only if they are given. `prices` become those of
    the model, unless they are given, or those of the file that they name. `sent` logs what it is
    sent; a method without a model sends nothing.
    """
    values = dict(settings)
    ours = _fields(plugin)
    if not _has_model(plugin):
        if "sent" not in ours:
            values.pop("sent", None)
        if idle := [key for key in CHOICE if key in values and key not in ours]:
            raise SetupError(
                f"the method works without a language model: leave out {' and '.join(idle)}, or "
                "choose another method"
            )
        return values
    chosen = {key: values.pop(key) for key in CHOICE if key in values}
    name = chosen.pop("model", None)
    if not isinstance(name, str | None):
        if chosen:
            raise SetupError(f"a model is given: {', '.join(chosen)} would change nothing")
        return {**values, "model": name}
    if not _needs_model(plugin) and name is None and not chosen.keys() - {"sent"}:
        return values
    values["model"] = models.model(name, **chosen)
    if "prices" in ours:
        values["prices"] = _given_prices(values, models.settings(name, **chosen), models)
    return values


def _given_prices(values: Mapping[str, object], settings: ModelSettings, models: Models) -> object:
    """The prices that are given, those in the file that is named, or those of the model."""
    if "prices" not in values:
        return models.prices(settings)
    given = values["prices"]
    return models.prices_in(given) if isinstance(given, str) else given


def _with_further(
    plugin: registry.Plugin, settings: Mapping[str, object], models: Models, folder: Path
) -> dict[str, object]:
    server = {key: settings[key] for key in CHOICE if key != "model" and key in settings}
    log = {key: server[key] for key in ("sent",) if key in server}
    further: dict[str, LanguageModel] = {}
    for name in _named(plugin, settings, "further", "models", "LanguageModel"):
        tables = model_tables(folder)
        try:
            further[name] = models.model(name, **(log if name in tables else server))
        except SetupError as error:
            there = ", ".join(tables) or "none"
            raise SetupError(
                f"'models' names {name!r}: {error}. Tables [models.NAME] that are there: {there}"
            ) from error
    return {**settings, "further": further} if further else dict(settings)


def _named(
    plugin: registry.Plugin, settings: Mapping[str, object], objects: str, setting: str, kind: str
) -> list[str]:
    """The names in a setting of a method that is handed objects of a kind by it, in a field.

    There are none if it is not text, which is told with the other settings.
    """
    if not _handed(plugin, objects, setting, kind):
        return []
    if objects in settings:
        raise SetupError(
            f"{objects!r} is no setting: name them in {setting!r}, several with + between"
        )
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
    other: registry.Plugin, own: Mapping[str, object], settings: Mapping[str, object], sent: object
) -> dict[str, object]:
    """What a method that is consulted gets from the one that consults it."""
    ours, needs, chooses = _fields(other), _needs_model(other), any(key in own for key in CHOICE)
    given: dict[str, object] = {}
    if "model" in settings and needs and not chooses:
        given["model"] = settings["model"]
        if "prices" in ours and "prices" not in own and "prices" in settings:
            given["prices"] = settings["prices"]
    elif sent is not None and (needs or chooses):
        given["sent"] = sent
    if "examples" in ours and settings.get("examples"):
        given["examples"] = settings["examples"]
    return given


def _handed(plugin: registry.Plugin, objects: str, setting: str, kind: str) -> bool:
    ours = _fields(plugin)
    return setting in ours and objects in ours and kind in str(ours[objects].type)


def _needs_model(plugin: registry.Plugin) -> bool:
    return _has_model(plugin) and _fields(plugin)["model"].default is MISSING


def _has_model(plugin: registry.Plugin) -> bool:
    field = _fields(plugin).get("model")
    return field is not None and "LanguageModel" in str(field.type)


def _fields(plugin: registry.Plugin) -> Mapping[str, Field[Any]]:
    return {field.name: field for field in fields(plugin)} if is_dataclass(plugin) else {}
