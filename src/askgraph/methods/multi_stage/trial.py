"""Queries of the writer that a setting names, run one after the other: an answer or a refusal.

The writer is grown without a model, a language model, or trained weights. What fails and what is
empty is no answer (Alekseev et al., NLDB 2025, section 4.4).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from askgraph.errors import QueryError, ServiceError, SetupError, Unauthorised, Unreachable
from askgraph.llm import LanguageModel
from askgraph.sparql.results import GraphResult, SelectResult
from askgraph.tools import Context
from askgraph.tools.query_run import Ran, built_answer, ready, run
from askgraph.trace import Answer, Refusal
from askgraph.writing import Hypothesis, QueryWriter
from askgraph.writing.grown import GrownWriter
from askgraph.writing.model_writer import PromptedWriter
from askgraph.writing.pointer.writer import pointer_writer

_UNSAID = 0.6  # what is believed of a query whose writer does not say
_PASSED = 0.8  # what is left of that for each query before it
GRAPH = "{graph}"
"""Stands for the name of the graph in the path of trained weights."""


@dataclass(frozen=True)
class Tried:
    """A query that was run: what it gave, or why it failed, and what is believed of it (0–1)."""

    query: str
    result: SelectResult | bool | None
    belief: float
    problem: str = ""

    @property
    def full(self) -> bool:
        """Whether it has a result that is not empty."""
        return isinstance(self.result, bool) or bool(self.result and self.result.rows)


async def tried(context: Context, one: Hypothesis, place: int, *, rows: int) -> Tried:
    """Run a query; a failed one says why. Raises `ServiceError` if the graph is down."""
    belief = min(1.0, math.exp(one.score)) if one.score is not None else _UNSAID * _PASSED**place
    try:
        ran = await run(context, ready(context, one.query).query, rows=rows)
    except (Unreachable, Unauthorised):
        raise
    except (QueryError, ServiceError) as error:
        return Tried(one.query, None, belief, str(error))
    if isinstance(ran.result, GraphResult):
        return Tried(one.query, None, belief, "it gives triples, and an answer is rows or yes, no")
    return Tried(ran.query, ran.result, belief)


async def chosen_of(
    context: Context, runs: Sequence[Tried], *, answer_from: float
) -> Answer | Refusal:
    """Return the answer of the last run, if it has a result and is believed enough.

    Else a refusal that says why, with the first query that ran as the best attempt.
    """
    ran = [one for one in runs if one.result is not None]
    if not ran:
        return Refusal(f"No query could be run: {runs[0].problem}")
    best = next((one for one in ran if one.full), ran[0])
    assert best.result is not None
    answer = await built_answer(context, Ran(best.query, best.result), confidence=best.belief)
    if not best.full:
        failed = [one.problem for one in runs if one.problem]
        said = f" {len(failed)} failed, the first: {failed[0]}" if failed else ""
        return Refusal(f"No query has a result.{said}", answer)
    if best.belief < answer_from:
        return Refusal("No query is sure enough; the nearest one is shown.", answer)
    return answer


def check_writer(name: str, model: LanguageModel | None, *, graph: str = "") -> None:
    """Raise `SetupError` for a writer that there is none of, and for `model` without one.

    The file of a graph is looked for if `graph` names it.
    """
    if name == "model" and model is None:
        raise SetupError("writer=model needs a language model: name one with the setting 'model'")
    if name in ("grown", "model") or (GRAPH in name and not graph):
        return
    if not Path(path := name.replace(GRAPH, graph)).is_file():
        raise SetupError(
            f"'writer' is grown, model, or the path of trained weights; there is no file {path!r}"
        )


def writer_of(
    name: str, model: LanguageModel | None = None, *, graph: str = "", ranking: str = ""
) -> QueryWriter:
    """Return a writer by its name, for a graph; see `check_writer`.

    `ranking` is a file of weights by which the grown writer ranks, in the place of the package's.

    Raises `SetupError` for a file that holds no weights.
    """
    check_writer(name, model, graph=graph)
    if name == "model" and model is not None:
        return PromptedWriter(model)
    if name == "grown":
        return GrownWriter(ranking=ranking)
    return pointer_writer(name.replace(GRAPH, graph))
