"""Detection and reading of benchmark formats.

`read_questions` reads two of the formats strictly, our own JSON lines and SHACL examples: it raises
on the first error and asks every text of a question.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Benchmark, BenchmarkContents
from askgraph.evaluation.benchmarks._records import (
    Record,
    UnusableItemError,
    get_objects,
    get_query,
    get_text,
    iterate_json_lines,
    number_records,
    parse_json_result,
    parse_stored_answers,
    to_stored_answers,
)
from askgraph.evaluation.benchmarks.json_records import QuestionsJsonl
from askgraph.evaluation.benchmarks.text_records import ShaclExamples
from askgraph.evaluation.questions import GoldQuestion, write_questions
from askgraph.graph.archives import read_head, read_text
from askgraph.graph.examples import (
    SAMPLES_FILE,
    ExampleCollection,
    QueryExample,
    SkippedItem,
    Wording,
    read_examples,
)
from askgraph.graph.examples.shacl import read_shacl
from askgraph.sparql.lexer import declare_prefixes

__all__ = [
    "Record", "UnusableItemError", "detect_format", "get_objects", "get_query", "get_text",
    "iterate_json_lines", "number_records", "parse_json_result", "parse_stored_answers",
    "read_benchmark", "read_example_file", "read_questions", "read_text", "to_stored_answers",
    "write_examples",
]  # fmt: skip


def read_benchmark(
    path: Path | str, *, format: str | None = None, language: str | None = None
) -> tuple[str, BenchmarkContents]:
    """Read a file, folder or archive; return the name of its format and its contents.

    Args:
        path: What to read.
        format: Name of a benchmark plugin, or None to detect the format.
        language: See `Benchmark.read`.

    Raises:
        SetupError: The file is missing, empty or unreadable, or its format is unknown or ambiguous.
    """
    file = Path(path)
    _check_exists(file)
    name = format or detect_format(file)
    reader: Benchmark = plugins.load("benchmark", name)()
    contents = reader.read(file, language=language)
    if not contents.questions and not contents.unreadable:
        raise SetupError(f"{path} contains no questions in the format {name!r}")
    return name.strip().lower().replace("-", "_"), contents


def read_questions(path: Path, *, need_gold: bool = False) -> tuple[GoldQuestion, ...]:
    """Read a `.jsonl` file of questions or a `.ttl` file of SHACL examples, in file order.

    Raises:
        SetupError: With file and line, for an invalid question, a missing or repeated id, a file
            without questions and, with `need_gold`, a question that cannot be scored.
    """
    _check_exists(path)
    questions: list[GoldQuestion] = []
    locations: dict[str, str] = {}
    items = (
        ShaclExamples().iterate_items(path, language="*")
        if path.name.removesuffix(".gz").endswith(".ttl")
        else QuestionsJsonl().iterate_items(path)
    )
    for location, question in items:
        if isinstance(question, str):
            raise SetupError(f"{location}: {question}")
        if question.id in locations:
            raise SetupError(
                f"{location}: the id {question.id!r} is already used by {locations[question.id]}"
            )
        if need_gold and not question.has_gold:
            raise SetupError(
                f"{location}: question {question.id!r} has no gold to score against; "
                "give it 'sparql' or 'answers', or '\"sparql\": null' if the graph has no answer"
            )
        locations[question.id] = location
        questions.append(question)
    if not questions:
        raise SetupError(f"{path} contains no questions")
    return tuple(questions)


def detect_format(path: Path) -> str:
    """Return the name of the only matching format; raise `SetupError` for none or several."""
    head = read_head(path)
    matches: list[str] = []
    missing: list[str] = []
    for name in plugins.list_names("benchmark"):
        try:
            reader: Benchmark = plugins.load("benchmark", name)()
        except SetupError as error:
            missing.append(str(error))
            continue
        if reader.can_read(path, head):
            matches.append(name)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise SetupError(
            f"{path} may be {' or '.join(map(repr, matches))}: name its format, one of these"
        )
    if not head.strip() and not path.is_dir():
        raise SetupError(f"{path} is empty: it contains no questions")
    raise SetupError(
        f"{path} has an unknown format; name its format, one of "
        f"{', '.join(plugins.list_names('benchmark'))}"
        f"{''.join(f'; {reason}' for reason in missing)}"
    )


def _check_exists(path: Path) -> None:
    if not path.exists():
        raise SetupError(
            f"there is no file or folder {str(path)!r}: name a file of questions, in a format that "
            "'askgraph benchmark list' names"
        )


_SHACL_FORMAT = "shacl_examples"
_WORDING_SUFFIX = re.compile(r"(?:@[\w-]+)?(?:#\d+)?$")


def read_example_file(path: Path, *, format: str | None = None) -> ExampleCollection:
    """Read examples from a file, folder or archive of SHACL executables, or from a benchmark file.

    A folder may also be an example index of GRASP. Questions without a query are skipped.

    Args:
        path: What to read.
        format: Name of a benchmark plugin, or None to detect the format.

    Raises:
        SetupError: The file cannot be read or has an unknown format.
    """
    is_lines = path.name.endswith((".jsonl", ".jsonl.gz")) and (
        '"question"' in read_head(path).lstrip().partition("\n")[0]
    )
    if format is None and (is_lines or (path / SAMPLES_FILE).is_file()):
        return ExampleCollection(read_examples(path))
    if path.is_dir() and not any(path.iterdir()):
        raise SetupError(f"the folder {path} is empty: it contains no examples to read")
    name = (format or (detect_format(path) if path.exists() else "")).lower().replace("-", "_")
    if name == _SHACL_FORMAT:
        return read_shacl(path)
    _, contents = read_benchmark(path, format=name or None, language="*")
    unreadable = tuple(SkippedItem(item.location, item.reason) for item in contents.unreadable)
    query_pairs = [
        (question, declare_prefixes(question.sparql, contents.prefixes))
        for question in contents.questions
        if question.sparql
    ]
    return ExampleCollection(tuple(_build_examples(query_pairs)), unreadable)


def write_examples(examples: Sequence[QueryExample], path: Path) -> None:
    """Write examples as lines of `questions.jsonl`, one per wording.

    The format has no fields for targets, federation and confirmations: they are dropped.
    """
    write_questions(path, list(_build_questions(examples)))


def _build_examples(pairs: Sequence[tuple[GoldQuestion, str]]) -> Iterator[QueryExample]:
    for _, group in groupby(pairs, key=lambda pair: (_WORDING_SUFFIX.sub("", pair[0].id), pair[1])):
        members = list(group)
        first, query = members[0]
        all_wordings = [Wording(question.text, question.language) for question, _ in members]
        all_wordings += [Wording(text, first.language) for text in first.paraphrases]
        wordings = tuple(dict.fromkeys(text for text in all_wordings if text.text))
        yield QueryExample(
            wordings[0].text, query, wordings[0].language, wordings[1:], keywords=first.tags
        )


def _build_questions(examples: Sequence[QueryExample]) -> Iterator[GoldQuestion]:
    for example_number, example in enumerate(examples, start=1):
        for wording_number, wording in enumerate(example.wordings, start=1):
            identity = (example.iri or str(example_number)) + (
                f"#{wording_number}" if example.others else ""
            )
            yield GoldQuestion(
                identity, wording.text, wording.language, example.query, tags=example.keywords
            )
