// Hooks for requests: their results, and their problems.

import { useEffect, useState } from "preact/hooks";
import { onReturn, problemFrom, UNREACHABLE } from "../api/http.ts";
import type { Problem } from "../api/types.ts";

export interface Fetched<T> {
  /** The result; the previous one while the next one loads. */
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly busy: boolean;
  readonly again: () => void;
}

/** Sends a request whenever `key` changes; outdated responses are dropped. */
export function useFetched<T>(
  key: string,
  fetched: (signal: AbortSignal) => Promise<T>,
): Fetched<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(true);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setBusy(true);
    fetched(stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return;
        setValue(found);
        setProblem(null);
        setBusy(false);
      },
      (error) => {
        if (stop.signal.aborted) return;
        setProblem(problemFrom(error));
        setBusy(false);
      },
    );
    return () => stop.abort();
  }, [key, round]);
  const again = () => setRound((before) => before + 1);
  useEffect(() => (problem === UNREACHABLE ? onReturn(again) : undefined), [problem, round]);
  return { value, problem, busy, again };
}

/** Returns a value once it has been stable for a number of milliseconds. */
export function useSettled(value: string, pause: number): string {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

const PAUSE = 150; // milliseconds without a key

/** Sends a request for typed text once it is stable; null below `least` letters. */
export function useSought<T>(
  typed: string,
  key: string,
  find: (q: string, signal: AbortSignal) => Promise<T>,
  least = 2,
) {
  const q = useSettled(typed.trim(), PAUSE);
  const found = useFetched(`${key} ${q}`, async (signal) =>
    q.length < least ? null : find(q, signal),
  );
  const isSettled = q === typed.trim() && !found.busy;
  return { ...found, q, isSettled, value: typed.trim().length < least ? null : found.value };
}

type Attempt = (doing: () => Promise<unknown>) => Promise<boolean>;

/** Returns a function that runs an action and returns whether it succeeded, and its problem. */
export function useAttempt(): [Attempt, Problem | null, (problem: null) => void] {
  const [problem, setProblem] = useState<Problem | null>(null);
  const attempt = async (doing: () => Promise<unknown>) => {
    setProblem(null);
    try {
      await doing();
      return true;
    } catch (error) {
      setProblem(problemFrom(error));
      return false;
    }
  };
  return [attempt, problem, setProblem];
}

// Keys of a field with suggestions below: the arrows move among them, Enter takes the first.

/** Moves among the offers of a panel; Enter in its field takes the first if it `enters`. */
export function moveAmongOffers(event: KeyboardEvent, enters = true): void {
  const panel = event.currentTarget as HTMLElement;
  const offers = [...panel.querySelectorAll<HTMLElement>(".alternative")];
  const at = offers.indexOf(document.activeElement as HTMLElement);
  const isField = event.target instanceof HTMLInputElement;
  if (at < 0 && !isField) return;
  if (event.key === "ArrowDown") offers[Math.min(at + 1, offers.length - 1)]?.focus();
  else if (event.key === "ArrowUp" && at > 0) offers[at - 1]?.focus();
  else if (event.key === "ArrowUp") panel.querySelector("input")?.focus();
  else if (event.key !== "Enter" || !isField) return;
  else if (enters) offers[0]?.click();
  event.preventDefault();
}
