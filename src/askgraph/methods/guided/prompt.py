"""The prompt of the guided method's model, and the tolerant parser of its replies.

The prompt is one message with all that the graphs know about a question. Its constant part comes
first, for the prompt cache of a server. A candidate is a number, the query on one line, and its
result. A reply is a JSON object: a candidate, an edited candidate, a query, or a question back. A
reply that is no object but contains a query counts as that query.
"""

import re
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from askgraph.answers.verbalize import list_query_iris
from askgraph.llm import Choice, Message, System, User, estimate_tokens
from askgraph.llm.structured import InvalidReply, parse_structured
from askgraph.methods.guided.candidates import (
    MAX_EXPLAINED_CANDIDATES,
    CandidateSet,
    NumberedCandidate,
)
from askgraph.methods.settings import load_texts
from askgraph.methods.shared import TextVariants
from askgraph.methods.shared.retrieval import PromptContent, build_message
from askgraph.methods.shared.several_graphs import ParsedQuery, QuestionGraphs, parse_query
from askgraph.methods.tools import Context
from askgraph.methods.tools.candidates import CandidateResult, list_shown_iris, preview_result
from askgraph.methods.tools.rendering import TermWriter, list_body_lines
from askgraph.search.decide import find_omitted_words
from askgraph.search.optional_names import drop_optional_columns
from askgraph.sparql import QueryText
from askgraph.sparql.serializer import render_query
from askgraph.trace import Question

_TEXTS = load_texts("guided")
INSTRUCTION: str = _TEXTS["instruction"].replace("{columns_rule}", _TEXTS["columns_rule"])

BRIEF_INSTRUCTION: str = _TEXTS["brief_instruction"]

MASKED_RULE: str = _TEXTS["masked_rule"]

SEVERAL_GRAPHS_RULE: str = _TEXTS["several_graphs_rule"]

_MAX_BRIEF_TOKENS = 438  # tokens of a brief prompt, besides headings
_ROW_COUNTS = (10, 3, 1)  # rows that are shown of a candidate that has no more
_MAX_ROWS_OF_MORE = 4  # rows that are shown of one that has more
_MAX_UNUSED_WORDS = 5  # words named that a candidate leaves out


async def build_guided_messages(
    question: Question,
    graphs: QuestionGraphs,
    candidates: CandidateSet,
    results: Awaitable[CandidateSet],
    content: PromptContent,
    *,
    with_results: bool = True,
    is_brief: bool = False,
    first: int = 1,
) -> list[Message]:
    """Return the messages of the first call; they wait for the results of the candidates.

    A brief prompt has at most 500 tokens: only candidates, among which the model chooses.

    Args:
        content: what to show of the graphs.
        with_results: candidates have preview rows.
        first: the candidate that has the number 1; those before it come last.

    Raises:
        ServiceError: a graph or an embedding server is down.
    """
    has_several_graphs, masker = graphs.has_several, candidates.masker
    rules = f"{MASKED_RULE if masker else ''}{SEVERAL_GRAPHS_RULE if has_several_graphs else ''}"
    system = (BRIEF_INSTRUCTION if is_brief else INSTRUCTION).replace("{several}", rules)
    if is_brief:
        tokens_left = max(
            0, _MAX_BRIEF_TOKENS - estimate_tokens(system) - estimate_tokens(question.text)
        )
        content = replace(
            content,
            examples=0,
            classes=0,
            names=masker is not None,
            room=min(content.room, tokens_left),
        )
    message = await build_message(
        question,
        graphs,
        content,
        linked=[graph_candidates.linked for graph_candidates in candidates.graph_candidates],
        candidates=partial(
            _build_candidate_texts,
            results,
            with_results=with_results and (masker is None or masker.shows_rows),
            has_several_graphs=has_several_graphs,
            first=first,
        ),
        masker=masker,
    )
    return [System(system), User(message)]


async def _build_candidate_texts(
    results: Awaitable[CandidateSet], *, with_results: bool, has_several_graphs: bool, first: int
) -> list[TextVariants]:
    candidates = await results
    ordered = [*candidates.numbered[first - 1 :], *candidates.numbered[: first - 1]]
    texts = await format_candidates(
        [replace(item, number=at) for at, item in enumerate(ordered, 1)],
        with_results=with_results,
        has_several_graphs=has_several_graphs,
    )
    return (
        texts
        or [TextVariants((text,)) for text in _list_unrun_queries(candidates)]
        or [TextVariants(("none",))]
    )


def _list_unrun_queries(candidates: CandidateSet) -> Iterator[str]:
    """Yield the best queries, without a number, if no query ended in time."""
    for graph_candidates in candidates.graph_candidates:
        context = graph_candidates.linked.context
        graph = f"[{context.graph.name}] " if len(candidates.graph_candidates) > 1 else ""
        for cluster in graph_candidates.ranked[
            : min(MAX_EXPLAINED_CANDIDATES, candidates.max_candidates)
        ]:
            query = str(
                render_query(
                    cluster.best.query, context.graph.prefixes, context.graph.profile.types
                )
            )
            text = query if context.masker is None else context.masker.mask_query(query)
            yield f"- {graph}not run, as it takes long: {_join_lines(text)}"


async def format_candidates(
    candidates: Sequence[NumberedCandidate],
    *,
    with_results: bool = True,
    has_several_graphs: bool = False,
) -> list[TextVariants]:
    """Return candidates with previews of decreasing numbers of rows.

    With several graphs, each candidate names its graph.

    Raises:
        ServiceError: labels are needed and a graph is down.
    """
    candidates = [
        replace(item, run_candidate=_drop_names(item.run_candidate, item.context))
        for item in candidates
    ]
    variants = []
    writers: dict[str, TermWriter] = {}
    names_by_graph: dict[str, set[str]] = {}  # names of constants, each once
    for candidate in candidates:
        if candidate.graph not in writers:
            graph_candidates = [
                graph_candidate
                for graph_candidate in candidates
                if graph_candidate.graph == candidate.graph
            ]
            rows = _ROW_COUNTS[0] if with_results else 0
            iris = [
                iri
                for graph_candidate in graph_candidates
                for iri in list_shown_iris(graph_candidate.run_candidate, rows)
            ]
            writers[candidate.graph] = await TermWriter.from_iris(candidate.context, iris)
        writer = writers[candidate.graph]
        shown_names = names_by_graph.setdefault(candidate.graph, set())
        query_line = _format_candidate(
            candidate, writer, shown_names, has_several_graphs=has_several_graphs
        )
        if not with_results:
            variants.append(TextVariants((query_line,)))
            continue
        row_count = len(candidate.run_candidate.result.rows)
        lengths = (
            rows if row_count <= rows else min(rows, _MAX_ROWS_OF_MORE) for rows in _ROW_COUNTS
        )
        previews = (preview_result(candidate.run_candidate, writer, rows) for rows in lengths)
        texts = dict.fromkeys(f"{query_line}\n   → {text}" for text in previews)
        variants.append(TextVariants(tuple(texts)))
    return variants


def _drop_names(candidate: CandidateResult, context: Context) -> CandidateResult:
    """Return a candidate without the names beside its things, which are added to any answer."""
    tree = candidate.query.tree if isinstance(candidate.query, QueryText) else None
    short = tree and drop_optional_columns(tree, candidate.columns)
    if short is None or short is tree:
        return candidate
    variables = tuple(variable.value for variable, _ in short.columns)
    places = [candidate.result.variables.index(name) for name in variables]
    rows = dict.fromkeys(tuple(row[at] for at in places) for row in candidate.result.rows)
    return replace(
        candidate,
        query=render_query(short, context.graph.prefixes, context.graph.profile.types),
        result=replace(candidate.result, variables=variables, rows=tuple(rows)),
    )


def _join_lines(query: str) -> str:
    return " ".join(map(str.strip, list_body_lines(query)))


def _format_candidate(
    candidate: NumberedCandidate,
    writer: TermWriter,
    shown_names: set[str],
    *,
    has_several_graphs: bool,
) -> str:
    """Return the query of a candidate with its new names and its unused words."""
    graph = f"[{candidate.graph}] " if has_several_graphs else ""
    masker = candidate.context.masker
    query = (
        candidate.run_candidate.query
        if masker is None
        else masker.mask_query(candidate.run_candidate.query)
    )
    line = f"{candidate.number}. {graph}{_join_lines(query)}"
    names = [writer.write_iri(iri) for iri in list_query_iris(candidate.run_candidate.query)]
    new_names = [name for name in names if name.endswith('"') and name not in shown_names]
    shown_names.update(new_names)
    line += f" # {', '.join(new_names)}" if new_names else ""
    proposal, best = candidate.graph_candidates.proposal, candidate.run_candidate.cluster.best
    tied = candidate.run_candidate.is_tied
    line += "" if tied is None else " # ties are cut off" if tied else " # no ties"
    unused_words = find_omitted_words(proposal, best, is_query_shown=True)
    ellipsis = " …" if len(unused_words) > _MAX_UNUSED_WORDS else ""
    words = ", ".join(unused_words[:_MAX_UNUSED_WORDS])
    return (
        f"{line} # not used: {masker.mask_words(words) if masker else words}{ellipsis}"
        if unused_words
        else line
    )


REPLY_SCHEMA: Mapping[str, object] = _TEXTS["reply_schema"]

CHOICE_SCHEMA: Mapping[str, object] = _TEXTS["choice_schema"]
"""JSON Schema of a reply to a brief prompt."""

_TOLERANT_REPLY_SCHEMA: Mapping[str, object] = _TEXTS["tolerant_reply_schema"]
_VARIABLE = re.compile(r"[?$]?(\w+)\Z")
_NO_CANDIDATE_THOUGHT = "No candidate answers the question."
_SAME_REPLY = "same"  # the reply of a model that keeps its decision


@dataclass(frozen=True)
class GuidedReply:
    """A parsed reply of the model.

    A reply with only a thought means that there is no answer.
    """

    chosen: int = 0  # the number of a candidate, 0 for none
    written: ParsedQuery | None = None  # a query; None if the candidate stands unchanged
    columns: tuple[str, ...] = ()  # the answer variables
    sure: float | None = None  # the model's confidence, 0 to 1; None if it gave none
    ask: str = ""  # a question back
    between: tuple[int, ...] = ()  # the numbers of the candidates that `ask` lies between
    thought: str = ""
    problem: str = ""  # the fault of the reply, for the model
    same: bool = False  # the model keeps its last reply


def parse_reply(choice: Choice, candidate_count: int) -> GuidedReply:
    """Parse a reply to a prompt that showed `candidate_count` candidates."""

    def is_same(text: str) -> bool:
        return text.strip(" \n.\"'`").lower() == _SAME_REPLY

    if is_same(choice.text):
        return GuidedReply(same=True)
    structured = parse_structured(choice, _TOLERANT_REPLY_SCHEMA)
    if isinstance(structured, InvalidReply):
        # The reply may be a bare query, with the answer columns in its first line.
        parsed_query = parse_query(choice.text)
        if parsed_query is None:
            return GuidedReply(problem=structured.feedback)
        return GuidedReply(written=parsed_query, columns=parsed_query.columns)
    value = structured.value
    text, ask, thought = (
        str(value.get(name) or "").strip() for name in ("query", "ask", "thought")
    )
    if is_same(text):
        return GuidedReply(same=True)
    confidence, between, answer = value.get("sure"), value.get("between"), value.get("answer")
    if isinstance(confidence, int | float):  # in parts of 1, or in percent
        confidence = max(0.0, min(confidence, 100) / 100 if confidence > 1 else confidence)
    numbers = dict.fromkeys(map(_to_integer, between if isinstance(between, list) else ()))
    names = [answer] if isinstance(answer, str) else answer if isinstance(answer, list) else []
    columns = (_VARIABLE.match(str(name).strip()) for name in names)
    if value.keys() == {"choose"} and not value["choose"]:
        thought = _NO_CANDIDATE_THOUGHT
    reply = GuidedReply(
        chosen=_to_integer(value.get("choose")),
        written=parse_query(text) if text else None,
        columns=tuple(dict.fromkeys(match[1] for match in columns if match)),
        sure=confidence if isinstance(confidence, int | float) else None,
        ask=ask,
        between=tuple(number for number in numbers if 1 <= number <= candidate_count),
        thought=thought,
    )
    if reply.chosen and not 1 <= reply.chosen <= candidate_count:
        return GuidedReply(
            problem=f"There is no candidate {reply.chosen}: there are {candidate_count}."
        )
    if reply.chosen or reply.written or ask or (thought and not text):
        return reply
    return GuidedReply(
        problem="Your reply neither chooses a candidate nor has a SELECT or ASK query."
    )


def _to_integer(value: object) -> int:
    """Convert a value to an integer; 0 for anything but a whole number."""
    return int(value) if isinstance(value, int | float) and value == value // 1 else 0
