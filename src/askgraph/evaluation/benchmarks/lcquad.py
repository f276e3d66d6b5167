"""LC-QuAD 1.0: 5,000 questions made from templates and corrected by people, over DBpedia 2016-04.

Trivedi et al., "LC-QuAD: A Corpus for Complex Question Answering over Knowledge Graphs", ISWC
2017 (GPL 3.0).

A sample, `lcquad_sample_train.json`:

    [{"_id": "0001",
      "corrected_question": "Which lakes lie in Exampleland?",
      "intermediary_question": "What are the <lakes> whose <country> is <Exampleland>?",
      "sparql_query": "SELECT DISTINCT ?uri WHERE { ?uri <http://dbpedia.org/ontology/country> <http://dbpedia.org/resource/Exampleland> }",
      "sparql_template_id": 301}]
"""  # noqa: E501

from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks._records import (
    Reader,
    Record,
    Text,
    english,
    identity,
    keys_in,
    query_in,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["LcQuad"]


class LcQuad(Reader):
    """LC-QuAD 1.0's JSON; the corrected question is asked. All questions are English."""

    title: ClassVar[str] = "LC-QuAD 1.0"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    graph = "dbpedia"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by its corrected questions."""
        return "corrected_question" in keys_in(head)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question, tagged with its template."""
        template = record.get("sparql_template_id", record.get("id"))
        question = GoldQuestion(
            identity(record, "_id", place),
            "",
            # The project's page calls the key `query`, its files `sparql_query`.
            sparql=query_in(record, "sparql_query") or query_in(record),
            tags=() if template is None else (f"template {template}",),
        )
        return question, english(record, "corrected_question")
