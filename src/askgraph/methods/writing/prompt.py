"""The prompt that asks a model for a query, in training and in use.

    Question: Which moons of Jupiter were discovered by Galileo?

    Entities
    E1: Jupiter — gas giant
    E2: Galileo Galilei
    Classes
    C1: Moon
    Predicates
    P1: orbits
    P2: discoverer

The reply is `multi-hop` or `single-hop`, and on the next line the query:

    SELECT ?v0 WHERE { ?v0 rdf:type C1 . ?v0 P1 E1 . ?v0 P2 E2 . }

In the plain form (`References`), the prompt and the reply contain IRIs and literals instead of
references, and the reply is one SPARQL query without a mark; in the form of names, labels.
"""

import re
from collections.abc import Mapping, Sequence

from pyoxigraph import NamedNode

from askgraph.errors import QuerySyntaxError
from askgraph.index.names import ItemKind
from askgraph.llm import Message, System, User
from askgraph.methods.settings import load_texts
from askgraph.methods.writing.references import NAMES, PLAIN, REFERENCES, References
from askgraph.sparql import Path, Pattern, walk
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.vocabulary import RDF_TYPE

SINGLE_HOP = "single-hop"
MULTI_HOP = "multi-hop"

_TEXTS = load_texts("writing")
_TASK: str = _TEXTS["task"]

_PLAIN_TASK: str = _TEXTS["plain_task"]

_NAMED_TASK: str = _TEXTS["named_task"]

_TASKS = {REFERENCES: _TASK, PLAIN: _PLAIN_TASK, NAMES: _NAMED_TASK}
_HEADINGS = {
    ItemKind.ENTITY: "Entities",
    ItemKind.CLASS: "Classes",
    ItemKind.PREDICATE: "Predicates",
    ItemKind.VALUE: "Values",
}
_MAX_DESCRIPTION_CHARACTERS = 160  # characters of a description that are shown
_QUERY_START = re.compile(r"\b(?:SELECT|ASK)\b", re.IGNORECASE)
_PROLOGUE_START = re.compile(r"\b(?:BASE|PREFIX|SELECT|ASK)\b", re.IGNORECASE)
FENCE = re.compile(r"```[\w-]*[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)


def build_messages(
    question: str, references: References, notes: Sequence[str] = ()
) -> list[Message]:
    """Return the conversation whose next reply is the query; `notes` come first."""
    return [
        System(_TASKS[references.form]),
        User("\n\n".join((*notes, build_prompt(question, references)))),
    ]


def build_prompt(question: str, references: References) -> str:
    """Return the question and the terms that a query may use, one term per line."""
    lines = [f"Question: {_join_lines(question)}", ""]
    for kind, heading in _HEADINGS.items():
        if names := references.list_names(kind):
            lines.append(heading)
            lines += [_format_term(references, name) for name in names]
    return "\n".join(lines)


def build_target(query: str, references: References) -> str:
    """Return the reply that a model should learn: the mark, and the query with references.

    In other forms than references, there is no mark.

    Raises:
        QuerySyntaxError: the query cannot be read; `UnlistedTermError` if it uses unlisted terms.
    """
    text = references.encode_query(query)
    if references.form != REFERENCES:
        return text
    return f"{MULTI_HOP if _count_steps(parse_tree(query).where) > 1 else SINGLE_HOP}\n{text}"


def parse_query(
    reply: str, references: References, prefixes: Mapping[str, str] | None = None
) -> str:
    """Parse the SPARQL query of a reply.

    Text before the query and a fence around it are ignored. In the plain form the query may use
    `prefixes` without declaring them.

    Raises:
        QuerySyntaxError: the reply has no query; `UnlistedTermError` if it uses unlisted terms.
    """
    text = next(reversed(FENCE.findall(reply)), reply)
    start = (_PROLOGUE_START if references.is_plain else _QUERY_START).search(text)
    if start is None:
        raise QuerySyntaxError("the reply holds no SELECT or ASK query")
    if references.is_plain:
        return references.decode_query(text[start.start() :], prefixes)
    query_text = re.split(r"\n\s*\n|```", text[start.start() :], maxsplit=1)[0]
    return references.decode_query(query_text.strip())


def _format_term(references: References, reference: str) -> str:
    name, term = references.render_name(reference), references.by_name[reference]
    description = _join_lines(term.description)
    if len(description) > _MAX_DESCRIPTION_CHARACTERS:
        description = description[:_MAX_DESCRIPTION_CHARACTERS].rsplit(" ", 1)[0] + " …"
    line = name if references.form == NAMES else f"{name}: {_join_lines(term.label)}"
    return f"{line} — {description}" if description else line


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _count_steps(part: object) -> int:
    """Count the triple patterns of a part of a tree: 0 for a type, at least 2 for a path."""
    predicates = [node.predicate for node in walk(part) if isinstance(node, Pattern)]
    paths = sum(isinstance(predicate, Path) for predicate in predicates)
    return len(predicates) + paths - predicates.count(NamedNode(RDF_TYPE))
