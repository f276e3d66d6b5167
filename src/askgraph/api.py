"""The library: a question in a script or a notebook, answered."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askgraph.answers.codec import answer_object
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.methods import converses
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Outcome, Question, follow_up
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.graphs import ready_graphs
from askgraph.workspace.models import Models
from askgraph.workspace.run_sync import outcome_of, result_of

Graph = str | Path | KnowledgeGraph


@dataclass(frozen=True)
class Result:
    """What came of a question; printed, it reads as `askgraph ask` shows it.

    `prefixes` are those of the graph that it is of.
    """

    outcome: Outcome
    prefixes: PrefixMap
    question: Question

    @property
    def answered(self) -> bool:
        """Whether it is an answer, and neither a refusal nor a question back."""
        return self.json()["status"] == "answer"

    def json(self) -> dict[str, object]:
        """Return the object that `askgraph ask --json` prints."""
        return answer_object(self.outcome)

    def __str__(self) -> str:
        from askgraph.answers.console import as_text  # rich, only to print

        return as_text(self.outcome, self.prefixes)


def ask(
    question: str,
    graph: Graph | Sequence[Graph] | None = None,
    *,
    after: Result | None = None,
    language: str | None = None,
    method: str | None = None,
    settings: Mapping[str, object] | None = None,
    model: str | LanguageModel | None = None,
    base_url: str | None = None,
    seconds: float | None = None,
    timeout: float | None = None,
    workspace: str | Path | None = None,
) -> Result:
    """Answer a question over a graph or several, in a script or a notebook.

    `graph` is a name in the workspace, a path, a URL or a graph that is open, or a list of these;
    it may be left out if the workspace has only one. The question follows that of `after`, and
    may refer to it, if the method looks at earlier questions. `settings` are the method's; with
    `{"confirmed": False}` an answer that was confirmed before is looked for anew. After `seconds`
    (20 if neither this nor the settings say) the best comes that was found; after `timeout` there
    is none. `model` is the language model of a method that works with one: a name in the
    workspace, a model id (of the server at `base_url`), or a model that stays open. What is learnt
    of a path or URL is kept in the workspace, so that the second question is quick. Raises
    `SetupError`, `ServiceError`.
    """
    asked = Question(question, language)
    if after is not None:
        asked = follow_up(question, after.question, after.outcome, language=language)
    place, name = Workspace(workspace), method or DEFAULT_METHOD
    given = {"model": model, "base_url": base_url, "seconds": seconds}
    wanted = {**(settings or {}), **{key: one for key, one in given.items() if one is not None}}
    models = Models(place.folder)
    chosen = place.method(name, wanted, models=models, confirmed=True)
    if after is not None and not converses(chosen):
        logging.getLogger("askgraph").warning(
            "method %r does not look at earlier questions: 'after' changes nothing for it", name
        )
    ready = ready_graphs(_several(graph), place.find, chosen)

    async def answered() -> Outcome:
        try:
            return await outcome_of(asked, chosen, ready.graphs, timeout=timeout)
        finally:
            await ready.close()
            await models.close()

    outcome = result_of(answered())
    return Result(outcome, ready.of(outcome).prefixes, asked)


def _several(graph: Graph | Sequence[Graph] | None) -> Sequence[Graph | None]:
    if isinstance(graph, Sequence) and not isinstance(graph, str):
        return graph
    return [graph]
