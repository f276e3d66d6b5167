"""An entity linker that runs in this process: a pipeline of spaCy with an `entity_linker`.

The address is a folder or an installed package that spaCy loads, and behind a `#` what is put
before the ids of its knowledge base if these are no IRIs:

    pipelines/space#http://www.wikidata.org/entity/
"""

import asyncio
from collections.abc import Sequence
from functools import lru_cache

import spacy
from spacy.language import Language

from askgraph.errors import SetupError
from askgraph.index.linkers import Span

__all__ = ["SpacyLinker"]

_NAMES_NOTHING = ("", "NIL")  # what spaCy says of a mention that its knowledge base does not know


class SpacyLinker:
    """Links with a pipeline, which is loaded once a process; it says no scores."""

    def __init__(self, address: str) -> None:
        name, _, self._space = address.partition("#")
        self._pipeline = _loaded(name)

    async def spans(self, text: str, language: str | None) -> Sequence[Span]:
        """Return the pipeline's entities that it links, in the order of the text."""
        found = await asyncio.to_thread(self._pipeline, text)
        return [
            Span(one.start_char, one.end_char, self._iri(one.kb_id_))
            for one in found.ents
            if one.kb_id_ not in _NAMES_NOTHING
        ]

    def _iri(self, text: str) -> str:
        return text if ":" in text else f"{self._space}{text}"


@lru_cache(maxsize=4)
def _loaded(name: str) -> Language:
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
