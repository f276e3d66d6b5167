"""The file tree of the README names every file of the package, and says what each is for."""

from pathlib import Path

from tools import file_tree

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_shows_the_files_as_they_are() -> None:
    text = README.read_text(encoding="utf-8")

    assert text.count(file_tree.START) == text.count(file_tree.END) == 1
    assert file_tree.in_step(text, file_tree.tree()) == text, (
        "the README's file tree is out of step; run: python tools/file_tree.py --write"
    )


def test_a_tree_lists_folders_before_their_files_with_first_sentences(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "__init__.py").write_text('"""The whole. It has parts."""\n')
    (tmp_path / "parts" / "__init__.py").write_text('"""All parts."""\n')
    (tmp_path / "parts" / "one.py").write_text('"""The first part,\nover two lines.\n\nMore."""\n')

    lines = file_tree.tree(tmp_path).splitlines()

    assert lines[0] == "src/askgraph/"
    assert [" ".join(line.split()) for line in lines if "part" in line or "whole" in line] == [
        "__init__.py The whole",
        "parts/ All parts",
        "one.py The first part, over two lines",
    ]


def test_every_file_says_what_it_is_for() -> None:
    assert [line for line in file_tree.tree().splitlines()[1:] if len(line.split()) < 2] == []


def test_what_is_described_by_hand_exists() -> None:
    assert [name for name in file_tree.OTHERS if not (file_tree.PACKAGE / name).exists()] == []
