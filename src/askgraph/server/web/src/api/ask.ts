// Questions and runs: their events, resumed if the connection breaks, and actions on runs.

import { language } from "../i18n/index.ts";
import { streamEvents } from "./events.ts";
import { get, ProblemError, post, remove, request, UNREACHABLE, withQuery } from "./http.ts";
import type * as api from "./types.ts";
import type { RunEvent, RunView, Step } from "./types.ts";

const ENDS = new Set(["outcome", "problem", "cancelled", "handed_back"]);
const OUTCOMES = new Set(["answer", "clarification", "refusal"]);
const WAITS = [200, 1000, 3000, 6000];

/** Asks and yields the events; resumes after a broken connection. */
export async function* ask(asking: api.Asking, signal: AbortSignal): AsyncGenerator<RunEvent> {
  yield* resume(streamEvents("POST", "/ask", asking, signal), "", signal);
}

/** Yields the events of a run that was begun before. */
export async function* watch(run: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  yield* resume(eventsAfter(run, -1, signal), run, signal);
}

export const runOf = (id: string) => get<RunView>(`/runs/${encodeURIComponent(id)}`);
export const cancel = (id: string) => post<unknown>(`/runs/${id}/cancel`);
export const choose = (id: string, option: number) =>
  post<RunView>(`/runs/${id}/choose`, { option });
export const nextOf = (id: string) =>
  get<api.NextQuestionsView>(`/runs/${encodeURIComponent(id)}/next`);
export const contextOf = (id: string) =>
  get<api.ContextView>(withQuery(`/runs/${id}/context`, { language: language.value }));
export const edit = (id: string, query: string) =>
  post<RunView>(`/runs/${encodeURIComponent(id)}/edit`, { query });
export const feedback = (id: string, verdict: api.Verdict, comment: string) =>
  post<RunView["feedback"]>(`/runs/${id}/feedback`, comment ? { verdict, comment } : { verdict });
export const confirm = (id: string, query: string | null = null) =>
  post<RunView>(`/runs/${id}/confirm`, { query });
export const lessonsOf = (id: string) => post<api.LessonsView>(`/runs/${id}/lessons`);
export const withdraw = (id: string) => remove<RunView>(`/runs/${id}/confirm`);
export const share = (id: string, shared: boolean, picture: string | null) =>
  post<RunView>(`/runs/${id}/share`, { shared, picture });
export const forget = (id: string) => remove(`/runs/${id}`);
export const forgetAll = () => remove("/runs");

export const runs = (wanted: { search?: string; before?: string; limit: number }) =>
  get<api.RunsView>(withQuery("/runs", wanted));

/** The steps of a run that is over, without its outcome. */
export async function stepsOf(id: string): Promise<Step[]> {
  const accept = "application/x-ndjson";
  const response = await request("GET", `/runs/${id}/trace`, undefined, { accept });
  const lines = (await response.text()).split("\n").filter((line) => line !== "");
  return lines
    .map((line) => JSON.parse(line) as { step?: string })
    .filter((line): line is Step => line.step !== undefined && !OUTCOMES.has(line.step));
}

function eventsAfter(run: string, after: number, signal: AbortSignal) {
  const path = withQuery(`/runs/${run}/events`, after < 0 ? {} : { after });
  return streamEvents("GET", path, undefined, signal);
}

async function* resume(
  first: ReturnType<typeof streamEvents>,
  begun: string,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  let stream = first;
  let run = begun;
  let seen = -1;
  let isOver = false;
  for (let attempt = 0; ; ) {
    try {
      // Read the stream to its end: leaving it early aborts the request.
      for await (const data of stream) {
        const event = JSON.parse(data) as RunEvent;
        if (event.seq <= seen) continue;
        seen = event.seq;
        attempt = 0;
        run = event.id;
        isOver = ENDS.has(event.event);
        yield event;
      }
    } catch (error) {
      if (!isOver && (signal.aborted || !run || !isBroken(error))) throw error;
    }
    if (isOver) return;
    const wait = WAITS[attempt];
    if (!run || wait === undefined) throw new ProblemError(UNREACHABLE);
    await new Promise((resolve) => setTimeout(resolve, wait));
    signal.throwIfAborted();
    attempt += 1;
    stream = eventsAfter(run, seen, signal);
  }
}

/** Whether the connection failed, not the request. */
function isBroken(error: unknown): boolean {
  return error instanceof ProblemError ? error.problem.status === 0 : error instanceof TypeError;
}
