"""Words and postings: what is sorted in parts is the same as what is sorted at once."""

from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askgraph.index import DiskIndex, Resource, _postings
from askgraph.plugins import load

TEXTS = st.text(alphabet="ab cé", max_size=8)
NAMES = st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3), TEXTS), max_size=12)


@pytest.mark.parametrize("kind", ["keyword", "bm25", "trigram"])
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=NAMES, part=st.integers(1, 9))
def test_postings_sorted_in_parts_are_the_same(
    kind: str,
    names: list[tuple[str, list[str], str]],
    part: int,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = cast(type[DiskIndex], load("index", kind))
    resources = [
        Resource(f"http://example.org/{at}", label, tuple(synonyms), at % 3, (info,))
        for at, (label, synonyms, info) in enumerate(names)
    ]
    folder = tmp_path_factory.mktemp("indices")
    plugin.build(resources, folder / "at once")
    with monkeypatch.context() as patch:
        patch.setattr(_postings, "_AT_ONCE", part)
        plugin.build(resources, folder / "in parts")

    assert arrays(folder / "in parts") == arrays(folder / "at once")


def arrays(folder: Path) -> dict[str, bytes]:
    found = {file.name: file.read_bytes() for file in folder.glob("*.npy")}
    assert len(found) > 5
    return found
