"""The question and what is retrieved for it as one message: examples, schema, names, descriptions.

Each kind has its share of the room; what is nearest to the question stands next to it. Of several
graphs each piece says whose it is.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.index.names import stem, tokens
from askgraph.llm import estimated_tokens
from askgraph.methods.shared import Piece, fitted
from askgraph.methods.shared.glossary_notes import taught
from askgraph.methods.shared.nearby_schema import (
    ShapeParts,
    classes_near,
    listed_schema,
    shape_pieces,
)
from askgraph.methods.shared.several_graphs import GRAPH, AskedGraphs, LinkedGraph, linked_graph
from askgraph.methods.tools.hits import format_entities
from askgraph.methods.tools.mentions import find_mentions
from askgraph.methods.tools.rendering import quote
from askgraph.methods.tools.schema_lines import HEADING, describe_naming, render_full_schema
from askgraph.sparql.lexer import with_declared
from askgraph.trace import Question

if TYPE_CHECKING:
    from askgraph.graph.descriptions import DatasetDescription
    from askgraph.methods.tools.masking import TermMasker

_MOST = 4_000  # tokens of the message, unless the room is larger
_SHARES: Mapping[str, float] = {
    "before": 0.15,
    "descriptions": 0.05,
    "names": 0.15,
    "examples": 0.3,
    "shapes": 0.35,
}
_SHARES_BESIDE: Mapping[str, float] = {
    "before": 0.08,
    "descriptions": 0.02,
    "names": 0.11,
    "examples": 0.1,
    "shapes": 0.31,
    "candidates": 0.38,
}
_HEADINGS = {
    "descriptions": (
        "What the publisher says, which are no triples (to answer from it, SELECT with VALUES):"
    ),
    "examples": "Answered before (if these break the rules, follow the rules):",
    "shapes": "Shapes:",
    "near": "By name, as far as it is near the question:",
    "names": "Perhaps named:",
    "candidates": "Candidates:",
}
_WIDER = 2  # times as many classes are looked at as are shown
_STABLE = 0.55  # of the room, for what is the same for all questions
_AROUND = 60  # tokens of headings and blank lines

_ASKED: Mapping[str, str] = {
    "license": "license licence licensed",
    "publisher": "publisher published provider provided maintained",
    "version": "version release released",
    "modified": "modified updated update",
    "endpoint": "endpoint sparql",
    "url": "homepage website",
    "kind": "dataset resource catalogue catalog",
}
"""The fields of a description, and the words of a question that ask for each."""
_FIELDS = ("name", *(field for field in _ASKED if field != "kind"))
_LENGTHS = (600, 150)  # characters of the description proper


@dataclass(frozen=True)
class Shown:
    """What a message shows: so many examples and classes, in so much room, found how.

    With an `embedder` (see `askgraph.index.embeddings`) meanings are compared besides words. With
    `listed` the schema is a list of classes and properties, instead of a shape for each class; with
    `named` classes and their properties stand by name in the room that is left. Unless they are
    `diverse`, examples are the nearest, however alike. As `published` the examples come before the
    shapes, the nearest first, and no list of the schema stands beside.
    """

    examples: int = 5
    classes: int = 6
    room: int = 3_000
    names: bool = True
    embedder: str = ""
    parts: ShapeParts = field(default_factory=ShapeParts)
    listed: bool = False
    named: bool = False
    diverse: bool = True
    published: bool = False

    @property
    def by_name(self) -> bool:
        """Whether classes and their properties are told by name, with what these lead to."""
        told = self.classes and self.parts.properties and self.parts.ranges
        return self.named or bool(told and not self.published)


async def message_for(
    question: Question,
    graphs: AskedGraphs,
    shown: Shown,
    *,
    parts: Sequence[str] = (),
    about_resource: bool = False,
    linked: Sequence[LinkedGraph] | None = None,
    candidates: Callable[[], Awaitable[Sequence[Piece]]] | None = None,
    veil: "TermMasker | None" = None,
) -> str:
    """Return the message for a question, of at most 4,000 tokens, or the room if that is more.

    `parts` are what it was split into, which is searched for as well. `about_resource` says that it
    is about a data set itself. `linked` are the graphs, where they were linked before. Candidate
    queries, which are awaited last, take a part of the room from everything else. Under a `veil`,
    which the linked graphs have too, the schema is listed, and there are no examples, earlier
    questions or descriptions of data sets, whose words nobody can mask. Raises `ServiceError` if
    a graph or an embedding server is down.
    """
    text = " ".join(dict.fromkeys([question.text, *parts]))
    if linked is None:
        linked = await asyncio.gather(*(linked_graph(text, one) for one in graphs.every))
    texts = [question.text, *parts]
    if veil is not None:
        shown = replace(shown, examples=0, listed=True)
    # By the place of a graph, its whole schema, if that has room: the same for each question.
    several = graphs.several
    wholes: dict[int, str] = {}
    if shown.by_name:
        most = int(_STABLE * shown.room / len(linked))
        found = {}
        for at, one in enumerate(linked):
            if (whole := await render_full_schema(one.context, max_tokens=most)) is not None:
                of = f" of {one.asked.name}" if several else ""
                head = HEADING.replace(":", f"{of}:", 1)
                found[at] = f"{head}{describe_naming(one.context)}.\n\n{whole.text}"
        wholes = found
    others = [
        one
        for at, one in enumerate(linked)
        if shown.by_name and not shown.listed and at not in wholes
    ]
    kinds: dict[str, Sequence[Piece]] = {
        "before": [
            Piece((f"Asked before: {earlier.question}\n{earlier.query}",))
            for earlier in question.before[::-1]
            if veil is None
        ],
        "descriptions": [
            piece
            for one in graphs.every
            for piece in description_pieces(texts, one.given, certain=about_resource)
            if veil is None
        ],
        "names": await _names(linked, several=graphs.several) if shown.names else [],
        "examples": await asyncio.to_thread(_examples, texts, graphs, shown),
        "shapes": await _schema(text, linked, shown, wholes, beside=candidates is not None),
        "near": [
            piece
            for one in others
            for piece in await listed_schema(one, values=False, several=graphs.several)
        ],
        "candidates": await candidates() if candidates is not None else [],
    }
    shares = {**_SHARES, "candidates": 0.0} if candidates is None else {**_SHARES_BESIDE}
    if candidates is not None and (wholes or not shown.classes):
        shapes = shares["shapes"] / 3 if shown.classes else 0.0
        freed = (shares["shapes"] - shapes) / 2
        shares |= {name: shares[name] + freed for name in ("candidates", "names")}
        shares["shapes"] = shapes
    shares["near"] = 0.0
    asked = question.text if veil is None else veil.mask_question()
    given = [one.given for one in graphs.every]
    has_glossary = any(graph.glossary for graph in given)
    told = taught(question, given, veiled=veil is not None) if has_glossary else ()
    services = [
        f"- {one.name}, SERVICE <{one.service}>: {one.given.profile.triples:,} triples"
        for one in (graphs.every if several else ())
    ]
    listed = ["\n".join(["Graphs:", *services])] if services else []
    ends = [*listed, *wholes.values(), *told, f"Question: {asked}"]
    room = min(
        shown.room - sum(map(estimated_tokens, (*wholes.values(), *told))),
        max(_MOST, shown.room) - _AROUND - sum(map(estimated_tokens, ends)),
    )
    first = {"candidates": kinds["candidates"], **kinds}  # what others leave is theirs first
    kept = fitted(first, shares, room=room, in_turn=("candidates",))
    text = _laid_out(kept, ends, published=shown.published)
    return text if veil is None else veil.mask_text(text)


async def _schema(
    text: str,
    linked: Sequence[LinkedGraph],
    shown: Shown,
    wholes: Mapping[int, str],
    *,
    beside: bool,
) -> list[Piece]:
    several = len(linked) > 1
    if shown.listed:
        listed = linked if shown.classes else ()
        values = shown.parts.values
        return [
            piece
            for at, one in enumerate(listed)
            for piece in await listed_schema(
                one, values=values, several=several, beside=at in wholes
            )
        ]
    classes = shown.classes
    here = all(one.context.graph.arrays is not None for one in linked)
    limit = _WIDER * classes if here else classes
    near = await classes_near(text, linked, limit=limit, embedder=shown.embedder)
    beside = beside and len(wholes) == len(linked)
    return await shape_pieces(near, shown.parts, most=shown.classes, several=several, beside=beside)


def _examples(texts: Sequence[str], graphs: AskedGraphs, shown: Shown) -> list[Piece]:
    given = [one.given for one in graphs.every]
    if not shown.examples or not any(graph.examples for graph in given):
        return []
    from askgraph.methods.shared.examples import examples_near, shown_query  # many graphs have none

    found = examples_near(
        texts,
        given,
        limit=shown.examples,
        embedder=shown.embedder,
        services=graphs.services.keys() if graphs.several else (),
        plain=not shown.diverse,
    )
    asked = {id(one.given): one for one in graphs.every}
    language = graphs.every[0].context.language
    pieces = []
    for near in found:
        prefixes = asked[id(near.graph)].context.graph.prefixes
        head = f"{GRAPH}{near.graph.name}\n" if graphs.several else ""
        query = near.example.query
        with suppress(QueryError):
            query = with_declared(query, near.graph.prefixes.namespaces)
        query = shown_query(query, prefixes)
        wordings = near.example.wordings  # that in the language of the question, if it is there
        same = (one.text for one in wordings if (one.language or "").startswith(language))
        asked_in = " ".join(next(same, near.example.question).split())
        pieces.append(Piece((f"{asked_in}\n```sparql\n{head}{query}\n```",)))
    return pieces


async def _names(linked: Sequence[LinkedGraph], *, several: bool) -> list[Piece]:
    pieces = []
    for one in linked:
        named = await find_mentions(one.context, one.linked)
        near = [predicate.iri for predicate in one.near.near]
        found = await format_entities(one.context, named, near=near)
        head = f"- {one.asked.name}: " if several else "- "
        pieces += [Piece((f"{head}{line.removeprefix('- ')}",)) for line in found.lines]
    return pieces


def _laid_out(shown: Mapping[str, Sequence[str]], ends: Sequence[str], *, published: bool) -> str:
    *stable, question = ends
    examples = _headed("examples", shown["examples"][:: 1 if published else -1])
    schema = [*_headed("shapes", shown["shapes"]), *_headed("near", shown["near"])]
    parts = [
        *stable,
        *_headed("descriptions", shown["descriptions"]),
        *(examples + schema if published else schema + examples),
        *_headed("names", ["\n".join(shown["names"])] if shown["names"] else []),
        *_headed("candidates", ["\n".join(shown["candidates"])] if shown["candidates"] else []),
        *shown["before"][::-1],
        question,
    ]
    return "\n\n".join(parts)


def _headed(kind: str, texts: Sequence[str]) -> list[str]:
    return [_HEADINGS[kind], *texts] if texts else []


def description_pieces(
    texts: Sequence[str], graph: KnowledgeGraph, *, certain: bool = False
) -> list[Piece]:
    """Return the descriptions of a graph that the texts ask about, each in several lengths.

    They ask about one if they name it or a field that it has; all are if that is `certain`.
    """

    def stems(text: str) -> set[str]:
        return {stem(token) for token in tokens(text)}

    def asks_about(one: "DatasetDescription", text: str) -> bool:
        words, name = stems(text), stems(one.name)
        asking = stems(" ".join(_ASKED[field] for field in _ASKED if getattr(one, field)))
        alone = re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", text)
        called = alone is not None if len(name) == 1 else name <= words
        return bool(asking & words) or bool(name and called)

    def told(one: "DatasetDescription", length: int) -> str:
        said = [
            f"{field} {quote(getattr(one, field), length)}"
            for field in (*_FIELDS, "description")
            if getattr(one, field)
        ]
        return f"{one.kind} {graph.name}: {'; '.join(said)}"

    text = "\n".join(texts)
    return [
        Piece(tuple(dict.fromkeys(told(one, length) for length in _LENGTHS)))
        for one in graph.descriptions
        if certain or asks_about(one, text)
    ]
