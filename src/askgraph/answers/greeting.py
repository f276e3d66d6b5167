"""The answer to "hello" and "what can I ask?": questions that the graphs answer, to choose from."""

from collections.abc import Awaitable, Callable, Sequence

from askgraph.explanation._names import phrases_in
from askgraph.explanation.starters import examples_of
from askgraph.graph import KnowledgeGraph
from askgraph.search.linking.word_lists import greeted
from askgraph.trace import Answer, Clarification, Option, Outcome, Question, Refusal

_OFFERED = 3
_TRIED = 8


async def greeting(
    question: Question,
    graphs: Sequence[KnowledgeGraph],
    ask: Callable[[Question, KnowledgeGraph], Awaitable[Outcome]],
) -> Clarification | Refusal:
    """Return questions to start with that `ask` answers, as options with their queries.

    A refusal if it answers none.
    """
    language = question.language or greeted(question.text) or "en"
    options: list[Option] = []
    for graph in graphs:
        found = examples_of(graph.profile, graph.arrays, graph.prefixes, [language], most=_TRIED)
        for text in found.questions:
            if len(options) == _OFFERED:
                break
            outcome = await ask(Question(text, found.language), graph)
            if isinstance(outcome, Answer) and not outcome.is_empty:
                options.append(Option(text, max(1, len(outcome.result.rows)), outcome.query))
        if options:
            break
    if not options:
        return Refusal(phrases_in(language).say("refuse nothing"))
    return Clarification(phrases_in(language).say("greet"), tuple(options), None)
