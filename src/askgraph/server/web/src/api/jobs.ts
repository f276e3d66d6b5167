// Adding graphs: the request, and how far the work that it began is.

import type * as api from "../../build/api.ts";
import { eventsOf } from "./events.ts";
import { currentKey, type Options, ProblemError, post, problemFrom, remove } from "./http.ts";
import type { Problem } from "./types.ts";

export type Job = api.JobView;
export type Added = api.AddedView;

export const addAddress = (addition: api.AddBody, options: Options = {}) =>
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
