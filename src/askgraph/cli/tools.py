"""`askgraph tools`: what a language model can call, and what its schemas cost."""

import json as jsons

from rich.text import Text

from askgraph import plugins
from askgraph.answers.console import listing
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, show
from askgraph.llm import ToolSchema
from askgraph.llm.budget import estimated_tool
from askgraph.methods.tools import SETS
from askgraph.methods.tools.toolbox import named_set, set_schemas


def tools(common: Common, json: bool = False, set_: str | None = None) -> None:
    """List the tools that explore a graph, or the schemas of a set as a model gets them.

    Tokens are estimated, at four bytes each; a model gets the schemas with every turn.
    """
    schemas = set_schemas(plugins.names("tool") if set_ is None else named_set(set_))
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
    return [one for one, members in SETS.items() if name in members]
