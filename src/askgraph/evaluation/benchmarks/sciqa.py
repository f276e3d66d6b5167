"""SciQA: 2,565 questions over the Open Research Knowledge Graph, by hand and from templates.

Auer et al., "The SciQA Scientific Question Answering Benchmark for Scholarly Knowledge",
Scientific Reports 13, 2023 (CC BY 4.0).

A sample, `sciqa_sample_test.json`:

    {"questions": [{
       "id": "AQ90001", "query_type": "Factoid",
       "question": {"string": "Which models were tried on the Example data set?"},
       "paraphrased_question": [],
       "query": {"sparql": "SELECT DISTINCT ?model WHERE { ?model a orkgc:Model ; orkgp:HAS_DATASET ?data . ?data rdfs:label \\"Example\\" }"},
       "template_id": "T01", "auto_generated": true, "query_shape": "Tree",
       "query_class": "WHICH-WHAT", "number_of_patterns": 3}]}
"""  # noqa: E501

from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import gathered, keys_in
from askgraph.evaluation.benchmarks._scholarly import SPLITS, scholarly
from askgraph.evaluation.benchmarks._vocabularies import ORKG

__all__ = ["SciQa"]


class SciQa:
    """SciQA's JSON; the first wording is asked. All questions are English."""

    title: ClassVar[str] = "SciQA"
    splits: ClassVar[tuple[str, ...]] = SPLITS

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by the shape of a query and whether it was generated."""
        keys = keys_in(head)
        return {"questions", "query_type"} <= keys and bool(
            {"query_shape", "auto_generated"} & keys
        )

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all questions."""
        return gathered(scholarly(path, language), graph="orkg", prefixes=ORKG)
