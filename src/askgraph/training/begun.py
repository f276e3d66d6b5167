"""What a folder holds of a training begun before: its plan, its result, its checkpoints."""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from askgraph.errors import SetupError

__all__ = ["begun", "last_whole_checkpoint"]

_PARTS = ("optimizer.pt", "scheduler.pt")


def begun(folder: Path, plan: Mapping[str, object]) -> Mapping[str, Any] | None:
    """Return the result of a training of this plan, None where it has none yet.

    Raises `SetupError` where the folder holds another training, or something else.
    """
    file = folder / "training.json"
    if not file.exists():
        first = int(os.environ.get("RANK", "0")) == 0  # the others may meet what it begins
        if first and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SetupError(f"the folder {folder} holds something else: name an empty one")
        return None
    try:
        there = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise SetupError(f"{file} cannot be read ({problem}): name another folder") from problem
    if not isinstance(there, dict):
        raise SetupError(f"{file} is of no training: name another folder")
    if different := [key for key in plan if there.get(key) != plan[key]]:
        raise SetupError(
            f"{folder} holds a training with another {' and '.join(different)}: name another "
            "folder, or train with what training.json says"
        )
    result: Mapping[str, Any] | None = there.get("result")
    return result


def last_whole_checkpoint(folder: Path) -> str | None:
    """Return the newest checkpoint that was written to its end; None where there is none."""
    found = [
        (int(number), path)
        for path in folder.glob("checkpoint-*")
        if (number := path.name.rpartition("-")[2]).isdigit()
    ]
    return next((str(path) for _, path in sorted(found, reverse=True) if _is_whole(path)), None)


def _is_whole(checkpoint: Path) -> bool:
    weights = list(checkpoint.glob("*.safetensors"))
    if not weights or not all(zipfile.is_zipfile(checkpoint / part) for part in _PARTS):
        return False
    try:
        json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
        for file in weights:
            with safe_open(file, framework="pt"):
                pass
    except (OSError, ValueError, SafetensorError):
        return False
    return True
