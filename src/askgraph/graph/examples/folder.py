"""Examples in a folder of Turtle files, one an example, as a version control system likes them."""

import re
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from askgraph.atomic_files import write_whole
from askgraph.errors import SetupError
from askgraph.graph.archives import text_of
from askgraph.graph.examples import QueryExample, plain_question
from askgraph.graph.examples.shacl import PREFIXES, executables, prefixes_beside, read_shacl
from askgraph.graph.examples.turtle import declarations, example_turtle, shared_prefixes
from askgraph.sparql.rdf_files import parsed

_LONGEST = 60


@dataclass(frozen=True)
class Stored:
    """An example with its file; `id` is the file's name without `.ttl`."""

    id: str
    path: Path
    example: QueryExample


@dataclass(frozen=True)
class ExampleFolder:
    """A folder of examples; `prefixes.ttl` in it declares what their queries leave out.

    Whoever writes to it keeps other processes from doing so at the same time.
    """

    path: Path

    def stored(self) -> tuple[Stored, ...]:
        """Return all examples, sorted by file; none if there is no folder.

        Raises `SetupError` if a file holds anything else: it was written by hand.
        """
        return tuple(self._read()) if self.path.is_dir() else ()

    def add(self, examples: Sequence[QueryExample]) -> tuple[Stored, ...]:
        """Write examples, each whole; one with the IRI of another takes its place.

        Raises `SetupError` if that one shares its file with others, before anything is written.
        An example without an IRI gets one. Prefixes are only ever added, so that the files that are
        there keep their meaning.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        for left in self.path.glob(".*.ttl.*"):  # half-written by a process that was killed
            left.unlink()
        there, new = self.stored(), [named(example) for example in examples]
        stems = list(_stems(new, there))
        file = self.path / PREFIXES
        known = parsed(text_of(file), str(file))[0].declared() if file.is_file() else {}
        declared = shared_prefixes([*(one.example for one in there), *new]) | known
        if declared != known:
            write_whole(self.path / PREFIXES, declarations(declared))
        written = []
        for example, stem in zip(new, stems, strict=True):
            path = self.path / f"{stem}.ttl"
            write_whole(path, example_turtle(example, declared))
            written.append(Stored(stem, path, example))
        return tuple(written)

    def remove(self, stored: Stored) -> None:
        """Delete an example's file; `SetupError` if the file holds others too."""
        if sum(1 for _ in executables(stored.path)) > 1:
            raise SetupError(f"{stored.path} holds several examples: take this one out by hand")
        stored.path.unlink()

    def _read(self) -> Iterator[Stored]:
        declared = prefixes_beside(self.path / PREFIXES)
        for path in sorted(self.path.glob("*.ttl")):
            if path.name == PREFIXES:
                continue
            found = read_shacl(path, declared=declared)
            for unread in found.unread:
                raise SetupError(f"{unread.place}: {unread.reason}; mend it, or take it away")
            for number, example in enumerate(found.examples, start=1):
                name = path.stem if len(found.examples) == 1 else f"{path.stem}#{number}"
                yield Stored(name, path, example)


def named(example: QueryExample) -> QueryExample:
    """Return the example with an IRI: a `urn:uuid:` that the same question always gets."""
    if example.iri:
        return example
    text = f"{(example.language or '').lower()} {plain_question(example.question)}"
    return replace(example, iri=uuid.uuid5(uuid.NAMESPACE_OID, text).urn)


def _stems(examples: Sequence[QueryExample], there: Sequence[Stored]) -> Iterator[str]:
    """File names: those they have, else as the IRIs say, numbered if two would have the same."""
    shared = {path for path, number in Counter(one.path for one in there).items() if number > 1}
    places = {one.example.iri: one.path for one in there if one.example.iri}
    taken = {
        one.path.stem.casefold(): None if one.path in shared else one.example.iri for one in there
    }
    taken[PREFIXES.removesuffix(".ttl")] = None
    for example in examples:
        path = places.get(example.iri or "")
        if path in shared:
            raise SetupError(f"{path} holds several examples: take this one out by hand")
        if path is not None:
            yield path.stem
            continue
        name = stem = _stem(example)
        number = 1
        while taken.get(stem.casefold(), example.iri) != example.iri:
            number += 1
            stem = f"{name}-{number}"
        taken[stem.casefold()] = example.iri
        yield stem


def _stem(example: QueryExample) -> str:
    iri = example.iri or ""
    if iri.startswith("urn:uuid:"):
        return f"{_slug(example.question)[:_LONGEST].rstrip('-')}-{iri[9:17]}"
    return _slug(re.split(r"[#/:]", iri.rstrip("#/"))[-1])[:_LONGEST] or "example"


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-_")
