"""Which language models write by a grammar; the others refuse, and never ignore one."""

from askgraph.errors import SetupError
from askgraph.llm import Identity, LanguageModel, Request

__all__ = ["refuse_grammar", "takes_grammar"]

_TAKE = frozenset(["transformers"])


def takes_grammar(model: LanguageModel) -> bool:
    """Return whether a request to this model may hold a grammar."""
    return model.identity.provider in _TAKE


def refuse_grammar(request: Request, identity: Identity) -> None:
    """Raise `SetupError` where a request to a provider that knows no grammars holds one."""
    if request.grammar is not None:
        raise SetupError(
            f"the model {identity.model!r} cannot write by a grammar: its provider offers no way "
            "to ask for it. A model on this machine can (provider transformers)"
        )
