"""What the handlers of requests are given: the hub, and who asks."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request

from askgraph.serve.hub import Hub
from askgraph.serve.identity.identify import Asking, asking_of
from askgraph.serve.identity.principal import Principal, Scope

__all__ = ["Caller", "HubDep", "caller_of", "hub_of", "needs"]


def hub_of(request: Request) -> Hub:
    """Return what all parts of the server share."""
    hub: Hub = request.app.state.hub
    return hub


HubDep = Annotated[Hub, Depends(hub_of)]


async def caller_of(request: Request, hub: HubDep) -> Principal:
    """Return who asks; `NotAllowed` (401) for a key that is none, `TooMany` past a limit."""
    known = getattr(request.state, "principal", None)
    if isinstance(known, Principal):
        return known
    asking: Asking = asking_of(request)
    principal = await hub.accounts.identify(asking)
    await hub.accounts.admit(principal)
    request.state.principal = principal
    return principal


Caller = Annotated[Principal, Depends(caller_of)]


def needs(scope: Scope) -> Callable[[Principal], Awaitable[Principal]]:
    """Return a dependency that gives the caller, who must have a scope.

    It raises `NotAllowed`: 401 where nobody knows the caller, 403 where the scope is missing.
    """

    async def allowed(caller: Caller) -> Principal:
        caller.check(scope)
        return caller

    return allowed
