"""The question and its retrieved material as one message: examples, schema, names, descriptions.

Each kind has its share of the tokens; what is nearest to the question stands next to it. With
several graphs, each text names its graph.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph, get_service_iri
from askgraph.index.names import split_tokens, stem_word
from askgraph.llm import estimate_tokens
from askgraph.methods.settings import load_texts
from askgraph.methods.shared import TextVariants, fit_texts
from askgraph.methods.shared.glossary_notes import format_glossary
from askgraph.methods.shared.nearby_schema import (
    ShapeParts,
    build_shape_texts,
    find_nearby_classes,
    find_similar_classes,
    format_schema_list,
)
from askgraph.methods.shared.several_graphs import (
    GRAPH_LINE_PREFIX,
    LinkedGraph,
    QuestionGraphs,
    link_graph,
)
from askgraph.methods.tools.hits import format_entities
from askgraph.methods.tools.mentions import find_mentions
from askgraph.methods.tools.rendering import quote
from askgraph.methods.tools.schema_lines import HEADING, describe_naming, render_full_schema
from askgraph.sparql.lexer import declare_prefixes
from askgraph.trace import Question

if TYPE_CHECKING:
    from askgraph.graph.descriptions import DatasetDescription
    from askgraph.methods.tools.masking import TermMasker

_MAX_MESSAGE_TOKENS = 4_000  # tokens of the message, unless the context allows more
_TEXTS = load_texts("shared")
_SHARES: Mapping[str, float] = _TEXTS["shares"]
_SHARES_WITH_CANDIDATES: Mapping[str, float] = _TEXTS["shares_with_candidates"]
_HEADINGS: Mapping[str, str] = _TEXTS["headings"]
_MAX_FULL_SEARCHES = 3  # parts of a question above which each has half as many documents
_CLASS_SEARCH_FACTOR = 2  # classes to inspect per shown class
_STABLE_TOKENS_SHARE = 0.55  # share of the space for text that is the same for all questions
_MAX_SCHEMA_SHARE = 0.6  # share of the space that the shortest list of the schema may take
_HEADING_TOKENS = 60  # tokens of headings and blank lines

_WORDS_BY_FIELD: Mapping[str, str] = _TEXTS["words_by_field"]
"""The fields of a description, and the words of a question that ask for each."""
_DESCRIPTION_FIELDS = ("name", *(field for field in _WORDS_BY_FIELD if field != "kind"))
_NOTE = re.compile(r"for '(?P<words>.+)'(?: \((?P<more>.+)\))?")  # of a name in a question
_DESCRIPTION_LENGTHS = (600, 150)  # characters of the description proper


@dataclass(frozen=True)
class PromptContent:
    """Settings of what a message shows.

    Attributes:
        examples: examples at most.
        classes: classes at most.
        room: tokens at most.
        names: whether linked names are shown.
        embedder: an embedding model (see `askgraph.index.embeddings`) that compares meanings too.
        parts: the parts of a class that are shown.
        listed: the schema is a list of classes and properties, instead of one shape for each class.
        named: classes and their properties are named in the tokens that remain.
        diverse: near-duplicate examples are shown once; else the nearest, however alike.
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

    @property
    def has_names(self) -> bool:
        """Whether classes and their properties are also listed by name, as no paper has it."""
        has_full_shapes = self.classes and self.parts.properties and self.parts.ranges
        return self.named or bool(has_full_shapes and not self.parts.published)


async def build_message(
    question: Question,
    graphs: QuestionGraphs,
    content: PromptContent,
    *,
    parts: Sequence[str] = (),
    classes: Sequence[str] = (),
    is_about_dataset: bool = False,
    linked: Sequence[LinkedGraph] | None = None,
    candidates: Callable[[], Awaitable[Sequence[TextVariants]]] | None = None,
    masker: "TermMasker | None" = None,
) -> str:
    """Return the message for a question, in at most 4,000 tokens or `content.room` if that is more.

    Candidate queries are awaited last and take a part of the tokens of all other kinds. With a
    masker, which the linked graphs then have too, the schema is a list, and there are no examples,
    earlier questions or descriptions of data sets, because their words cannot be masked.

    Args:
        parts: parts of the question, which are searched for too.
        classes: as published, what classes are searched for; none: the question.
        is_about_dataset: the question is about a data set itself.
        linked: the linked graphs, if the question was linked before.

    Raises:
        ServiceError: a graph or an embedding server is down.
    """
    text = " ".join(dict.fromkeys([question.text, *parts]))
    if linked is None:
        linked = await asyncio.gather(*(link_graph(text, graph) for graph in graphs.graphs))
    texts = [question.text, *parts]
    if masker is not None:
        content = replace(content, examples=0, listed=True)
    # The whole schema by the position of a graph, if it fits; it is the same for every question.
    has_several_graphs = graphs.has_several
    full_schemas: dict[int, str] = {}
    if content.has_names:
        max_schema_tokens = int(_STABLE_TOKENS_SHARE * content.room / len(linked))
        for position, graph in enumerate(linked):
            if (
                full_schema := await render_full_schema(graph.context, max_tokens=max_schema_tokens)
            ) is not None:
                graph_suffix = f" of {graph.question_graph.name}" if has_several_graphs else ""
                heading = HEADING.replace(":", f"{graph_suffix}:", 1)
                full_schemas[position] = (
                    f"{heading}{describe_naming(graph.context)}.\n\n{full_schema.text}"
                )
    unnamed_graphs = [
        graph
        for position, graph in enumerate(linked)
        if content.has_names and not content.listed and position not in full_schemas
    ]
    kinds: dict[str, Sequence[TextVariants]] = {
        "before": [
            TextVariants((f"Asked before: {earlier.question}\n{earlier.query}",))
            for earlier in question.before[::-1]
            if masker is None
        ],
        "descriptions": [
            text_variants
            for graph in graphs.graphs
            for text_variants in build_description_texts(
                texts, graph.base, include_all=is_about_dataset
            )
            if masker is None
        ],
        "names": await _build_name_texts(linked, has_several_graphs=graphs.has_several)
        if content.names
        else [],
        "examples": await asyncio.to_thread(_build_example_texts, texts, graphs, content),
        "shapes": await _build_schema_texts(
            text,
            linked,
            content,
            full_schemas,
            is_beside=candidates is not None,
            class_texts=classes or [question.text],
        ),
        "near": [
            text_variants
            for graph in unnamed_graphs
            for text_variants in await format_schema_list(
                graph, values=False, has_several_graphs=graphs.has_several
            )
        ],
        "candidates": await candidates() if candidates is not None else [],
    }
    shares = {**_SHARES, "candidates": 0.0} if candidates is None else {**_SHARES_WITH_CANDIDATES}
    if candidates is not None and (full_schemas or not content.classes):
        shapes_share = shares["shapes"] / 3 if content.classes else 0.0
        freed_share = (shares["shapes"] - shapes_share) / 2
        shares |= {name: shares[name] + freed_share for name in ("candidates", "names")}
        shares["shapes"] = shapes_share
    elif candidates is not None and content.listed:
        shares |= {"shapes": shares["candidates"], "candidates": shares["shapes"] - 0.1}
        shares["shapes"] += 0.1
    shares["near"] = 0.0
    question_text = question.text if masker is None else masker.mask_question()
    base_graphs = [graph.base for graph in graphs.graphs]
    has_glossary = any(graph.glossary for graph in base_graphs)
    glossary_texts = (
        format_glossary(question, base_graphs, masked=masker is not None) if has_glossary else ()
    )
    services = [
        f"- {graph.name}, SERVICE <{graph.service}>: {graph.base.profile.triples:,} triples"
        for graph in graphs.graphs
        if has_several_graphs and not content.parts.published
    ]
    graph_lists = ["\n".join(["Graphs:", *services])] if services else []
    fixed_texts = [
        *graph_lists,
        *full_schemas.values(),
        *glossary_texts,
        f"Question: {question_text}",
    ]
    tokens_left = min(
        content.room - sum(map(estimate_tokens, (*full_schemas.values(), *glossary_texts))),
        max(_MAX_MESSAGE_TOKENS, content.room)
        - _HEADING_TOKENS
        - sum(map(estimate_tokens, fixed_texts)),
    )
    if content.listed and candidates is not None:  # the shortest list of the schema always fits
        shortest = sum(estimate_tokens(variants.texts[-1]) + 1 for variants in kinds["shapes"])
        share = min(_MAX_SCHEMA_SHARE, (shortest + 1) / max(1, tokens_left))
        shares["shapes"] = max(shares["shapes"], share)
    ordered_kinds = {
        "candidates": kinds["candidates"],
        **kinds,
    }  # what others leave is theirs first
    fitting_texts = fit_texts(
        ordered_kinds, shares, max_tokens=tokens_left, prefix_kinds=("candidates",)
    )
    text = _join_texts(
        fitting_texts, fixed_texts, published=content.parts.published, listed=content.listed
    )
    return text if masker is None else masker.mask_text(text)


async def _build_schema_texts(
    text: str,
    linked: Sequence[LinkedGraph],
    content: PromptContent,
    full_schemas: Mapping[int, str],
    *,
    is_beside: bool,
    class_texts: Sequence[str],
) -> list[TextVariants]:
    has_several_graphs = len(linked) > 1
    if content.listed:
        listed_graphs = linked if content.classes else ()
        values = content.parts.values
        return [
            text_variants
            for position, linked_graph in enumerate(listed_graphs)
            for text_variants in await format_schema_list(
                linked_graph,
                values=values,
                has_several_graphs=has_several_graphs,
                is_beside=position in full_schemas,
                max_tokens=content.room,
            )
        ]
    classes = content.classes
    if content.parts.published:
        limit = _limit_search(classes, class_texts)
        search = partial(find_similar_classes, limit=limit, embedder=content.embedder)
        similar_classes = await asyncio.to_thread(search, class_texts, linked)
        return await build_shape_texts(similar_classes, content.parts)
    has_all_arrays = all(linked_graph.context.graph.arrays is not None for linked_graph in linked)
    limit = _CLASS_SEARCH_FACTOR * classes if has_all_arrays else classes
    nearby_classes = await find_nearby_classes(text, linked, limit=limit, embedder=content.embedder)
    is_beside = is_beside and len(full_schemas) == len(linked)
    return await build_shape_texts(
        nearby_classes,
        content.parts,
        max_classes=content.classes,
        has_several_graphs=has_several_graphs,
        is_beside=is_beside,
    )


def _limit_search(limit: int, texts: Sequence[str]) -> int:
    """Return how many documents a text has, as in the code of SPARQL-LLM's authors."""
    return limit if len(texts) <= _MAX_FULL_SEARCHES else min(limit, max(1, limit // 2))


def _build_example_texts(
    texts: Sequence[str], graphs: QuestionGraphs, content: PromptContent
) -> list[TextVariants]:
    base_graphs = [asked_graph.base for asked_graph in graphs.graphs]
    if not content.examples or not any(graph.examples for graph in base_graphs):
        return []
    from askgraph.methods.shared.examples import (
        find_nearby_examples,
        format_query,
    )  # many graphs have none

    nearby_examples = find_nearby_examples(
        texts,
        base_graphs,
        limit=content.examples if content.diverse else _limit_search(content.examples, texts[1:]),
        embedder=content.embedder,
        services=graphs.services.keys() if graphs.has_several else (),
        nearest_only=not content.diverse,
    )
    asked_graphs_by_id = {id(asked_graph.base): asked_graph for asked_graph in graphs.graphs}
    language = graphs.graphs[0].context.language
    example_texts = []
    for nearby_example in nearby_examples:
        prefixes = asked_graphs_by_id[id(nearby_example.graph)].context.graph.prefixes
        graph_line = (
            f"{GRAPH_LINE_PREFIX}{nearby_example.graph.name}\n" if graphs.has_several else ""
        )
        if content.parts.published:
            graph_line = f"# endpoint: {get_service_iri(nearby_example.graph)}\n"
        query = nearby_example.example.query
        with suppress(QueryError):
            query = declare_prefixes(query, nearby_example.graph.prefixes.namespaces)
        query = format_query(query, prefixes)
        # The wording in the language of the question, if there is one.
        matching_wordings = (
            wording.text
            for wording in nearby_example.example.wordings
            if (wording.language or "").startswith(language)
        )
        question_text = " ".join(next(matching_wordings, nearby_example.example.question).split())
        mark = "- " if content.parts.published else ""
        example_texts.append(
            TextVariants((f"{mark}{question_text}\n```sparql\n{graph_line}{query}\n```",))
        )
    return example_texts


async def _build_name_texts(
    linked: Sequence[LinkedGraph], *, has_several_graphs: bool
) -> list[TextVariants]:
    name_texts = []
    for linked_graph in linked:
        mentions = await find_mentions(linked_graph.context, linked_graph.linked_question)
        near_iris = [predicate.iri for predicate in linked_graph.schema_slice.near]
        entity_text = await format_entities(linked_graph.context, mentions, near=near_iris)
        line_start = f"- {linked_graph.question_graph.name}: " if has_several_graphs else "- "
        for line in entity_text.lines:
            head, *parts = f"{line_start}{line.removeprefix('- ')}".split(" | ")
            note = _NOTE.fullmatch(parts[-1]) if parts else None
            if note and note["words"].casefold() in head.casefold():
                parts[-1:] = [note["more"]] if note["more"] else []
            short = [part for part in parts if not part.startswith("has ")]
            variants = (" | ".join((head, *selected)) for selected in (parts, short))
            name_texts.append(TextVariants(tuple(variants)))
    return name_texts


def _join_texts(
    texts_by_kind: Mapping[str, Sequence[str]],
    fixed_texts: Sequence[str],
    *,
    published: bool,
    listed: bool,
) -> str:
    *stable_texts, question = fixed_texts
    prefix = "published_" if published else ""
    examples = _add_heading(
        f"{prefix}examples", texts_by_kind["examples"][:: 1 if published else -1]
    )
    shapes = texts_by_kind["shapes"]
    schema = [
        *(shapes if listed else _add_heading(f"{prefix}shapes", shapes)),
        *_add_heading("near", texts_by_kind["near"]),
    ]
    parts = [
        *stable_texts,
        *_add_heading("descriptions", texts_by_kind["descriptions"]),
        *(examples + schema if published else schema + examples),
        *_add_heading("names", ["\n".join(texts_by_kind["names"])]),
        *_add_heading("candidates", ["\n".join(texts_by_kind["candidates"])]),
        *texts_by_kind["before"][::-1],
        question,
    ]
    return "\n\n".join(parts)


def _add_heading(kind: str, texts: Sequence[str]) -> list[str]:
    return [_HEADINGS[kind], *texts] if any(texts) else []


def build_description_texts(
    texts: Sequence[str], graph: KnowledgeGraph, *, include_all: bool = False
) -> list[TextVariants]:
    """Return the descriptions of a graph that the texts ask about, each in several lengths.

    A text asks about a description if it names it, or a field that it has. With `include_all`, all
    descriptions are returned.
    """

    def extract_stems(text: str) -> set[str]:
        return {stem_word(token) for token in split_tokens(text)}

    def is_about(description: "DatasetDescription", text: str) -> bool:
        words, name = extract_stems(text), extract_stems(description.name)
        field_stems = extract_stems(
            " ".join(
                _WORDS_BY_FIELD[field] for field in _WORDS_BY_FIELD if getattr(description, field)
            )
        )
        name_match = re.search(rf"(?<!\w){re.escape(description.name)}(?!\w)", text)
        is_named = name_match is not None if len(name) == 1 else name <= words
        return bool(field_stems & words) or bool(name and is_named)

    def format_description(description: "DatasetDescription", length: int) -> str:
        field_texts = [
            f"{field} {quote(getattr(description, field), length)}"
            for field in (*_DESCRIPTION_FIELDS, "description")
            if getattr(description, field)
        ]
        return f"{description.kind} {graph.name}: {'; '.join(field_texts)}"

    text = "\n".join(texts)
    return [
        TextVariants(
            tuple(
                dict.fromkeys(
                    format_description(description, length) for length in _DESCRIPTION_LENGTHS
                )
            )
        )
        for description in graph.descriptions
        if include_all or is_about(description, text)
    ]
