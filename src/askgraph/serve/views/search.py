"""Things found by their names, as they go over the wire."""

from typing import Literal

from pydantic import BaseModel, Field

__all__ = [
    "CompletionView",
    "CompletionsView",
    "HitView",
    "HitsView",
    "TermKind",
    "TermView",
    "VocabularyView",
]

TermKind = Literal["entity", "class", "property"]


class HitView(BaseModel):
    """A thing found."""

    iri: str
    label: str
    name: str = Field(description="The name that matched, where it is another one.")
    description: str
    kind: TermKind
    score: float = Field(description="How well it matches, by the index's own measure.")


class HitsView(BaseModel):
    """What a search found, best first."""

    hits: list[HitView]


class CompletionView(BaseModel):
    """A name that completes the end of what is typed."""

    text: str = Field(description="The name to put in.")
    label: str
    iri: str
    kind: TermKind
    start: int = Field(description="Where the words begin that it completes, in characters.")


class CompletionsView(BaseModel):
    """Names that complete the end of what is typed, best first."""

    completions: list[CompletionView]


class TermView(BaseModel):
    """A class or predicate, and how often it is used."""

    iri: str
    label: str
    count: int


class VocabularyView(BaseModel):
    """What an editor completes queries from: prefixes, classes, predicates."""

    prefixes: dict[str, str]
    classes: list[TermView] = Field(description="The most used ones.")
    predicates: list[TermView] = Field(description="The most used ones.")
