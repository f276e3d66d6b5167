"""Records of JSON files: loaded, counted from 1, their fields taken out with clear reasons."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks._items import Unfit
from askgraph.metadata.bundles import text_of

__all__ = [
    "Record",
    "identity",
    "keys_in",
    "lines",
    "listed",
    "loaded",
    "numbered",
    "query_in",
    "text_in",
    "texts_in",
]

Record = Mapping[str, object]

_KEY = re.compile(r'"([^"\\\n]{1,40})"\s*:')


def keys_in(head: str) -> frozenset[str]:
    """Return the keys, at any depth, of the beginning of a JSON text."""
    return frozenset(_KEY.findall(head))


def loaded(path: Path) -> object:
    """Return the content of a JSON file; `SetupError` with the line where it is not JSON."""
    try:
        content: object = json.loads(text_of(path))
    except json.JSONDecodeError as error:
        raise SetupError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{path}: not JSON that can be read: {error}") from error
    return content


def listed(path: Path, *, key: str | None = None) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a JSON list, or of the list under a key, each with its place."""
    content = loaded(path)
    if key is not None:
        if not isinstance(content, dict) or key not in content:
            raise SetupError(f"{path}: expected an object with {key!r}")
        content = content[key]
    if not isinstance(content, list):
        raise SetupError(f"{path}: expected a list of objects{f' in {key!r}' if key else ''}")
    yield from numbered(path, content)


def numbered(path: Path, records: list[object]) -> Iterator[tuple[str, Record | str]]:
    """Yield records with their place; one that is no object becomes a reason."""
    for number, record in enumerate(records, start=1):
        found = record if isinstance(record, dict) else "it is no object"
        yield f"{path}, item {number}", found


def lines(path: Path) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a file with one JSON object a line, each with its place."""
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        if line.strip():
            yield f"{path}, line {number}", _object(line)


def identity(record: Record, key: str, place: str) -> str:
    """Return an id as text; where the record has none, its number in the file."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise Unfit(f"{key!r} must be text or a whole number")
    return place.rpartition(" ")[2] if value in (None, "") else str(value)


def text_in(record: Record, key: str) -> str | None:
    """Return a text, None where it is absent, null or blank; `Unfit` for anything else."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise Unfit(f"{key!r} must be text")
    return value.strip() or None if value else None


def texts_in(record: Record, key: str) -> tuple[str, ...]:
    """Return a list of texts, without the blank ones; one text alone counts as a list of one."""
    value = record.get(key)
    values = [value] if isinstance(value, str) else value or []
    if not isinstance(values, list) or not all(isinstance(text, str | None) for text in values):
        raise Unfit(f"{key!r} must be a list of texts")
    return tuple(stripped for text in values if text and (stripped := text.strip()))


def query_in(record: Record, key: str = "query") -> str | None:
    """Return the text under `sparql` of the object under a key, or the text under the key."""
    value = record.get(key)
    return text_in(value, "sparql") if isinstance(value, dict) else text_in(record, key)


def _object(line: str) -> Record | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return record if isinstance(record, dict) else "expected an object with 'id' and 'question'"
