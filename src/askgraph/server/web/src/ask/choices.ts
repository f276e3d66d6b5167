// The chosen graphs, method and model, kept for the next visit.

import { computed, signal } from "@preact/signals";
import type { MethodView } from "../api/types.ts";
import { keep, kept } from "../app/kept.ts";
import { knownGraphs, knownMethods } from "../app/known.ts";

const graphsWanted = signal<readonly string[]>(readList("graphs"));
const methodWanted = signal<string | null>(kept("method"));
const modelWanted = signal<string | null>(kept("model"));

/** The graphs to ask: those chosen that exist; else the first. */
export const chosenGraphs = computed<readonly string[]>(() => {
  const names = (knownGraphs.value.value ?? []).map((graph) => graph.name);
  const found = graphsWanted.value.filter((name) => names.includes(name));
  return found.length > 0 ? found : names.slice(0, 1);
});

/** The method to ask with; null until the server has listed them. */
export const chosenMethod = computed<MethodView | null>(() => {
  const all = knownMethods.value.value;
  if (!all) return null;
  const usable = all.methods.filter((method) => method.usable);
  const named = (name: string | null) => usable.find((method) => method.name === name);
  return named(methodWanted.value) ?? named(all.default) ?? usable[0] ?? null;
});

/** The model of a method that needs one: the chosen one, else the default, else the first. */
export const chosenModel = computed<string | null>(() => {
  if (!chosenMethod.value?.needs_model) return null;
  const names = (knownMethods.value.value?.models ?? []).map((model) => model.name);
  const wanted = [modelWanted.value, "default"];
  return wanted.find((name) => name !== null && names.includes(name)) ?? names[0] ?? null;
});

export function chooseGraphs(names: readonly string[]): void {
  graphsWanted.value = names;
  keep("graphs", JSON.stringify(names));
}

export function chooseMethod(name: string): void {
  methodWanted.value = name;
  keep("method", name);
}

export function chooseModel(name: string): void {
  modelWanted.value = name;
  keep("model", name);
}

function readList(name: string): string[] {
  try {
    const found: unknown = JSON.parse(kept(name) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
