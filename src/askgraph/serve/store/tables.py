"""The tables of the store, the same in SQLite and PostgreSQL."""

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

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_ID = String(64)
_TIME = String(32)
_OBJECT = JSON(none_as_null=True)

sessions = Table(
    "sessions",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("about", _OBJECT, nullable=False),
    Column("created", _TIME, nullable=False),
    Column("changed", _TIME, nullable=False),
    Index(None, "owner", "changed"),
)

runs = Table(
    "runs",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("session", _ID, ForeignKey("sessions.id", ondelete="CASCADE")),
    Column("question", Text, nullable=False),
    Column("folded", Text, nullable=False),
    Column("language", Text),
    Column("graphs", JSON, nullable=False),
    Column("method", Text, nullable=False),
    Column("model", Text),
    Column("settings", _OBJECT, nullable=False),
    Column("after", _ID),
    Column("process", _ID, nullable=False),
    Column("counted_as", Text, nullable=False, server_default=""),
    Column("state", String(16), nullable=False),
    Column("created", _TIME, nullable=False),
    Column("finished", _TIME),
    Column("seconds", Double),
    Column("status", String(32)),
    Column("answer", LargeBinary),
    Column("trace", LargeBinary),
    Column("problem", _OBJECT),
    Column("tokens", BigInteger, nullable=False),
    Column("money", Double, nullable=False),
    Column("shared", Boolean, nullable=False),
    Column("cancel_wanted", Boolean, nullable=False),
    Index(None, "owner", "created"),
    Index(None, "session", "created"),
    Index(None, "state", "process"),
    Index(None, "counted_as", "state"),
)

feedback = Table(
    "feedback",
    METADATA,
    Column("run", _ID, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("verdict", String(16), nullable=False),
    Column("comment", Text, nullable=False),
    Column("created", _TIME, nullable=False),
)

verified = Table(
    "verified",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("graph", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("plain", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("digest", Text),
    Column("by", Text),
    Column("run", _ID),
    Column("when", _TIME, nullable=False),
    UniqueConstraint("graph", "plain", "language", "owner"),
    Index(None, "run"),
)

verified_versions = Table(
    "verified_versions",
    METADATA,
    Column("graph", Text, primary_key=True),
    Column("version", BigInteger, nullable=False),
)

keys = Table(
    "keys",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("scopes", JSON, nullable=False),
    Column("graphs", _OBJECT),
    Column("limits", _OBJECT, nullable=False),
    Column("created", _TIME, nullable=False),
    Column("expires", _TIME),
    Column("revoked", _TIME),
    Column("used", _TIME),
)

usage = Table(
    "usage",
    METADATA,
    Column("principal", Text, primary_key=True),
    Column("window", String(32), primary_key=True),
    Column("requests", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("money", Double, nullable=False),
    Index(None, "window"),
)

processes = Table(
    "processes",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", _TIME, nullable=False),
    Column("beat", _TIME, nullable=False),
)

jobs = Table(
    "jobs",
    METADATA,
    Column("id", _ID, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("graph", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("about", _OBJECT, nullable=False),
    Column("progress", _OBJECT, nullable=False),
    Column("problem", _OBJECT),
    Column("process", _ID, nullable=False),
    Column("cancel_wanted", Boolean, nullable=False),
    Column("created", _TIME, nullable=False),
    Column("changed", _TIME, nullable=False),
    Index(None, "owner", "created"),
    Index(None, "state", "process"),
)
