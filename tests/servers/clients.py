"""Clients of others in an environment of their own, which `make build/clients/stamp` makes."""

import os
import subprocess
from pathlib import Path

import pytest

from askgraph.workspace.data import locked

__all__ = ["clients_python"]

_ROOT = Path(__file__).parents[2]
_STAMP = "build/clients/stamp"


def clients_python() -> Path:
    """Return its Python; made where CI=true, the test skipped elsewhere, where it is missing."""
    python = _ROOT / "build" / "clients" / "bin" / "python"
    if not (_ROOT / _STAMP).exists():
        if os.environ.get("CI") != "true":
            pytest.skip(f"the clients are not installed: make {_STAMP}")
        with locked(_ROOT / "build" / "clients.lock"):  # of several workers one makes it
            subprocess.run(["make", _STAMP], cwd=_ROOT, check=True)
    return python
