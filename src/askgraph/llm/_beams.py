"""The best of a beam search, or an error: samples are never passed off as beams."""

from contextlib import aclosing

from askgraph.errors import SetupError
from askgraph.llm import Completion, Identity, Request
from askgraph.llm._streams import Stream

__all__ = ["beams_of", "no_beams", "refuse_beams"]


def no_beams(identity: Identity, why: str) -> SetupError:
    """Return the error that says what to do instead."""
    return SetupError(
        f"the model {identity.model!r} cannot do a beam search: {why}. vLLM can; elsewhere take "
        "samples, or ask for several replies in words"
    )


def refuse_beams(request: Request, identity: Identity) -> None:
    """Raise `SetupError` where a request to a provider without beam search asks for beams."""
    if request.beams:
        raise no_beams(identity, "its provider offers none")


async def beams_of(stream: Stream, wanted: int, identity: Identity) -> Stream:
    """Pass a stream on; `SetupError` where what came cannot be beams.

    A server that knows nothing of beams and says nothing gives fewer replies than wanted, or, at
    temperature 0, the same one again; beams all differ.
    """
    async with aclosing(stream):
        async for event in stream:
            if isinstance(event, Completion):
                texts = {choice.text for choice in event.choices}
                if len(event.choices) < wanted or (wanted > 1 and len(texts) == 1):
                    raise no_beams(
                        identity,
                        f"{wanted} beams were wanted, and {len(texts)} different replies came",
                    )
            yield event
