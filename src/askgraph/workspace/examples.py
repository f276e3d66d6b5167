"""The examples of a workspace's graphs: read from anywhere, confirmed, withdrawn, checked again."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from askgraph.atomic_files import lock_file
from askgraph.endpoint import run
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
from askgraph.graph.published_metadata import fetch_described_examples, fetch_published_examples
from askgraph.sparql.federation.service import called_services
from askgraph.sparql.judge import form_of
from askgraph.sparql.lexer import with_declared
from askgraph.trace import attempt_of
from askgraph.trace.codec import read_trace
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.graph_data import guard_of, is_url, remote_endpoint, replacing
from askgraph.workspace.graphs import run_over
from askgraph.workspace.run_sync import result_of
from askgraph.workspace.settings import GraphSettings

MOST_ROWS = 100_000
TIMEOUT = 60.0

Status = Literal["same", "changed", "failed", "gone", "not compared"]


@dataclass(frozen=True)
class Checked:
    """What became of an example: `detail` says how its result changed, or why it failed."""

    graph: str
    stored: StoredExample
    status: Status
    detail: str = ""


def stored(workspace: Workspace, graph: str | None = None) -> list[tuple[str, StoredExample]]:
    """Return the examples that the workspace keeps, of one graph or of all, with their graphs."""
    return [
        (name, one)
        for name in _folders(workspace, graph)
        for one in ExampleFolder(workspace.examples(name)).list_examples()
    ]


def confirm(
    workspace: Workspace,
    example: QueryExample,
    graph: str | None = None,
    *,
    by: str | None = None,
    timeout: float = TIMEOUT,
    progress: Progress = silent,
) -> StoredExample:
    """Keep a question with its query, and what the query gives now, as confirmed.

    A question that is there already gets this query instead. Prefixes of the graph need not be
    declared. `by` says who confirmed it. Raises `SetupError` if the graph is not known,
    `QueryError` and `ServiceError` if the query fails: what cannot be run cannot be confirmed.
    """
    if not normalize_question(example.question):
        raise SetupError("the question is empty: give the words that people ask it in")
    opened = workspace.graph(graph, fresh=True, progress=progress)
    settings = workspace.graphs()[opened.name]
    kept = run_over(opened, _confirmed(example, opened, settings, by, timeout))
    return keep(workspace, opened.name, [kept])[0]


def traced_example(path: Path) -> tuple[QueryExample, str]:
    """Return the question and query of a run that was kept, and the graph that answered.

    Raises `SetupError` if the run came to no query, or goes on from an earlier question.
    """
    run, _ = read_trace(path)
    attempt = attempt_of(run.outcome)
    if attempt is None:
        raise SetupError(f"the run in {path} came to no query: there is nothing to confirm")
    if run.question.before:
        raise SetupError(
            f"the question in {path} goes on from an earlier one: word it so that it stands alone"
        )
    question = run.question
    return QueryExample(question.text, attempt.query, question.language), attempt.graph


def keep(
    workspace: Workspace, graph: str, examples: Sequence[QueryExample]
) -> tuple[StoredExample, ...]:
    """Write examples into a graph's folder; those of the same questions take their places."""
    folder = ExampleFolder(workspace.examples(graph))
    with lock_file(workspace.folder / ".lock"):
        there: dict[str, list[QueryExample]] = {}
        for one in folder.list_examples():
            there.setdefault(normalize_question(one.example.question), []).append(one.example)
        return folder.add([_in_place(example, there) for example in examples])


def withdraw(
    workspace: Workspace, which: str, graph: str | None = None
) -> tuple[str, StoredExample]:
    """Take an example away, by its id, its IRI or its question; return it with its graph.

    Raises `SetupError` if there is none such or several, in different graphs.
    """
    known = stored(workspace, graph)
    wanted = normalize_question(which)
    found = [
        (name, one)
        for name, one in known
        if which in (one.id, one.example.iri)
        or any(normalize_question(wording.text) == wanted for wording in one.example.wordings)
    ]
    if not found:
        raise SetupError(f"no example is {which!r}; askgraph examples list names them")
    if len(found) > 1:
        places = ", ".join(f"{one.id} ({name})" for name, one in found)
        raise SetupError(f"several examples are {which!r}: {places}; give an id, and -g the graph")
    name, one = found[0]
    with lock_file(workspace.folder / ".lock"):
        ExampleFolder(workspace.examples(name)).remove(one)
    return name, one


def check(
    workspace: Workspace,
    graph: str | None = None,
    *,
    timeout: float = TIMEOUT,
    progress: Progress = silent,
) -> list[Checked]:
    """Run the queries of all kept examples again and say what became of their results.

    An example of a graph that the workspace no longer has is `gone`; one that was written by hand,
    without a result to compare with, is `not compared` if it runs.
    """
    found: list[Checked] = []
    total = len(stored(workspace, graph))

    async def compare_all(opened: KnowledgeGraph, ones: Sequence[StoredExample]) -> None:
        for one in ones:
            progress(f"running {one.id}", len(found), total)
            found.append(await _compared(opened, one, timeout))

    for name in _folders(workspace, graph):
        ones = ExampleFolder(workspace.examples(name)).list_examples()
        if name not in workspace.graphs():
            found += [Checked(name, one, "gone", f"there is no graph {name!r}") for one in ones]
        elif ones:
            opened = workspace.graph(name, fresh=True, progress=progress)
            run_over(opened, compare_all(opened, ones))
    return found


def _folders(workspace: Workspace, graph: str | None) -> Iterator[str]:
    if graph is not None:
        if graph not in workspace.graphs() and not workspace.examples(graph).is_dir():
            workspace.graph(graph)  # says which graphs there are
        yield graph
        return
    root = workspace.folder / "examples"
    if root.is_dir():
        yield from sorted(path.name for path in root.iterdir() if path.is_dir())


def _in_place(example: QueryExample, there: Mapping[str, Sequence[QueryExample]]) -> QueryExample:
    """The example with the IRI, language, wordings and keywords of one of the same question."""
    for old in there.get(normalize_question(example.question), ()):
        if example.iri is None and is_same_language(example.language, old.language):
            return dataclasses.replace(
                example,
                iri=old.iri,
                language=example.language or old.language,
                others=tuple(dict.fromkeys((*example.others, *old.others))),
                keywords=tuple(dict.fromkeys((*example.keywords, *old.keywords))),
            )
    return example


async def _confirmed(
    example: QueryExample,
    graph: KnowledgeGraph,
    settings: GraphSettings,
    by: str | None,
    timeout: float,
) -> QueryExample:
    query = with_declared(example.query.strip(), graph.prefixes.namespaces)
    result = await run(graph.endpoint, form_of(query), query, timeout=timeout, limit=MOST_ROWS)
    outcome = digest_result(result)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    seen = (graph.name, graph.snapshot, outcome.rows, outcome.digest)
    return dataclasses.replace(
        example,
        question=" ".join(example.question.split()),
        query=query,
        others=tuple(Wording(" ".join(w.text.split()), w.language) for w in example.others),
        targets=example.targets or ((settings.url,) if settings.url else ()),
        federates_with=example.federates_with or called_services(query),
        origin="confirmed",
        confirmation=Confirmation(now, *seen, by),
    )


async def _compared(graph: KnowledgeGraph, one: StoredExample, timeout: float) -> Checked:
    before = one.example.confirmation
    try:
        form, query = one.example.form, one.example.query
        now = digest_result(
            await run(graph.endpoint, form, query, timeout=timeout, limit=MOST_ROWS)
        )
    except (QueryError, ServiceError) as error:
        return Checked(graph.name, one, "failed", str(error))
    if before is None:
        return Checked(graph.name, one, "not compared", f"{now.rows} rows")
    changed = describe_change(before, now)
    return Checked(graph.name, one, "changed" if changed else "same", changed or "")


Fault = tuple[str, str]
"""Where something stands, and what is wrong with it."""

_OTHERS = frozenset(
    [".csv", ".gz", ".json", ".nt", ".rdf", ".tar", ".trig", ".txt", ".xml", ".zip"]
)


def convert(
    workspace: Workspace,
    source: str,
    target: Path,
    *,
    format: str | None = None,
    progress: Progress = silent,
) -> tuple[ExampleCollection, list[Fault]]:
    """Write the examples of a source, and return them with what was wrong in it.

    A target that ends in `.ttl` or `.jsonl` is a file, any other a new folder. Queries that do not
    parse are written all the same. Raises `SetupError` if there is nothing to write or the
    folder holds something.
    """
    if target.suffix.lower() in _OTHERS:
        raise SetupError(
            f"examples are written into a new folder, a .ttl or a .jsonl file, not {target.name!r}"
        )
    found = read_source(workspace, source, format=format)
    faults = [(one.place, one.reason) for one in found.skipped]
    for at, example in enumerate(found.examples):
        progress("parsing queries", at, len(found.examples))
        if fault := find_syntax_fault(example.query):
            faults.append((example.iri or example.question, fault))
    if not found.examples:
        why = f", for example: {faults[0][1]}" if faults else ""
        raise SetupError(f"{source} holds no examples{why}")
    match target.suffix:
        case ".jsonl":
            write_examples(found.examples, target)
        case ".ttl":
            text = format_document(found.examples)
            with replace_file(target) as file:
                file.write(text.encode())
        case _:
            if target.exists() and (not target.is_dir() or any(target.iterdir())):
                raise SetupError(f"{target} is there already: name a new folder")
            with replacing(target) as folder:
                ExampleFolder(folder).add(found.examples)
    return found, faults


def read_source(
    workspace: Workspace, source: str, *, format: str | None = None
) -> ExampleCollection:
    """Read examples from a file, a folder, an archive, the URL of an endpoint or a graph's name.

    Of a graph these are those that the workspace has, and those that its endpoint publishes: in its
    own graph or, if there are none, in its service description. Raises `SetupError` if there
    is no such source, `ServiceError` if an endpoint fails.
    """
    if is_url(source):
        return result_of(_published(GraphSettings(url=source)))
    if source in workspace.graphs() and not Path(source).exists():
        settings = workspace.graphs()[source]
        own = workspace.known_examples(source)
        if not settings.url:
            return ExampleCollection(own)
        theirs = result_of(_published(settings))
        return ExampleCollection((*own, *theirs.examples), theirs.skipped)
    if not Path(source).exists():
        raise SetupError(f"there is no file, folder, URL or graph {source!r} to read examples from")
    return read_example_file(Path(source), format=format)


async def _published(settings: GraphSettings) -> ExampleCollection:
    endpoint = remote_endpoint(settings)
    try:
        items = await fetch_published_examples(endpoint, timeout=settings.timeout)
    finally:
        await endpoint.close()
    if items or settings.url is None:
        return collect_examples(items)
    try:
        return collect_examples(
            await fetch_described_examples(settings.url, guard=guard_of(settings))
        )
    except (ServiceError, SetupError) as error:
        return ExampleCollection((), (SkippedItem(settings.url, str(error)),))
