// The graph that is being added: from sending the files to being ready.

import { signal } from "@preact/signals";
import { problemFrom } from "../api/http.ts";
import { cancelJob, watchJob } from "../api/jobs.ts";
import type { AddedView, JobView, Problem } from "../api/types.ts";
import { knownGraphs } from "../app/known.ts";

export type Adding =
  | { readonly state: "sending"; readonly name: string; readonly share: number | null }
  | { readonly state: "working"; readonly name: string; readonly job: JobView }
  | { readonly state: "done"; readonly name: string; readonly added: AddedView | null }
  | { readonly state: "cancelled" }
  | { readonly state: "failed"; readonly problem: Problem };

/** The adding under way; null if there is none. It goes on while other pages are shown. */
export const adding = signal<Adding | null>(null);

/** The contents of the forms: kept while a graph is added, in case it is refused and sent again. */
export const draft = {
  files: signal<readonly File[]>([]),
  name: signal(""),
  address: signal(""),
};

let leaving = new AbortController();

/** Adds a graph: `sent` sends it and returns its job. */
export async function add(
  name: string,
  sent: (told: (share: number) => void, signal: AbortSignal) => Promise<JobView>,
): Promise<void> {
  leaving = new AbortController();
  const { signal: left } = leaving;
  adding.value = { state: "sending", name, share: null };
  try {
    const told = (share: number) => {
      if (adding.value?.state === "sending") adding.value = { state: "sending", name, share };
    };
    const begun = await sent(told, left);
    await follow(name, begun, left);
  } catch (error) {
    adding.value = left.aborted
      ? { state: "cancelled" }
      : { state: "failed", problem: problemFrom(error) };
  }
}

/** Stops the adding. */
export async function cancel(): Promise<void> {
  const now = adding.value;
  if (now?.state === "sending") leaving.abort();
  if (now?.state !== "working") return;
  try {
    await cancelJob(now.job.id);
  } catch (error) {
    adding.value = { state: "failed", problem: problemFrom(error) };
  }
}

/** Back to an empty form. */
export function restart(): void {
  adding.value = null;
}

async function follow(name: string, begun: JobView, left: AbortSignal): Promise<void> {
  take(name, begun);
  if (adding.value?.state === "working") {
    for await (const job of watchJob(begun.id, left)) take(name, job);
  }
  if (adding.value?.state === "done") await knownGraphs.load();
}

function take(name: string, job: JobView): void {
  switch (job.state) {
    case "queued":
    case "running":
      adding.value = { state: "working", name, job };
      break;
    case "done":
      for (const held of [draft.name, draft.address]) held.value = "";
      draft.files.value = [];
      adding.value = { state: "done", name: job.graph || name, added: job.added ?? null };
      break;
    case "cancelled":
      adding.value = { state: "cancelled" };
      break;
    case "failed":
      adding.value = {
        state: "failed",
        problem: job.problem ?? { type: "about:blank", title: "", status: 500, detail: "" },
      };
  }
}
