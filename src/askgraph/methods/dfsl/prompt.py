"""The prompt of Dynamic Few-Shot Learning: a task, demonstrations, the question with its IRIs.

The three parts are D'Abramo's (arXiv 2407.01409, section 4.3); the words are ours. Entities and
relations are linked by us, or given with the question.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from askgraph.errors import SetupError
from askgraph.graph.profile import PredicateProfile, Profile
from askgraph.index.names import Kind, tokens
from askgraph.llm import System, User
from askgraph.methods.shared import columns_rule, said_before
from askgraph.methods.shared.examples import Shot, Term, shown_query
from askgraph.methods.shared.glossary_notes import taught
from askgraph.methods.tools import Context
from askgraph.methods.tools.hits import format_entities
from askgraph.methods.tools.mentions import find_mentions
from askgraph.methods.tools.rendering import TermWriter, fetch_labels
from askgraph.methods.tools.schema_lines import SchemaLines, SchemaSlice, write_schema_names
from askgraph.methods.tools.terms import find_relations
from askgraph.search.link import LinkedQuestion
from askgraph.search.pipeline import link_to_graph
from askgraph.search.tokenize import tokenize
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.trace import Prompt

_SCHEMA = 15  # predicates and classes

LINKED = f"""\
You write SPARQL queries that answer questions over an RDF graph.
1. Reply with the query alone, between <sparql> and </sparql>.
2. {{names}}
3. Take care in which direction each relation leads{{directions}}.
4. {columns_rule()} ASK for yes or no.
5. Prefixes are declared already. Do not call a label service."""
OWN = (
    "Use only IRIs that are listed with the question or stand in the examples. You need not use "
    "them all; for a relation that is missing put a variable."
)
FOREIGN = (
    "Use only IRIs that are listed with the question. You need not use them all; for a relation "
    "that is missing put a variable. The examples are about other graphs: learn from them how a "
    "query is put together, and take none of their names."
)
NO_EXAMPLES = (
    "Use only IRIs that are listed with the question. You need not use them all; for a relation "
    "that is missing put a variable."
)
RELATIONS = "Relations near it, by class of subject, → class of object:"
PLAIN = """\
You write SPARQL queries that answer questions over an RDF graph.
1. Reply with the query alone, between <sparql> and </sparql>.
2. Select what is asked for, as IRIs or values, and nothing else; ASK for yes or no.
3. Do not call a label service."""
SEVERAL = """
{number}. Write up to {n} different queries, each between tags of its own, the most likely first.
Among them should be some that differ only in the direction of a relation."""


PAPER_TASK = """\
The task is to write, for questions in English, SPARQL queries over the graph {graph}.
1. Each query stands between <sparql> and </sparql>."""
PAPER_TERMS = (
    "It is made of {given} that the question comes with: of all of them, and of no others."
)
PAPER_SHOTS = "Examples to learn from come first."
PAPER_SEVERAL = "More than one query may be written."
LEFT_OUT = ("", "entities", "relations", "both")
"""What is told of no question: nothing, or an ablation of section 5.7.2."""


@dataclass(frozen=True)
class ShownTerms:
    """How terms are shown: `iris` in full or short, `without` some sort, as the paper tells it."""

    iris: bool = False
    without: str = ""
    paper: bool = False


def left(terms: Sequence[Term], without: str) -> tuple[Term, ...]:
    """Return the terms without those of a sort; see `LEFT_OUT`."""
    if without == "both":
        return ()
    return tuple(one for one in terms if not without or one.relation is (without == "entities"))


@dataclass(frozen=True)
class AskedTerms:
    """What a question is about; `ends` are lines of what its relations lead from and to.

    If there are no such lines, the relations are known by name alone. `values` are lines of
    literals that its words name, with what has them.
    """

    terms: tuple[Term, ...]
    ends: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


async def linked_terms(context: Context, *, ends: bool = False) -> AskedTerms:
    """Return what the words of the question are taken to mean, the things first.

    With `ends` all relations near the words and the things are told, and the values that words
    name: the relation that is needed is often not named in the question.
    """
    linked = await _linked(context)
    found = await find_mentions(context, linked)
    things = [one.term.value for one in found if isinstance(one.term, NamedNode)]
    named = linked.get_links(Kind.PREDICATE, Kind.CLASS)[:_SCHEMA]
    schema = {link.target: link.kind is Kind.PREDICATE for link in named}
    labels = await fetch_labels(context, [*things, *schema])
    terms = (
        *(Term(iri, labels.get(iri, "")) for iri in things if iri not in schema),
        *(Term(iri, labels.get(iri, ""), relation) for iri, relation in schema.items()),
    )
    if not ends:
        return AskedTerms(terms)
    values = await format_entities(context, [one for one in found if isinstance(one.term, Literal)])
    lines = await _lines(context, SchemaSlice(context.graph, linked))
    return AskedTerms(terms, lines, values.lines)


async def given_terms(context: Context, *, ends: bool = False) -> AskedTerms:
    """Return what came with the question, which may be nothing; with `ends` no relation besides.

    Raises `SetupError` if nobody said what it is about.
    """
    given = context.question.given
    if given is None:
        raise SetupError(
            "links are to be given, but none came with the question; links=linked finds them"
        )
    labels = await fetch_labels(context, given)
    relations = {predicate.iri: predicate for predicate in context.graph.profile.predicates}
    leading = await find_relations(context, given)
    terms = tuple(Term(iri, labels.get(iri, ""), iri in leading) for iri in given)
    if not ends:
        return AskedTerms(terms)
    chosen = [relations[iri] for iri in given if iri in relations]
    part = SchemaSlice(context.graph, await _linked(context))
    return AskedTerms(terms, await _lines(context, part, chosen))


async def _linked(context: Context) -> LinkedQuestion:
    asked = context.question
    return await link_to_graph(tokenize(asked.text, asked.language), context.graph)


async def _lines(
    context: Context, part: SchemaSlice, chosen: Iterable[PredicateProfile] | None = None
) -> tuple[str, ...]:
    """Lines of predicates, those near the question if none are chosen."""
    told = list(await asyncio.to_thread(lambda: part.near) if chosen is None else chosen)
    classes = (iri for p in told for iri, _ in (*p.subject_classes, *p.object_classes))
    writer = await TermWriter.from_iris(context, [*(p.iri for p in told), *classes])
    typed = await asyncio.to_thread(SchemaLines(part, writer).write_value_types, told)
    return (*write_schema_names(writer, told), *([typed] if typed else []))


def few_shot_prompt(
    context: Context,
    asked: AskedTerms | None,
    shots: Sequence[Shot],
    *,
    queries: int = 1,
    shown: ShownTerms = ShownTerms(),
) -> Prompt:
    """Return the task, the demonstrations in the order given, and the question.

    None as `asked` leaves out every IRI of the question. `queries` is how many are asked for.
    """
    if shown.paper:
        without = shown.without if asked else "both"
        kinds = [sort for sort in ("entities", "relations") if without not in (sort, "both")]
        rules = [PAPER_TERMS.format(given=f"the {' and '.join(kinds)}")] if kinds else []
        rules += [PAPER_SHOTS] if shots else [PAPER_SEVERAL] if kinds and queries == 1 else []
        numbered = (f"{at}. {rule}" for at, rule in enumerate(rules, start=2))
        task = "\n".join((PAPER_TASK.format(graph=context.graph.name), *numbered))
    else:
        task = PLAIN if asked is None else _task(context, asked, shots)
    if queries > 1:
        task += SEVERAL.format(number=task.count("\n") + 1, n=queries)
    before = said_before(context.question)
    told = (task, *taught(context.question, [context.graph]), before)
    task = "\n\n".join(filter(None, told))
    writer, prefixes = TermWriter(context), context.graph.prefixes
    parts = [
        f"{_asked(shot.example.question, shot.terms, writer, iris=shown.iris)}\n"
        f"<sparql>\n{query.strip() if shown.iris else shown_query(query, prefixes)}\n</sparql>"
        for shot, query in ((shot, shot.example.query) for shot in shots)
    ]
    own = asked or AskedTerms(())
    text = context.question.text
    parts.append(_asked(text, own.terms, writer, values=own.values, ends=own.ends, iris=shown.iris))
    return Prompt("question", (System(task), User("\n###\n".join(parts))))


def _task(context: Context, asked: AskedTerms, shots: Sequence[Shot]) -> str:
    own = bool(shots) and _about(context.graph.profile, shots)
    names = (OWN if own else FOREIGN) if shots else NO_EXAMPLES
    showing = [*(["the arrows"] if asked.ends else []), *(["the examples"] if own else [])]
    directions = f": {' and '.join(showing)} show it" if showing else ""
    return LINKED.format(names=names, directions=directions)


def _about(profile: Profile, shots: Sequence[Shot]) -> bool:
    """Whether examples are about this graph: half of them use a predicate or a class of it."""
    schema = {predicate.iri for predicate in profile.predicates}
    schema |= {cls.iri for cls in profile.classes}
    return 2 * sum(any(term.iri in schema for term in shot.terms) for shot in shots) >= len(shots)


def _asked(
    question: str,
    terms: Sequence[Term],
    writer: TermWriter,
    *,
    values: Sequence[str] = (),
    ends: Sequence[str] = (),
    iris: bool = False,
) -> str:
    entities = [_named(term, writer, iris=iris) for term in terms if not term.relation]
    relations = [_named(term, writer, iris=iris) for term in terms if term.relation]
    lines = [f"Question: {question}"]
    if entities:
        lines.append(f"Entities: {', '.join(entities)}")
    if values:
        lines += ["Values, with what has them:", *values]
    if ends:
        lines += [RELATIONS, *ends]
    elif relations:
        lines.append(f"Relations: {', '.join(relations)}")
    return "\n".join(lines)


def _named(term: Term, writer: TermWriter, *, iris: bool) -> str:
    """An IRI with its label, if that says more than the IRI."""
    short = f"<{term.iri}>" if iris else writer.write_short(term.iri)
    adds = tokens(term.label) != tokens(words_of_local_name(term.iri)) and term.label
    about = writer.write_description(term.iri, term.label) if adds else ""
    return f"{short} {about}" if about else short
