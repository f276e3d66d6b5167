"""Recorded answers: the same when asked twice, and a difference is found where it is."""

from collections import Counter

import pytest
from tests.each import for_each
from tools.same_answers import compared, recorded
from tools.same_answers_cases import Case, scripted, searched

from askgraph import plugins

ASKED = Case("sample", "1", "Which moons has Mars?", ("space",), "en")


def guided() -> Case:
    return next(case for case in scripted() if case.method == "guided" and "space" in case.graphs)


def test_what_is_asked_twice_is_the_same() -> None:
    cases = [ASKED, guided()]
    first, second = list(recorded(cases)), list(recorded(cases))

    assert not list(compared({f"{one['set']} {one['id']}": one for one in first}, second))
    by_set = {one["set"]: one for one in first}
    assert by_set["sample"]["status"] == "answer" and len(by_set["sample"]["rows"]) == 2
    assert by_set["sample"]["evidence"] and by_set["sample"]["steps"]
    assert "seconds" not in by_set["sample"]
    assert by_set["guided"]["messages"]


def test_a_difference_is_shown_with_its_field_and_both_values() -> None:
    before = {"set": "sample", "id": "1", "question": "Moons?", "confidence": 0.9, "rows": [["a"]]}

    [found] = compared({"sample 1": before}, [{**before, "confidence": 0.8}])

    assert found[0] == "sample 1 'Moons?'" and found[1] == "confidence"
    assert "'0.9'" in found[2] and "'0.8'" in found[2]
    assert [found[2] for found in compared({}, [before])] == ["was not asked before"]


def test_every_method_is_asked_and_no_two_questions_have_one_name() -> None:
    cases = [*searched(), *scripted()]

    assert max(Counter((case.set, case.id) for case in cases).values()) == 1
    asked = {case.method.replace("-", "_") for case in cases}
    assert asked == set(plugins.list_names("method"))


@for_each("name", ["sample", "temporal", "following", "enriched"])
def test_sets_that_need_no_data_are_always_asked(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKGRAPH_DATA", "/nowhere")

    assert [case for case in searched() if case.set == name]
