"""The modules of commands load without the libraries of extras, which a plain install lacks."""

import subprocess
import sys
from pathlib import Path

import askgraph.cli
from askgraph.plugins import EXTRAS

PROGRAM = f"""
import sys
from importlib import import_module

class Missing:
    def find_spec(self, name, path=None, target=None):
        library = name.partition(".")[0]
        if library in {tuple(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{library!r}}", name=library)

sys.meta_path.insert(0, Missing())
for module in sys.argv[1:]:
    try:
        import_module(module)
    except ModuleNotFoundError as missing:
        print(module, "needs", missing.name)
"""


def test_every_command_loads_without_what_extras_bring() -> None:
    folder = Path(askgraph.cli.__file__).parent
    modules = [f"askgraph.cli.{one.stem}" for one in folder.glob("*.py") if one.stem != "__init__"]
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, *modules], capture_output=True, text=True, check=True
    )
    assert len(modules) > 20 and found.stdout.splitlines() == []
