"""What the guided method comes to with models that need no mind.

    python benchmarks/guided_floors.py [--set sample] [--every 1]

`graph search` is the default method; `always 1` a model that always takes the first candidate,
`the same` the share of questions for which it ends in the same query. The `oracle` takes the best
of the candidates that it is shown, by gold: no model that only chooses can do better. `broken`
replies (no JSON, nothing, a refusal, candidates that do not exist) end in graph search's answer, or
in a refusal: `held` is the share for which they do. F1 is that of the best column, over the
questions with a gold query; of questions back and refusals the best attempt counts, so that what is
compared are the queries.
"""

import argparse
import asyncio
import json
from dataclasses import dataclass
from statistics import fmean

from _measure import print_table
from _sets import Asked, asked_sets, f1_of, gold_of
from askgraph.evaluation import Table
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Choice, Finish
from askgraph.llm.scripted import Reply, ScriptedModel
from askgraph.methods import Method
from askgraph.methods.graph_search import GraphSearch
from askgraph.methods.guided import Guided
from askgraph.methods.guided.candidates import Candidates, candidates_of, with_results
from askgraph.methods.shared.several_graphs import AskedGraphs
from askgraph.methods.tools import Limits
from askgraph.trace import Answer, Clarification, Question, Refusal

BROKEN: tuple[Reply, ...] = (
    "I would rather not use JSON today.",
    "",
    Choice("", finish=Finish.REFUSED, refusal="I cannot help with that."),
    json.dumps({"choose": 99, "query": "", "answer": ["nothing"], "sure": 7}),
)


@dataclass(frozen=True)
class Row:
    """What came of one question."""

    searched: float
    first: float
    same: bool
    oracle: float
    held: bool


async def row(gold: GoldQuestion, graph: KnowledgeGraph) -> Row | None:
    """Ask one question in all ways; None for one without gold."""
    table = await gold_of(gold, graph)
    if table is None:
        return None
    question = Question(gold.text, gold.language)
    own = await best(GraphSearch(), question, graph)
    asked = AskedGraphs.of(question, [graph], Limits())
    most = Guided(ScriptedModel([])).shows.candidates
    candidates = await with_results(await candidates_of(question, asked, most=most))
    first = await best(choosing(1), question, graph)
    there = bool(candidates.numbered)
    top = await best(choosing(best_number(candidates, table)), question, graph) if there else own
    broken = [await best(saying(reply), question, graph) for reply in BROKEN]
    return Row(
        f1_of(own, table),
        f1_of(first, table),
        query_of(first) == query_of(own),
        f1_of(top, table),
        all(query_of(one) in (query_of(own), "") for one in broken),
    )


def best_number(candidates: Candidates, gold: Table) -> int:
    """The number of the candidate that gold likes best."""
    scored = {}
    for one in candidates.numbered:
        found = one.ran
        scored[one.number] = f1_of(
            Answer(found.query, "", found.result, found.columns, "", 0.0, found.boolean), gold
        )
    return max(scored, key=lambda number: scored[number])


def choosing(number: int) -> Guided:
    """Guided with a model that always takes the candidate of this number."""
    return saying(json.dumps({"choose": number, "query": "", "sure": 1.0}))


def saying(reply: Reply) -> Guided:
    """Guided with a model that always says the same."""
    return Guided(ScriptedModel(lambda _: reply), turns=0)


async def best(method: Method, question: Question, graph: KnowledgeGraph) -> Answer | None:
    """The answer of a method, or its best attempt."""
    outcome = [step async for step in method.answer(question, [graph])][-1]
    match outcome:
        case Answer():
            return outcome
        case Clarification(best=attempt) | Refusal(best=attempt):
            return attempt
    raise TypeError(outcome)


def query_of(answer: Answer | None) -> str:
    """The query of an answer; empty for none."""
    return answer.query if answer is not None else ""


async def measured(asked: Asked, every: int) -> list[Row]:
    """Ask each question, or one of so many, of a graph."""
    found = [await row(question, asked.graph) for question in asked.questions[::every]]
    await asked.graph.endpoint.close()
    return [one for one in found if one is not None]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", action="append", default=[], help="a set; all if none is named")
    parser.add_argument("--every", type=int, default=1, help="only one of so many questions")
    options = parser.parse_args()
    found: dict[str, list[Row]] = {}
    with asked_sets(tuple(options.set)) as sets:
        for asked in sets:
            rows = asyncio.run(measured(asked, options.every))
            found.setdefault(asked.set, []).extend(rows)
    heads = ("set", "n", "graph search", "always 1", "the same", "oracle", "broken held")
    lines = []
    for name, rows in found.items():
        shares = (
            [one.searched for one in rows], [one.first for one in rows],
            [float(one.same) for one in rows], [one.oracle for one in rows],
            [float(one.held) for one in rows],
        )  # fmt: skip
        lines.append((name, len(rows), *(f"{100 * fmean(share):.1f}" for share in shares)))
    print_table(heads, *lines)


if __name__ == "__main__":
    main()
