"""A profile on disk: JSON with a version and a checksum, never half-written.

{"version": 2, "sha256": "…", "profile": {"triples": 2391, "classes": […], …}}
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError
from askgraph.metadata import VERSION, ClassProfile, Part, Partition, PredicateProfile, Profile

_BODY = '"profile": '


def save_profile(profile: Profile, path: Path) -> None:
    """Write a profile; a reader sees the old file or the new one, nothing between."""
    body = json.dumps(asdict(profile), ensure_ascii=False, separators=(",", ":"))
    head = f'{{"version": {profile.version}, "sha256": "{_digest(body)}", '
    write_whole(path, f"{head}{_BODY}{body}}}\n")


def load_profile(path: Path) -> Profile:
    """Read a profile; `SetupError` if it is missing, damaged or of another version."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SetupError(f"there is no profile at {path}; add the graph again") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the profile {path} cannot be read: {error}") from error
    try:
        stored = json.loads(text)
        version, digest = stored["version"], stored["sha256"]
        body = text.split(_BODY, 1)[1].rstrip()[:-1]
        if version == VERSION and digest == _digest(body):
            return _profile(stored["profile"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise SetupError(f"the profile {path} is damaged; add the graph again") from error
    if version != VERSION:
        raise SetupError(
            f"the profile {path} is of version {version}, this askgraph writes version {VERSION}; "
            "add the graph again"
        )
    raise SetupError(f"the profile {path} does not match its checksum; add the graph again")


def write_whole(path: Path, text: str) -> None:
    """Write a text file by a temporary one beside it, so that nobody ever reads half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _profile(stored: Mapping[str, Any]) -> Profile:
    listed = {
        "classes": tuple(ClassProfile(**_tuples(item)) for item in stored["classes"]),
        "predicates": tuple(PredicateProfile(**_tuples(item)) for item in stored["predicates"]),
        "partitions": tuple(Partition(**_tuples(item)) for item in stored["partitions"]),
        "completeness": tuple(Part(**_tuples(item)) for item in stored["completeness"]),
    }
    return Profile(**(_tuples(stored) | listed))


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _tuple(value) for name, value in fields.items()}


def _tuple(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return tuple(tuple(item) if isinstance(item, list) else item for item in value)
