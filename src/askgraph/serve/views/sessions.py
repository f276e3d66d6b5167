"""Sessions as they go over the wire."""

from pydantic import BaseModel, Field

from askgraph.serve.views.body import Body
from askgraph.serve.views.runs import RunSummary

__all__ = ["SessionBody", "SessionSummary", "SessionView", "SessionsView"]


class SessionBody(Body):
    """The title of a session."""

    title: str = Field("", max_length=200)


class SessionSummary(BaseModel):
    """A conversation."""

    id: str
    title: str
    created: str = Field(description="A time in UTC (ISO 8601).")
    changed: str = Field(description="When something was asked in it last.")
    runs: int = Field(description="How many questions it has.")


class SessionsView(BaseModel):
    """The caller's sessions, the one changed last first."""

    sessions: list[SessionSummary]


class SessionView(SessionSummary):
    """A conversation with its questions, the latest first."""

    questions: list[RunSummary]
