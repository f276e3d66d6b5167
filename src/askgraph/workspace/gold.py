"""Check and freeze the gold of a benchmark, each question on its own graph."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.benchmarks.text_records import ShaclExamples
from askgraph.evaluation.gold import GoldFinding
from askgraph.evaluation.gold.audit import audit_gold
from askgraph.evaluation.gold.frozen import FrozenGold, GoldFreezer, find_drift
from askgraph.evaluation.gold.near_duplicates import find_leaks, find_repeats
from askgraph.evaluation.questions import GoldQuestion, filter_by_graph, write_questions
from askgraph.graph import KnowledgeGraph
from askgraph.workspace import Progress, Workspace
from askgraph.workspace.graph_data import create_remote_endpoint, is_url
from askgraph.workspace.graphs import run_and_close
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import get_benchmark_name, resolve_graph
from askgraph.workspace.settings import GraphSettings


@dataclass(frozen=True)
class GoldCheckOptions:
    """Options for checking gold."""

    graph: str | None = None  # the graph of questions that name none
    offline: bool = False  # run no queries
    timeout: float | None = None
    concurrency: int = 1
    training: tuple[GoldQuestion, ...] = ()  # questions that the benchmark must not repeat
    frozen: FrozenGold | None = None  # results to compare with


def check_gold(
    workspace: Workspace,
    path: Path,
    contents: BenchmarkContents,
    checks: GoldCheckOptions,
    *,
    progress: Progress,
) -> tuple[GoldFinding, ...]:
    """Return all findings on a benchmark, those on single questions first.

    Raises:
        SetupError: a graph does not exist.
        Unreachable: an endpoint cannot be reached.
    """
    findings = [
        GoldFinding(item.location, "unreadable", item.reason) for item in contents.unreadable
    ]
    questions = contents.questions
    if checks.offline:
        findings += run_coroutine(audit_gold(questions, None, prefixes=contents.prefixes)).findings
    else:
        questions = questions if checks.graph is None else filter_by_graph(questions, checks.graph)
        for source, graph_questions in _group_by_graph(
            workspace, path, questions, checks.graph
        ).items():
            graph = workspace.find(source, progress=progress)
            options = _build_options(graph, contents, checks.timeout, checks.concurrency, progress)
            audited = run_and_close(graph, audit_gold(graph_questions, graph.endpoint, **options))
            findings += audited.findings
            for question in graph_questions:
                if checks.frozen is not None and question.id in audited.results:
                    changed = find_drift(checks.frozen, question, audited.results[question.id])
                    findings += [changed] if changed else []
        order = {question.id: position for position, question in enumerate(questions)}
        findings.sort(key=lambda finding: order.get(finding.id, -1))
    findings += find_repeats(questions, prefixes=contents.prefixes)
    if checks.training:
        findings += find_leaks(questions, checks.training, prefixes=contents.prefixes)
    return tuple(replace(finding, benchmark=get_benchmark_name(path)) for finding in findings)


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
    """Run all gold queries and write their results; return the numbers of queries and failures.

    Partial results stay in `OUT.part`, so that a later call can resume.
    """
    questions = contents.questions if graph is None else filter_by_graph(contents.questions, graph)
    answerable = [
        question for question in questions if question.sparql and not question.unanswerable
    ]
    failed = 0
    with GoldFreezer(out) as freezer:
        for source, graph_questions in _group_by_graph(workspace, path, answerable, graph).items():
            opened = workspace.find(source, progress=progress)
            address = opened.endpoint.address
            # The path of the embedded store is meaningless on other machines.
            engine = address if is_url(address) else f"pyoxigraph {version('pyoxigraph')}"
            options = _build_options(opened, contents, timeout, concurrency, progress)
            options |= {"graph": opened.name, "engine": engine, "snapshot": opened.snapshot}
            failed += run_and_close(
                opened, freezer.add(graph_questions, opened.endpoint, **options)
            )
        freezer.finish([question.id for question in answerable])
    return len(answerable), failed


def _build_options(
    graph: KnowledgeGraph,
    contents: BenchmarkContents,
    timeout: float | None,
    concurrency: int,
    progress: Progress,
) -> dict[str, Any]:
    return {
        "prefixes": {**contents.prefixes, **graph.prefixes.namespaces},
        "timeout": timeout,
        "concurrency": concurrency,
        "progress": lambda done, total: progress(graph.name, done, total),
    }


def _group_by_graph(
    workspace: Workspace, path: Path, questions: Iterable[GoldQuestion], default_graph: str | None
) -> dict[str | Path, list[GoldQuestion]]:
    sources: dict[str | None, str | Path] = {}
    questions_by_graph: dict[str | Path, list[GoldQuestion]] = {}
    for question in questions:
        if question.graph not in sources:
            sources[question.graph] = resolve_graph(workspace, question, path, default_graph)
        questions_by_graph.setdefault(sources[question.graph], []).append(question)
    return questions_by_graph


def convert_questions(
    workspace: Workspace,
    source: str,
    out: Path,
    *,
    format: str | None = None,
    language: str | None = None,
) -> BenchmarkContents:
    """Write the questions of a file, or those that a graph of the workspace or a URL publishes.

    Undeclared prefixes of queries are declared. Return the source contents.

    Raises:
        SetupError: the source has no questions.
        ServiceError: an endpoint failed.
    """
    if is_url(source) or (source in workspace.graphs() and not Path(source).exists()):
        stored = workspace.graphs().get(source)
        if stored and not stored.url:
            raise SetupError(
                f"the graph {source!r} was read from files; name the file with the questions"
            )
        endpoint = create_remote_endpoint(stored or GraphSettings(url=source))
        contents = run_and_close(
            endpoint, ShaclExamples().read_endpoint(endpoint, language=language)
        )
    else:
        contents = read_benchmark(source, format=format, language=language)[1]
    if not contents.questions:
        why = f", for example: {contents.unreadable[0].reason}" if contents.unreadable else ""
        raise SetupError(f"{source} contains no question{why}")
    write_questions(out, contents.questions, prefixes=contents.prefixes)
    return contents
