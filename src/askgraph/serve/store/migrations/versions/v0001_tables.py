"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.String(64)
_TIME = sa.String(32)
_OBJECT = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Make them all."""
    _sessions()
    _runs()
    _feedback()
    _verified()
    _verified_versions()
    _keys()
    _usage()
    _processes()
    _jobs()


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", _ID, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("about", _OBJECT, nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("changed", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_owner_changed", "sessions", ["owner", "changed"])


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", _ID, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("session", _ID),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("language", sa.Text()),
        sa.Column("graphs", sa.JSON(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("model", sa.Text()),
        sa.Column("settings", _OBJECT, nullable=False),
        sa.Column("after", _ID),
        sa.Column("process", _ID, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("finished", _TIME),
        sa.Column("seconds", sa.Double()),
        sa.Column("status", _TIME),
        sa.Column("answer", sa.LargeBinary()),
        sa.Column("trace", sa.LargeBinary()),
        sa.Column("problem", _OBJECT),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("money", sa.Double(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("cancel_wanted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.ForeignKeyConstraint(
            ["session"], ["sessions.id"], name="fk_runs_session", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_runs_owner_created", "runs", ["owner", "created"])
    op.create_index("ix_runs_session_created", "runs", ["session", "created"])
    op.create_index("ix_runs_state_process", "runs", ["state", "process"])


def _feedback() -> None:
    op.create_table(
        "feedback",
        sa.Column("run", _ID, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("run", "owner", name="pk_feedback"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_feedback_run", ondelete="CASCADE"),
    )


def _verified() -> None:
    op.create_table(
        "verified",
        sa.Column("id", _ID, nullable=False),
        sa.Column("graph", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("plain", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text()),
        sa.Column("by", sa.Text()),
        sa.Column("run", _ID),
        sa.Column("when", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_verified"),
        sa.UniqueConstraint(
            "graph", "plain", "language", "owner", name="uq_verified_graph_plain_language_owner"
        ),
    )
    op.create_index("ix_verified_run", "verified", ["run"])


def _verified_versions() -> None:
    op.create_table(
        "verified_versions",
        sa.Column("graph", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("graph", name="pk_verified_versions"),
    )


def _keys() -> None:
    op.create_table(
        "keys",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", _ID, nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("graphs", _OBJECT),
        sa.Column("limits", _OBJECT, nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("expires", _TIME),
        sa.Column("revoked", _TIME),
        sa.Column("used", _TIME),
        sa.PrimaryKeyConstraint("id", name="pk_keys"),
        sa.UniqueConstraint("digest", name="uq_keys_digest"),
    )


def _usage() -> None:
    op.create_table(
        "usage",
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("window", _TIME, nullable=False),
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("money", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("principal", "window", name="pk_usage"),
    )
    op.create_index("ix_usage_window", "usage", ["window"])


def _processes() -> None:
    op.create_table(
        "processes",
        sa.Column("id", _ID, nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("started", _TIME, nullable=False),
        sa.Column("beat", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_processes"),
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", _ID, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("graph", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("about", _OBJECT, nullable=False),
        sa.Column("progress", _OBJECT, nullable=False),
        sa.Column("problem", _OBJECT),
        sa.Column("process", _ID, nullable=False),
        sa.Column("cancel_wanted", sa.Boolean(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("changed", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_owner_created", "jobs", ["owner", "created"])
    op.create_index("ix_jobs_state_process", "jobs", ["state", "process"])
