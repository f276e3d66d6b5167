"""How much longer than their model many questions take at once: the cost of tools and prompts.

    python benchmarks/agents.py [--questions 100] [--calls 3] [--delay 1.0]

Each question of the sample graph is answered by GRASP with a scripted model that takes `delay`
seconds a call: it runs a query in each call and answers in the last. The ideal is the time that one
question's calls take; the rest is what the machine computes. Once as in the paper, from the
question alone, and once with the overview and graph search's candidates in the first message.
"""

import argparse
import asyncio
import json
import tempfile
import time

from _measure import print_table
from askgraph import sample
from askgraph.evaluation.benchmarks.formats import read_questions
from askgraph.evaluation.questions import GoldQuestion
from askgraph.evaluation.runs.one_question import trace_of
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Assistant, Request, ToolCall
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.grasp import Grasp
from askgraph.trace import Answer, Question
from askgraph.workspace import Workspace


def model_for(question: GoldQuestion, *, calls: int, delay: float) -> ScriptedModel:
    """A model that runs the gold query in each call, and answers with it in the last."""

    def reply(request: Request) -> ToolCall:
        turn = sum(isinstance(message, Assistant) for message in request.messages)
        query = f"{question.sparql}\n# {turn}"
        if turn + 1 < calls:
            return ToolCall(str(turn), "execute", json.dumps({"query": query}))
        arguments = {"query": question.sparql, "columns": ["*"]}
        return ToolCall(str(turn), "answer", json.dumps(arguments))

    return ScriptedModel(reply, delay=delay)


async def seconds(
    graph: KnowledgeGraph, questions: list[GoldQuestion], *, calls: int, delay: float, propose: bool
) -> float:
    """Answer all questions at once; return the seconds until the last is answered."""

    async def answered(question: GoldQuestion) -> bool:
        model = model_for(question, calls=calls, delay=delay)
        method = Grasp(model, propose=propose, guarded=False, feedback="never")
        asked = Question(question.text, question.language)
        trace = await trace_of(asked, method=method, name="grasp", graphs=[graph])
        return isinstance(trace.outcome, Answer)

    started = time.perf_counter()
    done = await asyncio.gather(*map(answered, questions))
    if not all(done):
        raise SystemExit(f"{done.count(False)} questions were not answered")
    return time.perf_counter() - started


async def measured(graph: KnowledgeGraph, arguments: argparse.Namespace) -> list[list[str]]:
    """Measure both ways; return the lines of the table."""
    path = sample.questions_path().with_suffix(".jsonl")
    gold = [question for question in read_questions(path) if question.sparql]
    questions = (gold * (1 + arguments.questions // len(gold)))[: arguments.questions]
    calls, delay = arguments.calls, arguments.delay
    lines = []
    try:
        for propose in (False, True):
            await seconds(graph, questions[:5], calls=1, delay=0.0, propose=propose)  # warm
            took = await seconds(graph, questions, calls=calls, delay=delay, propose=propose)
            over = took / (calls * delay) - 1
            first = "overview, candidates" if propose else "question alone"
            lines.append([first, f"{len(questions)}", f"{took:.2f} s", f"{over:+.1%}"])
    finally:
        await graph.endpoint.close()
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--delay", type=float, default=1.0, help="seconds a call")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = Workspace(folder).open(sample.graph_path())
        lines = asyncio.run(measured(graph, arguments))
    print_table(["first message", "questions", "took", "over ideal"], *lines)


if __name__ == "__main__":
    main()
