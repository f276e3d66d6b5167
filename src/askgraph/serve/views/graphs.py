"""Graphs and what is in them, as they go over the wire."""

from pydantic import BaseModel, Field

from askgraph.serve.views.cells import Cell

__all__ = [
    "ClassView",
    "EndView",
    "ExampleView",
    "ExamplesView",
    "FactsView",
    "GraphSummary",
    "GraphsView",
    "InstancesView",
    "PredicateView",
    "ProfileView",
    "ResourceView",
    "StartersView",
]


class GraphSummary(BaseModel):
    """A graph in a list."""

    name: str = Field(description="Its name here, as addresses have it.")
    title: str = Field(description="What its publisher calls it, else its name.")
    description: str
    triples: int | None = Field(description="Null where it has not been read yet.")
    classes: int | None
    predicates: int | None
    languages: list[str] = Field(description="Tags of the languages of its texts, most first.")
    remote: bool = Field(description="Whether its triples lie behind an endpoint.")
    source: str = Field(description="The endpoint's address, or the names of its files.")
    license: str
    addable_by_web: bool = Field(description="Whether it was added over the web.")


class GraphsView(BaseModel):
    """The graphs that the caller may see."""

    graphs: list[GraphSummary]


class EndView(BaseModel):
    """A class or datatype at an end of a predicate, and how many triples have it."""

    iri: str
    label: str
    count: int


class ClassView(BaseModel):
    """A class as the graph uses it."""

    iri: str
    label: str
    instances: int
    parents: list[str]
    nary: bool = Field(description="Whether its instances have no name and link other things.")
    examples: list[Cell] = Field(description="Some instances.")


class PredicateView(BaseModel):
    """A predicate as the graph uses it."""

    iri: str
    label: str
    triples: int
    subjects: int
    objects: int
    subject_classes: list[EndView]
    object_classes: list[EndView]
    datatypes: list[EndView]
    example: str | None = Field(description="One of its values, shortened; null where unknown.")


class ProfileView(BaseModel):
    """What is known of a graph: its classes and predicates, the most used first, in pages."""

    name: str
    triples: int
    classes: list[ClassView]
    predicates: list[PredicateView]
    total_classes: int = Field(description="Classes in all, or that hold what was searched for.")
    total_predicates: int
    languages: dict[str, int] = Field(description="Texts by their language tag.")
    graphs: dict[str, int] = Field(description="Named graphs with their triples, at most 1,000.")
    cuts: list[str] = Field(description="What a bound left out of the count.")
    created: str = Field(description="When the graph was read.")


class FactsView(BaseModel):
    """A predicate of a thing with its values, or with the things that point at it."""

    predicate: Cell
    values: list[Cell]
    total: int = Field(description="Values in all, of which those of one page are here.")
    at_least: bool = Field(description="Whether there may be more than `total`.")


class ResourceView(BaseModel):
    """What a graph says of a thing, and what points at it."""

    iri: str
    label: str
    description: str | None
    types: list[Cell]
    outgoing: list[FactsView]
    incoming: list[FactsView]


class InstancesView(BaseModel):
    """Instances of a class, a page of them."""

    cls: Cell = Field(serialization_alias="class", description="The class.")
    instances: list[Cell]
    total: int
    at_least: bool = Field(description="Whether there may be more than `total`.")


class StartersView(BaseModel):
    """Questions to start with."""

    questions: list[str]


class ExampleView(BaseModel):
    """A question with the query that answers it."""

    question: str
    language: str | None
    query: str
    others: list[str] = Field(description="The same question in other words.")
    origin: str = Field(description="written, confirmed or generated.")
    when: str | None = Field(description="When it was confirmed or generated (ISO 8601).")
    keywords: list[str]


class ExamplesView(BaseModel):
    """A page of a graph's examples, confirmed ones first."""

    examples: list[ExampleView]
    total: int
