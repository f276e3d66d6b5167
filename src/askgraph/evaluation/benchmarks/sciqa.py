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

from askgraph.evaluation.benchmarks._records import Scholarly, keys_in

__all__ = ["SciQa"]


class SciQa(Scholarly):
    """SciQA's JSON; the first wording is asked. All questions are English."""

    title: ClassVar[str] = "SciQA"
    graph = "orkg"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by the shape of a query and whether it was generated."""
        keys = keys_in(head)
        made = {"query_shape", "auto_generated"} & keys
        return {"questions", "query_type"} <= keys and bool(made)
