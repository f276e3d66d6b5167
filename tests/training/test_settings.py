"""A training begun before: what it gave stands, what is damaged is told or passed over."""

import json
from pathlib import Path

import pytest
from tests.late import torch, training

from askgraph.errors import SetupError
from askgraph.training import build_settings, find_last_checkpoint, load_result

PLAN = {"model": "m", "data": "d"}
RESULT = {"steps": 4, "loss": 0.5, "evaluation": {}, "pairs": 3, "too_long": 0}


def _checkpoint(folder: Path, number: int) -> Path:
    from safetensors.torch import save_file

    place = folder / f"checkpoint-{number}"
    place.mkdir(parents=True)
    save_file({"w": torch.zeros(3)}, place / "model.safetensors")
    for part in ("optimizer.pt", "scheduler.pt"):
        torch.save({}, place / part)
    (place / "trainer_state.json").write_text("{}")
    return place


def test_the_numbers_of_a_training_are_those_of_the_paper() -> None:
    said: dict[str, object] = {
        "length": 1024,
        "epochs": 3,
        "batch": 8,
        "gather": 1,
        "warmup": 500,
        "seed": 42,
    }
    said |= {"decay": 0.01, "rate": 2e-5}
    for name, lora in (("paper", False), ("paper-lora", True)):
        assert vars(build_settings(name)).items() >= (said | {"lora": lora}).items()


def test_a_training_that_came_to_its_end_gives_its_result_and_a_broken_plan_is_told(
    tmp_path: Path,
) -> None:
    plan = tmp_path / "training.json"
    plan.write_text(json.dumps({**PLAN, "result": RESULT}))
    assert load_result(tmp_path, PLAN) == RESULT
    for text in ("", "{", "[1]"):
        plan.write_text(text)
        with pytest.raises(SetupError, match=r"training\.json"):
            load_result(tmp_path, PLAN)


@pytest.mark.parametrize("cut", ["model.safetensors", "optimizer.pt", "trainer_state.json"])
def test_a_checkpoint_that_was_cut_off_is_passed_over(tmp_path: Path, cut: str) -> None:
    older, newer = _checkpoint(tmp_path, 9), _checkpoint(tmp_path, 10)
    assert find_last_checkpoint(tmp_path) == str(newer)
    (newer / cut).write_bytes((newer / cut).read_bytes()[:1])
    assert find_last_checkpoint(tmp_path) == str(older)
    (older / "model.safetensors").unlink()
    assert find_last_checkpoint(tmp_path) is None


def test_the_mean_loss_is_of_all_runs_and_counts_no_step_twice(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines = [
        {"step": 1, "loss": 4.0}, {"step": 3, "loss": 9.0}, {"step": 3, "loss": 2.0},
        {"step": 3, "eval_loss": 7.0}, {"step": 4, "loss": 0.0},
    ]  # fmt: skip
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert training.compute_mean_loss(log) == pytest.approx((4 + 2 * 2 + 0) / 4)
