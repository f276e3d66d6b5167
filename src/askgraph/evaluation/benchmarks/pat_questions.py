"""PAT-Questions: questions whose answer changes with the present, over snapshots of Wikidata.

Meem et al., "PAT-Questions: A Self-Updating Benchmark for Present-Anchored Temporal Question
Answering", Findings of ACL 2024. A file is one snapshot and one number of hops; the stored answers
hold for that snapshot only. The files hold no queries.

A sample, `PAT-singlehop.json`:

    {"Which team does Ada Example play for currently?": {
       "question": "Which team does Ada Example play for currently?",
       "subject": {"subject": "Q1000005", "subLabel": "Ada Example"},
       "text answers": ["Exampletown United"],
       "answer annotations": [{"ID": "Q1000006", "Label": "Exampletown United"}],
       "relations": ["P54"],
       "template": "Which team does {subject} play for currently?", "uniq_id": 1}}
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.errors import SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks._records import (
    Reader,
    Record,
    Text,
    Unfit,
    english,
    identity,
    keys_in,
    loaded,
    numbered,
    query_in,
    table_of_bindings,
    text_in,
    texts_in,
    wikidata_iri,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["PatQuestions"]

HOPS = {1: "single-hop", 2: "multi-hop"}


class PatQuestions(Reader):
    """PAT-Questions' JSON, one object with a record for each question. All are English."""

    title: ClassVar[str] = "PAT-Questions"
    graph = "wikidata"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by its annotated answers."""
        return {"text answers", "answer annotations"} <= keys_in(head)

    def records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the values of the object."""
        content = loaded(path)
        records = list(content.values()) if isinstance(content, dict) else content
        if not isinstance(records, list):
            raise SetupError(f"{path}: expected an object with a record for each question")
        return numbered(path, records)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with the answers of this snapshot."""
        relations = texts_in(record, "relations")
        question = GoldQuestion(
            identity(record, "uniq_id", place),
            "",
            sparql=query_in(record, "sparql"),
            answers=_answers(record),
            tags=_tags(record, relations),
            entities=_subject(record),
            predicates=tuple(map(wikidata_iri, relations)),
        )
        return question, english(record, "question")


def _answers(record: Record) -> Table | None:
    """Return the annotated answers, entities as IRIs; else the plain texts."""
    annotations = record.get("answer annotations")
    if not isinstance(annotations, list | None):
        raise Unfit("'answer annotations' must be a list")
    values = [_value(annotation) for annotation in annotations or []]
    texts = texts_in(record, "text answers")
    values = values or [{"type": "literal", "value": text} for text in texts]
    return table_of_bindings([{"answer": value} for value in values]) if values else None


def _value(annotation: object) -> dict[str, str]:
    if not isinstance(annotation, dict):
        raise Unfit("one of its 'answer annotations' is no object")
    name = text_in(annotation, "ID") or text_in(annotation, "Label")
    if name is None:
        raise Unfit("one of its 'answer annotations' has neither 'ID' nor 'Label'")
    if re.fullmatch(r"Q[0-9]+", name):
        return {"type": "uri", "value": wikidata_iri(name)}
    return {"type": "literal", "value": name}


def _tags(record: Record, relations: tuple[str, ...]) -> tuple[str, ...]:
    template = text_in(record, "template")
    hops = [HOPS[min(len(relations), 2)]] if relations else []
    return (*hops, *([template] if template else []))


def _subject(record: Record) -> tuple[str, ...]:
    subject = record.get("subject")
    name = text_in(subject, "subject") if isinstance(subject, dict) else None
    return (wikidata_iri(name),) if name else ()
