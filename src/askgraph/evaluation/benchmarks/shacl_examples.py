"""Question–query pairs as SHACL executables in Turtle: a file, a folder, an archive, an endpoint.

Bolleman et al., "A large collection of bioinformatics question–query pairs over federated knowledge
graphs", GigaScience 2025 (the collection of the SIB: CC BY 4.0). Prefixes are declared once for
many files and shared through a blank node; a file sees its own prefixes and those of the files in
its folder and the folders above. CONSTRUCT and DESCRIBE queries have no rows to score and are
listed as unreadable. The keyword `unanswerable` means that the graph holds no answer.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.endpoint import Endpoint
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks._records import (
    Item,
    QuestionText,
    UnusableItemError,
    collect_contents,
    expand_wordings,
    read_records,
)
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import get_plain_name, is_bundle
from askgraph.graph.examples.shacl import ExecutableItem as Described
from askgraph.graph.examples.shacl import ShaclExecutable, iterate_executables
from askgraph.graph.published_metadata import fetch_published_examples

__all__ = ["ShaclExamples"]

UNANSWERABLE_TAG = "unanswerable"
NO_QUERY_MESSAGE = (
    "neither sh:select nor sh:ask; others cannot be scored. Give it one, or the keyword "
    f"{UNANSWERABLE_TAG!r} if the graph has no answer"
)


class ShaclExamples:
    """SHACL examples in Turtle. Language None selects English if present, else the first text."""

    title: ClassVar[str] = "SHACL examples (SIB)"
    splits: ClassVar[tuple[str, ...]] = ()

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the file is Turtle, or a folder or archive that holds a Turtle file."""
        names = head.lower().split("\n") if is_bundle(path) else [get_plain_name(path)]
        return any(name.removesuffix(".gz").endswith(".ttl") for name in names)

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all examples; list the files of a folder or archive that are not valid Turtle."""
        return _set_common_graph(collect_contents(self.iterate_items(path, language=language)))

    async def read_endpoint(
        self, endpoint: Endpoint, *, language: str | None = None
    ) -> BenchmarkContents:
        """Read the examples that a SPARQL endpoint publishes in its own graph.

        A truncated reply is listed as unreadable.

        Raises:
            ServiceError: The endpoint failed.
        """
        items = _iterate_questions(await fetch_published_examples(endpoint), language)
        return _set_common_graph(collect_contents(items))

    def iterate_items(self, path: Path, *, language: str | None) -> Iterator[Item]:
        """Yield the questions of every example, or the reason why it has none."""
        yield from _iterate_questions(iterate_executables(path), language)


def _iterate_questions(items: Iterable[Described], language: str | None) -> Iterator[Item]:
    def read_example(location: str, example: ShaclExecutable) -> Iterator[Item]:
        if example.query is None and UNANSWERABLE_TAG not in example.keywords:
            raise UnusableItemError(NO_QUERY_MESSAGE)
        if not example.wordings:
            raise UnusableItemError("it has no rdfs:comment with the question")
        federation_tags = ("federated",) if example.federates_with else ()
        question = GoldQuestion(
            id=example.node.value,
            text="",
            sparql=example.query,
            tags=(*example.keywords, *federation_tags),
            graph=next(iter(example.targets), None),
            unanswerable=UNANSWERABLE_TAG in example.keywords,
        )
        texts = [QuestionText(wording.text, wording.language) for wording in example.wordings]
        return expand_wordings(location, question, texts, language)

    return read_records(items, read_example)


def _set_common_graph(contents: BenchmarkContents) -> BenchmarkContents:
    targets = {question.graph for question in contents.questions}
    graph = next(iter(targets)) if len(targets) == 1 else None
    return BenchmarkContents(contents.questions, contents.unreadable, graph)
