"""What a model sees before its first turn, without any model: its size, and what it holds of gold.

    python benchmarks/first_prompt.py

For each question of the sample graph and of supply-kgrep (ASKGRAPH_DATA, else ../shared/data): the
estimated tokens of GRASP's first prompt with its tools, and of Graf von Data's; the share of
questions for which all IRIs of the gold query are shown in it; and the share for which one of the
candidates gives the gold rows, further columns aside.
"""

import asyncio
import tempfile
from contextlib import aclosing
from dataclasses import dataclass
from statistics import median, quantiles

from _measure import print_table
from _sets import single_graphs
from askgraph.agent.exploration import looked_up
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.metrics.row_assignment import row_assignment
from askgraph.evaluation.questions import GoldQuestion
from askgraph.explanation.verbalise import iris_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Request
from askgraph.llm.estimate import estimated_input
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.graf_von_data import GrafVonData
from askgraph.methods.grasp import Grasp
from askgraph.rdf.vocabulary import RDFS_LABEL
from askgraph.sparql.judge import admitted
from askgraph.tools.toolbox import GraphToolbox
from askgraph.trace import Prompt, Question
from askgraph.workspace import Workspace


@dataclass(frozen=True)
class Seen:
    """The tokens of both first prompts, and whether they hold gold's IRIs and rows."""

    grasp: int
    graf_von_data: int
    iris: bool
    rows: bool


async def tokens(method: Grasp | GrafVonData, question: Question, graph: KnowledgeGraph) -> int:
    """The estimated tokens of the first prompt."""
    async with aclosing(method.answer(question, [graph])) as steps:  # type: ignore[type-var]
        async for step in steps:
            if isinstance(step, Prompt):
                return estimated_input(Request.of(step.messages, {"tools": step.tools}))
    raise SystemExit("a run without a prompt")


async def seen(gold: GoldQuestion, graph: KnowledgeGraph) -> Seen:
    """Look up what the methods look up, and hold it against gold."""
    question, query = Question(gold.text, gold.language), gold.sparql or ""
    model = ScriptedModel([""] * 9)
    box = GraphToolbox((), [graph], question)
    overview, proposed = await looked_up(box, question, ["overview", "propose_queries"])
    shown = {*overview.observation.seen, *proposed.observation.seen, RDFS_LABEL}
    whole = admitted(query, prefixes=graph.prefixes.namespaces)
    iris = {iri for iri in iris_of(whole.text) if not iri.startswith("http://www.w3.org/")}
    return Seen(
        await tokens(Grasp(model), question, graph),
        await tokens(GrafVonData(model), question, graph),
        iris <= shown,
        await found(whole.text, whole.form, proposed.observation.text, graph),
    )


async def found(query: str, form: str, candidates: str, graph: KnowledgeGraph) -> bool:
    """Whether one of the candidates gives the rows of gold."""
    bodies = [part for part in candidates.split("\n") if part]
    queries: list[list[str]] = []
    for line in bodies:
        if line.startswith(("SELECT", "ASK")):
            queries.append([line])
        elif queries and not line[0].isdigit() and not line.startswith("names: "):
            queries[-1].append(line)
    gold = await table(query, form, graph)
    for lines in queries:
        own = "\n".join(lines)
        own_form = "ASK" if own.startswith("ASK") else "SELECT"
        text = admitted(own, prefixes=graph.prefixes.namespaces).text
        if row_assignment(await table(text, own_form, graph), gold).f1 == 1.0:
            return True
    return False


async def table(query: str, form: str, graph: KnowledgeGraph) -> Table:
    """Run a query."""
    if form == "ASK":
        return Table.of_boolean(await graph.endpoint.ask(query))
    return Table.of_result(await graph.endpoint.select(query))


async def measured(questions: list[GoldQuestion], graph: KnowledgeGraph) -> list[Seen]:
    """Measure all questions of a set."""
    try:
        return [await seen(question, graph) for question in questions]
    finally:
        await graph.endpoint.close()


def main() -> None:
    """Measure and print."""
    heads = [
        "set",
        "questions",
        "GRASP p50 / p95",
        "Graf von Data p50 / p95",
        "gold IRIs",
        "gold rows",
    ]
    lines = [heads]
    for name, files, path in single_graphs():
        questions = [question for question in read_questions(path) if question.sparql]
        with tempfile.TemporaryDirectory() as folder:
            workspace = Workspace(folder)
            workspace.add(name, files)
            all_seen = asyncio.run(measured(questions, workspace.graph(name)))
        cells = [name, str(len(questions))]
        for counts in ([one.grasp for one in all_seen], [one.graf_von_data for one in all_seen]):
            cells.append(f"{median(counts):,.0f} / {quantiles(counts, n=20)[-1]:,.0f}")
        for yes in ([one.iris for one in all_seen], [one.rows for one in all_seen]):
            cells.append(f"{sum(yes) / len(yes):.0%}")
        lines.append(cells)
    print_table(*lines)


if __name__ == "__main__":
    main()
