"""Graphs that are being added, as they go over the wire."""

from typing import Literal

from pydantic import BaseModel, Field

from askgraph.serve.problems import Problem
from askgraph.serve.store import JobState
from askgraph.serve.views.body import Body

__all__ = ["AddBody", "AddedView", "JobView", "JobsView"]


class AddBody(Body):
    """A graph to add by its address."""

    name: str = Field(max_length=64, description="What to call the graph: letters, digits, _-.")
    url: str = Field(max_length=2000, description="The address of its SPARQL endpoint.")
    dialect: str | None = Field(
        None,
        max_length=20,
        description="qlever, virtuoso, graphdb, blazegraph, fuseki or oxigraph; else detected.",
    )
    graphs: list[str] = Field(
        default_factory=list, max_length=100, description="IRIs of the named graphs to read."
    )
    timeout: float | None = Field(None, gt=0, le=600, description="Seconds for each query.")


class AddedView(BaseModel):
    """What was added."""

    triples: int
    classes: int
    predicates: int
    cuts: list[str] = Field(description="What was left out of its profile, and why.")


class JobView(BaseModel):
    """A graph that is being added, or was."""

    id: str
    kind: Literal["upload", "address"]
    graph: str
    state: JobState
    doing: str = Field("", description="What is being done.")
    done: int = Field(0, description="How far that is.")
    total: int | None = Field(None, description="Of how much, where that is known.")
    added: AddedView | None = None
    problem: Problem | None = None
    created: str = Field(description="A time in UTC (ISO 8601).")


class JobsView(BaseModel):
    """The caller's jobs, the latest first."""

    jobs: list[JobView]
