"""What every reader of a benchmark must do; run over all that the registry knows.

A sample file of each format, made up, is in `benchmark_samples`, in a folder of its name.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph import plugins
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import Benchmark, BenchmarkContents
from askgraph.evaluation.benchmarks.formats import detect_format, read_benchmark

NAMES = plugins.list_names("benchmark")
SAMPLES = Path(__file__).with_name("benchmark_samples")


def sample(name: str) -> tuple[str, str]:
    """The file name and the text of the sample of a format."""
    (path,) = (SAMPLES / name).iterdir()
    return path.name, path.read_text(encoding="utf-8")


def written(folder: Path, name: str) -> Path:
    file, text = sample(name)
    (folder / file).write_text(text, encoding="utf-8")
    return folder / file


def reader(name: str) -> Benchmark:
    benchmark: Benchmark = plugins.load("benchmark", name)()
    return benchmark


JSON_NAMES = [name for name in NAMES if sample(name)[1].lstrip().startswith(("{", "["))]
TEXT_NAMES = [name for name in NAMES if name not in JSON_NAMES]


def test_the_public_formats_are_there() -> None:
    assert len(NAMES) >= 15 and len(JSON_NAMES) >= 11 and len(TEXT_NAMES) >= 4


@for_each("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    benchmark = reader(name)
    assert benchmark.title and isinstance(benchmark.splits, tuple)


@for_each("name", NAMES)
def test_its_sample_is_recognised_by_it_alone_and_read(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)

    found, contents = read_benchmark(path)

    assert found == name
    assert contents.questions and not contents.unreadable
    for question in contents.questions:
        assert question.text.strip() and question.has_gold and question.id
        assert question.split in (*reader(name).splits, None)
    assert len({question.id for question in contents.questions}) == len(contents.questions)


@for_each("name", NAMES)
def test_every_language_gives_at_least_the_questions_of_one(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    one, every = (reader(name).read(path, language=language) for language in (None, "*"))
    assert {q.text for q in one.questions} <= {q.text for q in every.questions}


@for_each("name", NAMES)
def test_items_in_other_languages_alone_are_listed(tmp_path: Path, name: str) -> None:
    # Our own lines may leave the language out; the sample does not.
    contents = reader(name).read(written(tmp_path, name), language="xx")
    assert not contents.questions
    assert all(item.reason.startswith("no text in 'xx'; it has ") for item in contents.unreadable)
    assert contents.unreadable


@for_each("name", NAMES)
def test_gzip_and_a_byte_order_mark_change_nothing(tmp_path: Path, name: str) -> None:
    plain = written(tmp_path, name)
    packed = plain.with_name(f"{plain.name}.gz")
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + plain.read_bytes()))

    found, contents = read_benchmark(packed)

    assert found == name
    assert contents.questions == reader(name).read(plain).questions


@for_each("name", NAMES)
@for_each("content", [b"\xff\xfe\x00", b'{"a"', b"[" * 5000, b"{ <a> \x00", b"'''"])
def test_what_is_something_else_is_a_setup_error_or_listed(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / sample(name)[0]
    path.write_bytes(content)
    contents = readable(name, path)
    assert contents is None or (contents.unreadable and not contents.questions)


@for_each("name", NAMES)
def test_a_missing_file_is_a_setup_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SetupError, match="absent"):
        reader(name).read(tmp_path / "absent.json")


@for_each("name", NAMES)
def test_a_cut_gzip_file_is_a_setup_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{sample(name)[0]}.gz"
    path.write_bytes(gzip.compress(sample(name)[1].encode())[:-12])
    with pytest.raises(SetupError, match=re.escape(path.name)):
        reader(name).read(path)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@for_each("name", JSON_NAMES)
def test_any_field_may_hold_anything(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A record is a question or is listed: no traceback, and nothing is lost."""
    file, text = sample(name)
    path = tmp_path_factory.mktemp(name) / file
    sound = json.loads(text)
    key = next((key for key in ("questions", "Questions") if key in sound), None)
    records = sound[key] if key else {"one": sound} if isinstance(sound, dict) else sound
    # A spot inside a record spoils this record alone.
    outside = 2 if key else 1
    spots = [spot for spot in _spots(sound) if len(spot) >= outside]

    @settings(max_examples=60, deadline=None)
    @given(st.sampled_from(spots), ANY_JSON)
    def broken(spot: tuple[str | int, ...], value: object) -> None:
        write(path, json.dumps(_replaced(sound, spot, value)))
        contents = readable(name, path)
        assert contents is not None
        assert len(contents.questions) + len(contents.unreadable) >= len(records)

    broken()


@for_each("name", TEXT_NAMES)
def test_any_cut_leaves_questions_or_an_error(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file, text = sample(name)
    path = tmp_path_factory.mktemp(name) / file
    place = st.integers(0, len(text))

    @settings(max_examples=100, deadline=None)
    @given(place, place, st.text(alphabet='<>"{}[].;:#\\\n\t -aQ?_', max_size=4))
    def broken(start: int, end: int, instead: str) -> None:
        readable(name, write(path, text[:start] + instead + text[max(start, end) :]))

    broken()


def readable(name: str, path: Path) -> BenchmarkContents | None:
    """What a reader makes of a file; None for a `SetupError`."""
    try:
        contents = reader(name).read(path)
    except SetupError as error:
        assert path.name in str(error)
        return None
    assert all(item.location and item.reason for item in contents.unreadable)
    return contents


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def _spots(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if at:
        yield at
    inner = value.items() if isinstance(value, dict) else ()
    for key, below in (*inner, *(enumerate(value) if isinstance(value, list) else ())):
        yield from _spots(below, (*at, key))


def _replaced(value: object, spot: tuple[str | int, ...], new: object) -> object:
    if not spot:
        return new
    key, *rest = spot
    inner: Callable[[object], object] = lambda below: _replaced(below, tuple(rest), new)  # noqa: E731
    if isinstance(value, dict):
        return {k: inner(v) if k == key else v for k, v in value.items()}
    assert isinstance(value, list)
    return [inner(v) if k == key else v for k, v in enumerate(value)]


def test_each_format_is_told_from_the_other_samples(tmp_path: Path) -> None:
    for name in NAMES:
        folder = tmp_path / name
        folder.mkdir()
        assert detect_format(written(folder, name)) == name


def test_the_documentation_names_each_format_with_its_title() -> None:
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    named = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE))
    assert named == {name: reader(name).title for name in NAMES}
