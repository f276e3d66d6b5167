"""Our own format: one question a line.

`id` and `question` are needed. `"sparql": null` without answers, or the tag `unanswerable`, says
that the graph holds no answer. `kg` names the graph if a file holds questions over several.

A sample, `questions.jsonl`:

    {"id": "q1", "question": "How many moons has Mars?", "lang": "en", "sparql": "SELECT (COUNT(?m) AS ?n) { ?m <https://example.org/orbits> <https://example.org/Mars> }", "answers": {"vars": ["n"], "rows": [["2"]]}, "tags": ["count"], "kg": "space.ttl", "split": "test"}
"""  # noqa: E501

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import (
    Item,
    Record,
    Text,
    Unfit,
    each,
    gathered,
    keys_in,
    lines,
    wordings,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["QuestionsJsonl"]

UNANSWERABLE = "unanswerable"


class QuestionsJsonl:
    """Our lines of JSON; a question has one language."""

    title: ClassVar[str] = "Lines of questions (askgraph)"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a first line that is an object with id and question."""
        first = head.lstrip().partition("\n")[0]
        keys = keys_in(first)
        others = {"questions", "paraphrases", "info"}
        return first.startswith("{") and {"id", "question"} <= keys and others.isdisjoint(keys)

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all questions that have something to score against."""
        items = (item for found in self.items(path) for item in _spoken(*found, language))
        contents = gathered(items)
        graphs = {question.graph for question in contents.questions}
        graph = next(iter(graphs)) if len(graphs) == 1 else None
        return Contents(contents.questions, contents.unreadable, graph)

    def items(self, path: Path) -> Iterator[Item]:
        """Yield every line's question, with something to score against or not, or what is wrong."""
        return each(lines(path), lambda place, record: [(place, _question(record))])


def _spoken(place: str, found: GoldQuestion | str, language: str | None) -> Iterator[Item]:
    if isinstance(found, str) or language is None:
        yield place, found
        return
    text = Text(found.text, found.language)
    yield from each([(place, found)], lambda at, q: wordings(at, q, [text], language))


def _question(record: Record) -> GoldQuestion:
    identity = record.get("id")
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    if not isinstance(identity, str) or not identity:
        raise Unfit("no 'id'")
    text = record.get("question")
    if not isinstance(text, str):
        raise Unfit(f"question {identity!r} has no 'question' text")
    sparql = _optional_text(record, "sparql")
    answers = _answers(record.get("answers"))
    value = record.get("tags")
    tags: tuple[str, ...] = ()
    if value is not None:
        if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
            raise Unfit("'tags' must be a list of texts")
        tags = tuple(value)
    no_answer = "sparql" in record and record["sparql"] is None and answers is None
    return GoldQuestion(
        id=identity,
        text=text,
        language=_optional_text(record, "lang"),
        sparql=sparql,
        answers=answers,
        tags=tags,
        graph=_optional_text(record, "kg"),
        unanswerable=no_answer or UNANSWERABLE in tags,
        split=_optional_text(record, "split"),
    )


def _optional_text(record: Record, key: str) -> str | None:
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise Unfit(f"{key!r} must be text")
    return value or None


def _answers(value: object) -> Table | None:
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
            raise Unfit(
                "'answers' must be {'vars': […], 'rows': [[…], …]}, each row as long as vars, or "
                "{'boolean': true}"
            )
