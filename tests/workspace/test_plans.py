"""The tasks of a run: a question, a method and a graph each, whose state is part of them."""

import asyncio
from dataclasses import replace

import pytest

from askgraph import sample
from askgraph.errors import SetupError
from askgraph.evaluation.runs import Done
from askgraph.workspace import Workspace, plans
from askgraph.workspace.run_sync import run_coroutine
from askgraph.workspace.selection import Selection, select_benchmarks

QUESTIONS = sample.questions_path().with_suffix(".jsonl")
METHODS = ("graph-search", "graph-search:operators=false")


@pytest.fixture(scope="module")
def asked(space: Workspace) -> tuple[plans.BenchmarkQuestions, ...]:
    return select_benchmarks(space, [str(QUESTIONS)], Selection(limit=2))


def plan(
    space: Workspace, asked: tuple[plans.BenchmarkQuestions, ...], wishes: plans.RunOptions
) -> plans.RunPlan:
    async def made() -> plans.RunPlan:
        async with plans.TaskRunner.from_workspace(space, wishes.methods) as host:
            return await plans.plan_run(host, asked, wishes)

    return run_coroutine(made())


def test_there_is_a_task_for_each_question_method_and_repetition(
    space: Workspace, asked: tuple[plans.BenchmarkQuestions, ...]
) -> None:
    wishes = plans.RunOptions(plans.parse_method_choices(METHODS), repeat=2)

    found = plan(space, asked, wishes)
    graph = space.graph("space")
    run_coroutine(graph.endpoint.close())

    keys = {(task.question.id, task.method, task.repeat) for task in found.tasks}
    assert len(keys) == len(found.tasks) == 2 * 2 * 2
    assert {task.snapshot for task in found.tasks} == {graph.snapshot}
    assert [one["name"] for one in found.settings["methods"]] == list(METHODS)  # type: ignore[attr-defined]
    assert found.settings["graphs"][0]["name"] == "space"  # type: ignore[index]
    said = plans.describe_benchmark(asked[0])
    assert (said["questions"], said["sha256"]) == (2, plans.hash_file(QUESTIONS))


def test_the_fingerprint_of_a_task_changes_with_what_decides_its_answer(
    space: Workspace, asked: tuple[plans.BenchmarkQuestions, ...]
) -> None:
    wishes = plans.RunOptions(plans.parse_method_choices(METHODS[:1]))
    changed = replace(asked[0], questions=(replace(asked[0].questions[0], text="Another?"),),
                      graphs=asked[0].graphs[:1])  # fmt: skip

    same, again = (plan(space, asked, wishes).tasks[0].fingerprint for _ in range(2))
    other_method = (
        plan(space, asked, plans.RunOptions(plans.parse_method_choices(METHODS[1:])))
        .tasks[0]
        .fingerprint
    )
    other_text = plan(space, (changed,), wishes).tasks[0].fingerprint

    assert same == again
    assert len({same, other_method, other_text}) == 3


def test_examples_are_refused_for_a_method_that_learns_nothing(
    space: Workspace, asked: tuple[plans.BenchmarkQuestions, ...]
) -> None:
    given = replace(asked[0], examples=(QUESTIONS,) * 2)
    with pytest.raises(SetupError, match="omit --folds and --leave-out"):
        plan(space, (given,), plans.RunOptions(plans.parse_method_choices(["graph-search"])))


def test_a_host_opens_a_graph_once_and_answers_tasks(
    space: Workspace, asked: tuple[plans.BenchmarkQuestions, ...]
) -> None:
    wishes = plans.RunOptions(plans.parse_method_choices(METHODS[:1]))

    async def worked() -> tuple[bool, list[Done]]:
        async with plans.TaskRunner.from_workspace(space, wishes.methods) as host:
            async with host.use_graph("space") as one, host.use_graph("space") as other:
                once = one is other
            tasks = (await plans.plan_run(host, asked, wishes)).tasks
            return once, list(await asyncio.gather(*map(host.run_task, tasks)))

    once, done = run_coroutine(worked())
    assert once
    assert [one.record.get_score("best_column").f1 for one in done] == [1.0, 1.0]


def test_a_graph_that_was_built_anew_is_not_the_one_of_the_plan(
    space: Workspace, asked: tuple[plans.BenchmarkQuestions, ...]
) -> None:
    wishes = plans.RunOptions(plans.parse_method_choices(METHODS[:1]))

    async def worked() -> None:
        async with plans.TaskRunner.from_workspace(space, wishes.methods) as host:
            task = (await plans.plan_run(host, asked, wishes)).tasks[0]
            await host.run_task(replace(task, snapshot="another"))

    with pytest.raises(SetupError, match="differs from the one that the run was planned with"):
        run_coroutine(worked())
