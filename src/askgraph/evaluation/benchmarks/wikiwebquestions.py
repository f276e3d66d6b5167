"""WikiWebQuestions: the questions of WebQuestionsSP that Wikidata can answer, with stored results.

Xu et al., "Fine-tuned LLMs Know More, Hallucinate Less with Few-Shot Sequence-to-Sequence Semantic
Parsing over Wikidata", EMNLP 2023.

A sample, `wikiwebquestions_sample_dev.json`:

    [{"id": "WebQTrn-90001",
      "utterance": "what is the highest mountain of exampleland?",
      "sparql": "SELECT DISTINCT ?x WHERE { wd:Q1000003 wdt:P610 ?x. }",
      "results": [{"x": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1000004"}}]}]
"""

from pathlib import Path
from typing import ClassVar

from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks._records import (
    Reader,
    Record,
    Text,
    Unfit,
    english,
    identity,
    keys_in,
    query_in,
    table_of_bindings,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["WikiWebQuestions"]


class WikiWebQuestions(Reader):
    """WikiWebQuestions' JSON. All questions are English."""

    title: ClassVar[str] = "WikiWebQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")
    graph = "wikidata"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by an utterance with its query, or a question with query and results."""
        keys = keys_in(head)
        asked = {"utterance", "sparql"} <= keys or {"question", "sparql", "results"} <= keys
        return head.lstrip().startswith("[") and asked and "title" not in keys

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with its stored results."""
        question = GoldQuestion(
            identity(record, "id", place),
            "",
            sparql=query_in(record, "sparql"),
            answers=_answers(record.get("results")),
        )
        return question, english(record, "utterance", "question")


def _answers(results: object) -> Table | None:
    match results:
        case None:
            return None
        case bool(truth):
            return Table.of_boolean(truth)
        case list(bindings):
            return table_of_bindings(bindings)
        case _:
            raise Unfit("'results' must be a list of solutions or a boolean")
