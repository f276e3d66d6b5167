"""Create language models by name, and the methods that use them, from settings.

[models.default]
model = "qwen3:8b"
base_url = "http://localhost:11434/v1"   # Ollama; vLLM, llama.cpp and others speak the same

A method with a field `model` gets a model, one with a field `further` the models that its setting
`models` names, one with a field `others` the methods that its setting `consult` names; several
names are joined by +.

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
from askgraph.llm.budget import ModelStack, PriceTable
from askgraph.methods import Method, can_call_model
from askgraph.workspace.settings import (
    MODEL_SETTINGS,
    SETTINGS_FILE,
    check_fields,
    load_method_settings,
    load_model_tables,
)

if TYPE_CHECKING:
    from askgraph.llm.capability_probe import WatchingTransport

PROVIDERS = ("openai", "anthropic", "google", "transformers")
_KEY_VARIABLE = "ASKGRAPH_API_KEY"
_SERVER_SETTINGS = ("provider", "base_url")
_REQUEST_SETTINGS = ("temperature", "seed", "effort", "max_tokens")
_POSITIVE_SETTINGS = (
    "timeout", "first_timeout", "max_tokens", "requests_per_minute", "tokens_per_minute",
    "parallel",
)  # fmt: skip
_REMOTE_SETTINGS = ("base_url", "key_env", "timeout", "first_timeout", "sent", "grammar")

_NO_MODEL_MESSAGE = (
    "no language model is configured. Name one with --model M or the variable "
    f"ASKGRAPH_MODEL, or write a table [models.default] in {SETTINGS_FILE}. For a server "
    "of your own: ASKGRAPH_MODEL=qwen3:8b ASKGRAPH_BASE_URL=http://localhost:11434/v1 "
    "(Ollama; vLLM: http://localhost:8000/v1). For OpenAI: ASKGRAPH_MODEL=gpt-5-mini and "
    "the key in OPENAI_API_KEY. The method graph-search needs no model"
)


@dataclass(frozen=True)
class ModelSettings:
    """One `[models.NAME]` table.

    `provider` is openai (any server that speaks Chat Completions, at `base_url`), anthropic
    or google, transformers (a model on this machine: `model` is its folder, or its name on
    a hub, which is contacted only with `download`; `device` and `dtype` are torch's), or a
    plugin of another package. `key_env` names the variable that holds the key: without it,
    keys go only to the provider's own server. `temperature`, `seed`, `effort` and
    `max_tokens` are defaults for requests. `timeout` is in seconds per reply,
    `first_timeout` until it begins, `parallel` the number of concurrent replies; None means
    the provider's default, or no limit. `cache` keeps replies on disk, forever. `grammar`
    is the server's grammar format: llama.cpp or vllm. `prices` is a file with a price
    table, `sent` a log file of all requests to the server; relative paths start at the
    workspace.
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
    """The models of one workspace, created once for equal settings; close them after use.

    Their limits apply across all users of a model. They serve one event loop at a time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[ModelSettings, LanguageModel] = {}

    def get_model(self, name: str | None = None, **overrides: object) -> LanguageModel:
        """Return the model of a table `[models.NAME]`, else the one with this id.

        An id may include its provider, as `anthropic/claude-sonnet-4-5`, if no base URL is set.
        Without a name it is the table `default`, else `ASKGRAPH_MODEL`. An id goes to
        `ASKGRAPH_BASE_URL`, if that is set. `overrides` are fields of `ModelSettings`.

        Raises:
            SetupError: a setting is missing or invalid.
        """
        settings = self.resolve_settings(name, **overrides)
        if settings in self._made:
            return self._made[settings]
        # The default method needs no model.
        from askgraph.llm.limited import LimitedModel
        from askgraph.llm.retried import RetriedModel

        model = _create_model(settings, self._folder)
        requests, tokens = settings.requests_per_minute, settings.tokens_per_minute
        if requests or tokens or settings.parallel:
            model = LimitedModel(model, requests=requests, tokens=tokens, at_once=settings.parallel)
        model = RetriedModel(model, retries=settings.retries)
        wrappers: list[plugins.Plugin] = []
        if settings.cache:
            cached = plugins.load("llm", "cached")
            wrappers.append(partial(cached, folder=self._folder / "model-cache"))
        if find_spec("opentelemetry"):
            wrappers.append(plugins.load("llm", "telemetry"))
        request_values = {name: getattr(settings, name) for name in _REQUEST_SETTINGS}
        options = {name: value for name, value in request_values.items() if value is not None}
        prices = self.load_prices(settings)
        stack = ModelStack(model, cast("Options", options), prices, tuple(wrappers))
        self._made[settings] = stack
        return stack

    def resolve_settings(self, name: str | None = None, **overrides: object) -> ModelSettings:
        """Return the settings from which `get_model` creates a model."""
        tables = load_model_tables(self._folder)
        explicit = {key: value for key, value in overrides.items() if value is not None}
        check_fields("a language model", ModelSettings, explicit)
        if name is None and "default" in tables:
            name = "default"
        name = name or os.environ.get("ASKGRAPH_MODEL")
        if not name:
            raise NoModel(_NO_MODEL_MESSAGE)
        if name in tables:
            table = tables[name]  # whose key and address are for no other server
            defaults = {"provider": "openai", **table}
            is_other_server = any(
                explicit.get(key, defaults.get(key)) != defaults.get(key)
                for key in _SERVER_SETTINGS
            )
            dropped = {"key_env", "base_url"} if is_other_server else set()
            values = {
                **{key: value for key, value in table.items() if key not in dropped},
                **explicit,
            }
            where = f"{SETTINGS_FILE}: [models.{name}]"
        else:
            values = {**_infer_settings(name, explicit), **explicit}
            where = f"the language model {name!r}"
        check_fields(where, ModelSettings, values)
        if not values.get("model"):
            raise SetupError(f"{where} needs `model`, the name of the model at its server")
        # OpenAI requires a key; the plugin, which serves others too, has no default.
        if values.get("provider", "openai") == "openai" and values.get("base_url") is None:
            values["key_env"] = values.get("key_env") or "OPENAI_API_KEY"
        settings = ModelSettings(**values)
        for limit in (*_POSITIVE_SETTINGS, "temperature", "retries"):
            value = getattr(settings, limit)
            if value is not None and not (value > 0 if limit in _POSITIVE_SETTINGS else value >= 0):
                requirement = "more than 0" if limit in _POSITIVE_SETTINGS else "0 or more"
                raise SetupError(f"{where}: {limit} must be {requirement}, not {value}")
        return settings

    def create_bare_model(
        self, settings: ModelSettings, transport: "WatchingTransport", grammar: str | None
    ) -> LanguageModel:
        """Create a model without wrappers, over a transport and with a grammar format."""
        return _create_model(replace(settings, grammar=grammar, sent=None), self._folder, transport)

    def list_paused_models(self) -> dict[str, float]:
        """Return the models whose servers have just failed, with the seconds until the next try."""
        retried = {
            stack.identity.model: stack.patient
            for stack in self._made.values()
            if isinstance(stack, ModelStack)
        }
        pauses = {name: getattr(stack, "pause_seconds", 0.0) for name, stack in retried.items()}
        return {name: seconds for name, seconds in pauses.items() if seconds}

    def load_prices(self, settings: ModelSettings) -> PriceTable | None:
        """Return the price table of a model, if it has one."""
        if settings.prices is None:
            return None
        prices = self.read_prices(settings.prices)
        prices.get_price(settings.model)
        return prices

    def read_prices(self, path: str) -> PriceTable:
        """Return the price table in a file; a relative path starts at the workspace."""
        return PriceTable.load(self._folder / Path(path).expanduser())

    async def close(self) -> None:
        """Close all models; they reconnect if used again."""
        for model in self._made.values():
            await model.close()


def _infer_settings(name: str, explicit: Mapping[str, object]) -> dict[str, Any]:
    """Infer settings from a model id; its server comes from settings, environment or the id."""
    address = explicit.get("base_url")
    if address is None and "provider" not in explicit:
        address = os.environ.get("ASKGRAPH_BASE_URL") or None
    values: dict[str, Any] = {"model": name}
    provider, _, model_id = name.partition("/")
    if address is not None:
        values["base_url"] = address
        if os.environ.get(_KEY_VARIABLE):
            values["key_env"] = _KEY_VARIABLE
    elif provider in PROVIDERS and model_id and "provider" not in explicit:
        values |= {"model": model_id, "provider": provider}
    return values


def _create_model(
    settings: ModelSettings, folder: Path, transport: "WatchingTransport | None" = None
) -> LanguageModel:
    provider = settings.provider
    is_plugin = provider.replace("-", "_") in plugins.list_names("llm")
    plugin = plugins.load("llm", provider) if is_plugin else None
    parameters = inspect.signature(plugin).parameters if plugin else {}
    values: dict[str, object]
    if plugin is not None and {"model", "device"} <= parameters.keys():
        if unused := [name for name in _REMOTE_SETTINGS if getattr(settings, name) is not None]:
            raise SetupError(
                f"the model {settings.model!r} runs on this machine, where "
                f"{' and '.join(unused)} would have no effect: leave "
                f"{'it' if len(unused) == 1 else 'them'} out"
            )
        path = folder / Path(settings.model).expanduser()
        name = str(path) if path.exists() else settings.model
        values = {
            setting: getattr(settings, setting) for setting in ("device", "dtype", "download")
        }
        local_model: LanguageModel = plugin(name, **values)
        return local_model
    if plugin is None or not {"model", "base_url", "key_env"} <= parameters.keys():
        raise SetupError(f"the provider {provider!r} is unknown; available: {', '.join(PROVIDERS)}")
    server = ("base_url", "timeout", "first_timeout", "grammar")
    possible_values = {name: getattr(settings, name) for name in server} | {"transport": transport}
    values = {name: value for name, value in possible_values.items() if value is not None}
    if settings.key_env is not None or settings.base_url is not None:
        values["key_env"] = settings.key_env
    if unused := [name for name in values if name not in parameters]:
        raise SetupError(
            f"leave out {' and '.join(unused)}, which the provider {provider!r} does not support"
        )
    if settings.sent is not None:
        if "sent" not in parameters:
            raise SetupError(
                f"the provider {provider!r} does not log its requests: leave out `sent`, "
                f"or choose one of {', '.join(PROVIDERS)}"
            )
        values["sent"] = folder / Path(settings.sent).expanduser()
    model: LanguageModel = plugin(settings.model, **values)
    return model


MethodFactory = Callable[[str, Mapping[str, Any], Models], Method]
"""Creates a method by name, from settings and the available models."""


def resolve_dependencies(
    plugin: plugins.Plugin,
    settings: Mapping[str, object],
    folder: Path,
    make: MethodFactory,
    models: Models | None = None,
) -> dict[str, object]:
    """Return the settings of a method with the models and methods that they name.

    A further model is named by its table, else by its id at the server of the method's own
    settings. A consulted method has its own settings in `askgraph.toml`. If it needs a
    model without having one, it gets the same model; if it learns from examples, it gets
    the same `examples`. All requests to models are logged in the file `sent`.

    Raises:
        SetupError: an object cannot be created, a consulted method consults others itself, or
            `further` or `others` is set directly.
    """
    shared_models = models or Models(folder)
    chosen = resolve_model(
        plugin, _resolve_further_models(plugin, settings, shared_models, folder), shared_models
    )
    other_methods: dict[str, Method] = {}
    for name in _parse_names(plugin, chosen, "others", "consult", "Method"):
        other_plugin = plugins.load("method", name)
        if other_plugin is plugin:
            raise SetupError(f"a method cannot consult itself: remove {name!r} from 'consult'")
        if _has_object_field(other_plugin, "others", "consult", "Method"):
            raise SetupError(
                f"a method cannot consult {name!r}, which consults methods itself: name "
                "these methods in 'consult' instead"
            )
        other_table = load_method_settings(folder, name)
        sent = settings.get("sent")
        other_fields = _get_fields(other_plugin)
        needs = is_model_required(other_plugin)
        chooses = any(key in other_table for key in MODEL_SETTINGS)
        other_settings: dict[str, object] = {}
        if "model" in chosen and needs and not chooses:
            other_settings["model"] = chosen["model"]
            if "prices" in other_fields and "prices" not in other_table and "prices" in chosen:
                other_settings["prices"] = chosen["prices"]
        elif sent is not None and (needs or chooses):
            other_settings["sent"] = sent
        if "examples" in other_fields and chosen.get("examples"):
            other_settings["examples"] = chosen["examples"]
        other_methods[name.lower().replace("_", "-")] = make(name, other_settings, shared_models)
    return {**chosen, "others": other_methods} if other_methods else chosen


def resolve_model(
    plugin: plugins.Plugin, settings: Mapping[str, object], models: Models
) -> dict[str, object]:
    """Return the settings of a method with the model that they name, if it has one.

    The settings `model` (a name, or a model), `provider`, `base_url` and `key_env` choose
    it. A method whose `model` has a default gets one only if these are set, or if another
    setting, also of its preset, needs a model. `prices` are those of the model, or those of
    the file that they name. `sent` logs requests; a method without a model sends none.
    """
    values = dict(settings)
    plugin_fields = _get_fields(plugin)
    if not _has_model(plugin):
        if "sent" not in plugin_fields:
            values.pop("sent", None)
        if unused := [key for key in MODEL_SETTINGS if key in values and key not in plugin_fields]:
            raise SetupError(
                "the method works without a language model: leave out "
                f"{' and '.join(unused)}, or "
                "choose another method"
            )
        return values
    chosen = {key: values.pop(key) for key in MODEL_SETTINGS if key in values}
    is_optional = getattr(plugin, "only_words", False) and not settings.get("interpret")
    if is_optional and settings.get("model") is not None:
        raise SetupError(
            "the method works without a language model: leave out model, or set "
            "interpret=true to let the model phrase the answer"
        )
    name = chosen.pop("model", None)
    if not isinstance(name, str | None):
        if chosen:
            raise SetupError(
                f"a model object is given: leave out {', '.join(chosen)}, which would have "
                "no effect"
            )
        return {**values, "model": name}
    asks = is_model_required(plugin) or can_call_model(plugin, settings)
    if not asks and name is None and not chosen.keys() - {"sent"}:
        return values
    values["model"] = models.get_model(name, **chosen)
    if "prices" in plugin_fields:
        if "prices" not in values:
            values["prices"] = models.load_prices(models.resolve_settings(name, **chosen))
        elif isinstance(values["prices"], str):
            values["prices"] = models.read_prices(values["prices"])
    return values


def _resolve_further_models(
    plugin: plugins.Plugin, settings: Mapping[str, object], models: Models, folder: Path
) -> dict[str, object]:
    server = {key: settings[key] for key in MODEL_SETTINGS if key != "model" and key in settings}
    log = {key: server[key] for key in ("sent",) if key in server}
    further: dict[str, LanguageModel] = {}
    setting = "models" if "models" in _get_fields(plugin) else "picker"
    for name in _parse_names(plugin, settings, "further", setting, "LanguageModel"):
        tables = load_model_tables(folder)
        try:
            further[name] = models.get_model(name, **(log if name in tables else server))
        except SetupError as error:
            table_names = ", ".join(tables) or "none"
            raise SetupError(
                f"{setting!r} names {name!r}: {error}. Available tables [models.NAME]: "
                f"{table_names}"
            ) from error
    return {**settings, "further": further} if further else dict(settings)


def _parse_names(
    plugin: plugins.Plugin, settings: Mapping[str, object], objects: str, setting: str, kind: str
) -> list[str]:
    # Empty if the setting is not text; the settings check reports that.
    if not _has_object_field(plugin, objects, setting, kind):
        return []
    if objects in settings:
        raise SetupError(f"{objects!r} is not a setting: name them in {setting!r}, joined by +")
    text = settings.get(setting, "")
    if not isinstance(text, str) or not text.strip():
        return []
    names = [name.strip() for name in text.split("+")]
    normalized = [name.lower().replace("_", "-") for name in names]
    for name, normalized_name in zip(names, normalized, strict=True):
        if not name:
            raise SetupError(f"{setting!r} has a + without a name on either side: {text!r}")
        if normalized.count(normalized_name) > 1:
            raise SetupError(f"{setting!r} names {name!r} twice: {text!r}")
    return names


def _has_object_field(plugin: plugins.Plugin, objects: str, setting: str, kind: str) -> bool:
    plugin_fields = _get_fields(plugin)
    return (
        setting in plugin_fields
        and objects in plugin_fields
        and kind in str(plugin_fields[objects].type)
    )


def is_model_required(plugin: plugins.Plugin) -> bool:
    """Return whether a method requires a language model."""
    return _has_model(plugin) and _get_fields(plugin)["model"].default is MISSING


def _has_model(plugin: plugins.Plugin) -> bool:
    field = _get_fields(plugin).get("model")
    return field is not None and "LanguageModel" in str(field.type)


def _get_fields(plugin: plugins.Plugin) -> Mapping[str, Field[Any]]:
    return {field.name: field for field in fields(plugin)} if is_dataclass(plugin) else {}
