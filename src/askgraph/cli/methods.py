"""`askgraph methods`: how a question can be answered, and with which settings."""

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass

from rich.console import RenderableType
from rich.text import Text

from askgraph import plugins
from askgraph.answers.console import listing
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, show
from askgraph.methods import PRESETS, help_of, preset_settings

_OBJECTS = ("model", "further", "others", "prices")  # which the workspace makes of settings


def methods(common: Common, name: str | None = None, json: bool = False) -> None:
    """List the methods, or the settings of one: ours, those of its paper and where that has them.

    A setting that is given goes before both: `--method grasp:preset=paper,hits=5`.
    """
    names = [one.replace("_", "-") for one in plugins.names("method")] if name is None else [name]
    found = [_described(one) for one in names]
    if json:
        print_json(found if name is None else found[0])
    elif name is None:
        show([listing(("method", "does"), [(str(one["name"]), str(one["does"])) for one in found])])
    else:
        show(list(_shown(found[0])))


def _described(name: str) -> dict[str, object]:
    plugin = plugins.load("method", name)
    text = " ".join((inspect.getdoc(inspect.getmodule(plugin)) or "").split("\n\n")[0].split())
    published = getattr(plugin, "published", None)
    paper = preset_settings(plugin, PRESETS[1])
    places = {key: one.place for key, one in published.settings.items()} if published else {}
    help_texts = help_of(plugin)
    own_first = (
        sorted(fields(plugin), key=lambda one: bool(one.kw_only)) if is_dataclass(plugin) else ()
    )
    settings = {
        field.name: {
            "best": field.default,
            "paper": paper.get(field.name, field.default) if published else None,
            "where": places.get(field.name),
            "help": help_texts.get(field.name, ""),
        }
        for field in own_first
        if field.init and field.default is not MISSING and field.name not in (*_OBJECTS, "preset")
    }
    return {
        "name": name,
        "does": text,
        "paper": published and published.paper,
        "settings": settings,
        "otherwise": list(published.otherwise) if published else [],
    }


def _shown(one: dict[str, object]) -> Iterator[RenderableType]:
    settings, published = one["settings"], one["paper"]
    assert isinstance(settings, dict) and isinstance(one["otherwise"], list)
    yield Text(f"{one['name']}: {one['does']}")
    if published:
        yield Text(f"preset=paper: {published}")
    yield Text("")
    heads = ("setting", *PRESETS, "where") if published else ("setting", "default")
    rows = [
        (
            name,
            *(_told(table[preset]) for preset in PRESETS if published or preset == PRESETS[0]),
            *([table["where"] or ""] if published else []),
            table["help"],
        )
        for name, table in settings.items()
    ]
    yield listing((*heads, "what it does"), rows)
    if one["otherwise"]:
        yield Text("\nOther than in the paper, whatever is set:")
        yield from (Text(f"- {text}") for text in one["otherwise"])


def _told(value: object) -> str:
    if value is None or value == "":
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
