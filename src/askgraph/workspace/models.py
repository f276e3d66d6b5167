"""Language models by name, and the methods that are handed them: from settings to objects.

[models.default]
model = "qwen3:8b"
base_url = "http://localhost:11434/v1"   # Ollama; vLLM, llama.cpp and others speak the same
temperature = 0.0
cache = true

[models.small]
provider = "transformers"
model = "models/qwen-of-ours"            # a folder on this machine

[models.large]
provider = "anthropic"
model = "claude-sonnet-4-5"
key_env = "ANTHROPIC_API_KEY"            # the name of a variable; a key is never written here

A method with a field `model` is handed a model, one with a field `further` the models that its
setting `models` names, one with a field `others` the methods that its setting `consult` names;
several names have + between them.

[methods.guided]
models = "large+small"
consult = "dfsl+sparql-llm"              # each with its own settings from [methods.NAME]
"""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from askgraph import plugins
from askgraph.errors import NoModel, SetupError
from askgraph.llm import LanguageModel, Options
from askgraph.llm.budget import ModelStack, Prices
from askgraph.methods import Method, can_call_model
from askgraph.workspace.settings import CHOICE, FILE, check_fields, method_settings, model_tables

if TYPE_CHECKING:
    from askgraph.llm.capability_probe import Watched

PROVIDERS = ("openai", "anthropic", "google", "transformers")
_KEY = "ASKGRAPH_API_KEY"
_SERVER = ("provider", "base_url")
_WANTED = ("temperature", "seed", "effort", "max_tokens")
_POSITIVE = (
    "timeout", "first_timeout", "max_tokens", "requests_per_minute", "tokens_per_minute",
    "parallel",
)  # fmt: skip
_OF_SERVERS = ("base_url", "key_env", "timeout", "first_timeout", "sent", "grammar")

_NO_MODEL = (
    "no language model is named. Name one (--model M, or the variable ASKGRAPH_MODEL), or write a "
    f"table [models.default] in {FILE}. For a server of your own: ASKGRAPH_MODEL=qwen3:8b "
    "ASKGRAPH_BASE_URL=http://localhost:11434/v1 (Ollama; vLLM: http://localhost:8000/v1). For "
    "OpenAI: ASKGRAPH_MODEL=gpt-5-mini and the key in OPENAI_API_KEY"
)


@dataclass(frozen=True)
class ModelSettings:
    """One `[models.NAME]` table.

    `provider` is openai (any server that speaks Chat Completions, at `base_url`), anthropic or
    google, transformers (a model on this machine: `model` is its folder, or its name on a hub,
    which is asked only with `download`; `device` and `dtype` are torch's), or a plugin of another
    package. `key_env` names the variable that holds the key: without
    it, keys go to the provider's own server alone. `temperature`, `seed`, `effort` and `max_tokens`
    are for requests that do not set them. `timeout` is in seconds a reply, `first_timeout` until it
    begins, `parallel` how many are under way at once; None is the provider's, or no limit. `cache`
    keeps replies on disk, for ever. `grammar` is the form in which the server takes grammars:
    llama.cpp or vllm. `prices` is a file with a price table, `sent` one in which all
    that is sent to the server is logged; a relative path starts at the workspace.
    """

    model: str
    provider: str = "openai"
    base_url: str | None = None
    key_env: str | None = None
    temperature: float | None = None
    seed: int | None = None
    effort: str | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    first_timeout: float | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    parallel: int | None = None
    retries: int = 4
    cache: bool = False
    prices: str | None = None
    sent: str | None = None
    device: str | None = None
    dtype: str | None = None
    download: bool = False
    grammar: str | None = None


class Models:
    """The models of one workspace, each made once for equal settings; close them after use.

    Their limits hold for all who share them. They serve one event loop at a time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[ModelSettings, LanguageModel] = {}

    def model(self, name: str | None = None, **overrides: object) -> LanguageModel:
        """Return the model of a table `[models.NAME]`, else the one with this id.

        An id may name its provider, as `anthropic/claude-sonnet-4-5`, if no base URL is given.
        Without a name it is the table `default`, else `ASKGRAPH_MODEL`. An id is looked for at
        `ASKGRAPH_BASE_URL`, if that is set. `overrides` are fields of `ModelSettings`. Raises
        `SetupError` for what is missing or does not fit.
        """
        settings = self.settings(name, **overrides)
        if settings in self._made:
            return self._made[settings]
        # The default method needs no model.
        from askgraph.llm.limited import LimitedModel
        from askgraph.llm.retried import RetriedModel

        model = _asked(settings, self._folder)
        requests, tokens = settings.requests_per_minute, settings.tokens_per_minute
        if requests or tokens or settings.parallel:
            model = LimitedModel(model, requests=requests, tokens=tokens, at_once=settings.parallel)
        model = RetriedModel(model, retries=settings.retries)
        around: list[plugins.Plugin] = []
        if settings.cache:
            cached = plugins.load("llm", "cached")
            around.append(partial(cached, folder=self._folder / "model-cache"))
        if find_spec("opentelemetry"):
            around.append(plugins.load("llm", "telemetry"))
        wanted = {name: getattr(settings, name) for name in _WANTED}
        options = {name: value for name, value in wanted.items() if value is not None}
        prices = self.prices(settings)
        made = ModelStack(model, cast("Options", options), prices, tuple(around))
        self._made[settings] = made
        return made

    def settings(self, name: str | None = None, **overrides: object) -> ModelSettings:
        """Return the settings that `model` makes a model of."""
        tables = model_tables(self._folder)
        given = {key: value for key, value in overrides.items() if value is not None}
        check_fields("a language model", ModelSettings, given)
        if name is None and "default" in tables:
            name = "default"
        name = name or os.environ.get("ASKGRAPH_MODEL")
        if not name:
            raise NoModel(_NO_MODEL)
        if name in tables:
            values = {**_kept(tables[name], given), **given}
            where = f"{FILE}: [models.{name}]"
        else:
            values = {**_found(name, given), **given}
            where = f"the language model {name!r}"
        check_fields(where, ModelSettings, values)
        if not values.get("model"):
            raise SetupError(f"{where} has no `model`: the name of the model at its server")
        # OpenAI's own server wants a key; its plugin, which serves others too, has no default.
        if values.get("provider", "openai") == "openai" and values.get("base_url") is None:
            values["key_env"] = values.get("key_env") or "OPENAI_API_KEY"
        settings = ModelSettings(**values)
        for limit in (*_POSITIVE, "temperature", "retries"):
            value = getattr(settings, limit)
            if value is not None and not (value > 0 if limit in _POSITIVE else value >= 0):
                least = "more than 0" if limit in _POSITIVE else "0 or more"
                raise SetupError(f"{where}: {limit} is {value}; it must be {least}")
        return settings

    def alone(
        self, settings: ModelSettings, transport: "Watched", grammar: str | None
    ) -> LanguageModel:
        """Return a model with nothing around it, over a transport and with a form of grammars."""
        return _asked(replace(settings, grammar=grammar, sent=None), self._folder, transport)

    def left_alone(self) -> dict[str, float]:
        """Return the models whose servers have just failed, and how long they are left alone."""
        patient = {
            one.identity.model: one.patient
            for one in self._made.values()
            if isinstance(one, ModelStack)
        }
        found = {name: getattr(one, "left_alone", 0.0) for name, one in patient.items()}
        return {name: seconds for name, seconds in found.items() if seconds}

    def prices(self, settings: ModelSettings) -> Prices | None:
        """Return the price table of a model, if it has one."""
        if settings.prices is None:
            return None
        prices = self.prices_in(settings.prices)
        prices.of(settings.model)
        return prices

    def prices_in(self, path: str) -> Prices:
        """Return the price table in a file; a relative path starts at the workspace."""
        return Prices.read(self._folder / Path(path).expanduser())

    async def close(self) -> None:
        """Close all models; they can be used again, and are connected anew."""
        for model in self._made.values():
            await model.close()


def _kept(table: Mapping[str, Any], given: Mapping[str, object]) -> dict[str, Any]:
    """A table without what is for another server than the one that is asked now."""
    there = {"provider": "openai", **table}
    moved = any(given.get(key, there.get(key)) != there.get(key) for key in _SERVER)
    left = {"key_env", "base_url"} if moved else set()
    return {key: value for key, value in table.items() if key not in left}


def _found(name: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The settings of a model id: its server is named here, by the environment, or in the id."""
    address = given.get("base_url")
    if address is None and "provider" not in given:
        address = os.environ.get("ASKGRAPH_BASE_URL") or None
    values: dict[str, Any] = {"model": name}
    provider, _, rest = name.partition("/")
    if address is not None:
        values["base_url"] = address
        if os.environ.get(_KEY):
            values["key_env"] = _KEY
    elif provider in PROVIDERS and rest and "provider" not in given:
        values |= {"model": rest, "provider": provider}
    return values


def _asked(
    settings: ModelSettings, folder: Path, transport: "Watched | None" = None
) -> LanguageModel:
    """The model at its server, or on this machine, with nothing around it."""
    provider = settings.provider
    known = provider.replace("-", "_") in plugins.list_names("llm")
    plugin = plugins.load("llm", provider) if known else None
    takes = inspect.signature(plugin).parameters if plugin else {}
    values: dict[str, object]
    if plugin is not None and {"model", "device"} <= takes.keys():
        if idle := [name for name in _OF_SERVERS if getattr(settings, name) is not None]:
            raise SetupError(
                f"the model {settings.model!r} is on this machine, where {' and '.join(idle)} "
                f"would change nothing: leave {'it' if len(idle) == 1 else 'them'} out"
            )
        path = folder / Path(settings.model).expanduser()
        name = str(path) if path.exists() else settings.model
        values = {one: getattr(settings, one) for one in ("device", "dtype", "download")}
        here: LanguageModel = plugin(name, **values)
        return here
    if plugin is None or not {"model", "base_url", "key_env"} <= takes.keys():
        raise SetupError(
            f"the provider {provider!r} is no server of language models; there are "
            f"{', '.join(PROVIDERS)}"
        )
    named = ("base_url", "timeout", "first_timeout", "grammar")
    wanted = {name: getattr(settings, name) for name in named} | {"transport": transport}
    values = {name: value for name, value in wanted.items() if value is not None}
    if settings.key_env is not None or settings.base_url is not None:
        values["key_env"] = settings.key_env
    if idle := [name for name in values if name not in takes]:
        raise SetupError(f"the provider {provider!r} knows no {' and no '.join(idle)}")
    if settings.sent is not None:
        if "sent" not in takes:
            raise SetupError(
                f"the provider {provider!r} does not log what it sends: leave out `sent`, or "
                f"choose one of {', '.join(PROVIDERS)}"
            )
        values["sent"] = folder / Path(settings.sent).expanduser()
    model: LanguageModel = plugin(settings.model, **values)
    return model


Make = Callable[[str, Mapping[str, Any], Models], Method]
"""Makes a method by name, of settings and the models that are there."""


def with_dependencies(
    plugin: plugins.Plugin,
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
        other = plugins.load("method", name)
        if other is plugin:
            raise SetupError(f"a method cannot consult itself: take {name!r} out of 'consult'")
        if _handed(other, "others", "consult", "Method"):
            raise SetupError(
                f"a method cannot consult {name!r}, which consults methods itself: name those that "
                "it would, in 'consult'"
            )
        own = method_settings(folder, name)
        sent = settings.get("sent")
        ours, needs, chooses = _fields(other), needs_model(other), any(key in own for key in CHOICE)
        given: dict[str, object] = {}
        if "model" in chosen and needs and not chooses:
            given["model"] = chosen["model"]
            if "prices" in ours and "prices" not in own and "prices" in chosen:
                given["prices"] = chosen["prices"]
        elif sent is not None and (needs or chooses):
            given["sent"] = sent
        if "examples" in ours and chosen.get("examples"):
            given["examples"] = chosen["examples"]
        others[name.lower().replace("_", "-")] = make(name, given, made)
    return {**chosen, "others": others} if others else chosen


def with_model(
    plugin: plugins.Plugin, settings: Mapping[str, object], models: Models
) -> dict[str, object]:
    """Return the settings of a method with the model that they name, if it has one.

    The settings `model` (a name, or a model), `provider`, `base_url` and `key_env` choose it; a
    method whose `model` has a default gets one only if they are given, or if another setting, also
    one of its preset, asks a model (`asks`). `prices` become those of
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
    only = getattr(plugin, "only_words", False) and not settings.get("interpret")
    if only and settings.get("model") is not None:
        raise SetupError(
            "the method works without a language model: leave out model, or set interpret=true, "
            "and the model says the answer in words"
        )
    name = chosen.pop("model", None)
    if not isinstance(name, str | None):
        if chosen:
            raise SetupError(f"a model is given: {', '.join(chosen)} would change nothing")
        return {**values, "model": name}
    asks = needs_model(plugin) or can_call_model(plugin, settings)
    if not asks and name is None and not chosen.keys() - {"sent"}:
        return values
    values["model"] = models.model(name, **chosen)
    if "prices" in ours:
        if "prices" not in values:
            values["prices"] = models.prices(models.settings(name, **chosen))
        elif isinstance(values["prices"], str):
            values["prices"] = models.prices_in(values["prices"])
    return values


def _with_further(
    plugin: plugins.Plugin, settings: Mapping[str, object], models: Models, folder: Path
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
    plugin: plugins.Plugin, settings: Mapping[str, object], objects: str, setting: str, kind: str
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


def _handed(plugin: plugins.Plugin, objects: str, setting: str, kind: str) -> bool:
    ours = _fields(plugin)
    return setting in ours and objects in ours and kind in str(ours[objects].type)


def needs_model(plugin: plugins.Plugin) -> bool:
    """Whether a method cannot be made without a language model."""
    return _has_model(plugin) and _fields(plugin)["model"].default is MISSING


def _has_model(plugin: plugins.Plugin) -> bool:
    field = _fields(plugin).get("model")
    return field is not None and "LanguageModel" in str(field.type)


def _fields(plugin: plugins.Plugin) -> Mapping[str, Field[Any]]:
    return {field.name: field for field in fields(plugin)} if is_dataclass(plugin) else {}
