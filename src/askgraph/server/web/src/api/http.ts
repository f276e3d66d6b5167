// Requests to /api/v1: JSON in and out, problems as errors, the API key if one is asked for.

import { signal } from "@preact/signals";
import type { Problem } from "./types.ts";

/** The server's "no", or that it could not be reached (status 0). */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

export interface Options {
  readonly signal?: AbortSignal;
  readonly accept?: string;
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
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

export async function get<T>(path: string, options: Options = {}): Promise<T> {
  return json(await request("GET", path, undefined, options));
}

export async function post<T>(path: string, body: unknown, options: Options = {}): Promise<T> {
  return json(await request("POST", path, body, options));
}

export async function remove(path: string, options: Options = {}): Promise<void> {
  await request("DELETE", path, undefined, options);
}

/** Deletes, and returns the server's view after that. */
export async function removed<T>(path: string, options: Options = {}): Promise<T> {
  return json(await request("DELETE", path, undefined, options));
}

/** Sends a request and returns its response if that is a success; else throws `ProblemError`. */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  { signal, accept = "application/json" }: Options = {},
): Promise<Response> {
  const form = body instanceof FormData;
  const sent = body === undefined ? null : form ? body : JSON.stringify(body);
  const init: RequestInit = { method, body: sent, signal: signal ?? null };
  for (;;) {
    const key = currentKey();
    const headers = new Headers({ accept });
    if (sent !== null && !form) headers.set("content-type", "application/json");
    if (key) headers.set("authorization", `Bearer ${key}`);
    const response = await reached(`/api/v1${path}`, { ...init, headers });
    if (response.ok) return response;
    if (response.status !== 401) throw new ProblemError(await problemOf(response));
    if (key) keyRefused(key);
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

/** The problem of whatever was thrown, for showing it. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return { type: "about:blank", title: String(error), status: 0, detail: "" };
}

async function reached(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ProblemError({ type: "askgraph:unreachable", title: "", status: 0, detail: "" });
  }
}

async function json<T>(response: Response): Promise<T> {
  return (response.status === 204 ? null : await response.json()) as T;
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback = {
    type: "about:blank",
    title: response.statusText || `HTTP ${response.status}`,
    status: response.status,
    detail: "",
  };
  if (!/json/.test(response.headers.get("content-type") ?? "")) return fallback;
  try {
    return { ...fallback, ...((await response.json()) as Partial<Problem>) };
  } catch {
    return fallback;
  }
}

// The API key: asked for when the server wants one, kept until the tab is closed.

const NAME = "askgraph.key";

interface Wanted {
  /** Whether a key was given that the server refused. */
  readonly refused: boolean;
  readonly settle: (key: string | null) => void;
}

/** Set while the page waits for a key. */
export const keyWanted = signal<Wanted | null>(null);

/** Whether a key is in use. */
export const keyInUse = signal(currentKey() !== null);

let asked: Promise<boolean> | null = null;

export function currentKey(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/** Uses a key from now on; null forgets it. */
export function keepKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  keyInUse.value = key !== null;
}

/** Forgets a key that was refused, unless another one was given meanwhile. */
function keyRefused(key: string): void {
  if (currentKey() === key) keepKey(null);
}

/** Asks the person for a key, once for all requests that wait; returns whether one was given. */
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
