"""Dialects of SPARQL servers: time limits, signs of truncation, the wording of errors."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askgraph.errors import SetupError
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.results import Row, Truncation, to_plain_value


@dataclass(frozen=True)
class Dialect:
    """A family of servers.

    `timeout` is the parameter that bounds a query's time, with the unit's name as its value's
    pattern. `caps` are row counts at which servers of the family cut off without a word.
    """

    name: str
    signs: str  # a pattern over "header: value" lines
    timeout: tuple[str, str] | None = None
    caps: tuple[int, ...] = ()

    def parameters(self, seconds: float) -> dict[str, str]:
        """Return the parameters that ask the server to stop after so many seconds."""
        if self.timeout is None:
            return {}
        name, pattern = self.timeout
        whole = max(1, int(seconds))
        return {name: pattern.format(seconds=whole, milliseconds=whole * 1000)}

    def truncation(
        self, rows: int, headers: Mapping[str, str], *, limit: int | None
    ) -> Truncation | None:
        """Return how the server cut a result off, if it did; `limit` is the query's own LIMIT."""
        if state := headers.get("x-sql-state"):
            said = headers.get("x-sql-message", "").strip()
            return Truncation("server", f"the server stopped early ({state}: {said[:200]})")
        if headers.get("x-exec-partial") or "partial" in headers.get("x-result-status", ""):
            return Truncation("server", "the server says that the result is partial")
        caps = set(self.caps)
        if (maximum := headers.get("x-sparql-maxrows", "")).isdigit():
            caps.add(int(maximum))
        if rows in caps and (limit is None or limit > rows):
            return Truncation("server", f"exactly {rows:,} rows came, a usual cap of such servers")
        return None


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("generic", r"(?!)", caps=(10_000,)),
        Dialect("virtuoso", r"virtuoso|x-sparql-|x-sql-", caps=(1_000, 10_000, 100_000, 1_000_000)),
        Dialect("qlever", r"qlever", timeout=("timeout", "{seconds}s")),
        Dialect("graphdb", r"graphdb|rdf4j|owlim", timeout=("timeout", "{seconds}")),
        Dialect(
            "blazegraph", r"blazegraph|bigdata|wdqs|wikidata", timeout=("timeout", "{seconds}")
        ),
        Dialect("fuseki", r"fuseki|jena", timeout=("timeout", "{seconds}")),
        Dialect("oxigraph", r"oxigraph"),
    )
}


def dialect_named(name: str) -> Dialect:
    """Return a dialect; `SetupError` for an unknown name."""
    try:
        return DIALECTS[name.lower()]
    except KeyError:
        known = ", ".join(DIALECTS)
        raise SetupError(f"there is no dialect {name!r}; there are {known}") from None


def detected(headers: Mapping[str, str]) -> Dialect:
    """Return the dialect that a reply's headers betray, else `generic`."""
    lines = "\n".join(f"{name}: {value}" for name, value in headers.items()).lower()
    for dialect in DIALECTS.values():
        if re.search(dialect.signs, lines):
            return dialect
    return DIALECTS["generic"]


def truth_in(variables: Sequence[str], rows: Sequence[Row]) -> bool | None:
    """Return the answer of an ASK query that came as a table, as Virtuoso's; None for other tables.

    It has one column of a known name, with a 1 for true and no row (or a 0) for false.
    """
    if tuple(variables) != ("__ASK_RETVAL",):
        return None
    return any(to_plain_value(row[0]) not in (None, "0", "false") for row in rows)


def mended(value: str, datatype: str) -> str:
    """Return a literal's value as XML Schema writes it: `true` for 1, and years of four digits.

    Virtuoso stores booleans as 1 and 0, and returns the year -0043 as -043.
    """
    if datatype == voc.XSD_BOOLEAN:
        return _BOOLEANS.get(value, value)
    if datatype in voc.DATE_DATATYPES and (short := _SHORT_YEAR.match(value)):
        return f"{short[1]}{short[2]:0>4}{value[short.end() :]}"
    return value


_BOOLEANS = {"1": "true", "0": "false"}
_SHORT_YEAR = re.compile(r"(-?)(\d{1,3})(?=-|Z|[+]|$)")
_PROBLEMS = {
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


def problem_in(text: str) -> str | None:
    """Return the kind of an error text: `timeout`, `syntax`, or None for neither."""
    return next((name for name, words in _PROBLEMS.items() if words.search(text)), None)


def readable(text: str, length: int = 300) -> str:
    """Return the words of an error page in one line: no markup, no Java stack, not long."""
    text = re.sub(r"(?is)<(script|style).*?</\1>|<[^>]{0,500}>", " ", text)
    text = re.split(r"\n\s*at [\w.$]+\(", html.unescape(text))[0]
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
