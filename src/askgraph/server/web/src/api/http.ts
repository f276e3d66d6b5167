// Requests to /api/v1: JSON in and out, problems as errors, the API key if required.

import { signal } from "@preact/signals";
import { kept } from "../app/kept.ts";
import type { Problem } from "./types.ts";

/** A problem that the server reported, or that it is unreachable (status 0). */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ProblemError";
  }
}

/** The problem of a server that does not respond. */
export const UNREACHABLE = createProblem("", 0, "askgraph:unreachable");

const BETWEEN_LOOKS = 2000; // milliseconds
const awaiting = new Set<() => void>();

/** Calls `load` once, when a server that was unreachable responds again; returns how to stop. */
export function onReturn(load: () => void): () => void {
  if (awaiting.size === 0) setTimeout(lookForServer, BETWEEN_LOOKS);
  awaiting.add(load);
  return () => awaiting.delete(load);
}

async function lookForServer(): Promise<void> {
  const response = await fetch("/healthz").catch(() => null);
  if (response?.ok) {
    const loads = [...awaiting];
    awaiting.clear();
    for (const load of loads) load();
  } else if (awaiting.size > 0) setTimeout(lookForServer, BETWEEN_LOOKS);
}

/** The path below /api/v1 of a graph, its name escaped. */
export function ofGraph(graph: string, rest = ""): string {
  return `/graphs/${encodeURIComponent(graph)}${rest}`;
}

/** A path with its parameters; those that are null, undefined or "" are left out. */
export function withQuery(
  path: string,
  values: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const said = Object.entries(values).filter(([, value]) => (value ?? "") !== "");
  const query = new URLSearchParams(said.map(([name, value]) => [name, String(value)]));
  return query.size > 0 ? `${path}?${query}` : path;
}

/** Sends a request and returns the JSON of its response; null if there is none. */
async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal) {
  const response = await request(method, path, body, { signal });
  return (response.status === 204 ? null : await response.json()) as T;
}

export const get = <T>(path: string, signal?: AbortSignal) =>
  send<T>("GET", path, undefined, signal);
export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal) =>
  send<T>("POST", path, body, signal);
export const patch = <T>(path: string, body: unknown) => send<T>("PATCH", path, body);
export const remove = <T = void>(path: string) => send<T>("DELETE", path);

/** Sends a request and returns its successful response; else throws `ProblemError`. */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  {
    signal,
    accept = "application/json",
  }: { signal?: AbortSignal | undefined; accept?: string } = {},
): Promise<Response> {
  const form = body instanceof FormData;
  const sent = body === undefined ? null : form ? body : JSON.stringify(body);
  for (;;) {
    const key = currentKey();
    const headers = new Headers({ accept });
    if (sent !== null && !form) headers.set("content-type", "application/json");
    if (key) headers.set("authorization", `Bearer ${key}`);
    const init = { method, headers, body: sent, signal: signal ?? null };
    const response = await fetch(`/api/v1${path}`, init).catch((error) => {
      throw signal?.aborted ? error : new ProblemError(UNREACHABLE);
    });
    if (response.ok) return response;
    if (response.status !== 401) throw new ProblemError(await problemOf(response));
    // Another key may have been entered meanwhile.
    if (key && currentKey() === key) keepKey(null);
    if (!(await askForKey(key !== null))) throw new ProblemError(await problemOf(response));
  }
}

/** Saves the response of a path as a file; the API key is sent if there is one. */
export async function download(path: string, name: string): Promise<void> {
  const response = await request("GET", path, undefined, { accept: "*/*" });
  save(await response.blob(), name);
}

/** Saves a file. */
export function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Converts anything thrown to a problem that can be shown. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return createProblem(String(error), 0);
}

async function problemOf(response: Response): Promise<Problem> {
  const { status, statusText } = response;
  const said = (await response.json().catch(() => ({}))) as Partial<Problem>;
  return { ...createProblem(statusText || `HTTP ${status}`, status), ...said };
}

function createProblem(title: string, status: number, type = "about:blank"): Problem {
  return { type, title, status, detail: "" };
}

// The API key: requested when the server requires one, kept until the tab is closed.

interface Wanted {
  /** Whether the server refused the key that was entered. */
  readonly refused: boolean;
  readonly settle: (key: string | null) => void;
}

/** Set while the page waits for a key. */
export const keyWanted = signal<Wanted | null>(null);

/** Whether a key is in use. */
export const keyInUse = signal(currentKey() !== null);

let asked: Promise<boolean> | null = null;

export function currentKey(): string | null {
  return kept("key", "sessionStorage");
}

/** Uses a key from now on; null forgets it. */
export function keepKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem("askgraph.key");
  else sessionStorage.setItem("askgraph.key", key);
  keyInUse.value = key !== null;
}

/** Asks the person for a key, once for all waiting requests; returns whether one was entered. */
function askForKey(refused: boolean): Promise<boolean> {
  if (currentKey() !== null) return Promise.resolve(true);
  asked ??= new Promise<boolean>((resolve) => {
    const settle = (key: string | null) => {
      if (key !== null) keepKey(key);
      keyWanted.value = null;
      asked = null;
      resolve(key !== null);
    };
    keyWanted.value = { refused, settle };
  });
  return asked;
}
