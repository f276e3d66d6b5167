"""Dialects of SPARQL servers: time limits, signs of truncation, the wording of errors."""

import html
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from askgraph.errors import SetupError
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row, Truncation, to_plain_value


@dataclass(frozen=True)
class ServerDialect:
    """A family of servers.

    Attributes:
        signs: a regular expression for its "header: value" lines.
        timeout: the parameter for a query's time limit, and its value as a format string.
        caps: row counts at which such servers truncate results without notice.
    """

    name: str
    signs: str  # a pattern over "header: value" lines
    timeout: tuple[str, str] | None = None
    caps: tuple[int, ...] = ()

    def build_parameters(self, seconds: float) -> dict[str, str]:
        """Return the parameters that make the server stop after some seconds."""
        if self.timeout is None:
            return {}
        name, pattern = self.timeout
        whole_seconds = max(1, int(seconds))
        return {name: pattern.format(seconds=whole_seconds, milliseconds=whole_seconds * 1000)}

    def detect_truncation(
        self, rows: int, headers: Mapping[str, str], *, limit: int | None
    ) -> Truncation | None:
        """Return how the server truncated a result, or None; `limit` is the query's own LIMIT."""
        if state := headers.get("x-sql-state"):
            message = headers.get("x-sql-message", "").strip()
            return Truncation("server", f"the server stopped early ({state}: {message[:200]})")
        if headers.get("x-exec-partial") or "partial" in headers.get("x-result-status", ""):
            return Truncation("server", "the server says that the result is partial")
        caps = set(self.caps)
        if (maximum := headers.get("x-sparql-maxrows", "")).isdigit():
            caps.add(int(maximum))
        if rows in caps and (limit is None or limit > rows):
            return Truncation(
                "server", f"exactly {rows:,} rows came back, a usual cap of such servers"
            )
        return None


def _load_dialects() -> dict[str, ServerDialect]:
    text = files("askgraph.endpoint").joinpath("dialects.toml").read_text(encoding="utf-8")
    return {
        name: ServerDialect(
            name,
            table["signs"],
            (table["timeout_parameter"], table["timeout"]) if "timeout" in table else None,
            tuple(table.get("caps", ())),
        )
        for name, table in tomllib.loads(text).items()
    }


DIALECTS = _load_dialects()


def get_dialect(name: str) -> ServerDialect:
    """Return a dialect; raise `SetupError` for an unknown name."""
    try:
        return DIALECTS[name.lower()]
    except KeyError:
        available = ", ".join(DIALECTS)
        raise SetupError(f"there is no dialect {name!r}; available: {available}") from None


def detect_dialect(headers: Mapping[str, str]) -> ServerDialect:
    """Return the dialect that a reply's headers reveal, or `generic`."""
    lines = "\n".join(f"{name}: {value}" for name, value in headers.items()).lower()
    for dialect in DIALECTS.values():
        if re.search(dialect.signs, lines):
            return dialect
    return DIALECTS["generic"]


def parse_truth(variables: Sequence[str], rows: Sequence[Row]) -> bool | None:
    """Return the answer of an ASK query in a table, as Virtuoso sends it; None for other tables."""
    # The table has one column of a fixed name: a 1 is true, no row (or a 0) is false.
    if tuple(variables) != ("__ASK_RETVAL",):
        return None
    return any(to_plain_value(row[0]) not in (None, "0", "false") for row in rows)


def repair_value(value: str, datatype: str) -> str:
    """Return a literal's value in the form of XML Schema: `true` for 1, and years of four digits.

    Virtuoso stores booleans as 1 and 0, and returns the year -0043 as -043.
    """
    if datatype == voc.XSD_BOOLEAN:
        return _BOOLEANS.get(value, value)
    if datatype in voc.DATE_DATATYPES and (short := _SHORT_YEAR_PATTERN.match(value)):
        return f"{short[1]}{short[2]:0>4}{value[short.end() :]}"
    return value


_BOOLEANS = {"1": "true", "0": "false"}
_SHORT_YEAR_PATTERN = re.compile(r"(-?)(\d{1,3})(?=-|Z|[+]|$)")
_ERROR_PATTERNS = {
    "timeout": re.compile(
        r"time[ds]?[ -]?out|time limit|estimated execution time|took too long|TimeoutException"
        r"|S1T00|cancelled due to time|deadline exceeded",
        re.IGNORECASE,
    ),
    "syntax": re.compile(
        r"syntax error|pars(?:e|ing) (?:error|exception|failed)|parse error|MalformedQuery"
        r"|Lexical error|SPARQL compiler|Encountered \"|Unresolved prefix|Invalid SPARQL query"
        r"|not a valid SPARQL|error at \d+:\d+",
        re.IGNORECASE,
    ),
}


def classify_error(text: str) -> str | None:
    """Return the kind of an error text: `timeout`, `syntax`, or None for others."""
    return next((name for name, words in _ERROR_PATTERNS.items() if words.search(text)), None)


def extract_message(text: str, length: int = 300) -> str:
    """Return the text of an error page in one short line, without markup or a Java stack trace."""
    text = re.sub(r"(?is)<(script|style).*?</\1>|<[^>]{0,500}>", " ", text)
    text = re.split(r"\n\s*at [\w.$]+\(", html.unescape(text))[0]
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
