"""Answer follow-ups that only change how the last result is presented, by changing its query.

Which moons does Jupiter have?   only the first five · sort by diameter · how many are these? ·
                                 show them on a map
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from pyoxigraph import NamedNode, Variable

from askgraph.answers import AnswerBuilder, arrange_rows, list_resources
from askgraph.answers.example_questions import COORDINATE_NAMES
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.errors import QueryError, ServiceError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import split_tokens
from askgraph.search.follow_up import ResultChange, parse_measured_extreme, parse_result_change
from askgraph.search.tokenize import tokenize
from askgraph.sparql import Call, Group, Nested, Pattern, Query, Values, find_variables
from askgraph.sparql.judge import admit_query
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.results import SelectResult
from askgraph.sparql.serializer import to_tree
from askgraph.trace import Answer, PreviousQuestion, Question, Refusal

_TIMEOUT_SECONDS = 10.0
_CONFIDENCE = 0.9  # confidence in the changed query if the question only refers to its result
_MAX_ROWS = 10_000


async def answer_changed_query(
    question: Question, graphs: Sequence[KnowledgeGraph]
) -> Answer | Refusal | None:
    """Change the last query as the question demands, and run it.

    Return None if the question is not such a follow-up, and a refusal for a map of results
    without coordinates. The answer comes from the first graph on which the last query gives a
    row.
    """
    language = question.language or tokenize(question.before[-1].question).language
    for graph in graphs:
        change, last = await asyncio.to_thread(_detect_change, question, graph, language)
        if change is None:
            return None
        with suppress(QueryError, ServiceError):
            answer = await _run_changed_query(change, last.query, graph, language)
            if answer is not None:
                return answer
    return None


def _detect_change(
    question: Question, graph: KnowledgeGraph, language: str
) -> tuple[ResultChange | None, PreviousQuestion]:
    # A count refers to the result that was counted.
    earlier_changes = [
        parse_result_change(earlier.question, graph.names, language=language)
        for earlier in question.before[1:]
    ]
    position = len(earlier_changes)
    while position and (before := earlier_changes[position - 1]) is not None and before.is_count:
        position -= 1
    change = parse_result_change(question.text, graph.names, language=language)
    if change is None and any(earlier_changes[:position][-1:]):
        change = parse_measured_extreme(question.text, graph.names, language=language)
    return change, question.before[position]


async def _run_changed_query(
    change: ResultChange, query: str, graph: KnowledgeGraph, language: str
) -> Answer | Refusal | None:
    checked_query = admit_query(query, prefixes=graph.prefixes.namespaces)
    tree = to_tree(checked_query.text)
    if tree.form != "SELECT" or all(value is not None for _, value in tree.columns):
        return None
    before = await graph.endpoint.select(
        checked_query.text, timeout=_TIMEOUT_SECONDS, limit=_MAX_ROWS
    )
    if not before.rows:
        return None
    builder = AnswerBuilder(graph, [language], _TIMEOUT_SECONDS, evidence_seconds=_TIMEOUT_SECONDS)
    for new_query in await _build_changed_queries(tree, change, before, graph, language):
        text, labels = await builder.format_query(new_query)
        result = await graph.endpoint.select(text, timeout=_TIMEOUT_SECONDS, limit=_MAX_ROWS)
        coordinates = (row[-len(COORDINATE_NAMES) :] for row in result.rows)
        if change.is_map and all(None in pair for pair in coordinates):
            return Refusal(load_phrases(language).say("refuse no places"))
        if result.rows:
            return await builder.answer(
                text,
                result,
                columns=result.variables,
                confidence=_CONFIDENCE,
                ordered=bool(new_query.order),
                labels=labels,
            )
    return None


async def _build_changed_queries(
    tree: Query, change: ResultChange, before: SelectResult, graph: KnowledgeGraph, language: str
) -> list[Query]:
    if change.is_count:
        return [_build_count_query(tree)]
    if change.is_map:
        return [_build_located_query(tree, graph)]
    if change.order_by:
        return [_build_sorted_query(tree, change, iri, before) for iri in change.order_by]
    return [await _build_limited_query(tree, change.max_rows, before, graph, language)]


def _build_count_query(tree: Query) -> Query:
    column = tree.columns[0][0]
    name = Variable(f"number_of_{column.value}")
    is_plain = not (tree.group_by or tree.limit or tree.having)
    where = tree.where if is_plain else Group((tree,))
    return Query("SELECT", where, ((name, Call("COUNT DISTINCT", (column,))),))


def _build_sorted_query(tree: Query, change: ResultChange, by: str, before: SelectResult) -> Query:
    # If the first column is a name, the values are those of the named resource. With a limit of
    # one row, the value column is omitted.
    first = next(name for name, value in tree.columns if value is None)
    subject_variable = _find_named_variable(first, tree, before)
    value = _create_variable(tree, split_local_name(by))
    value_pattern = Pattern(subject_variable, NamedNode(by), value)
    if tree.group_by or tree.limit:
        tree = Query("SELECT", Group((tree,)), tuple((name, None) for name, _ in tree.columns))
    for part in tree.where.elements:
        match part:
            case Pattern(subject, NamedNode(value=iri), Variable() as variable):
                if (subject, iri) == (subject_variable, by):
                    value = variable
    elements = dict.fromkeys((*tree.where.elements, replace(value_pattern, object=value)))
    columns_with_value = dict.fromkeys((*tree.columns, (value, None)))
    return replace(
        tree,
        where=Group(tuple(elements)),
        columns=((first, None),) if change.max_rows == 1 else tuple(columns_with_value),
        distinct=change.max_rows != 1,
        order=((value, change.is_descending), (first, False)),
        limit=change.max_rows or None,
    )


def add_pattern(tree: Query, pattern: Pattern, *, is_optional: bool = True) -> Query:
    """Return a SELECT query with one more triple pattern for its rows.

    A variable that the query does not have becomes a column; if `is_optional`, it may be empty. A
    pattern without one is a condition. Groups are looked up after they are counted.
    """
    if tree.is_aggregate:
        groups = tuple((name, None) for name, _ in tree.columns)
        tree = Query("SELECT", Group((tree,)), groups, order=tree.order)
    bound = set(find_variables((tree.columns, tree.where)))
    names = dict.fromkeys(find_variables(pattern))
    if not bound.intersection(names):
        raise QueryError("the pattern has no variable of the query: start it with one")
    added = tuple((name, None) for name in names if name not in bound)
    element = Nested("OPTIONAL", Group((pattern,))) if added and is_optional else pattern
    columns = (*tree.columns, *added) if tree.columns else ()
    return replace(tree, where=Group((*tree.where.elements, element)), columns=columns)


def _find_named_variable(first: Variable, tree: Query, before: SelectResult) -> Variable:
    """Return the resource that a text column names; the column itself if it holds resources."""
    column = before.variables.index(first.value)
    if isinstance(before.rows[0][column], NamedNode) or tree.group_by or tree.limit:
        return first
    for part in tree.where.elements:
        match part:
            case Pattern(Variable() as owner, NamedNode(), end) if end == first:
                return owner
    return first


def _create_variable(tree: Query, words: str) -> Variable:
    name = "_".join(split_tokens(words)) or "value"
    used_names = {variable.value for variable in find_variables((tree.columns, tree.where))}
    while name in used_names:
        name += "_2"
    return Variable(name)


async def _build_limited_query(
    tree: Query, number: int, before: SelectResult, graph: KnowledgeGraph, language: str
) -> Query:
    """Limit a query to the first rows, in the order in which they were displayed."""
    if tree.order:  # after the largest one, the first three are the three largest
        max_rows = tree.limit if tree.limit and tree.limit > 1 else number
        return replace(tree, limit=min(number, max_rows))
    for name, value in tree.columns if tree.group_by else ():
        if isinstance(value, Call) and value.is_aggregate:
            return replace(tree, order=((name, True),), limit=number)
    builder = AnswerBuilder(graph, [language], _TIMEOUT_SECONDS)
    labels = await builder.load_labels(list_resources(before.rows))
    first_values = dict.fromkeys(
        row[0] for row in arrange_rows(before.sort_rows(), tree, labels).rows
    )
    nodes = [(node,) for node in first_values if isinstance(node, NamedNode)][:number]
    if not nodes or number >= len(before.rows):
        return replace(tree, limit=number)
    values = Values((Variable(before.variables[0]),), tuple(nodes))
    return replace(tree, where=Group((*tree.where.elements, values)))


def _build_located_query(tree: Query, graph: KnowledgeGraph) -> Query:
    subject = next(name for name, value in tree.columns if value is None)
    patterns, columns = list[Pattern](), tree.columns
    for words in COORDINATE_NAMES:
        literal_iris = (p.iri for p in graph.profile.predicates if p.literal)
        matches = (iri for iri in literal_iris if split_local_name(iri).lower() in words)
        if (iri := next(matches, None)) is None or tree.group_by or tree.limit:
            return tree
        value = _create_variable(tree, split_local_name(iri))
        patterns.append(Pattern(subject, NamedNode(iri), value))
        columns = (*columns, (value, None))
    nested = Nested("OPTIONAL", Group(tuple(patterns)))
    return replace(tree, columns=columns, where=Group((*tree.where.elements, nested)))
