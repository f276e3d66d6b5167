"""`askgraph methods`, `tools`: how a question can be answered, and what a model can call."""

import inspect
import json as jsons
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass

from rich.console import RenderableType
from rich.text import Text

from askgraph import plugins
from askgraph.answers.console import listing
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, show
from askgraph.llm import ToolSchema, estimated_tool
from askgraph.methods import PRESETS, get_preset_settings, parse_setting_help
from askgraph.methods.tools import TOOL_SETS
from askgraph.methods.tools.toolbox import build_schemas, parse_tool_set

_OBJECTS = ("model", "further", "others", "prices")  # which the workspace makes of settings


def methods(common: Common, name: str | None = None, json: bool = False) -> None:
    """List the methods, or the settings of one: ours, those of its paper and where that has them.

    A setting that is given goes before both: `--method grasp:preset=paper,hits=5`.
    """
    names = (
        [one.replace("_", "-") for one in plugins.list_names("method")] if name is None else [name]
    )
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
    paper = get_preset_settings(plugin, PRESETS[1])
    places = {key: one.source for key, one in published.settings.items()} if published else {}
    help_texts = parse_setting_help(plugin)
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
        "otherwise": list(published.differences) if published else [],
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


def tools(common: Common, json: bool = False, set_: str | None = None) -> None:
    """List the tools that explore a graph, or the schemas of a set as a model gets them.

    Tokens are estimated, at four bytes each; a model gets the schemas with every turn.
    """
    schemas = build_schemas(plugins.list_names("tool") if set_ is None else parse_tool_set(set_))
    if json:
        print_json([_object(schema) for schema in schemas])
    elif set_ is None:
        rows = [
            (one.name, str(estimated_tool(one)), " ".join(_sets(one.name)), one.description)
            for one in schemas
        ]
        show([listing(("tool", "tokens", "sets", "does"), rows, right=("tokens",))])
    else:
        blocks = []
        for schema in schemas:
            title = Text.assemble(
                (schema.name, "bold"), (f"  {estimated_tool(schema)} tokens", "dim")
            )
            parameters = jsons.dumps(schema.parameters, indent=2, ensure_ascii=False)
            blocks += [title, Text(schema.description), Text(parameters), Text("")]
        total = sum(map(estimated_tool, schemas))
        show([*blocks, Text(f"{len(schemas)} tools, about {total:,} tokens")])


def _object(schema: ToolSchema) -> dict[str, object]:
    return {
        "name": schema.name,
        "description": schema.description,
        "parameters": dict(schema.parameters),
        "sets": _sets(schema.name),
        "tokens": estimated_tool(schema),
    }


def _sets(name: str) -> list[str]:
    return [one for one, members in TOOL_SETS.items() if name in members]
