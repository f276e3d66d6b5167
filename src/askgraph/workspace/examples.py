"""Manage the examples of a workspace's graphs: import, confirm, withdraw and recheck them."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from askgraph import plugins
from askgraph.atomic_files import lock_file
from askgraph.endpoint import execute_sparql
from askgraph.errors import QueryError, ServiceError, SetupError
from askgraph.evaluation.benchmarks.formats import read_example_file, write_examples
from askgraph.evaluation.files import replace_file
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import (
    Confirmation,
    ExampleCollection,
    QueryExample,
    SkippedItem,
    Wording,
    describe_change,
    digest_result,
    is_same_language,
    normalize_question,
)
from askgraph.graph.examples.folder import ExampleFolder, StoredExample, format_document
from askgraph.graph.examples.shacl import collect_examples, find_syntax_fault
from askgraph.graph.glossary import DefinitionTest, GlossaryEntry
from askgraph.graph.published_metadata import fetch_described_examples, fetch_published_examples
from askgraph.sparql.federation.service import list_services
from askgraph.sparql.judge import get_query_form
from askgraph.sparql.lexer import declare_prefixes
from askgraph.sparql.results import Term
from askgraph.trace import Answer, Question, get_attempt
from askgraph.trace.codec import read_trace
from askgraph.workspace import Progress, Workspace, graph_data, ignore_progress
from askgraph.workspace.graphs import run_and_close
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.settings import GraphSettings

MAX_ROWS = 100_000
TIMEOUT_SECONDS = 60.0

Status = Literal["same", "changed", "failed", "gone", "not compared"]


@dataclass(frozen=True)
class ExampleCheck:
    """The outcome of a recheck; `detail` explains the changed result or the failure."""

    graph: str
    stored: StoredExample
    status: Status
    detail: str = ""


def list_stored(workspace: Workspace, graph: str | None = None) -> list[tuple[str, StoredExample]]:
    """Return the examples that the workspace keeps, of one graph or of all, with their graphs."""
    return [
        (name, stored_example)
        for name in _list_graphs(workspace, graph)
        for stored_example in ExampleFolder(workspace.get_examples_folder(name)).list_examples()
    ]


def confirm_example(
    workspace: Workspace,
    example: QueryExample,
    graph: str | None = None,
    *,
    by: str | None = None,
    timeout: float = TIMEOUT_SECONDS,
    progress: Progress = ignore_progress,
) -> StoredExample:
    """Store a question with its query and current result as confirmed.

    An existing question gets the new query. Prefixes of the graph need no declaration.

    Args:
        by: the person who confirms it.

    Raises:
        SetupError: the graph is unknown.
        QueryError: the query failed.
        ServiceError: the endpoint failed.
    """
    if not normalize_question(example.question):
        raise SetupError("the question is empty: write it as people ask it")
    opened = workspace.graph(graph, fresh=True, progress=progress)
    settings = workspace.graphs()[opened.name]
    confirmed = run_and_close(opened, _confirm_on_graph(example, opened, settings, by, timeout))
    return store_examples(workspace, opened.name, [confirmed])[0]


def read_traced_example(path: Path) -> tuple[QueryExample, str]:
    """Return the question and query of a stored run, and the graph that answered.

    Raises:
        SetupError: the run has no query, or depends on an earlier question.
    """
    run, _ = read_trace(path)
    attempt = get_attempt(run.outcome)
    if attempt is None:
        raise SetupError(f"the run in {path} has no query: there is nothing to confirm")
    if run.question.before:
        raise SetupError(
            f"the question in {path} depends on an earlier one: ask it again as a complete question"
        )
    question = run.question
    return QueryExample(question.text, attempt.query, question.language), attempt.graph


def store_examples(
    workspace: Workspace, graph: str, examples: Sequence[QueryExample]
) -> tuple[StoredExample, ...]:
    """Write examples into a graph's folder; they replace examples of the same questions."""
    folder = ExampleFolder(workspace.get_examples_folder(graph))
    with lock_file(workspace.folder / ".lock"):
        stored_by_question: dict[str, list[QueryExample]] = {}
        for stored_example in folder.list_examples():
            stored_by_question.setdefault(
                normalize_question(stored_example.example.question), []
            ).append(stored_example.example)
        return folder.add(
            [_merge_with_existing(example, stored_by_question) for example in examples]
        )


def withdraw_example(
    workspace: Workspace, reference: str, graph: str | None = None
) -> tuple[str, StoredExample]:
    """Remove an example, by its id, its IRI or its question; return it with its graph.

    Raises:
        SetupError: no example matches, or several in different graphs.
    """
    all_examples = list_stored(workspace, graph)
    question = normalize_question(reference)
    matches = [
        (name, stored_example)
        for name, stored_example in all_examples
        if reference in (stored_example.id, stored_example.example.iri)
        or any(
            normalize_question(wording.text) == question
            for wording in stored_example.example.wordings
        )
    ]
    if not matches:
        raise SetupError(
            f"there is no example {reference!r}; list them with: askgraph examples list"
        )
    if len(matches) > 1:
        places = ", ".join(f"{stored_example.id} ({name})" for name, stored_example in matches)
        raise SetupError(
            f"{reference!r} matches several examples: {places}; give an id, and the graph with -g"
        )
    name, stored_example = matches[0]
    with lock_file(workspace.folder / ".lock"):
        ExampleFolder(workspace.get_examples_folder(name)).remove(stored_example)
    return name, stored_example


def check_examples(
    workspace: Workspace,
    graph: str | None = None,
    *,
    timeout: float = TIMEOUT_SECONDS,
    progress: Progress = ignore_progress,
) -> list[ExampleCheck]:
    """Run the queries of all stored examples again and report how their results changed.

    An example of a removed graph is `gone`; a hand-written example without a stored result is
    `not compared` if it runs.
    """
    checks: list[ExampleCheck] = []
    total = len(list_stored(workspace, graph))

    async def compare_all(opened: KnowledgeGraph, examples: Sequence[StoredExample]) -> None:
        for stored_example in examples:
            progress(f"running {stored_example.id}", len(checks), total)
            checks.append(await _compare_example(opened, stored_example, timeout))

    for name in _list_graphs(workspace, graph):
        graph_examples = ExampleFolder(workspace.get_examples_folder(name)).list_examples()
        if name not in workspace.graphs():
            checks += [
                ExampleCheck(name, stored_example, "gone", f"there is no graph {name!r}")
                for stored_example in graph_examples
            ]
        elif graph_examples:
            opened = workspace.graph(name, fresh=True, progress=progress)
            run_and_close(opened, compare_all(opened, graph_examples))
    for name in [graph] if graph else workspace.graphs():
        if name in workspace.graphs():
            checks += _check_definitions(workspace, name, progress)
    return checks


def _check_definitions(
    workspace: Workspace, name: str, progress: Progress
) -> Iterator[ExampleCheck]:
    """Ask the test questions of a graph's definitions and compare the rows of the answers."""
    glossary = workspace.load_glossary(name)
    tests = [(entry, test) for entry in glossary.entries for test in entry.definition.tests]
    if not tests:
        return
    search = plugins.load("method", "graph_search")()

    opened = workspace.graph(name, fresh=True, progress=progress)

    async def compare_all() -> list[ExampleCheck]:
        return [await compare(entry, test) for entry, test in tests]

    async def compare(entry: GlossaryEntry, test: DefinitionTest) -> ExampleCheck:
        example = QueryExample(test.question, "", test.lang or None)
        stored = StoredExample(f"define {entry.word}", Path(), example)
        steps = search.answer(Question(test.question, language=test.lang or None), [opened])
        outcome = [step async for step in steps][-1]
        if not isinstance(outcome, Answer):
            return ExampleCheck(name, stored, "failed", "graph search does not answer")
        rows = [_list_forms(row, outcome, opened) for row in _list_answer_rows(outcome)]
        if outcome.boolean is not None:
            rows = [frozenset([str(outcome.boolean).lower()])]
        missing = [row for row in test.rows if not any(map({*row}.issubset, rows))]
        if not missing and len(rows) == len(test.rows):
            return ExampleCheck(name, stored, "same")
        detail = f"{len(rows)} rows instead of {len(test.rows)}"
        return ExampleCheck(name, stored, "changed", f"no row {missing[0]}" if missing else detail)

    yield from run_and_close(opened, compare_all())


def _list_answer_rows(answer: Answer) -> Iterator[tuple[Term | None, ...]]:
    positions = [answer.result.variables.index(name) for name in answer.answer_columns]
    for row in answer.result.rows:
        yield tuple(row[at] for at in positions)


def _list_forms(
    row: Iterable[Term | None], answer: Answer, graph: KnowledgeGraph
) -> frozenset[str]:
    """Return how a test may write the cells of a row: names, prefixed names, IRIs, numbers."""
    values = [getattr(cell, "value", "") for cell in row]
    numbers = (text.rstrip("0").rstrip(".") for text in values if "." in text)
    names = (answer.labels.get(text, text) for text in values)
    return frozenset((*values, *numbers, *names, *map(graph.prefixes.shorten, values)))


def _list_graphs(workspace: Workspace, graph: str | None) -> Iterator[str]:
    if graph is not None:
        if graph not in workspace.graphs() and not workspace.get_examples_folder(graph).is_dir():
            workspace.graph(graph)  # raises if the graph does not exist
        yield graph
        return
    root = workspace.folder / "examples"
    if root.is_dir():
        yield from sorted(path.name for path in root.iterdir() if path.is_dir())


def _merge_with_existing(
    example: QueryExample, stored_by_question: Mapping[str, Sequence[QueryExample]]
) -> QueryExample:
    """Return the example with the IRI, language, wordings and keywords of the same question."""
    for old in stored_by_question.get(normalize_question(example.question), ()):
        if example.iri is None and is_same_language(example.language, old.language):
            return dataclasses.replace(
                example,
                iri=old.iri,
                language=example.language or old.language,
                others=tuple(dict.fromkeys((*example.others, *old.others))),
                keywords=tuple(dict.fromkeys((*example.keywords, *old.keywords))),
            )
    return example


async def _confirm_on_graph(
    example: QueryExample,
    graph: KnowledgeGraph,
    settings: GraphSettings,
    by: str | None,
    timeout: float,
) -> QueryExample:
    query = declare_prefixes(example.query.strip(), graph.prefixes.namespaces)
    result = await execute_sparql(
        graph.endpoint, get_query_form(query), query, timeout=timeout, limit=MAX_ROWS
    )
    outcome = digest_result(result)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    state = (graph.name, graph.snapshot, outcome.rows, outcome.digest)
    return dataclasses.replace(
        example,
        question=" ".join(example.question.split()),
        query=query,
        others=tuple(
            Wording(" ".join(wording.text.split()), wording.language) for wording in example.others
        ),
        targets=example.targets or ((settings.url,) if settings.url else ()),
        federates_with=example.federates_with or list_services(query),
        origin="confirmed",
        confirmation=Confirmation(now, *state, by),
    )


async def _compare_example(
    graph: KnowledgeGraph, stored_example: StoredExample, timeout: float
) -> ExampleCheck:
    before = stored_example.example.confirmation
    try:
        form, query = stored_example.example.form, stored_example.example.query
        now = digest_result(
            await execute_sparql(graph.endpoint, form, query, timeout=timeout, limit=MAX_ROWS)
        )
    except (QueryError, ServiceError) as error:
        return ExampleCheck(graph.name, stored_example, "failed", str(error))
    if before is None:
        return ExampleCheck(graph.name, stored_example, "not compared", f"{now.rows} rows")
    changed = describe_change(before, now)
    return ExampleCheck(graph.name, stored_example, "changed" if changed else "same", changed or "")


Fault = tuple[str, str]
"""A place and the fault there."""

_REFUSED_SUFFIXES = frozenset(
    [".csv", ".gz", ".json", ".nt", ".rdf", ".tar", ".trig", ".txt", ".xml", ".zip"]
)


def convert_examples(
    workspace: Workspace,
    source: str,
    target: Path,
    *,
    format: str | None = None,
    progress: Progress = ignore_progress,
) -> tuple[ExampleCollection, list[Fault]]:
    """Write the examples of a source, and return them with the faults in it.

    A target that ends in `.ttl` or `.jsonl` is a file, any other a new folder. Queries that
    cannot be parsed are written anyway.

    Raises:
        SetupError: the source has no examples, or the folder is not empty.
    """
    if target.suffix.lower() in _REFUSED_SUFFIXES:
        raise SetupError(
            "examples can be written to a new folder, a .ttl file or a .jsonl file, not to "
            f"{target.name!r}"
        )
    collection = read_examples(workspace, source, format=format)
    faults = [(unread.place, unread.reason) for unread in collection.skipped]
    for at, example in enumerate(collection.examples):
        progress("parsing queries", at, len(collection.examples))
        if fault := find_syntax_fault(example.query):
            faults.append((example.iri or example.question, fault))
    if not collection.examples:
        why = f", for example: {faults[0][1]}" if faults else ""
        raise SetupError(f"{source} contains no examples{why}")
    match target.suffix:
        case ".jsonl":
            write_examples(collection.examples, target)
        case ".ttl":
            text = format_document(collection.examples)
            with replace_file(target) as file:
                file.write(text.encode())
        case _:
            if target.exists() and (not target.is_dir() or any(target.iterdir())):
                raise SetupError(f"{target} exists already: name a new folder")
            with graph_data.replace_folder(target) as folder:
                ExampleFolder(folder).add(collection.examples)
    return collection, faults


def read_examples(
    workspace: Workspace, source: str, *, format: str | None = None
) -> ExampleCollection:
    """Read examples from a file, folder, archive, endpoint URL or graph name.

    For a graph these are the examples of the workspace and those that its endpoint
    publishes: in its own graph or, if there are none, in its service description.

    Raises:
        SetupError: the source does not exist.
        ServiceError: an endpoint failed.
    """
    if graph_data.is_url(source):
        return run_coroutine(_fetch_published(GraphSettings(url=source)))
    if source in workspace.graphs() and not Path(source).exists():
        settings = workspace.graphs()[source]
        own_examples = workspace.load_examples(source)
        if not settings.url:
            return ExampleCollection(own_examples)
        published = run_coroutine(_fetch_published(settings))
        return ExampleCollection((*own_examples, *published.examples), published.skipped)
    if not Path(source).exists():
        raise SetupError(f"there is no file, folder, URL or graph {source!r} to read examples from")
    return read_example_file(Path(source), format=format)


async def _fetch_published(settings: GraphSettings) -> ExampleCollection:
    endpoint = graph_data.create_remote_endpoint(settings)
    try:
        items = await fetch_published_examples(endpoint, timeout=settings.timeout)
    finally:
        await endpoint.close()
    if items or settings.url is None:
        return collect_examples(items)
    try:
        return collect_examples(
            await fetch_described_examples(settings.url, guard=graph_data.create_guard(settings))
        )
    except (ServiceError, SetupError) as error:
        return ExampleCollection((), (SkippedItem(settings.url, str(error)),))
