"""Questions with quoted graphs of Notation3 as queries, from a study of graph representations.

Henselmann, Käfer and Harth, 2025 (CC BY-NC-SA 4.0): questions are labels, `dc:subject` tags them,
and `rdf:value` holds the query pattern. In it, `?x` is a column, `_:y` stands for a variable that
is not, and a name that ends in `__plus` for a path of one or more steps.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks._records import (
    Item,
    QuestionText,
    UnusableItemError,
    collect_contents,
    expand_wordings,
    read_records,
)
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import get_plain_name, read_text
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import SubjectDescription, parse_statements

__all__ = ["N3Corpus"]

DC_SUBJECT = voc.DC + "subject"
QUOTED_GRAPH_DATATYPE = "tag:askgraph,2025:quoted-graph"
_TOKEN = re.compile(
    r'#[^\n]*|<[^<>\s]*>|"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|[{}]', re.DOTALL
)
_PLUS_SUFFIX = re.compile(r"__plus(>?)(?=\s)")
_VARIABLE = re.compile(r"\?\w+")


class N3Corpus:
    """Quoted graphs as queries. Language None selects English if present, else the first text."""

    title: ClassVar[str] = "Quoted graphs in N3"
    splits: ClassVar[tuple[str, ...]] = ()

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the file is an N3 file with braces."""
        return get_plain_name(path).endswith(".n3") and "{" in head

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all labelled quoted graphs; the id of a question is made from its label."""
        statements, prefixes = parse_statements(
            _convert_to_turtle(read_text(path), str(path)), str(path)
        )
        subjects = dict.fromkeys(
            subject
            for predicate in (voc.RDFS_LABEL, voc.RDF_VALUE)
            for subject in statements.describe_subjects(predicate)
        )
        items: list[tuple[str, SubjectDescription | str]] = [
            (f"{path}, item {number}", subject) for number, subject in enumerate(subjects, start=1)
        ]

        def read_question(location: str, subject: SubjectDescription) -> Iterator[Item]:
            texts = [QuestionText(*label) for label in subject.get_labels(voc.RDFS_LABEL)]
            question = GoldQuestion(
                re.sub(r"[^\w]+", "-", (texts[0].text if texts else "").lower()).strip("-")
                or "unnamed",
                "",
                sparql=_build_query(subject, PrefixMap(prefixes)),
                tags=tuple(tag.value for tag in subject.get_literals(DC_SUBJECT)),
            )
            return expand_wordings(location, question, texts, language)

        return collect_contents(read_records(items, read_question), prefixes=prefixes)


def _convert_to_turtle(text: str, location: str) -> str:
    """Return N3 as Turtle with the same lines: each quoted graph becomes a literal of its text."""
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
                pieces.append(f'"""{body}"""^^<{QUOTED_GRAPH_DATATYPE}>')
                end = token.end()
    if depth:
        line = text.count("\n", 0, token.start() if depth < 0 else end) + 1
        raise SetupError(f"{location}, line {line}: an unmatched brace")
    return "".join([*pieces, text[end:]])


def _build_query(subject: SubjectDescription, prefixes: PrefixMap) -> str:
    """Build the query of a quoted graph: SELECT DISTINCT over its variables, or ASK without any."""
    values = subject.get_literals(voc.RDF_VALUE)
    quoted_graphs = [
        value.value for value in values if value.datatype.value == QUOTED_GRAPH_DATATYPE
    ]
    if len(quoted_graphs) != 1:
        raise UnusableItemError(
            f"it has {len(quoted_graphs)} quoted graphs (rdf:value); expected one"
        )
    body = _PLUS_SUFFIX.sub(r"\1+", quoted_graphs[0].strip() + "\n")
    variables = " ".join(dict.fromkeys(_VARIABLE.findall(body)))
    form = f"SELECT DISTINCT {variables} WHERE" if variables else "ASK"
    return f"{prefixes.build_header(body)}{form} {{\n{body}}}"
