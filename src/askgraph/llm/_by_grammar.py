"""Hold what a local model writes to a grammar, under every kind of decoding."""

import json
from collections.abc import Sequence
from typing import Any

import xgrammar

from askgraph.errors import SetupError
from askgraph.llm import Request

__all__ = ["Grammars", "HeldToGrammar"]


class Grammars:
    """Compiles grammars for the vocabulary of one model."""

    def __init__(self, tokenizer: Any, vocabulary: int, stops: Sequence[int]) -> None:
        info = xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=vocabulary, stop_token_ids=list(stops)
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=2, cache_limit_bytes=2**26)
        self._vocabulary = vocabulary

    def holding(self, request: Request, prompt: int) -> "HeldToGrammar | None":
        """Return what holds a request's choices to its grammar or schema; None where it has none.

        `prompt` is how many tokens stand before what is written. `SetupError` for a grammar that
        cannot be read.
        """
        if request.grammar is None and request.schema is None:
            return None
        try:
            if request.grammar is not None:
                grammar = xgrammar.Grammar.from_ebnf(request.grammar)
            else:
                grammar = xgrammar.Grammar.from_json_schema(
                    json.dumps(dict(request.schema or {})), any_whitespace=False
                )
            compiled = self._compiler.compile_grammar(grammar)
        except RuntimeError as problem:
            raise SetupError(f"the grammar cannot be read: {problem}") from problem
        return HeldToGrammar(compiled, prompt, self._vocabulary)


class HeldToGrammar:
    """A logits processor: tokens that the grammar does not admit next get no probability.

    Rows are told apart by what was written in them and not by their place, so that a beam search
    may put them in any order, drop them and go on from one several times.
    """

    def __init__(self, grammar: Any, prompt: int, vocabulary: int) -> None:
        self._grammar = grammar
        self._prompt = prompt
        self._bits = xgrammar.allocate_token_bitmask(1, vocabulary)
        self._known: dict[tuple[int, ...], Any] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, minus infinity where a token is not admitted."""
        written = [tuple(row[self._prompt :]) for row in input_ids.tolist()]
        self._known = {row: self._matcher(row) for row in dict.fromkeys(written)}
        for at, row in enumerate(written):
            matcher = self._known[row]
            if matcher is not None and not matcher.is_terminated():
                matcher.fill_next_token_bitmask(self._bits)
                bits = self._bits.to(scores.device)
                xgrammar.apply_token_bitmask_inplace(scores[at : at + 1], bits)
        return scores

    def admits(self, row: Sequence[int]) -> bool:
        """Tell whether the grammar admits a row as far as it goes: some beams are none."""
        matcher = xgrammar.GrammarMatcher(self._grammar)
        return all(matcher.accept_token(token) for token in row)

    def _matcher(self, row: tuple[int, ...]) -> Any:
        """Where in the grammar a row stands; None for one that has left it.

        A beam search goes on from such rows where it has no others; they are as unlikely as can be.
        """
        if not row:
            return xgrammar.GrammarMatcher(self._grammar)
        before = self._known.get(row[:-1])
        if before is None or before.is_terminated():
            return before
        here = before.fork()
        return here if here.accept_token(row[-1]) else None
