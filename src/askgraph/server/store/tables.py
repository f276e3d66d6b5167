"""The tables of the store, the same in SQLite and PostgreSQL, and dataclasses for their rows."""

import json
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.types import TypeEngine

from askgraph.graph.examples import Confirmation, QueryExample, normalize_question
from askgraph.server.auth import ANONYMOUS, LimitOverrides, Scope

METADATA = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

COLUMN_TYPES: Mapping[str, TypeEngine[Any]] = {
    "string16": sa.String(16),
    "string32": sa.String(32),
    "string64": sa.String(64),
    "text": sa.Text(),
    "json": sa.JSON(),
    "object": sa.JSON(none_as_null=True),
    "bytes": sa.LargeBinary(),
    "boolean": sa.Boolean(),
    "integer": sa.Integer(),
    "bigint": sa.BigInteger(),
    "double": sa.Double(),
}
"""Types of columns by their names in JSON; migrations use them too, so only add to them."""


def _build_table(name: str, description: Mapping[str, Any]) -> sa.Table:
    """Build a table from its entry in `tables.json`; a type with `?` is nullable."""
    parents, defaults = description.get("of", {}), description.get("defaults", {})
    columns = (
        sa.Column(
            column,
            COLUMN_TYPES[column_type.rstrip("?")],
            *(
                sa.ForeignKey(f"{parents[parent_column]}.id", ondelete="CASCADE")
                for parent_column in parents
                if parent_column == column
            ),
            primary_key=column in description["key"],
            nullable=column_type.endswith("?"),
            server_default=defaults.get(column),
        )
        for column, column_type in description["columns"].items()
    )
    return sa.Table(
        name,
        METADATA,
        *columns,
        *(sa.UniqueConstraint(*names) for names in description.get("unique", ())),
        *(sa.Index(None, *index_columns) for index_columns in description.get("indices", ())),
    )


_TABLES = {
    name: _build_table(name, about)
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
ACTIVE_STATES: tuple[RunState, ...] = ("queued", "running")


def get_timestamp() -> str:
    """Return the current UTC time in ISO 8601 with microseconds, which sorts chronologically."""
    return format_timestamp(datetime.now(UTC))


def get_timestamp_before(seconds: float) -> str:
    """Return the timestamp of the given number of seconds ago."""
    return format_timestamp(datetime.now(UTC) - timedelta(seconds=seconds))


def format_timestamp(time: datetime) -> str:
    """Format a time as the store keeps it; a time without a zone is taken as UTC."""
    aware_time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return aware_time.astimezone(UTC).isoformat(timespec="microseconds")


def generate_id() -> str:
    """Generate an id of 128 random bits, in URL-safe characters."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True)
class SessionRow:
    """A conversation; `about` is data of the web page, `runs` the number of questions."""

    id: str
    owner: str
    title: str = ""
    about: Json = field(default_factory=dict)
    created: str = field(default_factory=get_timestamp)
    changed: str = field(default_factory=get_timestamp)
    runs: int = 0


@dataclass(frozen=True)
class RunRow:
    """A question and its outcome.

    Attributes:
        after: the run that this one follows up.
        changes: the run whose answer a person changed to get this one.
        changed_from: the question whose query was changed; `question` is then in words of the
            changed query.
        process: the server process that runs it.
        counted_as: the caller whose limit it counts against; empty: the owner.
        status: the kind of outcome: answer, clarification or refusal.
        answer: the answer; None in lists.
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
    changed_from: str | None = None
    process: str = ""
    counted_as: str = ""
    state: RunState = "queued"
    created: str = field(default_factory=get_timestamp)
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
    """A person's verdict on an answer."""

    run: str
    owner: str
    verdict: Verdict
    comment: str = ""
    created: str = field(default_factory=get_timestamp)


@dataclass(frozen=True)
class VerifiedAnswer:
    """A query that a person confirmed for a question on a graph, with its result at that time."""

    id: str
    graph: str
    question: str
    query: str
    owner: str
    rows: int  # the number of rows, as in `Confirmation`
    language: str | None = None
    snapshot: str = ""  # see `Confirmation`
    digest: str | None = None  # see `Confirmation`
    by: str | None = None  # the display name of the person
    run: str | None = None
    when: str = field(default_factory=get_timestamp)
    disputed: bool = False  # a person judged that the query does not answer the question

    @property
    def claim(self) -> tuple[str, str, str]:
        """What people confirm or dispute: the question, its language, and the query."""
        return normalize_question(self.question), self.language or "", " ".join(self.query.split())

    @property
    def example(self) -> QueryExample:
        """This answer as an example, with which the same question is answered later."""
        confirmation = Confirmation(
            self.when, self.graph, self.snapshot, self.rows, self.digest, self.by
        )
        return QueryExample(
            self.question, self.query, self.language, origin="confirmed", confirmation=confirmation
        )


@dataclass(frozen=True)
class Opinions:
    """The ids of people who confirm, and who dispute, that a query answers a question.

    `question` is the same for all queries of a question in a language.
    """

    question: tuple[str, ...]
    confirming: frozenset[str]
    disputing: frozenset[str]

    @classmethod
    def count(cls, answers: Sequence[VerifiedAnswer]) -> "dict[str, Opinions]":
        """Return the opinions on each of a graph's verified answers, by its id."""
        people: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for answer in answers:
            people[answer.claim, answer.disputed].add(answer.owner)
        return {
            answer.id: cls(
                answer.claim[:2],
                *(frozenset(people[answer.claim, is_disputed]) for is_disputed in (False, True)),
            )
            for answer in answers
        }

    def is_shared(self, needed: int) -> bool:
        """Whether everybody gets the answer: `needed` more people confirm it than dispute it."""
        return len(self.confirming) - len(self.disputing) >= needed

    def is_own(self, caller: str) -> bool:
        """Whether a caller confirms it; never for callers without an identity."""
        return caller in self.confirming and caller != ANONYMOUS


@dataclass(frozen=True)
class KeyRow:
    """An API key without its secret: `digest` is the hexadecimal SHA-256 of the secret."""

    id: str
    name: str
    digest: str
    scopes: frozenset[Scope]
    graphs: frozenset[str] | None = None
    limits: LimitOverrides = field(default_factory=LimitOverrides)
    created: str = field(default_factory=get_timestamp)
    expires: str | None = None
    revoked: str | None = None
    used: str | None = None


@dataclass(frozen=True)
class CallerUsage:
    """Usage of a caller: requests in this minute; requests, tokens and money today."""

    minute_requests: int = 0
    day_requests: int = 0
    day_tokens: int = 0
    day_money: float = 0.0


@dataclass(frozen=True)
class JobRow:
    """A background job, such as building a graph; `about` is the request."""

    id: str
    owner: str
    kind: str
    graph: str
    state: JobState = "queued"
    about: Json = field(default_factory=dict)
    progress: Json = field(default_factory=dict)
    problem: Json | None = None
    process: str = ""
    created: str = field(default_factory=get_timestamp)
    changed: str = field(default_factory=get_timestamp)


@dataclass(frozen=True)
class BoardRow:
    """A board of pinned answers; `pins` is their number."""

    id: str
    owner: str
    title: str
    shared: bool = False
    created: str = field(default_factory=get_timestamp)
    changed: str = field(default_factory=get_timestamp)
    pins: int = 0


@dataclass(frozen=True)
class PinRow:
    """An answer on a board."""

    id: str
    board: str
    question: str
    graph: str
    query: str
    base: Json  # the answer as its owner last saw it
    title: str = ""
    language: str | None = None
    run: str | None = None
    shown: Json = field(default_factory=dict)  # how the page displays it
    place: int = 0  # its position on the board, from 0
    seen: str = field(default_factory=get_timestamp)  # when the owner last saw it
    latest: Json | None = None  # the result of the last check; None if it is not newer than `seen`
    checked: str | None = None  # when the query was last run again
    created: str = field(default_factory=get_timestamp)
