"""Questions and what came of them, as they go over the wire."""

from typing import Literal

from pydantic import BaseModel, Field

from askgraph.answers.codec import answer_object
from askgraph.serve.problems import Problem
from askgraph.serve.views.body import Body
from askgraph.serve.views.cells import Cell, CutView, cells_of
from askgraph.trace import Outcome, attempt_of

__all__ = [
    "AnswerView",
    "AskBody",
    "ChooseBody",
    "ConfirmBody",
    "EarlierView",
    "FeedbackBody",
    "FeedbackView",
    "RunSummary",
    "RunView",
    "RunsView",
    "ShareBody",
    "State",
    "answer_view",
]

State = Literal["queued", "running", "done", "failed", "cancelled", "handed_back"]
MOST_QUESTION = 4000


class AskBody(Body):
    """A question, of which graphs it is asked, and how."""

    question: str = Field(min_length=1, max_length=MOST_QUESTION)
    graphs: list[str] | None = Field(
        None, max_length=20, description="Names of graphs; may be left out where there is one."
    )
    method: str | None = Field(None, max_length=100, description="As `GET /methods` lists them.")
    model: str | None = Field(
        None, max_length=200, description="A language model by its name in the workspace."
    )
    settings: dict[str, bool | int | float | str] = Field(
        default_factory=dict, max_length=50, description="Settings of the method."
    )
    language: str | None = Field(
        None, pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", description="A BCP 47 tag."
    )
    session: str | None = Field(None, max_length=64, description="A session that it belongs to.")
    after: str | None = Field(None, max_length=64, description="The run that it follows.")
    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds.")
    anew: bool = Field(False, description="Also where an answer was confirmed before.")


class ChooseBody(Body):
    """Which of the readings that were offered is meant."""

    option: int = Field(ge=0, le=1000, description="Its place in `options`, from 0.")


class FeedbackBody(Body):
    """Whether an answer is right."""

    verdict: Literal["right", "wrong"]
    comment: str = Field("", max_length=4000)


class ConfirmBody(Body):
    """That a query answers the question; without one, the run's own."""

    query: str | None = Field(None, min_length=1, max_length=100_000)


class ShareBody(Body):
    """Whether others who may ask its graphs may read a run, by its address."""

    shared: bool


class FeedbackView(BaseModel):
    """What somebody said of an answer."""

    verdict: Literal["right", "wrong"]
    comment: str = ""


class EvidenceView(BaseModel):
    """The triples behind a row, as N-Triples terms and in words."""

    row: int
    triples: list[tuple[str, str, str]]
    words: list[str]


class OptionView(BaseModel):
    """One reading of an ambiguous question."""

    words: str
    count: int = Field(description="The number of its rows.")
    query: str


class ConfirmedView(BaseModel):
    """That the query was confirmed for the same question before."""

    question: str
    when: str
    by: str | None = None
    example: str | None = None
    change: str | None = None


class UsageView(BaseModel):
    """What a question cost besides time."""

    requests: int
    llm_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    money: float


Plain = str | int | float | bool | None


class AnswerView(BaseModel):
    """An answer, a refusal or a question back; the keys of `askgraph ask --json`, and cells."""

    status: Literal["answer", "clarification", "refusal"]
    sparql: str | None
    graph: str | None
    columns: list[str]
    rows: list[list[Plain]]
    boolean: bool | None
    answer_columns: list[str]
    ordered: bool
    confidence: float
    words: str
    interpretation: str | None
    labels: dict[str, str]
    evidence: list[EvidenceView]
    why_empty: str | None
    truncated: CutView | None
    cut_short: str | None
    confirmed: ConfirmedView | None
    clarification: str | None
    options: list[OptionView]
    reason: str | None
    seconds: float
    usage: UsageView
    cells: list[list[Cell | None]] = Field(description="The rows as typed cells.")
    total: int = Field(description="The number of rows in all, also of those not sent.")


class EarlierView(BaseModel):
    """A question that was asked before in the same conversation."""

    question: str


class RunView(BaseModel):
    """A question, where it stands, and what came of it."""

    id: str
    session: str
    question: str
    language: str | None = Field(description="The language that was given, or detected.")
    graphs: list[str]
    method: str
    model: str | None
    state: State
    created: str = Field(description="A time in UTC (ISO 8601).")
    seconds: float | None
    before: list[EarlierView]
    answer: AnswerView | None
    problem: Problem | None
    feedback: FeedbackView | None
    verified: bool = Field(description="Whether its query was confirmed.")
    shared: bool
    mine: bool = Field(description="Whether it is the caller's own.")


class RunSummary(BaseModel):
    """A question in the history."""

    id: str
    session: str
    question: str
    graphs: list[str]
    method: str
    state: State
    status: str | None
    created: str
    seconds: float | None
    follows: str | None = Field(None, description="The question of one's own that it goes on from.")


class RunsView(BaseModel):
    """The history, newest first."""

    runs: list[RunSummary]
    more: bool = Field(description="Whether there are older ones.")


def answer_view(outcome: Outcome, *, limit: int) -> AnswerView:
    """Return an outcome with at most `limit` rows."""
    best = attempt_of(outcome)
    told = answer_object(outcome, limit=limit)
    rows = () if best is None or best.boolean is not None else best.result.rows
    cells = cells_of(rows, best.labels if best else {}, limit=limit)
    return AnswerView.model_validate({**told, "cells": cells, "total": len(rows)})
