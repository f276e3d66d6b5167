"""An entity linker that runs in this process: a spaCy pipeline with an `entity_linker`.

The address is a folder or an installed package that spaCy loads. The part after a `#` is prepended
to the ids of its knowledge base if they are not IRIs:

    pipelines/space#http://www.wikidata.org/entity/
"""

import asyncio
from collections.abc import Sequence
from functools import lru_cache

import spacy
from spacy.language import Language

from askgraph.errors import SetupError
from askgraph.index.linkers import EntitySpan

__all__ = ["SpacyLinker"]

_UNKNOWN_IDS = ("", "NIL")  # spaCy's ids for a mention outside of its knowledge base


class SpacyLinker:
    """Links with a pipeline, which is loaded once in a process; it reports no scores."""

    def __init__(self, address: str) -> None:
        name, _, self._space = address.partition("#")
        self._pipeline = _load_pipeline(name)

    async def find_spans(self, text: str, language: str | None) -> Sequence[EntitySpan]:
        """Return the entities that the pipeline links, in the order of the text."""
        return [
            EntitySpan(entity.start_char, entity.end_char, self._expand_iri(entity.kb_id_))
            for entity in (await asyncio.to_thread(self._pipeline, text)).ents
            if entity.kb_id_ not in _UNKNOWN_IDS
        ]

    def _expand_iri(self, text: str) -> str:
        return text if ":" in text else f"{self._space}{text}"


@lru_cache(maxsize=4)
def _load_pipeline(name: str) -> Language:
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as problem:
        raise SetupError(
            f"spaCy cannot load the pipeline {name!r}: {problem}; name a folder or an installed "
            "package with the setting 'linker_address'"
        ) from problem
    if "entity_linker" not in pipeline.pipe_names:
        raise SetupError(
            f"the pipeline {name!r} has no entity_linker, only {', '.join(pipeline.pipe_names)}"
        )
    return pipeline
