r"""Resources in a file: a head of column names, then one resource a line, tabs between.

Columns `iri` and `label`, and where there are any `score`, `synonyms` and `infos`, in any order;
several synonyms or infos have `;;;` between. Tabs, ends of lines and backslashes within a value are
`\t`, `\n`, `\r` and `\\`. A file whose name ends in `.gz` is packed. For example:

    iri	label	score	synonyms	infos
    http://example.org/42	Ganymede	12	Jupiter III	moon of Jupiter;;;discovered in 1610
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.sources.rows import SEPARATOR, columns_of, resource_of

__all__ = ["read_tsv", "write_tsv"]

_COLUMNS = ("iri", "label", "score", "synonyms", "infos")
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_PLAIN = {written: sign for sign, written in _ESCAPES.items()}
_WRITTEN = re.compile(r"\\[\\tnr]")


def read_tsv(path: Path) -> Iterator[Resource]:
    """Give the resources of a file, read as they are asked for.

    Raises `SetupError` with the number of the line that is not as it should be.
    """
    try:
        with _opened(path) as file:
            head = file.readline().rstrip("\r\n").split("\t")
            at = columns_of(head, f"{path}, line 1")
            for number, line in enumerate(file, start=2):
                place = f"{path}, line {number}"
                cells = line.rstrip("\r\n").split("\t")
                if len(cells) != len(head):
                    raise SetupError(f"{place}: {len(cells)} columns instead of {len(head)}")
                yield resource_of([_read(cell) for cell in cells], at, place)
    except FileNotFoundError as error:
        raise SetupError(f"there is no file {path}") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} cannot be read: {error}") from error


def write_tsv(path: Path, resources: Iterable[Resource]) -> int:
    """Write resources as `read_tsv` reads them; return how many."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(_COLUMNS) + "\n")
        for resource in resources:
            several = (SEPARATOR.join(resource.synonyms), SEPARATOR.join(resource.infos))
            cells = (resource.iri, resource.label, repr(resource.score), *several)
            file.write(_line(cells))
            count += 1
    return count


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="\n")
    return path.open(encoding="utf-8-sig", newline="\n")


def _read(cell: str) -> str:
    return _WRITTEN.sub(lambda found: _PLAIN[found[0]], cell) if "\\" in cell else cell


def _line(cells: Sequence[str]) -> str:
    written = ("".join(_ESCAPES.get(sign, sign) for sign in cell) for cell in cells)
    return "\t".join(written) + "\n"
