// Adding graphs: the request, and the progress of its job.

import { streamEvents } from "./events.ts";
import { currentKey, get, ProblemError, post, problemFrom, remove, UNREACHABLE } from "./http.ts";
import type { AddBody, JobsView, JobView, Problem } from "./types.ts";

export const addAddress = (addition: AddBody, signal: AbortSignal) =>
  post<JobView>("/graphs", addition, signal);
export const addSample = (signal: AbortSignal) => post<JobView>("/graphs/sample", {}, signal);
export const cancelJob = (id: string) => remove(`/jobs/${id}`);

/**
 * Cancels the jobs of a graph whose ids an aborted request did not get; ended ones stay as they are.
 * The server may still be reading the request, so this looks several times.
 */
export async function cancelJobsOf(graph: string): Promise<void> {
  for (const pause of [0, 250, 1000]) {
    await new Promise((resume) => setTimeout(resume, pause));
    const { jobs } = await get<JobsView>("/jobs");
    for (const job of jobs) if (job.graph === graph) await cancelJob(job.id);
  }
}

/** Sends files; `sent` gets the share that has arrived, which fetch does not report. */
export function upload(
  name: string,
  files: readonly File[],
  sent: (share: number) => void,
  signal: AbortSignal,
): Promise<JobView> {
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
    request.upload.onprogress = ({ loaded, total }) => sent(total > 0 ? loaded / total : 0);
    request.onload = () => {
      if (request.status < 300) resolve(request.response as JobView);
      else reject(new ProblemError(problemOf(request)));
    };
    request.onerror = () => reject(new ProblemError(UNREACHABLE));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** Yields the states of a job until it is finished. */
export async function* watchJob(id: string, signal: AbortSignal): AsyncGenerator<JobView> {
  for await (const data of streamEvents("GET", `/jobs/${id}/events`, undefined, signal))
    yield (JSON.parse(data) as { job: JobView }).job;
}

function problemOf({ response, status, statusText }: XMLHttpRequest): Problem {
  const isProblem = typeof response === "object" && response !== null && "title" in response;
  return isProblem ? response : problemFrom(new Error(`${status} ${statusText}`));
}
