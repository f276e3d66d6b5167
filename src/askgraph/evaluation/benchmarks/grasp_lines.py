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

from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import (
    Item,
    Record,
    Text,
    each,
    gathered,
    identity,
    keys_in,
    lines,
    query_in,
    split_in,
    text_in,
    texts_in,
    wordings,
)
from askgraph.evaluation.benchmarks._vocabularies import DBPEDIA, WIKIDATA, graph_of
from askgraph.evaluation.questions import GoldQuestion

__all__ = ["GraspLines"]


class GraspLines:
    """GRASP's lines. All questions are English."""

    title: ClassVar[str] = "GRASP's benchmark lines"
    splits: ClassVar[tuple[str, ...]] = ("train", "val", "dev", "test")

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a first line with paraphrases or info beside question and query."""
        first = head.lstrip().partition("\n")[0]
        keys = keys_in(first)
        asked = {"id", "question", "sparql"} <= keys and not keys.isdisjoint(
            ("paraphrases", "info")
        )
        return first.startswith("{") and asked

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all questions; the graph is told from the queries."""
        split = split_in(path, self.splits)

        def questions(place: str, record: Record) -> Iterator[Item]:
            info = record.get("info")
            invalid = isinstance(info, dict) and info.get("invalid") is True
            question = GoldQuestion(
                identity(record, "id", place),
                "",
                sparql=query_in(record, "sparql"),
                tags=("invalid",) if invalid else (),
                split=split,
                paraphrases=texts_in(record, "paraphrases"),
            )
            text = text_in(record, "question") or ""
            return wordings(place, question, [Text(text, "en")], language)

        contents = gathered(each(lines(path), questions))
        graph = graph_of(question.sparql or "" for question in contents.questions)
        prefixes = {"wikidata": WIKIDATA, "dbpedia": DBPEDIA}.get(graph or "", {})
        return Contents(contents.questions, contents.unreadable, graph, prefixes)
