"""The structure of the code: figures within their bounds, and each figure counts what it says."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tools.structure import Code, figures, knots, late_imports, misnomers, rules, without_test


@pytest.fixture(scope="module")
def ours() -> Code:
    return Code()


def package(folder: Path, files: Mapping[str, str]) -> Code:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Code(folder / "askgraph", folder / "tests")


def test_no_figure_is_beyond_its_bound(ours: Code) -> None:
    values, bounds = figures(ours), rules()["bounds"]

    assert values.keys() == bounds.keys() == rules()["aims"].keys()
    assert values.pop("verb_names") >= bounds["verb_names"]
    assert [name for name in values if values[name] > bounds[name]] == []


def test_every_module_has_a_test_of_its_name_or_a_reason_and_each_reason_a_module(
    ours: Code,
) -> None:
    reasons = rules()["no_test"]
    found = dict(without_test(ours, reasons))

    assert [name for name, why in found.items() if not why] == []
    assert [pattern for pattern, why in reasons.items() if why not in found.values()] == []


def test_a_knot_counts_late_imports_and_those_for_types(tmp_path: Path) -> None:
    late = "def f():\n    from askgraph.b import x\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from askgraph import a\n"
    files = {"__init__": "", "a": late, "b": typed, "c": "import askgraph.a\n"}
    code = package(tmp_path, {f"askgraph/{name}.py": text for name, text in files.items()})

    assert knots(code) == [["askgraph.a", "askgraph.b"]]
    assert list(late_imports(code)) == ["askgraph.a:2 from askgraph.b import x"]


def test_names_that_break_a_rule_are_listed(tmp_path: Path) -> None:
    text = "MOST = 3\nMAX_ROWS = 5\nclass A: ...\n"
    text += "def told(one): ...\ndef name_of(x): ...\ndef read_rows(row): ...\n"
    files = {"__init__": '"""Say what is it."""\n', "a": text, "b": "class A: ...\n"}
    code = package(tmp_path, {f"askgraph/{name}.py": text for name, text in files.items()})

    assert sorted(misnomers(code)) == [
        ("class", "A: askgraph.a, askgraph.b"),
        ("coy", "askgraph.a:4 one"),
        ("coy", "askgraph.a:4 told"),
        ("participle", "askgraph.a:4 told"),
        ("unit", "askgraph.a:1 MOST"),
        ("verb", "askgraph.a:4 told"),
        ("verb", "askgraph.a:5 name_of"),
    ]
    values = figures(code)
    assert values["verb_names"] == pytest.approx(100 / 3)
    assert values["what_the"] == values["say_tell"] == 250


def test_a_module_without_test_is_named_with_its_reason(tmp_path: Path) -> None:
    names = ("own", "seen", "_part", "alone", "run")
    files = {f"askgraph/{name}.py": "def f(): ...\n" for name in names}
    files |= {"askgraph/__init__.py": "", "askgraph/user.py": "from askgraph._part import f\n"}
    tests = {"tests/test_own.py": "from askgraph import seen\n", "tests/test_user.py": ""}
    code = package(tmp_path, files | tests)

    assert dict(without_test(code, {"run": "it is run"})) == {
        "askgraph.seen": "imported by tests/test_own.py",
        "askgraph._part": "part of askgraph.user",
        "askgraph.alone": "",
        "askgraph.run": "it is run",
    }
