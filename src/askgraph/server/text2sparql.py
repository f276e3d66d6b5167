"""TEXT2SPARQL: `GET /?dataset=…&question=…` gives the query that answers a question.

The interface of the TEXT2SPARQL challenge (https://text2sparql.aksw.org/). A request to the same
address without a question is the page's.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Query, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.datastructures import QueryParams
from starlette.routing import Match
from starlette.types import Scope

from askgraph.server.hub import Asker, HubDep
from askgraph.server.problems import Failed, Missing, Problem
from askgraph.server.runs.views import MOST_QUESTION, AskBody
from askgraph.server.streams import unless_disconnected

_FIELDS = ("question", "dataset")


class _WithQuestion(APIRoute):
    """A route that is there only for requests with its fields, whatever else has its path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route."""
        match, child = super().matches(scope)
        given = QueryParams(scope.get("query_string", b""))
        if match is Match.NONE or not any(field in given for field in _FIELDS):
            return Match.NONE, {}
        return match, child


router = APIRouter(tags=["TEXT2SPARQL"], route_class=_WithQuestion)


class Text2Sparql(BaseModel):
    """A question with the query that answers it."""

    dataset: str
    question: str
    query: str = Field(description="Empty if no query was found.")
    run: str = Field(description="The run that it is kept as.")
    confidence: float = Field(description="How likely the query is right, 0 to 1.")


@router.get("/")
async def text2sparql(
    request: Request,
    hub: HubDep,
    caller: Asker,
    dataset: Annotated[str, Query(max_length=2000, description="A graph's IRI or name.")],
    question: Annotated[str, Query(min_length=1, max_length=MOST_QUESTION)],
) -> Text2Sparql:
    """Return the query that answers a question over a dataset.

    A dataset is a graph of this server: one that the setting `[serve.datasets]` names for its IRI,
    else the graph of its name or of the last part of its IRI. A question that is refused or asked
    back gets the best attempt, if there is one.
    """
    graphs = hub.graphs.names(caller)
    graph = graph_of(dataset, graphs, hub.settings.datasets)
    run = await hub.ask(AskBody(question=question, graphs=[graph]), caller)
    view = await unless_disconnected(request, hub.runs.outcome(run))
    if view.answer is None:
        raise Failed(view.problem or Problem.stopped())
    return Text2Sparql(
        dataset=dataset,
        question=question,
        query=view.answer.sparql or "",
        run=view.id,
        confidence=view.answer.confidence,
    )


def graph_of(dataset: str, graphs: Sequence[str], datasets: Mapping[str, str]) -> str:
    """Return the graph of a dataset, by its IRI in the settings, or by its name.

    Raises `Missing`, which says how to name one.
    """
    plain = dataset.rstrip("/#")
    named = {iri.rstrip("/#"): graph for iri, graph in datasets.items()}
    last = unquote(plain.partition("?")[0].rpartition("/")[2])
    by_letters = {graph.casefold(): graph for graph in graphs}
    for wanted in (named.get(plain), dataset, by_letters.get(last.casefold())):
        if wanted is not None and wanted in graphs:
            return wanted
    there = ", ".join(graphs) or "none"
    raise Missing(
        f"there is no dataset {dataset!r}: give the name of a graph ({there}), or name a graph for "
        "this IRI in the table [serve.datasets] of askgraph.toml"
    )
