"""Examples in the service description of an endpoint."""

from askgraph.endpoint.documents import fetched
from askgraph.endpoint.public_only import Guard
from askgraph.errors import MalformedReply
from askgraph.metadata.bundles import decoded
from askgraph.metadata.examples.shacl import Item, executables_in
from askgraph.metadata.published import RDF_KINDS

__all__ = ["in_description"]


async def in_description(
    url: str, *, timeout: float = 20.0, guard: Guard | None = None
) -> list[Item]:
    """Return every executable of an endpoint's service description: the RDF that its URL gives.

    `guard` says which addresses it may come from.

    Raises `ServiceError` where there is none, `SetupError` where it cannot be read.
    """
    document = await fetched(url, accept=tuple(RDF_KINDS), timeout=timeout, guard=guard)
    if document.kind not in RDF_KINDS:
        raise MalformedReply(f"{url} gives no service description, but {document.kind!r}")
    text = decoded(document.content, document.url)
    return executables_in(text, document.url, format=RDF_KINDS[document.kind])
