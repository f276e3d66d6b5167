"""A benchmark of any format as lines of our own, the examples that an endpoint publishes too."""

from pathlib import Path

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks.formats import read_benchmark
from askgraph.evaluation.benchmarks.shacl_examples import ShaclExamples
from askgraph.evaluation.questions import write_questions
from askgraph.workspace import Workspace
from askgraph.workspace.opening import remote_endpoint
from askgraph.workspace.running import result_of
from askgraph.workspace.settings import GraphSettings
from askgraph.workspace.sources import is_url

__all__ = ["convert"]


def convert(
    workspace: Workspace,
    source: str,
    out: Path,
    *,
    format: str | None = None,
    language: str | None = None,
) -> Contents:
    """Write the questions of a file, or those that a graph of the workspace or a URL publishes.

    Prefixes that queries leave open are declared. Returns what was read. Raises `SetupError` where
    there is nothing to write, `ServiceError` where an endpoint fails.
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


async def _published(workspace: Workspace, source: str, language: str | None) -> Contents:
    known = workspace.graphs().get(source)
    settings = known if known and known.url else GraphSettings(url=source)
    if known and not known.url:
        raise SetupError(f"the graph {source!r} was read from files; name the file of questions")
    endpoint: Endpoint = remote_endpoint(settings)
    try:
        return await ShaclExamples().read_endpoint(endpoint, language=language)
    finally:
        await endpoint.close()
