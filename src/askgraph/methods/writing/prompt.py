"""The one text that trains a model to write queries and that asks it for one.

    Question: Which moons of Jupiter were discovered by Galileo?

    Entities
    E1: Jupiter — gas giant
    E2: Galileo Galilei
    Classes
    C1: Moon
    Predicates
    P1: orbits
    P2: discoverer

What it replies is `multi-hop` or `single-hop`, and on the next line the query:

    SELECT ?v0 WHERE { ?v0 rdf:type C1 . ?v0 P1 E1 . ?v0 P2 E2 . }

A question whose answer takes two steps in a row may be answered by two queries, the first for what
stands between: they are joined by `THEN`, and `IT` in the second is what the first gives.

    SELECT ?v0 WHERE { ?v0 P1 E1 . } THEN SELECT ?v0 WHERE { ?v0 P2 IT . }

In the plain form (`References`) IRIs and literals stand in the place of references, and the reply
is one query in SPARQL, without a mark; in that of names it is one with labels in their place.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyoxigraph import NamedNode, Variable

from askgraph.errors import QuerySyntaxError
from askgraph.index.names import Kind
from askgraph.llm import Message, System, User
from askgraph.methods.writing._sound import Change, changed, sound
from askgraph.methods.writing.references import NAMES, PLAIN, REFERENCES, References
from askgraph.sparql import Group, Path, Pattern, Query, Term, walk
from askgraph.sparql.lexer import lexed
from askgraph.sparql.parser import read
from askgraph.sparql.serializer import text_of
from askgraph.sparql.vocabulary import RDF_TYPE

SINGLE_HOP = "single-hop"
MULTI_HOP = "multi-hop"
THEN = "THEN"
IT = "IT"

_TASK = """\
You write the SPARQL query that answers a question. Things are named by the references listed with
the question, such as E1 or P2, and by nothing else: no IRI, no prefix but rdf: and rdfs:. First say
on a line of its own whether the query is single-hop (one triple pattern leads to the answer) or
multi-hop. Then write the query alone, a SELECT or ASK, on one line."""

_PLAIN_TASK = """\
You write the SPARQL query that answers a question over a knowledge graph. With the question come
the terms that were found for it, of which some may be superfluous; use no others. Reply with the
query alone."""

_NAMED_TASK = """\
You write the SPARQL query that answers a question, of the names that are listed with it."""

_TASKS = {REFERENCES: _TASK, PLAIN: _PLAIN_TASK, NAMES: _NAMED_TASK}
_HEADINGS = {
    Kind.ENTITY: "Entities",
    Kind.CLASS: "Classes",
    Kind.PREDICATE: "Predicates",
    Kind.VALUE: "Values",
}
_DESCRIPTION = 160  # characters of a description that are shown
_START = re.compile(r"\b(?:SELECT|ASK)\b", re.IGNORECASE)
_PROLOGUE = re.compile(r"\b(?:BASE|PREFIX|SELECT|ASK)\b", re.IGNORECASE)
FENCE = re.compile(r"```[\w-]*[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)


def messages(question: str, references: References, known: Sequence[str] = ()) -> list[Message]:
    """Return the conversation that a query is the reply to; first of all what is `known`."""
    return [
        System(_TASKS[references.form]),
        User("\n\n".join((*known, prompt(question, references)))),
    ]


def prompt(question: str, references: References) -> str:
    """Return the question with what a query may name, each term on a line."""
    lines = [f"Question: {_one_line(question)}", ""]
    for kind, heading in _HEADINGS.items():
        if names := references.names(kind):
            lines.append(heading)
            lines += [_line(references, one) for one in names]
    return "\n".join(lines)


def target(query: str, references: References, *, then: str = "") -> str:
    """Return what a model shall reply: the mark, and the query (or two) with references.

    In `then`, the query that goes on, the variable `?IT` stands for what the first query gives.
    Only references may be two queries; in other forms they are one. Raises `QuerySyntaxError`, as
    `Unlisted` if the query names what is not listed.
    """
    if references.form != REFERENCES:
        short = References(references.listed)
        whole = query_in(target(query, short, then=then), short) if then else query
        return references.referenced(whole)
    text = references.referenced(query)
    if then:
        text = f"{text} {THEN} {_with_it(then, references)}"
    is_multi = bool(then) or _steps(read(query).where) > 1
    return f"{MULTI_HOP if is_multi else SINGLE_HOP}\n{text}"


def query_in(reply: str, references: References, prefixes: Mapping[str, str] | None = None) -> str:
    """Return the query in SPARQL that a reply means; two that are joined become one.

    Words before the query and a fence around it are forgiven. In the plain form it may use
    `prefixes` without declaring them. Raises `QuerySyntaxError` if there is no query, and
    `Unlisted` if it names what is not listed.
    """
    text = next(reversed(FENCE.findall(reply)), reply)
    start = (_PROLOGUE if references.plain else _START).search(text)
    if start is None:
        raise QuerySyntaxError("the reply holds no SELECT or ASK query")
    if references.plain:
        return references.in_sparql(text[start.start() :], prefixes)
    parts = [
        part.strip()
        for part in re.split(
            rf"\b{THEN}\b", re.split(r"\n\s*\n|```", text[start.start() :], maxsplit=1)[0]
        )
    ]
    if len(parts) > 2:
        raise QuerySyntaxError(f"the reply joins {len(parts)} queries; two at most are read")
    queries = [references.in_sparql(_with_variable(part)) for part in parts]
    return queries[0] if len(queries) == 1 else _joined(*map(read, queries))


def _line(references: References, reference: str) -> str:
    name, listed = references.shown(reference), references.by_name[reference]
    description = _one_line(listed.description)
    if len(description) > _DESCRIPTION:
        description = description[:_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    line = name if references.form == NAMES else f"{name}: {_one_line(listed.label)}"
    return f"{line} — {description}" if description else line


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _with_it(query: str, references: References) -> str:
    """The query that goes on, with references, the variable ?IT as the mark."""
    text = references.referenced(query, kept=(IT,))
    if f"?{IT}" not in text:
        raise QuerySyntaxError(f"the query that goes on does not name ?{IT}, what it goes on from")
    return text.replace(f"?{IT}", IT)


def _with_variable(text: str) -> str:
    """The text with the variable ?IT for each mark."""
    pieces, at = list[str](), 0
    for token in lexed(text).all:
        if token.kind == "word" and token.text == IT:
            pieces += [text[at : token.start], f"?{IT}"]
            at = token.start + len(token.text)
    return "".join(pieces) + text[at:]


def _joined(first: Query, second: Query) -> str:
    """One query: the second, with the first in it as what gives the values of ?IT."""
    if first.form != "SELECT" or len(first.columns) != 1:
        raise QuerySyntaxError("the first of two queries must be a SELECT of one column")
    asked, _ = first.columns[0]

    def renamed(term: Term) -> Term:
        if not isinstance(term, Variable):
            return term
        return Variable(IT if term == asked else f"{IT}_{term.value}")

    inner = replace(changed(first, Change(term=renamed)), distinct=True)
    return text_of(sound(replace(second, where=Group((inner, *second.where.elements)))))


def _steps(part: object) -> int:
    """The triple patterns of a part of a tree; of types none, and of a path at least two."""
    predicates = [node.predicate for node in walk(part) if isinstance(node, Pattern)]
    paths = sum(isinstance(one, Path) for one in predicates)
    return len(predicates) + paths - predicates.count(NamedNode(RDF_TYPE))
