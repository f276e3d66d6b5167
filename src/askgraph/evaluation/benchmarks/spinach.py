"""SPINACH: 320 hard questions that people asked for queries over Wikidata, with their queries.

Liu et al., "SPINACH: SPARQL-Based Information Navigation for Challenging Real-World Questions",
Findings of EMNLP 2024 (Apache-2.0). The queries leave Wikidata's prefixes undeclared, and some use
what only its own query service understands, such as the label service and named subqueries.

A sample, `spinach_sample_dev.json`:

    [{"id": "dev_900", "title": "Lighthouses by height",
      "url": "https://www.wikidata.org/wiki/Wikidata:Request_a_query/Archive/2020/01",
      "question": "Which lighthouses are taller than 50 metres, and how tall are they?",
      "sparql": "SELECT ?item ?height { ?item wdt:P31 wd:Q39715 ; wdt:P2048 ?height . FILTER(?height > 50) }"}]
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

__all__ = ["Spinach"]


class Spinach(Reader):
    """SPINACH's JSON. All questions are English."""

    title: ClassVar[str] = "SPINACH"
    splits: ClassVar[tuple[str, ...]] = ("dev", "test")
    graph = "wikidata"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by the title and page of the request beside question and query."""
        wanted = {"id", "title", "url", "question", "sparql"}
        return head.lstrip().startswith("[") and wanted <= keys_in(head)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question with its query."""
        identifier, query = identity(record, "id", place), query_in(record, "sparql")
        return GoldQuestion(identifier, "", sparql=query), english(record, "question")
