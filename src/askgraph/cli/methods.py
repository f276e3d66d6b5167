"""`askgraph methods`, `tools`: ways to answer a question, and tools that a model can call."""

import inspect
import json as jsons
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass

from rich.console import RenderableType
from rich.text import Text

from askgraph import plugins
from askgraph.answers.console import build_table
from askgraph.cli.output import CommonOptions, complete_method_names, print_blocks, print_json
from askgraph.llm import ToolSchema, estimate_tool_tokens
from askgraph.methods import PRESETS, get_preset_settings, parse_setting_help
from askgraph.methods.tools import TOOL_SETS
from askgraph.methods.tools.toolbox import build_schemas, parse_tool_set

_HIDDEN_SETTINGS = ("model", "further", "others", "prices")  # set by the workspace


def methods(common: CommonOptions, name: str | None = None, json: bool = False) -> None:
    """List the methods, or the settings of one method: our defaults and those of its paper."""
    names = complete_method_names("") if name is None else [name]
    method_objects = [_describe_method(method_name) for method_name in names]
    if json:
        print_json(method_objects if name is None else method_objects[0])
    elif name is None:
        rows = [(str(method["name"]), str(method["does"])) for method in method_objects]
        print_blocks([build_table(("method", "description"), rows)])
    else:
        print_blocks(list(_format_method(method_objects[0])))


def _describe_method(name: str) -> dict[str, object]:
    plugin = plugins.load("method", name)
    module = inspect.getmodule(plugin)
    is_shared = plugin.__name__ not in getattr(module, "__all__", ())
    doc = inspect.getdoc(plugin if is_shared else module) or ""
    text = " ".join(doc.split("\n\n")[0].split())
    published = getattr(plugin, "published", None)
    paper = get_preset_settings(plugin, PRESETS[1])
    sources = {key: item.source for key, item in published.settings.items()} if published else {}
    help_texts = parse_setting_help(plugin)
    ordered_fields = (
        sorted(fields(plugin), key=lambda item: bool(item.kw_only)) if is_dataclass(plugin) else ()
    )
    settings = {
        field.name: {
            "best": field.default,
            "paper": paper.get(field.name, field.default) if published else None,
            "where": sources.get(field.name),
            "help": help_texts.get(field.name, ""),
        }
        for field in ordered_fields
        if field.init
        and field.default is not MISSING
        and field.name not in (*_HIDDEN_SETTINGS, "preset")
    }
    return {
        "name": name,
        "does": text,
        "paper": published and published.paper,
        "settings": settings,
        "otherwise": list(published.differences) if published else [],
    }


def _format_method(method: dict[str, object]) -> Iterator[RenderableType]:
    settings, published = method["settings"], method["paper"]
    assert isinstance(settings, dict) and isinstance(method["otherwise"], list)
    yield Text(f"{method['name']}: {method['does']}")
    if published:
        yield Text(f"preset=paper: {published}")
    yield Text("")
    headers = ("setting", *PRESETS, "where") if published else ("setting", "default")
    presets, keys = (PRESETS, ("where", "help")) if published else (PRESETS[:1], ("help",))
    rows = [
        (
            name,
            *(_format_value(table[preset]) for preset in presets),
            *(table[key] or "" for key in keys),
        )
        for name, table in settings.items()
    ]
    yield build_table((*headers, "description"), rows)
    if method["otherwise"]:
        yield Text("\nDifferences from the paper that no setting removes:")
        yield from (Text(f"- {text}") for text in method["otherwise"])


def _format_value(value: object) -> str:
    text = "" if value is None else str(value)
    return (text.lower() if isinstance(value, bool) else text) or "-"


def tools(common: CommonOptions, json: bool = False, set_: str | None = None) -> None:
    """List the tools that explore a graph, or the schemas that a model gets."""
    schemas = build_schemas(plugins.list_names("tool") if set_ is None else parse_tool_set(set_))
    if json:
        print_json([_to_object(schema) for schema in schemas])
    elif set_ is None:
        rows = [
            (
                schema.name,
                str(estimate_tool_tokens(schema)),
                " ".join(_list_sets(schema.name)),
                schema.description,
            )
            for schema in schemas
        ]
        headers = ("tool", "tokens", "sets", "description")
        print_blocks([build_table(headers, rows, right=("tokens",))])
    else:
        blocks = []
        for schema in schemas:
            title = Text.assemble(
                (schema.name, "bold"), (f"  {estimate_tool_tokens(schema)} tokens", "dim")
            )
            parameters = jsons.dumps(schema.parameters, indent=2, ensure_ascii=False)
            blocks += [title, Text(schema.description), Text(parameters), Text("")]
        total = sum(map(estimate_tool_tokens, schemas))
        print_blocks([*blocks, Text(f"{len(schemas)} tools, about {total:,} tokens")])


def _to_object(schema: ToolSchema) -> dict[str, object]:
    return {
        "name": schema.name,
        "description": schema.description,
        "parameters": dict(schema.parameters),
        "sets": _list_sets(schema.name),
        "tokens": estimate_tool_tokens(schema),
    }


def _list_sets(name: str) -> list[str]:
    return [set_name for set_name, members in TOOL_SETS.items() if name in members]
