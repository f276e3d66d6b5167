"""`askgraph models`: the language models of the workspace, and what one of them can do."""

import json as text_of_json
from collections.abc import Iterator, Mapping
from dataclasses import asdict

from rich.console import RenderableType
from rich.text import Text

from askgraph.answers.console import listing
from askgraph.cli import Commands
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, show
from askgraph.errors import SetupError
from askgraph.llm.capability_probe import Checked, checked
from askgraph.workspace.models import Models, ModelSettings
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.settings import FILE, model_tables

models = Commands()


@models.command("list")
def list_(common: Common, json: bool = False) -> None:
    """List the tables [models.NAME] of askgraph.toml."""
    folder = common.workspace.folder
    known = {name: Models(folder).settings(name) for name in model_tables(folder)}
    if json:
        print_json([{"name": name, **_given(one)} for name, one in known.items()])
        return
    rows = [(name, one.model, one.provider, one.base_url or "-") for name, one in known.items()]
    if not rows:
        show([Text(f"{folder / FILE} has no table [models.NAME] yet.")])
        return
    show([listing(("name", "model", "provider", "address"), rows)])


@models.command("check")
def check(
    common: Common, name: str | None = None, base_url: str | None = None, json: bool = False
) -> None:
    """Try out a language model: what it can do, how fast it is, and what to set in askgraph.toml.

    It is asked some ten short questions, past any cache and limit. Each ability is tried by a
    request that a server which ignores it answers otherwise.
    """
    folder = common.workspace.folder
    known, tables = Models(folder), model_tables(folder)
    settings = known.settings(name, base_url=base_url)
    try:
        found = result_of(
            checked(lambda transport, grammar: known.alone(settings, transport, grammar))
        )
    except SetupError as error:
        if name is None or name in tables or base_url:
            raise
        there = ", ".join(tables) or "none"
        raise SetupError(
            f"{error}. No table [models.NAME] is {name!r}; there are: {there}"
        ) from error
    own = _given(settings)
    if own.get("key_env") == "OPENAI_API_KEY" and "base_url" not in own:
        del own["key_env"]  # as without it
    title = name if name and name.isidentifier() else "default"
    lines = [f"{key} = {_toml(value)}" for key, value in {**found.settings, **own}.items()]
    written = "\n".join(
        [f"[models.{title}]", *sorted(lines, key=lambda line: line[:6] != "model ")]
    )
    if json:
        print_json({**asdict(found), "toml": written})
        return
    name = settings.model
    served = "" if found.model == name or settings.provider == "transformers" else found.model
    show(list(_shown(f"{name} answers" + (f" as {served}" if served else ""), found, written)))


def _given(settings: ModelSettings) -> dict[str, object]:
    """The settings that are not as they are by default."""
    plain = asdict(ModelSettings(settings.model))
    return {
        key: one for key, one in asdict(settings).items() if key == "model" or one != plain[key]
    }


def _toml(value: object) -> str:
    """A text, number or truth value, which TOML writes as JSON does."""
    return text_of_json.dumps(value, ensure_ascii=False)


def _shown(title: str, found: Checked, written: str) -> Iterator[RenderableType]:
    about = found.about
    yield Text(title + (f" ({about.software})" if about.software else ""))
    rows = [(one.name, "yes" if one.holds else "no", one.how) for one in found.abilities]
    rows += [(name, "", told) for name, told in _measured(found).items()]
    yield listing(("", "", ""), [(*row[:2], row[2].removeprefix("no: ")) for row in rows])
    yield Text(f"\nIn {FILE}:\n\n{written}")
    if found.advice:
        yield Text("")
        yield from (Text(f"- {told}") for told in found.advice)


def _measured(found: Checked) -> Mapping[str, str]:
    about, speed = found.about, found.speed
    context = f"{about.context:,} tokens" if about.context else "the server does not tell"
    at_once = f", {about.at_once} requests at once" if about.at_once else ""
    told = [f"first piece after {speed.first:.2g} s"]
    if speed.written is not None:
        told.append(f"{speed.written:.3g} tokens a second written")
    if speed.read is not None:
        told.append(f"{speed.read:.3g} read")
    return {"context": context + at_once, "speed": ", ".join(told)}
