// The graph that is being added: from sending the files to being ready.

import { signal } from "@preact/signals";
import { problemFrom } from "../api/http.ts";
import { cancelJob, cancelJobsOf, watchJob } from "../api/jobs.ts";
import type { AddedGraphView, JobView, Problem } from "../api/types.ts";
import { knownGraphs } from "../app/known.ts";

/** The progress of adding a graph; `share` between 0 and 1, null if unknown. */
export type Adding =
  | { readonly state: "sending"; readonly name: string; readonly share: number | null }
  | { readonly state: "working"; readonly name: string; readonly job: JobView }
  | { readonly state: "done"; readonly name: string; readonly added: AddedGraphView | null }
  | { readonly state: "cancelled" }
  | { readonly state: "failed"; readonly problem: Problem };

/** The current addition, or null. It continues while other pages are shown. */
export const adding = signal<Adding | null>(null);

/** The contents of the forms, kept during the addition in case it must be repeated. */
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
  const told = (share: number | null) => {
    adding.value = { state: "sending", name, share };
  };
  told(null);
  try {
    const begun = await sent(told, left);
    adding.value = stateOf(name, begun);
    if (adding.value.state === "working")
      for await (const job of watchJob(begun.id, left)) adding.value = stateOf(name, job);
    if (adding.value.state !== "done") return;
    for (const held of [draft.name, draft.address]) held.value = "";
    draft.files.value = [];
    await knownGraphs.load();
  } catch (error) {
    const problem = left.aborted
      ? await cancelJobsOf(name).then(() => null, problemFrom) // its last bytes may have begun one
      : problemFrom(error);
    adding.value = problem ? { state: "failed", problem } : { state: "cancelled" };
  }
}

/** Cancels the addition. */
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

function stateOf(name: string, job: JobView): Adding {
  const problem = job.problem ?? { type: "about:blank", title: "", status: 500, detail: "" };
  if (job.state === "failed") return { state: "failed", problem };
  if (job.state === "cancelled") return { state: "cancelled" };
  if (job.state !== "done") return { state: "working", name, job };
  return { state: "done", name: job.graph || name, added: job.added ?? null };
}
