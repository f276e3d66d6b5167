"""DBLP-QuAD: 10,000 questions made from templates over the bibliography DBLP.

Banerjee et al., "DBLP-QuAD: A Question Answering Dataset over the DBLP Scholarly Knowledge Graph",
BIR 2023 (CC BY 4.0).

A sample, `questions.json`:

    {"questions": [{
       "id": "Q90001", "query_type": "SINGLE_FACT",
       "question": {"string": "Which papers did Ada Example write?"},
       "paraphrased_question": {"string": "List the publications of Ada Example."},
       "query": {"sparql": "SELECT DISTINCT ?answer WHERE { ?answer <https://dblp.org/rdf/schema#authoredBy> <https://dblp.org/pid/00/90001> }"},
       "template_id": "TC01",
       "entities": ["<https://dblp.org/pid/00/90001>"],
       "relations": ["<https://dblp.org/rdf/schema#authoredBy>"],
       "temporal": false, "held_out": false}]}
"""  # noqa: E501

from pathlib import Path
from typing import ClassVar

from askgraph.evaluation.benchmarks._records import Scholarly, keys_in

__all__ = ["DblpQuad"]


class DblpQuad(Scholarly):
    """DBLP-QuAD's JSON; the first wording is asked. All questions are English."""

    title: ClassVar[str] = "DBLP-QuAD"
    graph = "dblp"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by query types with entities, and by whether templates are held out."""
        return {"questions", "query_type", "held_out"} <= keys_in(head)
