"""ComplexWebQuestions: questions of WebQSP made complex by a program, then told by people.

Talmor and Berant, "The Web as a Knowledge-Base for Answering Complex Questions", NAACL 2018. The
question as the program wrote it is kept as a paraphrase, how it was made complex as a tag.

A sample, `ComplexWebQuestions_sample_dev.json`:

    [{"ID": "WebQTest-90001_0a1b", "webqsp_ID": "WebQTest-90001",
      "question": "What is spoken where Ada Example was born?",
      "machine_question": "what do people in the place where Ada Example was born speak",
      "compositionality_type": "composition",
      "sparql": "SELECT ?x { ns:m.0exam3 ns:people.person.place_of_birth/ns:p.spoken ?x }",
      "answers": [{"answer_id": "m.0exam2", "answer": "Exemplish", "aliases": []}]}]
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks._records import (
    FREEBASE,
    Reader,
    Record,
    Text,
    Unfit,
    answers_in,
    english,
    identity,
    keys_in,
    query_in,
    texts_in,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["ComplexWebQuestions"]


class ComplexWebQuestions(Reader):
    """ComplexWebQuestions' JSON. All questions are English."""

    title: ClassVar[str] = "ComplexWebQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")
    graph = "freebase"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by the question of WebQSP that a question was made of."""
        return {"webqsp_ID", "machine_question"} <= keys_in(head)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with its query and stored answers."""
        question = GoldQuestion(
            identity(record, "ID", place),
            "",
            sparql=query_in(record, "sparql"),
            answers=answers_in(record, "answers", _value),
            tags=texts_in(record, "compositionality_type"),
            paraphrases=texts_in(record, "machine_question"),
        )
        return question, english(record, "question")


def _value(answer: object) -> str:
    match answer:
        case Mapping() if isinstance(name := answer.get("answer_id"), str) and name:
            return FREEBASE["ns"] + name if name.startswith(("m.", "g.")) else name
        case Mapping() if isinstance(text := answer.get("answer"), str):
            return text
        case _:
            raise Unfit("an answer must be an object with 'answer_id' or 'answer', a text")
