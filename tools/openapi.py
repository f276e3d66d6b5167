#!/usr/bin/env python
"""Write docs/openapi.json: the REST API as the server describes it, a line for each part.

    python tools/openapi.py

The types of the web page are made of it (`npm run types`); a test holds that it is up to date.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askgraph.server.app import create_app
from askgraph.server.settings import ServeSettings
from askgraph.workspace import Workspace

FILE = Path(__file__).parents[1] / "docs" / "openapi.json"


def text_of(description: Mapping[str, Any]) -> str:
    """Return a description as JSON in which each path and each schema has a line of its own."""
    rest = {key: value for key, value in description.items() if key not in ("paths", "components")}
    head = json.dumps(rest, ensure_ascii=False)[1:-1]
    paths = _lines(description["paths"])
    schemas = _lines(description["components"]["schemas"])
    return (
        f'{{{head},\n"paths": {{\n{paths}\n}},\n"components": {{"schemas": {{\n{schemas}\n}}}}}}\n'
    )


def _lines(parts: Mapping[str, Any]) -> str:
    named = parts.items()
    return ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in named)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(ServeSettings(), Workspace(Path(folder)))
    FILE.write_text(text_of(app.openapi()), encoding="utf-8")
