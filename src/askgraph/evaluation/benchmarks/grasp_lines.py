"""The lines of JSON in which GRASP's repository keeps many public benchmarks.

Walter and Bast, "GRASP: Generic Reasoning And SPARQL Generation across Knowledge Graphs", arXiv
2507.08107, section 4 (the licence is that of each benchmark). `info.invalid` marks questions whose query
its authors could not use; they are read, with the tag `invalid`.

A sample, `sample_test.jsonl`:

    {"id": "test_0", "question": "Which lakes lie in Exampleland?", "sparql": "PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/> SELECT ?lake { ?lake wdt:P31 wd:Q23397 ; wdt:P17 wd:Q1000003 }", "paraphrases": ["What are the lakes of Exampleland?"], "info": {"invalid": false}}
"""  # noqa: E501

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks._records import (
    Reader,
    Record,
    Text,
    english,
    identity,
    keys_in,
    lines,
    query_in,
    texts_in,
)
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["GraspLines"]


class GraspLines(Reader):
    """GRASP's lines. All questions are English."""

    title: ClassVar[str] = "GRASP's benchmark lines"
    splits: ClassVar[tuple[str, ...]] = ("train", "val", "dev", "test")

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a first line with paraphrases or info beside question and query."""
        first = head.lstrip().partition("\n")[0]
        keys = keys_in(first)
        more = {"paraphrases", "info"} & keys
        return first.startswith("{") and {"id", "question", "sparql"} <= keys and bool(more)

    def records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the object of each line."""
        return lines(path)

    def question(self, place: str, record: Record) -> tuple[GoldQuestion, list[Text]]:
        """Return a question, tagged if its authors could not use its query."""
        info = record.get("info")
        invalid = isinstance(info, dict) and info.get("invalid") is True
        question = GoldQuestion(
            identity(record, "id", place),
            "",
            sparql=query_in(record, "sparql"),
            tags=("invalid",) if invalid else (),
            paraphrases=texts_in(record, "paraphrases"),
        )
        return question, english(record, "question")
