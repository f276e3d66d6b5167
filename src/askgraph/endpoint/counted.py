"""An endpoint that counts the requests made of another one, for the cost of a run."""

from askgraph.endpoint import Asked, Delegating, Endpoint, Kind, Run

__all__ = ["Counted"]


class Counted(Delegating):
    """Passes every query on to `inner`; `requests` counts them, failed ones too."""

    def __init__(self, inner: Endpoint) -> None:
        super().__init__(inner)
        self.requests = 0

    async def _run(self, asked: Asked, kind: type[Kind], run: Run[Kind]) -> Kind:
        self.requests += 1
        return await run(self._inner, asked.query, asked.timeout)
