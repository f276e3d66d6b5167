"""Questions with what is known of their right answers, and both answers as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, QueryError, SetupError, Unauthorised, Unreachable
from askgraph.evaluation import Table
from askgraph.evaluation.files import write_lines
from askgraph.sparql.comparison import Cell
from askgraph.sparql.judge import admitted
from askgraph.sparql.lexer import with_declared
from askgraph.sparql.parser import read
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer


@dataclass(frozen=True)
class GoldQuestion:
    """A question and what is known of its right answer: a query, a stored answer, both, neither.

    `graph` names the graph that it is asked of, if a file holds questions over several.
    `unanswerable` says that the graph holds no answer, so that a refusal is right. `split` is the
    part of its benchmark (`train`, `test`, …). `entities` and `predicates` are the IRIs that the
    format itself names as those that the question is about; `paraphrases` are other wordings of
    it that the format gives beside the question.
    """

    id: str
    text: str
    language: str | None = None
    sparql: str | None = None
    answers: Table | None = None
    tags: tuple[str, ...] = ()
    graph: str | None = None
    unanswerable: bool = False
    split: str | None = None
    entities: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    paraphrases: tuple[str, ...] = ()

    @property
    def has_gold(self) -> bool:
        """Whether an answer to this question can be scored."""
        return self.unanswerable or self.sparql is not None or self.answers is not None


def of_graph(
    questions: Sequence[GoldQuestion], name: str, *, required: bool = False
) -> tuple[GoldQuestion, ...]:
    """Return the questions that are asked of a graph, in a file with questions over several.

    `name` is the graph's, or that of its file. A question that names no graph is asked of any, and
    if all name the same one, that counts as this graph; with `required` neither is so. Raises
    `SetupError` if no question is left.
    """
    named = {question.graph for question in questions if question.graph}
    if len(named) <= 1 and not required:
        return tuple(questions)
    names = {name, Path(name).name}
    fitting = {graph for graph in named if names & {graph, Path(graph).stem}}
    found = tuple(q for q in questions if q.graph in fitting or (q.graph is None and not required))
    if not found:
        there = f"their 'kg' names {', '.join(sorted(named))}" if named else "none has a 'kg'"
        raise SetupError(f"no question is about {name!r}; {there}")
    return found


Json = dict[str, object]

UNANSWERABLE = "unanswerable"


def question_object(question: GoldQuestion, *, prefixes: Mapping[str, str] | None = None) -> Json:
    """Return a question as a line holds it; `prefixes` that its query leaves open are declared.

    What the format has no place for is left out: entities, predicates and paraphrases.
    """
    tags = list(question.tags)
    if question.unanswerable and UNANSWERABLE not in tags and question.sparql is not None:
        tags.append(UNANSWERABLE)
    query = question.sparql and with_declared(question.sparql, prefixes or {})
    line: Json = {
        "id": question.id,
        "question": question.text,
        "lang": question.language,
        "sparql": query,
        "answers": question.answers and _answers(question.answers),
        "tags": tags,
        "kg": question.graph,
        "split": question.split,
    }
    kept = {key: value for key, value in line.items() if value not in (None, [])}
    return {**kept, "sparql": None} if question.unanswerable and query is None else kept


def write_questions(
    path: Path, questions: Sequence[GoldQuestion], *, prefixes: Mapping[str, str] | None = None
) -> None:
    """Write a file of questions, all or nothing; `SetupError` if it cannot be written."""
    write_lines(path, [question_object(question, prefixes=prefixes) for question in questions])


def _answers(table: Table) -> Json:
    if table.boolean is not None:
        return {"boolean": table.boolean}
    rows = [[_value(cell) for cell in row] for row in table.rows]
    return {"vars": list(table.variables), "rows": rows}


def _value(cell: Cell | None) -> str | int | float | bool | None:
    if cell is None:
        return None
    kind, value = cell
    return value == "true" if kind == "boolean" else value


Prefixes = Mapping[str, str] | None


async def gold_table(
    question: GoldQuestion, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float | None
) -> Table:
    """Return the gold result of a question: its query's on this endpoint, else the stored one.

    Raises what the endpoint raises, and `SetupError` if there is neither.
    """
    if question.sparql is not None:
        return await query_table(question.sparql, endpoint, prefixes=prefixes, timeout=timeout)
    if question.answers is not None:
        return question.answers
    raise SetupError(f"question {question.id!r} has no gold to score against")


async def gold_or_reason(
    question: GoldQuestion,
    endpoint: Endpoint | None,
    *,
    stored: bool = False,
    prefixes: Prefixes = None,
    timeout: float | None,
) -> tuple[Table | None, str | None]:
    """Return the gold result and None, or what there is of it and why its query gave none.

    A stored result stands in for a query that fails; with `stored`, or without an endpoint, only
    that counts. Raises `SetupError`, and, if nothing is stored, `Unreachable` and
    `Unauthorised`: if the endpoint is gone, nothing can be said about any answer.
    """
    if stored or endpoint is None:
        missing = None if question.answers else "no gold result is stored for this question"
        return question.answers, missing
    try:
        return await gold_table(question, endpoint, prefixes=prefixes, timeout=timeout), None
    except SetupError:
        raise
    except AskgraphError as failure:
        if question.answers is None and isinstance(failure, Unreachable | Unauthorised):
            raise
        return question.answers, f"{type(failure).__name__}: {failure}"


async def answer_table(answer: Answer, endpoint: Endpoint, *, timeout: float | None) -> Table:
    """Return an answer's result; if it was cut off, that of its query, run again in full.

    It knows which of its columns answer.
    """
    if answer.boolean is not None:
        return Table.of_boolean(answer.boolean)
    if answer.result.truncated:
        table = await query_table(answer.query, endpoint, timeout=timeout)
    else:
        table = _table(answer.query, answer.result)
    return replace(table, answering=answer.answer_columns)


async def query_table(
    query: str, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float | None
) -> Table:
    """Return the result of a SELECT or ASK query; `prefixes` need not be declared in it.

    Raises `QueryError` for another form and for a result that was cut off, and what the endpoint
    raises.
    """
    admissible = admitted(query, prefixes=prefixes)
    match admissible.form:
        case "SELECT":
            result = await endpoint.select(admissible.text, timeout=timeout)
            if result.truncated:
                raise QueryError(f"the result was cut off: {result.truncated.reason}")
            return _table(query, result)
        case "ASK":
            return Table.of_boolean(await endpoint.ask(admissible.text, timeout=timeout))
        case form:
            raise QueryError(f"a {form} query cannot be scored, only SELECT and ASK")


def _table(query: str, result: SelectResult) -> Table:
    """Return a result as a table; rows without an order come in the order of their terms.

    So no figure depends on which row an engine happens to give first.
    """
    try:
        ordered = bool(read(query).order)
    except QueryError:
        ordered = True
    return Table.of_result(result if ordered else result.sorted())
