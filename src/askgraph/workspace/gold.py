"""The gold of a benchmark checked and frozen, each question on the graph that it is about."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.benchmarks.shacl_examples import ShaclExamples
from askgraph.evaluation.gold import GoldFinding
from askgraph.evaluation.gold.audit import audit_gold
from askgraph.evaluation.gold.frozen import FrozenGold, GoldFreezer, find_drift
from askgraph.evaluation.gold.near_duplicates import find_leaks, find_repeats
from askgraph.evaluation.questions import GoldQuestion, filter_by_graph, write_questions
from askgraph.graph import KnowledgeGraph
from askgraph.workspace import Progress, Workspace
from askgraph.workspace.graph_data import is_url, remote_endpoint
from askgraph.workspace.graphs import run_over
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.selection import benchmark_name, graph_of
from askgraph.workspace.settings import GraphSettings


@dataclass(frozen=True)
class Checks:
    """What is checked beside the questions themselves, and how.

    `graph` is that of questions that do not name theirs; with `offline` nothing is run. `training`
    are questions that those checked must not repeat, `frozen` results that they are compared with.
    """

    graph: str | None = None
    offline: bool = False
    timeout: float | None = None
    concurrency: int = 1
    training: tuple[GoldQuestion, ...] = ()
    frozen: FrozenGold | None = None


def check_gold(
    workspace: Workspace,
    path: Path,
    contents: BenchmarkContents,
    checks: Checks,
    *,
    progress: Progress,
) -> tuple[GoldFinding, ...]:
    """Return all findings on a benchmark, those on single questions first.

    Raises `SetupError` for a graph that there is none of, and `Unreachable`.
    """
    found = [GoldFinding(item.location, "unreadable", item.reason) for item in contents.unreadable]
    questions = contents.questions
    if checks.offline:
        found += result_of(audit_gold(questions, None, prefixes=contents.prefixes)).findings
    else:
        questions = questions if checks.graph is None else filter_by_graph(questions, checks.graph)
        for source, asked in _by_graph(workspace, path, questions, checks.graph).items():
            graph = workspace.find(source, progress=progress)
            options = _options(graph, contents, checks.timeout, checks.concurrency, progress)
            audited = run_over(graph, audit_gold(asked, graph.endpoint, **options))
            found += audited.findings
            for question in asked:
                if checks.frozen is not None and question.id in audited.results:
                    changed = find_drift(checks.frozen, question, audited.results[question.id])
                    found += [changed] if changed else []
        order = {question.id: at for at, question in enumerate(questions)}
        found.sort(key=lambda finding: order.get(finding.id, -1))
    found += find_repeats(questions, prefixes=contents.prefixes)
    if checks.training:
        found += find_leaks(questions, checks.training, prefixes=contents.prefixes)
    return tuple(replace(finding, benchmark=benchmark_name(path)) for finding in found)


def freeze_gold(
    workspace: Workspace,
    path: Path,
    contents: BenchmarkContents,
    out: Path,
    *,
    graph: str | None = None,
    timeout: float | None = None,
    concurrency: int = 1,
    progress: Progress,
) -> tuple[int, int]:
    """Run all gold queries and write their results; return how many there are, and how many failed.

    What was run is kept in `OUT.part` until all is done, so that a later call goes on.
    """
    questions = contents.questions if graph is None else filter_by_graph(contents.questions, graph)
    asked = [question for question in questions if question.sparql and not question.unanswerable]
    failed = 0
    with GoldFreezer(out) as freezer:
        for source, some in _by_graph(workspace, path, asked, graph).items():
            opened = workspace.find(source, progress=progress)
            address = opened.endpoint.address
            # The path of the embedded store means nothing elsewhere.
            engine = address if is_url(address) else f"pyoxigraph {version('pyoxigraph')}"
            options = _options(opened, contents, timeout, concurrency, progress)
            options |= {"graph": opened.name, "engine": engine, "snapshot": opened.snapshot}
            failed += run_over(opened, freezer.add(some, opened.endpoint, **options))
        freezer.finish([question.id for question in asked])
    return len(asked), failed


def _options(
    graph: KnowledgeGraph,
    contents: BenchmarkContents,
    timeout: float | None,
    concurrency: int,
    progress: Progress,
) -> dict[str, Any]:
    """Return how the queries of a graph's questions are run."""
    return {
        "prefixes": {**contents.prefixes, **graph.prefixes.namespaces},
        "timeout": timeout,
        "concurrency": concurrency,
        "progress": lambda done, total: progress(graph.name, done, total),
    }


def _by_graph(
    workspace: Workspace, path: Path, questions: Iterable[GoldQuestion], named: str | None
) -> dict[str | Path, list[GoldQuestion]]:
    """The questions by what a workspace finds their graph by, each of these looked for once."""
    sources: dict[str | None, str | Path] = {}
    found: dict[str | Path, list[GoldQuestion]] = {}
    for question in questions:
        if question.graph not in sources:
            sources[question.graph] = graph_of(workspace, question, path, named)
        found.setdefault(sources[question.graph], []).append(question)
    return found


def convert(
    workspace: Workspace,
    source: str,
    out: Path,
    *,
    format: str | None = None,
    language: str | None = None,
) -> BenchmarkContents:
    """Write the questions of a file, or those that a graph of the workspace or a URL publishes.

    Prefixes that queries leave open are declared. Returns what was read. Raises `SetupError` if
    there is nothing to write, `ServiceError` if an endpoint fails.
    """
    if is_url(source) or (source in workspace.graphs() and not Path(source).exists()):
        contents = result_of(_published(workspace, source, language))
    else:
        contents = read_benchmark(source, format=format, language=language)[1]
    if not contents.questions:
        why = f", for example: {contents.unreadable[0].reason}" if contents.unreadable else ""
        raise SetupError(f"{source} gives no question{why}")
    write_questions(out, contents.questions, prefixes=contents.prefixes)
    return contents


async def _published(workspace: Workspace, source: str, language: str | None) -> BenchmarkContents:
    known = workspace.graphs().get(source)
    settings = known if known and known.url else GraphSettings(url=source)
    if known and not known.url:
        raise SetupError(f"the graph {source!r} was read from files; name the file of questions")
    endpoint: Endpoint = remote_endpoint(settings)
    try:
        return await ShaclExamples().read_endpoint(endpoint, language=language)
    finally:
        await endpoint.close()
