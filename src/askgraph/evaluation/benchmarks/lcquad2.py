"""LC-QuAD 2.0: 30,000 questions made from templates and reworded, over Wikidata and DBpedia 2018.

Dubey et al., "LC-QuAD 2.0: A Large Dataset for Complex Question Answering over Wikidata and
DBpedia", ISWC 2019. Some questions are null; their paraphrase is asked then.

A sample, `lcquad2_sample_train.json`:

    [{"uid": 90001,
      "NNQT_question": "What is the {population} of {Exampletown}?",
      "question": "How many people live in Exampletown?",
      "paraphrased_question": "What is the number of inhabitants of Exampletown?",
      "sparql_wikidata": "SELECT ?answer WHERE { wd:Q1000001 wdt:P1082 ?answer }",
      "sparql_dbpedia18": "SELECT ?answer WHERE { <http://wikidata.dbpedia.org/resource/Q1000001> <http://dbpedia.org/ontology/populationTotal> ?answer }",
      "template": "E REF ?F", "template_index": 65, "subgraph": "simple question right"}]
"""  # noqa: E501

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from askgraph.evaluation.benchmarks._records import (
    Reader,
    Record,
    Text,
    identity,
    keys_in,
    query_in,
    texts_in,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["LcQuad2"]

NO_TEXT = frozenset({"n/a", "na", "nan", "none", "null"})
QUERIES = {"wikidata": "sparql_wikidata", "dbpedia": "sparql_dbpedia18"}


@dataclass(frozen=True)
class LcQuad2(Reader):
    """LC-QuAD 2.0's JSON, with the queries over Wikidata or DBpedia. All questions are English."""

    title: ClassVar[str] = "LC-QuAD 2.0"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    graph: Literal["wikidata", "dbpedia"] = "wikidata"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by the questions that its templates wrote."""
        return "NNQT_question" in keys_in(head)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with the query over one of its two graphs."""
        asked = (*_worded(record, "question"), *_worded(record, "paraphrased_question"))
        question = GoldQuestion(
            identity(record, "uid", place),
            "",
            sparql=query_in(record, QUERIES[self.graph]),
            tags=(*texts_in(record, "subgraph"), *texts_in(record, "template")),
            paraphrases=asked[1:],
        )
        return question, [Text(asked[0] if asked else "", "en")]


def _worded(record: Record, key: str) -> tuple[str, ...]:
    return tuple(text for text in texts_in(record, key) if text.lower() not in NO_TEXT)
