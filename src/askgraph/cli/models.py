"""`askgraph models`: list the language models of the workspace, and probe one of them."""

import json as text_of_json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial

from rich.console import RenderableType
from rich.text import Text

from askgraph.answers.console import build_table
from askgraph.cli import CommandGroup
from askgraph.cli.output import CommonOptions, print_blocks, print_json
from askgraph.errors import SetupError
from askgraph.llm.capability_probe import CapabilityReport, probe_model
from askgraph.workspace.models import Models, ModelSettings
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.settings import SETTINGS_FILE, load_model_tables

models = CommandGroup()


@models.command("list")
def list_models(common: CommonOptions, json: bool = False) -> None:
    """List the tables [models.NAME] of askgraph.toml."""
    folder = common.workspace.folder
    settings = {name: Models(folder).resolve_settings(name) for name in load_model_tables(folder)}
    if json:
        print_json(
            [{"name": name, **_get_explicit_settings(table)} for name, table in settings.items()]
        )
        return
    rows = [
        (name, table.model, table.provider, table.base_url or "-")
        for name, table in settings.items()
    ]
    if not rows:
        print_blocks([Text(f"{folder / SETTINGS_FILE} has no table [models.NAME] yet.")])
        return
    print_blocks([build_table(("name", "model", "provider", "address"), rows)])


@models.command("check")
def check(
    common: CommonOptions, name: str | None = None, base_url: str | None = None, json: bool = False
) -> None:
    """Probe a language model: its abilities, its speed, and its settings for askgraph.toml."""
    folder = common.workspace.folder
    workspace_models, tables = Models(folder), load_model_tables(folder)
    settings = workspace_models.resolve_settings(name, base_url=base_url)
    try:
        probe = run_coroutine(probe_model(partial(workspace_models.create_bare_model, settings)))
    except SetupError as error:
        if name is None or name in tables or base_url:
            raise
        table_names = ", ".join(tables) or "none"
        raise SetupError(
            f"{error}. There is no table [models.{name}]; available: {table_names}"
        ) from error
    explicit_settings = _get_explicit_settings(settings)
    if explicit_settings.get("key_env") == "OPENAI_API_KEY" and "base_url" not in explicit_settings:
        del explicit_settings["key_env"]  # as without it
    title = name if name and name.isidentifier() else "default"
    lines = [
        f"{key} = {text_of_json.dumps(value, ensure_ascii=False)}"  # TOML writes values like JSON
        for key, value in {**probe.settings, **explicit_settings}.items()
    ]
    toml = "\n".join([f"[models.{title}]", *sorted(lines, key=lambda line: line[:6] != "model ")])
    if json:
        print_json({**asdict(probe), "toml": toml})
        return
    name = settings.model
    served_model = "" if probe.model == name or settings.provider == "transformers" else probe.model
    title = f"{name} answers" + (f" as {served_model}" if served_model else "")
    print_blocks(_format_probe(title, probe, toml))


def _get_explicit_settings(settings: ModelSettings) -> dict[str, object]:
    defaults = asdict(ModelSettings(settings.model))
    return {
        key: value
        for key, value in asdict(settings).items()
        if key == "model" or value != defaults[key]
    }


def _format_probe(title: str, probe: CapabilityReport, toml_text: str) -> Iterator[RenderableType]:
    server_facts = probe.about
    yield Text(title + (f" ({server_facts.software})" if server_facts.software else ""))
    rows = [
        (ability.name, "yes" if ability.holds else "no", ability.how) for ability in probe.abilities
    ]
    rows += [(name, "", line) for name, line in _format_measurements(probe).items()]
    yield build_table(("", "", ""), [(*row[:2], row[2].removeprefix("no: ")) for row in rows])
    yield Text(f"\nIn {SETTINGS_FILE}:\n\n{toml_text}")
    if probe.advice:
        yield Text("")
        yield from (Text(f"- {line}") for line in probe.advice)


def _format_measurements(probe: CapabilityReport) -> Mapping[str, str]:
    facts, speed = probe.about, probe.speed
    context = f"{facts.context:,} tokens" if facts.context else "not reported by the server"
    parallel = f", {facts.at_once} requests at once" if facts.at_once else ""
    parts = [f"first token after {speed.first:.2g} s"]
    if speed.written is not None:
        parts.append(f"{speed.written:.3g} tokens per second written")
    if speed.read is not None:
        parts.append(f"{speed.read:.3g} read")
    return {"context": context + parallel, "speed": ", ".join(parts)}
