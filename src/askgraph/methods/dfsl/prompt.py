"""The prompt of Dynamic Few-Shot Learning: a task, demonstrations, the question with its IRIs.

The three parts are D'Abramo's (arXiv 2407.01409, section 4.3); the texts are ours. Entities and
relations are linked by us, or given with the question.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from pyoxigraph import Literal, NamedNode

from askgraph.errors import SetupError
from askgraph.graph.profile import PredicateProfile, Profile
from askgraph.index.names import ItemKind, split_tokens
from askgraph.llm import System, User
from askgraph.methods.settings import load_texts
from askgraph.methods.shared import build_columns_rule, format_earlier_questions
from askgraph.methods.shared.examples import Demonstration, ExampleTerm, format_query
from askgraph.methods.shared.glossary_notes import format_glossary
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import format_entities
from askgraph.methods.tools.mentions import find_mentions
from askgraph.methods.tools.rendering import TermWriter, fetch_labels
from askgraph.methods.tools.schema_lines import SchemaLines, SchemaSlice, write_schema_names
from askgraph.methods.tools.term_text import extract_iris
from askgraph.methods.tools.terms import find_relations
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.trace import Prompt

_MAX_SCHEMA_TERMS = 15  # predicates and classes

_TEXTS = load_texts("dfsl")
LINKED_TASK: str = _TEXTS["linked_task"].replace("{columns_rule}", build_columns_rule())
SAME_GRAPH_RULE: str = _TEXTS["same_graph_rule"]
OTHER_GRAPHS_RULE: str = _TEXTS["other_graphs_rule"]
NO_EXAMPLES_RULE: str = _TEXTS["no_examples_rule"]
RELATIONS_HEADING = "Relations near it, by class of subject, → class of object:"
PLAIN_TASK: str = _TEXTS["plain_task"]
SEVERAL_QUERIES_RULE: str = _TEXTS["several_queries_rule"]


PAPER_TASK: str = _TEXTS["paper_task"]
PAPER_TERMS_RULE: str = _TEXTS["paper_terms_rule"]
PAPER_PATHS_RULE: str = _TEXTS["paper_paths_rule"]
PAPER_EXAMPLES_RULE: str = _TEXTS["paper_examples_rule"]
PAPER_SEVERAL_QUERIES_RULE: str = _TEXTS["paper_several_queries_rule"]


@dataclass(frozen=True)
class TermDisplay:
    """Settings of how terms are shown."""

    iris: bool = False  # IRIs in full, not as prefixed names
    without: str = ""  # the kind of terms that is left out
    paper: bool = False  # the parts of the paper's prompts, in their order
    fixed: bool = False  # the examples are the same for all questions


@dataclass(frozen=True)
class QuestionTerms:
    """The terms of a question.

    Attributes:
        ends: lines with the relations and their classes; if empty, relations have only a name.
        values: lines with the literals that the question names, and their subjects.
    """

    terms: tuple[ExampleTerm, ...]
    ends: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


async def link_terms(context: Context, *, ends: bool = False) -> QuestionTerms:
    """Link the words of the question to terms, the entities first.

    With `ends` all relations near the words and the entities are listed, and the literals that the
    words name: a question often does not name the relation that it needs.
    """
    linked = await _link_question(context)
    mentions = await find_mentions(context, linked)
    entity_iris = [
        mention.term.value for mention in mentions if isinstance(mention.term, NamedNode)
    ]
    schema_links = linked.get_links(ItemKind.PREDICATE, ItemKind.CLASS)[:_MAX_SCHEMA_TERMS]
    schema = {link.target: link.kind is ItemKind.PREDICATE for link in schema_links}
    labels = await fetch_labels(context, [*entity_iris, *schema])
    terms = (
        *(ExampleTerm(iri, labels.get(iri, "")) for iri in entity_iris if iri not in schema),
        *(
            ExampleTerm(iri, labels.get(iri, ""), is_relation)
            for iri, is_relation in schema.items()
        ),
    )
    if not ends:
        return QuestionTerms(terms)
    values = await format_entities(
        context, [mention for mention in mentions if isinstance(mention.term, Literal)]
    )
    lines = await _format_relations(context, SchemaSlice(context.graph, linked))
    return QuestionTerms(terms, lines, values.lines)


async def get_given_terms(context: Context, *, ends: bool = False) -> QuestionTerms:
    """Return the terms that came with the question, if any; with `ends` only their own relations.

    Raises:
        SetupError: the question came without terms.
    """
    given_iris = context.question.given
    if given_iris is None:
        raise SetupError("the question has no given links; find them with links=linked")
    labels = await fetch_labels(context, given_iris)
    relations = {predicate.iri: predicate for predicate in context.graph.profile.predicates}
    relation_iris = await find_relations(context, given_iris)
    terms = tuple(ExampleTerm(iri, labels.get(iri, ""), iri in relation_iris) for iri in given_iris)
    if not ends:
        return QuestionTerms(terms)
    given_predicates = [relations[iri] for iri in given_iris if iri in relations]
    schema_slice = SchemaSlice(context.graph, await _link_question(context))
    return QuestionTerms(terms, await _format_relations(context, schema_slice, given_predicates))


async def _link_question(context: Context) -> LinkedQuestion:
    question = context.question
    return await link_to_graph(tokenize(question.text, question.language), context.graph)


async def _format_relations(
    context: Context,
    schema_slice: SchemaSlice,
    predicates: Iterable[PredicateProfile] | None = None,
) -> tuple[str, ...]:
    """Return lines of the predicates, by default of those near the question."""
    shown_predicates = list(
        await asyncio.to_thread(lambda: schema_slice.near) if predicates is None else predicates
    )
    classes = (
        iri
        for predicate in shown_predicates
        for iri, _ in (*predicate.subject_classes, *predicate.object_classes)
    )
    writer = await TermWriter.from_iris(
        context, [*(predicate.iri for predicate in shown_predicates), *classes]
    )
    typed_lines = await asyncio.to_thread(
        SchemaLines(schema_slice, writer).write_value_types, shown_predicates
    )
    return (*write_schema_names(writer, shown_predicates), *([typed_lines] if typed_lines else []))


def build_few_shot_prompt(
    context: Context,
    question_terms: QuestionTerms | None,
    demonstrations: Sequence[Demonstration],
    *,
    queries: int = 1,
    display: TermDisplay = TermDisplay(),
) -> Prompt:
    """Build the prompt: the task, the demonstrations in their order, and the question.

    Args:
        question_terms: the terms of the question; None: no IRIs.
        queries: the number of queries to ask for.
    """
    if display.paper:
        without = display.without if question_terms else "both"
        term_kinds = [kind for kind in ("entities", "relations") if without not in (kind, "both")]
        rules = (
            [PAPER_TERMS_RULE.format(given=f"the {' and '.join(term_kinds)}")] if term_kinds else []
        )
        if rules and display.fixed:
            rules[0] += f" {PAPER_PATHS_RULE}"
        rules += (
            [PAPER_EXAMPLES_RULE]
            if demonstrations
            else [PAPER_SEVERAL_QUERIES_RULE]
            if term_kinds and queries == 1
            else []
        )
        numbered_rules = (f"{number}. {rule}" for number, rule in enumerate(rules, start=2))
        task = "\n".join((PAPER_TASK.format(graph=context.graph.name), *numbered_rules))
    else:
        task = (
            PLAIN_TASK
            if question_terms is None
            else _build_task(context, question_terms, demonstrations)
        )
    if queries > 1:
        task += SEVERAL_QUERIES_RULE.format(number=task.count("\n") + 1, n=queries)
    earlier_questions = format_earlier_questions(context.question)
    task_texts = (task, *format_glossary(context.question, [context.graph]), earlier_questions)
    task = "\n\n".join(filter(None, task_texts))
    writer, prefixes = TermWriter(context), context.graph.prefixes
    format_terms = partial(_format_question, writer=writer, display=display)
    gold, tag = "" if display.fixed else "Gold ", "SPARQL" if display.paper else "sparql"
    parts = []
    for demonstration in demonstrations:
        query = demonstration.example.query
        shown_query = query.strip() if display.iris else format_query(query, prefixes)
        terms = demonstration.terms
        has_relations = display.paper and display.without not in ("relations", "both")
        if has_relations and RDF_TYPE in extract_iris(query, types=True):
            terms += (ExampleTerm(RDF_TYPE, "type", True),)
        head = format_terms(demonstration.example.question, QuestionTerms(terms), gold=gold)
        parts.append(f"{head}\n<{tag}>\n{shown_query}\n</{tag}>")
    parts.append(format_terms(context.question.text, question_terms or QuestionTerms(())))
    text = "\n###\n".join(parts)
    messages = (User(f"{task}\n\n{text}"),) if display.paper else (System(task), User(text))
    return Prompt("question", messages)


def _build_task(
    context: Context, question_terms: QuestionTerms, demonstrations: Sequence[Demonstration]
) -> str:
    has_own_examples = bool(demonstrations) and _has_own_terms(
        context.graph.profile, demonstrations
    )
    names_rule = (
        (SAME_GRAPH_RULE if has_own_examples else OTHER_GRAPHS_RULE)
        if demonstrations
        else NO_EXAMPLES_RULE
    )
    direction_sources = [
        *(["the arrows"] if question_terms.ends else []),
        *(["the examples"] if has_own_examples else []),
    ]
    directions = f": {' and '.join(direction_sources)} show it" if direction_sources else ""
    return LINKED_TASK.format(names=names_rule, directions=directions)


def _has_own_terms(profile: Profile, demonstrations: Sequence[Demonstration]) -> bool:
    """Return whether half of the examples use a predicate or class of this graph."""
    schema = {predicate.iri for predicate in profile.predicates}
    schema |= {cls.iri for cls in profile.classes}
    return 2 * sum(
        any(term.iri in schema for term in demonstration.terms) for demonstration in demonstrations
    ) >= len(demonstrations)


def _format_question(
    question: str, shown: QuestionTerms, *, writer: TermWriter, display: TermDisplay, gold: str = ""
) -> str:
    entities, relations = (
        [
            _format_term(term, writer, iris=display.iris)
            for term in shown.terms
            if term.is_relation is is_relation
        ]
        for is_relation in (False, True)
    )
    lines = [f"Question: {question}"]
    if display.paper:
        for name, texts in (("Entities", entities), ("Relations", relations)):
            lines += [f"{gold}{name}:", ", ".join(texts)] if texts else []
        return "\n".join([*lines, "", "Query:"])
    if entities:
        lines.append(f"Entities: {', '.join(entities)}")
    if shown.values:
        lines += ["Values, with what has them:", *shown.values]
    if shown.ends:
        lines += [RELATIONS_HEADING, *shown.ends]
    elif relations:
        lines.append(f"Relations: {', '.join(relations)}")
    return "\n".join(lines)


def _format_term(term: ExampleTerm, writer: TermWriter, *, iris: bool) -> str:
    """Return an IRI, with its label if that is more informative than the IRI."""
    short_iri = f"<{term.iri}>" if iris else writer.write_short(term.iri)
    has_informative_label = (
        split_tokens(term.label) != split_tokens(split_local_name(term.iri)) and term.label
    )
    label_text = writer.write_description(term.iri, term.label) if has_informative_label else ""
    return f"{short_iri} {label_text}" if label_text else short_iri
