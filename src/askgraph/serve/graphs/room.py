"""How many graphs a caller may have added over the web."""

from collections.abc import Iterable

from askgraph.serve.identity.principal import ANONYMOUS, NotAllowed, Principal

__all__ = ["check_room"]


def check_room(caller: Principal, owners: Iterable[str]) -> None:
    """Raise `NotAllowed` where `owners`, who added the graphs there are, name a caller too often.

    Callers without a key, who can have any number of ids, are counted as one.
    """
    most = caller.limits.graphs
    if not most or caller.may("admin"):
        return
    whose = _whose(caller.id)
    if sum(bool(owner) and _whose(owner) == whose for owner in owners) >= most:
        raise NotAllowed(
            f"{most} graphs were added already, and no more may be: remove one, or let the"
            " operator raise graphs_per_caller"
        )


def _whose(owner: str) -> str:
    return ANONYMOUS if owner.startswith("visitor:") else owner
