"""Examples from any source, and into files: a folder of Turtle files, one file, lines of JSON."""

from pathlib import Path

from askgraph.errors import ServiceError, SetupError
from askgraph.evaluation.benchmarks.examples import examples_in, write_lines_of
from askgraph.evaluation.files import replaced
from askgraph.metadata.examples import Collection, Unread
from askgraph.metadata.examples.folder import ExampleFolder
from askgraph.metadata.examples.shacl import collected, in_description, published, syntax_fault
from askgraph.metadata.examples.turtle import document
from askgraph.workspace import Progress, Workspace, silent
from askgraph.workspace.examples import known_examples
from askgraph.workspace.opening import guard_of, remote_endpoint
from askgraph.workspace.replacing import replacing
from askgraph.workspace.running import result_of
from askgraph.workspace.settings import GraphSettings
from askgraph.workspace.sources import is_url

__all__ = ["convert", "read_source"]

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
) -> tuple[Collection, list[Fault]]:
    """Write the examples of a source, and return them with what was wrong in it.

    A target that ends in `.ttl` or `.jsonl` is a file, any other a new folder. Queries that do not
    parse are written all the same. Raises `SetupError` where there is nothing to write or the
    folder holds something.
    """
    if target.suffix.lower() in _OTHERS:
        raise SetupError(
            f"examples are written into a new folder, a .ttl or a .jsonl file, not {target.name!r}"
        )
    found = read_source(workspace, source, format=format)
    faults = [(one.place, one.reason) for one in found.unread]
    for at, example in enumerate(found.examples):
        progress("parsing queries", at, len(found.examples))
        if fault := syntax_fault(example.query):
            faults.append((example.iri or example.question, fault))
    if not found.examples:
        why = f", for example: {faults[0][1]}" if faults else ""
        raise SetupError(f"{source} holds no examples{why}")
    _write(found, target)
    return found, faults


def read_source(workspace: Workspace, source: str, *, format: str | None = None) -> Collection:
    """Read examples from a file, a folder, an archive, the URL of an endpoint or a graph's name.

    Of a graph these are those that the workspace has, and those that its endpoint publishes: in its
    own graph or, where there are none, in its service description. Raises `SetupError` where there
    is no such source, `ServiceError` where an endpoint fails.
    """
    if is_url(source):
        return result_of(_published(GraphSettings(url=source)))
    if source in workspace.graphs() and not Path(source).exists():
        settings = workspace.graphs()[source]
        own = known_examples(workspace, source, settings)
        if not settings.url:
            return Collection(own)
        theirs = result_of(_published(settings))
        return Collection((*own, *theirs.examples), theirs.unread)
    if not Path(source).exists():
        raise SetupError(f"there is no file, folder, URL or graph {source!r} to read examples from")
    return examples_in(Path(source), format=format)


def _write(found: Collection, target: Path) -> None:
    match target.suffix:
        case ".jsonl":
            write_lines_of(found.examples, target)
        case ".ttl":
            text = document(found.examples)
            with replaced(target) as file:
                file.write(text.encode())
        case _:
            if target.exists() and (not target.is_dir() or any(target.iterdir())):
                raise SetupError(f"{target} is there already: name a new folder")
            with replacing(target) as folder:
                ExampleFolder(folder).add(found.examples)


async def _published(settings: GraphSettings) -> Collection:
    endpoint = remote_endpoint(settings)
    try:
        items = await published(endpoint, timeout=settings.timeout)
    finally:
        await endpoint.close()
    if items or settings.url is None:
        return collected(items)
    try:
        return collected(await in_description(settings.url, guard=guard_of(settings)))
    except (ServiceError, SetupError) as error:
        return Collection((), (Unread(settings.url, str(error)),))
