"""Our own format: one question per line.

`id` and `question` are required. `"sparql": null` without answers, or the tag `unanswerable`, means
that the graph holds no answer. `kg` names the graph if a file covers several.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks._records import (
    Item,
    QuestionText,
    Record,
    UnusableItemError,
    collect_contents,
    expand_wordings,
    find_keys,
    get_text,
    get_texts,
    iterate_json_lines,
    parse_stored_answers,
    read_records,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["QuestionsJsonl"]

UNANSWERABLE_TAG = "unanswerable"


class QuestionsJsonl:
    """Our JSON lines; each question has one language."""

    title: ClassVar[str] = "Lines of questions (askgraph)"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the first line is an object with id and question."""
        first_line = head.lstrip().partition("\n")[0]
        keys = find_keys(first_line)
        excluded_keys = {"questions", "paraphrases", "info"}
        return (
            first_line.startswith("{")
            and {"id", "question"} <= keys
            and excluded_keys.isdisjoint(keys)
        )

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all questions that can be scored."""
        items = (
            item
            for record in self.iterate_items(path)
            for item in _select_language(*record, language)
        )
        contents = collect_contents(items)
        graphs = {question.graph for question in contents.questions}
        graph = next(iter(graphs)) if len(graphs) == 1 else None
        return BenchmarkContents(contents.questions, contents.unreadable, graph)

    def iterate_items(self, path: Path) -> Iterator[Item]:
        """Yield the question of every line, scorable or not, or the reason why it has none."""
        return read_records(
            iterate_json_lines(path), lambda location, record: [(location, _build_question(record))]
        )


def _select_language(
    location: str, question: GoldQuestion | str, language: str | None
) -> Iterator[Item]:
    if isinstance(question, str) or language is None:
        yield location, question
        return
    text = QuestionText(question.text, question.language)
    yield from read_records(
        [(location, question)],
        lambda item_location, item: expand_wordings(item_location, item, [text], language),
    )


def _build_question(record: Record) -> GoldQuestion:
    identity, text = record.get("id"), record.get("question")
    if isinstance(identity, bool) or not isinstance(identity, str | int) or identity == "":
        raise UnusableItemError("no 'id'")
    if not isinstance(text, str):
        raise UnusableItemError(f"question {str(identity)!r} has no 'question' text")
    answers, tags = parse_stored_answers(record.get("answers")), get_texts(record, "tags")
    lacks_answer = "sparql" in record and record["sparql"] is None and answers is None
    return GoldQuestion(
        id=str(identity),
        text=text,
        language=get_text(record, "lang"),
        sparql=get_text(record, "sparql"),
        answers=answers,
        tags=tags,
        graph=get_text(record, "kg"),
        unanswerable=lacks_answer or UNANSWERABLE_TAG in tags,
        split=get_text(record, "split"),
    )
