"""The Python API: answer a question from a script or a notebook."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askgraph.answers.codec import to_json_object
from askgraph.graph import KnowledgeGraph
from askgraph.llm import LanguageModel
from askgraph.methods import can_follow_up
from askgraph.sparql.prefixes import PrefixMap
from askgraph.trace import Outcome, Question, build_follow_up
from askgraph.workspace import DEFAULT_METHOD, Workspace
from askgraph.workspace.graphs import prepare_graphs
from askgraph.workspace.models import Models
from askgraph.workspace.run_sync import ask_method, run_coroutine

Graph = str | Path | KnowledgeGraph


@dataclass(frozen=True)
class Result:
    """The outcome of a question; `str()` gives the text that `askgraph ask` prints.

    Attributes:
        outcome: An answer, a refusal or a clarification.
        prefixes: Prefixes of the graph that the outcome belongs to.
        question: The question as the method received it.
    """

    outcome: Outcome
    prefixes: PrefixMap
    question: Question

    @property
    def answered(self) -> bool:
        """Whether the outcome is an answer, not a refusal or a clarification."""
        return self.json()["status"] == "answer"

    def json(self) -> dict[str, object]:
        """Return the object that `askgraph ask --json` prints."""
        return to_json_object(self.outcome)

    def __str__(self) -> str:
        from askgraph.answers.console import to_text  # rich, only to print

        return to_text(self.outcome, self.prefixes)


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
    """Answer a question over one or several graphs, in a script or a notebook.

    Args:
        question: The question in natural language.
        graph: A name in the workspace, a path, a URL or an open graph, or a list of these.
            May be omitted if the workspace has only one graph.
        after: The result of the previous question, which this one may refer to, if the
            method supports follow-up questions.
        language: BCP 47 tag of the question's language, if known.
        method: Name of the method.
        settings: Settings of the method; `{"confirmed": False}` ignores confirmed answers.
        model: Language model for a method that needs one: a name in the workspace, a model
            id (of the server at `base_url`), or a model object, which stays open.
        base_url: Address of the model's server.
        seconds: Return the best answer so far after this time; 20 by default.
        timeout: Fail after this many seconds.
        workspace: Folder of the workspace. It caches data about a path or URL, so that
            the second question is fast.

    Raises:
        SetupError: The caller can fix it: an unknown graph, a missing file.
        ServiceError: The endpoint or the model server failed.
    """
    full_question = Question(question, language)
    if after is not None:
        full_question = build_follow_up(question, after.question, after.outcome, language=language)
    resolved_workspace, name = Workspace(workspace), method or DEFAULT_METHOD
    model_options = {"model": model, "base_url": base_url, "seconds": seconds}
    method_settings = {
        **(settings or {}),
        **{key: value for key, value in model_options.items() if value is not None},
    }
    models = Models(resolved_workspace.folder)
    method_instance = resolved_workspace.method(
        name, method_settings, models=models, confirmed=True
    )
    if after is not None and not can_follow_up(method_instance):
        logging.getLogger("askgraph").warning(
            "method %r ignores earlier questions: 'after' has no effect", name
        )
    open_graphs = prepare_graphs(_to_sequence(graph), resolved_workspace.find, method_instance)

    async def run_method() -> Outcome:
        try:
            return await ask_method(
                full_question,
                method_instance,
                open_graphs.graphs,
                timeout=timeout,
                offer=resolved_workspace.offer_graphs,
            )
        finally:
            await open_graphs.close()
            await models.close()

    outcome = run_coroutine(run_method())
    return Result(outcome, open_graphs.get_graph(outcome).prefixes, full_question)


def _to_sequence(graph: Graph | Sequence[Graph] | None) -> Sequence[Graph | None]:
    if isinstance(graph, Sequence) and not isinstance(graph, str):
        return graph
    return [graph]
