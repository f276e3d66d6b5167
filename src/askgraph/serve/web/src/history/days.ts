// The history by days.

import type { RunSummary } from "../api/types.ts";

export interface Day {
  /** The local day, as `2026-11-22`. */
  readonly day: string;
  readonly runs: readonly RunSummary[];
}

/** Runs, the latest first, as days with their runs. */
export function byDay(runs: readonly RunSummary[]): Day[] {
  const days = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const day = dayOf(new Date(run.created));
    days.set(day, [...(days.get(day) ?? []), run]);
  }
  return [...days].map(([day, found]) => ({ day, runs: found }));
}

/** How many days ago a day was, seen from a moment. */
export function daysAgo(day: string, now: Date): number {
  const [from, to] = [day, dayOf(now)].map((one) => Date.parse(`${one}T00:00:00Z`));
  return Math.round(((to ?? 0) - (from ?? 0)) / 86_400_000);
}

function dayOf(moment: Date): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`;
}
