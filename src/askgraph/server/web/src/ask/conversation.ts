// The conversation that is shown: its questions, and the state of each.

import { signal } from "@preact/signals";
import { ask, cancel, runOf, watch } from "../api/ask.ts";
import { onReturn, problemFrom, UNREACHABLE } from "../api/http.ts";
import type { Asking, Problem, RunEvent, RunView, Step } from "../api/types.ts";
import { navigate, showRun } from "../app/router.ts";
import { UNMARKED } from "../parts/marks.ts";

type TurnState = "asking" | "queued" | "running" | "done" | "stopped" | "failed" | "handed back";

let nextKey = 0;

/** One question of the conversation. */
export class Turn {
  readonly state = signal<TurnState>("asking");
  readonly run = signal<RunView | null>(null);
  readonly id = signal<string | null>(null);
  readonly session = signal<string | null>(null);
  readonly steps = signal<readonly Step[]>([]);
  readonly ahead = signal(0);
  readonly problem = signal<Problem | null>(null);
  readonly marked = signal(UNMARKED);
  readonly begun = performance.now();
  readonly leaving = new AbortController();
  /** Shared by all versions of a question, which replace each other. */
  readonly key: number;
  /** The first answer to the question, and the changed one since. */
  readonly versions: Turn[];

  constructor(
    readonly question: string,
    readonly graphs: readonly string[],
    readonly asking: Asking | null,
    versionOf: Turn | null = null,
  ) {
    this.key = versionOf?.key ?? nextKey++;
    this.versions = versionOf?.versions ?? [];
    this.versions.push(this);
  }

  get isRunning(): boolean {
    return ["asking", "queued", "running", "handed back"].includes(this.state.value);
  }

  /** Applies the server's view of a run, finished or not. */
  settle(run: RunView): void {
    this.run.value = run;
    this.id.value = run.id;
    this.session.value = run.session;
    this.problem.value = run.problem;
    this.state.value = ENDED[run.state] ?? "running";
  }

  take(event: RunEvent) {
    if (event.event === "outcome") return this.settle(event.run);
    if (event.event === "problem") return this.fail(event.problem);
    if (event.event === "run") {
      this.id.value = event.id;
      this.session.value = event.session;
    } else if (event.event === "queued") this.ahead.value = event.ahead;
    else if (event.event === "step") this.steps.value = [...this.steps.value, event.step];
    this.state.value = AFTER[event.event];
  }

  fail(problem: Problem): void {
    this.problem.value = problem;
    this.state.value = "failed";
  }
}

const AFTER = {
  run: "running",
  queued: "queued",
  step: "running",
  cancelled: "stopped",
  handed_back: "handed back",
} as const;

const ENDED: Readonly<Partial<Record<RunView["state"], TurnState>>> = {
  done: "done",
  failed: "failed",
  cancelled: "stopped",
  handed_back: "stopped",
};

/** The questions shown, oldest first. */
export const turns = signal<readonly Turn[]>([]);

/** Begins a new conversation. */
export function leave(): void {
  for (const turn of turns.value) turn.leaving.abort();
  turns.value = [];
}

/** Asks, as a follow-up if the conversation has an answered question. */
export function put(asking: Asking): void {
  const before = turns.value.findLast((turn) => turn.state.value === "done" && turn.id.value);
  const session = turns.value.findLast((turn) => turn.session.value)?.session.value;
  const after = before?.id.value;
  const whole: Asking = { ...asking, ...(session && { session }), ...(after && { after }) };
  const turn = new Turn(asking.question, asking.graphs ?? [], whole);
  turns.value = [...turns.value, turn];
  void follow(
    turn,
    () => ask(whole, turn.leaving.signal),
    (run) => navigate(`/run/${run}`, { stay: turns.value.length > 1 }),
  );
}

/** Asks the question of a turn once more, in its place, with changes. */
export function again(turn: Turn, changes: Partial<Asking> = {}): void {
  const before: Asking = turn.asking ?? { question: turn.question, graphs: turn.graphs };
  const asking = { ...before, ...changes };
  turn.leaving.abort();
  const next = new Turn(turn.question, turn.graphs, asking);
  replaceTurn(turn, next);
  void follow(next, () => ask(asking, next.leaving.signal), showRun);
}

/** Shows an earlier run: of this conversation, or as the start of its own. */
export async function show(id: string): Promise<void> {
  if (turns.value.some((turn) => turn.id.value === id)) return;
  for (const turn of turns.value) {
    const version = turn.versions.find((one) => one.id.value === id);
    if (version?.state.value === "done") return replaceTurn(turn, version);
  }
  leave();
  const turn = new Turn("", [], null);
  turn.id.value = id;
  turns.value = [turn];
  try {
    const run = await runOf(id);
    if (turns.value[0] !== turn) return;
    const { question, graphs, method, model, language } = run;
    const said = { ...(model && { model }), ...(language && { language }) };
    const found = new Turn(question, graphs, { question, graphs, method, ...said });
    found.settle(run);
    turns.value = [found];
    if (found.isRunning) await follow(found, () => watch(id, found.leaving.signal));
  } catch (error) {
    const problem = problemFrom(error);
    turn.fail(problem);
    if (problem === UNREACHABLE)
      onReturn(() => {
        if (turns.value[0] !== turn) return;
        leave();
        void show(id);
      });
  }
}

/** Stops a turn's run. */
export async function stop(turn: Turn): Promise<void> {
  const id = turn.id.value;
  if (id === null) {
    turn.leaving.abort();
    turn.state.value = "stopped";
    return;
  }
  try {
    await cancel(id);
  } catch (error) {
    if (turn.isRunning) turn.fail(problemFrom(error));
  }
}

/** Follows a run to its end; if the server shuts down, the question is asked again once. */
export async function follow(
  turn: Turn,
  events: () => AsyncGenerator<RunEvent>,
  begun: (run: string) => void = () => undefined,
): Promise<void> {
  try {
    for (const isLast of [false, true]) {
      for await (const event of events()) {
        turn.take(event);
        if (event.event === "run") begun(event.id);
      }
      if (turn.state.value !== "handed back") return;
      turn.state.value = isLast || !turn.asking ? "stopped" : "asking";
      if (!turn.isRunning) return;
      turn.steps.value = [];
    }
  } catch (error) {
    if (!turn.leaving.signal.aborted) turn.fail(problemFrom(error));
  }
}

/** Replaces the shown run of a question by one with another reading. */
export function chooseReading(turn: Turn, run: RunView): void {
  const next = new Turn(run.question, run.graphs, turn.asking, turn);
  next.settle(run);
  next.steps.value = turn.steps.value;
  replaceTurn(turn, next);
}

function replaceTurn(turn: Turn, next: Turn): void {
  turns.value = turns.value.map((one) => (one === turn ? next : one));
}
