"""Texts that a language model drafts: comments on terms, wordings of questions, examples.

The comments follow Henselmann et al. (2025), section 4.4; the prompts are ours.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from askgraph.graph.definitions import TermComment
from askgraph.graph.examples import Wording
from askgraph.graph.names import get_label
from askgraph.graph.profile import ClassProfile, PredicateProfile, Profile
from askgraph.llm import LanguageModel, Message, Options, System, User
from askgraph.llm.budget import BudgetAccount
from askgraph.llm.structured import StructuredReply, parse_structured
from askgraph.methods.settings import load_texts
from askgraph.methods.shared import Conversation
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.vocabulary import SCHEMA_NAMESPACES

_TEXTS = load_texts("shared")
_COMMENT_INSTRUCTION: str = _TEXTS["comment_instruction"]
_WORDING_INSTRUCTION: str = _TEXTS["wording_instruction"]
_EXAMPLE_INSTRUCTION: str = _TEXTS["example_instruction"]

_MAX_CALLS = 2  # calls for one list
_TERMS_PER_CALL_COUNT = 20  # terms
_MAX_COMMENT_CHARACTERS, _MAX_QUESTION_CHARACTERS = 400, 300  # characters at most
_MAX_SCHEMA_LINES = 300  # classes and properties that a model sees to write examples
_MAX_CLASSES = 3  # classes named of a term


async def draft_comments(
    terms: Sequence[str], profile: Profile, model: LanguageModel, account: BudgetAccount
) -> tuple[TermComment, ...]:
    """Draft an English comment for each term; terms without a usable comment are left out.

    There is one call for twenty terms, charged to `account`, and another if the reply is no JSON.

    Raises:
        BudgetSpent: the budget is used up.
        ServiceError: the model fails.
    """
    usage_lines = dict(_describe_usage(profile))
    known_iris = [iri for iri in terms if iri in usage_lines]
    comments: list[TermComment] = []
    for start in range(0, len(known_iris), _TERMS_PER_CALL_COUNT):
        batch = dict(enumerate(known_iris[start : start + _TERMS_PER_CALL_COUNT], start=1))
        batch_text = "\n".join(f"{number}. {usage_lines[iri]}" for number, iri in batch.items())
        item_types = {"number": "integer", "text": "string"}
        items = await _request_items(
            model, account, [System(_COMMENT_INSTRUCTION), User(batch_text)], "comments", item_types
        )
        texts = {
            int(item["number"]): text
            for item in items
            if 0 < len(text := " ".join(str(item["text"]).split())) <= _MAX_COMMENT_CHARACTERS
        }
        comments += [
            TermComment(iri, texts[number], why=f"drafted by {model.identity.model}")
            for number, iri in batch.items()
            if number in texts
        ]
    return tuple(comments)


async def reword_questions(
    questions: Sequence[tuple[str, str]],
    languages: Sequence[str],
    model: LanguageModel,
    account: BudgetAccount,
) -> list[tuple[Wording, ...]]:
    """Return wordings of each question, in the order of `languages`.

    There is one model call, charged to `account`, and another if the reply is no JSON. A question
    that the model skips, or does not answer with a question, gets no wording.

    Args:
        questions: pairs of a question and its query.

    Raises:
        BudgetSpent: the budget is used up.
        ServiceError: the model fails.
    """
    items = "\n\n".join(
        f"{number}. {question}\n{query}"
        for number, (question, query) in enumerate(questions, start=1)
    )
    message_text = f"Languages: {', '.join(languages)}\n\n{items}"
    item_types = {"number": "integer", "language": "string", "question": "string"}
    texts: dict[tuple[int, str], str] = {}
    for item in await _request_items(
        model, account, [System(_WORDING_INSTRUCTION), User(message_text)], "wordings", item_types
    ):
        text = " ".join(str(item["question"]).split())
        if re.search(r"\w", text) and len(text) <= _MAX_QUESTION_CHARACTERS:
            texts[int(item["number"]), str(item["language"]).lower()] = text
    return [
        tuple(
            Wording(texts[number, language.lower()], language)
            for language in languages
            if (number, language.lower()) in texts
        )
        for number in range(1, len(questions) + 1)
    ]


async def draft_examples(
    profile: Profile, number: int, model: LanguageModel, account: BudgetAccount
) -> list[tuple[str, str]]:
    """Draft pairs of a question and a query from the schema alone (SPARQL-LLM, section 4.1.1).

    Raises:
        BudgetSpent: the budget is used up.
        ServiceError: the model fails.
    """
    lines = [line for _, line in _describe_usage(profile)][:_MAX_SCHEMA_LINES]
    text = "\n".join([f"Number: {number}", "", *lines])
    item_types = {"question": "string", "query": "string"}
    messages: list[Message] = [System(_EXAMPLE_INSTRUCTION), User(text)]
    items = await _request_items(model, account, messages, "examples", item_types)
    return [(" ".join(str(item["question"]).split()), str(item["query"])) for item in items]


async def _request_items(
    model: LanguageModel,
    account: BudgetAccount,
    messages: list[Message],
    key: str,
    item_types: Mapping[str, str],
) -> Sequence[Mapping[str, Any]]:
    """Return the objects that a reply lists under `key`; empty if two replies are no JSON."""
    item = {
        "type": "object",
        "properties": {name: {"type": item_type} for name, item_type in item_types.items()},
        "required": list(item_types),
    }
    properties = {key: {"type": "array", "items": item}}
    schema = {"type": "object", "properties": properties, "required": [key]}
    conversation = Conversation(model, account, messages, options=Options(schema=schema))
    for _ in range(_MAX_CALLS):
        match parse_structured((await conversation.take_turn()).choice, schema):
            case StructuredReply(value):
                items: Any = value[key]
                return items if isinstance(items, list) else ()
            case unusable:
                conversation.send_text(unusable.feedback)
    return ()


def _describe_usage(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield each term's IRI with a line on how the graph uses the term."""
    prefixes = PrefixMap(dict(profile.prefixes))
    names = {term.iri: get_label(term) for term in profile.classes}
    for cls in profile.classes:
        predicate_names = [
            get_label(term)
            for term in profile.predicates
            if any(iri == cls.iri for iri, _ in term.subject_classes)
            and not term.iri.startswith(SCHEMA_NAMESPACES)
        ]
        parent_names = [names.get(iri, prefixes.shorten(iri)) for iri in cls.parents]
        yield cls.iri, _format_line("class", cls, prefixes, {
            "instances": f"{cls.instances:,}",
            "a kind of": ", ".join(parent_names[:_MAX_CLASSES]),
            "they have": ", ".join(predicate_names[: 2 * _MAX_CLASSES]),
        })  # fmt: skip
    for term in profile.predicates:
        subjects = [names.get(iri, prefixes.shorten(iri)) for iri, _ in term.subject_classes]
        objects = [names.get(iri, prefixes.shorten(iri)) for iri, _ in term.object_classes]
        values = [prefixes.shorten(iri) for iri, _ in term.datatypes]
        yield term.iri, _format_line("property", term, prefixes, {
            "triples": f"{term.triples:,}",
            "from": ", ".join(subjects[:_MAX_CLASSES]),
            "to": ", ".join((objects or values)[:_MAX_CLASSES]),
            "chained": "yes" if term.transitive else "",
        })  # fmt: skip


def _format_line(
    kind: str, term: ClassProfile | PredicateProfile, prefixes: PrefixMap, facts: Mapping[str, str]
) -> str:
    facts_text = "; ".join(f"{name}: {fact}" for name, fact in facts.items() if fact)
    return f"{kind} {get_label(term)!r} ({prefixes.shorten(term.iri)}); {facts_text}"
