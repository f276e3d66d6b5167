"""Runs, a question's way through the server; here on the wire: requests, answers, states."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any
from typing import Literal as Choice

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph import plugins
from askgraph.answers.codec import answer_object
from askgraph.errors import SetupError
from askgraph.methods import Method
from askgraph.server.auth import NotAllowed, Principal
from askgraph.server.problems import Problem
from askgraph.server.settings import ServeSettings
from askgraph.server.store.tables import new_id
from askgraph.sparql.judge import form_of
from askgraph.sparql.results import GraphResult, Result, Row, SelectResult, Term, Truncation
from askgraph.sparql.vocabulary import XSD
from askgraph.trace import Earlier, Outcome, Question, attempt_of
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.models import Models
from askgraph.workspace.settings import model_tables

_STRING = f"{XSD}string"
State = Choice["queued", "running", "done", "failed", "cancelled", "handed_back"]
Form = Choice["SELECT", "ASK", "CONSTRUCT"]
MOST_QUESTION = 4000
Plain = str | int | float | bool | None
LANGUAGE_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
"""A tag of BCP 47, as `de` or `de-AT`."""

Language = Annotated[
    str,
    Field(
        pattern=LANGUAGE_TAG,
        max_length=50,
        description="The language of labels and words: a BCP 47 tag.",
    ),
]


class Body(BaseModel):
    """A request's body: it has no fields that are not known, and no text with an `odd_character`.

    No store keeps such text, and no graph has a term with one.
    """

    model_config = ConfigDict(extra="forbid")

    @field_validator("*")
    @classmethod
    def _of_characters(cls, value: object) -> object:
        if odd := odd_character(value):
            raise ValueError(f"holds {odd}, which no text here may: leave it out")
        return value


_ODD = re.compile("[\0\ud800-\udfff]")


def odd_character(value: object) -> str:
    """Return the first NUL or half of a character in a value as JSON has it, in words, if any."""
    match value:
        case str():
            found = _ODD.search(value)
            if found is None:
                return ""
            what = "a NUL" if found[0] == "\0" else "half of a character"
            return f"{what} (U+{ord(found[0]):04X})"
        case list():
            return next(filter(None, map(odd_character, value)), "")
        case dict():
            return odd_character([*value.keys(), *value.values()])
        case _:
            return ""


class Cell(BaseModel):
    """One term of a result."""

    type: Choice["iri", "literal", "blank", "triple"]
    value: str = Field(description="The IRI, the literal's text, or a name for the blank node.")
    label: str | None = Field(None, description="The name of an IRI in the asker's language.")
    datatype: str | None = Field(None, description="The datatype of a literal that is no string.")
    language: str | None = Field(None, description="The language tag of a literal.")


class CutView(BaseModel):
    """Who cut a result off, and why."""

    by: Choice["askgraph", "server"]
    reason: str


class TableView(BaseModel):
    """The result of a query: rows, a boolean, or triples."""

    columns: list[str]
    cells: list[list[Cell | None]] = Field(description="Rows of cells; null if unbound.")
    boolean: bool | None = Field(None, description="The answer of an ASK query.")
    triples: list[tuple[Cell, Cell, Cell]] | None = Field(
        None, description="What a CONSTRUCT or DESCRIBE query gives."
    )
    form: Form = Field("SELECT", description="CONSTRUCT also stands for DESCRIBE.")
    total: int = Field(description="Rows or triples in all, also those not sent.")
    truncated: CutView | None = None
    seconds: float = 0.0


def cell_of(term: Term | None, labels: Mapping[str, str]) -> Cell | None:
    """Return a term as a cell; None if it is unbound."""
    match term:
        case None:
            return None
        case NamedNode():
            return Cell(type="iri", value=term.value, label=labels.get(term.value))
        case BlankNode():
            return Cell(type="blank", value=f"_:{term.value}")
        case Literal():
            typed = not term.language and term.datatype.value != _STRING
            return Cell(
                type="literal",
                value=term.value,
                datatype=term.datatype.value if typed else None,
                language=term.language or None,
            )
        case Triple():
            return Cell(type="triple", value=str(term))


def cells_of(
    rows: Sequence[Row], labels: Mapping[str, str], *, limit: int | None = None
) -> list[list[Cell | None]]:
    """Return rows of terms as rows of cells, at most `limit`."""
    return [[cell_of(term, labels) for term in row] for row in rows[:limit]]


def cut_of(truncated: Truncation | None) -> CutView | None:
    """Return who cut a result off; None if it is whole."""
    return CutView(by=truncated.by, reason=truncated.reason) if truncated else None


def table_of(result: Result, labels: Mapping[str, str], *, limit: int | None = None) -> TableView:
    """Return a result of any form with at most `limit` rows or triples in it."""
    match result:
        case bool():
            return TableView(form="ASK", columns=[], cells=[], boolean=result, total=1)
        case SelectResult():
            return TableView(
                columns=list(result.variables),
                cells=cells_of(result.rows, labels, limit=limit),
                total=len(result.rows),
                truncated=cut_of(result.truncated),
                seconds=round(result.seconds, 6),
            )
        case GraphResult():
            return TableView(
                form="CONSTRUCT",
                columns=[],
                cells=[],
                triples=[_triple(row, labels) for row in result.table.rows[:limit]],
                total=len(result.triples),
                truncated=cut_of(result.truncated),
                seconds=round(result.seconds, 6),
            )


def _triple(row: Row, labels: Mapping[str, str]) -> tuple[Cell, Cell, Cell]:
    subject, predicate, value = (
        cell_of(term, labels) or Cell(type="blank", value="") for term in row
    )
    return subject, predicate, value


class AskBody(Body):
    """A question, of which graphs it is asked, and how."""

    question: str = Field(min_length=1, max_length=MOST_QUESTION, description="In one's own words.")
    graphs: list[str] | None = Field(
        None, max_length=20, description="Names of graphs; may be left out if there is one."
    )
    method: str | None = Field(None, max_length=100, description="As `GET /methods` lists them.")
    model: str | None = Field(
        None, max_length=200, description="A language model by its name in the workspace."
    )
    settings: dict[str, bool | int | float | str] = Field(
        default_factory=dict, max_length=50, description="Settings of the method."
    )
    language: str | None = Field(None, pattern=LANGUAGE_TAG, description="A BCP 47 tag.")
    session: str | None = Field(None, max_length=64, description="A session that it belongs to.")
    after: str | None = Field(None, max_length=64, description="The run that it follows.")
    seconds: float | None = Field(
        None, gt=0, le=3600, description="After so many the best comes that was found."
    )
    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds until it fails.")
    anew: bool = Field(False, description="Also if an answer was confirmed before.")


class ChooseBody(Body):
    """Which of the readings that were offered is meant."""

    option: int = Field(ge=0, le=1000, description="Its place in `options`, from 0.")


class FeedbackBody(Body):
    """Whether an answer is right."""

    verdict: Choice["right", "wrong"]
    comment: str = Field("", max_length=4000)


class ConfirmBody(Body):
    """That a query answers the question; without one, the run's own."""

    query: str | None = Field(None, min_length=1, max_length=100_000)


class EditBody(Body):
    """Another query for a question: the caller's own, or a changed one."""

    query: str = Field(min_length=1, max_length=100_000)


class ShareBody(Body):
    """Whether others who may ask its graphs may read a run, or a board, by its address."""

    shared: bool


class FeedbackView(BaseModel):
    """What somebody said of an answer."""

    verdict: Choice["right", "wrong"]
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


class MissingView(BaseModel):
    """Words of a question that the graph knows nothing by."""

    words: str
    names: list[str] = Field(description="Names of the graph to put in their place.")


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


class AnswerView(BaseModel):
    """An answer, a refusal or a question back; the keys of `askgraph ask --json`, and cells."""

    status: Choice["answer", "clarification", "refusal", "edited"] = Field(
        description="`edited` if a person wrote the query, not a method."
    )
    sparql: str | None
    graph: str | None
    columns: list[str]
    rows: list[list[Plain]]
    boolean: bool | None
    answer_columns: list[str]
    ordered: bool
    confidence: float | None = Field(description="0 to 1; null if a person chose the query.")
    chosen: bool = Field(False, description="Whether a person chose or wrote the query.")
    words: str
    sentence: str = Field(description="The result in a sentence; empty if it has none.")
    unused_words: list[str] = Field(description="Words of the question that the query leaves out.")
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
    missing: list[MissingView] = Field([], description="Words that no reading stands for.")
    seconds: float
    usage: UsageView
    cells: list[list[Cell | None]] = Field(description="The rows as typed cells.")
    total: int = Field(description="The number of rows in all, also of those not sent.")
    form: Form = Field(
        "SELECT", description="Of CONSTRUCT, which stands for DESCRIBE too, rows are triples."
    )


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
    changes: str | None = Field(
        description="The run whose answer this is a change of: another reading, an own query."
    )
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
    changes: str | None = Field(description="The run whose answer this is a change of.")


class NextView(BaseModel):
    """Questions that may follow an answer."""

    questions: list[str] = Field(description="To be asked after the run, in the same session.")


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
    form = (form_of(best.query) or "SELECT") if best else "SELECT"
    return AnswerView.model_validate(
        {
            **told,
            "cells": cells,
            "total": len(rows),
            "form": "CONSTRUCT" if form == "DESCRIBE" else form,
        }
    )


_TIMES = 10  # how far a caller's number may go beyond the default


@dataclass(frozen=True)
class RunRequest:
    """A question on its way: the graphs it is asked of, its method, its session.

    `begins` says that the session is a new one, `changes` is the run whose answer a person
    changed. After `seconds` the best comes that was found, after `timeout` (in seconds) nothing
    does. With `anew` an answer that was confirmed before is not taken.
    """

    question: Question
    graphs: tuple[str, ...]
    method: str
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    session: str = ""
    seconds: float | None = None
    timeout: float | None = None
    anew: bool = False
    after: str | None = None
    changes: str | None = None
    begins: bool = False

    def made(self, workspace: Workspace, models: Models) -> Method:
        """Return the method, ready to answer."""
        given = {"model": self.model, "seconds": self.seconds}
        chosen = dict(self.settings) | {name: one for name, one in given.items() if one}
        return workspace.method(self.method, chosen, models=models, confirmed=not self.anew)


def to_request(body: AskBody, graphs: tuple[str, ...], earlier: tuple[Earlier, ...]) -> RunRequest:
    """Return the request of a caller, in its session or a new one.

    Raises `SetupError` if the question is nothing but spaces.
    """
    check_question(body.question)
    return RunRequest(
        Question(" ".join(body.question.split()), body.language, earlier),
        graphs,
        body.method or DEFAULT_METHOD,
        body.model,
        body.settings,
        body.session or new_id(),
        seconds=body.seconds,
        timeout=body.timeout,
        anew=body.anew,
        after=body.after,
        begins=body.session is None,
    )


def check_question(question: str) -> None:
    """Raise `SetupError` for a question without a word."""
    if not question.strip():
        raise SetupError("the question is empty: ask something, as 'Which moons are there?'")


def method_names(settings: ServeSettings) -> list[str]:
    """Return the methods that callers may choose, as they are written: `graph-search`."""
    known = [name.replace("_", "-") for name in plugins.list_names("method")]
    if not settings.methods:
        return known
    wanted = [name.replace("_", "-") for name in settings.methods]
    return [name for name in known if name in wanted]


def model_names(workspace: Workspace) -> list[str]:
    """Return the language models that callers may choose: those with a table in the workspace."""
    return list(model_tables(workspace.folder))


def check_choice(
    asked: RunRequest, caller: Principal, server: ServeSettings, models: Sequence[str]
) -> None:
    """Check the choices of a caller.

    Anybody may change the preset and switches of a method and, within ten times their default,
    numbers; paths, addresses and names of variables need the scope `admin`. Raises
    `SetupError` for a choice that does not exist, `NotAllowed` for one that is not theirs.
    """
    names = method_names(server)
    if asked.method.replace("_", "-") not in names:
        raise SetupError(f"no method {asked.method!r} here; there are {', '.join(names)}")
    if caller.may("admin"):
        return
    if asked.model is not None and asked.model not in models:
        there = ", ".join(models) or "none"
        raise NotAllowed(f"the model {asked.model!r} is none of this server's: {there}")
    plugin = plugins.load("method", asked.method)
    defaults = open_settings(plugin)
    for name, value in asked.settings.items():
        if name not in defaults:
            there = ", ".join(defaults) or "none"
            raise NotAllowed(
                f"{name!r} is no setting of {asked.method!r} that can be chosen here: {there}"
            )
        default = defaults[name]
        if isinstance(value, bool) or isinstance(default, bool | str):
            continue
        most = max(abs(default) * _TIMES, 1)
        if isinstance(value, int | float) and abs(value) > most:
            raise NotAllowed(f"{name!r} may be at most {most:g} here, not {value:g}")


def open_settings(plugin: Any) -> dict[str, bool | int | float | str]:
    """Return the settings of a method that anybody may change: its preset, switches, numbers."""
    if not is_dataclass(plugin):
        return {}
    return {
        one.name: one.default
        for one in fields(plugin)
        if one.init
        and isinstance(one.default, bool | int | float | str)
        and (one.name == "preset" or not isinstance(one.default, str))
    }
