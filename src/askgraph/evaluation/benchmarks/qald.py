"""QALD: questions in many languages over DBpedia or Wikidata (QALD-7, -9, -9-plus, -10).

Usbeck et al., "QALD-10 – The 10th challenge on question answering over linked data", Semantic Web
2023 (QALD-10: MIT licence); Perevalov et al., "QALD-9-plus", ICSC 2022 (CC BY 4.0). The Wikidata
version of SimpleQuestions is also published in this form.

A sample, `qald_sample_test.json`:

    {"dataset": {"id": "qald-sample"},
     "questions": [{
       "id": "7", "answertype": "resource", "aggregation": false,
       "question": [
         {"language": "en", "string": "Which river crosses Exampletown?", "keywords": "river"},
         {"language": "de", "string": "Welcher Fluss fließt durch Exampletown?"},
         {"language": "de", "string": "Welcher Fluss durchquert Exampletown?"}],
       "query": {"sparql": "SELECT ?uri WHERE { wd:Q1000001 wdt:P206 ?uri }"},
       "answers": [{
         "head": {"vars": ["uri"]},
         "results": {"bindings": [
           {"uri": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1000002"}}]}}]}]}
"""

from pathlib import Path
from typing import ClassVar

from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks._records import (
    Reader,
    Record,
    Text,
    Unfit,
    identity,
    keys_in,
    query_in,
    table_of_result,
    text_in,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["Qald"]

OUT_OF_SCOPE = "OUT OF SCOPE"  # stands in the place of a query if the graph has no answer
FLAGS = ("aggregation", "onlydbo", "hybrid")


class Qald(Reader):
    """QALD's JSON. None takes English if an item is in English, else its first language."""

    title: ClassVar[str] = "QALD 7, 9, 9-plus, 10"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    key: ClassVar[str | None] = "questions"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a question that is a list of strings with their languages."""
        keys = keys_in(head)
        return {"questions", "question", "language", "string"} <= keys and "query_type" not in keys

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with its stored answers."""
        query = query_in(record)
        question = GoldQuestion(
            identity(record, "id", place),
            "",
            sparql=None if query == OUT_OF_SCOPE else query,
            answers=_answers(record.get("answers")),
            tags=_tags(record),
            unanswerable=query == OUT_OF_SCOPE,
        )
        value = record.get("question")
        if not isinstance(value, list):
            raise Unfit("'question' must be a list of objects with 'language' and 'string'")
        texts = []
        for wording in value:
            if not isinstance(wording, dict):
                raise Unfit("a wording in 'question' is no object")
            texts.append(Text(text_in(wording, "string") or "", text_in(wording, "language")))
        return question, texts


def _answers(value: object) -> Table | None:
    """Return the table of the only result, or of several with the same variables."""
    if not isinstance(value, list | None):
        raise Unfit("'answers' must be a list")
    tables = [table_of_result(result) for result in value or []]
    if not tables:
        return None
    first = tables[0]
    if len(tables) == 1:
        return first
    if any(table.boolean is not None or table.variables != first.variables for table in tables):
        raise Unfit("it has several stored answers that do not go together")
    rows = tuple(row for table in tables for row in table.rows)
    terms = tuple(row for table in tables for row in table.terms)
    return Table(first.variables, rows, terms=terms if len(terms) == len(rows) else ())


def _tags(record: Record) -> tuple[str, ...]:
    kind = text_in(record, "answertype")
    return (*([kind] if kind else []), *(flag for flag in FLAGS if record.get(flag) is True))
