"""Verified answers as they go over the wire."""

from pydantic import BaseModel, Field

__all__ = ["VerifiedList", "VerifiedOne"]


class VerifiedOne(BaseModel):
    """A question and the query that everybody who asks it is answered with."""

    id: str
    question: str
    query: str
    language: str | None = None
    rows: int = Field(description="How many rows the query gave when it was confirmed.")
    when: str = Field(description="When it was confirmed (ISO 8601, UTC).")
    by: str | None = Field(None, description="Who confirmed it.")
    run: str | None = Field(None, description="The run that it was confirmed of.")
    mine: bool = Field(description="Whether the caller confirmed it.")


class VerifiedList(BaseModel):
    """The verified answers of a graph, the latest first."""

    verified: list[VerifiedOne]
