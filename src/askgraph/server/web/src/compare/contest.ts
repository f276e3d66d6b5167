// One question that several methods answer in parallel.

import { signal } from "@preact/signals";
import { ask, runOf, watch } from "../api/ask.ts";
import { problemFrom } from "../api/http.ts";
import type { Asking } from "../api/types.ts";
import { follow, Turn } from "../ask/conversation.ts";

/** A comparison: a question to graphs, and the methods that answer it. */
export interface Contest {
  readonly question: string;
  readonly graphs: readonly string[];
  readonly methods: readonly string[];
  readonly model: string | null;
}

/** The methods that answer, in the order of their columns. */
export const entries = signal<readonly Turn[]>([]);

/** Asks all methods; `begun` is called for each run as soon as it has an id. */
export function begin(
  contest: Contest,
  needsModel: (method: string) => boolean,
  begun: () => void,
): void {
  leave();
  entries.value = contest.methods.map((method) => {
    const asking: Asking = {
      question: contest.question,
      graphs: contest.graphs,
      method,
      anew: true,
      ...(contest.model && needsModel(method) ? { model: contest.model } : {}),
    };
    return new Turn(contest.question, contest.graphs, asking);
  });
  for (const turn of entries.value) {
    void follow(
      turn,
      () => ask(turn.asking ?? { question: turn.question }, turn.leaving.signal),
      begun,
    );
  }
}

/** Shows an earlier comparison by its runs, without asking again. */
export async function recall(runs: readonly string[]): Promise<void> {
  leave();
  entries.value = runs.map((id) => {
    const turn = new Turn("", [], null);
    turn.id.value = id;
    return turn;
  });
  await Promise.all(entries.value.map(recalled));
}

/** Stops listening; the runs continue. */
export function leave(): void {
  for (const turn of entries.value) turn.leaving.abort();
  entries.value = [];
}

async function recalled(turn: Turn): Promise<void> {
  const id = turn.id.value ?? "";
  try {
    turn.settle(await runOf(id));
    if (turn.isRunning) await follow(turn, () => watch(id, turn.leaving.signal));
  } catch (error) {
    turn.fail(problemFrom(error));
  }
}
