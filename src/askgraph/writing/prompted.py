"""A language model that writes queries from references, whatever stands behind it."""

from collections.abc import Sequence
from dataclasses import dataclass

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.llm import Choice, LanguageModel, Options, completed
from askgraph.llm.structured import takes_grammar
from askgraph.sparql.judge import checked
from askgraph.sparql.rewrite.canonical import canonical_query
from askgraph.trace import Question
from askgraph.writing import Hypothesis, Listed
from askgraph.writing.grammar import query_grammar
from askgraph.writing.prompt import messages, query_in
from askgraph.writing.references import References

__all__ = ["PromptedWriter", "read_hypotheses"]


@dataclass(frozen=True)
class PromptedWriter:
    """Writes queries with a language model, which is told what `prompt` says.

    `search` is how several are had: `beams` (the best of a beam search) or `samples` (as many
    independent replies, the second and further ones at `temperature`). What a reply names beside
    what is listed, or what does not parse, makes it no hypothesis: fewer than `n` may come. A model
    that takes a grammar (`askgraph.llm.structured`) is held to one, `chains` admitting two queries
    in a row; `constrained` may forbid that. `max_tokens` is of each reply.
    """

    model: LanguageModel
    search: str = "samples"
    temperature: float = 0.7
    max_tokens: int = 300
    constrained: bool = True
    chains: bool = False

    async def write(
        self, question: Question, listed: Sequence[Listed], graph: KnowledgeGraph, *, n: int = 1
    ) -> list[Hypothesis]:
        """Write up to `n` different queries, most believed first; see `QueryWriter`.

        Raises what the model raises, `SetupError` where it has no beams and they are wanted.
        """
        references = References(listed)
        options = Options(n=n, max_tokens=self.max_tokens, logprobs=True)
        if n > 1 and self.search == "beams":
            options["beams"] = True
        else:
            options["temperature"] = self.temperature if n > 1 else 0.0
        if self.constrained and takes_grammar(self.model):
            options["grammar"] = query_grammar(references, chains=self.chains)
        asked = messages(question.text, references)
        reply = await completed(self.model.complete(asked, **options))
        return read_hypotheses(reply.choices, references)


def read_hypotheses(choices: Sequence[Choice], references: References) -> list[Hypothesis]:
    """Return the different queries in the choices, most likely first, as far as that is known.

    Those that say the same in other words are one, as likely as the likeliest of them.
    """
    found: dict[str, Hypothesis] = {}
    for choice in choices:
        try:
            query = checked(query_in(choice.text, references)).text
        except QueryError:
            continue
        key = canonical_query(query)
        there = found.get(key)
        if there is None or _belief(choice.logprob) > _belief(there.score):
            found[key] = Hypothesis(query, choice.logprob)
    return sorted(found.values(), key=lambda each: -_belief(each.score))


def _belief(score: float | None) -> float:
    return float("-inf") if score is None else score
