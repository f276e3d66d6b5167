"""The reference pages of the documentation, made from the code: never written by hand.

    python -m tools.reference FOLDER   # write them below a folder

The command line from `--help`, Python from docstrings, settings from the dataclasses that hold
them, REST from the server's own description.
"""

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools.reference_commands import commands_page
from tools.reference_python import fields_table, in_table, package_pages, prose
from tools.reference_rest import rest_page

from askgraph.server.app import create_app
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

__all__ = ["methods_page", "pages", "settings_page"]

PACKAGE = Path(__file__).parents[1] / "src" / "askgraph"

SETTINGS = (
    ("[graphs.NAME]", "workspace/settings.py", "GraphSettings", "endpoints.md#settings"),
    ("[models.NAME]", "workspace/models.py", "ModelSettings", "language-models.md#settings"),
)
"""The tables of `askgraph.toml`: where their dataclass is, and the page that explains them."""

METHODS = (
    ("graph_search", "GraphSearch", "how-it-works.md"),
    ("guided", "Guided", "guided.md"),
    ("multi_stage", "MultiStage", "multi-stage.md"),
    ("grasp", "Grasp", "agents.md"),
    ("graf_von_data", "GrafVonData", "agents.md"),
    ("sparql_llm", "SparqlLlm", "retrieval.md"),
    ("dfsl", "Dfsl", "retrieval.md"),
    ("direct", "Direct", "evaluation.md"),
    ("nearest_example", "NearestExample", "evaluation.md"),
)
"""The methods by the names of their plugins: the class, and the page that explains them."""


def pages() -> dict[str, str]:
    """Return each reference page by its place below `reference/`."""
    python = package_pages(PACKAGE, leave_out={"cli", "serve"})
    return {
        "command-line.md": commands_page(),
        "settings.md": settings_page(),
        "methods.md": methods_page(),
        "rest.md": rest_page(_description()),
        **{f"python/{name}.md": text for name, text in python.items()},
    }


def settings_page() -> str:
    """Return the tables of `askgraph.toml` with their fields and defaults."""
    sections = [
        f"## `{table}`\n\nExplained in [{page.split('.')[0]}](../{page}).\n\n"
        + fields_table(PACKAGE / file, name)
        for table, file, name, page in SETTINGS
    ]
    words = "Each table may be left out, and each of its keys that has a default."
    other = "`[methods.NAME]` takes the [settings of a method](methods.md)."
    return "\n".join(["# askgraph.toml\n", f"{words} {other}\n", *sections, _serve_table()])


def methods_page() -> str:
    """Return the settings of each method: the fields of its dataclass."""
    sections = [
        f"## {name.replace('_', '-')}\n\nExplained in [{page.split('.')[0]}](../{page}).\n\n"
        + fields_table(_method_file(name), kind)
        for name, kind, page in METHODS
    ]
    shared = ("SpendingSettings", "ModelSettings", "FallbackSettings")
    files = dict.fromkeys(shared, "settings") | {"ExplorerSettings": "shared/exploration"}
    sections += [
        f"## {name}\n\n" + fields_table(PACKAGE / f"methods/{file}.py", name)
        for name, file in files.items()
    ]
    words = (
        "On the command line they follow a colon, `--method dfsl:n=3,choose=vote`; in "
        "`askgraph.toml` they stand below `[methods.NAME]`; in Python they are the fields of the "
        "method. Those that several methods share stand at the end. Which method is for what: "
        "[methods](../methods.md)."
    )
    return "\n".join(["# Settings of the methods\n", f"{words}\n", *sections])


def _method_file(name: str) -> Path:
    """The file of a method, or the first one of its package."""
    folder = PACKAGE / "methods" / name
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def _serve_table() -> str:
    rows = [
        f"| `{name}` | `{in_table(str(field.get_default(call_default_factory=True)))}` "
        f"| {in_table(prose(field.description or ''))} |"
        for name, field in ServeSettings.model_fields.items()
    ]
    head = [
        "## `[serve]`\n\nExplained in [server](../server.md#settings). Each is a variable, too: "
        "`ASKGRAPH_SERVE_PORT` for `port`.\n",
        "| setting | default | |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _description() -> dict[str, object]:
    """The server's OpenAPI description; nothing is opened or listened on for it."""
    with tempfile.TemporaryDirectory() as folder:
        return create_app(ServeSettings(), Workspace(Path(folder))).openapi()


def main(arguments: Iterable[str]) -> int:
    """Write all pages below the folder that is named."""
    (folder,) = arguments
    for name, text in pages().items():
        place = Path(folder) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
