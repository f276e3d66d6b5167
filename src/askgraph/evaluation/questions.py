"""Questions with their gold answers, and gold and predicted answers as tables."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from askgraph.endpoint import Endpoint
from askgraph.errors import AskgraphError, QueryError, SetupError, Unauthorised, Unreachable
from askgraph.evaluation import ResultTable, Score
from askgraph.evaluation.files import write_lines
from askgraph.evaluation.metrics.sets import best_column
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.profile import PredicateProfile
from askgraph.index.names import ItemKind, stem_name, stem_word
from askgraph.search.tokenize.word_lists import get_shared_words
from askgraph.sparql.comparison import Cell, parse_json_value, to_comparable_value
from askgraph.sparql.judge import admit_query
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import get_local_name
from askgraph.sparql.results import SelectResult
from askgraph.trace import Answer


@dataclass(frozen=True)
class GoldQuestion:
    """A question with a gold query, a stored gold answer, both or neither."""

    id: str
    text: str
    language: str | None = None  # language code of the text, if known
    sparql: str | None = None
    answers: ResultTable | None = None  # the stored gold answer
    tags: tuple[str, ...] = ()
    graph: str | None = None  # if a file covers several graphs
    unanswerable: bool = False  # whether the graph holds no answer, so that a refusal is right
    split: str | None = None  # part of the benchmark (`train`, `test`, …)
    entities: tuple[str, ...] = ()  # IRIs of entities that the benchmark states for the question
    predicates: tuple[str, ...] = ()  # IRIs that the benchmark states for the question
    paraphrases: tuple[str, ...] = ()  # other wordings from the benchmark

    @property
    def has_gold(self) -> bool:
        """Whether an answer to this question can be scored."""
        return self.unanswerable or self.sparql is not None or self.answers is not None


def filter_by_graph(
    questions: Sequence[GoldQuestion], graph_name: str, *, required: bool = False
) -> tuple[GoldQuestion, ...]:
    """Return the questions about one graph, from a file that may cover several.

    A question without a graph matches any graph. If all questions name one graph, it counts as this
    one. With `required`, neither rule applies.

    Args:
        graph_name: The name of the graph, or of its file.
        required: Whether a question must name the graph.

    Raises:
        SetupError: No question is about the graph.
    """
    names = {question.graph for question in questions if question.graph}
    if len(names) <= 1 and not required:
        return tuple(questions)
    accepted_names = {graph_name, Path(graph_name).name}
    matching_graphs = {graph for graph in names if accepted_names & {graph, Path(graph).stem}}
    selected = tuple(
        question
        for question in questions
        if question.graph in matching_graphs or (question.graph is None and not required)
    )
    if not selected:
        description = f"their 'kg' names {', '.join(sorted(names))}" if names else "none has a 'kg'"
        raise SetupError(f"no question is about {graph_name!r}; {description}")
    return selected


Json = dict[str, object]

UNANSWERABLE = "unanswerable"


def to_question_object(
    question: GoldQuestion, *, prefixes: Mapping[str, str] | None = None
) -> Json:
    """Return a question as a JSON object; declares `prefixes` that its query leaves undeclared.

    The format has no fields for entities, predicates and paraphrases: they are dropped.
    """
    tags = list(question.tags)
    if question.unanswerable and UNANSWERABLE not in tags and question.sparql is not None:
        tags.append(UNANSWERABLE)
    query = question.sparql and declare_prefixes(question.sparql, prefixes or {})
    line: Json = {
        "id": question.id, "question": question.text, "lang": question.language, "sparql": query,
        "answers": question.answers and _to_answer_object(question.answers), "tags": tags,
        "kg": question.graph, "split": question.split,
    }  # fmt: skip
    fields = {key: value for key, value in line.items() if value not in (None, [])}
    return {**fields, "sparql": None} if question.unanswerable and query is None else fields


def write_questions(
    path: Path, questions: Sequence[GoldQuestion], *, prefixes: Mapping[str, str] | None = None
) -> None:
    """Write a file of questions atomically; raise `SetupError` if that fails."""
    write_lines(path, [to_question_object(question, prefixes=prefixes) for question in questions])


def _to_answer_object(table: ResultTable) -> Json:
    if table.boolean is not None:
        return {"boolean": table.boolean}
    rows = [[_to_json_value(cell) for cell in row] for row in table.rows]
    return {"vars": list(table.variables), "rows": rows}


def _to_json_value(cell: Cell | None) -> str | int | float | bool | None:
    if cell is None:
        return None
    kind, value = cell
    return value == "true" if kind == "boolean" else value


Prefixes = Mapping[str, str] | None


async def load_gold_table(
    question: GoldQuestion, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float | None
) -> ResultTable:
    """Return the gold result: run the gold query, or use the stored answer if there is no query.

    Raises:
        SetupError: The question has neither.
        AskgraphError: The endpoint failed.
    """
    if question.sparql is not None:
        return await run_query(question.sparql, endpoint, prefixes=prefixes, timeout=timeout)
    if question.answers is not None:
        return question.answers
    raise SetupError(f"question {question.id!r} has no gold to score against")


async def try_load_gold(
    question: GoldQuestion,
    endpoint: Endpoint | None,
    *,
    stored_only: bool = False,
    prefixes: Prefixes = None,
    timeout: float | None,
) -> tuple[ResultTable | None, str | None]:
    """Return the gold result and None, or the stored result, if any, and why the query failed.

    A stored result replaces a failed query. With `stored_only`, or without an endpoint, no query
    runs.

    Raises:
        SetupError: There is no gold.
        Unreachable: The endpoint is down and no result is stored, so no answer can be scored.
        Unauthorised: The endpoint refused access and no result is stored.
    """
    if stored_only or endpoint is None:
        reason = None if question.answers else "no gold result is stored for this question"
        return question.answers, reason
    try:
        return await load_gold_table(question, endpoint, prefixes=prefixes, timeout=timeout), None
    except SetupError:
        raise
    except AskgraphError as failure:
        if question.answers is None and isinstance(failure, Unreachable | Unauthorised):
            raise
        return question.answers, f"{type(failure).__name__}: {failure}"


async def load_answer_table(
    answer: Answer, endpoint: Endpoint, *, timeout: float | None
) -> ResultTable:
    """Return the result of an answer with its answer columns; rerun a truncated query."""
    if answer.boolean is not None:
        return ResultTable.from_boolean(answer.boolean)
    if answer.result.truncated:
        table = await run_query(answer.query, endpoint, timeout=timeout)
    else:
        table = _to_table(answer.query, answer.result)
    return replace(table, answer_columns=answer.answer_columns)


async def run_query(
    query: str, endpoint: Endpoint, *, prefixes: Prefixes = None, timeout: float | None
) -> ResultTable:
    """Run a SELECT or ASK query and return its result.

    Args:
        query: The query; it may use `prefixes` without declaring them.
        timeout: Limit in seconds.

    Raises:
        QueryError: The query has another form, or its result was truncated.
        AskgraphError: The endpoint failed.
    """
    admissible = admit_query(query, prefixes=prefixes)
    match admissible.form:
        case "SELECT":
            result = await endpoint.select(admissible.text, timeout=timeout)
            if result.truncated:
                raise QueryError(f"the result was cut off: {result.truncated.reason}")
            return _to_table(query, result)
        case "ASK":
            return ResultTable.from_boolean(await endpoint.ask(admissible.text, timeout=timeout))
        case form:
            raise QueryError(f"a {form} query cannot be scored, only SELECT and ASK")


def _to_table(query: str, result: SelectResult) -> ResultTable:
    """Return a result as a table, with rows sorted by term if the query has no ORDER BY."""
    # This keeps scores independent of the row order of an engine.
    try:
        ordered = bool(parse_tree(query).order)
    except QueryError:
        ordered = True
    return ResultTable.from_result(result if ordered else result.sort_rows())


def score_by_name(
    predicted: ResultTable, gold: ResultTable, names: Mapping[str, Set[Cell]]
) -> Score:
    """Score the best columns; a resource counts as any of its names in gold's column.

    The score is never below `best_column`. A name that gold lacks stays an IRI, so a wrong resource
    stays wrong. Two resources with one name count as one, as they do in gold.
    """
    direct_score = best_column(predicted, gold)
    if not predicted.terms or direct_score.f1 == 1:
        return direct_score
    columns = [
        ResultTable(gold.variables[index : index + 1], tuple((row[index],) for row in gold.rows))
        for index in range(len(gold.variables))
    ] or [gold]
    name_score = Score.compute_mean(
        [best_column(_replace_with_names(predicted, column, names), column) for column in columns]
    )
    return max(direct_score, name_score, key=lambda column: column.f1)


def _replace_with_names(
    predicted: ResultTable, gold: ResultTable, names: Mapping[str, Set[Cell]]
) -> ResultTable:
    gold_values = gold.get_values()
    rows = tuple(
        tuple(
            min(names.get(term.value, frozenset()) & gold_values, key=str, default=cell)
            if isinstance(term, NamedNode)
            else cell
            for cell, term in zip(row, terms, strict=True)
        )
        for row, terms in zip(predicted.rows, predicted.terms, strict=True)
    )
    return replace(predicted, rows=rows)


def collect_names(graph: KnowledgeGraph) -> dict[str, set[Cell]]:
    """Return the names and keys of each resource of a graph, by IRI, as table cells.

    A key is a value that no two resources share, of a predicate called an id, code or number.
    """
    names: dict[str, set[Cell]] = {}
    for index in range(len(graph.names)):
        name = graph.names.read_name(index)
        cell = parse_json_value(name.text)
        if name.kind is ItemKind.ENTITY and cell is not None:
            names.setdefault(name.target, set()).add(cell)
    if graph.arrays is not None:
        for predicate in filter(_is_named_like_key, graph.profile.predicates):
            key_values = list(_iterate_values(graph.arrays, predicate.iri))
            if len({cell for _, cell in key_values}) < max(len(key_values), 2):
                continue  # things share a value
            for iri, cell in key_values:
                names.setdefault(iri, set()).add(cell)
    return names


def _iterate_values(arrays: GraphArrays, predicate: str) -> Iterator[tuple[str, Cell]]:
    """Yield the resources that have literals of a predicate, each with its value."""
    # A predicate may be a key for some resources and lead to resources from others.
    number = arrays.get_predicate_number(predicate)
    if number is None:
        return
    for subject, value in zip(*arrays.get_edges(arrays.get_ends(number), number), strict=True):
        resource, literal = arrays.terms.get_term(int(subject)), arrays.terms.get_term(int(value))
        cell = to_comparable_value(literal) if isinstance(literal, Literal) else None
        if isinstance(resource, NamedNode) and cell is not None:
            yield resource.value, cell


def _is_named_like_key(predicate: PredicateProfile) -> bool:
    """Return whether a predicate has literals and a name such as id, code or number."""
    if not predicate.datatypes:
        return False
    texts = [text for text, _ in predicate.names] or [get_local_name(predicate.iri)]
    keys = get_shared_words().names["keys"]
    return any(stem_word(words[-1]) in keys for text in texts if (words := stem_name(text)))
