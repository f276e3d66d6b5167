"""Modules that a question imports, counted in a process of their own, and what the lexer reads."""

from tools.modules_used import BOUNDS, Used, used


def test_a_question_imports_its_method_and_no_other_and_reads_no_query_of_ours() -> None:
    found = used("graph-search")

    methods = {name.split(".")[2] for name in found.modules if name.startswith("askgraph.methods.")}
    assert methods == {"graph_search"}
    assert "askgraph.cli.ask" in found.modules
    assert not any(
        name.startswith(("askgraph.server", "askgraph.llm.sc")) for name in found.modules
    )
    assert found.fine, f"{len(found.modules)} modules"


def test_a_query_of_a_model_is_cut_into_tokens_once() -> None:
    found = used("guided")

    assert [text[:6] for text in found.passes] == ["SELECT"]
    assert found.fine, f"{len(found.modules)} modules"


def test_more_modules_or_passes_than_the_bounds_are_not_fine() -> None:
    many = tuple(map(str, range(BOUNDS["guided"] + 1)))

    assert Used("guided", many[1:], ("SELECT",)).fine
    assert not Used("guided", many, ()).fine
    assert not Used("guided", (), ("SELECT", "SELECT")).fine
    assert not Used("graph-search", (), ("SELECT",)).fine
