"""The page on the architecture: layers as the contract has them, a traced path, every file."""

import re
from pathlib import Path

from tools import architecture
from tools.architecture import PACKAGE, PAGE, drawn, filled, layers, path_table, tree

ROOT = Path(__file__).parents[2]


def test_the_page_has_all_parts_and_a_question_passes_its_method_before_it_is_read_back() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    whole = filled(text)

    assert re.findall(r"<!-- (\w+) -->", text) == ["layers", "path", "files"]
    assert "<!--" not in whole
    assert "<svg" in whole and "| 1 | `api.py` |" in whole and "src/askgraph/\n" in whole
    files = re.findall(r"^\| \d+ \| `([^`]+)` \|", whole, re.M)
    read_back = next(file for file in files if file.startswith("answers/verbalize/"))
    assert files.index("methods/graph_search.py") < files.index(read_back)
    assert all((PACKAGE / file).is_file() for file in files)
    lines = path_table({"__init__.py": "ask", "trace/__init__.py": "Trace.outcome"}).splitlines()
    assert lines[-2].startswith("| 1 | `__init__.py` | `ask` | Ask a knowledge graph")
    assert lines[-1].startswith("| 2 | `trace/__init__.py` | `Trace.outcome` | A question")


def test_every_package_is_in_the_drawing_in_its_layer() -> None:
    rows = layers()
    drawing = drawn(rows, {"cli/": "The command"})

    there = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert there <= {name for row in rows for name in row}
    assert rows.index(["cli"]) < rows.index(["methods"]) < rows.index(["sparql"])
    assert drawing.count("<rect") == sum(map(len, rows))
    assert ">cli</text>" in drawing and ">The command</text>" in drawing


def test_a_tree_lists_folders_before_their_files_with_first_sentences(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "__init__.py").write_text('"""The whole. It has parts."""\n')
    (tmp_path / "parts" / "__init__.py").write_text('"""All parts."""\n')
    (tmp_path / "parts" / "one.py").write_text('"""The first part,\nover two lines.\n\nMore."""\n')

    lines = tree(tmp_path).splitlines()

    assert lines[0] == "src/askgraph/"
    assert [" ".join(line.split()) for line in lines if "part" in line or "whole" in line] == [
        "__init__.py The whole",
        "parts/ All parts",
        "one.py The first part, over two lines",
    ]


def test_every_file_says_what_it_is_for_and_what_is_described_by_hand_exists() -> None:
    assert [line for line in tree().splitlines()[1:] if len(line.split()) < 2] == []
    assert [name for name in architecture.OTHERS if not (PACKAGE / name).exists()] == []
