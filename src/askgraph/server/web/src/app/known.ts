// Facts that the page loads from the server once and shares between its parts.

import { signal } from "@preact/signals";
import { graphs, me, methods, server } from "../api/graphs.ts";
import { onReturn, problemFrom, UNREACHABLE } from "../api/http.ts";
import type { Problem, VerifiedAnswerView } from "../api/types.ts";

/** A fact, or the problem of loading it. `load` always loads, `need` only the first time. */
function known<T>(fetched: () => Promise<T>) {
  const value = signal<T | null>(null);
  const problem = signal<Problem | null>(null);
  let begun: Promise<void> | null = null;
  const load = () => {
    begun = fetched().then(
      (found) => {
        value.value = found;
        problem.value = null;
      },
      (error) => {
        problem.value = problemFrom(error);
        if (problem.value === UNREACHABLE) onReturn(load);
      },
    );
    return begun;
  };
  /** Resolves when there is a value or a problem. */
  const ready = () => begun ?? load();
  return { value, problem, load, ready, need: () => void ready() };
}

export const knownGraphs = known(async () => (await graphs()).graphs);
export const knownMethods = known(methods);
export const knownMe = known(me);
export const knownServer = known(server);

/** Loads facts that were not loaded yet. */
export function need(...facts: readonly { readonly need: () => void }[]): void {
  for (const fact of facts) fact.need();
}

/** Returns the name of a graph on the page. */
export function graphTitle(name: string): string {
  return knownGraphs.value.value?.find((graph) => graph.name === name)?.title || name;
}

/** Whether a graph can be asked here; true until the graphs are loaded. */
export function isListed(graph: string): boolean {
  return knownGraphs.value.value?.some(({ name }) => name === graph) ?? true;
}

/** Whether the caller may do something; true until the server reports otherwise. */
export function may(scope: string): boolean {
  return knownMe.value.value?.scopes.includes(scope) ?? true;
}

/** Whether the caller may withdraw a verified answer: its own, or any as an administrator. */
export function mayWithdraw(one: VerifiedAnswerView): boolean {
  return may("confirm") && (one.mine || may("admin"));
}
