"""Whether what is said of an answer's shape is right: on gold, and on graph search's answers.

    python benchmarks/answer_shape.py            # one table
    python benchmarks/answer_shape.py --cases    # with each case that is not as wished

For the questions of the sample graph, of supply-kgrep and of spider4sparql (ASKGRAPH_DATA, else
../shared/data). `misfits` should say nothing of a gold query (false alarms), something of graph
search's first answers whose F1 is below 0.5 (wrong, caught), and nothing of those with F1 1 (right,
said). To each gold query a label column, or the thing that a value hangs on, is added, and
`answer_columns_of` should choose the columns of gold.
"""

import argparse
import asyncio
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Variable

from _measure import print_table
from _sets import asked_sets
from askgraph.evaluation import Table
from askgraph.evaluation.metrics.assignment import row_assignment
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph import KnowledgeGraph
from askgraph.search.rank import clusters
from askgraph.search.rank.expected import Expected, expected_of
from askgraph.search.rank.expected_columns import answer_columns_of, columns_of
from askgraph.search.rank.expected_misfits import misfits
from askgraph.search.run import proposal_of, read_and_linked
from askgraph.sparql import Pattern, Query
from askgraph.sparql.judge import admitted
from askgraph.sparql.results import SelectResult
from askgraph.sparql.write import plain_text, text_of
from askgraph.trace import Question

_WRONG = 0.5
_TRIED = 4  # candidates in search of a result


@dataclass(frozen=True)
class Seen:
    """What was found for one question; None where it does not apply."""

    text: str
    gold: tuple[str, ...]
    f1: float | None
    said: tuple[str, ...]
    labels: bool | None
    things: bool | None
    query: str


@dataclass(frozen=True)
class First:
    """Graph search's first answer."""

    query: str
    outcome: SelectResult | bool
    columns: tuple[str, ...]


async def outcome_of(query: str, form: str, graph: KnowledgeGraph) -> SelectResult | bool:
    """Run a query."""
    if form == "ASK":
        return await graph.endpoint.ask(query)
    return await graph.endpoint.select(query)


def table(outcome: SelectResult | bool, columns: tuple[str, ...] = ()) -> Table:
    """A result, or some columns of it, as a table."""
    if isinstance(outcome, bool):
        return Table.of_boolean(outcome)
    at = [outcome.variables.index(name) for name in columns or outcome.variables]
    rows = tuple(tuple(row[i] for i in at) for row in outcome.rows)
    return Table.of_result(replace(outcome, variables=columns or outcome.variables, rows=rows))


async def seen(gold: GoldQuestion, graph: KnowledgeGraph) -> Seen:
    """Hold a question's expected shape against gold, and against graph search's answer."""
    whole = admitted(gold.sparql or "", prefixes=graph.prefixes.namespaces)
    expected = expected_of(read_and_linked(gold.text, gold.language, graph.names))
    outcome = await outcome_of(whole.text, whole.form, graph)
    said = misfits(expected, whole.text, outcome, graph.profile)
    first = await first_answer(gold, graph)
    f1: float | None = None
    told: tuple[str, ...] = ()
    if first is not None:
        told = misfits(expected, first.query, first.outcome, graph.profile)
        f1 = row_assignment(table(first.outcome, first.columns), table(outcome)).f1
    labels = things = None
    if isinstance(outcome, SelectResult):
        labels = chosen(with_label(whole.text, outcome, graph), expected, outcome, graph)
        things = chosen(with_thing(whole.text), expected, outcome, graph)
    return Seen(gold.text, said, f1, told, labels, things, gold.sparql or "")


async def first_answer(gold: GoldQuestion, graph: KnowledgeGraph) -> First | None:
    """The first of graph search's best candidates that has a result."""
    proposal = await proposal_of(Question(gold.text, gold.language), graph)
    for cluster in clusters(proposal.candidates)[:_TRIED]:
        best = cluster.best
        query = plain_text(best.query, graph.prefixes)
        outcome = await outcome_of(query, best.query.form, graph)
        if isinstance(outcome, bool) or outcome.rows:
            return First(query, outcome, best.columns)
    return None


def chosen(
    query: Query | None, expected: Expected, gold: SelectResult, graph: KnowledgeGraph
) -> bool | None:
    """Whether of a gold query with a column more the columns of gold are chosen."""
    if query is None:
        return None
    names = tuple(name.value for name, _ in query.columns)
    result = SelectResult(names, ())
    return answer_columns_of(expected, text_of(query), result, graph.profile) == gold.variables


def with_label(text: str, result: SelectResult, graph: KnowledgeGraph) -> Query | None:
    """A query with the labels of its first column of things."""
    query = columns_of(text).query
    if query.is_aggregate or not result.rows or not query.columns:
        return None
    first = zip(result.variables, result.rows[0], strict=True)
    thing = next((name for name, term in first if isinstance(term, NamedNode)), "")
    naming = [p.iri for p in graph.profile.predicates if p.naming == "name"]
    if not thing or not naming:
        return None
    label = Variable("added")
    pattern = Pattern(Variable(thing), NamedNode(naming[0]), label)
    where = replace(query.where, elements=(*query.where.elements, pattern))
    return replace(query, where=where, columns=(*query.columns, (label, None)))


def with_thing(text: str) -> Query | None:
    """A query with the thing that its first column of values hangs on."""
    read = columns_of(text)
    if read.query.is_aggregate:
        return None
    shown = {name.value for name, _ in read.query.columns}
    for name, _ in read.query.columns:
        for step in read.into(name.value):
            owner = step.source
            named = isinstance(owner, Variable) and not owner.value.startswith("__")
            if isinstance(owner, Variable) and named and owner.value not in shown:
                return replace(read.query, columns=((owner, None), *read.query.columns))
    return None


async def measured(questions: list[GoldQuestion], graph: KnowledgeGraph) -> list[Seen]:
    """Measure all questions of a graph."""
    try:
        return [await seen(question, graph) for question in questions]
    finally:
        await graph.endpoint.close()


def share(found: list[bool]) -> str:
    """How many, and of how many."""
    return f"{sum(found)} of {len(found)}"


def row(name: str, found: list[Seen]) -> list[str]:
    """One line of the table."""
    wrong = [bool(one.said) for one in found if one.f1 is not None and one.f1 < _WRONG]
    good = [bool(one.said) for one in found if one.f1 == 1]
    labels = [one.labels for one in found if one.labels is not None]
    things = [one.things for one in found if one.things is not None]
    alarms = [bool(one.gold) for one in found]
    return [name, *map(share, (alarms, wrong, good, labels, things))]


def print_case(one: Seen) -> None:
    """Print what is not as wished of a question."""
    for kind, told in (("gold", one.gold), ("right", one.said if one.f1 == 1 else ())):
        if told:
            print(f"{kind}: {one.text} {told}\n{one.query}\n")
    if one.labels is False or one.things is False:
        print(f"columns: {one.text}\n{one.query}\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cases", action="store_true", help="print what is not as wished")
    cases = parser.parse_args().cases
    lines = [["set", "false alarms", "wrong, caught", "right, said", "label added", "thing added"]]
    found: dict[str, list[Seen]] = {}
    with asked_sets() as every:
        for asked in every:
            mine = [question for question in asked.questions if question.sparql]
            found.setdefault(asked.set, []).extend(asyncio.run(measured(mine, asked.graph)))
    for name, every_seen in found.items():
        lines.append(row(name, every_seen))
        for one in every_seen if cases else ():
            print_case(one)
    print_table(*lines)


if __name__ == "__main__":
    main()
