"""Our own format: one question a line.

`id` and `question` are needed. `"sparql": null` without answers, or the tag `unanswerable`, says
that the graph holds no answer. `kg` names the graph if a file holds questions over several.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

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
    stored_table,
    text_in,
    texts_in,
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
    identity, text = record.get("id"), record.get("question")
    if isinstance(identity, bool) or not isinstance(identity, str | int) or identity == "":
        raise Unfit("no 'id'")
    if not isinstance(text, str):
        raise Unfit(f"question {str(identity)!r} has no 'question' text")
    answers, tags = stored_table(record.get("answers")), texts_in(record, "tags")
    no_answer = "sparql" in record and record["sparql"] is None and answers is None
    return GoldQuestion(
        id=str(identity),
        text=text,
        language=text_in(record, "lang"),
        sparql=text_in(record, "sparql"),
        answers=answers,
        tags=tags,
        graph=text_in(record, "kg"),
        unanswerable=no_answer or UNANSWERABLE in tags,
        split=text_in(record, "split"),
    )
