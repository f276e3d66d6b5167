"""Resources in a file: what is written is read, and what is wrong is told with its line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askgraph.errors import SetupError
from askgraph.index import Resource
from askgraph.index.sources.tsv import read_tsv, write_tsv

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool)
NAMES = st.lists(TEXTS.filter(lambda text: ";" not in text), max_size=3, unique=True).map(tuple)
RESOURCES = st.builds(
    Resource, TEXTS, TEXTS, NAMES, st.floats(allow_nan=False, allow_infinity=False), NAMES
).filter(lambda resource: resource.label not in resource.synonyms)


def test_the_columns_may_come_in_any_order_and_packed(tmp_path: Path) -> None:
    text = "label\tinfos\tiri\nGanymede\ta moon;;; of Jupiter\thttp://example.org/1\n"
    (tmp_path / "moons.tsv.gz").write_bytes(gzip.compress(text.encode()))
    assert list(read_tsv(tmp_path / "moons.tsv.gz")) == [
        Resource("http://example.org/1", "Ganymede", (), 0.0, ("a moon", "of Jupiter"))
    ]


def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "resources.tsv"

    @settings(max_examples=100, deadline=None)
    @given(st.lists(RESOURCES, max_size=4))
    def holds(resources: list[Resource]) -> None:
        assert write_tsv(path, resources) == len(resources)
        assert list(read_tsv(path)) == resources

    holds()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the columns are ''"),
        ("iri\tname\n", "line 1: the columns are 'iri, name'"),
        ("iri\tlabel\tlabel\n", "line 1: the columns are 'iri, label, label'"),
        ("iri\tlabel\na\tb\nc\n", "line 3: 1 columns instead of 2"),
        ("iri\tlabel\tscore\na\tb\tmany\n", "line 2: the score 'many' is no number"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "odd.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(SetupError, match=message):
        list(read_tsv(tmp_path / "odd.tsv"))


def test_a_missing_file_and_other_bytes_are_setup_errors(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="there is no file"):
        list(read_tsv(tmp_path / "absent.tsv"))
    (tmp_path / "odd.tsv").write_bytes(b"iri\tlabel\n\xff\xfe\tx\n")
    with pytest.raises(SetupError, match="cannot be read"):
        list(read_tsv(tmp_path / "odd.tsv"))
