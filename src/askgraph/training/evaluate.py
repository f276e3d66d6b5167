"""Evaluation of a writer: the queries of pairs that it reproduces from its candidates, unrun."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from askgraph.errors import QueryError, SetupError
from askgraph.llm import Choice, LanguageModel, Options, completed
from askgraph.llm.structured import takes_grammar
from askgraph.sparql.rewrite.canonical import canonical_query
from askgraph.training.pairs import Pair
from askgraph.writing.model_writer import query_grammar
from askgraph.writing.prompt import THEN, messages, query_in
from askgraph.writing.references import References


@dataclass(frozen=True)
class Evaluated:
    """Counts over pairs and hypotheses.

    `first` are the pairs whose first hypothesis is the gold query, up to names of variables and
    order; `among` those if any is. `sound` are the hypotheses that parse and name only listed
    candidates.
    """

    pairs: int
    first: int
    among: int
    hypotheses: int
    sound: int


async def evaluated(
    model: LanguageModel,
    pairs: Sequence[Pair],
    *,
    n: int = 1,
    beams: bool = False,
    constrained: bool = True,
    max_tokens: int = 300,
    progress: Callable[[str, int, int | None], None] = lambda what, done, total: None,
) -> Evaluated:
    """Ask for each pair's query and compare; see `PromptedWriter` for the options.

    Raises `SetupError` for a pair whose own query is none, before anything is asked.
    """
    wanted = [_gold(pair) for pair in pairs]
    first = among = hypotheses = sound = 0
    for done, (pair, gold) in enumerate(zip(pairs, wanted, strict=True)):
        progress("asking", done, len(pairs))
        references = References(pair.listed)
        options = Options(n=n, max_tokens=max_tokens, temperature=None if n > 1 else 0.0)
        if beams and n > 1:
            options["beams"] = True
        if constrained and takes_grammar(model):
            options["grammar"] = query_grammar(references, chains=THEN in pair.target)
        asked = messages(pair.question, references)
        choices = (await completed(model.complete(asked, **options))).choices
        queries = [_canonical(choice, references) for choice in choices]
        first += queries[:1] == [gold]
        among += gold in queries
        hypotheses += len(queries)
        sound += len(queries) - queries.count("")
    return Evaluated(len(pairs), first, among, hypotheses, sound)


def _gold(pair: Pair) -> str:
    try:
        return canonical_query(query_in(pair.target, References(pair.listed)))
    except QueryError as problem:
        raise SetupError(f"the pair {pair.id!r} wants no query: {problem}") from problem


def _canonical(choice: Choice, references: References) -> str:
    """Return a reply's query whatever its variables' names; empty if it is no query."""
    try:
        return canonical_query(query_in(choice.text, references))
    except QueryError:
        return ""
