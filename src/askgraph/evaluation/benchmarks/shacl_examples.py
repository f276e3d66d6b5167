"""Question–query pairs as SHACL executables in Turtle: a file, a folder, an archive, an endpoint.

Bolleman et al., "A large collection of bioinformatics question–query pairs over federated knowledge
graphs", GigaScience 2025 (the collection of the SIB: CC BY 4.0). Prefixes are declared once for
many files and shared through a blank node; here, a file knows its own and those of the files in its
folder and in the folders above. A CONSTRUCT or DESCRIBE query is listed: it has no rows to score.
The keyword `unanswerable` says that the graph holds no answer.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.endpoint import Endpoint
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import Item, Text, Unfit, each, gathered, wordings
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import is_bundle, plain_name
from askgraph.graph.examples.shacl import Executable, executables
from askgraph.graph.examples.shacl import Item as Described
from askgraph.graph.published import published_examples

__all__ = ["ShaclExamples"]

UNANSWERABLE = "unanswerable"
NO_QUERY = (
    "neither sh:select nor sh:ask; others cannot be scored. Give it one, or the keyword "
    f"{UNANSWERABLE!r} if the graph has no answer"
)


class ShaclExamples:
    """SHACL examples in Turtle. None takes English if there is English, else the first."""

    title: ClassVar[str] = "SHACL examples (SIB)"
    splits: ClassVar[tuple[str, ...]] = ()

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a Turtle file, or a folder or archive that holds one."""
        names = head.lower().split("\n") if is_bundle(path) else [plain_name(path)]
        return any(name.removesuffix(".gz").endswith(".ttl") for name in names)

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all examples; a file of a folder or archive that is not Turtle is listed."""
        return _of_one_target(gathered(self.items(path, language=language)))

    async def read_endpoint(self, endpoint: Endpoint, *, language: str | None = None) -> Contents:
        """Read the examples that a SPARQL endpoint publishes in its own graph.

        Raises `ServiceError` if the endpoint fails. If its reply was cut off, that is listed.
        """
        items = _questions(await published_examples(endpoint), language)
        return _of_one_target(gathered(items))

    def items(self, path: Path, *, language: str | None) -> Iterator[Item]:
        """Yield every example's questions, or why there is none."""
        yield from _questions(executables(path), language)


def _questions(items: Iterable[Described], language: str | None) -> Iterator[Item]:
    def worded(place: str, example: Executable) -> Iterator[Item]:
        if example.query is None and UNANSWERABLE not in example.keywords:
            raise Unfit(NO_QUERY)
        if not example.wordings:
            raise Unfit("no rdfs:comment to take the question from")
        federated = ("federated",) if example.federates_with else ()
        question = GoldQuestion(
            id=example.node.value,
            text="",
            sparql=example.query,
            tags=(*example.keywords, *federated),
            graph=next(iter(example.targets), None),
            unanswerable=UNANSWERABLE in example.keywords,
        )
        texts = [Text(wording.text, wording.language) for wording in example.wordings]
        return wordings(place, question, texts, language)

    return each(items, worded)


def _of_one_target(contents: Contents) -> Contents:
    targets = {question.graph for question in contents.questions}
    graph = next(iter(targets)) if len(targets) == 1 else None
    return Contents(contents.questions, contents.unreadable, graph)
