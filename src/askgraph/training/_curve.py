"""The curve of a training: each loss as a line of JSON while it goes on, and a chart at the end."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from askgraph.evaluation.files import json_line

__all__ = ["Curve", "mean_loss"]

_KEPT = ("loss", "eval_loss", "eval_whole", "learning_rate", "grad_norm")


class Curve:
    """Hears a trainer through `callback`, writes its log and tells its progress."""

    def __init__(self, path: Path, progress: Callable[[str, int, int | None], None]) -> None:
        self._path = path
        self._progress = progress
        self.callback = _callback(self)

    def hear(self, step: int, steps: int, news: dict[str, Any]) -> None:
        """Write what was measured at a step."""
        kept = {key: float(news[key]) for key in _KEPT if key in news}
        if kept:
            with self._path.open("ab") as file:
                file.write(json_line({"step": step, **kept}))
        self.tell(step, steps)

    def tell(self, step: int, steps: int) -> None:
        """Tell how far the training is."""
        self._progress("training", step, steps)

    def draw(self, path: Path) -> None:
        """Draw the curve as SVG, where altair is installed."""
        try:
            import altair as alt
            import vl_convert  # noqa: F401
        except ModuleNotFoundError:
            return
        lines = [json.loads(line) for line in self._path.read_text("utf-8").splitlines()]
        points = [
            {"step": line["step"], "loss": line[key], "of": name}
            for line in lines
            for key, name in (("loss", "training"), ("eval_loss", "other pairs"))
            if key in line
        ]
        chart = alt.Chart(alt.InlineData(points)).mark_line().encode(
            x=alt.X("step:Q"), y=alt.Y("loss:Q"), color=alt.Color("of:N", title=None)
        )  # fmt: skip
        chart.properties(width=500, height=250).save(str(path))


def mean_loss(path: Path) -> float:
    """Return the mean loss of a step over all runs of a training, as its log has it.

    A line tells the mean of the steps since the one before; of steps that were done again after a
    stop, the last line counts.
    """
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    losses = {line["step"]: line["loss"] for line in lines if "loss" in line}
    total, before = 0.0, 0
    for step in sorted(losses):
        total += losses[step] * (step - before)
        before = step
    return total / before if before else 0.0


def _callback(curve: Curve) -> Any:
    """What transformers wants: an object of its own class."""

    class Heard(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if state.is_world_process_zero:
                curve.hear(state.global_step, state.max_steps, more.get("logs") or {})

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            curve.tell(state.global_step, state.max_steps)

    return Heard()
