"""Questions from files: `questions.jsonl` lines, and question-query pairs as SHACL examples.

A line is an object with at least `id` and `question`:

    {"id": "q1", "question": "How many moons has Mars?", "lang": "en",
     "sparql": "SELECT (COUNT(?m) AS ?n) { … }", "answers": {"vars": ["n"], "rows": [["2"]]},
     "tags": ["count"], "kg": "space.ttl"}

`"sparql": null` without answers, or the tag `unanswerable`, says that the graph holds no answer.
SHACL examples are read as the SIB collection writes them (`sh:SPARQLExecutable`, `rdfs:comment`,
`sh:select` or `sh:ask`, `sh:prefixes`, `schema:keywords`); one with the keyword
`unanswerable` needs no query.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, parse

from askgraph.errors import SetupError
from askgraph.evaluation.values import Table
from askgraph.rdf import vocabulary as voc
from askgraph.rdf.prefixes import PrefixMap

__all__ = ["GoldQuestion", "of_graph", "read_questions"]

UNANSWERABLE = "unanswerable"
KEYWORDS = tuple(
    namespace + name
    for namespace in (voc.SCHEMA_HTTPS, voc.SCHEMA)
    for name in ("keywords", "keyword")
)


@dataclass(frozen=True)
class GoldQuestion:
    """A question and what is known of its right answer: a query, a stored answer, both, neither.

    `graph` names the graph that it is asked of, where a file holds questions over several.
    `unanswerable` says that the graph holds no answer, so that a refusal is right.
    """

    id: str
    text: str
    language: str | None = None
    sparql: str | None = None
    answers: Table | None = None
    tags: tuple[str, ...] = ()
    graph: str | None = None
    unanswerable: bool = False

    @property
    def has_gold(self) -> bool:
        """Whether an answer to this question can be scored."""
        return self.unanswerable or self.sparql is not None or self.answers is not None


def read_questions(path: Path, *, need_gold: bool = False) -> tuple[GoldQuestion, ...]:
    """Read a `.jsonl` file of questions or a `.ttl` file of SHACL examples, in file order.

    Raises `SetupError`, with file and line, for what is not a question, a missing or repeated id,
    a file without questions and, with `need_gold`, for a question that cannot be scored.
    """
    read = _shacl_examples if path.suffix == ".ttl" else _lines
    questions: list[GoldQuestion] = []
    seen: dict[str, str] = {}
    for place, question in read(path):
        if question.id in seen:
            raise SetupError(f"{place}: the id {question.id!r} is taken by {seen[question.id]}")
        if need_gold and not question.has_gold:
            raise SetupError(
                f"{place}: question {question.id!r} has no gold to score against; "
                "give it 'sparql' or 'answers', or '\"sparql\": null' where the graph has no answer"
            )
        seen[question.id] = place
        questions.append(question)
    if not questions:
        raise SetupError(f"{path} holds no questions")
    return tuple(questions)


def of_graph(
    questions: Sequence[GoldQuestion], name: str, *, required: bool = False
) -> tuple[GoldQuestion, ...]:
    """Return the questions that are asked of a graph, in a file with questions over several.

    `name` is the graph's, or that of its file. A question that names no graph is asked of any, and
    where all name the same one, that counts as this graph unless `required`. Raises `SetupError`
    where no question is left.
    """
    named = {question.graph for question in questions if question.graph}
    if len(named) <= 1 and not required:
        return tuple(questions)
    fitting = {graph for graph in named if name in (graph, Path(graph).stem)}
    found = tuple(q for q in questions if q.graph is None or q.graph in fitting)
    if not found:
        raise SetupError(
            f"no question is about {name!r}; their 'kg' names {', '.join(sorted(named)) or 'none'}"
        )
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SetupError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{path} is not UTF-8 text: {error}") from error


def _lines(path: Path) -> Iterator[tuple[str, GoldQuestion]]:
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            place = f"{path}, line {number}"
            yield place, _question(_object(line, place), place)


def _object(line: str, place: str) -> Mapping[str, object]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise SetupError(f"{place}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise SetupError(f"{place}: expected an object with 'id' and 'question'")
    return record


def _question(record: Mapping[str, object], place: str) -> GoldQuestion:
    identity = record.get("id")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or not identity:
        raise SetupError(f"{place}: no 'id'")
    text = record.get("question")
    if not isinstance(text, str):
        raise SetupError(f"{place}: question {identity!r} has no 'question' text")
    sparql = _optional_text(record, "sparql", place)
    answers = _answers(record.get("answers"), place)
    tags = _tags(record.get("tags"), place)
    no_answer = "sparql" in record and sparql is None and answers is None
    return GoldQuestion(
        id=identity,
        text=text,
        language=_optional_text(record, "lang", place),
        sparql=sparql,
        answers=answers,
        tags=tags,
        graph=_optional_text(record, "kg", place),
        unanswerable=no_answer or UNANSWERABLE in tags,
    )


def _optional_text(record: Mapping[str, object], key: str, place: str) -> str | None:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise SetupError(f"{place}: {key!r} must be text")
    return value or None


def _tags(value: object, place: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise SetupError(f"{place}: 'tags' must be a list of texts")
    return tuple(value)


def _answers(value: object, place: str) -> Table | None:
    match value:
        case None:
            return None
        case {"boolean": bool(truth)}:
            return Table.of_boolean(truth)
        case {"vars": list(variables), "rows": list(rows)} if all(
            isinstance(row, list) and len(row) == len(variables) for row in rows
        ):
            return Table.of_json([str(variable) for variable in variables], rows)
        case _:
            raise SetupError(
                f"{place}: 'answers' must be {{'vars': […], 'rows': [[…], …]}}, each row as long "
                "as vars, or {'boolean': true}"
            )


def _shacl_examples(path: Path) -> Iterator[tuple[str, GoldQuestion]]:
    statements = _Statements(_turtle(path))
    beside = path.with_name("prefixes.ttl")
    shared = _Statements(_turtle(beside)).prefixes() if beside.is_file() else {}
    prefixes = PrefixMap({**shared, **statements.prefixes()})
    for example in statements.executables():
        query = statements.text(example, voc.SH_SELECT) or statements.text(example, voc.SH_ASK)
        comments = statements.literals(example, voc.RDFS_COMMENT)
        tags = tuple(tag.value for key in KEYWORDS for tag in statements.literals(example, key))
        place = f"{path}, {example}"
        if query is None and UNANSWERABLE not in tags:
            raise SetupError(
                f"{place}: neither sh:select nor sh:ask; others cannot be scored. Give it one, or "
                f"the keyword {UNANSWERABLE!r} where the graph has no answer"
            )
        if not comments:
            raise SetupError(f"{place}: no rdfs:comment to take the question from")
        for suffix, comment in zip(_suffixes(comments), comments, strict=True):
            yield (
                place,
                GoldQuestion(
                    id=example.value + suffix,
                    text=comment.value,
                    language=comment.language,
                    sparql=None if query is None else _with_prefixes(query, prefixes),
                    tags=tags,
                    unanswerable=UNANSWERABLE in tags,
                ),
            )


def _suffixes(comments: Sequence[Literal]) -> list[str]:
    """What tells apart the ids of one example's questions: their language, or else a number."""
    if len(comments) == 1:
        return [""]
    languages = [comment.language for comment in comments]
    if len(set(languages)) == len(comments):
        return [f"@{language or 'none'}" for language in languages]
    return [f"#{number}" for number in range(1, len(comments) + 1)]


def _turtle(path: Path) -> list[Quad]:
    try:
        return list(parse(_text(path), RdfFormat.TURTLE))
    except SyntaxError as error:
        raise SetupError(f"{path}, line {error.lineno}: {error.msg}") from error


class _Statements:
    """The triples of a file, by subject and predicate, in file order."""

    def __init__(self, quads: Iterable[Quad]) -> None:
        self._objects: dict[tuple[object, str], list[object]] = {}
        for quad in quads:
            self._objects.setdefault((quad.subject, quad.predicate.value), []).append(quad.object)

    def executables(self) -> Iterator[NamedNode | BlankNode]:
        kinds = {
            NamedNode(voc.SH_SPARQL_EXECUTABLE),
            NamedNode(voc.SH_SPARQL_SELECT_EXECUTABLE),
            NamedNode(voc.SH_SPARQL_ASK_EXECUTABLE),
        }
        for (subject, predicate), objects in self._objects.items():
            if predicate == voc.RDF_TYPE and kinds.intersection(objects):
                assert isinstance(subject, NamedNode | BlankNode)
                yield subject

    def prefixes(self) -> dict[str, str]:
        declared: dict[str, str] = {}
        for (_, predicate), objects in self._objects.items():
            for node in objects if predicate == voc.SH_DECLARE else ():
                prefix = self.text(node, voc.SH_PREFIX)
                namespace = self.text(node, voc.SH_NAMESPACE)
                if prefix is not None and namespace is not None:
                    declared[prefix] = namespace
        return declared

    def literals(self, subject: object, predicate: str) -> list[Literal]:
        objects = self._objects.get((subject, predicate), ())
        return [term for term in objects if isinstance(term, Literal)]

    def text(self, subject: object, predicate: str) -> str | None:
        return next((literal.value for literal in self.literals(subject, predicate)), None)


def _with_prefixes(query: str, prefixes: PrefixMap) -> str:
    """Declare the prefixes that a query uses and leaves to its surroundings."""
    declared = set(re.findall(r"PREFIX\s+([^\s:]*):", query, re.IGNORECASE))
    missing = [prefix for prefix in prefixes.used_in(query) if prefix not in declared]
    lines = [f"PREFIX {prefix}: <{prefixes.namespaces[prefix]}>\n" for prefix in missing]
    return "".join(lines) + query
