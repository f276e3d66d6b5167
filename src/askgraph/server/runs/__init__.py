"""Runs of questions: the models of requests and responses, and checked requests to run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any
from typing import Literal as Choice

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from askgraph import plugins
from askgraph.answers.codec import to_json_object
from askgraph.errors import SetupError
from askgraph.methods import Method
from askgraph.server.auth import NotAllowedError, Principal
from askgraph.server.problems import Problem
from askgraph.server.settings import ServeSettings
from askgraph.server.store.tables import generate_id
from askgraph.sparql.judge import get_query_form
from askgraph.sparql.results import GraphResult, Result, Row, SelectResult, Term, Truncation
from askgraph.sparql.vocabulary import XSD
from askgraph.trace import Outcome, PreviousQuestion, Question, get_attempt
from askgraph.workspace import DEFAULT_METHOD, SEARCH_METHOD, Workspace
from askgraph.workspace.models import Models
from askgraph.workspace.settings import load_model_tables

_XSD_STRING = f"{XSD}string"
State = Choice["queued", "running", "done", "failed", "cancelled", "handed_back"]
Form = Choice["SELECT", "ASK", "CONSTRUCT"]
MAX_QUESTION_CHARACTERS = 4000
MAX_PICTURE_CHARACTERS = 266_668  # 200,000 bytes in base64
JsonScalar = str | int | float | bool | None
LANGUAGE_TAG_PATTERN = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
"""Matches a BCP 47 tag, for example `de` or `de-AT`."""

Language = Annotated[
    str,
    Field(
        pattern=LANGUAGE_TAG_PATTERN,
        max_length=50,
        description="The language of labels and words: a BCP 47 tag.",
    ),
]


class RequestBody(BaseModel):
    """A request body without unknown fields and without invalid characters.

    The store cannot keep such text, and no term of a graph contains it.
    """

    model_config = ConfigDict(extra="forbid")

    @field_validator("*")
    @classmethod
    def _check_characters(cls, value: object) -> object:
        if invalid := find_invalid_character(value):
            raise ValueError(f"contains {invalid}, which is not allowed: remove it")
        return value


_INVALID_CHARACTER = re.compile("[\0\ud800-\udfff]")


def find_invalid_character(value: object) -> str:
    """Describe the first NUL or lone surrogate in a JSON value; "" if there is none."""
    match value:
        case str():
            match = _INVALID_CHARACTER.search(value)
            if match is None:
                return ""
            description = "a NUL" if match[0] == "\0" else "a lone surrogate"
            return f"{description} (U+{ord(match[0]):04X})"
        case list():
            return next(filter(None, map(find_invalid_character, value)), "")
        case dict():
            return find_invalid_character([*value.keys(), *value.values()])
        case _:
            return ""


class CellView(BaseModel):
    """One term of a result."""

    type: Choice["iri", "literal", "blank", "triple"]
    value: str = Field(description="The IRI, the literal's text, or a name for the blank node.")
    label: str | None = Field(None, description="The name of an IRI in the asker's language.")
    datatype: str | None = Field(None, description="The datatype of a literal that is no string.")
    language: str | None = Field(None, description="The language tag of a literal.")


class TruncationView(BaseModel):
    """Who truncated a result, and why."""

    by: Choice["askgraph", "server"]
    reason: str


class TableView(BaseModel):
    """The result of a query: rows, a boolean, or triples."""

    columns: list[str]
    cells: list[list[CellView | None]] = Field(description="Rows of cells; null if unbound.")
    boolean: bool | None = Field(None, description="The answer of an ASK query.")
    triples: list[tuple[CellView, CellView, CellView]] | None = Field(
        None, description="The triples of a CONSTRUCT or DESCRIBE query."
    )
    form: Form = Field("SELECT", description="CONSTRUCT also stands for DESCRIBE.")
    total: int = Field(description="Number of all rows or triples, including those not sent.")
    truncated: TruncationView | None = None
    seconds: float = 0.0


def to_cell(term: Term | None, labels: Mapping[str, str]) -> CellView | None:
    """Convert a term to a cell; None if it is unbound."""
    match term:
        case None:
            return None
        case NamedNode():
            return CellView(type="iri", value=term.value, label=labels.get(term.value))
        case BlankNode():
            return CellView(type="blank", value=f"_:{term.value}")
        case Literal():
            has_datatype = not term.language and term.datatype.value != _XSD_STRING
            return CellView(
                type="literal",
                value=term.value,
                datatype=term.datatype.value if has_datatype else None,
                language=term.language or None,
            )
        case Triple():
            return CellView(type="triple", value=str(term))


def to_cells(
    rows: Sequence[Row], labels: Mapping[str, str], *, limit: int | None = None
) -> list[list[CellView | None]]:
    """Convert at most `limit` rows of terms to rows of cells."""
    return [[to_cell(term, labels) for term in row] for row in rows[:limit]]


def to_truncation_view(truncated: Truncation | None) -> TruncationView | None:
    """Convert a truncation; None if the result is complete."""
    return TruncationView(by=truncated.by, reason=truncated.reason) if truncated else None


def to_table_view(
    result: Result, labels: Mapping[str, str], *, limit: int | None = None
) -> TableView:
    """Convert a result of any form, with at most `limit` rows or triples."""
    match result:
        case bool():
            return TableView(form="ASK", columns=[], cells=[], boolean=result, total=1)
        case SelectResult():
            return TableView(
                columns=list(result.variables),
                cells=to_cells(result.rows, labels, limit=limit),
                total=len(result.rows),
                truncated=to_truncation_view(result.truncated),
                seconds=round(result.seconds, 6),
            )
        case GraphResult():
            return TableView(
                form="CONSTRUCT",
                columns=[],
                cells=[],
                triples=[_to_triple_cells(row, labels) for row in result.table.rows[:limit]],
                total=len(result.triples),
                truncated=to_truncation_view(result.truncated),
                seconds=round(result.seconds, 6),
            )


def _to_triple_cells(row: Row, labels: Mapping[str, str]) -> tuple[CellView, CellView, CellView]:
    subject, predicate, value = (
        to_cell(term, labels) or CellView(type="blank", value="") for term in row
    )
    return subject, predicate, value


class AskBody(RequestBody):
    """A question, the graphs to ask, and how to answer it."""

    question: str = Field(
        min_length=1,
        max_length=MAX_QUESTION_CHARACTERS,
        description="The question in your own words.",
    )
    graphs: list[str] | None = Field(
        None, max_length=20, description="Names of graphs; may be left out if there is one."
    )
    method: str | None = Field(None, max_length=100, description="A method from `GET /methods`.")
    model: str | None = Field(None, max_length=200, description="A model of the workspace.")
    settings: dict[str, bool | int | float | str] = Field(
        default_factory=dict, max_length=50, description="Settings of the method."
    )
    language: str | None = Field(None, pattern=LANGUAGE_TAG_PATTERN, description="A BCP 47 tag.")
    session: str | None = Field(None, max_length=64, description="A session that it belongs to.")
    after: str | None = Field(None, max_length=64, description="The run that it follows.")
    seconds: float | None = Field(
        None, gt=0, le=3600, description="Time limit, after which the best answer so far comes."
    )
    timeout: float | None = Field(None, gt=0, le=3600, description="Seconds after which it fails.")
    anew: bool = Field(False, description="Whether to ignore a confirmed answer.")


class ChooseBody(RequestBody):
    """The interpretation that the user chose."""

    option: int = Field(ge=0, le=1000, description="Its position in `options`, from 0.")


class VerdictBody(RequestBody):
    """Whether an answer is right."""

    verdict: Choice["right", "wrong"]


class FeedbackBody(VerdictBody):
    """Whether an answer is right, and a comment on it."""

    comment: str = Field("", max_length=4000)


class ConfirmBody(RequestBody):
    """A confirmation that a query answers the question; without a query, the run's own."""

    query: str | None = Field(None, min_length=1, max_length=100_000)


class EditBody(RequestBody):
    """Another query for a question: the caller's own, or a changed one."""

    query: str = Field(min_length=1, max_length=100_000)


class ShareBody(RequestBody):
    """Whether others with access to its graphs may read a run or board by its address."""

    shared: bool


class RunShareBody(ShareBody):
    """Whether others may read a run, and the picture that previews of its link show."""

    picture: str | None = Field(
        None, max_length=MAX_PICTURE_CHARACTERS, description="A PNG in base64, up to 200 kB."
    )


class FeedbackView(BaseModel):
    """Feedback on an answer."""

    verdict: Choice["right", "wrong"]
    comment: str = ""


class EvidenceView(BaseModel):
    """The triples behind a row, as N-Triples terms and in words."""

    row: int
    triples: list[tuple[str, str, str]]
    words: list[str]


class OptionView(BaseModel):
    """One interpretation of an ambiguous question."""

    words: str
    count: int = Field(description="The number of its rows.")
    query: str


class UnknownWordsView(BaseModel):
    """Words of a question that match nothing in the graph."""

    words: str
    names: list[str] = Field(description="Names of the graph that could replace them.")


class ConfirmationView(BaseModel):
    """An earlier confirmation of the query for the same question."""

    question: str
    when: str
    by: str | None = None
    example: str | None = None
    change: str | None = None


class AnswererView(BaseModel):
    """The method that `auto` chose, and its language model."""

    method: str
    model: str = Field(description="Empty without a model.")
    failed: bool = Field(description="Whether the model did not answer.")


class UsageView(BaseModel):
    """The cost of a question, except its time."""

    requests: int
    llm_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    money: float


class DecidingValuesView(BaseModel):
    """The values that decided on the rows of a result, which has no column for them."""

    columns: list[str]
    rows: list[list[JsonScalar]] = Field(description="One for each row of the result.")
    cells: list[list[CellView | None]] = Field([], description="The rows as typed cells.")


class AnswerView(BaseModel):
    """An answer, refusal or clarification: the keys of `askgraph ask --json`, plus cells."""

    status: Choice["answer", "clarification", "refusal", "edited"] = Field(
        description="`edited` if a person wrote the query, not a method."
    )
    sparql: str | None
    graph: str | None
    columns: list[str]
    rows: list[list[JsonScalar]]
    boolean: bool | None
    answer_columns: list[str]
    context: DecidingValuesView = DecidingValuesView(columns=[], rows=[])
    ordered: bool
    confidence: float | None = Field(description="0 to 1; null if a person chose the query.")
    chosen: bool = Field(False, description="Whether a person chose or wrote the query.")
    words: str
    sentence: str = Field(description="The result in a sentence; empty if it has none.")
    unused_words: list[str] = Field(description="Words of the question that the query ignores.")
    interpretation: str | None
    labels: dict[str, str]
    units: dict[str, str] = Field({}, description="The units of columns, as km, by their names.")
    evidence: list[EvidenceView]
    why_empty: str | None
    truncated: TruncationView | None
    cut_short: str | None
    confirmed: ConfirmationView | None
    clarification: str | None
    options: list[OptionView]
    reason: str | None
    missing: list[UnknownWordsView] = Field([], description="Words that no reading covers.")
    other_graphs: list[str] = Field([], description="Graphs that know the question's words better.")
    seconds: float
    usage: UsageView
    answered_by: AnswererView | None = Field(None, description="Null unless a method chose.")
    cells: list[list[CellView | None]] = Field(description="The rows as typed cells.")
    total: int = Field(description="The number of all rows, including those not sent.")
    form: Form = Field("SELECT", description="Of CONSTRUCT (also for DESCRIBE), rows are triples.")


class EarlierView(BaseModel):
    """An earlier question of the same conversation."""

    question: str


class RunView(BaseModel):
    """A question with its state and outcome."""

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
        description="The run whose answer this one changes: another reading, or an edited query."
    )
    changed_from: str | None = Field(
        None,
        description="The question whose query was edited; `question` then describes the new query.",
    )
    verified: bool = Field(description="Whether the caller confirmed its query.")
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
    follows: str | None = Field(None, description="The caller's question that it follows.")
    changes: str | None = Field(description="The run whose answer this one changes.")
    changed_from: str | None = Field(None, description="The question whose query was edited.")


class NextQuestionsView(BaseModel):
    """Questions that may follow an answer."""

    questions: list[str] = Field(description="Follow-up questions to ask in the same session.")


class RunsView(BaseModel):
    """The history, newest first."""

    runs: list[RunSummary]
    more: bool = Field(description="Whether there are older ones.")


def to_answer_view(outcome: Outcome, *, limit: int) -> AnswerView:
    """Convert an outcome, with at most `limit` rows."""
    best = get_attempt(outcome)
    answer_fields = to_json_object(outcome, limit=limit)
    rows = () if best is None or best.boolean is not None else best.result.rows
    cells = to_cells(rows, best.labels if best else {}, limit=limit)
    form = (get_query_form(best.query) or "SELECT") if best else "SELECT"
    view = AnswerView.model_validate(
        {
            **answer_fields,
            "cells": cells,
            "total": len(rows),
            "form": "CONSTRUCT" if form == "DESCRIBE" else form,
        }
    )
    view.context.cells = to_cells(best.context.rows if best else (), {}, limit=limit)
    return view


_MAX_SETTING_FACTOR = 10  # maximum factor between a caller's number and the default


@dataclass(frozen=True)
class RunRequest:
    """A question that is ready to run."""

    question: Question
    graphs: tuple[str, ...]
    method: str
    model: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    session: str = ""
    seconds: float | None = None  # after these, the method returns the best answer so far
    timeout: float | None = None  # after these seconds, the run fails
    ignore_confirmed: bool = False  # do not reuse a confirmed answer
    after: str | None = None  # the id of the run that it follows
    changes: str | None = None  # the id of the run whose answer a person changed
    changed_from: str | None = None  # the question whose query a person edited
    starts_session: bool = False  # the session is new

    def build_method(self, workspace: Workspace, models: Models) -> Method:
        """Build the method, ready to answer."""
        limits = {"model": self.model, "seconds": self.seconds}
        settings = dict(self.settings) | {name: value for name, value in limits.items() if value}
        return workspace.method(
            self.method, settings, models=models, confirmed=not self.ignore_confirmed
        )


def to_request(
    body: AskBody,
    graphs: tuple[str, ...],
    earlier: tuple[PreviousQuestion, ...],
    server: ServeSettings,
) -> RunRequest:
    """Convert the body of a caller's request; raise `SetupError` if the question is blank."""
    check_question(body.question)
    return RunRequest(
        Question(" ".join(body.question.split()), body.language, earlier),
        graphs,
        body.method or choose_default_method(list_method_names(server)),
        body.model,
        body.settings,
        body.session or generate_id(),
        seconds=body.seconds,
        timeout=body.timeout,
        ignore_confirmed=body.anew,
        after=body.after,
        starts_session=body.session is None,
    )


def check_question(question: str) -> None:
    """Raise `SetupError` if a question is blank."""
    if not question.strip():
        raise SetupError("the question is empty: ask, for example, 'Which moons are there?'")


def list_method_names(settings: ServeSettings) -> list[str]:
    """Return the methods that callers may choose, spelled like `graph-search`."""
    names = [name.replace("_", "-") for name in plugins.list_names("method")]
    if not settings.methods:
        return names
    enabled = [name.replace("_", "-") for name in settings.methods]
    return [name for name in names if name in enabled]


def choose_default_method(names: Sequence[str]) -> str:
    """Return the default of the methods that callers may choose."""
    return next((name for name in (DEFAULT_METHOD, SEARCH_METHOD) if name in names), names[0])


def list_model_names(workspace: Workspace) -> list[str]:
    """Return the language models that callers may choose: the workspace's model tables."""
    return list(load_model_tables(workspace.folder))


def check_choice(
    request: RunRequest, caller: Principal, server: ServeSettings, models: Sequence[str]
) -> None:
    """Check a caller's choice of method, model and settings.

    Anybody may change the preset and switches of a method and, up to ten times the default,
    numbers; paths, addresses and names of variables need the scope `admin`.

    Raises:
        SetupError: the choice does not exist.
        NotAllowed: the caller may not choose it.
    """
    names = list_method_names(server)
    if request.method.replace("_", "-") not in names:
        raise SetupError(f"no method {request.method!r} here; available: {', '.join(names)}")
    if caller.has_scope("admin"):
        return
    if request.model is not None and request.model not in models:
        choices = ", ".join(models) or "none"
        raise NotAllowedError(f"this server has no model {request.model!r}: {choices}")
    defaults = list_open_settings(plugins.load("method", request.method))
    for name, value in request.settings.items():
        if name not in defaults:
            choices = ", ".join(defaults) or "none"
            raise NotAllowedError(
                f"{name!r} is not a setting of {request.method!r} that can be chosen here: "
                f"{choices}"
            )
        default = defaults[name]
        if isinstance(value, bool) or isinstance(default, bool | str):
            continue
        max_value = max(abs(default) * _MAX_SETTING_FACTOR, 1)
        if isinstance(value, int | float) and abs(value) > max_value:
            raise NotAllowedError(f"{name!r} can be at most {max_value:g} here, not {value:g}")


def list_open_settings(plugin: Any) -> dict[str, bool | int | float | str]:
    """Return the settings of a method that anybody may change, with their defaults."""
    if not is_dataclass(plugin):
        return {}
    return {
        plugin_field.name: plugin_field.default
        for plugin_field in fields(plugin)
        if plugin_field.init
        and isinstance(plugin_field.default, bool | int | float | str)
        and (plugin_field.name == "preset" or not isinstance(plugin_field.default, str))
    }
