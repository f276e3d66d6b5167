"""Clients and weights of others, each in a folder that `make build/…/stamp` makes."""

import os
import subprocess
from pathlib import Path

import pytest

from askgraph.atomic_files import lock_file

__all__ = ["clients_python", "minilm"]

_ROOT = Path(__file__).parents[2]


def clients_python() -> Path:
    """Return the clients' Python; made where CI=true, a skip elsewhere if it is missing."""
    return _made("clients") / "bin" / "python"


def minilm() -> Path:
    """Return the folder of a small embedding model in ONNX; made or skipped as the clients."""
    return _made("models") / "minilm"


def smollm2() -> Path:
    """Return the GGUF file of a small language model; made or skipped as the clients."""
    return _made("models") / "smollm2.gguf"


def _made(name: str) -> Path:
    stamp = f"build/{name}/stamp"
    if not (_ROOT / stamp).exists():
        if os.environ.get("CI") != "true":
            pytest.skip(f"the {name} are not installed: make {stamp}")
        with lock_file(_ROOT / "build" / f"{name}.lock"):  # of several workers one makes it
            subprocess.run(["make", stamp], cwd=_ROOT, check=True)
    return _ROOT / "build" / name
