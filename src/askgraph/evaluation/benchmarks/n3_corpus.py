"""Queries as quoted graphs of Notation3, the form of a study of how graphs are represented.

Henselmann, Käfer and Harth, 2025 (CC BY-NC-SA 4.0): questions are labels, `dc:subject` tags them,
and `rdf:value` holds the pattern of the query. In it `?x` is asked for, `_:y` stands for a variable
that is not, and a name that ends in `__plus` for a path of one or more steps.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import Item, Text, Unfit, each, gathered, wordings
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import plain_name, text_of
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import Described, parsed

__all__ = ["N3Corpus"]

SUBJECT = voc.DC + "subject"
QUOTED = "tag:askgraph,2025:quoted-graph"
_TOKEN = re.compile(
    r'#[^\n]*|<[^<>\s]*>|"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|[{}]', re.DOTALL
)
_PLUS = re.compile(r"__plus(>?)(?=\s)")
_VARIABLE = re.compile(r"\?\w+")


class N3Corpus:
    """Quoted graphs as queries. None takes English if there is English, else the first."""

    title: ClassVar[str] = "Quoted graphs in N3"
    splits: ClassVar[tuple[str, ...]] = ()

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by an N3 file with braces."""
        return plain_name(path).endswith(".n3") and "{" in head

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all labelled quoted graphs; the id of a question is made from its label."""
        statements, prefixes = parsed(_as_turtle(text_of(path), str(path)), str(path))
        subjects = dict.fromkeys(
            subject
            for predicate in (voc.RDFS_LABEL, voc.RDF_VALUE)
            for subject in statements.having(predicate)
        )
        numbered: list[tuple[str, Described | str]] = [
            (f"{path}, item {at}", subject) for at, subject in enumerate(subjects, start=1)
        ]

        def questions(place: str, subject: Described) -> Iterator[Item]:
            texts = [Text(*label) for label in subject.labelled(voc.RDFS_LABEL)]
            question = GoldQuestion(
                re.sub(r"[^\w]+", "-", (texts[0].string if texts else "").lower()).strip("-")
                or "unnamed",
                "",
                sparql=_query(subject, PrefixMap(prefixes)),
                tags=tuple(tag.value for tag in subject.literals(SUBJECT)),
            )
            return wordings(place, question, texts, language)

        return gathered(each(numbered, questions), prefixes=prefixes)


def _as_turtle(text: str, place: str) -> str:
    """N3 as Turtle with the same lines: each quoted graph becomes a literal of its text."""
    pieces: list[str] = []
    depth = end = 0
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            depth += 1
            if depth == 1:
                pieces.append(text[end : token.start()])
                end = token.end()
        elif token[0] == "}":
            depth -= 1
            if depth < 0:
                break
            if depth == 0:
                body = text[end : token.start()].replace("\\", "\\\\").replace('"', '\\"')
                pieces.append(f'"""{body}"""^^<{QUOTED}>')
                end = token.end()
    if depth:
        line = text.count("\n", 0, token.start() if depth < 0 else end) + 1
        raise SetupError(f"{place}, line {line}: a brace without its partner")
    return "".join([*pieces, text[end:]])


def _query(subject: Described, prefixes: PrefixMap) -> str:
    """Return the query for a quoted graph: its variables are asked for, without repetition."""
    values = subject.literals(voc.RDF_VALUE)
    quoted = [value.value for value in values if value.datatype.value == QUOTED]
    if len(quoted) != 1:
        raise Unfit(f"it has {len(quoted)} quoted graphs (rdf:value); expected one")
    body = _PLUS.sub(r"\1+", quoted[0].strip() + "\n")
    variables = " ".join(dict.fromkeys(_VARIABLE.findall(body)))
    form = f"SELECT DISTINCT {variables} WHERE" if variables else "ASK"
    return f"{prefixes.header(body)}{form} {{\n{body}}}"
