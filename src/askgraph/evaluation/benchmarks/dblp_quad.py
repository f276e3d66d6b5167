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

from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import gathered, keys_in
from askgraph.evaluation.benchmarks._scholarly import SPLITS, scholarly

__all__ = ["DblpQuad"]

PREFIXES = {"dblp": "https://dblp.org/rdf/schema#"}


class DblpQuad:
    """DBLP-QuAD's JSON; the first wording is asked. All questions are English."""

    title: ClassVar[str] = "DBLP-QuAD"
    splits: ClassVar[tuple[str, ...]] = SPLITS

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by query types with entities, and by whether templates are held out."""
        return {"questions", "query_type", "held_out"} <= keys_in(head)

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all questions with the entities and relations that they are about."""
        return gathered(scholarly(path, language), graph="dblp", prefixes=PREFIXES)
