// Adding graphs: the request, and how far the work that it began is.

import { eventsOf } from "./events.ts";
import { currentKey, type Options, ProblemError, post, problemFrom, remove } from "./http.ts";
import type { Problem } from "./types.ts";

type JobState = "queued" | "running" | "done" | "failed" | "cancelled";

/** A graph that is being added, or was. */
export interface Job {
  readonly id: string;
  readonly graph: string;
  readonly state: JobState;
  /** The current stage; how far that is, and of how much if that is known. */
  readonly doing: string;
  readonly done: number;
  readonly total: number | null;
  readonly added: Added | null;
  readonly problem: Problem | null;
}

/** The size of the graph that was added. */
export interface Added {
  readonly triples: number;
  readonly classes: number;
  readonly predicates: number;
  /** Parts that its profile leaves out, and why. */
  readonly cuts: readonly string[];
}

/** An endpoint to add. */
interface Addition {
  readonly name: string;
  readonly url: string;
}

export const addAddress = (addition: Addition, options: Options = {}) =>
  post<Job>("/graphs", addition, options);

export const cancelJob = (id: string) => remove(`/jobs/${id}`);

/** Sends files; `sent` gets the share that has arrived, which fetch does not report. */
export function upload(
  name: string,
  files: readonly File[],
  { sent, signal }: { sent: (share: number) => void; signal: AbortSignal },
): Promise<Job> {
  const form = new FormData();
  form.set("name", name);
  for (const file of files) form.append("files", file, file.name);
  const request = new XMLHttpRequest();
  request.open("POST", "/api/v1/graphs/upload");
  request.responseType = "json";
  request.setRequestHeader("Accept", "application/json");
  const key = currentKey();
  if (key) request.setRequestHeader("Authorization", `Bearer ${key}`);
  return new Promise((resolve, reject) => {
    const refused = (problem: Problem) => reject(new ProblemError(problem));
    request.upload.onprogress = ({ loaded, total }) => sent(total > 0 ? loaded / total : 0);
    request.onload = () => {
      if (request.status < 300) resolve(request.response as Job);
      else refused(problemOf(request));
    };
    request.onerror = () =>
      refused({ type: "askgraph:unreachable", title: "", status: 0, detail: "" });
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** A job as it goes on, until it is over. */
export async function* watchJob(id: string, signal: AbortSignal): AsyncGenerator<Job> {
  for await (const { data } of eventsOf("GET", `/jobs/${id}/events`, undefined, { signal })) {
    yield (JSON.parse(data) as { job: Job }).job;
  }
}

function problemOf(request: XMLHttpRequest): Problem {
  const told: unknown = request.response;
  if (typeof told === "object" && told !== null && "title" in told) return told as Problem;
  return problemFrom(new Error(`${request.status} ${request.statusText}`));
}
