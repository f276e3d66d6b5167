"""Language models by name: from tables of settings, model ids and the environment to objects.

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
"""

import inspect
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from askgraph import registry
from askgraph.errors import SetupError
from askgraph.llm import LanguageModel, Options
from askgraph.llm.budget import Prices
from askgraph.workspace.settings import FILE, check_fields, model_tables

PROVIDERS = ("openai", "anthropic", "google", "transformers")
_KEY = "ASKGRAPH_API_KEY"
_SERVER = ("provider", "base_url")
_WANTED = ("temperature", "seed", "effort", "max_tokens")
_OF_SERVERS = ("base_url", "key_env", "timeout", "first_timeout", "sent")

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
    keeps replies on disk, for ever. `prices` is a file with a price table, `sent` one in which all
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
        if settings not in self._made:
            self._made[settings] = _built(settings, self._folder)
        return self._made[settings]

    def settings(self, name: str | None = None, **overrides: object) -> ModelSettings:
        """Return the settings that `model` makes a model of."""
        tables = model_tables(self._folder)
        given = {key: value for key, value in overrides.items() if value is not None}
        check_fields("a language model", ModelSettings, given)
        if name is None and "default" in tables:
            name = "default"
        name = name or os.environ.get("ASKGRAPH_MODEL")
        if not name:
            raise SetupError(_NO_MODEL)
        if name in tables:
            values = {**_kept(tables[name], given), **given}
            where = f"{FILE}: [models.{name}]"
        else:
            values = {**_found(name, given), **given}
            where = f"the language model {name!r}"
        check_fields(where, ModelSettings, values)
        if not values.get("model"):
            raise SetupError(f"{where} has no `model`: the name of the model at its server")
        return _sound(ModelSettings(**_with_key(values)), where)

    def prices(self, settings: ModelSettings) -> Prices | None:
        """Return the price table of a model, if it has one."""
        return _prices(settings, self._folder)

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


def _with_key(values: dict[str, Any]) -> dict[str, Any]:
    """OpenAI's own server wants a key; its plugin, which serves others too, has no default."""
    ours = values.get("provider", "openai") == "openai" and values.get("base_url") is None
    return {**values, "key_env": values.get("key_env") or "OPENAI_API_KEY"} if ours else values


def _sound(settings: ModelSettings, where: str) -> ModelSettings:
    limits = (
        "timeout", "first_timeout", "max_tokens", "requests_per_minute", "tokens_per_minute",
        "parallel",
    )  # fmt: skip
    for name in limits:
        value = getattr(settings, name)
        if value is not None and not value > 0:
            raise SetupError(f"{where}: {name} is {value}; it must be more than 0")
    for name in ("temperature", "retries"):
        value = getattr(settings, name)
        if value is not None and not value >= 0:
            raise SetupError(f"{where}: {name} is {value}; it must be 0 or more")
    return settings


def _built(settings: ModelSettings, folder: Path) -> LanguageModel:
    # The default method needs no model.
    from askgraph.llm.limited import LimitedModel
    from askgraph.llm.retried import RetriedModel
    from askgraph.llm.stack import ModelStack

    model = _asked(settings, folder)
    rates, at_once = (settings.requests_per_minute, settings.tokens_per_minute), settings.parallel
    if any(rates) or at_once:
        model = LimitedModel(model, requests=rates[0], tokens=rates[1], at_once=at_once)
    model = RetriedModel(model, retries=settings.retries)
    telemetry = registry.load("llm", "telemetry") if find_spec("opentelemetry") else None
    cache = folder / "model-cache" if settings.cache else None
    prices = _prices(settings, folder)
    return ModelStack(model, _options(settings), prices, cache, telemetry)


def _asked(settings: ModelSettings, folder: Path) -> LanguageModel:
    """The model at its server, with nothing around it."""
    known = settings.provider.replace("-", "_") in registry.names("llm")
    plugin = registry.load("llm", settings.provider) if known else None
    takes = inspect.signature(plugin).parameters if plugin else {}
    if plugin is not None and {"model", "device"} <= takes.keys():
        return _here(plugin, settings, folder)
    if plugin is None or not {"model", "base_url", "key_env"} <= takes.keys():
        raise SetupError(
            f"the provider {settings.provider!r} is no server of language models; there are "
            f"{', '.join(PROVIDERS)}"
        )
    values: dict[str, object] = {}
    if settings.key_env is not None or settings.base_url is not None:
        values["key_env"] = settings.key_env
    for name in ("base_url", "timeout", "first_timeout"):
        if (value := getattr(settings, name)) is not None:
            values[name] = value
    if settings.sent is not None:
        values["sent"] = _log_file(settings, folder, takes)
    model: LanguageModel = plugin(settings.model, **values)
    return model


def _here(plugin: registry.Plugin, settings: ModelSettings, folder: Path) -> LanguageModel:
    """A model on this machine: its folder, from the workspace on, or its name on a hub."""
    given = {name: getattr(settings, name) for name in _OF_SERVERS}
    if idle := [name for name, value in given.items() if value is not None]:
        raise SetupError(
            f"the model {settings.model!r} is on this machine, where {' and '.join(idle)} would "
            f"change nothing: leave {'it' if len(idle) == 1 else 'them'} out"
        )
    path = folder / Path(settings.model).expanduser()
    name = str(path) if path.is_dir() else settings.model
    made: LanguageModel = plugin(
        name, device=settings.device, dtype=settings.dtype, download=settings.download
    )
    return made


def _log_file(settings: ModelSettings, folder: Path, takes: Container[str]) -> Path:
    """The file that logs what is sent; `SetupError` for a provider that cannot do it."""
    if "sent" not in takes:
        raise SetupError(
            f"the provider {settings.provider!r} does not log what it sends: leave out `sent`, or "
            f"choose one of {', '.join(PROVIDERS)}"
        )
    return folder / Path(settings.sent or "").expanduser()


def _options(settings: ModelSettings) -> Options:
    named = {name: getattr(settings, name) for name in _WANTED}
    return cast("Options", {name: value for name, value in named.items() if value is not None})


def _prices(settings: ModelSettings, folder: Path) -> Prices | None:
    if settings.prices is None:
        return None
    prices = Prices.read(folder / Path(settings.prices).expanduser())
    prices.of(settings.model)
    return prices
