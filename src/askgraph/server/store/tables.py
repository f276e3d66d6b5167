"""The tables of the store, the same in SQLite and PostgreSQL, and their rows as values."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Literal

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

from askgraph.graph.examples import Confirmation, QueryExample
from askgraph.server.auth import OwnLimits, Scope

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_KINDS: Mapping[str, TypeEngine[Any]] = {
    "string16": String(16),
    "string32": String(32),
    "string64": String(64),
    "text": Text(),
    "json": JSON(),
    "object": JSON(none_as_null=True),
    "bytes": LargeBinary(),
    "boolean": Boolean(),
    "integer": Integer(),
    "bigint": BigInteger(),
    "double": Double(),
}


def _table(name: str, about: Mapping[str, Any]) -> Table:
    """Return a table as `tables.json` describes it; `?` behind a type: it may be null."""
    parents, defaults = about.get("of", {}), about.get("defaults", {})
    columns = (
        Column(
            column,
            _KINDS[kind.rstrip("?")],
            *(
                ForeignKey(f"{parents[one]}.id", ondelete="CASCADE")
                for one in parents
                if one == column
            ),
            primary_key=column in about["key"],
            nullable=kind.endswith("?"),
            server_default=defaults.get(column),
        )
        for column, kind in about["columns"].items()
    )
    unique = (UniqueConstraint(*names) for names in about.get("unique", ()))
    return Table(
        name, METADATA, *columns, *unique, *(Index(None, *n) for n in about.get("indices", ()))
    )


_TABLES = {
    name: _table(name, about)
    for name, about in json.loads(
        files("askgraph.server.store").joinpath("tables.json").read_text("utf-8")
    ).items()
}
sessions, runs, feedback = _TABLES["sessions"], _TABLES["runs"], _TABLES["feedback"]
verified, verified_versions = _TABLES["verified"], _TABLES["verified_versions"]
keys, usage = _TABLES["keys"], _TABLES["usage"]
processes, jobs = _TABLES["processes"], _TABLES["jobs"]
boards, pins = _TABLES["boards"], _TABLES["pins"]

Json = Mapping[str, object]
RunState = Literal["queued", "running", "done", "failed", "cancelled", "handed_back"]
JobState = RunState
Verdict = Literal["right", "wrong"]
UNDER_WAY: tuple[RunState, ...] = ("queued", "running")


def now() -> str:
    """Return the time in UTC, ISO 8601 to the microsecond: later ones sort behind."""
    return time_text(datetime.now(UTC))


def ago(seconds: float) -> str:
    """Return the time so many seconds ago."""
    return time_text(datetime.now(UTC) - timedelta(seconds=seconds))


def time_text(time: datetime) -> str:
    """Return a time as the store keeps it; one without a zone is taken to be UTC."""
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).isoformat(timespec="microseconds")


def new_id() -> str:
    """Return an id of 128 random bits, in letters that stand in an address as they are."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True)
class SessionRow:
    """A conversation; `about` is the page's own data, `runs` how many questions it has."""

    id: str
    owner: str
    title: str = ""
    about: Json = field(default_factory=dict)
    created: str = field(default_factory=now)
    changed: str = field(default_factory=now)
    runs: int = 0


@dataclass(frozen=True)
class RunRow:
    """A question and how it ended.

    `settings` are the method's, `after` is the run that this one follows up, `changes` the one
    whose answer a person changed, `process` the one that runs it, `counted_as` the caller whose
    limit it counts against (empty: its owner). `status` is the kind of outcome: answer,
    clarification or refusal. `answer` is None in lists, which do not show it. `tokens` and `money`
    are the costs of models.
    """

    id: str
    owner: str
    question: str
    graphs: tuple[str, ...]
    method: str
    session: str | None = None
    language: str | None = None
    model: str | None = None
    settings: Json = field(default_factory=dict)
    after: str | None = None
    changes: str | None = None
    process: str = ""
    counted_as: str = ""
    state: RunState = "queued"
    created: str = field(default_factory=now)
    finished: str | None = None
    seconds: float | None = None
    status: str | None = None
    answer: Json | None = None
    problem: Json | None = None
    tokens: int = 0
    money: float = 0.0
    shared: bool = False


@dataclass(frozen=True)
class Feedback:
    """An opinion on an answer."""

    run: str
    owner: str
    verdict: Verdict
    comment: str = ""
    created: str = field(default_factory=now)


@dataclass(frozen=True)
class Verified:
    """A query that somebody confirmed to answer a question on a graph, with its result then.

    `rows`, `snapshot` and `digest` are those of `Confirmation`; `by` is the name that is shown.
    """

    id: str
    graph: str
    question: str
    query: str
    owner: str
    rows: int
    language: str | None = None
    snapshot: str = ""
    digest: str | None = None
    by: str | None = None
    run: str | None = None
    when: str = field(default_factory=now)

    @property
    def example(self) -> QueryExample:
        """The same as an example, by which the question is answered when it comes again."""
        confirmation = Confirmation(
            self.when, self.graph, self.snapshot, self.rows, self.digest, self.by
        )
        return QueryExample(
            self.question, self.query, self.language, origin="confirmed", confirmation=confirmation
        )


@dataclass(frozen=True)
class KeyRow:
    """An API key without its secret: `digest` is the SHA-256 of it, in hexadecimal."""

    id: str
    name: str
    digest: str
    scopes: frozenset[Scope]
    graphs: frozenset[str] | None = None
    limits: OwnLimits = field(default_factory=OwnLimits)
    created: str = field(default_factory=now)
    expires: str | None = None
    revoked: str | None = None
    used: str | None = None


@dataclass(frozen=True)
class Used:
    """Use of a caller: requests in this minute; requests, tokens and money today."""

    minute_requests: int = 0
    day_requests: int = 0
    day_tokens: int = 0
    day_money: float = 0.0


@dataclass(frozen=True)
class JobRow:
    """Work that goes on without its caller, as the building of a graph.

    `about` is what was asked for, `progress` how far it is, `problem` why it failed.
    """

    id: str
    owner: str
    kind: str
    graph: str
    state: JobState = "queued"
    about: Json = field(default_factory=dict)
    progress: Json = field(default_factory=dict)
    problem: Json | None = None
    process: str = ""
    created: str = field(default_factory=now)
    changed: str = field(default_factory=now)


@dataclass(frozen=True)
class BoardRow:
    """A board of pinned answers; `pins` is how many it has."""

    id: str
    owner: str
    title: str
    shared: bool = False
    created: str = field(default_factory=now)
    changed: str = field(default_factory=now)
    pins: int = 0


@dataclass(frozen=True)
class PinRow:
    """An answer on a board, at its `place` from 0.

    `run` is the one whose answer it was, `shown` how the page shows it. `base` is the answer as its
    owner saw it last, at the time `seen`; `latest` what the query gave at the time `checked`, None
    as long as that was not after `seen`.
    """

    id: str
    board: str
    question: str
    graph: str
    query: str
    base: Json
    title: str = ""
    language: str | None = None
    run: str | None = None
    shown: Json = field(default_factory=dict)
    place: int = 0
    seen: str = field(default_factory=now)
    latest: Json | None = None
    checked: str | None = None
    created: str = field(default_factory=now)
