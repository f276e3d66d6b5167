// The graph that is being added: from sending the files to being ready.

import { signal } from "@preact/signals";
import { problemFrom } from "../api/http.ts";
import { addAddress, addSample, cancelJob, cancelJobsOf, upload, watchJob } from "../api/jobs.ts";
import type { AddedGraphView, JobView, Problem } from "../api/types.ts";
import { knownGraphs, knownMe, knownServer, may } from "../app/known.ts";
import { navigate, place } from "../app/router.ts";
import { freeName, isName, judgeFiles, suggestName } from "./files.ts";

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
  way: signal<Way>("files"),
  files: signal<readonly File[]>([]),
  name: signal(""),
  address: signal(""),
};

let leaving = new AbortController();

export type Way = "files" | "address";

/** Adds the files of the draft, or its address. */
export function addDraft(way: Way): Promise<void> {
  const [name, url] = [draft.name.value, draft.address.value.trim()];
  return way === "files"
    ? add(name, (told, signal) => upload(name, draft.files.value, told, signal))
    : add(name, (_, signal) => addAddress({ name, url }, signal));
}

/** Adds what was dropped on the page, under a name of its own; a fault is left to the form. */
export async function addDropped(files: readonly File[], address: string): Promise<void> {
  await Promise.all([knownGraphs, knownServer, knownMe].map((fact) => fact.ready()));
  if (["sending", "working"].includes(adding.value?.state ?? "")) return;
  const names = knownGraphs.value.value?.map(({ name }) => name) ?? [];
  const way = files.length > 0 ? "files" : "address";
  restart();
  draft.way.value = way;
  draft.files.value = files;
  draft.address.value = address;
  draft.name.value = freeName(suggestName(files[0]?.name ?? address), names);
  const isSound = judgeFiles(files, mostBytes()).every(({ fault }) => fault === null);
  if (may("manage") && isSound && isName(draft.name.value)) await addDraft(way);
}

/** Adds the sample graph, and goes on to an address in it unless the person went elsewhere. */
export async function trySample(next: string | null = null): Promise<void> {
  navigate("/add");
  await add("space", (_, signal) => addSample(signal));
  if (!next || place.value.path !== "/add" || adding.value?.state !== "done") return;
  restart();
  navigate(next, { replace: true, stay: false });
}

/** The most bytes of an upload. */
export function mostBytes(): number {
  return (knownServer.value.value?.upload_mb ?? 200) * 1_000_000;
}

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
