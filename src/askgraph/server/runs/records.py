"""Runs in the store: begun and ended there, and read from it by callers who may."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from askgraph.errors import ServiceError, SetupError
from askgraph.index import tokens
from askgraph.search.tokenize.word_lists import detected_language
from askgraph.server.auth import ANONYMOUS, Principal, TooMany
from askgraph.server.problems import Missing, Problem
from askgraph.server.runs import RunSummary, RunView, State, answer_view
from askgraph.server.runs.request import RunRequest
from askgraph.server.store import Store
from askgraph.server.store.tables import Json, RunRow, SessionRow, new_id
from askgraph.server.telemetry import mask_fields, mask_value, remove_secrets
from askgraph.trace import Earlier, Outcome, Step, Trace, spent
from askgraph.trace.codec import Head, head_told, lines_of, step_told, trace_in

_CONVERSATION = 20  # earlier questions that a question may follow
_TITLE = 120


class RunRecords:
    """The runs of the store, for callers who may read them.

    `process` is the id of this server process, `rows` how many rows of an answer are kept. Traces
    are kept without `secrets`, and without text that looks like one.
    """

    def __init__(
        self, store: Store, process: str, *, rows: int, secrets: Sequence[str] = ()
    ) -> None:
        self.store = store
        self.process = process
        self._rows = rows
        self._secrets = secrets
        self._unkept: dict[str, dict[str, Any]] = {}  # ends of runs, by id

    async def begin(self, asked: RunRequest, caller: Principal, state: State) -> str:
        """Keep a question that begins, with the session if that is new, and return its id.

        Raises `TooMany` if the caller has too many under way.
        """
        run = RunRow(
            new_id(),
            caller.id,
            asked.question.text,
            asked.graphs,
            asked.method,
            session=asked.session or None,
            language=asked.question.language,
            model=asked.model,
            settings=dict(asked.settings),
            after=asked.after,
            changes=asked.changes,
            process=self.process,
            state=state,
            counted_as=caller.counted_as,
        )
        title = asked.question.text[:_TITLE]
        session = SessionRow(asked.session, caller.id, title) if asked.begins else None
        most = caller.limits.parallel
        if not await self.store.begin_run(run, at_most=most, session=session):
            raise TooMany(
                f"{most} of your questions are under way, and no more may be at "
                "once: wait for one, or stop it",
                retry_after=5.0,
            )
        return run.id

    def mask(self, step: Step) -> Json:
        """Return a step as JSON that may be sent and kept: without secrets."""
        return mask_fields(step_told(step), self._secrets)

    async def ended(
        self,
        id: str,
        state: State,
        trace: Trace,
        head: Head,
        told: Sequence[Json],
        problem: Problem | None,
        seconds: float,
    ) -> None:
        """Keep the end of a run, with its steps, also as `mask` gives them.

        Nothing but our secrets is masked in an answer: text that looks like a secret there is data
        of a graph. If the store fails, which is raised, it is tried again; a run whose end is not
        there counts as under way.
        """
        outcome = trace.outcome if state == "done" else None
        answer = answer_view(outcome, limit=self._rows).model_dump() if outcome else None
        failure = problem.model_dump() if problem else None
        if failure:
            failure["detail"] = mask_value(failure["detail"], self._secrets)
        usage = spent(trace.steps)
        end: dict[str, Any] = {
            "state": state,
            "status": answer["status"] if answer else None,
            "answer": remove_secrets(answer, self._secrets),
            "trace": lines_of((mask_fields(head_told(trace, head), self._secrets), *told)),
            "problem": failure,
            "seconds": seconds,
            "tokens": usage.input_tokens + usage.output_tokens,
            "money": usage.money,
        }
        self._unkept[id] = end
        await self._keep({id: end})

    async def _keep(self, ends: Mapping[str, dict[str, Any]]) -> None:
        """Keep the ends of runs by their ids; `ServiceError` if the store fails."""
        for id, end in ends.items():
            await self.store.finish_run(id, **end)
            self._unkept.pop(id, None)

    async def row(self, id: str, caller: Principal) -> RunRow:
        """Return a run; `Missing` if there is none that the caller may read."""
        row = await self.store.run(id)
        if row is None or not _readable(row, caller):
            raise Missing(f"there is no question {id!r}, or it is not yours")
        return row

    async def own(self, id: str, caller: Principal) -> RunRow:
        """Return a run of the caller's own; `Missing` if it is none."""
        row = await self.row(id, caller)
        if not _owned(row, caller):
            raise Missing(f"there is no question {id!r}, or it is not yours")
        return row

    async def view(self, id: str, caller: Principal, *, ends: bool = False) -> RunView:
        """Return a run as it goes over the wire; `Missing` if the caller may not read it.

        Of one that `ends` just now nobody has an opinion yet.
        """
        row = await self.row(id, caller)
        said = [] if ends else await self.store.feedback(id)
        said = [one for one in said if one.owner == caller.id]
        before = await self._before(row.after, caller)
        return RunView.model_validate(
            {
                **vars(row),
                "session": row.session or "",
                "language": row.language or detected_language(tokens(row.question)),
                "before": [{"question": one.question} for one in before],
                "feedback": vars(said[0]) if said else None,
                "verified": not ends and bool(await self.store.verified_of([row.id])),
                "mine": _owned(row, caller),
            }
        )

    async def summaries(self, rows: Sequence[RunRow], caller: Principal) -> list[RunSummary]:
        """Return runs of the caller's as lines of the history."""
        before = {row.after for row in rows if row.after is not None}
        questions = await self.store.questions(before, caller.id)
        return [
            RunSummary.model_validate(
                {
                    **vars(row),
                    "session": row.session or "",
                    "follows": questions.get(row.after or ""),
                }
            )
            for row in rows
        ]

    async def shows_steps(self, id: str, caller: Principal) -> bool:
        """Whether the caller may read a run's steps: they quote the questions before it."""
        row: RunRow | None = await self.row(id, caller)
        if row and _owned(row, caller):
            return True
        for _ in range(_CONVERSATION):
            row = await self.store.run(row.after) if row and row.after else None
            if row is None:
                return True
            if not _readable(row, caller):
                return False
        return True

    async def steps(self, id: str, caller: Principal) -> str:
        """Return the steps of a run as the text of a trace file; see `shows_steps`."""
        if not await self.shows_steps(id, caller):
            raise Missing(
                f"the steps of {id!r} quote questions before it, which are not shared with you"
            )
        return await self._trace(id)

    async def _trace(self, id: str) -> str:
        text = await self.store.trace(id)
        if text is None:
            raise Missing(f"the question {id!r} has no steps yet: it is still under way")
        return text

    async def outcome(self, id: str, caller: Principal) -> tuple[Trace, Head, Outcome]:
        """Return the trace and outcome of a run; `SetupError` if it has none."""
        await self.row(id, caller)
        trace, head = trace_in(await self._trace(id), f"of question {id}")
        try:
            return trace, head, trace.outcome
        except ValueError as error:
            raise SetupError(f"question {id!r} came to no answer: {error}") from error

    async def earlier(self, id: str, caller: Principal) -> tuple[Earlier, ...]:
        """Return the conversation up to a run, oldest first, for the question that follows it.

        It is read from the store alone: what a caller says of earlier questions is not believed.
        Questions that came to no query are passed over.
        """
        row = await self.row(id, caller)
        return await self._before(row.id, caller)

    async def session(self, id: str, caller: Principal) -> SessionRow:
        """Return a session of the caller's own; `Missing` if it is none."""
        known = await self.store.session(id)
        if known is None or known.owner != caller.id:
            raise Missing(f"there is no session {id!r}, or it is not yours")
        return known

    async def beat(self) -> tuple[str, ...]:
        """Report that this process lives, and hand back the work of dead ones: return its jobs.

        Ends that the store did not take before are given to it again.
        """
        await self.store.beat(self.process)
        given_up = await self.store.hand_back_orphans()
        await self._keep(dict(self._unkept))
        return given_up

    async def leave(self) -> None:
        """Report that this process ends."""
        with contextlib.suppress(ServiceError):
            await self._keep(dict(self._unkept))
        await self.store.leave(self.process)

    async def _before(self, id: str | None, caller: Principal) -> tuple[Earlier, ...]:
        """The chain of questions up to a run: those that came to a query and the caller may read.

        Who shares a question does not share those before it.
        """
        found: list[Earlier] = []
        for _ in range(_CONVERSATION):
            row = await self.store.run(id) if id else None
            if row is None:
                break
            query = (row.answer or {}).get("sparql")
            if isinstance(query, str) and _readable(row, caller):
                found.append(Earlier(row.question, query))
            id = row.after
        return tuple(reversed(found))


def _owned(row: RunRow, caller: Principal) -> bool:
    return row.owner == caller.id


def _readable(row: RunRow, caller: Principal) -> bool:
    if not all(caller.sees(graph) for graph in row.graphs):
        return False
    return _owned(row, caller) or row.shared or row.owner == ANONYMOUS or caller.may("admin")
