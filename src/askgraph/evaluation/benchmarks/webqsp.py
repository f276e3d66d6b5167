"""WebQSP: questions that people asked a search engine, with queries and answers over Freebase.

Yih et al., "The Value of Semantic Parse Labeling for Knowledge Base Question Answering", ACL 2016.
A question may have several parses; the first that has a query or answers counts.

A sample, `webqsp_sample_test.json`:

    {"Version": "1.0", "Questions": [{
      "QuestionId": "WebQTest-90001",
      "RawQuestion": "what do people in exampleland speak?",
      "Parses": [{"ParseId": "WebQTest-90001.P0",
                  "Sparql": "SELECT ?x { ns:m.0exam1 ns:location.country.languages_spoken ?x }",
                  "TopicEntityMid": "m.0exam1",
                  "InferentialChain": ["location.country.languages_spoken"],
                  "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.0exam2"}]}]}]}
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
    text_in,
    texts_in,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["WebQsp"]

_NS = FREEBASE["ns"]


class WebQsp(Reader):
    """WebQSP's JSON. All questions are English."""

    title: ClassVar[str] = "WebQSP"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    key: ClassVar[str | None] = "Questions"
    graph = "freebase"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by its questions as they were typed, with parses."""
        return {"Questions", "RawQuestion", "Parses"} <= keys_in(head)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with the query and the answers of its first parse."""
        parse = next(
            (one for one in _parses(record) if one.get("Sparql") or one.get("Answers")), {}
        )
        topic = text_in(parse, "TopicEntityMid")
        question = GoldQuestion(
            identity(record, "QuestionId", place),
            "",
            sparql=query_in(parse, "Sparql"),
            answers=answers_in(parse, "Answers", _value),
            entities=(_NS + topic,) if topic else (),
            predicates=tuple(_NS + name for name in texts_in(parse, "InferentialChain")),
        )
        return question, english(record, "RawQuestion", "ProcessedQuestion")


def _parses(record: Record) -> list[Record]:
    parses = record.get("Parses") or []
    if not isinstance(parses, list) or not all(isinstance(one, dict) for one in parses):
        raise Unfit("'Parses' must be a list of objects")
    return parses


def _value(answer: object) -> str:
    match answer:
        case Mapping() if isinstance(value := answer.get("AnswerArgument"), str):
            return _NS + value if answer.get("AnswerType") == "Entity" else value
        case _:
            raise Unfit("an answer must be an object with 'AnswerArgument', a text")
