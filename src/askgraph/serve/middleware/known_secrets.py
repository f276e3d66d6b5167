"""The secrets that a server works with, by the variables that its workspace names."""

import os
from pathlib import Path

from askgraph.workspace.settings import graph_settings, model_tables

__all__ = ["known_secrets"]

_ALWAYS = ("ASKGRAPH_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")
_GRAPH = ("user_env", "password_env", "token_env", "header_env")
_SHORTEST = 6  # what is shorter stands in texts by chance


def known_secrets(folder: Path) -> tuple[str, ...]:
    """Return the values of all variables that hold credentials of models or endpoints."""
    names = {*_ALWAYS}
    names |= {
        str(table["key_env"]) for table in model_tables(folder).values() if "key_env" in table
    }
    for settings in graph_settings(folder).values():
        names |= {name for key in _GRAPH if (name := getattr(settings, key))}
    values = (os.environ.get(name, "") for name in sorted(names))
    return tuple(dict.fromkeys(value for value in values if len(value) >= _SHORTEST))
