"""`/v1/models`, `/v1/chat/completions` and `/v1/responses`: methods as OpenAI models."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from askgraph.errors import AskgraphError, SetupError
from askgraph.server import openai, runs
from askgraph.server.auth import Principal
from askgraph.server.hub import Asker, Hub, HubDep
from askgraph.server.openai import answers, responses
from askgraph.server.problems import NotFound, Problem, RunFailed
from askgraph.server.rest.server import list_choices
from askgraph.server.runs.replies import (
    build_next_questions,
    cancel_on_disconnect,
    choose_interpretation,
    read_steps,
    stream_texts,
)
from askgraph.trace import Clarification, Outcome, Question, Step

DEFAULT_MODEL = "askgraph"
"""The model name of the default method."""

router = APIRouter(
    prefix="/v1",
    tags=["OpenAI-compatible"],
    route_class=openai.ChatRoute,
    responses={"4XX": {"model": openai.ChatError}, "5XX": {"model": openai.ChatError}},
)
_MAX_SEARCHED_RUNS = 20  # runs of one question to inspect
_FOLLOWING_SECONDS = 3.0  # seconds for the follow-up questions
StartedRun = tuple[str, AsyncGenerator[Step, None], answers.FollowingSuggester]
"""The id of a run, its steps, and the function that suggests follow-up questions."""
_MODEL_CREATED_SECONDS = 1_577_836_800  # the protocol requires a time, which models do not have


async def _list_usable_methods(hub: Hub) -> list[str]:
    return [method.name for method in (await list_choices(hub)).methods if method.usable]


def parse_model(
    model: str, *, graph_names: Sequence[str], methods: Sequence[str], graphs: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the method and the graphs that a request names by its model or its graph fields.

    Args:
        graph_names: the graphs of the request's graph fields.
        methods: the available methods.
        graphs: the graphs that the caller may see.

    Raises:
        Missing: the model does not exist.
        SetupError: the request does not name one of several graphs.
    """
    method, separator, graph = model.partition("@")
    method_name = (
        runs.choose_default_method(methods) if method == DEFAULT_MODEL else method.replace("_", "-")
    )
    if method_name not in methods or (separator and graph not in graphs):
        model_names = ", ".join([DEFAULT_MODEL, *methods])
        graph_list = ", ".join(graphs) or "none yet"
        raise NotFound(
            f"there is no model {model!r}; available models: {model_names}, each also as "
            f"METHOD@GRAPH; available graphs: {graph_list}"
        )
    chosen_graphs = [graph] if separator else list(graph_names)
    if not chosen_graphs and len(graphs) > 1:
        examples = ", ".join(f"{method}@{example_graph}" for example_graph in graphs[:5])
        raise SetupError(f"name a graph: use a model such as {examples}, or set the field 'graph'")
    return method_name, chosen_graphs or list(graphs)


@router.get("/models")
async def list_models(hub: HubDep, caller: Asker) -> openai.ChatModels:
    """List the methods as models, combined with each graph if there are several."""
    ids, graphs = [DEFAULT_MODEL, *await _list_usable_methods(hub)], hub.graphs.list_names(caller)
    if len(graphs) > 1:
        ids = [f"{method}@{graph}" for graph in graphs for method in ids]
    return openai.ChatModels(
        data=[openai.ChatModel(id=id, created=_MODEL_CREATED_SECONDS) for id in ids]
    )


@router.get("/models/{model}")
async def get_model(model: str, hub: HubDep, caller: Asker) -> openai.ChatModel:
    """Return one of the available models."""
    graphs = hub.graphs.list_names(caller)
    parse_model(
        model, graph_names=graphs[:1], methods=await _list_usable_methods(hub), graphs=graphs
    )
    return openai.ChatModel(id=model, created=_MODEL_CREATED_SECONDS)


@router.post("/chat/completions", response_model=openai.ChatCompletion)
async def complete(body: openai.ChatBody, request: Request, hub: HubDep, caller: Asker) -> Response:
    """Answer the last message of a conversation.

    Beside the standard fields, `graph` or `graphs` name the graphs to ask, and `language` is the
    language of the question. A message with only a number chooses that reading of the last
    clarification.
    """
    if body.n not in (None, 1):
        raise SetupError("only one answer is available: leave out 'n'")
    run, steps, suggester = await _start_run(body, hub, caller)
    usage = bool(body.stream_options and body.stream_options.include_usage)
    reply = answers.ChatReplyBuilder(run, body.model, suggester, usage)
    if body.stream:
        return stream_texts(reply.stream_chunks(steps))
    completion = await cancel_on_disconnect(request, reply.build_completion(steps))
    return JSONResponse(completion.model_dump(mode="json"))


@router.post("/responses", response_model=responses.ResponseView)
async def respond(
    body: responses.ResponseBody, request: Request, hub: HubDep, caller: Asker
) -> Response:
    """Answer the last message of the input, or follow up on an earlier response.

    Beside the standard fields, `graph` or `graphs` name the graphs to ask, and `language` is the
    language of the question. `instructions`, tools and the settings of language models are ignored.
    """
    if body.background:
        raise SetupError("background responses are not supported: leave out 'background'")
    after = None
    if body.previous_response_id is not None:
        id = body.previous_response_id
        try:
            after = (await hub.records.load_run(responses.parse_run_id(id), caller)).id
        except NotFound as error:
            raise RunFailed(
                Problem(
                    type="urn:askgraph:problem:previous-response-not-found",
                    title="No such response",
                    status=400,
                    detail=f"there is no response {id!r} to go on from, or it is not yours",
                )
            ) from error
    run, steps, suggester = await _start_run(body, hub, caller, after=after)
    reply = responses.ResponseBuilder(run, body, suggester)
    if body.stream:
        return stream_texts(reply.stream_events(steps))
    response = await cancel_on_disconnect(request, reply.build_response(steps))
    return JSONResponse(response.model_dump(mode="json"))


async def _start_run(
    body: openai.ChatBody | responses.ResponseBody,
    hub: Hub,
    caller: Principal,
    *,
    after: str | None = None,
) -> StartedRun:
    conversation = answers.parse_conversation(body.messages)
    if conversation.choice is not None and (
        clarification_run := await _find_clarification_run(conversation, after, hub, caller)
    ):
        choice = conversation.choice
        _, _, outcome = await hub.records.load_outcome(clarification_run, caller)
        option_count = len(outcome.options) if isinstance(outcome, Clarification) else 0
        if not 1 <= choice <= option_count:
            raise SetupError(
                f"answer with a number from 1 to {option_count}, or ask in other words"
            )
        view = await choose_interpretation(hub, clarification_run, choice - 1, caller)
        trace, _, _ = await hub.records.load_outcome(view.id, caller)

        async def stream_outcome() -> AsyncGenerator[Step, None]:
            yield trace.outcome

        return view.id, stream_outcome(), _create_suggester(hub, trace.question, caller)
    if len(conversation.question) > runs.MAX_QUESTION_CHARACTERS:
        raise SetupError(f"the question has more than {runs.MAX_QUESTION_CHARACTERS:,} characters")
    if bad_character := runs.find_invalid_character(
        [conversation.question, *(item.question for item in conversation.before)]
    ):
        raise SetupError(f"the question contains {bad_character}, which is not allowed: remove it")
    method, graphs = parse_model(
        body.model,
        graph_names=body.graphs or ([body.graph] if body.graph else []),
        methods=runs.list_method_names(hub.settings),
        graphs=hub.graphs.list_names(caller),
    )
    ask_body = runs.AskBody(
        question=conversation.question,
        graphs=graphs or None,
        method=method,
        language=body.language,
        after=after,
    )
    run = await hub.ask(ask_body, caller, before=conversation.before)
    return run.id, read_steps(hub, run), _create_suggester(hub, run.request.question, caller)


def _create_suggester(
    hub: Hub, question: Question, caller: Principal
) -> answers.FollowingSuggester:
    async def suggest(outcome: Outcome) -> Sequence[str]:
        with suppress(AskgraphError):  # the answer is complete without follow-up questions
            return await build_next_questions(
                hub, question, outcome, caller, seconds=_FOLLOWING_SECONDS
            )
        return ()

    return suggest


async def _find_clarification_run(
    conversation: answers.ParsedConversation, after: str | None, hub: Hub, caller: Principal
) -> str | None:
    """Return the run that asked back: `after`, or the latest run that sent our last message."""
    if after is not None:
        _, _, outcome = await hub.records.load_outcome(after, caller)
        return after if isinstance(outcome, Clarification) else None
    for row in await hub.store.list_runs(
        caller.id, search=conversation.previous_question, limit=_MAX_SEARCHED_RUNS
    ):
        if row.question == conversation.previous_question and row.status == "clarification":
            _, _, outcome = await hub.records.load_outcome(row.id, caller)
            if answers.is_clarification_reply(outcome, conversation.previous_reply):
                return row.id
    return None
