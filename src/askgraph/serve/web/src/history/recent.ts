// The caller's latest questions, for the lists beside and below the question box.

import { signal } from "@preact/signals";
import { runs } from "../api/ask.ts";
import type { RunSummary } from "../api/types.ts";

/** The latest questions, each once, the latest first; empty until they are known. */
export const recent = signal<readonly RunSummary[]>([]);

const LATEST = 40;

/** Asks the server for them. Where that fails, the lists stay as they are: they are a courtesy. */
export function loadRecent(): void {
  runs({ limit: LATEST }).then(
    (found) => {
      recent.value = firstOfEach(found.runs);
    },
    () => undefined,
  );
}

/** Each question once: its latest run. */
export function firstOfEach(found: readonly RunSummary[]): RunSummary[] {
  const seen = new Set<string>();
  return found.filter((run) => {
    const isNew = !seen.has(run.question);
    seen.add(run.question);
    return isNew;
  });
}
