"""Read a benchmark in whatever public format it is: the format is told from the file, or named.

What the readers share is here too for those that read other files of these formats.
"""

from pathlib import Path

from askgraph import registry
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Benchmark, Contents
from askgraph.evaluation.benchmarks._answers import table_of_result
from askgraph.evaluation.benchmarks._items import Unfit
from askgraph.metadata.bundles import head_of, text_of

__all__ = ["Unfit", "detected", "read_benchmark", "table_of_result", "text_of"]


def read_benchmark(
    path: Path | str, *, format: str | None = None, language: str | None = None
) -> tuple[str, Contents]:
    """Read a file, folder or archive; return the name of its format and what it holds.

    `format` is the name of a benchmark plugin, None to tell it from the file; `language` is that of
    `Benchmark.read`. Raises `SetupError` where there is no such file, where it is of no known
    format or may be of several, where it cannot be read at all and where it holds nothing.
    """
    file = Path(path)
    if not file.exists():
        raise SetupError(f"there is no file or folder {str(path)!r}")
    name = format or detected(file)
    reader: Benchmark = registry.load("benchmark", name)()
    contents = reader.read(file, language=language)
    if not contents.questions and not contents.unreadable:
        raise SetupError(f"{path} holds no questions in the format {name!r}")
    return name.strip().lower().replace("-", "_"), contents


def detected(path: Path) -> str:
    """Return the name of the only format that a file is of."""
    head = head_of(path)
    claims: list[str] = []
    missing: list[str] = []
    for name in registry.names("benchmark"):
        try:
            reader: Benchmark = registry.load("benchmark", name)()
        except SetupError as error:
            missing.append(str(error))
            continue
        if reader.recognises(path, head):
            claims.append(name)
    if len(claims) == 1:
        return claims[0]
    if claims:
        raise SetupError(
            f"{path} may be {' or '.join(map(repr, claims))}: name its format, one of these"
        )
    if not head.strip() and not path.is_dir():
        raise SetupError(f"{path} is empty: it holds no questions")
    raise SetupError(
        f"{path} is of no format that is known; name its format, one of "
        f"{', '.join(registry.names('benchmark'))}{''.join(f'; {reason}' for reason in missing)}"
    )
