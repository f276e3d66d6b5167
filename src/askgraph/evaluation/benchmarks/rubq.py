"""RuBQ 1.0 and 2.0: Russian quiz questions over Wikidata, each with a machine's English version.

Korablinov and Braslavski, "RuBQ: A Russian Dataset for Question Answering over Wikidata", ISWC
2020; Rybin et al., "RuBQ 2.0", ESWC 2021 (CC BY-SA 4.0). Questions tagged `no_answer` have none in
Wikidata.

A sample, `RuBQ_sample_dev.json`:

    [{"uid": 90001, "question_text": "В какой стране находится Примерград?",
      "question_eng": "In which country is Exampletown?", "answer_text": "Примерландия",
      "query": "SELECT ?answer WHERE { wd:Q1000001 wdt:P17 ?answer }",
      "question_uris": ["http://www.wikidata.org/entity/Q1000001"], "question_props": ["wdt:P17"],
      "answers": [{"type": "uri", "label": "Примерландия",
                   "value": "http://www.wikidata.org/entity/Q1000003"}],
      "tags": ["1-hop"], "RuBQ_version": "1.0"},
     {"uid": 90002, "question_text": "Кто придумал Примерград?", "question_eng": null,
      "answer_text": "Никто", "query": null, "question_uris": [], "answers": [],
      "tags": ["no_answer"]}]
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
    table_of_bindings,
    text_in,
    texts_in,
    wikidata_iri,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["Rubq"]

NO_ANSWER = frozenset({"no_answer", "no-answer"})


class Rubq(Reader):
    """RuBQ's JSON. None takes Russian, in which the questions were written."""

    title: ClassVar[str] = "RuBQ 1.0, 2.0"
    splits: ClassVar[tuple[str, ...]] = ("dev", "test")
    language: ClassVar[str | None] = "ru"
    graph = "wikidata"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by its Russian text with the entities of the question."""
        return {"uid", "question_text", "question_uris"} <= keys_in(head)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question; one without an answer in Wikidata is unanswerable."""
        tags = texts_in(record, "tags")
        question = GoldQuestion(
            identity(record, "uid", place),
            "",
            sparql=query_in(record),
            answers=_answers(record.get("answers")),
            tags=tags,
            unanswerable=not NO_ANSWER.isdisjoint(tags),
            entities=texts_in(record, "question_uris"),
            predicates=tuple(map(wikidata_iri, texts_in(record, "question_props"))),
        )
        texts = (("question_text", "ru"), ("question_eng", "en"))
        return question, [Text(text_in(record, key) or "", language) for key, language in texts]


def _answers(value: object) -> Table | None:
    if not isinstance(value, list | None):
        raise Unfit("'answers' must be a list")
    return table_of_bindings([{"answer": answer} for answer in value]) if value else None
