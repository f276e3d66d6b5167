"""Plugins are found by name, imported one by one, and explained where they are missing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import pytest
from tests.each import for_each

from askgraph import plugins, sample
from askgraph.errors import SetupError

MODULES = {
    "indices_of_test/__init__.py": "",
    "indices_of_test/keyword.py": "__all__ = ['KeywordIndex']\nclass KeywordIndex: pass\n",
    "indices_of_test/by_size.py": "__all__ = ['largest']\ndef largest(): return 'largest'\n",
    "indices_of_test/vector.py": "import no_such_faiss.core\n__all__ = ['VectorIndex']\n",
    "indices_of_test/double.py": "__all__ = ['One', 'Two']\nclass One: pass\nclass Two: pass\n",
    "indices_of_test/folding.py": "raise RuntimeError('imported')\n",
    "indices_of_test/_postings.py": "raise RuntimeError('imported')\n",
}
ELSEWHERE = {
    "elsewhere.py": "class GraphIndex: pass\n",
    "elsewhere-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n",
    "elsewhere-1.0.dist-info/entry_points.txt": (
        "[askgraph.index]\n"
        "graph-index = elsewhere:GraphIndex\n"
        "keyword = elsewhere:GraphIndex\n"
        "lost = elsewhere_is_gone:Lost\n"
    ),
}


@pytest.fixture
def indices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The kind "index" with the plugins above, and with a second package that adds one."""
    for name, source in MODULES.items() | ELSEWHERE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(plugins.PACKAGES, "index", "indices_of_test")
    yield
    for module in [name for name in sys.modules if name.startswith(("indices_of", "elsewhere"))]:
        del sys.modules[module]


@pytest.mark.usefixtures("indices")
def test_names_lists_plugins_and_entry_points_without_helpers_and_imports_none() -> None:
    assert plugins.list_names("index") == ("by_size", "graph_index", "keyword", "lost", "vector")
    assert "indices_of_test.keyword" not in sys.modules


@pytest.mark.usefixtures("indices")
def test_load_gives_the_one_name_a_module_or_an_entry_point_exports() -> None:
    # Ours goes before one of the same name from elsewhere.
    assert plugins.load("index", "keyword").__module__ == "indices_of_test.keyword"
    assert "indices_of_test.by_size" not in sys.modules
    assert plugins.load("index", "graph_index").__module__ == "elsewhere"
    # Dashes and underscores and case are alike.
    for name in ("by-size", "by_size", "By-Size ", "BY_SIZE"):
        assert plugins.load("index", name)() == "largest"


@pytest.mark.usefixtures("indices")
@for_each(
    ("name", "said"),
    [
        ("vector", r"^index 'vector' needs no_such_faiss: pip install 'askgraph\[vector\]'$"),
        ("lost", "'lost' needs elsewhere_is_gone"),
        ("double", r"exactly one name in __all__, not \['One', 'Two'\]"),
        (
            "keywrd",
            "^no index named 'keywrd'; did you mean 'keyword'[?] available: "
            "by_size, graph_index, keyword, lost, vector$",
        ),
        # Only a plugin's name is ever imported.
        *((name, "no index named") for name in ("", "_postings", "os.path", "../keyword")),
        ("x" * 10_000, "no index named"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_explained(name: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        plugins.load("index", name)


def test_methods_are_named_as_the_pages_write_them_and_kinds_are_listed() -> None:
    with pytest.raises(SetupError, match="did you mean 'graph-search'"):
        plugins.load("method", "graph serch")
    with pytest.raises(SetupError, match="available: endpoint, index"):
        plugins.list_names("engine")


def test_a_kind_without_a_package_has_no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plugins.PACKAGES, "index", "not_there.at_all")

    assert plugins.list_names("index") == ()


@for_each(
    ("kind", "name"),
    [(kind, name) for kind in plugins.PACKAGES for name in plugins.list_names(kind)],
)
def test_every_plugin_of_ours_loads(kind: str, name: str) -> None:
    assert callable(plugins.load(kind, name))


@for_each(
    ("command", "said"),
    [
        (["ask", "?", "--method", "graph-search:ranker=r.npz"], "'ranker': rankers were removed"),
        (["ask", "?", "--method", "graph-search:writer=w.npz"], "the pointer writer was removed"),
        (["ask", "?", "--method", "multi-stage:writer=w.npz"], "the pointer writer was removed"),
        (["evaluate", "q.jsonl", "--on", "ray"], "the Ray executor was removed"),
        (["finetune", "ranker"], "rankers were removed"),
        (["finetune", "writer"], "the pointer writer was removed"),
    ],
)
def test_what_was_removed_names_the_last_version_that_had_it(
    tmp_path: Path, command: list[str], said: str
) -> None:
    copy(sample.questions_path().with_suffix(".jsonl"), tmp_path / "q.jsonl")
    call = [sys.executable, "-m", "askgraph", "--workspace", str(tmp_path), *command]
    if command[0] != "finetune":
        call += ["--graph", str(sample.graph_path())]

    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, check=False)

    assert done.returncode == 2
    assert said in done.stderr and "askgraph 0.2 was the last version" in done.stderr
