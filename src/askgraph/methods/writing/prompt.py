"""The prompt that asks a model for a query, in training and in use.

    Question: Which moons of Jupiter were discovered by Galileo?

    Entities
    <Jupiter> — gas giant
    <Galileo_Galilei>
    Classes
    <Moon>
    Predicates
    <orbits>
    <discoverer>

The reply is the query:

    SELECT ?v0 WHERE { ?v0 rdf:type <Moon> . ?v0 <orbits> <Jupiter> . }

In the plain form (`TermNames`), the prompt and the reply contain IRIs and literals.
"""

import re
from collections.abc import Mapping, Sequence

from askgraph.errors import QuerySyntaxError
from askgraph.index.names import ItemKind
from askgraph.llm import Message, System, User
from askgraph.methods.settings import load_texts
from askgraph.methods.writing.term_names import TermNames

_TASKS: Mapping[str, str] = load_texts("writing")["tasks"]
_HEADINGS = {
    ItemKind.ENTITY: "Entities",
    ItemKind.CLASS: "Classes",
    ItemKind.PREDICATE: "Predicates",
    ItemKind.VALUE: "Values",
}
_MAX_DESCRIPTION_CHARACTERS = 160  # characters of a description that are shown
_QUERY_START = re.compile(r"\b(?:BASE|PREFIX|SELECT|ASK)\b", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)


def build_messages(question: str, names: TermNames, notes: Sequence[str] = ()) -> list[Message]:
    """Return the conversation whose next reply is the query; `notes` come first."""
    prompt = "\n\n".join((*notes, build_prompt(question, names)))
    return [System(_TASKS[names.form]), User(prompt)]


def build_prompt(question: str, names: TermNames) -> str:
    """Return the question and the terms that a query may use, one term per line."""
    lines = [f"Question: {_join_lines(question)}", ""]
    for kind, heading in _HEADINGS.items():
        entries = [(name, term) for name, term in names.entries if term.kind is kind]
        lines += [heading] if entries else []
        for name, term in entries:
            description = _join_lines(term.description)
            if len(description) > _MAX_DESCRIPTION_CHARACTERS:
                description = description[:_MAX_DESCRIPTION_CHARACTERS].rsplit(" ", 1)[0] + " …"
            line = f"{name}: {_join_lines(term.label)}" if names.is_plain else name
            lines.append(f"{line} — {description}" if description else line)
    return "\n".join(lines)


def parse_query(reply: str, names: TermNames, prefixes: Mapping[str, str] | None = None) -> str:
    """Parse the SPARQL query of a reply.

    Text before the query and a fence around it are ignored. In the plain form the query may use
    `prefixes` without declaring them.

    Raises:
        QuerySyntaxError: the reply has no query; `UnlistedTermError` if it uses unlisted terms.
    """
    text = next(reversed(_FENCE.findall(reply)), reply)
    start = _QUERY_START.search(text)
    if start is None:
        raise QuerySyntaxError("the reply holds no SELECT or ASK query")
    query = text[start.start() :]
    if not names.is_plain:
        query = re.split(r"\n\s*\n|```", query, maxsplit=1)[0].strip()
    return names.decode_query(query, prefixes)


def _join_lines(text: str) -> str:
    return " ".join(text.split())
