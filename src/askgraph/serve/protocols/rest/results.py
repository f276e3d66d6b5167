"""The result of a question as a file."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Response

from askgraph.serve.hub import HubDep, needs
from askgraph.serve.identity.principal import Principal
from askgraph.serve.protocols.rest.downloads import download

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", tags=["questions"])
Format = Literal["csv", "tsv", "json", "xml", "ttl", "nt", "rdf", "jsonld"]


@router.get("/runs/{id}/result", response_class=Response)
async def result(
    id: str,
    hub: HubDep,
    caller: Annotated[Principal, Depends(needs("ask"))],
    format: Format = "csv",
) -> Response:
    """Return all rows of a result, or the triples behind them, as a file.

    `csv`, `tsv`, `json` and `xml` are the formats of SPARQL 1.1 for rows; in `ttl`, `nt`, `rdf` and
    `jsonld` it is the triples behind the first 500 rows.
    """
    content, form = await download(hub, id, format, caller)
    name = f'attachment; filename="answer-{id[:8]}.{form.name}"'
    headers = {"Content-Disposition": name, "Cache-Control": "private, no-store"}
    return Response(content, media_type=form.media_type, headers=headers)
