// Facts that are asked of the server once and then known to all parts of the page.

import { type ReadonlySignal, signal } from "@preact/signals";
import { graphs, me, methods, server, type Verified } from "../api/graphs.ts";
import { problemFrom } from "../api/http.ts";
import type { GraphSummary, Me, Methods, Problem, ServerInfo } from "../api/types.ts";

interface Known<T> {
  readonly value: ReadonlySignal<T | null>;
  readonly problem: ReadonlySignal<Problem | null>;
  /** Asks the server (again). */
  readonly load: () => Promise<void>;
  /** Asks the server if that was not done before. */
  readonly need: () => void;
  /** Asks likewise; done when there is a value, or a problem. */
  readonly ready: () => Promise<void>;
}

function known<T>(fetched: () => Promise<T>): Known<T> {
  const value = signal<T | null>(null);
  const problem = signal<Problem | null>(null);
  let begun: Promise<void> | null = null;
  const attempt = async () => {
    try {
      value.value = await fetched();
      problem.value = null;
    } catch (error) {
      problem.value = problemFrom(error);
    }
  };
  const load = () => {
    begun = attempt();
    return begun;
  };
  const ready = () => begun ?? load();
  const need = () => void ready();
  return { value, problem, load, need, ready };
}

export const knownGraphs: Known<readonly GraphSummary[]> = known(
  async () => (await graphs()).graphs,
);
export const knownMethods: Known<Methods> = known(methods);
export const knownMe: Known<Me> = known(me);
export const knownServer: Known<ServerInfo> = known(server);

/** Returns the name of a graph on the page. */
export function graphTitle(name: string): string {
  return knownGraphs.value.value?.find((graph) => graph.name === name)?.title || name;
}

/** Whether the caller may do something; true until the server reports otherwise. */
export function may(scope: string): boolean {
  return knownMe.value.value?.scopes.includes(scope) ?? true;
}

/** Whether the caller may withdraw a verified answer: its own, or any as an administrator. */
export function mayWithdraw(one: Verified): boolean {
  return may("confirm") && (one.mine || may("admin"));
}
