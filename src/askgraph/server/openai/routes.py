"""`/v1/models`, `/v1/chat/completions` and `/v1/responses`: methods as OpenAI's models."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from askgraph.errors import AskgraphError, SetupError
from askgraph.server.auth import Principal
from askgraph.server.hub import Asker, Hub, HubDep
from askgraph.server.openai import (
    ChatBody,
    ChatCompletion,
    ChatError,
    ChatModel,
    ChatModels,
    ChatRoute,
)
from askgraph.server.openai.answers import Completion, Follows, Talk, offers, parse_talk
from askgraph.server.openai.responses import ResponseBody, ResponseReply, ResponseView, run_of
from askgraph.server.problems import Failed, Missing, Problem
from askgraph.server.rest.server import choices
from askgraph.server.runs import MOST_QUESTION, AskBody, method_names, odd_character
from askgraph.server.runs.replies import (
    choose_reading,
    read_steps,
    suggest_following,
    text_stream,
    unless_disconnected,
)
from askgraph.trace import Clarification, Outcome, Question, Step
from askgraph.workspace import DEFAULT_METHOD

DEFAULT = "askgraph"
"""The model that stands for the default method."""

router = APIRouter(
    prefix="/v1",
    tags=["OpenAI-compatible"],
    route_class=ChatRoute,
    responses={"4XX": {"model": ChatError}, "5XX": {"model": ChatError}},
)
_ALIKE = 20  # runs of one question that are looked at
_FOLLOWING = 3.0  # seconds for the questions that may follow
Begun = tuple[str, AsyncGenerator[Step, None], Follows]
"""A run, its steps, and what gives the questions that may follow."""
_BEGUN = 1_577_836_800  # of all models: the protocol wants a time, and they have none


async def _usable_methods(hub: Hub) -> list[str]:
    return [one.name for one in (await choices(hub)).methods if one.usable]


def parse_model(
    model: str, *, named: Sequence[str], methods: Sequence[str], graphs: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the method and the graphs that a request means by its model, or names besides.

    `methods` and `graphs` are those that there are. Raises `Missing` for a model that is none,
    `SetupError` if nobody says which of several graphs is meant.
    """
    method, at, graph = model.partition("@")
    plain = DEFAULT_METHOD if method == DEFAULT else method.replace("_", "-")
    if plain not in methods or (at and graph not in graphs):
        there = ", ".join([DEFAULT, *methods])
        places = ", ".join(graphs) or "none yet"
        raise Missing(
            f"there is no model {model!r}; models are {there}, each also as METHOD@GRAPH; "
            f"graphs are {places}"
        )
    wanted = [graph] if at else list(named)
    if not wanted and len(graphs) > 1:
        examples = ", ".join(f"{method}@{one}" for one in graphs[:5])
        raise SetupError(
            f"which graph? Take a model such as {examples}, or name one in the field 'graph'"
        )
    return plain, wanted or list(graphs)


@router.get("/models")
async def models(hub: HubDep, caller: Asker) -> ChatModels:
    """List the methods as models, also for each graph if there are several."""
    ids, graphs = [DEFAULT, *await _usable_methods(hub)], hub.graphs.names(caller)
    if len(graphs) > 1:
        ids = [f"{method}@{graph}" for graph in graphs for method in ids]
    return ChatModels(data=[ChatModel(id=id, created=_BEGUN) for id in ids])


@router.get("/models/{model}")
async def model(model: str, hub: HubDep, caller: Asker) -> ChatModel:
    """Return one model, of those that can be asked here."""
    graphs = hub.graphs.names(caller)
    parse_model(model, named=graphs[:1], methods=await _usable_methods(hub), graphs=graphs)
    return ChatModel(id=model, created=_BEGUN)


@router.post("/chat/completions", response_model=ChatCompletion)
async def complete(body: ChatBody, request: Request, hub: HubDep, caller: Asker) -> Response:
    """Answer the last message of a conversation.

    Beside the usual fields, `graph` or `graphs` name what is asked, and `language` the question's.
    A message that is only a number takes that reading of what was asked back before.
    """
    if body.n not in (None, 1):
        raise SetupError("only one answer is given: leave out 'n'")
    run, steps, follows = await _begin(body, parse_talk(body.messages), hub, caller)
    usage = bool(body.stream_options and body.stream_options.include_usage)
    reply = Completion(run, body.model, follows, usage)
    if body.stream:
        return text_stream(reply.chunks(steps))
    whole = await unless_disconnected(request, reply.whole(steps))
    return JSONResponse(whole.model_dump(mode="json"))


@router.post("/responses", response_model=ResponseView)
async def respond(body: ResponseBody, request: Request, hub: HubDep, caller: Asker) -> Response:
    """Answer the last message of the input, or go on from an earlier response.

    Beside the usual fields, `graph` or `graphs` name what is asked, and `language` the question's.
    `instructions`, tools and the settings of language models mean nothing to a graph.
    """
    if body.background:
        raise SetupError("nothing is answered in the background: leave out 'background'")
    after = None
    if body.previous_response_id is not None:
        id = body.previous_response_id
        try:
            after = (await hub.records.row(run_of(id), caller)).id
        except Missing as error:
            raise Failed(
                Problem(
                    type="urn:askgraph:problem:previous-response-not-found",
                    title="No such response",
                    status=400,
                    detail=f"there is no response {id!r} to go on from, or it is not yours",
                )
            ) from error
    run, steps, follows = await _begin(body, parse_talk(body.messages), hub, caller, after=after)
    reply = ResponseReply(run, body, follows)
    if body.stream:
        return text_stream(reply.events(steps))
    whole = await unless_disconnected(request, reply.whole(steps))
    return JSONResponse(whole.model_dump(mode="json"))


async def _begin(
    body: ChatBody | ResponseBody,
    talk: Talk,
    hub: Hub,
    caller: Principal,
    *,
    after: str | None = None,
) -> Begun:
    """The run that a request begins; `after` is the run that it goes on from."""
    if talk.choice is not None and (back := await _find_asked_back(talk, after, hub, caller)):
        choice = talk.choice
        _, _, outcome = await hub.records.outcome(back, caller)
        most = len(outcome.options) if isinstance(outcome, Clarification) else 0
        if not 1 <= choice <= most:
            raise SetupError(f"answer with a number from 1 to {most}, or ask in other words")
        view = await choose_reading(hub, back, choice - 1, caller)
        trace, _, _ = await hub.records.outcome(view.id, caller)

        async def steps() -> AsyncGenerator[Step, None]:
            yield trace.outcome

        return view.id, steps(), _follows(hub, trace.question, caller)
    if len(talk.question) > MOST_QUESTION:
        raise SetupError(f"the question has more than {MOST_QUESTION:,} characters")
    if odd := odd_character([talk.question, *(one.question for one in talk.before)]):
        raise SetupError(f"the question holds {odd}, which no text here may: leave it out")
    method, graphs = parse_model(
        body.model,
        named=body.graphs or ([body.graph] if body.graph else []),
        methods=method_names(hub.settings),
        graphs=hub.graphs.names(caller),
    )
    asked = AskBody(
        question=talk.question,
        graphs=graphs or None,
        method=method,
        language=body.language,
        after=after,
    )
    run = await hub.ask(asked, caller, before=talk.before)
    return run.id, read_steps(hub, run), _follows(hub, run.asked.question, caller)


def _follows(hub: Hub, asked: Question, caller: Principal) -> Follows:
    async def follows(outcome: Outcome) -> Sequence[str]:
        with suppress(AskgraphError):  # the answer is there: nothing is to be said of these
            return await suggest_following(hub, asked, outcome, caller, seconds=_FOLLOWING)
        return ()

    return follows


async def _find_asked_back(
    talk: Talk, after: str | None, hub: Hub, caller: Principal
) -> str | None:
    """The run that asked back: the one before, or the latest that said what our message says."""
    if after is not None:
        _, _, outcome = await hub.records.outcome(after, caller)
        return after if isinstance(outcome, Clarification) else None
    for row in await hub.store.runs(caller.id, search=talk.asked, limit=_ALIKE):
        if row.question == talk.asked and row.status == "clarification":
            _, _, outcome = await hub.records.outcome(row.id, caller)
            if offers(outcome, talk.said):
                return row.id
    return None
