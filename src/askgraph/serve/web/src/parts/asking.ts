// What a part of the page asks of the server, and whether that went well.

import { useEffect, useState } from "preact/hooks";
import { problemFrom } from "../api/http.ts";
import type { Problem } from "../api/types.ts";

export interface Fetched<T> {
  /** What came; that of before while something else is on its way. */
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly busy: boolean;
  readonly again: () => void;
}

/** Asks whenever `key` changes; an answer that came too late is dropped. */
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
  return { value, problem, busy, again: () => setRound((before) => before + 1) };
}

type Attempt = (doing: () => Promise<unknown>) => Promise<boolean>;

/** How to do what may fail, which gives whether it went well; and the problem of the last time. */
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
